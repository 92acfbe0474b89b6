//! What a `subscriptions/listen` asks for.

use crate::error::PeerFault;
use crate::json::{Array, JsonStr, Kind, RawJson, Sink, Writer};

/// A [`SubscriptionFilter`](crate::model::SubscriptionFilter), whose URIs stay where they came.
#[derive(Clone, Debug, Default)]
pub(super) struct Wanted<'b> {
    pub(super) tools: bool,
    pub(super) prompts: bool,
    pub(super) resources: bool,
    /// Of strings only, and not empty.
    pub(super) uris: Option<Array<'b>>,
}

impl<'b> Wanted<'b> {
    pub(super) fn read(value: RawJson<'b>) -> Result<Self, PeerFault> {
        const TOOLS: &str = "notifications.toolsListChanged";
        const PROMPTS: &str = "notifications.promptsListChanged";
        const RESOURCES: &str = "notifications.resourcesListChanged";
        const URIS: &str = "notifications.resourceSubscriptions";
        let fault = |field, expected| PeerFault::Params { field, expected };
        let members = value.as_object();
        let members = members.ok_or_else(|| fault("notifications", "an object"))?;
        let mut found = [None; 4];
        for (name, value) in members {
            let at = match &*name.known() {
                "toolsListChanged" => 0,
                "promptsListChanged" => 1,
                "resourcesListChanged" => 2,
                "resourceSubscriptions" => 3,
                _ => continue,
            };
            if found[at].replace(value).is_some() {
                let field = [TOOLS, PROMPTS, RESOURCES, URIS][at];
                return Err(fault(field, "one of it only"));
            }
        }
        let [tools, prompts, resources, uris] =
            found.map(|value| value.filter(|value| !value.is_null()));
        let flag = |value: Option<RawJson<'_>>, field| {
            let flag = value.map(RawJson::as_bool);
            let flag = flag.unwrap_or(Some(false));
            flag.ok_or_else(|| fault(field, "`true` or `false`"))
        };
        let uris = match uris {
            None => None,
            Some(uris) => {
                let uris = uris.as_array().ok_or_else(|| fault(URIS, "an array"))?;
                if uris.clone().any(|uri| uri.kind() != Kind::String) {
                    return Err(fault(URIS, "a string"));
                }
                Some(uris).filter(|uris| uris.clone().next().is_some())
            }
        };
        Ok(Self {
            tools: flag(tools, TOOLS)?,
            prompts: flag(prompts, PROMPTS)?,
            resources: flag(resources, RESOURCES)?,
            uris,
        })
    }

    pub(super) fn uris(&self) -> impl Iterator<Item = JsonStr<'b>> {
        let uris = self.uris.clone().into_iter().flatten();
        uris.filter_map(RawJson::as_string)
    }

    /// Writes its members into an open object.
    pub(super) fn write<S: Sink + ?Sized>(&self, json: &mut Writer<'_, S>) {
        for (name, wanted) in [
            ("toolsListChanged", self.tools),
            ("promptsListChanged", self.prompts),
            ("resourcesListChanged", self.resources),
        ] {
            if wanted {
                json.key(name);
                json.boolean(true);
            }
        }
        if self.uris.is_some() {
            json.key("resourceSubscriptions");
            json.begin_array();
            for uri in self.uris() {
                json.decoded(uri);
            }
            json.end_array();
        }
    }
}
