//! The connection's side of subscriptions, in both eras; and of all else that servers tell unasked.
//!
//! | | 2026-07-28 | before |
//! | --- | --- | --- |
//! | lists | `subscriptions/listen` | told unasked, if declared |
//! | a resource | the same | `resources/subscribe` for each URI, once for all subscriptions |
//! | acknowledged | by a notification | when each URI has been answered |
//! | whose it is | by the id of the subscription | by the URI |

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
use crate::panic::contain;

/// A subscription on this connection.
pub(super) struct Listening {
    channel: Arc<Channel>,
    /// Of `subscriptions/listen`.
    key: Option<RequestKey>,
    /// Legacy: so many URIs have not been answered yet.
    waiting: usize,
    /// Legacy: what the server tells of.
    honoured: SubscriptionFilter<'static>,
    /// Legacy: and the URIs among it.
    uris: Vec<String>,
}

impl Listening {
    fn new(channel: Arc<Channel>) -> Self {
        Self {
            channel,
            key: None,
            waiting: 0,
            honoured: SubscriptionFilter::default(),
            uris: Vec::new(),
        }
    }

    fn acknowledge(&self) {
        let mut honoured = self.honoured.clone();
        if self.channel.filter.resource_subscriptions.is_some() {
            honoured.resource_subscriptions =
                Some(self.uris.iter().cloned().map(Into::into).collect());
        }
        self.channel.acknowledge(honoured);
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
            Some(_) | None => self.listen_legacy(channel, out),
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
            Ok(key) => self.listening.push(Listening {
                key: Some(key),
                ..Listening::new(channel)
            }),
            Err(error) => channel.end(SubscriptionEnd::Refused(ErrorAnswer::own(&error))),
        }
    }

    fn listen_legacy(&mut self, channel: Arc<Channel>, out: &mut Vec<u8>) {
        let mut listening = Listening::new(channel.clone());
        if let Some(server) = self.stdio.engine().server() {
            let declared = server.capabilities.clone().unwrap_or_default();
            let (wanted, honoured) = (&channel.filter, &mut listening.honoured);
            honoured.tools_list_changed =
                wanted.tools_list_changed && declared.tools.is_some_and(|it| it.list_changed);
            honoured.prompts_list_changed =
                wanted.prompts_list_changed && declared.prompts.is_some_and(|it| it.list_changed);
            honoured.resources_list_changed = wanted.resources_list_changed
                && declared.resources.is_some_and(|it| it.list_changed);
        }
        let uris = channel.filter.resource_subscriptions.iter().flatten();
        for uri in uris {
            if self.is_subscribed(uri) {
                listening.uris.push(uri.to_string());
                continue;
            }
            let purpose = Purpose::Subscribe(channel.clone(), uri.to_string());
            let asked = with_uri(uri)
                .is_ok_and(|params| self.ask(SUBSCRIBE, params.raw(), purpose, out).is_ok());
            listening.waiting += usize::from(asked);
        }
        if listening.waiting == 0 {
            listening.acknowledge();
        }
        self.listening.push(listening);
    }

    /// Whether a subscription has it that this URI was subscribed to.
    fn is_subscribed(&self, uri: &str) -> bool {
        self.listening
            .iter()
            .any(|listening| listening.uris.iter().any(|known| known == uri))
    }

    /// `resources/subscribe` was answered: with `uri` if it is subscribed to.
    pub(super) fn subscribed(
        &mut self,
        channel: &Arc<Channel>,
        uri: Option<String>,
        out: &mut Vec<u8>,
    ) {
        let listening = self
            .listening
            .iter_mut()
            .find(|listening| Arc::ptr_eq(&listening.channel, channel));
        let Some(listening) = listening else {
            // The reader has gone meanwhile.
            if let Some(uri) = uri
                && !self.is_subscribed(&uri)
            {
                self.unsubscribe(&uri, out);
            }
            return;
        };
        listening.uris.extend(uri);
        listening.waiting -= 1;
        if listening.waiting == 0 {
            listening.acknowledge();
        }
    }

    /// The reader has gone.
    pub(super) fn unlisten(&mut self, channel: &Arc<Channel>, out: &mut Vec<u8>) {
        let at = self
            .listening
            .iter()
            .position(|listening| Arc::ptr_eq(&listening.channel, channel));
        let Some(Listening { key, uris, .. }) = at.map(|at| self.listening.swap_remove(at)) else {
            return;
        };
        if let Some(key) = key {
            self.cancel(key, out);
        }
        for uri in uris {
            if !self.is_subscribed(&uri) {
                self.unsubscribe(&uri, out);
            }
        }
    }

    fn unsubscribe(&mut self, uri: &str, out: &mut Vec<u8>) {
        if let Ok(params) = with_uri(uri) {
            // Not to be had: then it was not there to be ended.
            let _ = self.ask(UNSUBSCRIBE, params.raw(), Purpose::Nothing, out);
        }
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
                (None, _) => listening.wants(change),
            };
            if theirs {
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

impl Listening {
    /// Legacy: whether it is for this one. Updates can be of parts of what was subscribed to (SUB-15).
    fn wants(&self, change: &Change) -> bool {
        match change {
            Change::Tools => self.honoured.tools_list_changed,
            Change::Prompts => self.honoured.prompts_list_changed,
            Change::Resources => self.honoured.resources_list_changed,
            Change::Resource(uri) => self.uris.iter().any(|known| uri.starts_with(&**known)),
            Change::ManyResources => true,
        }
    }
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

const SUBSCRIBE: &str = "resources/subscribe";
const UNSUBSCRIBE: &str = "resources/unsubscribe";

fn with_uri(uri: &str) -> Result<Json<'static>, super::error::CallError> {
    written(|json| {
        json.begin_object();
        json.key("uri");
        json.string(uri);
        json.end_object();
    })
}
