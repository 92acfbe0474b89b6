//! What can be offered, and what is looked up.

use super::*;
use crate::model::{Prompt, PromptArgument, Resource, ResourceTemplate};

#[test]
fn a_catalog_that_cannot_be_offered_is_refused() {
    let schema = raw(r#"{"type":"object"}"#);
    let new = |tools: &[Tool<'_>]| {
        let server = Implementation::new("test", "1");
        Catalog::builder(&server).tools(tools).build().map(drop)
    };
    let [tool, other] = [Tool::new("a", schema), Tool::new("A", schema)];
    assert_eq!(
        new(&[tool.clone(), other.clone()]),
        Ok(()),
        "names are case-sensitive (TOOL-07)"
    );
    assert_eq!(
        new(&[tool.clone(), other, tool.clone()]),
        Err(CatalogError::DuplicateTool("a".into()))
    );
    assert_eq!(
        new(&[Tool::new("", schema)]),
        Err(CatalogError::UnnamedTool)
    );
    for bad in [
        "true",
        "null",
        "{}",
        "[]",
        r#"{"type":"array"}"#,
        r#"{"Type":"object"}"#,
    ] {
        let refused = CatalogError::InputSchema("a".into());
        assert_eq!(new(&[Tool::new("a", raw(bad))]), Err(refused), "{bad}");
    }
    for bad in ["true", "null", "[]"] {
        let mut tool = tool.clone();
        tool.output_schema = Some(raw(bad).into());
        let refused = CatalogError::OutputSchema("a".into());
        assert_eq!(new(&[tool]), Err(refused.clone()), "{bad}");
        assert!(refused.to_string().contains("`a`"), "it names the tool");
    }
}

#[test]
fn resources_and_prompts_that_cannot_be_offered_are_refused() {
    let server = Implementation::new("test", "1");
    let resources = |uris: &[&str]| {
        let resources: Vec<_> = uris.iter().map(|uri| Resource::new(*uri, "n")).collect();
        let catalog = Catalog::builder(&server).resources(&resources).build();
        catalog.map(drop)
    };
    assert_eq!(resources(&["a:b", "a:c", "file:///x", "x+y.z-1:"]), Ok(()));
    let twice = CatalogError::DuplicateResource("a:b".into());
    assert_eq!(resources(&["a:b", "a:b"]), Err(twice));
    for bad in ["", "a", "/a:b", "1:a", "é:a", ":"] {
        let refused = CatalogError::ResourceUri(bad.into());
        assert_eq!(resources(&[bad]), Err(refused), "{bad}");
    }
    let templates = |texts: &[&str]| {
        let templates: Vec<_> = texts
            .iter()
            .map(|text| ResourceTemplate::new(*text, "n"))
            .collect();
        let catalog = Catalog::builder(&server);
        catalog.resource_templates(&templates).build().map(drop)
    };
    assert_eq!(templates(&["a://{x}", "a://{y}"]), Ok(()));
    let twice = CatalogError::DuplicateTemplate("a://{x}".into());
    assert_eq!(templates(&["a://{x}", "a://{x}"]), Err(twice));
    let broken = CatalogError::UriTemplate("a://{x".into());
    assert_eq!(templates(&["a://{x"]), Err(broken));
    let prompts = |names: &[&str], arguments: &[&str]| {
        let prompts: Vec<_> = names
            .iter()
            .map(|name| {
                let mut prompt = Prompt::new(*name);
                let arguments = arguments.iter().map(|name| PromptArgument::new(*name));
                prompt.arguments = Some(arguments.collect());
                prompt
            })
            .collect();
        Catalog::builder(&server)
            .prompts(&prompts)
            .build()
            .map(drop)
    };
    assert_eq!(prompts(&["p", "q"], &["a", "b"]), Ok(()));
    assert_eq!(prompts(&[""], &[]), Err(CatalogError::UnnamedPrompt));
    let twice = CatalogError::DuplicatePrompt("p".into());
    assert_eq!(prompts(&["p", "p"], &[]), Err(twice));
    for bad in [&["a", "a"][..], &[""]] {
        let refused = CatalogError::PromptArguments("p".into());
        assert_eq!(prompts(&["p"], bad), Err(refused), "{bad:?}");
    }
}

/// CAP-05.
#[test]
fn extensions_are_objects_of_objects() {
    let server = Implementation::new("test", "1");
    for (text, good) in [
        ("{}", true),
        (r#"{"a/b":{}}"#, true),
        (r#"{"a/b":1}"#, false),
        (r#"{"a/b":{},"c/d":null}"#, false),
        ("[]", false),
    ] {
        let catalog = Catalog::builder(&server).extensions(raw(text)).build();
        let refused = CatalogError::Capabilities("extensions");
        assert_eq!(catalog.map(drop), if good { Ok(()) } else { Err(refused) });
        let catalog = Catalog::builder(&server).experimental(raw(text)).build();
        assert_eq!(catalog.is_ok(), good, "{text}");
    }
}

/// A URI belongs to the resource of that name before any template, and to the first template that it fits.
#[test]
fn a_uri_is_found_by_what_it_is() {
    let server = Implementation::new("test", "1");
    let resources = [
        Resource::new("a://one", "one"),
        Resource::new("a://two", "two"),
    ];
    let templates = [
        ResourceTemplate::new("a://{x}", "any"),
        ResourceTemplate::new("b://{x}", "b"),
    ];
    let catalog = Catalog::builder(&server)
        .resources(&resources)
        .resource_templates(&templates)
        .build()
        .expect("valid");
    assert_eq!(catalog.resource("a://two"), Some(1));
    assert_eq!(catalog.resource("a://three"), None);
    assert_eq!(catalog.resource_template("a://three"), Some(0));
    assert_eq!(catalog.resource_template("b://x"), Some(1));
    assert_eq!(catalog.resource_template("c://x"), None);
    assert_eq!(catalog.resource_uri(1), Some("a://two"));
    assert!(catalog.template(1).is_some() && catalog.template(2).is_none());
}
