//! What a server says it can do.

use crate::engine::server::extension::Extensions;
use crate::json::{RawJson, Sink, Writer};
use crate::model::ProtocolVersion;

/// What is offered, and with it declared.
#[derive(Clone, Copy, Debug)]
pub(in crate::engine::server) struct Offers {
    pub(in crate::engine::server) tools: bool,
    pub(in crate::engine::server) tools_list_changed: bool,
    pub(in crate::engine::server) resources: bool,
    pub(in crate::engine::server) resources_list_changed: bool,
    pub(in crate::engine::server) resources_subscribe: bool,
    pub(in crate::engine::server) prompts: bool,
    pub(in crate::engine::server) prompts_list_changed: bool,
    pub(in crate::engine::server) completions: bool,
    pub(in crate::engine::server) logging: bool,
}

impl Offers {
    pub(super) const NONE: Self = Self {
        tools: false,
        tools_list_changed: false,
        resources: false,
        resources_list_changed: false,
        resources_subscribe: false,
        prompts: false,
        prompts_list_changed: false,
        completions: false,
        logging: false,
    };

    /// Writes a `ServerCapabilities` object.
    ///
    /// `extensions` are known to 2026-07-28 only, and tolerated before it: hosts look for them there (INIT-17).
    pub(super) fn write<S: Sink + ?Sized>(
        &self,
        extensions: Option<RawJson<'_>>,
        claims: Extensions<'_>,
        experimental: Option<RawJson<'_>>,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
    ) {
        let capability =
            |json: &mut Writer<'_, S>, name: &str, has: bool, flags: &[(&str, bool)]| {
                if !has {
                    return;
                }
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
        if let Some(experimental) = experimental {
            json.key("experimental");
            json.raw(experimental);
        }
        let flags = [("listChanged", self.tools_list_changed)];
        capability(json, "tools", self.tools, &flags);
        let flags = [
            ("subscribe", self.resources_subscribe),
            ("listChanged", self.resources_list_changed),
        ];
        capability(json, "resources", self.resources, &flags);
        let flags = [("listChanged", self.prompts_list_changed)];
        capability(json, "prompts", self.prompts, &flags);
        // CAP-04: 2024-11-05 completes without saying so.
        let completions = self.completions && version > ProtocolVersion::V2024_11_05;
        capability(json, "completions", completions, &[]);
        capability(json, "logging", self.logging, &[]);
        for capability in claims.of(version, true) {
            json.key(capability.id());
            json.raw(capability.declares());
        }
        if claims.of(version, false).next().is_none() {
            if let Some(extensions) = extensions {
                json.key("extensions");
                json.raw(extensions);
            }
        } else {
            json.key("extensions");
            json.begin_object();
            for (id, settings) in extensions
                .and_then(RawJson::as_object)
                .into_iter()
                .flatten()
            {
                json.decoded_key(id);
                json.raw(settings);
            }
            for extension in claims.of(version, false) {
                json.key(extension.id());
                json.raw(extension.declares());
            }
            json.end_object();
        }
        json.end_object();
    }
}
