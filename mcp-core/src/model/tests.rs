//! What each revision has of the vocabulary, and what is read from peers that write it oddly.

mod forms;
mod wire;

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Value, json};

use super::*;
use crate::error::{EnvelopeFault, ErrorCode, PeerFault};
use crate::json::{RawJson, Writer};
use crate::limits::Limits;

use ProtocolVersion::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

fn raw(text: &str) -> RawJson<'_> {
    RawJson::parse(text.as_bytes()).expect(text)
}

fn written(write: impl FnOnce(&mut Writer<'_, Vec<u8>>)) -> Value {
    let mut out = Vec::new();
    let mut json = Writer::new(&mut out);
    write(&mut json);
    json.finish().expect("a Vec is never full");
    serde_json::from_slice(&out).expect("the writer writes JSON")
}

fn oldest_first() -> impl Iterator<Item = ProtocolVersion> {
    ProtocolVersion::ALL.iter().copied().rev()
}

#[test]
fn versions_are_known_names() {
    for &version in ProtocolVersion::ALL {
        assert_eq!(ProtocolVersion::parse(version.as_str()), Some(version));
    }
    for unknown in ["", "2024-11-06", "2026-07-28 ", "2027-01-01", "latest"] {
        assert_eq!(ProtocolVersion::parse(unknown), None);
    }
    assert!(oldest_first().is_sorted());
    assert!(oldest_first().map(ProtocolVersion::index).eq(0..5));
    assert!(
        oldest_first().all(|version| (version.era() == Era::Modern) == (version == V2026_07_28))
    );
}

#[test]
fn methods_are_matched_exactly() {
    let parse = |name: &str| Method::parse(raw(name).as_string().expect(name));
    for method in [
        Method::Initialize,
        Method::Ping,
        Method::Discover,
        Method::ToolsList,
        Method::ToolsCall,
        Method::Initialized,
        Method::Cancelled,
    ] {
        assert_eq!(parse(&format!("\"{}\"", method.as_str())), Some(method));
    }
    assert_eq!(parse(r#""pin\u0067""#), Some(Method::Ping));
    for unknown in [
        r#""""#,
        r#""Ping""#,
        r#""ping ""#,
        r#""tools""#,
        r#""tools/calls""#,
    ] {
        assert_eq!(parse(unknown), None);
    }
}

#[test]
fn capabilities_survive_writing_and_reading() {
    let flags = [
        ClientCapabilities::ROOTS,
        ClientCapabilities::ROOTS_LIST_CHANGED,
        ClientCapabilities::SAMPLING,
        ClientCapabilities::SAMPLING_TOOLS,
        ClientCapabilities::SAMPLING_CONTEXT,
        ClientCapabilities::ELICITATION,
        ClientCapabilities::ELICITATION_URL,
    ];
    for subset in 0..1_usize << flags.len() {
        let set = (0..flags.len())
            .filter(|bit| subset >> bit & 1 == 1)
            .fold(ClientCapabilities::NONE, |set, bit| set | flags[bit]);
        let text = written(|json| set.write(json)).to_string();
        assert_eq!(ClientCapabilities::read(raw(&text)), Some(set), "{text}");
        assert_eq!(set.is_empty(), text == "{}");
        for flag in flags {
            assert_eq!(set.contains(flag), flag.without(set).is_empty());
        }
    }
}

/// ERR-08: what is missing is named, and nothing beside it.
#[test]
fn missing_capabilities_are_written_alone() {
    let missing = |needed: ClientCapabilities, declared: ClientCapabilities| {
        let missing = needed.without(declared);
        (written(|json| missing.write(json)), missing.to_string())
    };
    let (sampling, tools) = (
        ClientCapabilities::SAMPLING,
        ClientCapabilities::SAMPLING_TOOLS,
    );
    let (form, url) = (
        ClientCapabilities::ELICITATION,
        ClientCapabilities::ELICITATION_URL,
    );
    assert_eq!(
        missing(tools, sampling),
        (json!({"sampling": {"tools": {}}}), "sampling.tools".into())
    );
    assert_eq!(
        missing(tools | form, ClientCapabilities::NONE),
        (
            json!({"sampling": {"tools": {}}, "elicitation": {}}),
            "sampling, sampling.tools, elicitation".into()
        )
    );
    assert_eq!(
        missing(form | url, form),
        (
            json!({"elicitation": {"url": {}}}),
            "elicitation.url".into()
        )
    );
    assert_eq!(missing(sampling, tools), (json!({}), String::new()));
}

/// CAP-05, CO-04: an object declares, anything else does not, and what is unknown is nothing to us.
#[test]
fn co_04_capabilities_are_read_tolerantly() {
    let read = |text| ClientCapabilities::read(raw(text));
    let form = ClientCapabilities::ELICITATION;
    let url = ClientCapabilities::ELICITATION_URL;
    for (text, set) in [
        (
            r#"{"tools":{"x":1},"future":{"y":[]},"experimental":{}}"#,
            ClientCapabilities::NONE,
        ),
        (
            r#"{"roots":{"listChanged":true}}"#,
            ClientCapabilities::ROOTS_LIST_CHANGED,
        ),
        (
            r#"{"roots":null,"sampling":true,"elicitation":[]}"#,
            ClientCapabilities::NONE,
        ),
        (
            r#"{"Roots":{},"elicitation ":{}}"#,
            ClientCapabilities::NONE,
        ),
        (
            r#"{"sampl\u0069ng":{"tools":null}}"#,
            ClientCapabilities::SAMPLING,
        ),
        (
            r#"{"sampling":{"tools":{}}}"#,
            ClientCapabilities::SAMPLING_TOOLS,
        ),
        (r#"{"elicitation":{}}"#, form),
        (r#"{"elicitation":{"form":{}}}"#, form),
        (r#"{"elicitation":{"url":{}}}"#, url),
        (r#"{"elicitation":{"form":{},"url":{}}}"#, form | url),
        (r#"{"elicitation":{"voice":{}}}"#, form),
    ] {
        assert_eq!(read(text), Some(set), "{text}");
    }
    for text in ["null", "[]", r#""roots""#, "1"] {
        assert_eq!(read(text), None);
    }
}

/// TOOL-02, TYP-08.
#[test]
fn a_tool_has_what_its_revision_has() {
    let mut tool = Tool::new("t", raw(r#"{"type":"object"}"#));
    tool.title = Some("T".into());
    tool.description = Some("d".into());
    tool.output_schema = Some(raw(r#"{"type":"object"}"#).into());
    let hinted = ToolAnnotations {
        read_only_hint: Some(true),
        open_world_hint: Some(false),
        ..ToolAnnotations::default()
    };
    tool.annotations = Some(hinted);
    tool.requires = ClientCapabilities::ROOTS;
    let schema = json!({"type": "object"});
    let hints = json!({"readOnlyHint": true, "openWorldHint": false});
    let a = json!({"name": "t", "description": "d", "inputSchema": schema});
    let mut b = a.clone();
    b["annotations"] = hints;
    let mut c = b.clone();
    c["title"] = json!("T");
    c["outputSchema"] = schema;
    for (version, expected) in oldest_first().zip([a, b, c.clone(), c.clone(), c]) {
        assert_eq!(written(|json| tool.encode(version, json)), expected);
    }
    // What is not there is left out, not null; hints left alone are the specification's defaults.
    let bare = Tool::new("t", raw(r#"{ "type" : "object" }"#));
    for &version in ProtocolVersion::ALL {
        assert_eq!(
            written(|json| bare.encode(version, json)),
            json!({"name": "t", "inputSchema": {"type": "object"}})
        );
    }
}

/// TOOL-06.
#[test]
fn sc_07_output_schemas_of_other_roots_are_modern() {
    for (schema, from) in [
        (r#"{"type":"object"}"#, V2025_06_18),
        (r#"{"\u0074ype":"o\u0062ject"}"#, V2025_06_18),
        (r#"{"type":"array"}"#, V2026_07_28),
        (r#"{"type":["object","null"]}"#, V2026_07_28),
        ("{}", V2026_07_28),
    ] {
        let mut tool = Tool::new("t", raw(r#"{"type":"object"}"#));
        tool.output_schema = Some(raw(schema).into());
        for &version in ProtocolVersion::ALL {
            let tool = written(|json| tool.encode(version, json));
            assert_eq!(
                tool.get("outputSchema").is_some(),
                version >= from,
                "{schema} {version:?}"
            );
        }
    }
}

fn result(result: &CallToolResult<'_>, version: ProtocolVersion) -> Value {
    written(|json| {
        json.begin_object();
        result.members(version, json);
        json.end_object();
    })
}

/// TOOL-12, TOOL-13: in the modern era null is a value, and not the absence of one.
#[test]
fn structured_content_by_revision() {
    let content = [ContentBlock::text("x")];
    let base = CallToolResult::new(&content);
    let text = json!([{"type": "text", "text": "x"}]);
    for &version in ProtocolVersion::ALL {
        assert_eq!(result(&base, version), json!({"content": text}));
        assert_eq!(
            result(&base.clone().failed(true), version),
            json!({"content": text, "isError": true})
        );
    }
    for (structured, from) in [
        (r#"{"a":{"b":[1]}}"#, V2025_06_18),
        ("{}", V2025_06_18),
        ("null", V2026_07_28),
        ("[]", V2026_07_28),
        ("0", V2026_07_28),
        (r#""s""#, V2026_07_28),
    ] {
        for &version in ProtocolVersion::ALL {
            let mut expected = json!({"content": text});
            if version >= from {
                expected["structuredContent"] = serde_json::from_str(structured).expect(structured);
            }
            assert_eq!(
                result(&base.clone().structured(raw(structured)), version),
                expected
            );
        }
    }
    assert_eq!(
        result(&CallToolResult::new(&[]), V2025_11_25),
        json!({"content": []}),
        "content is required, be it empty"
    );
}

/// TYP-05, TYP-08.
#[test]
fn content_blocks_by_revision() {
    let media = |kind| json!({"type": kind, "data": "AAAA", "mimeType": "m/t"});
    let blocks = [
        ContentBlock::text("a\u{0}\n\"é"),
        ContentBlock::image("AAAA", "m/t"),
        ContentBlock::audio("AAAA", "m/t"),
        ContentBlock::Unknown(raw(r#"{"type":"hologram","data":{"x":1.0}}"#).into()),
    ];
    for &version in ProtocolVersion::ALL {
        let written = result(&CallToolResult::new(&blocks), version);
        let content = written["content"].as_array().expect("an array");
        assert_eq!(content[0], json!({"type": "text", "text": "a\u{0}\n\"é"}));
        assert_eq!(content[1], media("image"));
        if version == V2024_11_05 {
            assert_eq!(content[2]["type"], "text");
        } else {
            assert_eq!(content[2], media("audio"));
        }
        assert_eq!(content[3], json!({"type": "hologram", "data": {"x": 1.0}}));
    }
}

/// PRG-02.
#[test]
fn progress_by_revision() {
    let progress = Progress::new(0.5).of(2.0).saying("half");
    for &version in ProtocolVersion::ALL {
        let mut expected = json!({"progressToken": "t", "progress": 0.5, "total": 2});
        if version >= V2025_03_26 {
            expected["message"] = json!("half");
        }
        assert_eq!(
            written(|json| progress.write_params(raw(r#""t""#), version, json)),
            expected
        );
    }
    for total in [f64::NAN, f64::INFINITY] {
        assert_eq!(
            written(|json| Progress::new(1.0)
                .of(total)
                .write_params(raw("0"), V2026_07_28, json)),
            json!({"progressToken": 0, "progress": 1})
        );
    }
}

/// TYP-01.
#[test]
fn an_implementation_has_a_title_since_2025_06_18() {
    let mut named = Implementation::new("n", "1");
    named.title = Some("N".into());
    for &version in ProtocolVersion::ALL {
        let mut expected = json!({"name": "n", "version": "1"});
        if version >= V2025_06_18 {
            expected["title"] = json!("N");
        }
        assert_eq!(written(|json| named.encode(version, json)), expected);
    }
}

#[test]
fn fr_13_params_are_found_by_exact_name() {
    fn read(text: &str) -> Result<Params<'_>, PeerFault> {
        let params = Params::read(raw(text));
        params.check().map(|()| params)
    }
    let found = read(
        r#"{"name":"a","Name":"b","arguments":{"name":"c","name":"d"},"cursor":null,"n\u0061me2":1}"#,
    )
    .expect("valid");
    assert_eq!(found.name, Some(raw(r#""a""#)));
    assert_eq!(found.arguments, Some(raw(r#"{"name":"c","name":"d"}"#)));
    assert!(found.cursor.is_none(), "null is absent (CO-03)");
    assert!(!found.meta.is_modern() && found.request_id.is_none());
    for text in ["null", "[]", "\"name\"", "{}"] {
        assert!(read(text).expect("nothing to find").name.is_none());
    }
    // FR-14.
    for (member, path) in [
        ("_meta", "params._meta"),
        ("name", "params.name"),
        ("arguments", "params.arguments"),
        ("cursor", "params.cursor"),
        ("protocolVersion", "params.protocolVersion"),
        ("capabilities", "params.capabilities"),
        ("clientInfo", "params.clientInfo"),
        ("requestId", "params.requestId"),
    ] {
        let (first, rest) = member.split_at(1);
        let escaped = format!(r"\u{:04x}{rest}", first.as_bytes()[0]);
        for second in [member, &escaped] {
            let text = format!(r#"{{"{member}":null,"x":{{}},"{second}":1}}"#);
            let fault = read(&text).expect_err(&text);
            assert_eq!(fault, EnvelopeFault::Duplicate(path).into());
        }
    }
}

/// The `_meta` of params, whose text lives for the rest of the tests.
fn meta(text: &str) -> Result<RequestMeta<'static>, PeerFault> {
    let params = Params::read(raw(format!(r#"{{"_meta":{text}}}"#).leak()));
    params.check().map(|()| params.meta)
}

#[test]
fn request_meta_is_read_by_its_keys() {
    let read = meta;
    assert!(!RequestMeta::default().is_modern());
    assert!(!read("null").expect("absent").is_modern());
    // META-06, META-15: other keys are other people's.
    let free = read(r#"{"progressToken":1,"traceparent":5,"a/b":{},"protocolVersion":"x"}"#);
    assert!(!free.expect("valid").is_modern());
    for key in [
        key::PROTOCOL_VERSION,
        key::CLIENT_CAPABILITIES,
        key::CLIENT_INFO,
        key::LOG_LEVEL,
    ] {
        assert!(
            read(&format!(r#"{{"{key}":[]}}"#))
                .expect("read")
                .is_modern()
        );
        assert!(
            !read(&format!(r#"{{"{key}":null}}"#))
                .expect("read")
                .is_modern()
        );
        let twice = format!(r#"{{"{key}":null,"{key}":1}}"#);
        let twice = read(&twice);
        assert_eq!(twice.expect_err(key), EnvelopeFault::Duplicate(key).into());
    }
    let twice = read(r#"{"progressToken":1,"progressT\u006fken":1}"#).expect_err("twice");
    assert_eq!(twice, EnvelopeFault::Duplicate(key::PROGRESS_TOKEN).into());
    for text in ["[]", r#""x""#, "true", "0"] {
        let fault = read(text).expect_err(text);
        assert_eq!(fault.code(), ErrorCode::INVALID_PARAMS);
        assert!(matches!(fault, PeerFault::Params { field: "_meta", .. }));
    }
}

/// META-16.
#[test]
fn a_progress_token_is_a_string_or_an_integer() {
    let limits = Limits::DEFAULT;
    let token = |text: &str| {
        let text = format!(r#"{{"progressToken":{text}}}"#);
        let meta = meta(&text).expect("an object");
        let token = meta.progress_token(&limits);
        token.map(|token| token.map(|token| token.raw().as_str().to_string()))
    };
    for good in ["0", "-1", r#""""#, r#""t""#, "9007199254740993", "1.0"] {
        assert_eq!(token(good), Ok(Some(good.into())));
    }
    assert_eq!(token("null"), Ok(None));
    let long = format!("\"{}\"", "x".repeat(limits.max_id - 1));
    for bad in ["1.5", "true", "{}", "[]", "9223372036854775808", &long] {
        assert!(
            matches!(
                token(bad),
                Err(PeerFault::Params {
                    field: "_meta.progressToken",
                    ..
                })
            ),
            "{bad}"
        );
    }
}

/// LOG-01, LOG-05.
#[test]
fn a_log_level_is_one_of_eight() {
    let level = |text: &str| {
        let text = format!(r#"{{"io.modelcontextprotocol/logLevel":{text}}}"#);
        meta(&text).expect("an object").log_level()
    };
    for good in [
        "debug",
        "info",
        "notice",
        "warning",
        "error",
        "critical",
        "alert",
        "emergency",
    ] {
        assert_eq!(
            level(&format!("\"{good}\"")),
            Ok(LoggingLevel::parse(good)),
            "{good}"
        );
        assert_eq!(
            LoggingLevel::parse(good).map(LoggingLevel::as_str),
            Some(good)
        );
    }
    assert_eq!(level("null"), Ok(None));
    for bad in [r#""""#, r#""Info""#, r#""warn""#, "6", "{}"] {
        let fault = level(bad).expect_err(bad);
        assert_eq!(fault.code(), ErrorCode::INVALID_PARAMS, "{bad}");
    }
}
