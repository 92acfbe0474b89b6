//! A catalog that is serialised once and shared by all engines of a server.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::capabilities::Offers;
use super::list::List;
use super::names::Names;
use super::offering::{Offered, Offering};
use super::{Cacheable, CatalogBuilder, Listed};
use crate::engine::server::extension::{Extension, Extensions};
use crate::engine::server::incoming::{CompletionTarget, ResourceTarget};
use crate::json::{JsonStr, RawJson, Sink, Writer};
use crate::model::header::ParamHeader;
use crate::model::{CacheHint, ClientCapabilities, Implementation, ProtocolVersion, UriTemplate};

/// What a server offers: its identity, its tools, resources and prompts, and what else it can do.
///
/// Everything a list, discovery or handshake is answered with is made here, once for each revision: a list call then
/// costs a header and one copy of the text into the output.
///
/// A capability is declared if there is something of it, or will be: `tools` if there are tools or their list may change,
/// and so on (CAP-01). What is not declared is answered as if it did not exist (ERR-10).
#[derive(Debug)]
pub struct Catalog {
    pub(super) offers: Offers,
    pub(super) tool_names: Names,
    /// What each tool needs of the client.
    pub(super) requires: Vec<ClientCapabilities>,
    /// The arguments of each tool that are mirrored in headers; empty, if no tool has any.
    pub(super) params: Vec<Vec<ParamHeader>>,
    pub(super) resource_uris: Names,
    pub(super) template_texts: Names,
    pub(super) templates: Vec<UriTemplate<'static>>,
    pub(super) prompt_names: Names,
    /// The arguments that each prompt requires.
    pub(super) required: Vec<Box<[Box<str>]>>,
    pub(super) tools: List,
    pub(super) resources: List,
    pub(super) resource_templates: List,
    pub(super) prompts: List,
    /// `"capabilities":…,"serverInfo":…,"instructions":…` by version, for `initialize`.
    pub(super) handshakes: [Arc<str>; ProtocolVersion::TABLE.len()],
    /// `"io.modelcontextprotocol/serverInfo":…`
    pub(super) server_info: Box<str>,
    /// `"resultType":"complete","_meta":…`: what every modern result has.
    pub(super) complete: Box<str>,
    /// `"supportedVersions":…,"capabilities":…,"instructions":…`.
    pub(super) discovery: Box<str>,
    pub(super) cache: [CacheHint; Cacheable::COUNT],
    pub(super) extensions: Box<[Extension]>,
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
        self.extensions.iter().position(|it| it.id() == id)
    }

    /// The member of the params that `Mcp-Name` repeats for a method of an extension.
    pub(crate) fn mirrored(&self, method: JsonStr<'_>, version: ProtocolVersion) -> Option<&str> {
        self.extensions().mirrored(method, version)
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

    const fn list(&self, listed: Listed) -> &List {
        match listed {
            Listed::Tools => &self.tools,
            Listed::Resources => &self.resources,
            Listed::ResourceTemplates => &self.resource_templates,
            Listed::Prompts => &self.prompts,
        }
    }
}

impl Offering for Catalog {}

impl Offered for Catalog {
    #[inline]
    fn offers(&self) -> Offers {
        self.offers
    }

    #[inline]
    fn extensions(&self) -> Extensions<'_> {
        Extensions(&self.extensions)
    }

    #[inline]
    fn find_tool(&self, name: JsonStr<'_>) -> Option<usize> {
        self.tool(name)
    }

    #[inline]
    fn requires(&self, tool: usize) -> ClientCapabilities {
        self.requires[tool]
    }

    fn param_header(&self, tool: usize, at: usize) -> Option<&str> {
        self.param_headers(tool)
            .get(at)
            .map(ParamHeader::header_name)
    }

    fn find_resource(&self, uri: JsonStr<'_>) -> Option<ResourceTarget> {
        let uri = &*uri.decode();
        let fixed = self.resource(uri).map(ResourceTarget::Fixed);
        fixed.or_else(|| self.resource_template(uri).map(ResourceTarget::Template))
    }

    fn find_reference(&self, uri: JsonStr<'_>) -> Option<CompletionTarget> {
        if let Some(template) = self.template_texts.find(&uri.decode()) {
            return Some(CompletionTarget::Template(template));
        }
        Some(match self.find_resource(uri)? {
            ResourceTarget::Fixed(resource) => CompletionTarget::Resource(resource),
            ResourceTarget::Template(template) => CompletionTarget::Template(template),
        })
    }

    fn find_prompt(&self, name: JsonStr<'_>) -> Option<usize> {
        self.prompt(name)
    }

    fn missing_argument(&self, prompt: usize, given: Option<RawJson<'_>>) -> Option<&str> {
        let given = |name: &str| given.and_then(|given| given.member(name)).is_some();
        let missing = self.required[prompt].iter().find(|name| !given(name));
        missing.map(|name| &**name)
    }

    fn page(&self, listed: Listed, cursor: Option<JsonStr<'_>>) -> Option<usize> {
        self.list(listed).page(cursor)
    }

    fn write_page<S: Sink + ?Sized>(
        &self,
        listed: Listed,
        page: usize,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
    ) {
        self.list(listed).write(listed.name(), page, version, json);
    }

    fn write_handshake<S: Sink + ?Sized>(
        &self,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
    ) {
        json.compact(&self.handshakes[version.index()]);
    }

    fn write_discovery<S: Sink + ?Sized>(&self, json: &mut Writer<'_, S>) {
        json.compact(&self.discovery);
    }

    fn write_server_info<S: Sink + ?Sized>(&self, json: &mut Writer<'_, S>) {
        json.compact(&self.server_info);
    }

    #[inline]
    fn write_complete<S: Sink + ?Sized>(&self, json: &mut Writer<'_, S>) {
        json.compact(&self.complete);
    }

    #[inline]
    fn cache_hint(&self, of: Cacheable) -> CacheHint {
        self.cache[of as usize]
    }
}
