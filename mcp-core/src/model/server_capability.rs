//! Server capabilities: what a server offers (basic, "Capabilities").

#[cfg(feature = "alloc")]
use super::codec::Own;
use super::codec::{B, D, E};
use super::codec::{Decode, DecodeError, Target, Write, optional, value_impls};
use crate::json::{Json, RawJson, Sink, Writer};

/// What a server offers. A capability counts as declared if its value is an object (CAP-05).
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct ServerCapabilities<'a> {
    /// `tools`.
    pub tools: Option<ListCapability>,
    /// `resources`.
    pub resources: Option<ResourcesCapability>,
    /// `prompts`.
    pub prompts: Option<ListCapability>,
    /// `completions`. From 2025-03-26 on; before that servers complete without saying so (CAP-04).
    pub completions: bool,
    /// `logging`.
    pub logging: bool,
    /// `tasks`, as it stands. Only 2025-11-25.
    pub tasks: Option<Json<'a>>,
    /// `extensions`, by their identifiers. From 2026-07-28 on; written to no other, read from all.
    pub extensions: Option<Json<'a>>,
    /// `experimental`, by names of the server's choice.
    pub experimental: Option<Json<'a>>,
}

/// What a server says of a list.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ListCapability {
    /// It tells when the list has changed.
    pub list_changed: bool,
}

impl ListCapability {
    /// With or without word of changes.
    #[must_use]
    pub const fn new(list_changed: bool) -> Self {
        Self { list_changed }
    }
}

/// What a server says of its resources.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct ResourcesCapability {
    /// It tells of a resource that was asked for when that has changed.
    pub subscribe: bool,
    /// It tells when the list has changed.
    pub list_changed: bool,
}

impl ResourcesCapability {
    /// With or without subscriptions, with or without word of changes.
    #[must_use]
    pub const fn new(subscribe: bool, list_changed: bool) -> Self {
        Self {
            subscribe,
            list_changed,
        }
    }
}

#[cfg(feature = "alloc")]
impl<'b> Decode<'b> for ServerCapabilities<'b> {
    fn decode(value: RawJson<'b>) -> Result<Self, DecodeError> {
        let record = "ServerCapabilities";
        let members = value
            .as_object()
            .ok_or(DecodeError::new("an object").at(record, ""))?;
        let mut found = [None; 8];
        for (name, value) in members {
            let Some(at) = NAMES.iter().position(|&known| name == known) else {
                continue;
            };
            if found[at].replace(value).is_some() {
                return Err(DecodeError::new("one of it only").at(record, NAMES[at]));
            }
        }
        let objects = found.map(|value| value.filter(|value| value.as_object().is_some()));
        let [
            tools,
            resources,
            prompts,
            completions,
            logging,
            tasks,
            extensions,
            experimental,
        ] = objects;
        let list = |value: RawJson<'b>| ListCapability::new(is_true(value, "listChanged"));
        Ok(Self {
            tools: tools.map(list),
            resources: resources.map(|value| ResourcesCapability {
                subscribe: is_true(value, "subscribe"),
                list_changed: is_true(value, "listChanged"),
            }),
            prompts: prompts.map(list),
            completions: completions.is_some(),
            logging: logging.is_some(),
            tasks: optional(tasks)?,
            extensions: optional(extensions)?,
            experimental: optional(experimental)?,
        })
    }
}

const NAMES: [&str; 8] = [
    "tools",
    "resources",
    "prompts",
    "completions",
    "logging",
    "tasks",
    "extensions",
    "experimental",
];

fn is_true(object: RawJson<'_>, name: &str) -> bool {
    object.member(name).and_then(RawJson::as_bool) == Some(true)
}

impl Write for ServerCapabilities<'_> {
    fn write<S: Sink + ?Sized>(&self, target: Target, json: &mut Writer<'_, S>) {
        let flags = |json: &mut Writer<'_, S>, name: &str, flags: &[(&str, bool)]| {
            json.key(name);
            json.begin_object();
            for (flag, set) in flags {
                if *set {
                    json.key(flag);
                    json.boolean(true);
                }
            }
            json.end_object();
        };
        json.begin_object();
        if let Some(tools) = self.tools {
            flags(json, "tools", &[("listChanged", tools.list_changed)]);
        }
        if let Some(resources) = self.resources {
            let sub = [
                ("subscribe", resources.subscribe),
                ("listChanged", resources.list_changed),
            ];
            flags(json, "resources", &sub);
        }
        if let Some(prompts) = self.prompts {
            flags(json, "prompts", &[("listChanged", prompts.list_changed)]);
        }
        if self.completions && target.since(B) {
            flags(json, "completions", &[]);
        }
        if self.logging {
            flags(json, "logging", &[]);
        }
        for (name, value, carried) in [
            ("tasks", &self.tasks, target.within(D, D)),
            ("extensions", &self.extensions, target.within(E, E)),
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
impl Own for ServerCapabilities<'_> {
    type Owned = ServerCapabilities<'static>;

    fn own(self) -> Self::Owned {
        ServerCapabilities {
            tools: self.tools,
            resources: self.resources,
            prompts: self.prompts,
            completions: self.completions,
            logging: self.logging,
            tasks: self.tasks.own(),
            extensions: self.extensions.own(),
            experimental: self.experimental.own(),
        }
    }
}

value_impls!(ServerCapabilities<'_>);
