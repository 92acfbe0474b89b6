//! The envelope against the rules of JSON-RPC and MCP written down a second time, over what `serde_json` reads.

use mcp_core::json::{JsonStr, RawJson, Writer};
use mcp_core::rpc::{self, Envelope, Malformed, Outcome};
use mcp_core::{EnvelopeFault, Limits, PeerFault};
use serde_json::value::RawValue;

use crate::reference;

/// Reads one message and compares with a naive reading; writes what was read and reads that again. The input is the
/// message.
///
/// # Panics
///
/// On a finding: another kind of message, another member, another fault, or another answer due.
pub fn envelope(data: &[u8]) {
    // Low enough for short inputs to cross them.
    let mut limits = Limits::DEFAULT;
    limits.max_depth = 6;
    limits.max_id = 16;
    let expected = read(data, &limits);
    let parsed = Envelope::parse(data, &limits);
    assert_eq!(seen(&parsed), expected);
    if let Ok(envelope) = parsed {
        let again = write(&envelope);
        let parsed = Envelope::parse(&again, &limits);
        assert_eq!(
            without_line_ends(&seen(&parsed)),
            without_line_ends(&expected)
        );
    }
}

/// A message as far as it is compared: values as they are written, strings decoded.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Reading {
    Request {
        id: String,
        method: String,
        params: Option<String>,
    },
    Notification {
        method: String,
        params: Option<String>,
    },
    Result {
        id: Option<String>,
        result: String,
    },
    Error {
        id: Option<String>,
        code: i64,
        message: String,
        data: Option<String>,
    },
    Malformed {
        fault: Fault,
        id: Option<String>,
        answer_due: bool,
    },
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Fault {
    /// Where and why is the tokenizer's target.
    Json,
    Envelope(EnvelopeFault),
}

/// What the crate read.
fn seen(parsed: &Result<Envelope<'_>, Malformed<'_>>) -> Reading {
    let raw = |value: RawJson<'_>| value.as_str().to_owned();
    let decoded = |value: JsonStr<'_>| value.decode().into_owned();
    match parsed {
        Ok(Envelope::Request(request)) => Reading::Request {
            id: raw(request.id.raw()),
            method: decoded(request.method),
            params: request.params.map(raw),
        },
        Ok(Envelope::Notification(notification)) => Reading::Notification {
            method: decoded(notification.method),
            params: notification.params.map(raw),
        },
        Ok(Envelope::Response(response)) => {
            let id = response.id.map(|id| raw(id.raw()));
            match response.outcome {
                Outcome::Result(result) => Reading::Result {
                    id,
                    result: raw(result),
                },
                Outcome::Error {
                    code,
                    message,
                    data,
                    ..
                } => Reading::Error {
                    id,
                    code: code.value(),
                    message: decoded(message),
                    data: data.map(raw),
                },
                other => panic!("an outcome that this target does not know: {other:?}"),
            }
        }
        Ok(other) => panic!("a message that this target does not know: {other:?}"),
        Err(malformed) => Reading::Malformed {
            fault: if let PeerFault::Envelope(fault) = malformed.fault {
                Fault::Envelope(fault)
            } else {
                assert!(matches!(malformed.fault, PeerFault::Json(_)));
                Fault::Json
            },
            id: malformed.id.map(|id| raw(id.raw())),
            answer_due: malformed.answer_due,
        },
    }
}

/// The members of a message, by name.
struct Message<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Message<'a> {
    fn new(object: &'a RawValue) -> Self {
        let members = reference::members(object).into_iter();
        Self(
            members
                .map(|(name, value)| (reference::text(name), value))
                .collect(),
        )
    }

    /// The member of this name, the last one if there are several.
    fn member(&self, name: &str) -> Option<&'a RawValue> {
        let mut members = self.0.iter().rev();
        members.find(|(other, _)| other == name).map(|it| it.1)
    }

    /// The member of this name, if it is not null.
    fn present(&self, name: &str) -> Option<&'a RawValue> {
        self.member(name).filter(|value| value.get() != "null")
    }

    /// The first of these names to come a second time.
    fn duplicate(&self, names: &[&'static str]) -> Option<&'static str> {
        let seconds = self.0.iter().enumerate();
        let mut seconds =
            seconds.filter(|(at, (name, _))| self.0[..*at].iter().any(|it| it.0 == *name));
        seconds.find_map(|(_, (name, _))| names.iter().copied().find(|known| known == name))
    }
}

/// What the crate has to read.
pub(crate) fn read(bytes: &[u8], limits: &Limits) -> Reading {
    let Some(document) = reference::document(bytes, limits.max_depth) else {
        return Reading::Malformed {
            fault: Fault::Json,
            id: None,
            answer_due: true,
        };
    };
    let fault = match document.get().as_bytes()[0] {
        b'{' => {
            let message = Message::new(document);
            return judge(&message, limits)
                .unwrap_or_else(|fault| refused(&message, fault, limits));
        }
        b'[' => EnvelopeFault::Batch,
        _ => EnvelopeFault::NotAnObject,
    };
    Reading::Malformed {
        fault: Fault::Envelope(fault),
        id: None,
        answer_due: true,
    }
}

fn judge(message: &Message<'_>, limits: &Limits) -> Result<Reading, EnvelopeFault> {
    let names = ["jsonrpc", "id", "method", "params", "result", "error"];
    if let Some(twice) = message.duplicate(&names) {
        return Err(EnvelopeFault::Duplicate(twice));
    }
    let version = message.member("jsonrpc").and_then(string);
    if version.as_deref() != Some("2.0") {
        return Err(EnvelopeFault::Version);
    }
    match message.member("method") {
        Some(method) => judge_call(message, method, limits),
        None => judge_response(message, limits),
    }
}

fn judge_call(
    message: &Message<'_>,
    method: &RawValue,
    limits: &Limits,
) -> Result<Reading, EnvelopeFault> {
    if message.member("result").is_some() || message.member("error").is_some() {
        return Err(EnvelopeFault::Ambiguous);
    }
    let id = message.member("id");
    let readable = id.and_then(|id| readable_id(id, limits));
    if id.is_some() && readable.is_none() {
        return Err(EnvelopeFault::Id);
    }
    let method = string(method).ok_or(EnvelopeFault::Method)?;
    let params = message.present("params").map(raw);
    if params.as_ref().is_some_and(|it| !it.starts_with('{')) {
        return Err(EnvelopeFault::Params);
    }
    Ok(match readable {
        Some(id) => Reading::Request { id, method, params },
        None => Reading::Notification { method, params },
    })
}

fn judge_response(message: &Message<'_>, limits: &Limits) -> Result<Reading, EnvelopeFault> {
    let id = message.present("id");
    let readable = id.and_then(|id| readable_id(id, limits));
    if id.is_some() && readable.is_none() {
        return Err(EnvelopeFault::Id);
    }
    match (message.present("result"), message.present("error")) {
        (Some(_), Some(_)) => Err(EnvelopeFault::Ambiguous),
        (None, None) => Err(EnvelopeFault::Shapeless),
        (Some(_), None) if readable.is_none() => Err(EnvelopeFault::Id),
        (Some(result), None) => Ok(Reading::Result {
            id: readable,
            result: raw(result),
        }),
        (None, Some(error)) => judge_error(readable, error).ok_or(EnvelopeFault::Error),
    }
}

/// Members that occur twice in an error are not refused: of those the last one counts, and each `code` is a number.
fn judge_error(id: Option<String>, error: &RawValue) -> Option<Reading> {
    if !error.get().starts_with('{') {
        return None;
    }
    let error = Message::new(error);
    let number = |value: &RawValue| value.get().starts_with(|it| matches!(it, '-' | '0'..='9'));
    let mut codes = error.0.iter().filter(|(name, _)| name == "code");
    if !codes.all(|(_, code)| number(code)) {
        return None;
    }
    Some(Reading::Error {
        id,
        code: reference::integer(error.member("code")?)?.try_into().ok()?,
        message: string(error.member("message")?)?,
        data: error.member("data").map(raw),
    })
}

fn refused(message: &Message<'_>, fault: EnvelopeFault, limits: &Limits) -> Reading {
    let has = |name| message.member(name).is_some();
    let response = !has("method") && (has("result") || has("error"));
    let method = message.member("method").and_then(string);
    let notification = !has("id") && method.is_some();
    let twice = message.duplicate(&["id"]).is_some();
    let id = message.member("id").filter(|_| !twice);
    Reading::Malformed {
        fault: Fault::Envelope(fault),
        id: id.and_then(|id| readable_id(id, limits)),
        answer_due: !response && !notification,
    }
}

fn readable_id(id: &RawValue, limits: &Limits) -> Option<String> {
    let readable = match id.get().as_bytes()[0] {
        b'"' => !reference::has_lone_surrogate(id),
        b'-' | b'0'..=b'9' => reference::integer(id).is_some_and(|it| i64::try_from(it).is_ok()),
        _ => false,
    };
    (readable && id.get().len() <= limits.max_id).then(|| raw(id))
}

fn string(value: &RawValue) -> Option<String> {
    value.get().starts_with('"').then(|| reference::text(value))
}

fn raw(value: &RawValue) -> String {
    value.get().to_owned()
}

fn write(envelope: &Envelope<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    let params = |params: Option<RawJson<'_>>, json: &mut Writer<'_, Vec<u8>>| match params {
        Some(params) => json.raw(params),
        None => json.null(),
    };
    let written = match envelope {
        Envelope::Request(it) => rpc::write_request(&mut out, it.id, &it.method.decode(), |json| {
            params(it.params, json);
        }),
        Envelope::Notification(it) => {
            rpc::write_notification(&mut out, &it.method.decode(), |json| {
                params(it.params, json)
            })
        }
        Envelope::Response(response) => match (response.outcome, response.id) {
            (Outcome::Result(result), Some(id)) => {
                rpc::write_result(&mut out, id.raw(), |json| json.raw(result))
            }
            (
                Outcome::Error {
                    code,
                    message,
                    data,
                    ..
                },
                id,
            ) => rpc::write_error(
                &mut out,
                id.map(|id| id.raw()),
                code,
                &message.decode(),
                |json| {
                    if let Some(data) = data {
                        json.key("data");
                        json.raw(data);
                    }
                },
            ),
            other => panic!("a result of no request, or something new: {other:?}"),
        },
        other => panic!("a message that this target does not know: {other:?}"),
    };
    written.expect("a Vec is never full");
    assert!(!out.contains(&b'\n') && !out.contains(&b'\r'));
    out
}

/// Writing leaves line ends out, and nothing else.
fn without_line_ends(reading: &Reading) -> Reading {
    let strip = |text: &String| text.replace(['\n', '\r'], "");
    let mut reading = reading.clone();
    match &mut reading {
        Reading::Request { params, .. } | Reading::Notification { params, .. } => {
            *params = params.as_ref().map(strip);
        }
        Reading::Result { result, .. } => *result = strip(result),
        Reading::Error { data, .. } => *data = data.as_ref().map(strip),
        Reading::Malformed { .. } => {}
    }
    reading
}
