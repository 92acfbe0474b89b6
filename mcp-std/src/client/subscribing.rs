//! The connection's side of subscriptions, in both eras; and of all else that servers tell unasked.
//!
//! | | 2026-07-28 | before |
//! | --- | --- | --- |
//! | lists | `subscriptions/listen` | told unasked, if declared |
//! | a resource | the same | `resources/subscribe` for each URI, once for all subscriptions: [`Watches`](super::watches::Watches) |
//! | acknowledged | by a notification | when each URI has been answered |
//! | whose it is | by the id of the subscription | by the URI |

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use mcp_core::engine::RequestKey;
use mcp_core::engine::client::{NotificationKind, Outcome, ServerNotification};
use mcp_core::json::{Json, RawJson};
use mcp_core::model::{
    Decode, Encode, Era, LoggingMessage, ProtocolVersion, SubscriptionFilter,
    SubscriptionsListenRequestParams,
};

use super::cache::Kind;
use super::changes::Change;
use super::connection::{ClientConnection, Purpose};
use super::error::ErrorAnswer;
use super::notification::Notification;
use super::rounds::written;
use super::subscription::{Channel, SubscriptionEnd};
use super::watches::Ask;
use crate::panic::contain;

/// A subscription on this connection.
pub(super) struct Listening {
    channel: Arc<Channel>,
    /// Of `subscriptions/listen`.
    key: Option<RequestKey>,
    /// What the server is to tell of: in the legacy era what it does tell of, unasked; else what it was asked for.
    lists: SubscriptionFilter<'static>,
    /// And the resources: whether it has said so. One that it refused is not among them.
    uris: HashMap<String, bool>,
}

impl Listening {
    fn new(channel: Arc<Channel>) -> Self {
        Self {
            channel,
            key: None,
            lists: SubscriptionFilter::default(),
            uris: HashMap::new(),
        }
    }

    /// Legacy: says what is subscribed to, once that is known of each resource.
    fn acknowledge(&self) {
        if self.uris.values().any(|told| !told) {
            return;
        }
        let mut honoured = self.lists.clone();
        honoured.resource_subscriptions =
            self.channel
                .filter
                .resource_subscriptions
                .as_ref()
                .map(|uris| {
                    let there = |uri: &&Cow<'_, str>| self.uris.contains_key(&***uri);
                    uris.iter().filter(there).cloned().collect()
                });
        self.channel.acknowledge(honoured);
    }

    /// Whether it is for this one.
    fn wants(&self, change: &Change) -> bool {
        match change {
            Change::Tools => self.lists.tools_list_changed,
            Change::Prompts => self.lists.prompts_list_changed,
            Change::Resources => self.lists.resources_list_changed,
            Change::Resource(uri) => self.uris.keys().any(|known| is_part(uri, known)),
            Change::ManyResources => true,
        }
    }
}

impl ClientConnection<'_> {
    /// Begins a subscription on this connection.
    pub(super) fn listen(&mut self, channel: Arc<Channel>, out: &mut Vec<u8>) {
        if channel.has_ended() {
            return;
        }
        match self.version() {
            Some(version) if version.era() == Era::Modern => {
                self.listen_modern(channel, version, out);
            }
            Some(_) | None => self.listen_legacy(channel),
        }
    }

    fn listen_modern(
        &mut self,
        channel: Arc<Channel>,
        version: ProtocolVersion,
        out: &mut Vec<u8>,
    ) {
        let params = SubscriptionsListenRequestParams::new(channel.filter.clone());
        let params = params.to_json(version);
        let purpose = Purpose::Listen(channel.clone());
        match self.ask("subscriptions/listen", params.raw(), purpose, out) {
            Ok(key) => {
                let uris = channel.filter.resource_subscriptions.iter().flatten();
                self.listening.push(Listening {
                    key: Some(key),
                    lists: channel.filter.clone(),
                    uris: uris.map(|uri| (uri.to_string(), true)).collect(),
                    channel,
                });
            }
            Err(error) => channel.end(SubscriptionEnd::Refused(ErrorAnswer::own(&error))),
        }
    }

    fn listen_legacy(&mut self, channel: Arc<Channel>) {
        let mut listening = Listening::new(channel.clone());
        if let Some(server) = self.stdio.engine().server() {
            let declared = server.capabilities.clone().unwrap_or_default();
            let (wanted, lists) = (&channel.filter, &mut listening.lists);
            lists.tools_list_changed =
                wanted.tools_list_changed && declared.tools.is_some_and(|it| it.list_changed);
            lists.prompts_list_changed =
                wanted.prompts_list_changed && declared.prompts.is_some_and(|it| it.list_changed);
            lists.resources_list_changed = wanted.resources_list_changed
                && declared.resources.is_some_and(|it| it.list_changed);
        }
        for uri in channel.filter.resource_subscriptions.iter().flatten() {
            if !listening.uris.contains_key(&**uri) {
                let told = self.watches.add(uri);
                listening.uris.insert(uri.to_string(), told);
            }
        }
        listening.acknowledge();
        self.listening.push(listening);
    }

    /// Legacy: asks the next thing about resources that there is to ask. `false`: there is nothing. To be called when there
    /// is room for a request.
    pub(super) fn ask_about_resources(&mut self, out: &mut Vec<u8>) -> bool {
        let Some((ask, uri)) = self.watches.next() else {
            return false;
        };
        let method = match ask {
            Ask::Subscribe => "resources/subscribe",
            Ask::Unsubscribe => "resources/unsubscribe",
        };
        let purpose = Purpose::Watch(ask, uri.clone());
        let params = with_uri(&uri);
        if !params.is_ok_and(|params| self.ask(method, params.raw(), purpose, out).is_ok()) {
            // The server does not offer it.
            self.watched(ask, &uri, false);
        }
        true
    }

    /// What was asked about a resource was answered.
    pub(super) fn watched(&mut self, ask: Ask, uri: &str, done: bool) {
        self.watches.answered(ask, uri, done);
        if ask == Ask::Unsubscribe {
            return;
        }
        for listening in &mut self.listening {
            if listening.key.is_some() || listening.uris.get(uri) != Some(&false) {
                continue;
            }
            if done {
                listening.uris.insert(uri.to_owned(), true);
            } else {
                listening.uris.remove(uri);
            }
            listening.acknowledge();
        }
    }

    /// What was asked about a resource was not answered in time. Subscriptions that have not begun for that do not begin.
    pub(super) fn watch_timed_out(&mut self, ask: Ask, uri: &str) {
        let waits =
            |it: &&Listening| it.uris.get(uri) == Some(&false) && !it.channel.is_acknowledged();
        let late = self.listening.iter().filter(|_| ask == Ask::Subscribe);
        let late: Vec<_> = late.filter(waits).map(|it| it.channel.clone()).collect();
        // Taken out before the rest is told, which would be told to them as well, as a beginning.
        for channel in &late {
            channel.end(SubscriptionEnd::TimedOut(self.shared.timeouts.request));
            self.channels.retain(|known| !Arc::ptr_eq(known, channel));
            self.unlist(channel);
        }
        self.watched(ask, uri, false);
    }

    /// The reader has gone.
    pub(super) fn unlisten(&mut self, channel: &Arc<Channel>, out: &mut Vec<u8>) {
        if let Some(key) = self.unlist(channel) {
            self.cancel(key, out);
        }
    }

    /// Takes a subscription out. The key of its request, if it is one.
    pub(super) fn unlist(&mut self, channel: &Arc<Channel>) -> Option<RequestKey> {
        let is_it = |it: &Listening| Arc::ptr_eq(&it.channel, channel);
        let at = self.listening.iter().position(is_it)?;
        let Listening { key, uris, .. } = self.listening.swap_remove(at);
        if key.is_none() {
            uris.keys().for_each(|uri| self.watches.remove(uri));
        }
        key
    }

    /// `subscriptions/listen` was answered: it has ended.
    pub(super) fn listen_ended(&mut self, channel: &Arc<Channel>, outcome: &Outcome<'_>) {
        channel.end(if let Outcome::Error(error) = outcome {
            SubscriptionEnd::Refused(ErrorAnswer::new(error))
        } else if channel.is_acknowledged() {
            SubscriptionEnd::Server
        } else {
            SubscriptionEnd::Unacknowledged
        });
        self.listening
            .retain(|listening| !Arc::ptr_eq(&listening.channel, channel));
        self.channels.retain(|known| !Arc::ptr_eq(known, channel));
    }

    /// The server tells something.
    pub(super) fn notified(&self, notification: &ServerNotification<'_>) {
        let ServerNotification {
            kind,
            subscription,
            params,
            ..
        } = notification;
        let cache = &self.shared.cache;
        let change = match kind {
            NotificationKind::ToolsChanged => {
                cache.forget(Kind::Tools);
                #[cfg(feature = "validate")]
                if let Some(outputs) = &self.shared.settings.outputs {
                    outputs.forget();
                }
                Some(Change::Tools)
            }
            NotificationKind::PromptsChanged => {
                cache.forget(Kind::Prompts);
                Some(Change::Prompts)
            }
            NotificationKind::ResourcesChanged => {
                cache.forget(Kind::Resources);
                cache.forget(Kind::Templates);
                Some(Change::Resources)
            }
            NotificationKind::ResourceUpdated { uri, .. } => {
                let uri = uri.decode().into_owned();
                cache.forget_resource(&uri);
                Some(Change::Resource(uri))
            }
            NotificationKind::Acknowledged => {
                self.acknowledged(*subscription, *params);
                None
            }
            NotificationKind::Message => {
                self.log(*params);
                None
            }
            NotificationKind::ElicitationComplete { .. } | NotificationKind::Other { .. } | _ => {
                None
            }
        };
        if let Some(change) = change {
            self.changed(*subscription, &change);
        }
        self.shared.listeners.tell(|| Notification {
            method: method_of(kind),
            params: params.map(|params| Json::from(params).into_owned()),
        });
    }

    /// Tells the subscriptions that a change is for.
    fn changed(&self, subscription: Option<RequestKey>, change: &Change) {
        for listening in &self.listening {
            let theirs = match (listening.key, subscription) {
                (Some(key), Some(subscription)) => key == subscription,
                (Some(_), None) => false,
                (None, _) => true,
            };
            // What was not asked for is not told (SUB-02), whatever the server says.
            if theirs && listening.wants(change) {
                listening.channel.push(change.clone());
            }
        }
    }

    fn acknowledged(&self, subscription: Option<RequestKey>, params: Option<RawJson<'_>>) {
        let listening = self
            .listening
            .iter()
            .find(|listening| listening.key.is_some() && listening.key == subscription);
        let Some(listening) = listening else { return };
        let mut members = params.and_then(RawJson::as_object).into_iter().flatten();
        let honoured = members
            .find(|(name, _)| *name == "notifications")
            .and_then(|(_, filter)| SubscriptionFilter::decode(filter).ok());
        listening
            .channel
            .acknowledge(honoured.unwrap_or_default().into_owned());
    }

    fn log(&self, params: Option<RawJson<'_>>) {
        let Some(told) = &self.shared.handlers.log else {
            return;
        };
        let message = params.and_then(|params| LoggingMessage::decode(params).ok());
        if let Some(message) = message {
            // The server chooses when this runs: a panic in it is not to end the connection.
            let _ = contain(|| told(&message));
        }
    }
}

/// Whether a URI is that of a resource or of a part of it (SUB-15): it goes on where the other ends, and a new segment,
/// query, fragment or the like begins there. They are compared as texts.
fn is_part(uri: &str, whole: &str) -> bool {
    // Unreserved characters and escapes (RFC 3986, 2): those a name is made of.
    let in_name = |char: char| char.is_alphanumeric() || "-._~%".contains(char);
    uri.strip_prefix(whole).is_some_and(|rest| {
        let goes_on = rest.starts_with(in_name) && whole.ends_with(in_name);
        rest.is_empty() || !goes_on
    })
}

/// The method of a notification.
fn method_of(kind: &NotificationKind<'_>) -> String {
    match kind {
        NotificationKind::ToolsChanged => "notifications/tools/list_changed",
        NotificationKind::PromptsChanged => "notifications/prompts/list_changed",
        NotificationKind::ResourcesChanged => "notifications/resources/list_changed",
        NotificationKind::ResourceUpdated { .. } => "notifications/resources/updated",
        NotificationKind::Message => "notifications/message",
        NotificationKind::Acknowledged => "notifications/subscriptions/acknowledged",
        NotificationKind::ElicitationComplete { .. } => "notifications/elicitation/complete",
        NotificationKind::Other { method, .. } => return method.decode().into_owned(),
        // All that the engine has are above.
        _ => "",
    }
    .to_owned()
}

fn with_uri(uri: &str) -> Result<Json<'static>, super::error::CallError> {
    written(|json| {
        json.begin_object();
        json.key("uri");
        json.string(uri);
        json.end_object();
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_begins_where_a_name_ends() {
        for (uri, whole) in [
            ("a:b", "a:b"),
            ("a:b/c", "a:b"),
            ("a:b/c", "a:b/"),
            ("a:b#c", "a:b"),
            ("a:b?c", "a:b"),
            ("a:b:c", "a:b"),
            ("a:b", "a:"),
        ] {
            assert!(is_part(uri, whole), "{uri} of {whole}");
        }
        for (uri, whole) in [
            ("a:bc", "a:b"),
            ("a:b.txt", "a:b"),
            ("a:b%20c", "a:b"),
            ("a:bé", "a:b"),
            ("a:b", "a:b/"),
            ("c:b", "a:b"),
        ] {
            assert!(!is_part(uri, whole), "{uri} of {whole}");
        }
    }
}
