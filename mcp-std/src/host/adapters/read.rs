//! What all providers' answers have in common.

use core::fmt;
use std::borrow::Cow;

use mcp_core::json::{Json, RawJson};

use super::{Stop, ToolCall};

/// What came is no answer of a model.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ReplyFault {
    /// The provider's error.
    #[non_exhaustive]
    Provider {
        /// Its name for what went wrong; empty if there is none.
        kind: String,
        /// What it says. Not to be trusted.
        message: String,
    },
    /// It is not of the provider's interface: what is wrong.
    Malformed(String),
    /// It ended before it was whole.
    Cut,
    /// It is beyond a bound: which.
    TooLarge(&'static str),
}

impl fmt::Display for ReplyFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Provider { kind, message } if kind.is_empty() => {
                write!(f, "the provider refused: {message}")
            }
            Self::Provider { kind, message } => {
                write!(f, "the provider refused: {message} ({kind})")
            }
            Self::Malformed(problem) => write!(f, "the answer is not the provider's: {problem}"),
            Self::Cut => f.write_str("the answer ended before it was whole"),
            Self::TooLarge(bound) => write!(f, "the answer is too large: {bound}"),
        }
    }
}

impl core::error::Error for ReplyFault {}

/// The prefix of ids that providers did not give.
const PLACE: &str = "mcp-place-";

/// An id for the call at this place, for providers that have none.
pub(super) fn place(at: usize) -> String {
    format!("{PLACE}{at}")
}

/// The id as the provider gave it.
pub(super) fn given_id(id: &str) -> Option<&str> {
    (!id.starts_with(PLACE)).then_some(id)
}

pub(super) fn text<'b>(value: RawJson<'b>, member: &str) -> Option<Cow<'b, str>> {
    value.member(member)?.as_string().map(|text| text.decode())
}

pub(super) fn count(value: RawJson<'_>, member: &str) -> u64 {
    let count = value.member(member).and_then(RawJson::as_number);
    count.and_then(|count| count.as_u64()).unwrap_or_default()
}

pub(super) fn elements<'b>(
    value: RawJson<'b>,
    member: &str,
) -> impl Iterator<Item = RawJson<'b>> + use<'b> {
    value
        .member(member)
        .and_then(RawJson::as_array)
        .into_iter()
        .flatten()
}

/// A member that is there and not null.
pub(super) fn member<'b>(value: RawJson<'b>, name: &str) -> Option<RawJson<'b>> {
    value.member(name).filter(|value| !value.is_null())
}

/// An `error`, or what is in its place.
pub(super) fn fault(value: RawJson<'_>) -> Option<ReplyFault> {
    let error = member(value, "error")?;
    if let Some(message) = error.as_string() {
        return Some(ReplyFault::Provider {
            kind: String::new(),
            message: shorten(&message.decode()),
        });
    }
    let kind = ["type", "status", "code"]
        .into_iter()
        .find_map(|name| text(error, name));
    Some(ReplyFault::Provider {
        kind: shorten(&kind.unwrap_or_default()),
        message: shorten(&text(error, "message").unwrap_or_default()),
    })
}

/// What peers say goes into logs and onto screens.
pub(super) fn shorten(text: &str) -> String {
    text.chars().take(500).collect()
}

/// What a call is called with, for the provider to read again: an object, also where the model did not give one.
pub(super) fn arguments_again(call: &ToolCall) -> Json<'static> {
    match super::call::normalise(&call.given) {
        Ok(object) => object.into_owned(),
        Err(_) => Json::written(|json| {
            json.begin_object();
            json.key("invalid_arguments");
            json.string(&shorten(&call.given));
            json.end_object();
        }),
    }
}

/// Why it stopped, given that it asks for calls or not: some providers say `stop` for both.
pub(super) fn stop(word: Option<&str>, calls: &[ToolCall]) -> Stop {
    match word {
        Some("length" | "max_tokens" | "MAX_TOKENS" | "max_output_tokens") => Stop::Length,
        Some(
            "content_filter" | "refusal" | "SAFETY" | "RECITATION" | "BLOCKLIST"
            | "PROHIBITED_CONTENT" | "SPII",
        ) => Stop::Refused,
        _ if !calls.is_empty() => Stop::Calls,
        None
        | Some(
            "stop" | "end_turn" | "stop_sequence" | "STOP" | "completed" | "tool_use"
            | "tool_calls",
        ) => Stop::End,
        Some(other) => Stop::Other(shorten(other)),
    }
}
