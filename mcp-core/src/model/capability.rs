//! Client capabilities: what a server may ask of a client (basic, "Capabilities").

use core::fmt;
use core::ops::BitOr;

use crate::json::{RawJson, Sink, Writer};

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
        let group = |json: &mut Writer<'_, S>, name: &str, parts: &[(&str, Self)]| {
            if parts.iter().all(|(_, bit)| self.0 & bit.0 == 0) {
                return;
            }
            json.key(name);
            json.begin_object();
            for (part, bit) in parts {
                if !part.is_empty() && self.0 & bit.0 != 0 {
                    json.key(part);
                    json.begin_object();
                    json.end_object();
                }
            }
            json.end_object();
        };
        json.begin_object();
        group(json, "roots", &[("", Self::ROOTS)]);
        let (tools, context) = (Self(1 << 2), Self(1 << 3));
        group(
            json,
            "sampling",
            &[("", Self::SAMPLING), ("tools", tools), ("context", context)],
        );
        // `{}` stands for form alone; beside url it has to be said.
        let form = if self.contains(Self::ELICITATION_URL) {
            "form"
        } else {
            ""
        };
        group(
            json,
            "elicitation",
            &[(form, Self::ELICITATION), ("url", Self::ELICITATION_URL)],
        );
        json.end_object();
    }
}

impl BitOr for ClientCapabilities {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Display for ClientCapabilities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const NAMES: [(&str, u8); 6] = [
            ("roots", 1),
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
