//! Headers that repeat what the body says: they have to agree, or whoever reads only one of the two is deceived (VAL-01).

use super::head::{Head, Known, Line};
use crate::engine::server::{Catalog, Message};
use crate::error::{HeaderProblem, MirroredHeader, PeerFault};
use crate::json::{JsonStr, RawJson};
use crate::model::header::{ParamFault, decode_value};
use crate::model::{Era, Method, Params, ProtocolVersion};

/// Checks the headers of a modern POST against the message in its body.
///
/// Only requests are checked: the protocol has no rules for notifications (HTTP-10). What is wrong with the message itself
/// is left to the engine, which also is the first to be asked where a version is named that is not served: a later one may
/// have other headers (VAL-07).
///
/// # Errors
///
/// [`PeerFault::Header`]: the first header that is missing, malformed, or says something else.
pub fn check_mirrors(
    head: &Head<'_>,
    message: &Message<'_>,
    catalog: &Catalog,
) -> Result<(), PeerFault> {
    let Some(method) = message.method().filter(|_| message.is_request()) else {
        return Ok(());
    };
    let params = message.params();
    // HDR-01, HDR-02, HDR-05.
    let Some(version) = params.meta.protocol_version.and_then(RawJson::as_string) else {
        return Ok(());
    };
    if params.meta.client_capabilities.is_none() {
        return Ok(());
    }
    let header = MirroredHeader::ProtocolVersion;
    check(header, head.line(Known::ProtocolVersion), version, plain)?;
    let version = ProtocolVersion::parse(&version.decode());
    if version.is_none_or(|version| version.era() == Era::Legacy) {
        return Ok(());
    }
    // HDR-06.
    let header = MirroredHeader::Method;
    check(header, head.line(Known::Method), method, plain)?;
    // HDR-07, ENC-05. `Mcp-Name` with other methods is not looked at.
    let method = Method::parse(method);
    if let Some(name) = method.and_then(|method| name(method, params)) {
        let header = MirroredHeader::Name;
        check(header, head.line(Known::Name), name, coded)?;
    }
    if method == Some(Method::ToolsCall) {
        check_params(head, params, catalog)?;
    }
    Ok(())
}

/// What `Mcp-Name` repeats.
#[expect(
    clippy::wildcard_enum_match_arm,
    reason = "no other method has the header"
)]
fn name<'b>(method: Method, params: &Params<'b>) -> Option<JsonStr<'b>> {
    match method {
        Method::ToolsCall | Method::PromptsGet => params.name,
        Method::ResourcesRead => params.uri,
        _ => None,
    }?
    .as_string()
}

fn check(
    header: MirroredHeader,
    line: Line<'_>,
    expected: JsonStr<'_>,
    agrees: impl FnOnce(&[u8], JsonStr<'_>) -> Option<bool>,
) -> Result<(), PeerFault> {
    let problem = match line {
        Line::Absent => HeaderProblem::Missing,
        Line::Differ => HeaderProblem::Malformed,
        Line::One(value) | Line::Same(value) => match agrees(value, expected) {
            Some(true) => return Ok(()),
            Some(false) => HeaderProblem::Differs,
            None => HeaderProblem::Malformed,
        },
    };
    Err(PeerFault::Header { header, problem })
}

/// A value that is never encoded (HDR-09); `None` if it cannot be one.
fn plain(value: &[u8], expected: JsonStr<'_>) -> Option<bool> {
    let value = core::str::from_utf8(value).ok()?;
    value.is_ascii().then(|| expected == *value)
}

/// A value that is encoded where it has to be.
fn coded(value: &[u8], expected: JsonStr<'_>) -> Option<bool> {
    let value = decode_value(value).ok()?;
    Some(expected == *value)
}

/// XH-10, XH-12, VAL-02, VAL-03.
fn check_params(head: &Head<'_>, params: &Params<'_>, catalog: &Catalog) -> Result<(), PeerFault> {
    let name = params.name.and_then(RawJson::as_string);
    let Some(tool) = name.and_then(|name| catalog.tool(name)) else {
        return Ok(());
    };
    for (at, param) in (0..).zip(catalog.param_headers(tool)) {
        let agrees = match head.param(param.name()) {
            Line::Differ => Some(HeaderProblem::Malformed),
            line @ (Line::Absent | Line::One(_) | Line::Same(_)) => {
                match param.agrees(params.arguments, line.value()) {
                    Ok(()) => None,
                    Err(ParamFault::Missing) => Some(HeaderProblem::Missing),
                    Err(ParamFault::Value(_)) => Some(HeaderProblem::Malformed),
                    Err(_) => Some(HeaderProblem::Differs),
                }
            }
        };
        if let Some(problem) = agrees {
            let header = MirroredHeader::Param(at);
            return Err(PeerFault::Header { header, problem });
        }
    }
    Ok(())
}
