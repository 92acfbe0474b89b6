//! What a server offers, serialised once and shared by all its engines.

mod builder;
mod capabilities;
mod error;
mod list;
mod names;
mod text;

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

pub use builder::CatalogBuilder;
pub use error::CatalogError;

pub(super) use capabilities::Offers;
use list::List;
use names::Names;

use super::extension::Extensions;
use super::subscriptions::Lists;
use crate::json::{JsonStr, RawJson, Sink, Writer};
use crate::model::header::ParamHeader;
use crate::model::{
    CacheHint, ClientCapabilities, Era, Implementation, ProtocolVersion, UriTemplate, key,
};

/// What a server offers: its identity, its tools, resources and prompts, and what else it can do.
///
/// Everything a list, discovery or handshake is answered with is made here, once for each revision: a list call then
/// costs a header and one copy of the text into the output.
///
/// A capability is declared if there is something of it, or will be: `tools` if there are tools or their list may change,
/// and so on (CAP-01). What is not declared is answered as if it did not exist (ERR-10).
#[derive(Debug)]
pub struct Catalog {
    offers: Offers,
    tool_names: Names,
    /// What each tool needs of the client.
    requires: Vec<ClientCapabilities>,
    /// The arguments of each tool that are mirrored in headers; empty, if no tool has any.
    params: Vec<Vec<ParamHeader>>,
    resource_uris: Names,
    template_texts: Names,
    templates: Vec<UriTemplate<'static>>,
    prompt_names: Names,
    /// The arguments that each prompt requires.
    required: Vec<Box<[Box<str>]>>,
    tools: List,
    resources: List,
    resource_templates: List,
    prompts: List,
    /// `"capabilities":…,"serverInfo":…,"instructions":…` by version, for `initialize`.
    handshakes: [Arc<str>; ProtocolVersion::TABLE.len()],
    /// `"io.modelcontextprotocol/serverInfo":…`
    server_info: Box<str>,
    /// `"resultType":"complete","_meta":…`: what every modern result has.
    complete: Box<str>,
    /// `"supportedVersions":…,"capabilities":…,"instructions":…`.
    discovery: Box<str>,
    cache: [CacheHint; Cacheable::COUNT],
    extensions: Extensions,
}

/// What modern clients may keep, each for its time (CAC-01).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Cacheable {
    /// The result of `server/discover`.
    Discovery,
    /// The pages of `tools/list`.
    Tools,
    /// The pages of `resources/list`.
    Resources,
    /// The pages of `resources/templates/list`.
    ResourceTemplates,
    /// The pages of `prompts/list`.
    Prompts,
    /// The results of `resources/read` that do not say so themselves.
    Reads,
}

impl Cacheable {
    const COUNT: usize = 6;
}

/// One of the lists that are served in pages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Listed {
    Tools,
    Resources,
    ResourceTemplates,
    Prompts,
}

impl Listed {
    const fn name(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Resources => "resources",
            Self::ResourceTemplates => "resourceTemplates",
            Self::Prompts => "prompts",
        }
    }

    const fn cacheable(self) -> Cacheable {
        match self {
            Self::Tools => Cacheable::Tools,
            Self::Resources => Cacheable::Resources,
            Self::ResourceTemplates => Cacheable::ResourceTemplates,
            Self::Prompts => Cacheable::Prompts,
        }
    }
}

impl Catalog {
    /// Begins a catalog of a server of this identity, that offers nothing yet.
    pub const fn builder<'a>(server: &'a Implementation<'a>) -> CatalogBuilder<'a> {
        CatalogBuilder::new(server)
    }

    /// The position of the tool of this name in the list that was given.
    #[must_use]
    pub fn tool(&self, name: JsonStr<'_>) -> Option<usize> {
        self.tool_names.find(&name.decode())
    }

    /// The name of a tool by its position.
    #[must_use]
    pub fn tool_name(&self, tool: usize) -> Option<&str> {
        self.tool_names.get(tool)
    }

    /// The position of the resource of this URI in the list that was given.
    #[must_use]
    pub fn resource(&self, uri: &str) -> Option<usize> {
        self.resource_uris.find(uri)
    }

    /// The URI of a resource by its position.
    #[must_use]
    pub fn resource_uri(&self, resource: usize) -> Option<&str> {
        self.resource_uris.get(resource)
    }

    /// The position of the first template that a URI fits.
    #[must_use]
    pub fn resource_template(&self, uri: &str) -> Option<usize> {
        let mut templates = self.templates.iter();
        templates.position(|template| template.matches(uri).is_some())
    }

    /// A resource template by its position.
    #[must_use]
    pub fn template(&self, template: usize) -> Option<&UriTemplate<'static>> {
        self.templates.get(template)
    }

    /// The position of the prompt of this name in the list that was given.
    #[must_use]
    pub fn prompt(&self, name: JsonStr<'_>) -> Option<usize> {
        self.prompt_names.find(&name.decode())
    }

    /// The name of a prompt by its position.
    #[must_use]
    pub fn prompt_name(&self, prompt: usize) -> Option<&str> {
        self.prompt_names.get(prompt)
    }

    /// The position of the extension of this identifier in the list that was given.
    #[must_use]
    pub fn extension(&self, id: &str) -> Option<usize> {
        let mut all = (0..).map_while(|at| self.extensions.get(at));
        all.position(|extension| extension.id() == id)
    }

    /// The member of the params that `Mcp-Name` repeats for a method of an extension.
    pub(crate) fn mirrored(&self, method: JsonStr<'_>, version: ProtocolVersion) -> Option<&str> {
        match self.extensions.is_empty() {
            true => None,
            false => self.extensions.mirrored(method, version),
        }
    }

    pub(super) const fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    pub(super) const fn offers(&self) -> &Offers {
        &self.offers
    }

    /// The arguments of a tool that HTTP requests repeat in their headers, by the tool's position (XH-01).
    #[must_use]
    pub fn param_headers(&self, tool: usize) -> &[ParamHeader] {
        self.params.get(tool).map_or(&[], Vec::as_slice)
    }

    /// Whether any tool has some.
    pub(crate) const fn has_param_headers(&self) -> bool {
        !self.params.is_empty()
    }

    pub(super) fn requires(&self, tool: usize) -> ClientCapabilities {
        self.requires[tool]
    }

    /// The position of the template of this very text.
    pub(super) fn template_of_text(&self, text: &str) -> Option<usize> {
        self.template_texts.find(text)
    }

    /// The first argument that a prompt requires and that is not among those given.
    pub(super) fn missing_argument(
        &self,
        prompt: usize,
        given: Option<RawJson<'_>>,
    ) -> Option<&str> {
        let given = |name: &str| given.and_then(|given| given.member(name)).is_some();
        let missing = self.required[prompt].iter().find(|name| !given(name));
        missing.map(|name| &**name)
    }

    /// The lists whose changes are told.
    pub(super) const fn changing(&self) -> Lists {
        Lists::NONE
            .with(Lists::TOOLS, self.offers.tools_list_changed)
            .with(Lists::PROMPTS, self.offers.prompts_list_changed)
            .with(Lists::RESOURCES, self.offers.resources_list_changed)
    }

    const fn list(&self, listed: Listed) -> &List {
        match listed {
            Listed::Tools => &self.tools,
            Listed::Resources => &self.resources,
            Listed::ResourceTemplates => &self.resource_templates,
            Listed::Prompts => &self.prompts,
        }
    }

    /// The page that a cursor stands for; `None` if it is none of this list as it is now.
    pub(super) fn page(&self, listed: Listed, cursor: Option<JsonStr<'_>>) -> Option<usize> {
        self.list(listed).page(cursor)
    }

    /// Writes the result of a list.
    pub(super) fn write_list<S: Sink + ?Sized>(
        &self,
        listed: Listed,
        page: usize,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
    ) {
        json.begin_object();
        if version.era() == Era::Modern {
            json.compact(&self.complete);
            write_cache(self.cache_hint(listed.cacheable()), json);
        }
        self.list(listed).write(listed.name(), page, version, json);
        json.end_object();
    }

    /// Writes the result of `initialize`, negotiated to `version`.
    pub(super) fn write_initialize<S: Sink + ?Sized>(
        &self,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
    ) {
        json.begin_object();
        json.key("protocolVersion");
        json.string(version.as_str());
        json.compact(&self.handshakes[version.index()]);
        json.end_object();
    }

    /// Writes the result of `server/discover` (DISC-04).
    pub(super) fn write_discover<S: Sink + ?Sized>(&self, json: &mut Writer<'_, S>) {
        json.begin_object();
        json.compact(&self.complete);
        json.compact(&self.discovery);
        write_cache(self.cache_hint(Cacheable::Discovery), json);
        json.end_object();
    }

    pub(super) const fn cache_hint(&self, of: Cacheable) -> CacheHint {
        self.cache[of as usize]
    }

    /// Writes what every result has, in an open object: `meta` is what this one's `_meta` has besides (RES-01, RES-05,
    /// META-12).
    #[inline]
    pub(super) fn write_head<S: Sink + ?Sized>(
        &self,
        result_type: &str,
        meta: Option<RawJson<'_>>,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
    ) {
        if version.era() == Era::Legacy {
            if let Some(meta) = meta {
                json.key("_meta");
                json.raw(meta);
            }
            return;
        }
        if meta.is_none() && result_type == COMPLETE {
            return json.compact(&self.complete);
        }
        self.write_modern_head(result_type, json, |json| {
            for (name, value) in meta.and_then(RawJson::as_object).into_iter().flatten() {
                // Who answers is not for a handler to say.
                if name != key::SERVER_INFO {
                    json.key(&name.decode());
                    json.raw(value);
                }
            }
        });
    }

    /// The same for a modern result; `meta` writes the members of its `_meta`.
    pub(super) fn write_modern_head<S: Sink + ?Sized>(
        &self,
        result_type: &str,
        json: &mut Writer<'_, S>,
        meta: impl FnOnce(&mut Writer<'_, S>),
    ) {
        json.key("resultType");
        json.string(result_type);
        json.key("_meta");
        json.begin_object();
        json.compact(&self.server_info);
        meta(json);
        json.end_object();
    }
}

/// The `resultType` of a result that is final.
pub(super) const COMPLETE: &str = "complete";

/// Writes `ttlMs` and `cacheScope`.
pub(super) fn write_cache<S: Sink + ?Sized>(cache: CacheHint, json: &mut Writer<'_, S>) {
    json.key("ttlMs");
    json.unsigned(cache.ttl_ms);
    json.key("cacheScope");
    json.string(cache.scope.as_str());
}

/// Writes the array of the versions that `which` picks, newest first.
pub(super) fn write_versions<S: Sink + ?Sized>(
    which: impl Fn(ProtocolVersion) -> bool,
    json: &mut Writer<'_, S>,
) {
    json.begin_array();
    for &version in ProtocolVersion::ALL {
        if which(version) {
            json.string(version.as_str());
        }
    }
    json.end_array();
}
