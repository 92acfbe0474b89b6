//! The server that the tests talk to.

use alloc::sync::Arc;

use core::num::NonZeroUsize;

use mcp_core::engine::server::{Cacheable, Catalog, CatalogBuilder, CatalogError};
use mcp_core::json::RawJson;
use mcp_core::model::{
    CacheHint, CacheScope, ClientCapabilities, Implementation, Prompt, PromptArgument, Resource,
    ResourceTemplate, Tool, ToolAnnotations,
};

/// Three tools: `echo`; `add`, which has an output schema; and `ask`, which needs a client with elicitation.
///
/// # Panics
///
/// Never: the texts below are valid.
#[must_use]
pub fn catalog() -> Arc<Catalog> {
    offer(|server| server.tools(&tools()).build())
}

/// No tools at all.
///
/// # Panics
///
/// Never: an empty catalog is valid.
#[must_use]
pub fn empty_catalog() -> Arc<Catalog> {
    offer(|server| server.build())
}

/// Everything there is, with lists that change, in pages of so many if that is said. Besides the tools:
///
/// - the resources `a://one` to `a://three`, and the templates `b://{name}` and `c://{+path}/end`;
/// - the prompts `greet`, which requires `who` and takes `how`, and `plain`;
/// - completions, logging, subscriptions, an extension and an experiment.
///
/// # Panics
///
/// `page_size` is 0.
#[must_use]
pub fn full_catalog(page_size: Option<usize>) -> Arc<Catalog> {
    let mut one = Resource::new("a://one", "one");
    one.title = Some("One".into());
    one.mime_type = Some("text/plain".into());
    one.size = Some(3);
    let resources = [
        one,
        Resource::new("a://two", "two"),
        Resource::new("a://three", "three"),
    ];
    let templates = [
        ResourceTemplate::new("b://{name}", "by name"),
        ResourceTemplate::new("c://{+path}/end", "by path"),
    ];
    let mut who = PromptArgument::new("who");
    who.required = true;
    let mut greet = Prompt::new("greet");
    greet.description = Some("Greets.".into());
    greet.arguments = Some([who, PromptArgument::new("how")].into());
    let prompts = [greet, Prompt::new("plain")];
    offer(|server| {
        let server = server
            .tools_list_changed(true)
            .resources(&resources)
            .resource_templates(&templates)
            .resources_list_changed(true)
            .resources_subscribe(true)
            .prompts(&prompts)
            .prompts_list_changed(true)
            .completions(true)
            .logging(true)
            .extensions(json(r#"{"com.example/x":{"y":1}}"#))
            .experimental(json(r#"{"odd":{}}"#))
            .cache_of(Cacheable::Reads, CacheHint::new(500, CacheScope::Private));
        let server = match page_size {
            Some(size) => server.page_size(NonZeroUsize::new(size).expect("not 0")),
            None => server,
        };
        server.tools(&tools()).build()
    })
}

fn tools() -> [Tool<'static>; 3] {
    let mut echo = Tool::new(
        "echo",
        json(r#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#),
    );
    echo.title = Some("Echo".into());
    echo.description = Some("Says it again.".into());
    let mut hints = ToolAnnotations::default();
    hints.read_only_hint = Some(true);
    echo.annotations = Some(hints);
    let mut add = Tool::new(
        "add",
        json(
            r#"{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}"#,
        ),
    );
    let output = r#"{"type":"object","properties":{"sum":{"type":"number"}},"required":["sum"]}"#;
    add.output_schema = Some(json(output).into());
    let mut ask = Tool::new("ask", json(r#"{"type":"object"}"#));
    ask.output_schema = Some(json(r#"{"type":"array"}"#).into());
    ask.requires = ClientCapabilities::ELICITATION;
    [echo, add, ask]
}

fn offer(build: impl FnOnce(CatalogBuilder<'_>) -> Result<Catalog, CatalogError>) -> Arc<Catalog> {
    let mut server = Implementation::new("dialogue", "1.0");
    server.title = Some("Dialogue".into());
    let server = Catalog::builder(&server)
        .instructions("Use echo.")
        .cache(CacheHint::new(60_000, CacheScope::Public));
    Arc::new(build(server).expect("the catalog is valid"))
}

fn json(text: &str) -> RawJson<'_> {
    RawJson::parse(text.as_bytes()).expect("it is JSON")
}
