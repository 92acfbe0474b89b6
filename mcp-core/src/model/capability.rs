//! Client capabilities: what a server may ask of a client (basic, "Capabilities").

use core::fmt;
use core::ops::BitOr;

#[cfg(feature = "alloc")]
use super::codec::Own;
use super::codec::{A, C, D, Target, Write, value_impls};
use super::codec::{Decode, DecodeError};
use crate::json::{Json, RawJson, Sink, Writer};

/// A set of client capabilities. Those of extensions and experiments are not in it.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
pub struct ClientCapabilities(u8);

impl ClientCapabilities {
    /// Nothing.
    pub const NONE: Self = Self(0);
    /// `roots`: lists its roots.
    pub const ROOTS: Self = Self(1);
    /// `sampling`: asks its model.
    pub const SAMPLING: Self = Self(1 << 1);
    /// `sampling.tools`: lets the model use tools while sampling.
    pub const SAMPLING_TOOLS: Self = Self(1 << 2 | 1 << 1);
    /// `sampling.context`: includes context of servers while sampling.
    pub const SAMPLING_CONTEXT: Self = Self(1 << 3 | 1 << 1);
    /// `elicitation`, form mode: asks its user. `"elicitation": {}` declares this.
    pub const ELICITATION: Self = Self(1 << 4);
    /// `elicitation.url`: sends its user to a URL.
    pub const ELICITATION_URL: Self = Self(1 << 5);
    /// `roots.listChanged`: tells when they have changed. Up to 2025-11-25.
    pub const ROOTS_LIST_CHANGED: Self = Self(1 << 6 | 1);

    /// Reads a `ClientCapabilities` object; a capability counts as declared if its value is an object (CAP-05).
    /// `None` if the value is no object.
    #[must_use]
    pub fn read(value: RawJson<'_>) -> Option<Self> {
        let mut found = Self::NONE;
        // What most clients send with each request.
        if value.as_str() == "{}" {
            return Some(found);
        }
        for (name, value) in value.as_object()? {
            let Some(settings) = value.as_object() else {
                continue;
            };
            let declares = |sub: &str| {
                settings
                    .clone()
                    .any(|(name, value)| name == sub && value.as_object().is_some())
            };
            if name == "roots" {
                found = found | Self::ROOTS;
                if settings
                    .clone()
                    .any(|(name, value)| name == "listChanged" && value.as_bool() == Some(true))
                {
                    found = found | Self::ROOTS_LIST_CHANGED;
                }
            } else if name == "sampling" {
                found = found | Self::SAMPLING;
                if declares("tools") {
                    found = found | Self::SAMPLING_TOOLS;
                }
                if declares("context") {
                    found = found | Self::SAMPLING_CONTEXT;
                }
            } else if name == "elicitation" {
                let url = declares("url");
                if url {
                    found = found | Self::ELICITATION_URL;
                }
                if declares("form") || !url {
                    found = found | Self::ELICITATION;
                }
            }
        }
        Some(found)
    }

    /// Whether all of `other` is in this set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// What is in this set and not in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Writes the set as a `ClientCapabilities` object, the form `requiredCapabilities` has (ERR-08).
    pub fn write<S: Sink + ?Sized>(self, json: &mut Writer<'_, S>) {
        json.begin_object();
        self.write_members(Target::ANY, json);
        json.end_object();
    }

    fn write_members<S: Sink + ?Sized>(self, target: Target, json: &mut Writer<'_, S>) {
        let group = |json: &mut Writer<'_, S>, name: &str, own: Self, parts: &[(&str, Self)]| {
            if parts.iter().all(|(_, bit)| self.0 & bit.0 == 0) && self.0 & own.0 == 0 {
                return;
            }
            json.key(name);
            json.begin_object();
            for (part, bit) in parts {
                if self.0 & bit.0 == 0 || !target.since(D) && *part != "listChanged" {
                    continue;
                }
                json.key(part);
                if *part == "listChanged" {
                    json.boolean(true);
                } else {
                    json.begin_object();
                    json.end_object();
                }
            }
            json.end_object();
        };
        let (list_changed, tools, context) = (Self(1 << 6), Self(1 << 2), Self(1 << 3));
        let told: &[_] = &[("listChanged", list_changed)];
        let told = if target.within(A, D) { told } else { &[] };
        group(json, "roots", Self::ROOTS, told);
        let parts = [("tools", tools), ("context", context)];
        group(json, "sampling", Self::SAMPLING, &parts);
        if !target.since(C) {
            return;
        }
        // `{}` stands for form alone; beside url it has to be said.
        let form = if self.contains(Self::ELICITATION_URL) {
            Self::ELICITATION
        } else {
            Self::NONE
        };
        // 2025-06-18 has forms only, and `{}` says so.
        let own = if target.since(D) {
            Self::ELICITATION | Self::ELICITATION_URL
        } else {
            Self::ELICITATION
        };
        let parts = [("form", form), ("url", Self::ELICITATION_URL)];
        let parts = if target.since(D) { &parts[..] } else { &[] };
        group(json, "elicitation", own, parts);
    }
}

impl Write for ClientCapabilities {
    fn write<S: Sink + ?Sized>(&self, target: Target, json: &mut Writer<'_, S>) {
        json.begin_object();
        self.write_members(target, json);
        json.end_object();
    }
}

#[cfg(feature = "alloc")]
impl Decode<'_> for ClientCapabilities {
    fn decode(value: RawJson<'_>) -> Result<Self, DecodeError> {
        Self::read(value).ok_or(DecodeError::new("an object").at("ClientCapabilities", ""))
    }
}

value_impls!(ClientCapabilities);

/// What a client can do, with what this crate has no names for.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ClientCapabilitiesObject<'a> {
    /// What it has names for.
    pub known: ClientCapabilities,
    /// `tasks`, as it stands. Only 2025-11-25.
    pub tasks: Option<Json<'a>>,
    /// `extensions`, by their identifiers. The protocol has it from 2026-07-28 on; there are extensions that are older, and
    /// so it is written to all.
    pub extensions: Option<Json<'a>>,
    /// `experimental`, by names of the client's choice.
    pub experimental: Option<Json<'a>>,
}

impl From<ClientCapabilities> for ClientCapabilitiesObject<'_> {
    fn from(known: ClientCapabilities) -> Self {
        Self {
            known,
            ..Self::default()
        }
    }
}

#[cfg(feature = "alloc")]
impl<'b> Decode<'b> for ClientCapabilitiesObject<'b> {
    fn decode(value: RawJson<'b>) -> Result<Self, DecodeError> {
        let known = ClientCapabilities::decode(value)?;
        let mut found = Self::from(known);
        for (name, value) in value.as_object().into_iter().flatten() {
            let (slot, name) = match &*name.known() {
                "tasks" => (&mut found.tasks, "tasks"),
                "extensions" => (&mut found.extensions, "extensions"),
                "experimental" => (&mut found.experimental, "experimental"),
                _ => continue,
            };
            // CAP-05: what is no object declares nothing.
            if value.as_object().is_some() && slot.replace(value.into()).is_some() {
                let twice = DecodeError::new("one of it only");
                return Err(twice.at("ClientCapabilities", name));
            }
        }
        Ok(found)
    }
}

impl Write for ClientCapabilitiesObject<'_> {
    fn write<S: Sink + ?Sized>(&self, target: Target, json: &mut Writer<'_, S>) {
        json.begin_object();
        self.known.write_members(target, json);
        for (name, value, carried) in [
            ("tasks", &self.tasks, target.within(D, D)),
            ("extensions", &self.extensions, true),
            ("experimental", &self.experimental, true),
        ] {
            if let Some(value) = value.as_ref().filter(|_| carried) {
                json.key(name);
                json.raw(value.raw());
            }
        }
        json.end_object();
    }
}

#[cfg(feature = "alloc")]
impl Own for ClientCapabilitiesObject<'_> {
    type Owned = ClientCapabilitiesObject<'static>;

    fn own(self) -> Self::Owned {
        ClientCapabilitiesObject {
            known: self.known,
            tasks: self.tasks.own(),
            extensions: self.extensions.own(),
            experimental: self.experimental.own(),
        }
    }
}

value_impls!(ClientCapabilitiesObject<'_>);

impl BitOr for ClientCapabilities {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Display for ClientCapabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [(&str, u8); 7] = [
            ("roots", 1),
            ("roots.listChanged", 1 << 6),
            ("sampling", 1 << 1),
            ("sampling.tools", 1 << 2),
            ("sampling.context", 1 << 3),
            ("elicitation", 1 << 4),
            ("elicitation.url", 1 << 5),
        ];
        let mut names = NAMES
            .iter()
            .filter(|(_, bit)| self.0 & bit != 0)
            .map(|(name, _)| name);
        if let Some(first) = names.next() {
            f.write_str(first)?;
        }
        names.try_for_each(|name| write!(f, ", {name}"))
    }
}
