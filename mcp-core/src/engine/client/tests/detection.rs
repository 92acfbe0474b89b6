//! The ladder, with servers of all kinds on the other end (DET-01 to DET-08, VER-03, VER-07, INIT-01 to INIT-12).

use super::*;

const PROBE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}}}}"#;

fn initialize(id: u64, version: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    )
}

fn auto() -> Stage {
    let mut stage = Stage::new(config());
    assert!(stage.sent()[0].contains("server/discover"));
    stage
}

/// Answers the `initialize` that was sent last, and is connected.
fn complete(stage: &mut Stage, id: u64, version: &str) {
    assert_eq!(stage.sent(), [initialize(id, "2025-11-25")]);
    let answer = initialized(id, version, "{}");
    let incoming = stage.hear(&answer);
    assert!(matches!(incoming, Incoming::Connected), "{incoming:?}");
    assert_eq!(
        stage.sent(),
        [r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}"#]
    );
    assert_eq!(stage.client.version(), ProtocolVersion::parse(version));
    assert_eq!(stage.client.pending(), 0);
    assert_eq!(stage.client.poll_timeout(), None);
}

fn failure(incoming: Incoming<'_>) -> ConnectError {
    match incoming {
        Incoming::ConnectFailed(error) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_modern_server_is_asked_with_full_meta_and_described() {
    let mut config = config();
    config.capabilities = ClientCapabilities::ELICITATION;
    let mut stage = Stage::new(config);
    assert_eq!(stage.sent(), [PROBE]);
    assert_eq!(stage.call("tools/list"), Err(CallError::NotConnected));
    let answer = discovered(r#"["2031-01-01","2026-07-28","2025-11-25"]"#, ALL);
    assert!(matches!(stage.hear(&answer), Incoming::Connected));
    assert!(stage.sent().is_empty(), "no handshake");
    let server = stage.client.server().expect("connected");
    assert_eq!(server.revision, ProtocolVersion::V2026_07_28);
    assert_eq!(server.instructions.as_deref(), Some("be\tkind"));
    let named = server.implementation.as_ref().expect("named");
    assert_eq!((&*named.name, &*named.version), ("s", "2"));
    let capabilities = server.capabilities.as_ref().expect("asked");
    assert!(capabilities.tools.is_some_and(|tools| tools.list_changed));
    assert!(
        capabilities
            .prompts
            .is_some_and(|prompts| !prompts.list_changed)
    );
    assert!(
        server
            .result()
            .is_some_and(|result| answer.contains(result.as_str()))
    );
    assert_eq!(stage.client.poll_timeout(), None);
}

#[test]
fn whatever_is_not_recognised_as_modern_leads_to_initialize() {
    let answers = [
        result(0),
        error(0, -32601, "null"),
        error(0, -32602, "null"),
        error(0, -32602, r#"{"supported":["2026-07-28"]}"#),
        error(0, -32600, "null"),
        error(0, -32000, "null"),
        error(0, -32004, "null"),
        error(0, 0, "null"),
        r#"{"jsonrpc":"2.0","id":0,"result":{"resultType":"input_required","supportedVersions":["2026-07-28"]}}"#.into(),
        r#"{"jsonrpc":"2.0","id":0,"result":{"supportedVersions":"2026-07-28"}}"#.into(),
        r#"{"jsonrpc":"2.0","id":0,"result":{},"error":{"code":1,"message":""}}"#.into(),
        r#"{"jsonrpc":"2.0","id":0}"#.into(),
        r#"{"jsonrpc":"2.0","id":0,"error":"unknown"}"#.into(),
        // It could not even say what it did not understand.
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#.into(),
        r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"?"}}"#.into(),
        r#"{"jsonrpc":"2.0","id":"0","error":{"code":-32601,"message":"?"}}"#.into(),
    ];
    for answer in answers {
        for version in ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] {
            let mut stage = auto();
            let incoming = stage.hear(&answer);
            assert!(
                matches!(incoming, Incoming::Handled),
                "{answer}: {incoming:?}"
            );
            complete(&mut stage, 1, version);
        }
    }
    // In an array, which is no version's answer to this.
    let mut stage = auto();
    let array = format!("[{}]", discovered(r#"["2026-07-28"]"#, ALL));
    let Incoming::Batch(mut batch) = stage.hear(&array) else {
        panic!("an array");
    };
    let first = stage
        .client
        .next_in_batch(stage.now, &mut batch, &mut Lines::new(&mut stage.out));
    assert!(matches!(first, Some(Incoming::Handled)), "{first:?}");
    complete(&mut stage, 1, "2025-11-25");
}

#[test]
fn silence_leads_to_initialize_and_a_late_answer_changes_nothing() {
    let mut stage = auto();
    assert_eq!(stage.wait(SECOND * 10 - MS), []);
    assert!(stage.sent().is_empty());
    assert_eq!(stage.wait(MS * 3), []);
    assert_eq!(stage.sent(), [initialize(1, "2025-11-25")]);
    let late = discovered(r#"["2026-07-28"]"#, ALL);
    assert!(matches!(stage.hear(&late), Incoming::Late));
    assert_eq!(stage.client.counters().late, 1);
    assert!(matches!(
        stage.hear(&initialized(1, "2025-06-18", "{}")),
        Incoming::Connected
    ));
    assert!(matches!(
        stage.hear(&error(0, -32601, "null")),
        Incoming::Late
    ));
    assert_eq!(stage.client.version(), Some(ProtocolVersion::V2025_06_18));
}

#[test]
fn ve_05_garbage_is_not_an_answer() {
    let mut stage = auto();
    for line in [
        "Example server 1.2 running on stdio",
        "{}",
        "42",
        "null",
        "\"hello\"",
        r#"{"status":200}"#,
        r#"{"id":0,"status":200}"#,
        r#"{"jsonrpc":"1.0","id":0,"result":{}}"#,
        "{",
        "[]",
        "\u{feff}",
    ] {
        let incoming = stage.hear(line);
        assert!(
            matches!(incoming, Incoming::Rejected(_)),
            "{line}: {incoming:?}"
        );
        assert!(stage.sent().is_empty(), "{line}: noise is not answered");
    }
    assert_eq!(stage.client.counters().rejected, 11);
    assert!(matches!(
        stage.hear(&discovered(r#"["2026-07-28"]"#, ALL)),
        Incoming::Connected
    ));
}

#[test]
fn a_recognised_modern_error_never_leads_to_initialize() {
    for code in [-32020, -32021, -32022] {
        for data in ["null", "{}", r#"{"supported":"2026-07-28"}"#] {
            let mut stage = auto();
            let error = failure(stage.hear(&error(0, code, data)));
            assert!(
                matches!(
                    error,
                    ConnectError::Refused {
                        method: "server/discover",
                        ..
                    }
                ),
                "{error:?}"
            );
            assert!(stage.sent().is_empty());
            assert_eq!(stage.call("tools/list"), Err(CallError::Closed));
        }
    }
}

#[test]
fn ve_01_versions_named_with_an_unsupported_version_decide() {
    // It names the very version it refused: it is asked once more, and no more.
    let mut stage = auto();
    let again = r#"{"supported":["2026-07-28"],"requested":"2026-07-28"}"#;
    assert!(matches!(
        stage.hear(&error(0, -32022, again)),
        Incoming::Handled
    ));
    let sent = stage.sent();
    assert!(
        sent[0].contains("server/discover") && id_of(&sent[0]) == 1,
        "{sent:?}"
    );
    let failed = failure(stage.hear(&error(1, -32022, again)));
    assert!(matches!(failed, ConnectError::NoCommonVersion { .. }));

    let mut stage = auto();
    assert!(matches!(
        stage.hear(&error(0, -32022, again)),
        Incoming::Handled
    ));
    let retried = discovered(r#"["2026-07-28"]"#, ALL).replace("\"id\":0", "\"id\":1");
    assert!(matches!(stage.hear(&retried), Incoming::Connected));

    // Legacy ones only: to be had by `initialize`, with the best of them.
    for answer in [
        error(
            0,
            -32022,
            r#"{"supported":["2024-11-05","2025-06-18","2030-01-01"]}"#,
        ),
        discovered(r#"["2025-06-18","2024-11-05"]"#, "{}"),
    ] {
        let mut stage = auto();
        assert!(matches!(stage.hear(&answer), Incoming::Handled));
        assert_eq!(stage.sent(), [initialize(1, "2025-06-18")]);
    }

    // None at all.
    for answer in [
        error(
            0,
            -32022,
            r#"{"supported":["2030-01-01","2031-\u0030\u0031-01"]}"#,
        ),
        discovered(r#"["2030-01-01","2031-01-01"]"#, "{}"),
    ] {
        let mut stage = auto();
        let error = failure(stage.hear(&answer));
        assert_eq!(
            format!("{error}"),
            "no protocol version in common: the client speaks 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, \
             2024-11-05; the server speaks 2030-01-01, 2031-01-01"
        );
    }
}

#[test]
fn a_pinned_modern_client_does_not_fall_back() {
    let pinned = || {
        let mut config = config();
        config.mode = EraMode::Modern(ProtocolVersion::V2026_07_28);
        let mut stage = Stage::new(config);
        assert!(stage.sent()[0].contains("server/discover"));
        stage
    };
    let mut stage = pinned();
    assert!(matches!(
        stage.hear(&discovered(r#"["2026-07-28"]"#, ALL)),
        Incoming::Connected
    ));
    for answer in [
        error(0, -32601, "null"),
        result(0),
        discovered(r#"["2025-11-25"]"#, "{}"),
    ] {
        let mut stage = pinned();
        failure(stage.hear(&answer));
        assert!(stage.sent().is_empty(), "{answer}");
    }
    let mut stage = pinned();
    assert_eq!(
        stage.wait(SECOND * 59),
        [],
        "the time for connecting is its own"
    );
    let timed_out = ConnectError::TimedOut {
        method: "server/discover",
    };
    assert_eq!(stage.wait(SECOND * 2), [Event::ConnectFailed(timed_out)]);
}

#[test]
fn a_pinned_modern_client_need_not_ask() {
    let mut config = config();
    config.mode = EraMode::Modern(ProtocolVersion::V2026_07_28);
    config.discover = false;
    let mut stage = Stage::new(config);
    assert!(stage.sent().is_empty());
    assert_eq!(stage.events(), [Event::Connected]);
    stage.call("prompts/list").expect("it may be offered");
    assert!(stage.sent()[0].contains(r#""_meta":{"io.modelcontextprotocol/protocolVersion""#));
    assert!(
        stage
            .client
            .server()
            .expect("connected")
            .capabilities
            .is_none()
    );
}

#[test]
fn a_known_legacy_server_is_initialized_first_and_asked_when_that_fails() {
    let known = || {
        let mut config = config();
        config.known_version = Some(ProtocolVersion::V2025_03_26);
        let mut stage = Stage::new(config);
        assert_eq!(stage.sent(), [initialize(0, "2025-11-25")]);
        stage
    };
    assert!(matches!(
        known().hear(&initialized(0, "2025-03-26", "{}")),
        Incoming::Connected
    ));
    // It is modern by now.
    let modern = discovered(r#"["2026-07-28"]"#, ALL).replace("\"id\":0", "\"id\":1");
    for answer in [
        error(0, -32601, "null"),
        error(0, -32022, "null"),
        error(0, -32602, r#"{"supported":["2026-07-28"]}"#),
        r#"{"jsonrpc":"2.0","id":0,"result":{}}"#.into(),
    ] {
        let mut stage = known();
        assert!(matches!(stage.hear(&answer), Incoming::Handled), "{answer}");
        assert!(stage.sent()[0].contains("server/discover"), "{answer}");
        assert!(
            matches!(stage.hear(&modern), Incoming::Connected),
            "{answer}"
        );
    }
    // It is neither: what counts is how it failed at what it was.
    let mut stage = known();
    assert!(matches!(
        stage.hear(&error(0, -7, "null")),
        Incoming::Handled
    ));
    let error = failure(stage.hear(&error(1, -32601, "null")));
    assert_eq!(
        format!("{error}"),
        "the server refused `initialize`: no (-7)"
    );
}

#[test]
fn a_known_modern_server_gets_more_time_and_is_still_doubted() {
    let mut config = config();
    config.known_version = Some(ProtocolVersion::V2026_07_28);
    let mut stage = Stage::new(config.clone());
    assert_eq!(stage.wait(SECOND * 30), []);
    stage.sent();
    assert!(matches!(
        stage.hear(&discovered(r#"["2026-07-28"]"#, ALL)),
        Incoming::Connected
    ));
    let mut stage = Stage::new(config);
    stage.sent();
    assert!(matches!(
        stage.hear(&error(0, -32601, "null")),
        Incoming::Handled
    ));
    complete(&mut stage, 1, "2025-11-25");
}

#[test]
fn a_slow_modern_server_is_asked_again() {
    // Too slow for the probe, and it has no `initialize`: the error names what it speaks (VER-06), or is a modern one.
    for answer in [
        error(1, -32601, r#"{"supported":["2026-07-28"]}"#),
        error(1, -32022, "null"),
    ] {
        let mut stage = auto();
        stage.wait(SECOND * 11);
        assert_eq!(stage.sent(), [initialize(1, "2025-11-25")]);
        assert!(matches!(stage.hear(&answer), Incoming::Handled));
        let sent = stage.sent();
        assert!(sent[0].contains("server/discover"), "{sent:?}");
        let modern = discovered(r#"["2026-07-28"]"#, ALL).replace("\"id\":0", "\"id\":2");
        assert!(matches!(stage.hear(&modern), Incoming::Connected));
    }
}

#[test]
fn initialize_settles_on_a_version_or_fails() {
    let legacy = || {
        let mut config = config();
        config.mode = EraMode::Legacy(ProtocolVersion::V2025_06_18);
        let mut stage = Stage::new(config);
        assert_eq!(stage.sent(), [initialize(0, "2025-06-18")]);
        stage
    };
    for version in ["2025-11-25", "2024-11-05"] {
        let mut stage = legacy();
        assert!(matches!(
            stage.hear(&initialized(0, version, ALL)),
            Incoming::Connected
        ));
        assert_eq!(stage.client.version(), ProtocolVersion::parse(version));
    }
    // INIT-08, INIT-10.
    for version in ["2026-07-28", "2030-01-01", "1.0"] {
        let mut stage = legacy();
        let error = failure(stage.hear(&initialized(0, version, ALL)));
        assert_eq!(
            error,
            ConnectError::NoCommonVersion {
                ours: ProtocolVersion::ALL[1..].to_vec(),
                theirs: [version.to_owned()].to_vec(),
            }
        );
        assert!(stage.sent().is_empty(), "no confirmation");
    }
    // INIT-09: once more with one of theirs, and no more.
    let unsupported =
        r#"{"supported":["2024-11-05","2025-03-26","2025-06-18"],"requested":"2025-06-18"}"#;
    let mut stage = legacy();
    assert!(matches!(
        stage.hear(&error(0, -32602, unsupported)),
        Incoming::Handled
    ));
    assert_eq!(stage.sent(), [initialize(1, "2025-03-26")]);
    failure(stage.hear(&error(1, -32602, unsupported)));
    assert!(stage.sent().is_empty());
    // Anything else is an end.
    for answer in [error(0, -32603, "null"), result(0)] {
        failure(legacy().hear(&answer));
    }
    let malformed = r#"{"jsonrpc":"2.0","id":0,"result":{},"error":{"code":1,"message":""}}"#;
    assert_eq!(
        failure(legacy().hear(malformed)),
        ConnectError::Malformed {
            method: "initialize"
        }
    );
}

/// CAN-07.
#[test]
fn or_06_initialize_runs_out_of_time_and_is_not_cancelled() {
    let mut stage = auto();
    let _ = stage.hear(&error(0, -32601, "null"));
    stage.sent();
    // OR-06: progress does not keep it alive.
    for _ in 0..50 {
        assert_eq!(stage.wait(SECOND), []);
        let _ = stage.hear(r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#);
    }
    let timed_out = ConnectError::TimedOut {
        method: "initialize",
    };
    assert_eq!(stage.wait(SECOND * 11), [Event::ConnectFailed(timed_out)]);
    assert!(stage.sent().is_empty());
    assert_eq!(
        (stage.client.pending(), stage.client.poll_timeout()),
        (0, None)
    );
}

#[test]
fn a_server_that_dies_is_told_from_one_that_answers() {
    let mut stage = auto();
    stage.client.lost();
    let closed = |method| [Event::ConnectFailed(ConnectError::Closed { method })];
    assert_eq!(stage.events(), closed("server/discover"));
    let mut stage = auto();
    let _ = stage.hear(&error(0, -32601, "null"));
    stage.client.lost();
    assert_eq!(stage.events(), closed("initialize"));
    assert_eq!(
        (stage.client.pending(), stage.client.poll_timeout()),
        (0, None)
    );
}

#[test]
fn without_room_nothing_changes() {
    let mut stage = auto();
    let mut none = heapless::Vec::<u8, 20>::new();
    let refusal = error(0, -32601, "null");
    let incoming = stage
        .client
        .receive(stage.now, refusal.as_bytes(), &mut none);
    assert!(matches!(incoming, Incoming::Blocked));
    let _ = stage.hear(&refusal);
    assert_eq!(stage.sent(), [initialize(1, "2025-11-25")]);
    let answer = initialized(1, "2025-11-25", "{}");
    let incoming = stage
        .client
        .receive(stage.now, answer.as_bytes(), &mut none);
    assert!(matches!(incoming, Incoming::Blocked));
    assert!(none.is_empty() && stage.client.server().is_none());
    assert!(matches!(stage.hear(&answer), Incoming::Connected));
}

#[test]
fn the_ladder_ends_whatever_is_answered() {
    let supported = [
        "null",
        r#"{"supported":["2026-07-28"]}"#,
        r#"{"supported":["2025-03-26"]}"#,
        r#"{"supported":["2025-03-26","2024-11-05","2026-07-28"]}"#,
    ];
    let answers = [-32022, -32602, -32601]
        .into_iter()
        .flat_map(|code| supported.map(|data| move |id| error(id, code, data)));
    let answers: Vec<_> = answers.collect();
    for known in [None, Some(ProtocolVersion::V2025_03_26)] {
        // Every sequence of four answers.
        for choice in 0..answers.len().pow(4) {
            let mut config = config();
            config.known_version = known;
            let mut stage = Stage::new(config);
            let mut rest = choice;
            let ended = (0..5).any(|_| {
                let sent = stage.sent();
                let answer = answers[rest % answers.len()](id_of(&sent[0]));
                rest /= answers.len();
                matches!(stage.hear(&answer), Incoming::ConnectFailed(_))
            });
            assert!(ended, "{choice}");
        }
    }
}
