//! Subscriptions of both eras: `subscriptions/listen`, and `resources/subscribe` in a session.

use super::catalog::{COMPLETE, Offered};
use super::request::string;
use super::serve::write_empty;
use super::subscriptions::{Change, Lists, Notice};
use super::{Served, ServedKind, ServerEngine, Stop, Terms};
use crate::engine::{CallKey, Memory};
use crate::error::PeerFault;
use crate::json::{Array, Full, JsonStr, Kind, RawJson, Sink, Writer};
use crate::model::{Params, key};
use crate::rpc::{RequestId, write_notification, write_result};

impl<M: Memory> ServerEngine<M> {
    /// Marks that something has changed. Who is to be told of it is, by [`next_notification`](Self::next_notification):
    /// a session that declared to tell its client, and each `subscriptions/listen` that asked for it.
    ///
    /// However often it is said before that, each of them is told once. Nothing is told that the catalog does not declare.
    pub fn announce(&mut self, change: Change<'_>) {
        self.subscriptions.announce(change);
    }

    /// Whether a notification is due.
    #[must_use]
    pub fn has_notifications(&self) -> bool {
        self.subscriptions.next().is_some()
    }

    /// Writes one notification that is due, if any is: `false` means that there is none.
    ///
    /// # Errors
    ///
    /// There is no room: it stays due.
    pub fn next_notification<S: Sink + ?Sized>(&mut self, out: &mut S) -> Result<bool, Full> {
        let Some(Notice { listen, change }) = self.subscriptions.next() else {
            return Ok(false);
        };
        let method = match change {
            Change::ToolsList => "notifications/tools/list_changed",
            Change::PromptsList => "notifications/prompts/list_changed",
            Change::ResourcesList => "notifications/resources/list_changed",
            Change::ResourceUpdated(_) => "notifications/resources/updated",
        };
        let listen = listen.and_then(|key| self.calls.get_mut(key));
        write_notification(out, method, |json| {
            json.begin_object();
            if let Some(listen) = listen {
                // META-14: in the very text it came in.
                json.key("_meta");
                json.begin_object();
                write_subscription(listen.id(), json);
                json.end_object();
            }
            if let Change::ResourceUpdated(uri) = change {
                json.key("uri");
                json.string(uri);
            }
            json.end_object();
        })?;
        self.subscriptions.told();
        Ok(true)
    }

    /// Ends every `subscriptions/listen`, because the server is about to end: each is told by a
    /// `notifications/cancelled` and by its result, in this order (SUB-11, SUB-12). Writes two messages for each.
    ///
    /// # Errors
    ///
    /// There is no room for the next two: those written before are whole, and the rest is written when this is called
    /// again.
    pub fn end_subscriptions<S: Sink + ?Sized>(&mut self, out: &mut S) -> Result<(), Full> {
        while let Some((listener, key)) = self.subscriptions.any_listen() {
            let before = out.len();
            self.end_listen(key, out)
                .inspect_err(|Full| out.truncate(before))?;
            self.subscriptions.close(listener);
            self.calls.remove(key);
        }
        Ok(())
    }

    fn end_listen<S: Sink + ?Sized>(&mut self, key: CallKey, out: &mut S) -> Result<(), Full> {
        let Some(listen) = self.calls.get_mut(key) else {
            return Ok(());
        };
        let id = listen.id();
        write_notification(out, "notifications/cancelled", |json| {
            json.begin_object();
            json.key("requestId");
            json.raw(id);
            json.end_object();
        })?;
        write_end(&*self.catalog, id, out)
    }

    /// `subscriptions/listen`: acknowledges what of it is honoured, and tells it from now on. A subscription to nothing
    /// is answered at once.
    pub(super) fn listen<'b, S: Sink + ?Sized>(
        &mut self,
        id: RequestId<'b>,
        params: &Params<'b>,
        terms: &Terms,
        out: &mut S,
    ) -> Result<(), Stop> {
        if !M::LISTENS {
            return Err(PeerFault::Subscriptions { limit: 0 }.into());
        }
        let wanted = params.notifications.ok_or(PeerFault::Params {
            field: "notifications",
            expected: "an object",
        })?;
        let wanted = Wanted::read(wanted)?;
        let offers = self.catalog.offers();
        // What is not offered is left out (SUB-04, SUB-05, SUB-14).
        let honoured = Wanted {
            tools: wanted.tools && offers.tools_list_changed,
            prompts: wanted.prompts && offers.prompts_list_changed,
            resources: wanted.resources && offers.resources_list_changed,
            uris: wanted.uris.filter(|_| offers.resources_subscribe),
        };
        let limits = &self.limits;
        if self.subscriptions.listens() >= limits.max_subscriptions {
            let limit = limits.max_subscriptions;
            return Err(PeerFault::Subscriptions { limit }.into());
        }
        let limit = limits.max_subscribed_uris;
        let busy = PeerFault::Subscriptions { limit };
        if honoured.uris().count() > limit.saturating_sub(self.subscriptions.watched()) {
            return Err(busy.into());
        }
        if honoured
            .uris()
            .any(|uri| is_longer(uri, limits.max_subscribed_uri))
        {
            return Err(LONG_URI.into());
        }
        let wants = Lists::NONE
            .with(Lists::TOOLS, honoured.tools)
            .with(Lists::PROMPTS, honoured.prompts)
            .with(Lists::RESOURCES, honoured.resources);
        let before = out.len();
        let key = self.calls.insert(id, None, terms.version, None, limits)?;
        if let Err(Full) = write_acknowledged(&honoured, id, out) {
            self.calls.remove(key);
            return Err(Stop::Full);
        }
        if wants.is_empty() && honoured.uris().next().is_none() {
            self.calls.remove(key);
            return write_end(&*self.catalog, id.raw(), out).map_err(|Full| {
                out.truncate(before);
                Stop::Full
            });
        }
        if let Some(call) = self.calls.get_mut(key) {
            call.served = Served::new(ServedKind::Listen, terms);
        }
        // The limits were looked at before: there is room.
        if let Some(listener) = self.subscriptions.open(Some(key), wants, false) {
            for uri in honoured.uris() {
                let _ = self.subscriptions.watch(listener, uri);
            }
        }
        Ok(())
    }

    /// `resources/subscribe`. Any URI can be subscribed to: what is not there yet may come.
    pub(super) fn subscribe<S: Sink + ?Sized>(
        &mut self,
        id: RequestId<'_>,
        params: &Params<'_>,
        out: &mut S,
    ) -> Result<(), Stop> {
        let session = self.session.ok_or(PeerFault::NotInitialized)?;
        if !M::URIS {
            return Err(PeerFault::Subscriptions { limit: 0 }.into());
        }
        let uri = uri(params)?;
        let known = self.subscriptions.find_watch(session.listener, uri);
        if is_longer(uri, self.limits.max_subscribed_uri) {
            return Err(LONG_URI.into());
        }
        let limit = self.limits.max_subscribed_uris;
        if known.is_none() && self.subscriptions.watched() >= limit {
            return Err(PeerFault::Subscriptions { limit }.into());
        }
        write_empty(id, out)?;
        // The limits were looked at before: there is room.
        let _ = self.subscriptions.watch(session.listener, uri);
        Ok(())
    }

    /// `resources/unsubscribe`. Of what is not subscribed to it is true already.
    pub(super) fn unsubscribe<S: Sink + ?Sized>(
        &mut self,
        id: RequestId<'_>,
        params: &Params<'_>,
        out: &mut S,
    ) -> Result<(), Stop> {
        let session = self.session.ok_or(PeerFault::NotInitialized)?;
        if !M::URIS {
            return Ok(write_empty(id, out)?);
        }
        let uri = uri(params)?;
        write_empty(id, out)?;
        self.subscriptions.unwatch(session.listener, uri);
        Ok(())
    }
}

/// A [`SubscriptionFilter`](crate::model::SubscriptionFilter), whose URIs stay where they came.
#[derive(Clone, Debug, Default)]
struct Wanted<'b> {
    tools: bool,
    prompts: bool,
    resources: bool,
    /// Of strings only, and not empty.
    uris: Option<Array<'b>>,
}

impl<'b> Wanted<'b> {
    fn read(value: RawJson<'b>) -> Result<Self, PeerFault> {
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

    fn uris(&self) -> impl Iterator<Item = JsonStr<'b>> {
        let uris = self.uris.clone().into_iter().flatten();
        uris.filter_map(RawJson::as_string)
    }

    fn write<S: Sink + ?Sized>(&self, json: &mut Writer<'_, S>) {
        json.begin_object();
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
        json.end_object();
    }
}

/// Whether the decoded text has more bytes.
fn is_longer(text: JsonStr<'_>, limit: usize) -> bool {
    match text.as_plain() {
        Some(plain) => plain.len() > limit,
        None => text.chars().map(char::len_utf8).sum::<usize>() > limit,
    }
}

const LONG_URI: PeerFault = PeerFault::Params {
    field: "uri",
    expected: "shorter",
};

fn uri<'b>(params: &Params<'b>) -> Result<JsonStr<'b>, PeerFault> {
    string(params.uri, "uri")
}

fn write_subscription<S: Sink + ?Sized>(id: RawJson<'_>, json: &mut Writer<'_, S>) {
    json.key(key::SUBSCRIPTION_ID);
    json.raw(id);
}

/// SUB-03.
fn write_acknowledged<S: Sink + ?Sized>(
    honoured: &Wanted<'_>,
    id: RequestId<'_>,
    out: &mut S,
) -> Result<(), Full> {
    write_notification(out, "notifications/subscriptions/acknowledged", |json| {
        json.begin_object();
        json.key("_meta");
        json.begin_object();
        write_subscription(id.raw(), json);
        json.end_object();
        json.key("notifications");
        honoured.write(json);
        json.end_object();
    })
}

/// SUB-11.
fn write_end<S: Sink + ?Sized>(
    catalog: &impl Offered,
    id: RawJson<'_>,
    out: &mut S,
) -> Result<(), Full> {
    write_result(out, id, |json| {
        json.begin_object();
        catalog.write_modern_head(COMPLETE, json, |json| write_subscription(id, json));
        json.end_object();
    })
}
