//! The error that a fault is answered with.

use core::fmt::{self, Write as _};

use super::Incoming;
use super::catalog::write_versions;
use crate::error::PeerFault;
use crate::json::{Full, JsonStr, RawJson, Sink, Writer};
use crate::model::{Era, Params, ProtocolVersion};
use crate::rpc::{Request, RequestId, write_error};

/// Answers a message with the error that its fault is; the request, if there is a readable one, is there to be quoted.
pub(super) fn refuse<'b, S: Sink + ?Sized>(
    out: &mut S,
    id: Option<RequestId<'_>>,
    fault: PeerFault,
    request: Option<(&Request<'_>, &Params<'_>)>,
) -> Incoming<'b> {
    match write_fault(out, id, fault, request) {
        Ok(()) => Incoming::Rejected(fault),
        Err(Full) => Incoming::Blocked,
    }
}

fn write_fault<S: Sink + ?Sized>(
    out: &mut S,
    id: Option<RequestId<'_>>,
    fault: PeerFault,
    request: Option<(&Request<'_>, &Params<'_>)>,
) -> Result<(), Full> {
    let name = request.and_then(|(request, params)| {
        if fault == PeerFault::MethodNotFound {
            Some(request.method)
        } else if fault == PeerFault::UnknownTool {
            params.name?.as_string()
        } else {
            None
        }
    });
    let message = Message { fault, name };
    write_error(out, id.map(|id| id.raw()), fault.code(), &message, |json| {
        if fault == PeerFault::UnsupportedVersion {
            write_unsupported(
                request.and_then(|(_, params)| params.meta.protocol_version),
                json,
            );
        } else if let PeerFault::MissingCapability { missing, .. } = fault {
            // ERR-08: an object, not a list of names.
            json.key("data");
            json.begin_object();
            json.key("requiredCapabilities");
            missing.write(json);
            json.end_object();
        }
    })
}

/// ERR-09. A legacy version is served after `initialize` only (VER-04): who asks for one statelessly is not told that it
/// is supported, or it would ask again.
fn write_unsupported<S: Sink + ?Sized>(requested: Option<RawJson<'_>>, json: &mut Writer<'_, S>) {
    let requested = requested.and_then(RawJson::as_string);
    let named = |version: &ProtocolVersion| requested.is_some_and(|it| it == version.as_str());
    let legacy = ProtocolVersion::ALL.iter().any(named);
    json.key("data");
    json.begin_object();
    json.key("supported");
    write_versions(|version| !legacy || version.era() == Era::Modern, json);
    json.key("requested");
    match requested {
        Some(requested) => json.display(&Shown(requested)),
        None => json.string(""),
    }
    json.end_object();
}

/// What is wrong, and with which name.
struct Message<'b> {
    fault: PeerFault,
    name: Option<JsonStr<'b>>,
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            Some(name) => write!(f, "{}: {}", self.fault, Shown(name)),
            None => self.fault.fmt(f),
        }
    }
}

/// What a peer has sent, which may be of any length, cut to what a message has room for.
struct Shown<'b>(JsonStr<'b>);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 128;
        let mut chars = self.0.chars();
        for char in chars.by_ref().take(SHOWN) {
            f.write_char(char)?;
        }
        match chars.next() {
            Some(_) => f.write_char('…'),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::ToString as _;

    use super::*;

    #[test]
    fn a_name_is_quoted_decoded_and_cut_after_128_characters() {
        let message = |name: &str| {
            let name = format!("\"{name}\"");
            let name = RawJson::parse(name.as_bytes()).expect("a string");
            Message {
                fault: PeerFault::UnknownTool,
                name: name.as_string(),
            }
            .to_string()
        };
        assert_eq!(message(""), "Unknown tool: ");
        assert_eq!(message(r"\u00e9\n\\"), "Unknown tool: é\n\\");
        let longest = "é".repeat(128);
        assert_eq!(message(&longest), format!("Unknown tool: {longest}"));
        for more in ["é", r"\ud83e\udd80", "more"] {
            let long = [&longest, more].concat();
            assert_eq!(message(&long), format!("Unknown tool: {longest}…"));
        }
    }
}
