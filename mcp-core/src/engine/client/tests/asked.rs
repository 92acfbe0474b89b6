//! Requests of the server's (RPC-15 to RPC-17, PING-01, SMP-04, ELI-14, ROOT-05).

use super::*;
use crate::error::{ErrorCode, PeerFault, SendError};
use crate::model::Progress;
use crate::rpc::ErrorObject;

fn able(capabilities: ClientCapabilities, version: &str) -> Stage {
    let mut config = config();
    config.capabilities = capabilities;
    Stage::legacy_with(config, version)
}

fn ask(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":"q","method":"{method}","params":{params}}}"#)
}

#[track_caller]
fn asked(incoming: Incoming<'_>) -> ServerRequest<'_> {
    match incoming {
        Incoming::Request(request) => request,
        other => panic!("{other:?}"),
    }
}

#[test]
fn or_10_a_ping_is_answered_at_any_time() {
    let ping = r#"{"jsonrpc":"2.0","id":"p1","method":"ping"}"#;
    let pong = [r#"{"jsonrpc":"2.0","id":"p1","result":{}}"#];
    let mut stage = Stage::legacy("2024-11-05");
    stage.call("tools/list").expect("sent");
    stage.sent();
    assert!(matches!(stage.hear(ping), Incoming::Handled));
    assert_eq!(stage.sent(), pong);
    // Also before the handshake.
    let mut stage = Stage::new(config());
    stage.sent();
    assert!(matches!(stage.hear(ping), Incoming::Handled));
    assert_eq!(stage.sent(), pong);
}

#[test]
fn a_modern_server_asks_nothing_and_gets_no_answer() {
    let mut all = config();
    all.capabilities = ClientCapabilities::ROOTS;
    let mut stage = Stage::modern_with(all);
    for method in ["ping", "roots/list", "x"] {
        let message = ask(method, "{}");
        let incoming = stage.hear(&message);
        assert!(
            matches!(incoming, Incoming::Rejected(PeerFault::UnexpectedRequest)),
            "{incoming:?}"
        );
    }
    assert!(stage.sent().is_empty());
    assert_eq!(stage.client.counters().rejected, 3);
}

#[test]
fn only_what_was_declared_is_handed_over() {
    use ClientCapabilities as C;
    let (no_method, params) = (-32601, -32602);
    let cases = [
        (
            "roots/list",
            "{}",
            "2024-11-05",
            C::ROOTS,
            Ok(ServerRequestKind::ListRoots),
        ),
        ("roots/list", "{}", "2025-11-25", C::NONE, Err(no_method)),
        (
            "sampling/createMessage",
            "{}",
            "2024-11-05",
            C::SAMPLING,
            Ok(ServerRequestKind::CreateMessage),
        ),
        (
            "sampling/createMessage",
            "{}",
            "2025-11-25",
            C::ROOTS,
            Err(no_method),
        ),
        (
            "sampling/createMessage",
            r#"{"tools":[]}"#,
            "2025-11-25",
            C::SAMPLING,
            Err(params),
        ),
        (
            "sampling/createMessage",
            r#"{"toolChoice":{}}"#,
            "2025-11-25",
            C::SAMPLING,
            Err(params),
        ),
        (
            "sampling/createMessage",
            r#"{"tools":null}"#,
            "2025-11-25",
            C::SAMPLING,
            Ok(ServerRequestKind::CreateMessage),
        ),
        (
            "sampling/createMessage",
            r#"{"tools":[]}"#,
            "2025-11-25",
            C::SAMPLING_TOOLS,
            Ok(ServerRequestKind::CreateMessage),
        ),
        (
            "elicitation/create",
            "{}",
            "2025-06-18",
            C::ELICITATION,
            Ok(ServerRequestKind::Elicit),
        ),
        (
            "elicitation/create",
            r#"{"mode":"form"}"#,
            "2025-11-25",
            C::ELICITATION,
            Ok(ServerRequestKind::Elicit),
        ),
        (
            "elicitation/create",
            "{}",
            "2025-03-26",
            C::ELICITATION,
            Err(no_method),
        ),
        (
            "elicitation/create",
            "{}",
            "2025-11-25",
            C::SAMPLING,
            Err(no_method),
        ),
        (
            "elicitation/create",
            "{}",
            "2025-11-25",
            C::ELICITATION_URL,
            Err(params),
        ),
        (
            "elicitation/create",
            r#"{"mode":"url"}"#,
            "2025-11-25",
            C::ELICITATION,
            Err(params),
        ),
        (
            "elicitation/create",
            r#"{"mode":"url"}"#,
            "2025-11-25",
            C::ELICITATION_URL,
            Ok(ServerRequestKind::Elicit),
        ),
        (
            "elicitation/create",
            r#"{"mode":"smell"}"#,
            "2025-11-25",
            C::ELICITATION,
            Err(params),
        ),
        (
            "elicitation/create",
            r#"{"mode":7}"#,
            "2025-11-25",
            C::ELICITATION,
            Err(params),
        ),
        ("tasks/list", "{}", "2025-11-25", C::ROOTS, Err(no_method)),
        ("tools/list", "{}", "2025-11-25", C::ROOTS, Err(no_method)),
    ];
    for (method, params, version, capabilities, expected) in cases {
        let mut stage = able(capabilities, version);
        let message = ask(method, params);
        let found = match stage.hear(&message) {
            Incoming::Request(request) => {
                assert_eq!(request.params.map(RawJson::as_str), Some(params));
                assert_eq!(Some(request.version), ProtocolVersion::parse(version));
                Ok(request.kind)
            }
            Incoming::Rejected(_) => {
                let sent = stage.sent();
                let answer = RawJson::parse(sent[0].as_bytes()).expect("JSON");
                let error = super::super::detect::member(answer, "error").expect("an error");
                let code = super::super::detect::member(error, "code").expect("a code");
                assert!(sent[0].starts_with(r#"{"jsonrpc":"2.0","id":"q","error""#));
                Err(code
                    .as_number()
                    .and_then(|code| code.as_i64())
                    .expect("a number"))
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(found, expected, "{method} {params} {version}");
    }
    // Before the handshake nothing is declared.
    let mut stage = Stage::new(config());
    stage.sent();
    assert!(matches!(
        stage.hear(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list"}"#),
        Incoming::Rejected(PeerFault::NotInitialized)
    ));
    assert!(stage.sent()[0].contains("-32600"));
}

#[test]
fn a_request_is_answered_once_under_the_id_it_came_with() {
    let mut stage = able(ClientCapabilities::ROOTS, "2025-11-25");
    let message = ask("roots/list", r#"{"_meta":{"progressToken":5}}"#).replace("\"q\"", "1.0");
    let request = asked(stage.hear(&message));
    assert!(request.wants_progress);
    assert!(matches!(
        stage.hear(&message),
        Incoming::Rejected(PeerFault::IdInUse)
    ));
    assert!(stage.sent()[0].contains("-32600"));
    let roots = RawJson::parse(br#"{"roots":[]}"#).expect("JSON");
    let mut none = heapless::Vec::<u8, 20>::new();
    let Err(SendError::Full(token)) = stage.client.reply(request.token, &roots, &mut none) else {
        panic!("no room");
    };
    assert!(none.is_empty());
    let out = &mut Lines::new(&mut stage.out);
    assert_eq!(stage.client.reply(token, &roots, out), Ok(()));
    assert_eq!(
        stage.sent(),
        [r#"{"jsonrpc":"2.0","id":1.0,"result":{"roots":[]}}"#]
    );

    let request = asked(stage.hear(&message));
    let data = RawJson::parse(b"[1]").expect("JSON");
    let error = ErrorObject::new(ErrorCode::new(-1), "no").with_data(data);
    let out = &mut Lines::new(&mut stage.out);
    assert_eq!(stage.client.fail(request.token, &error, out), Ok(()));
    assert_eq!(
        stage.sent(),
        [r#"{"jsonrpc":"2.0","id":1.0,"error":{"code":-1,"message":"no","data":[1]}}"#]
    );
}

#[test]
fn a_request_that_is_taken_back_is_not_answered() {
    let mut stage = able(ClientCapabilities::ROOTS, "2025-11-25");
    let message = ask("roots/list", "{}");
    let request = asked(stage.hear(&message));
    let cancel =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"q"}}"#;
    match stage.hear(cancel) {
        Incoming::Cancelled(key) => assert_eq!(key, request.token.key()),
        other => panic!("{other:?}"),
    }
    let roots = RawJson::parse(br#"{"roots":[]}"#).expect("JSON");
    let out = &mut Lines::new(&mut stage.out);
    assert_eq!(
        stage.client.reply(request.token, &roots, out),
        Err(SendError::Stale)
    );
    assert!(stage.sent().is_empty());
    // Or given up by us, or lost.
    let request = asked(stage.hear(&message));
    assert_eq!(stage.client.abandon(request.token.key()), Ok(()));
    let request = asked(stage.hear(&message));
    stage.client.lost();
    let out = &mut Lines::new(&mut stage.out);
    assert_eq!(
        stage.client.reply(request.token, &roots, out),
        Err(SendError::Stale)
    );
}

#[test]
fn a_server_that_wants_to_know_is_told_how_far_its_answer_is() {
    let mut stage = able(ClientCapabilities::ROOTS, "2024-11-05");
    let message = ask("roots/list", r#"{"_meta":{"progressToken":"t"}}"#);
    let request = asked(stage.hear(&message));
    let key = request.token.key();
    for amount in [1.0, 1.0, 0.5, f64::NAN, 2.5] {
        let progress = Progress::new(amount).saying("not for 2024-11-05");
        let out = &mut Lines::new(&mut stage.out);
        assert_eq!(stage.client.progress(key, &progress, out), Ok(()));
    }
    let told = |amount| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":"t","progress":{amount}}}}}"#
        )
    };
    assert_eq!(stage.sent(), [told("1"), told("2.5")]);
    assert_eq!(stage.client.abandon(key), Ok(()));
    let silent = ask("roots/list", "{}");
    let key = asked(stage.hear(&silent)).token.key();
    let out = &mut Lines::new(&mut stage.out);
    let progress = Progress::new(1.0);
    assert_eq!(stage.client.progress(key, &progress, out), Ok(()));
    assert!(stage.sent().is_empty(), "it did not ask");
}

#[test]
fn there_are_only_so_many_requests() {
    let mut limits = Limits::DEFAULT;
    limits.max_in_flight = 1;
    let mut config = config();
    config.capabilities = ClientCapabilities::ROOTS;
    config.mode = EraMode::Legacy(ProtocolVersion::LATEST_LEGACY);
    let mut stage = Stage::limited(config, limits);
    let answer = initialized(0, "2025-11-25", "{}");
    assert!(matches!(stage.hear(&answer), Incoming::Connected));
    let message = ask("roots/list", "{}");
    let _kept = asked(stage.hear(&message)).token;
    stage.sent();
    let more = message.replace("\"q\"", "2");
    assert!(matches!(
        stage.hear(&more),
        Incoming::Rejected(PeerFault::Busy { .. })
    ));
    assert!(stage.sent()[0].contains("-32603"));
}

#[test]
fn a_malformed_request_is_answered_where_answers_are_sent() {
    let message = r#"{"jsonrpc":"2.0","id":"q","method":"ping","params":[]}"#;
    let mut stage = Stage::legacy("2025-11-25");
    assert!(matches!(stage.hear(message), Incoming::Rejected(_)));
    assert!(stage.sent()[0].starts_with(r#"{"jsonrpc":"2.0","id":"q","error":{"code":-32600"#));
    let mut stage = Stage::modern();
    assert!(matches!(stage.hear(message), Incoming::Rejected(_)));
    assert!(stage.sent().is_empty());
}
