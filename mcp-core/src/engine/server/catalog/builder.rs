//! How a catalog is made.

use core::num::NonZeroUsize;

use super::Cacheable;
use super::capabilities::Offers;
use crate::engine::server::extension::{Extension, Extensions};
use crate::json::{RawJson, Sink, Writer};
use crate::model::{
    CacheHint, Implementation, Prompt, ProtocolVersion, Resource, ResourceTemplate, Tool,
};

/// Makes a `Catalog`, by `build`; or is one itself, for the engines of a fixed memory, which has it
/// [written](super::Offering) afresh at each request.
#[derive(Clone, Debug)]
pub struct CatalogBuilder<'a> {
    pub(super) server: &'a Implementation<'a>,
    pub(super) instructions: Option<&'a str>,
    pub(super) tools: &'a [Tool<'a>],
    pub(super) resources: &'a [Resource<'a>],
    pub(super) templates: &'a [ResourceTemplate<'a>],
    pub(super) prompts: &'a [Prompt<'a>],
    pub(super) offers: Offers,
    pub(super) extensions: Option<RawJson<'a>>,
    pub(super) claims: &'a [Extension],
    pub(super) experimental: Option<RawJson<'a>>,
    pub(super) page_size: usize,
    pub(super) cache: [CacheHint; Cacheable::COUNT],
}

impl<'a> CatalogBuilder<'a> {
    /// Begins a catalog of a server of this identity, that offers nothing yet.
    pub const fn new(server: &'a Implementation<'a>) -> Self {
        Self {
            server,
            instructions: None,
            tools: &[],
            resources: &[],
            templates: &[],
            prompts: &[],
            offers: Offers::NONE,
            extensions: None,
            claims: &[],
            experimental: None,
            page_size: usize::MAX,
            cache: [CacheHint::NONE; Cacheable::COUNT],
        }
    }

    /// How to use the server, for the model.
    pub const fn instructions(mut self, instructions: &'a str) -> Self {
        self.instructions = Some(instructions);
        self
    }

    /// The tools. The order is that of the list, always (TOOL-03); a position in it names a tool.
    pub const fn tools(mut self, tools: &'a [Tool<'a>]) -> Self {
        self.tools = tools;
        self
    }

    /// The resources that are listed.
    pub const fn resources(mut self, resources: &'a [Resource<'a>]) -> Self {
        self.resources = resources;
        self
    }

    /// The templates of resources; with an allocator only. A URI that is no resource of the list belongs to the first template that it fits.
    #[cfg(feature = "alloc")]
    pub const fn resource_templates(mut self, templates: &'a [ResourceTemplate<'a>]) -> Self {
        self.templates = templates;
        self
    }

    /// The prompts.
    pub const fn prompts(mut self, prompts: &'a [Prompt<'a>]) -> Self {
        self.prompts = prompts;
        self
    }

    /// Whether the list of tools may change. Then `tools` is declared even if there are none yet.
    pub const fn tools_list_changed(mut self, may: bool) -> Self {
        self.offers.tools_list_changed = may;
        self
    }

    /// Whether the lists of resources and templates may change. Then `resources` is declared even if there are none yet.
    pub const fn resources_list_changed(mut self, may: bool) -> Self {
        self.offers.resources_list_changed = may;
        self
    }

    /// Whether clients can subscribe to resources. Then `resources` is declared even if there are none yet.
    pub const fn resources_subscribe(mut self, can: bool) -> Self {
        self.offers.resources_subscribe = can;
        self
    }

    /// Whether the list of prompts may change. Then `prompts` is declared even if there are none yet.
    pub const fn prompts_list_changed(mut self, may: bool) -> Self {
        self.offers.prompts_list_changed = may;
        self
    }

    /// Whether arguments of prompts and templates can be completed.
    pub const fn completions(mut self, can: bool) -> Self {
        self.offers.completions = can;
        self
    }

    /// Whether log messages are sent to clients.
    pub const fn logging(mut self, does: bool) -> Self {
        self.offers.logging = does;
        self
    }

    /// The extensions that are supported: an object with an object of settings for each.
    pub const fn extensions(mut self, extensions: RawJson<'a>) -> Self {
        self.extensions = Some(extensions);
        self
    }

    /// The extensions whose messages are handed over. They are declared beside those of
    /// [`extensions`](Self::extensions), which are only declared; a position in the list names one.
    pub const fn with_extensions(mut self, extensions: &'a [Extension]) -> Self {
        self.claims = extensions;
        self
    }

    /// Experimental capabilities: an object with an object for each.
    pub const fn experimental(mut self, experimental: RawJson<'a>) -> Self {
        self.experimental = Some(experimental);
        self
    }

    /// How many elements a page of a list has; without it, each list is one page.
    pub const fn page_size(mut self, size: NonZeroUsize) -> Self {
        self.page_size = size.get();
        self
    }

    /// How long, and for whom, everything may be cached that clients may cache. [`CacheHint::NONE`] if it is not said.
    pub const fn cache(mut self, hint: CacheHint) -> Self {
        self.cache = [hint; Cacheable::COUNT];
        self
    }

    /// The same, for one of them: after [`cache`](Self::cache).
    pub const fn cache_of(mut self, what: Cacheable, hint: CacheHint) -> Self {
        self.cache[what as usize] = hint;
        self
    }

    /// What there is, or will be, and with it declared (CAP-01).
    pub(super) fn declared(&self) -> Offers {
        let Offers {
            tools_list_changed,
            resources_list_changed,
            resources_subscribe,
            prompts_list_changed,
            ..
        } = self.offers;
        Offers {
            tools: !self.tools.is_empty() || tools_list_changed,
            resources: !self.resources.is_empty()
                || !self.templates.is_empty()
                || resources_list_changed
                || resources_subscribe,
            prompts: !self.prompts.is_empty() || prompts_list_changed,
            ..self.offers
        }
    }

    pub(super) fn write_capabilities<S: Sink + ?Sized>(
        &self,
        offers: &Offers,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
    ) {
        json.key("capabilities");
        let claims = Extensions(self.claims);
        offers.write(self.extensions, claims, self.experimental, version, json);
    }

    pub(super) fn write_instructions<S: Sink + ?Sized>(&self, json: &mut Writer<'_, S>) {
        if let Some(instructions) = self.instructions {
            json.key("instructions");
            json.string(instructions);
        }
    }
}
