//! The error that a fault is answered with.

use alloc::format;
use alloc::string::{String, ToString};

use super::catalog::write_versions;
use crate::error::PeerFault;
use crate::json::{Full, JsonStr, RawJson, Sink, Writer};
use crate::model::{Era, Params, ProtocolVersion};
use crate::rpc::{Request, RequestId, write_error};

/// Writes the error; the request, if there is a readable one, is there to be quoted.
pub(super) fn refuse<S: Sink + ?Sized>(
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
    let message = name.map_or_else(
        || fault.to_string(),
        |name| format!("{fault}: {}", shown(name)),
    );
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
    let requested = requested
        .and_then(RawJson::as_string)
        .map(shown)
        .unwrap_or_default();
    let legacy = ProtocolVersion::parse(&requested).is_some();
    json.key("data");
    json.begin_object();
    json.key("supported");
    write_versions(|version| !legacy || version.era() == Era::Modern, json);
    json.key("requested");
    json.string(&requested);
    json.end_object();
}

/// What a peer has sent, which may be of any length, cut to what a message has room for.
fn shown(text: JsonStr<'_>) -> String {
    const SHOWN: usize = 128;
    let mut chars = text.chars();
    let mut shown: String = chars.by_ref().take(SHOWN).collect();
    if chars.next().is_some() {
        shown.push('…');
    }
    shown
}
