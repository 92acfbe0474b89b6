//! What goes out: `_meta` by era, what is refused here, retries with input (META-08 to META-15, MRTR-09 to MRTR-11).

use super::*;
use crate::model::LoggingLevel;

const STANDING: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}"#;

fn json(text: &str) -> Option<RawJson<'_>> {
    Some(RawJson::parse(text.as_bytes()).expect("JSON"))
}

#[test]
fn a_modern_request_always_has_its_meta() {
    let mut stage = Stage::modern();
    stage.call("tools/list").expect("sent");
    let expected = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":{{{STANDING}}}}}}}"#
    );
    assert_eq!(stage.sent(), [expected]);
    stage
        .call_with("tools/list", "null", &CallOptions::default())
        .expect("sent");
    assert!(stage.sent()[0].contains(STANDING));
}

#[test]
fn dx_06_the_callers_meta_is_kept_and_the_engines_is_not_the_callers() {
    let mut stage = Stage::modern();
    let options = CallOptions {
        progress: true,
        log_level: Some(LoggingLevel::Warning),
        meta: json(
            r#"{"traceparent":"00-1","progressToken":"mine","io.modelcontextprotocol/logLevel":"debug"}"#,
        ),
        ..CallOptions::default()
    };
    let params = r#"{"name":"_meta","arguments":{"_meta":1},"_meta":{"com.example/a":[1, 2],"io.modelcontextprotocol/protocolVersion":"x"}}"#;
    stage
        .call_with("tools/call", params, &options)
        .expect("sent");
    let expected = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"_meta","arguments":{{"_meta":1}},"_meta":{{{STANDING},"io.modelcontextprotocol/logLevel":"warning","progressToken":1,"com.example/a":[1, 2],"traceparent":"00-1"}}}}}}"#
    );
    assert_eq!(stage.sent(), [expected]);
    // One that says nothing, and one that only looks like it.
    for (params, kept) in [
        (r#"{"_meta":null}"#, ""),
        (r#"{"a":"\"_meta\""}"#, r#""a":"\"_meta\"","#),
    ] {
        let options = CallOptions::default();
        stage
            .call_with("tools/list", params, &options)
            .expect("sent");
        let expected = format!(r#""params":{{{kept}"_meta":{{{STANDING}}}}}}}"#);
        let sent = stage.sent();
        assert!(sent[0].ends_with(&expected), "{sent:?}");
    }
}

#[test]
fn a_legacy_request_has_only_what_was_asked_for() {
    let mut stage = Stage::legacy("2025-11-25");
    stage.call("tools/list").expect("sent");
    let options = CallOptions {
        progress: true,
        log_level: Some(LoggingLevel::Debug),
        input_responses: json("{}"),
        request_state: json("\"s\""),
        ..CallOptions::default()
    };
    stage
        .call_with("tools/call", r#"{"name":"t"}"#, &options)
        .expect("sent");
    let options = CallOptions {
        meta: json(r#"{"a":1}"#),
        ..CallOptions::default()
    };
    stage.call_with("ping", "{}", &options).expect("sent");
    assert_eq!(
        stage.sent(),
        [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","_meta":{"progressToken":2}}}"#,
            r#"{"jsonrpc":"2.0","id":3,"method":"ping","params":{"_meta":{"a":1}}}"#,
        ]
    );
}

#[test]
fn rt_01_a_retry_carries_the_answers_and_the_state_byte_for_byte() {
    let mut stage = Stage::modern();
    let options = CallOptions {
        input_responses: json(r#"{"k":{"action":"accept"}}"#),
        request_state: json(r#""a\u0041\/""#),
        ..CallOptions::default()
    };
    stage
        .call_with("tools/call", r#"{"name":"t"}"#, &options)
        .expect("sent");
    let sent = stage.sent();
    let expected = r#""params":{"name":"t","inputResponses":{"k":{"action":"accept"}},"requestState":"a\u0041\/","_meta":"#;
    assert!(sent[0].contains(expected), "{sent:?}");
}

#[test]
fn what_the_version_does_not_have_is_refused_here() {
    let modern = Some(ProtocolVersion::V2026_07_28);
    let legacy = Some(ProtocolVersion::V2025_11_25);
    let either: [(&str, [Option<ProtocolVersion>; 2]); 9] = [
        ("initialize", [legacy, modern]),
        ("server/discover", [legacy, None]),
        ("ping", [None, modern]),
        ("resources/subscribe", [None, modern]),
        ("resources/unsubscribe", [None, modern]),
        ("logging/setLevel", [None, modern]),
        ("subscriptions/listen", [legacy, None]),
        ("roots/list", [legacy, modern]),
        ("com.example/own", [None, None]),
    ];
    for (method, refused) in either {
        for (stage, refused) in [Stage::legacy("2025-11-25"), Stage::modern()]
            .iter_mut()
            .zip(refused)
        {
            let called = stage.call(method).map(drop);
            let expected = refused.map_or(Ok(()), |version| Err(CallError::NotInVersion(version)));
            assert_eq!(called, expected, "{method}");
            assert_eq!(stage.sent().is_empty(), refused.is_some(), "{method}");
        }
    }
}

#[test]
fn co_07_what_the_server_did_not_declare_is_refused_here() {
    let needs = [
        ("tools/list", "tools"),
        ("tools/call", "tools"),
        ("resources/list", "resources"),
        ("resources/templates/list", "resources"),
        ("resources/read", "resources"),
        ("resources/subscribe", "resources.subscribe"),
        ("prompts/list", "prompts"),
        ("prompts/get", "prompts"),
        ("completion/complete", "completions"),
        ("logging/setLevel", "logging"),
    ];
    let offering = |version, capabilities| {
        let mut config = config();
        config.mode = EraMode::Legacy(ProtocolVersion::LATEST_LEGACY);
        let mut stage = Stage::new(config);
        let answer = initialized(0, version, capabilities);
        assert!(matches!(stage.hear(&answer), Incoming::Connected));
        stage.sent();
        stage
    };
    for (method, capability) in needs {
        let mut all = offering("2025-11-25", ALL);
        assert!(all.call(method).is_ok(), "{method}");
        // Values other than objects declare nothing (CAP-05).
        for none in [
            "{}",
            r#"{"tools":true,"resources":{"subscribe":{}},"prompts":null,"completions":[],"logging":"yes"}"#,
        ] {
            if method.starts_with("resources/") && none != "{}" && !method.ends_with("scribe") {
                continue;
            }
            let mut stage = offering("2025-11-25", none);
            let refused = stage.call(method);
            assert_eq!(refused, Err(CallError::NotOffered(capability)), "{method}");
            assert!(stage.sent().is_empty(), "{method}");
        }
    }
    // CAP-04.
    assert!(
        offering("2024-11-05", "{}")
            .call("completion/complete")
            .is_ok()
    );
}

#[test]
fn what_cannot_go_out_uses_nothing_up() {
    let mut limits = Limits::DEFAULT;
    limits.max_pending = 2;
    let mut stage = Stage::limited(config(), limits);
    let answer = discovered(r#"["2026-07-28"]"#, ALL);
    assert!(matches!(stage.hear(&answer), Incoming::Connected));
    stage.sent();
    let mut small = heapless::Vec::<u8, 100>::new();
    let params = RawJson::parse(b"{}").expect("JSON");
    let options = CallOptions::default();
    let full = stage
        .client
        .call(stage.now, "tools/list", &params, &options, &mut small);
    assert_eq!(full, Err(CallError::Full));
    assert!(small.is_empty());
    for params in ["[]", "1", "\"{}\""] {
        let refused = stage.call_with("tools/list", params, &options);
        assert_eq!(refused, Err(CallError::Params), "{params}");
    }
    stage.call("tools/list").expect("room");
    let second = stage.call("tools/list").expect("room");
    assert_eq!(stage.call("tools/list"), Err(CallError::Busy { limit: 2 }));
    let ids: Vec<_> = stage.sent().iter().map(|sent| id_of(sent)).collect();
    assert_eq!(ids, [1, 2]);
    let out = &mut Lines::new(&mut stage.out);
    stage.client.cancel(second, None, out).expect("pending");
    stage.call("tools/list").expect("room again");
}

#[test]
fn changed_roots_are_told_where_that_can_be_heard() {
    let mut roots = config();
    roots.capabilities = ClientCapabilities::ROOTS_LIST_CHANGED;
    let mut declared = Stage::legacy_with(roots.clone(), "2025-06-18");
    let mut undeclared = Stage::legacy("2025-06-18");
    let mut modern = Stage::modern_with(roots);
    for (stage, told) in [
        (&mut declared, true),
        (&mut undeclared, false),
        (&mut modern, false),
    ] {
        let written = stage.client.roots_changed(&mut Lines::new(&mut stage.out));
        assert_eq!(written, Ok(told));
        assert_eq!(stage.sent().len(), usize::from(told));
    }
}
