//! Subscriptions of both eras: `subscriptions/listen`, and `resources/subscribe` in a session.

mod wanted;

#[cfg(feature = "alloc")]
use alloc::vec::Vec;

use super::catalog::{COMPLETE, Offered};
use super::extension::Extension;
#[cfg(feature = "alloc")]
use super::refusal::refuse_unread;
use super::request::string;
use super::serve::write_empty;
use super::subscriptions::{Change, Lists, Notice};
use super::{Incoming, Served, ServedKind, ServerEngine, Stop, Terms};
use crate::engine::{CallKey, Memory};
use crate::error::PeerFault;
use crate::json::{Full, JsonStr, RawJson, Sink, Writer};
use crate::model::{Params, key};
use crate::rpc::{RequestId, write_notification, write_result};
use wanted::Wanted;

impl<M: Memory> ServerEngine<M> {
    /// Marks that something has changed. Who is to be told of it is, by [`next_notification`](Self::next_notification):
    /// a session that declared to tell its client, and each `subscriptions/listen` that asked for it.
    ///
    /// However often it is said before that, each of them is told once. Nothing is told that the catalog does not declare.
    pub fn announce(&mut self, change: Change<'_>) {
        self.subscriptions.announce(change);
    }

    /// Whether somebody listens for this topic of an extension, which is named by its position in the catalog.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn has_listener(&self, extension: usize, topic: &str) -> bool {
        self.subscriptions.has_listener(extension, topic)
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
            Change::Extension { extension, .. } => {
                let known = self.catalog.extensions().get(extension);
                match known.and_then(Extension::topic) {
                    Some((_, notification)) => notification,
                    // The catalog is another one, which does not have it.
                    None => {
                        self.subscriptions.told();
                        return Ok(true);
                    }
                }
            }
        };
        let listen = listen.and_then(|key| self.calls.get_mut(key));
        write_notification(out, method, |json| {
            json.begin_object();
            if let Some(listen) = listen {
                // META-14: in the very text it came in.
                json.key("_meta");
                json.begin_object();
                write_subscription(listen.id(), json);
                if let Change::Extension { params, .. } = change {
                    for (name, value) in object(params.member("_meta")) {
                        if name != key::SUBSCRIPTION_ID {
                            json.decoded_key(name);
                            json.raw(value);
                        }
                    }
                }
                json.end_object();
            }
            match change {
                Change::ResourceUpdated(uri) => {
                    json.key("uri");
                    json.string(uri);
                }
                Change::Extension { params, .. } => {
                    for (name, value) in object(Some(params)).filter(|(name, _)| *name != "_meta") {
                        json.decoded_key(name);
                        json.raw(value);
                    }
                }
                Change::ToolsList | Change::PromptsList | Change::ResourcesList => {}
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
        let wanted = params.notifications.ok_or(NO_FILTER)?;
        self.open_listen(id, wanted, terms, &[], out)
    }

    /// The same where extensions have topics: if some are wanted, whoever serves the extensions is asked about each.
    pub(super) fn listen_for_topics<'b, S: Sink + ?Sized>(
        &mut self,
        id: RequestId<'b>,
        params: &Params<'b>,
        terms: &Terms,
        out: &mut S,
    ) -> Result<Incoming<'b>, Stop> {
        let wanted = params.notifications.ok_or(NO_FILTER)?;
        let declared = self.declared(params, terms);
        let mut any = false;
        for (extension, member, _) in self.catalog.extensions().topics() {
            if wanted.member(member).is_some_and(|it| !it.is_null()) {
                self.check_declared(extension, declared, terms)?;
                any = true;
            }
        }
        if any {
            let terms = *terms;
            return Ok(Incoming::Listen(Listening { id, wanted, terms }));
        }
        self.open_listen(id, wanted, terms, &[], out)?;
        Ok(Incoming::Handled)
    }

    /// Goes on with a `subscriptions/listen` that wants to hear of topics of extensions: `may` says of each, with the
    /// position of its extension, whether the client is told of it.
    #[cfg(feature = "alloc")]
    pub fn listen_to<'b, S: Sink + ?Sized>(
        &mut self,
        listening: Listening<'b>,
        mut may: impl FnMut(usize, &str) -> bool,
        out: &mut S,
    ) -> Incoming<'b> {
        let Listening { id, wanted, terms } = listening;
        let opened = self.topics(wanted).and_then(|mut topics| {
            topics.retain(|(extension, topic)| may(*extension, &topic.decode()));
            self.open_listen(id, wanted, &terms, &topics, out)
        });
        match opened {
            Ok(()) => Incoming::Handled,
            Err(Stop::Fault(fault)) => refuse_unread(out, Some(id), fault),
            Err(Stop::Full) => Incoming::Blocked,
        }
    }

    /// The topics that a filter wants.
    #[cfg(feature = "alloc")]
    fn topics<'b>(&self, wanted: RawJson<'b>) -> Result<Vec<Topic<'b>>, Stop> {
        let mut topics = Vec::new();
        for (extension, member, _) in self.catalog.extensions().topics() {
            let Some(wanted) = wanted.member(member).filter(|it| !it.is_null()) else {
                continue;
            };
            for topic in wanted.as_array().ok_or(TOPICS)? {
                let topic = topic.as_string().ok_or(TOPICS)?;
                // A limit of its own, so that the list is bounded before anybody is asked about it.
                if topics.len() >= self.limits.max_subscribed_uris {
                    let limit = self.limits.max_subscribed_uris;
                    return Err(PeerFault::Subscriptions { limit }.into());
                }
                if !topics.contains(&(extension, topic)) {
                    topics.push((extension, topic));
                }
            }
        }
        Ok(topics)
    }

    fn open_listen<S: Sink + ?Sized>(
        &mut self,
        id: RequestId<'_>,
        wanted: RawJson<'_>,
        terms: &Terms,
        topics: &[Topic<'_>],
        out: &mut S,
    ) -> Result<(), Stop> {
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
        let room = limit.saturating_sub(self.subscriptions.watched());
        if honoured.uris().count() + topics.len() > room {
            return Err(busy.into());
        }
        if honoured
            .uris()
            .any(|uri| is_longer(uri, limits.max_subscribed_uri))
        {
            return Err(LONG_URI.into());
        }
        if topics
            .iter()
            .any(|(_, topic)| is_longer(*topic, limits.max_subscribed_uri))
        {
            return Err(TOPICS.into());
        }
        let wants = Lists::NONE
            .with(Lists::TOOLS, honoured.tools)
            .with(Lists::PROMPTS, honoured.prompts)
            .with(Lists::RESOURCES, honoured.resources);
        let before = out.len();
        let key = self.calls.insert(id, None, terms.version, None, limits)?;
        if let Err(Full) = write_acknowledged(&*self.catalog, &honoured, topics, id, out) {
            self.calls.remove(key);
            return Err(Stop::Full);
        }
        if wants.is_empty() && honoured.uris().next().is_none() && topics.is_empty() {
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
                let _ = self.subscriptions.watch(listener, None, uri);
            }
            for (extension, topic) in topics {
                let _ = self.subscriptions.watch(listener, Some(*extension), *topic);
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
        let known = self.subscriptions.find_watch(session.listener, None, uri);
        if is_longer(uri, self.limits.max_subscribed_uri) {
            return Err(LONG_URI.into());
        }
        let limit = self.limits.max_subscribed_uris;
        if known.is_none() && self.subscriptions.watched() >= limit {
            return Err(PeerFault::Subscriptions { limit }.into());
        }
        write_empty(id, out)?;
        // The limits were looked at before: there is room.
        let _ = self.subscriptions.watch(session.listener, None, uri);
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

/// A `subscriptions/listen` that wants topics of extensions, and is not answered yet.
#[derive(Debug)]
#[must_use = "it is to be answered"]
#[cfg_attr(
    not(feature = "alloc"),
    expect(dead_code, reason = "there are no extensions")
)]
pub struct Listening<'b> {
    id: RequestId<'b>,
    wanted: RawJson<'b>,
    terms: Terms,
}

/// The position of an extension, and what is listened for.
type Topic<'b> = (usize, JsonStr<'b>);

const NO_FILTER: PeerFault = PeerFault::Params {
    field: "notifications",
    expected: "an object",
};

const TOPICS: PeerFault = PeerFault::Params {
    field: "notifications",
    expected: "an object whose members for extensions are arrays of strings that are not too long",
};

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

fn object<'a>(value: Option<RawJson<'a>>) -> impl Iterator<Item = (JsonStr<'a>, RawJson<'a>)> {
    value.and_then(RawJson::as_object).into_iter().flatten()
}

/// SUB-03.
fn write_acknowledged<S: Sink + ?Sized>(
    catalog: &impl Offered,
    honoured: &Wanted<'_>,
    topics: &[Topic<'_>],
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
        json.begin_object();
        honoured.write(json);
        for (extension, member, _) in catalog.extensions().topics() {
            let mut its = topics.iter().filter(|(of, _)| *of == extension).peekable();
            if its.peek().is_none() {
                continue;
            }
            json.key(member);
            json.begin_array();
            its.for_each(|(_, topic)| json.decoded(*topic));
            json.end_array();
        }
        json.end_object();
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
