//! What has to be known of a message to send it.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::{JsonStr, RawJson};
use crate::limits::Limits;
use crate::model::key;
use crate::rpc::{Envelope, RequestId};

/// A message of ours.
#[derive(Clone, Debug)]
pub(super) struct Outgoing {
    pub(super) text: Vec<u8>,
    pub(super) kind: Kind,
    /// The version in its `_meta`: it is of the modern era then (HDR-01).
    pub(super) version: Option<String>,
    /// What `Mcp-Name` says (HDR-07, HDR-08).
    pub(super) name: Option<String>,
    /// It went out in a session that was over, and goes out again in the next one: that is done once (SN-01).
    pub(super) retried: bool,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    Request {
        id: u64,
        method: String,
    },
    /// `notifications/cancelled`, of this request.
    Cancelled {
        id: u64,
    },
    Notification {
        method: String,
    },
    Response,
}

impl Outgoing {
    /// `None`: it is no message, which the engine writes none of.
    pub(super) fn read(text: &[u8], limits: &Limits) -> Option<Self> {
        let mut message = Self {
            text: text.to_vec(),
            kind: Kind::Response,
            version: None,
            name: None,
            retried: false,
        };
        // What we send may be longer than what we take.
        match Envelope::parse(text, limits).ok()? {
            Envelope::Response(_) => {}
            Envelope::Notification(notification) => {
                let method = notification.method.decode();
                let cancelled = notification
                    .params
                    .filter(|_| method == "notifications/cancelled")
                    .and_then(|params| member(params, "requestId"))
                    .and_then(number);
                message.kind = match cancelled {
                    Some(id) => Kind::Cancelled { id },
                    None => Kind::Notification {
                        method: method.into_owned(),
                    },
                };
            }
            Envelope::Request(request) => {
                let method = request.method.decode().into_owned();
                let params = request.params;
                message.version = params
                    .and_then(|params| member(params, "_meta"))
                    .and_then(|meta| string(meta, key::PROTOCOL_VERSION))
                    .map(Cow::into_owned);
                let name = match &*method {
                    "tools/call" | "prompts/get" => "name",
                    "resources/read" => "uri",
                    "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
                    _ => "",
                };
                message.name = params
                    .and_then(|params| string(params, name))
                    .map(Cow::into_owned);
                let id = request.id.as_integer()?;
                message.kind = Kind::Request {
                    id: u64::try_from(id).ok()?,
                    method,
                };
            }
        }
        Some(message)
    }

    pub(super) fn method(&self) -> Option<&str> {
        match &self.kind {
            Kind::Request { method, .. } | Kind::Notification { method } => Some(method),
            Kind::Cancelled { .. } => Some("notifications/cancelled"),
            Kind::Response => None,
        }
    }

    /// The id of a request.
    pub(super) const fn id(&self) -> Option<u64> {
        match self.kind {
            Kind::Request { id, .. } => Some(id),
            Kind::Cancelled { .. } | Kind::Notification { .. } | Kind::Response => None,
        }
    }

    pub(super) fn is(&self, method: &str) -> bool {
        self.method() == Some(method)
    }

    /// Whether it may be sent twice: then a connection that broke before anything came is no loss (HC-09).
    pub(super) fn is_repeatable(&self) -> bool {
        self.method().is_some_and(is_repeatable)
    }
}

/// Whether a request of this method changes nothing, or the same thing when it comes twice.
pub(super) fn is_repeatable(method: &str) -> bool {
    matches!(
        method,
        "server/discover"
            | "initialize"
            | "ping"
            | "tools/list"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
            | "resources/subscribe"
            | "resources/unsubscribe"
            | "prompts/list"
            | "prompts/get"
            | "completion/complete"
            | "logging/setLevel"
            | "subscriptions/listen"
            | "tasks/get"
            | "tasks/list"
            | "tasks/result"
    )
}

pub(super) fn member<'b>(object: RawJson<'b>, name: &str) -> Option<RawJson<'b>> {
    let mut members = object.as_object()?;
    let (_, value) = members.find(|(found, _)| *found == *name)?;
    Some(value).filter(|value| !value.is_null())
}

pub(super) fn string<'b>(object: RawJson<'b>, name: &str) -> Option<Cow<'b, str>> {
    member(object, name)?.as_string().map(JsonStr::decode)
}

fn number(value: RawJson<'_>) -> Option<u64> {
    u64::try_from(RequestId::new(value)?.as_integer()?).ok()
}

/// Text of a peer's for people: cut, and without what would steer a terminal.
pub(super) fn excerpt(text: &[u8]) -> String {
    const MOST: usize = 200;
    let text = String::from_utf8_lossy(text);
    let text = text.trim();
    let mut short: String = text
        .chars()
        .take(MOST)
        .map(|char| if char.is_control() { ' ' } else { char })
        .collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    short
}
