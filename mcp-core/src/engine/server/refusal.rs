//! The error that a fault is answered with.

use core::fmt::{self, Write as _};

use super::answer::{write_required, write_required_extension};
use super::catalog::{Offered, write_versions};
use super::{CatalogBuilder, Incoming};
use crate::error::{MirroredHeader, PeerFault};
use crate::json::{Full, JsonStr, RawJson, Sink, Writer};
use crate::model::{Era, Params, ProtocolVersion};
use crate::rpc::{Request, RequestId, write_error};

/// The request that is refused, if it was readable, and what is offered.
pub(super) type About<'a, 'b, C> = (&'a Request<'b>, &'a Params<'b>, &'a C);

/// Answers a message with the error that its fault is; the request, if there is a readable one, is there to be quoted.
pub(super) fn refuse<'b, C: Offered, S: Sink + ?Sized>(
    out: &mut S,
    id: Option<RequestId<'_>>,
    fault: PeerFault,
    about: Option<About<'_, '_, C>>,
) -> Incoming<'b> {
    match write_fault(out, id, fault, about) {
        Ok(()) => Incoming::Rejected(fault),
        Err(Full) => Incoming::Blocked,
    }
}

/// The same for a message that is no readable request.
pub(super) fn refuse_unread<'b, S: Sink + ?Sized>(
    out: &mut S,
    id: Option<RequestId<'_>>,
    fault: PeerFault,
) -> Incoming<'b> {
    refuse(out, id, fault, None::<About<'_, '_, CatalogBuilder<'_>>>)
}

#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "most faults are all said by their code"
)]
fn write_fault<C: Offered, S: Sink + ?Sized>(
    out: &mut S,
    id: Option<RequestId<'_>>,
    fault: PeerFault,
    about: Option<About<'_, '_, C>>,
) -> Result<(), Full> {
    let name = about.and_then(|about| name(fault, about));
    let message = Message { fault, name };
    write_error(out, id.map(|id| id.raw()), fault.code(), &message, |json| {
        let params = about.map(|(_, params, _)| params);
        match fault {
            PeerFault::UnsupportedVersion => {
                write_unsupported(params.and_then(|it| it.meta.protocol_version), json);
            }
            PeerFault::MissingCapability { missing, .. } => write_required(missing, json),
            PeerFault::MissingExtension { extension, .. } => {
                let known = about.and_then(|(_, _, catalog)| catalog.extensions().get(extension));
                if let Some(known) = known {
                    write_required_extension(known.id(), json);
                }
            }
            // RSC-03.
            PeerFault::UnknownResource { .. } => {
                if let Some(uri) = params.and_then(|params| params.uri) {
                    json.key("data");
                    json.begin_object();
                    json.key("uri");
                    json.raw(uri);
                    json.end_object();
                }
            }
            _ => {}
        }
    })
}

/// What the fault is about: something the peer named, or an argument of a prompt that it did not name.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "most faults are about no name"
)]
fn name<'a, C: Offered>(
    fault: PeerFault,
    (request, params, catalog): About<'a, 'a, C>,
) -> Option<Name<'a>> {
    let named = |value: Option<RawJson<'a>>| value?.as_string().map(Name::Theirs);
    match fault {
        PeerFault::MethodNotFound => Some(Name::Theirs(request.method)),
        PeerFault::UnknownTool => named(params.name),
        PeerFault::UnknownPrompt => named(params.name).or_else(|| named(referred(params, "name"))),
        PeerFault::UnknownReference => named(referred(params, "uri")),
        PeerFault::Header {
            header: MirroredHeader::Param(at),
            ..
        } => {
            let tool = catalog.find_tool(params.name?.as_string()?)?;
            let header = catalog.param_header(tool, usize::from(at))?;
            Some(Name::Ours(header))
        }
        PeerFault::MissingArgument => {
            let prompt = catalog.find_prompt(params.name?.as_string()?)?;
            let missing = catalog.missing_argument(prompt, params.arguments)?;
            Some(Name::Ours(missing))
        }
        _ => None,
    }
}

fn referred<'b>(params: &Params<'b>, member: &str) -> Option<RawJson<'b>> {
    params.reference?.member(member)
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
struct Message<'a> {
    fault: PeerFault,
    name: Option<Name<'a>>,
}

enum Name<'a> {
    Theirs(JsonStr<'a>),
    Ours(&'a str),
}

impl fmt::Display for Message<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            Some(Name::Theirs(name)) => write!(f, "{}: {}", self.fault, Shown(name)),
            Some(Name::Ours(name)) => write!(f, "{}: {name}", self.fault),
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
                name: name.as_string().map(Name::Theirs),
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
