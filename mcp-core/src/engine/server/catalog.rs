//! What a server offers, serialised once and shared by all its engines.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

use crate::json::{JsonStr, Kind, Sink, Writer};
pub use crate::model::{CacheHint, CacheScope};
use crate::model::{
    ClientCapabilities, Encode, Era, Implementation, ProtocolVersion, Tool, is_object_schema, key,
};

/// What a server offers: its identity, and its tools.
///
/// Everything a list, discovery or handshake is answered with is made here, once for each revision: a list call then
/// costs a header and one copy of the text into the output.
#[derive(Debug)]
pub struct Catalog {
    tools: Vec<Offer>,
    by_name: HashTable<u32>,
    hasher: FixedState,
    /// The array of tools, by version; revisions that see the same tools share one text.
    pub(super) tool_lists: [Arc<str>; ProtocolVersion::TABLE.len()],
    /// `"serverInfo":…,"capabilities":…,"instructions":…` by version, for `initialize`.
    handshakes: [Arc<str>; ProtocolVersion::TABLE.len()],
    /// `"resultType":"complete","_meta":…`: what every modern result has.
    complete: Box<str>,
    /// `"ttlMs":…,"cacheScope":…`.
    cache: Box<str>,
    /// `"supportedVersions":…,"capabilities":…,"instructions":…`.
    discovery: Box<str>,
}

#[derive(Debug)]
struct Offer {
    name: Box<str>,
    requires: ClientCapabilities,
}

/// Why a catalog cannot be made: a mistake of the server's author.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum CatalogError {
    /// Two tools have this name.
    DuplicateTool(Box<str>),
    /// A tool without a name.
    UnnamedTool,
    /// The input schema of this tool is no object with `"type": "object"` at its root (TOOL-04).
    InputSchema(Box<str>),
    /// The output schema of this tool is no object (TOOL-06).
    OutputSchema(Box<str>),
}

impl Catalog {
    /// Serialises what a server offers. The order of the tools is that of the list, always (TOOL-03).
    ///
    /// # Errors
    ///
    /// [`CatalogError`] names the tool that cannot be offered.
    pub fn new(
        server: &Implementation<'_>,
        instructions: Option<&str>,
        tools: &[Tool<'_>],
        cache: CacheHint,
    ) -> Result<Self, CatalogError> {
        let hasher = FixedState::default();
        let mut offers: Vec<Offer> = Vec::with_capacity(tools.len());
        let mut by_name = HashTable::with_capacity(tools.len());
        for tool in tools {
            check(tool)?;
            let hash = hasher.hash_one(&*tool.name);
            if by_name
                .find(hash, |&at: &u32| *offers[at as usize].name == *tool.name)
                .is_some()
            {
                return Err(CatalogError::DuplicateTool((&*tool.name).into()));
            }
            by_name.insert_unique(hash, offers.len() as u32, |&at| {
                hasher.hash_one(&*offers[at as usize].name)
            });
            offers.push(Offer {
                name: (&*tool.name).into(),
                requires: tool.requires,
            });
        }
        let handshake = |version| {
            written(|json| {
                json.key("capabilities");
                write_capabilities(!tools.is_empty(), json);
                json.key("serverInfo");
                server.encode(version, json);
                write_instructions(instructions, json);
            })
        };
        Ok(Self {
            tools: offers,
            by_name,
            hasher,
            tool_lists: tool_lists(tools),
            handshakes: by_version(|version| handshake(version).into()),
            complete: written(|json| {
                json.key("resultType");
                json.string("complete");
                json.key("_meta");
                json.begin_object();
                json.key(key::SERVER_INFO);
                server.encode(ProtocolVersion::LATEST_MODERN, json);
                json.end_object();
            }),
            cache: written(|json| {
                json.key("ttlMs");
                json.unsigned(cache.ttl_ms);
                json.key("cacheScope");
                json.string(cache.scope.as_str());
            }),
            discovery: written(|json| {
                json.key("supportedVersions");
                write_versions(|_| true, json);
                json.key("capabilities");
                write_capabilities(!tools.is_empty(), json);
                write_instructions(instructions, json);
            }),
        })
    }

    /// Whether any tool is offered, and with it the capability `tools`.
    #[must_use]
    pub fn has_tools(&self) -> bool {
        !self.tools.is_empty()
    }

    /// The position of the tool of this name in the list given to [`new`](Self::new).
    #[must_use]
    pub fn tool(&self, name: JsonStr<'_>) -> Option<usize> {
        let name = name.decode();
        self.by_name
            .find(self.hasher.hash_one(&*name), |&at| {
                *self.tools[at as usize].name == *name
            })
            .map(|&at| at as usize)
    }

    /// The name of a tool by its position.
    #[must_use]
    pub fn tool_name(&self, tool: usize) -> Option<&str> {
        self.tools.get(tool).map(|offer| &*offer.name)
    }

    pub(super) fn requires(&self, tool: usize) -> ClientCapabilities {
        self.tools[tool].requires
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
        json.compact(&self.cache);
        json.end_object();
    }

    /// Writes the result of `tools/list`: one page with all of them.
    pub(super) fn write_tools<S: Sink + ?Sized>(
        &self,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
    ) {
        self.write_result(version, json, |json| {
            if version.era() == Era::Modern {
                json.compact(&self.cache);
            }
            json.key("tools");
            json.compact(&self.tool_lists[version.index()]);
        });
    }

    /// Writes a result: what its era demands of every result, and then `members` (RES-01, RES-05, META-12).
    pub(super) fn write_result<S: Sink + ?Sized>(
        &self,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
        members: impl FnOnce(&mut Writer<'_, S>),
    ) {
        json.begin_object();
        if version.era() == Era::Modern {
            json.compact(&self.complete);
        }
        members(json);
        json.end_object();
    }
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

fn write_capabilities<S: Sink + ?Sized>(tools: bool, json: &mut Writer<'_, S>) {
    json.begin_object();
    if tools {
        json.key("tools");
        json.begin_object();
        json.end_object();
    }
    json.end_object();
}

fn write_instructions<S: Sink + ?Sized>(instructions: Option<&str>, json: &mut Writer<'_, S>) {
    if let Some(instructions) = instructions {
        json.key("instructions");
        json.string(instructions);
    }
}

fn check(tool: &Tool<'_>) -> Result<(), CatalogError> {
    if tool.name.is_empty() {
        return Err(CatalogError::UnnamedTool);
    }
    if !is_object_schema(tool.input_schema.raw()) {
        return Err(CatalogError::InputSchema((&*tool.name).into()));
    }
    if tool
        .output_schema
        .as_ref()
        .is_some_and(|schema| schema.raw().kind() != Kind::Object)
    {
        return Err(CatalogError::OutputSchema((&*tool.name).into()));
    }
    Ok(())
}

fn tool_lists(tools: &[Tool<'_>]) -> [Arc<str>; ProtocolVersion::TABLE.len()] {
    let mut previous: Arc<str> = "".into();
    by_version(|version| {
        let list = written(|json| {
            json.begin_array();
            for tool in tools {
                tool.encode(version, json);
            }
            json.end_array();
        });
        if *list != *previous {
            previous = list.into();
        }
        previous.clone()
    })
}

/// One value for each version, at its [`index`](ProtocolVersion::index).
fn by_version<T>(mut value: impl FnMut(ProtocolVersion) -> T) -> [T; ProtocolVersion::TABLE.len()] {
    let mut oldest_first = ProtocolVersion::TABLE;
    oldest_first.reverse();
    oldest_first.map(&mut value)
}

fn written(write: impl FnOnce(&mut Writer<'_, Vec<u8>>)) -> Box<str> {
    let mut text = Vec::new();
    let mut json = Writer::new(&mut text);
    write(&mut json);
    json.finish().expect("a Vec is never full");
    String::from_utf8(text)
        .expect("the writer writes UTF-8")
        .into()
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateTool(name) => write!(f, "two tools are called `{name}`"),
            Self::UnnamedTool => f.write_str("a tool has no name"),
            Self::InputSchema(name) => {
                write!(
                    f,
                    "the input schema of tool `{name}` must be an object with \"type\": \"object\""
                )
            }
            Self::OutputSchema(name) => {
                write!(f, "the output schema of tool `{name}` must be an object")
            }
        }
    }
}

impl core::error::Error for CatalogError {}
