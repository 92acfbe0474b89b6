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
    let claimed = || {
        let member = catalog.mirrored(method, ProtocolVersion::LATEST_MODERN)?;
        message.raw_params()?.member(member)?.as_string()
    };
    let method = Method::parse(method);
    if let Some(name) = method
        .and_then(|method| name(method, params))
        .or_else(claimed)
    {
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
        Line::One(value) | Line::Same(value) if is_as_it_stands(value, expected) => return Ok(()),
        Line::One(value) | Line::Same(value) => match agrees(value, expected) {
            Some(true) => return Ok(()),
            Some(false) => HeaderProblem::Differs,
            None => HeaderProblem::Malformed,
        },
    };
    Err(PeerFault::Header { header, problem })
}

/// Whether a value is the one expected, with nothing in it that could be said in two ways: however it is read, it agrees.
fn is_as_it_stands(value: &[u8], expected: JsonStr<'_>) -> bool {
    let expected = expected.as_plain().map(str::as_bytes);
    expected == Some(value)
        && !value.starts_with(b"=")
        && value.iter().all(|byte| matches!(byte, b'!'..=b'~'))
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
    if !catalog.has_param_headers() {
        return Ok(());
    }
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

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::String;

    use super::*;
    use crate::limits::Limits;
    use crate::model::{Implementation, Tool};

    const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

    fn checked(
        body: &str,
        headers: &[(&str, &[u8])],
    ) -> Result<(), (MirroredHeader, HeaderProblem)> {
        let schema =
            r#"{"type":"object","properties":{"n":{"type":"integer","x-mcp-header":"N"}}}"#;
        let schema = RawJson::parse(schema.as_bytes()).expect("JSON");
        let tools = [Tool::new("t", schema)];
        let server = Implementation::new("s", "1");
        let catalog = Catalog::builder(&server).tools(&tools).build();
        let catalog = catalog.expect("a catalog");
        let mut head = Head::new("POST", None);
        for (name, value) in headers {
            head.push(name, value);
        }
        let message = Message::read(body.as_bytes(), &Limits::DEFAULT);
        check_mirrors(&head, &message, &catalog).map_err(|fault| {
            let PeerFault::Header { header, problem } = fault else {
                panic!("{fault}");
            };
            (header, problem)
        })
    }

    fn call(arguments: &str) -> String {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","arguments":{arguments},{META}}}}}"#
        )
    }

    const VERSION: (&str, &[u8]) = ("mcp-protocol-version", b"2026-07-28");
    const METHOD: (&str, &[u8]) = ("mcp-method", b"tools/call");
    const NAME: (&str, &[u8]) = ("mcp-name", b"t");

    /// VAL-01, HDR-06, HDR-07: in this order.
    #[test]
    fn each_header_that_belongs_to_a_call() {
        use HeaderProblem::{Differs, Malformed, Missing};
        use MirroredHeader::{Method, Name, Param, ProtocolVersion};
        let n: (&str, &[u8]) = ("mcp-param-n", b"7");
        let body = call(r#"{"n":7}"#);
        assert_eq!(checked(&body, &[VERSION, METHOD, NAME, n]), Ok(()));
        for (headers, expected) in [
            (&[][..], (ProtocolVersion, Missing)),
            (
                &[("mcp-protocol-version", &b"2025-11-25"[..])],
                (ProtocolVersion, Differs),
            ),
            (
                &[("mcp-protocol-version", b"\xff")],
                (ProtocolVersion, Malformed),
            ),
            (
                &[VERSION, ("mcp-protocol-version", b"x")],
                (ProtocolVersion, Malformed),
            ),
            (&[VERSION], (Method, Missing)),
            (&[VERSION, ("mcp-method", b"Tools/Call")], (Method, Differs)),
            (&[VERSION, METHOD], (Name, Missing)),
            (&[VERSION, METHOD, ("mcp-name", b"T")], (Name, Differs)),
            (
                &[VERSION, METHOD, ("mcp-name", b"=?base64?dA?=")],
                (Name, Malformed),
            ),
            (&[VERSION, METHOD, ("mcp-name", b"\xe9")], (Name, Malformed)),
            (
                &[VERSION, METHOD, NAME, ("mcp-name", b"u")],
                (Name, Malformed),
            ),
            (&[VERSION, METHOD, NAME], (Param(0), Missing)),
            (
                &[VERSION, METHOD, NAME, ("mcp-param-n", b"8")],
                (Param(0), Differs),
            ),
            (
                &[VERSION, METHOD, NAME, n, ("mcp-param-n", b"8")],
                (Param(0), Malformed),
            ),
        ] {
            assert_eq!(checked(&body, headers), Err(expected), "{headers:?}");
        }
        let none = call("{}");
        assert_eq!(checked(&none, &[VERSION, METHOD, NAME]), Ok(()));
        let extra = [VERSION, METHOD, NAME, n];
        assert_eq!(checked(&none, &extra), Err((Param(0), Differs)));
    }

    #[test]
    fn what_is_as_it_stands_agrees_however_it_is_read() {
        let name = |text| RawJson::parse(text).ok().and_then(RawJson::as_string);
        for (value, json, expected) in [
            (&b"t"[..], &br#""t""#[..], true),
            (b"tools/call", br#""tools/call""#, true),
            (b"2026-07-28", br#""2026-07-28""#, true),
            (b"", br#""""#, true),
            (b"t", br#""T""#, false),
            (b"t", br#""\u0074""#, false),
            (b" t", br#"" t""#, false),
            (b"a b", br#""a b""#, false),
            (b"=?base64?dA==?=", br#""=?base64?dA==?=""#, false),
            (b"\xc3\xa9", "\"\u{e9}\"".as_bytes(), false),
        ] {
            let json = name(json).expect("a string");
            assert_eq!(is_as_it_stands(value, json), expected, "{json:?}");
            if expected {
                assert_eq!(plain(value, json), Some(true), "{json:?}");
                assert_eq!(coded(value, json), Some(true), "{json:?}");
            }
        }
    }

    /// HTTP-10, VAL-07: what is no request, and what an engine is asked about first.
    #[test]
    fn what_is_not_compared() {
        for body in [
            r#"{"jsonrpc":"2.0","method":"notifications/x"}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            "[]",
            "{",
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#,
        ] {
            assert_eq!(checked(body, &[]), Ok(()), "{body}");
        }
        // A later version may have other headers, once it agrees with its own.
        let later = call("{}").replace("2026-07-28", "2099-01-01");
        let version: (&str, &[u8]) = ("mcp-protocol-version", b"2099-01-01");
        assert_eq!(checked(&later, &[version]), Ok(()));
    }
}
