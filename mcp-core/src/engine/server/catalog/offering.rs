//! What the engine asks of a catalog, however it is kept.

use core::fmt;

use super::capabilities::Offers;
use super::{COMPLETE, Cacheable, Listed, write_cache};
use crate::engine::server::extension::{Declared, Extensions};
use crate::engine::server::incoming::{CompletionTarget, ResourceTarget};
use crate::engine::server::subscriptions::Lists;
use crate::json::{JsonStr, RawJson, Sink, Writer};
use crate::model::{CacheHint, ClientCapabilities, Era, ProtocolVersion, key};

/// What a server offers: a `Catalog`, which is serialised once, or a [`CatalogBuilder`](super::CatalogBuilder), which is
/// serialised as it is asked for.
#[expect(
    private_bounds,
    reason = "sealed: what is in it is the engine's own business"
)]
pub trait Offering: Offered + Sized {}

/// What is in it.
pub(in crate::engine::server) trait Offered: fmt::Debug {
    fn offers(&self) -> Offers;

    /// What is served beyond the protocol.
    fn extensions(&self) -> Extensions<'_>;

    /// The position of the tool of this name.
    fn find_tool(&self, name: JsonStr<'_>) -> Option<usize>;

    /// What a tool needs of the client.
    fn requires(&self, tool: usize) -> ClientCapabilities;

    /// The name of the header that an argument of a tool is mirrored in.
    fn param_header(&self, tool: usize, at: usize) -> Option<&str>;

    /// What a URI belongs to.
    fn find_resource(&self, uri: JsonStr<'_>) -> Option<ResourceTarget>;

    /// A template by its own text, or what a URI belongs to (CMP-01).
    fn find_reference(&self, uri: JsonStr<'_>) -> Option<CompletionTarget>;

    /// The position of the prompt of this name.
    fn find_prompt(&self, name: JsonStr<'_>) -> Option<usize>;

    /// The first argument that a prompt requires and that is not among those given.
    fn missing_argument(&self, prompt: usize, given: Option<RawJson<'_>>) -> Option<&str>;

    /// The page that a cursor stands for; `None` if it is none of this list as it is now.
    fn page(&self, listed: Listed, cursor: Option<JsonStr<'_>>) -> Option<usize>;

    /// Writes `"tools":[…]`, and `"nextCursor"` if there are more pages: never null (PAG-03).
    fn write_page<S: Sink + ?Sized>(
        &self,
        listed: Listed,
        page: usize,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
    );

    /// Writes `"capabilities":…,"serverInfo":…,"instructions":…`.
    fn write_handshake<S: Sink + ?Sized>(&self, version: ProtocolVersion, json: &mut Writer<'_, S>);

    /// Writes `"supportedVersions":…,"capabilities":…,"instructions":…`.
    fn write_discovery<S: Sink + ?Sized>(&self, json: &mut Writer<'_, S>);

    /// Writes `"io.modelcontextprotocol/serverInfo":…`.
    fn write_server_info<S: Sink + ?Sized>(&self, json: &mut Writer<'_, S>);

    /// Writes `"resultType":"complete","_meta":…`: what every modern result has.
    fn write_complete<S: Sink + ?Sized>(&self, json: &mut Writer<'_, S>);

    fn cache_hint(&self, of: Cacheable) -> CacheHint;

    /// The lists whose changes are told.
    fn changing(&self) -> Lists {
        let offers = self.offers();
        Lists::NONE
            .with(Lists::TOOLS, offers.tools_list_changed)
            .with(Lists::PROMPTS, offers.prompts_list_changed)
            .with(Lists::RESOURCES, offers.resources_list_changed)
    }

    /// Writes the result of a list, for a client that declared these extensions.
    fn write_list<S: Sink + ?Sized>(
        &self,
        listed: Listed,
        page: usize,
        version: ProtocolVersion,
        declared: Declared,
        json: &mut Writer<'_, S>,
    ) {
        json.begin_object();
        if version.era() == Era::Modern {
            self.write_complete(json);
            write_cache(self.cache_hint(listed.cacheable()), json);
        }
        #[cfg(feature = "alloc")]
        if self.extensions().hidden(declared).next().is_some() {
            let all = super::text::text(|json| {
                json.begin_object();
                self.write_page(listed, page, version, json);
                json.end_object();
            });
            super::private::write_public(listed, &all, self.extensions().hidden(declared), json);
            return json.end_object();
        }
        #[cfg(not(feature = "alloc"))]
        let _ = declared;
        self.write_page(listed, page, version, json);
        json.end_object();
    }

    /// Writes the result of `initialize`, negotiated to `version`.
    fn write_initialize<S: Sink + ?Sized>(
        &self,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
    ) {
        json.begin_object();
        json.key("protocolVersion");
        json.string(version.as_str());
        self.write_handshake(version, json);
        json.end_object();
    }

    /// Writes the result of `server/discover` (DISC-04).
    fn write_discover<S: Sink + ?Sized>(&self, json: &mut Writer<'_, S>) {
        json.begin_object();
        self.write_complete(json);
        self.write_discovery(json);
        write_cache(self.cache_hint(Cacheable::Discovery), json);
        json.end_object();
    }

    /// Writes what every result has, in an open object: `meta` is what this one's `_meta` has besides (RES-01, RES-05,
    /// META-12).
    #[inline]
    fn write_head<S: Sink + ?Sized>(
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
            return self.write_complete(json);
        }
        self.write_modern_head(result_type, json, |json| {
            for (name, value) in meta.and_then(RawJson::as_object).into_iter().flatten() {
                // Who answers is not for a handler to say.
                if name != key::SERVER_INFO {
                    json.decoded_key(name);
                    json.raw(value);
                }
            }
        });
    }

    /// The same for a modern result; `meta` writes the members of its `_meta`.
    fn write_modern_head<S: Sink + ?Sized>(
        &self,
        result_type: &str,
        json: &mut Writer<'_, S>,
        meta: impl FnOnce(&mut Writer<'_, S>),
    ) {
        json.key("resultType");
        json.string(result_type);
        json.key("_meta");
        json.begin_object();
        self.write_server_info(json);
        meta(json);
        json.end_object();
    }
}
