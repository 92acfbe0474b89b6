//! The fields of requests (HDR-01, HDR-06 to HDR-09, XH-11; LH-23, LH-29).

use alloc::borrow::Cow;
use alloc::borrow::ToOwned as _;
use alloc::string::String;
use alloc::vec::Vec;

use super::message::Outgoing;
use super::tools::Tools;
use super::{HttpFault, Verb};
use crate::model::ProtocolVersion;
use crate::model::header::encode_value;

pub(super) type Fields = Vec<(Cow<'static, str>, String)>;

fn push(fields: &mut Fields, name: &'static str, value: &str) {
    fields.push((Cow::Borrowed(name), value.to_owned()));
}

/// What every request of this method has.
pub(super) fn standing(verb: Verb) -> Fields {
    let mut fields = Vec::new();
    match verb {
        Verb::Post => {
            push(&mut fields, "content-type", "application/json");
            // HTTP-06, LH-03.
            push(&mut fields, "accept", "application/json, text/event-stream");
        }
        // LH-18.
        Verb::Get => push(&mut fields, "accept", "text/event-stream"),
        Verb::Delete => {}
    }
    fields
}

/// What a legacy session adds: nothing before it is agreed upon.
pub(super) fn session(fields: &mut Fields, id: Option<&str>, version: Option<ProtocolVersion>) {
    // INIT-13: revisions before have no such field.
    if let Some(version) = version.filter(|version| *version >= ProtocolVersion::V2025_06_18) {
        push(fields, "mcp-protocol-version", version.as_str());
    }
    if let Some(id) = id {
        push(fields, "mcp-session-id", id);
    }
}

/// What a message of the modern era adds.
///
/// # Errors
///
/// An argument cannot be mirrored.
pub(super) fn modern(
    fields: &mut Fields,
    message: &Outgoing,
    tools: &Tools,
) -> Result<(), HttpFault> {
    let version = message.version.as_deref();
    push(
        fields,
        "mcp-protocol-version",
        version.unwrap_or(ProtocolVersion::LATEST_MODERN.as_str()),
    );
    if let Some(method) = message.method() {
        // Never encoded (HDR-09): ours are all plain, and what is not would be another field.
        if method.bytes().all(|byte| byte.is_ascii_graphic()) {
            push(fields, "mcp-method", method);
        }
    }
    let Some(name) = &message.name else {
        return Ok(());
    };
    push(fields, "mcp-name", &encode_value(name));
    if message.is("tools/call") {
        let mirrored = tools.mirror(name, &message.text)?;
        fields.extend(
            mirrored
                .into_iter()
                .map(|(name, value)| (Cow::Owned(name), value)),
        );
    }
    Ok(())
}
