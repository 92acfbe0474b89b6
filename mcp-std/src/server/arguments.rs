//! Arguments of a tool: from JSON to the handler's type.

pub(crate) mod fields;
pub(crate) mod strings;

use core::fmt::Display;

use mcp_core::json::{Kind, RawJson, Writer};
use serde::de::DeserializeOwned;

use super::output::ToolResult;

/// Decodes the arguments of a call, `{}` if there are none.
///
/// # Errors
///
/// The tool result to answer with, which says which member is wrong: the model can correct itself (TOOL-24).
pub(crate) fn decode<A: DeserializeOwned>(arguments: Option<RawJson<'_>>) -> Result<A, ToolResult> {
    let parsed = match arguments {
        Some(arguments) => parse(arguments),
        None => serde_json::from_str("{}").map_err(|_| problem::<A>(b"{}")),
    };
    parsed.map_err(|problem| refusal(&problem))
}

/// Tells the model what is wrong, and what to do.
pub(crate) fn refusal(problem: &dyn Display) -> ToolResult {
    ToolResult::error(format!(
        "Invalid arguments: {problem}. Call the tool again with arguments that fit its input schema."
    ))
}

/// Decodes what a peer has sent.
///
/// Whole numbers are accepted however they are written: JSON Schema's `integer` is a value, so `3.0` and `3e0` are
/// integers (SC-10), though serde_json does not take them for one.
///
/// # Errors
///
/// What is wrong, and with which member.
pub(crate) fn parse<A: DeserializeOwned>(value: RawJson<'_>) -> Result<A, String> {
    serde_json::from_str(value.as_str()).or_else(|_| {
        let plain = with_plain_integers(value);
        // The problem is one of this text, or it would name an integer that is only written in another way.
        serde_json::from_slice(&plain).map_err(|_| problem::<A>(&plain))
    })
}

fn with_plain_integers(arguments: RawJson<'_>) -> Vec<u8> {
    let mut plain = Vec::with_capacity(arguments.as_bytes().len());
    let mut json = Writer::new(&mut plain);
    write_plain(arguments, &mut json);
    json.finish().expect("a Vec is never full");
    plain
}

/// Recursion is bounded by the depth that the engine accepts.
fn write_plain(value: RawJson<'_>, json: &mut Writer<'_, Vec<u8>>) {
    match value.kind() {
        Kind::Number => {
            let number = value.as_number();
            if let Some(integer) = number.and_then(|number| number.as_i64()) {
                json.integer(integer);
            } else if let Some(integer) = number.and_then(|number| number.as_u64()) {
                json.unsigned(integer);
            } else {
                json.raw(value);
            }
        }
        Kind::Array => {
            json.begin_array();
            value
                .as_array()
                .into_iter()
                .flatten()
                .for_each(|element| write_plain(element, json));
            json.end_array();
        }
        Kind::Object => {
            json.begin_object();
            for (name, member) in value.as_object().into_iter().flatten() {
                json.key(&name.decode());
                write_plain(member, json);
            }
            json.end_object();
        }
        Kind::Null | Kind::Bool | Kind::String => json.raw(value),
    }
}

/// Decodes once more, watching where it fails.
fn problem<A: DeserializeOwned>(text: &[u8]) -> String {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    match serde_path_to_error::deserialize::<_, A>(&mut deserializer) {
        Ok(_) => "they do not fit".to_owned(),
        Err(error) if error.path().iter().next().is_none() => message(error.inner()),
        Err(error) => format!("`{}`: {}", error.path(), message(error.inner())),
    }
}

/// serde_json's message without its line and column: the model does not see the text they count in. Nor does it see the
/// types of Rust, but a schema that says the same in other words.
fn message(error: &serde_json::Error) -> String {
    let mut message = error.to_string();
    if let Some(at) = message.rfind(" at line ") {
        message.truncate(at);
    }
    if let Some((told, expected)) = message.rsplit_once(", expected ")
        && let Some(range) = range(expected)
    {
        return format!("{told}, expected {range}");
    }
    message
}

/// What serde calls by the name of a type, as its schema has it.
fn range(name: &str) -> Option<String> {
    let (least, most) = match name {
        "i8" => (i64::from(i8::MIN), i8::MAX as u64),
        "i16" => (i64::from(i16::MIN), i16::MAX as u64),
        "i32" => (i64::from(i32::MIN), i32::MAX as u64),
        "i64" | "isize" => (i64::MIN, i64::MAX as u64),
        "u8" => (0, u64::from(u8::MAX)),
        "u16" => (0, u64::from(u16::MAX)),
        "u32" => (0, u64::from(u32::MAX)),
        "u64" | "usize" => (0, u64::MAX),
        "f32" | "f64" => return Some("a number".to_owned()),
        _ => return None,
    };
    Some(format!("an integer from {least} to {most}"))
}
