//! A catalog that is serialised as it is asked for: nothing is kept but what it was made of.

use super::capabilities::Offers;
use super::cursor::Cursor;
use super::offering::{Offered, Offering};
use super::{COMPLETE, Cacheable, CatalogBuilder, Listed, write_versions};
use crate::engine::server::extension::Extensions;
use crate::engine::server::incoming::{CompletionTarget, ResourceTarget};
use crate::json::{JsonStr, RawJson, Sink, Writer};
#[cfg(feature = "alloc")]
use crate::model::UriTemplate;
use crate::model::{CacheHint, ClientCapabilities, Encode, ProtocolVersion, key};

impl Offering for CatalogBuilder<'_> {}

impl Offered for CatalogBuilder<'_> {
    fn offers(&self) -> Offers {
        self.declared()
    }

    fn extensions(&self) -> Extensions<'_> {
        Extensions(self.claims)
    }

    fn find_tool(&self, name: JsonStr<'_>) -> Option<usize> {
        self.tools.iter().position(|tool| name == *tool.name)
    }

    fn requires(&self, tool: usize) -> ClientCapabilities {
        let tool = self.tools.get(tool);
        tool.map_or(ClientCapabilities::NONE, |tool| tool.requires)
    }

    /// None: HTTP is served from a catalog that is prepared.
    fn param_header(&self, _: usize, _: usize) -> Option<&str> {
        None
    }

    fn find_resource(&self, uri: JsonStr<'_>) -> Option<ResourceTarget> {
        let mut resources = self.resources.iter();
        let fixed = resources.position(|resource| uri == *resource.uri);
        fixed
            .map(ResourceTarget::Fixed)
            .or_else(|| self.find_template(uri).map(ResourceTarget::Template))
    }

    fn find_reference(&self, uri: JsonStr<'_>) -> Option<CompletionTarget> {
        let mut templates = self.templates.iter();
        if let Some(template) = templates.position(|template| uri == *template.uri_template) {
            return Some(CompletionTarget::Template(template));
        }
        Some(match self.find_resource(uri)? {
            ResourceTarget::Fixed(resource) => CompletionTarget::Resource(resource),
            ResourceTarget::Template(template) => CompletionTarget::Template(template),
        })
    }

    fn find_prompt(&self, name: JsonStr<'_>) -> Option<usize> {
        self.prompts.iter().position(|prompt| name == *prompt.name)
    }

    fn missing_argument(&self, prompt: usize, given: Option<RawJson<'_>>) -> Option<&str> {
        let given = |name: &str| given.and_then(|given| given.member(name)).is_some();
        let arguments = self.prompts.get(prompt)?.arguments.as_deref()?;
        let mut required = arguments.iter().filter(|argument| argument.required);
        let missing = required.find(|argument| !given(&argument.name))?;
        Some(&missing.name)
    }

    fn page(&self, listed: Listed, cursor: Option<JsonStr<'_>>) -> Option<usize> {
        if cursor.is_none() {
            return Some(0);
        }
        Cursor::page(cursor, self.stamp(listed), self.pages(listed))
    }

    fn write_page<S: Sink + ?Sized>(
        &self,
        listed: Listed,
        page: usize,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
    ) {
        let size = self.page_size.max(1);
        let first = page.saturating_mul(size);
        json.key(listed.name());
        json.begin_array();
        self.write_elements(listed, first, size, version, json);
        json.end_array();
        if page + 1 < self.pages(listed) {
            let stamp = self.stamp(listed);
            let page = page + 1;
            json.key("nextCursor");
            json.display(&Cursor { stamp, page });
        }
    }

    fn write_handshake<S: Sink + ?Sized>(
        &self,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
    ) {
        self.write_capabilities(&self.declared(), version, json);
        json.key("serverInfo");
        self.server.encode(version, json);
        self.write_instructions(json);
    }

    fn write_discovery<S: Sink + ?Sized>(&self, json: &mut Writer<'_, S>) {
        json.key("supportedVersions");
        write_versions(|_| true, json);
        self.write_capabilities(&self.declared(), ProtocolVersion::LATEST_MODERN, json);
        self.write_instructions(json);
    }

    fn write_server_info<S: Sink + ?Sized>(&self, json: &mut Writer<'_, S>) {
        json.key(key::SERVER_INFO);
        self.server.encode(ProtocolVersion::LATEST_MODERN, json);
    }

    fn write_complete<S: Sink + ?Sized>(&self, json: &mut Writer<'_, S>) {
        self.write_modern_head(COMPLETE, json, |_| ());
    }

    fn cache_hint(&self, of: Cacheable) -> CacheHint {
        self.cache[of as usize]
    }
}

impl CatalogBuilder<'_> {
    const fn count(&self, listed: Listed) -> usize {
        match listed {
            Listed::Tools => self.tools.len(),
            Listed::Resources => self.resources.len(),
            Listed::ResourceTemplates => self.templates.len(),
            Listed::Prompts => self.prompts.len(),
        }
    }

    /// A list of nothing is a page.
    fn pages(&self, listed: Listed) -> usize {
        self.count(listed).div_ceil(self.page_size.max(1)).max(1)
    }

    /// Whether a cursor is of this very list: of its name, what is in it, and the way it is cut.
    fn stamp(&self, listed: Listed) -> u64 {
        let mut stamp = Stamp::new();
        stamp.add(listed.name());
        stamp.add_number(self.page_size as u64);
        match listed {
            Listed::Tools => self.tools.iter().for_each(|it| stamp.add(&it.name)),
            Listed::Resources => self.resources.iter().for_each(|it| stamp.add(&it.uri)),
            Listed::ResourceTemplates => {
                let texts = self.templates.iter().map(|it| &it.uri_template);
                texts.for_each(|text| stamp.add(text));
            }
            Listed::Prompts => self.prompts.iter().for_each(|it| stamp.add(&it.name)),
        }
        stamp.0
    }

    fn write_elements<S: Sink + ?Sized>(
        &self,
        listed: Listed,
        first: usize,
        count: usize,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
    ) {
        match listed {
            Listed::Tools => write_each(self.tools, first, count, version, json),
            Listed::Resources => write_each(self.resources, first, count, version, json),
            // Without an allocator there are none.
            #[cfg(not(feature = "alloc"))]
            Listed::ResourceTemplates => {}
            #[cfg(feature = "alloc")]
            Listed::ResourceTemplates => write_each(self.templates, first, count, version, json),
            Listed::Prompts => write_each(self.prompts, first, count, version, json),
        }
    }

    #[cfg(feature = "alloc")]
    fn find_template(&self, uri: JsonStr<'_>) -> Option<usize> {
        let uri = &*uri.decode();
        self.templates.iter().position(|template| {
            let template = UriTemplate::parse(&template.uri_template);
            template.is_ok_and(|template| template.matches(uri).is_some())
        })
    }

    /// There are none.
    #[cfg(not(feature = "alloc"))]
    fn find_template(&self, _: JsonStr<'_>) -> Option<usize> {
        None
    }
}

fn write_each<T: Encode, S: Sink + ?Sized>(
    elements: &[T],
    first: usize,
    count: usize,
    version: ProtocolVersion,
    json: &mut Writer<'_, S>,
) {
    for element in elements.iter().skip(first).take(count) {
        element.encode(version, json);
    }
}

/// A hash by FNV-1a: of few and short texts that the peer does not choose, and in few instructions.
struct Stamp(u64);

impl Stamp {
    const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, text: &str) {
        text.bytes().for_each(|byte| self.add_byte(byte));
        // No text has this byte: where one ends and the next begins counts.
        self.add_byte(0xff);
    }

    fn add_number(&mut self, number: u64) {
        number
            .to_le_bytes()
            .into_iter()
            .for_each(|byte| self.add_byte(byte));
    }

    const fn add_byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ byte as u64).wrapping_mul(0x100_0000_01b3);
    }
}
