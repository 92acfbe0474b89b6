//! 2026-07-28: every request stands for itself. Nothing of an earlier request counts (STL-01, CAP-07).

use super::Terms;
use crate::error::PeerFault;
use crate::json::{Kind, RawJson};
use crate::model::{ClientCapabilities, Era, Method, ProtocolVersion, RequestMeta};

const VERSION: &str = "_meta[\"io.modelcontextprotocol/protocolVersion\"]";
const CAPABILITIES: &str = "_meta[\"io.modelcontextprotocol/clientCapabilities\"]";

pub(in crate::engine::server) fn admit(
    method: Option<Method>,
    meta: &RequestMeta<'_>,
) -> Result<Terms, PeerFault> {
    let terms = terms(meta)?;
    // PING-02, LOG-07, RSC-09: what is gone with the handshake is as unknown as what never was.
    if !method.is_some_and(|method| method.is_of_client(terms.version)) {
        return Err(PeerFault::MethodNotFound);
    }
    Ok(terms)
}

#[inline]
pub(super) fn terms(meta: &RequestMeta<'_>) -> Result<Terms, PeerFault> {
    // META-11. The version comes before all else, so that a client of a later revision is told which ones are served
    // (VAL-07), also if it calls a method that is not known here (VER-02).
    let named = meta
        .protocol_version
        .filter(|version| version.kind() == Kind::String)
        .ok_or(PeerFault::Params {
            field: VERSION,
            expected: expected(meta.protocol_version, "a string"),
        })?;
    let version = ProtocolVersion::TABLE
        .into_iter()
        .take_while(|version| version.era() == Era::Modern)
        .find(|version| named.is_text(version.as_str()))
        .ok_or(PeerFault::UnsupportedVersion)?;
    let capabilities = meta
        .client_capabilities
        .and_then(ClientCapabilities::read)
        .ok_or(PeerFault::Params {
            field: CAPABILITIES,
            expected: expected(meta.client_capabilities, "an object"),
        })?;
    let log_level = meta.log_level()?;
    Ok(Terms {
        version,
        capabilities,
        log_level,
    })
}

/// For the fault: what is not there at all is told as that.
fn expected(value: Option<RawJson<'_>>, expected: &'static str) -> &'static str {
    value.map_or("", |_| expected)
}
