//! Notifications of the server's, as far as the engine has to read them.

use super::detect::{member, string};
use super::receive::Incoming;
use super::{ClientEngine, Outcome, Phase, RequestKind};
use crate::engine::RequestKey;
use crate::engine::pending::Lookup;
use crate::error::PeerFault;
use crate::json::{JsonStr, RawJson};
use crate::model::{Decode, DecodeError, Era, Method, Progress, key};
use crate::rpc::{Notification, RequestId};
use crate::time::Instant;

/// A notification for the caller.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ServerNotification<'b> {
    /// What it says.
    pub kind: NotificationKind<'b>,
    /// The subscription it belongs to (META-14): the key of the `subscriptions/listen`. `None` if it names none.
    pub subscription: Option<RequestKey>,
    /// All of its params, an object.
    pub params: Option<RawJson<'b>>,
}

/// What a notification says.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum NotificationKind<'b> {
    /// The list of tools has changed.
    ToolsChanged,
    /// The list of prompts has changed.
    PromptsChanged,
    /// The lists of resources and resource templates have changed.
    ResourcesChanged,
    /// A resource has changed. Its URI may be one below that subscribed to (SUB-15).
    #[non_exhaustive]
    ResourceUpdated {
        /// Which one.
        uri: JsonStr<'b>,
    },
    /// A log message. On a stream it cannot be told which request it belongs to (STD-10).
    Message,
    /// What the server takes of a subscription, in `notifications` of the params (SUB-03, SUB-04).
    Acknowledged,
    /// 2025-11-25: what the user was sent to a URL for is done (ELI-12). Unknown ids are to be ignored.
    #[non_exhaustive]
    ElicitationComplete {
        /// Which one.
        id: JsonStr<'b>,
    },
    /// Another one, an extension's perhaps.
    #[non_exhaustive]
    Other {
        /// Its method.
        method: JsonStr<'b>,
    },
}

impl ClientEngine {
    pub(super) fn notification<'b>(
        &mut self,
        now: Instant,
        notification: &Notification<'b>,
    ) -> Incoming<'b> {
        let Notification { method, params, .. } = *notification;
        // What servers of this version do not send is about nothing. Names that no version has are an extension's.
        if let Some(version) = self.version()
            && Method::parse(method).is_some_and(|method| !method.is_of_server(version))
        {
            return self.drop_notification();
        }
        let kind = match &*method.decode() {
            "notifications/progress" => return self.progressed(now, params),
            "notifications/cancelled" => return self.cancelled(params),
            "notifications/tools/list_changed" => NotificationKind::ToolsChanged,
            "notifications/prompts/list_changed" => NotificationKind::PromptsChanged,
            "notifications/resources/list_changed" => NotificationKind::ResourcesChanged,
            "notifications/resources/updated" => {
                let Some(uri) = params.and_then(|params| string(params, "uri")) else {
                    return self.reject(missing_string("uri"));
                };
                NotificationKind::ResourceUpdated { uri }
            }
            "notifications/message" => NotificationKind::Message,
            "notifications/subscriptions/acknowledged" => NotificationKind::Acknowledged,
            "notifications/elicitation/complete" => {
                let Some(id) = params.and_then(|params| string(params, "elicitationId")) else {
                    return self.reject(missing_string("elicitationId"));
                };
                NotificationKind::ElicitationComplete { id }
            }
            _ => NotificationKind::Other { method },
        };
        let tag = params
            .and_then(|params| member(params, "_meta"))
            .and_then(|meta| member(meta, key::SUBSCRIPTION_ID));
        let subscription = tag.and_then(|tag| self.named(tag, RequestKind::Listen));
        // SUB-07. One of a subscription that is over is about nothing any more; an acknowledgement always is of one.
        if subscription.is_none()
            && (tag.is_some() || matches!(kind, NotificationKind::Acknowledged))
        {
            return self.drop_notification();
        }
        Incoming::Notification(ServerNotification {
            kind,
            subscription,
            params,
        })
    }

    /// PRG-04, OR-04: about a request that is over, not asked for, or no more than before, it is about nothing.
    fn progressed<'b>(&mut self, now: Instant, params: Option<RawJson<'b>>) -> Incoming<'b> {
        let progress = params.map(Progress::decode);
        let Some(Ok(progress)) = progress.filter(finite) else {
            return self.reject(PeerFault::Params {
                field: "progress",
                expected: "a number, perhaps with another as `total` and a string as `message`",
            });
        };
        let key = params
            .and_then(|params| member(params, "progressToken"))
            .and_then(RequestId::new)
            .map(|token| self.pending.find(token));
        let Some(Lookup::Pending(key)) = key else {
            return self.drop_notification();
        };
        let Some(entry) = self.pending.get_mut(key) else {
            return self.drop_notification();
        };
        if !entry.wants_progress || progress.progress <= entry.progress {
            return self.drop_notification();
        }
        entry.progress = progress.progress;
        // TMO-02: the ceiling stays.
        let deadline = entry.deadline(now);
        self.pending.set_deadline(key, deadline);
        Incoming::Progress { key, progress }
    }

    /// Legacy servers take back requests of their own; modern ones end subscriptions so, and nothing else (CAN-03).
    fn cancelled<'b>(&mut self, params: Option<RawJson<'b>>) -> Incoming<'b> {
        let Some(named) = params.and_then(|params| member(params, "requestId")) else {
            return self.drop_notification();
        };
        let modern = matches!(&self.phase, Phase::Ready(server) if server.era() == Era::Modern);
        if modern {
            let Some(key) = self.named(named, RequestKind::Listen) else {
                return self.drop_notification();
            };
            self.pending.remove(key);
            return Incoming::Answer {
                key,
                outcome: Outcome::Ended,
            };
        }
        let call = RequestId::new(named).and_then(|id| self.calls.find(id));
        let Some(key) = call else {
            return self.drop_notification();
        };
        self.calls.remove(key);
        Incoming::Cancelled(key)
    }

    /// The pending request of this kind that an id names.
    fn named(&self, id: RawJson<'_>, kind: RequestKind) -> Option<RequestKey> {
        let Lookup::Pending(key) = self.pending.find(RequestId::new(id)?) else {
            return None;
        };
        let entry = self.pending.get(key)?;
        (entry.kind == kind).then_some(key)
    }

    fn drop_notification<'b>(&mut self) -> Incoming<'b> {
        self.counters.dropped += 1;
        Incoming::Handled
    }
}

fn finite(progress: &Result<Progress<'_>, DecodeError>) -> bool {
    progress.as_ref().is_ok_and(|it| it.progress.is_finite())
}

const fn missing_string(field: &'static str) -> PeerFault {
    PeerFault::Params {
        field,
        expected: "a string",
    }
}
