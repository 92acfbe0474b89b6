//! Extensions: whose a message is, what is declared, and what is told of topics.

use super::*;
use crate::frame::Lines;
use crate::json::Json;

const EXTENSION: &str = "com.example/x";

fn catalog() -> Arc<Catalog> {
    let server = Implementation::new("test", "1");
    let settings = Json::owned(r#"{"a":1}"#.to_string()).expect("JSON");
    let extensions = [
        Extension::new("com.example/free").method(ExtensionMethod::request("free/do")),
        Extension::new(EXTENSION)
            .settings(settings)
            .required()
            .since(ProtocolVersion::V2026_07_28)
            .method(ExtensionMethod::notification("notifications/x/told"))
            .method(ExtensionMethod::request("x/get").mirrors("xId"))
            .method(ExtensionMethod::request("tools/list"))
            .topics("xIds", "notifications/x"),
        Extension::capability("tasks", ProtocolVersion::V2025_11_25)
            .method(ExtensionMethod::request("tasks/get")),
    ];
    let catalog = Catalog::builder(&server).with_extensions(&extensions);
    Arc::new(catalog.tools_list_changed(true).build().expect("valid"))
}

fn engine() -> ServerEngine {
    ServerEngine::new(catalog(), Limits::DEFAULT, SEED)
}

/// For as long as the tests run: what comes of a message borrows it.
fn modern(method: &str, params: &str, capabilities: &str) -> &'static str {
    let meta = MODERN.replace(
        r#"clientCapabilities":{}"#,
        &format!(r#"clientCapabilities":{capabilities}"#),
    );
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}{meta}}}}}"#).leak()
}

const ABLE: &str = r#"{"extensions":{"com.example/x":{"b":2}}}"#;

fn text(out: Vec<u8>) -> String {
    String::from_utf8(out).expect("UTF-8")
}

fn initialize(engine: &mut ServerEngine, version: &str, capabilities: &str) -> String {
    let text_ = INITIALIZE.replace("2025-06-18", version).replace(
        r#""capabilities":{}"#,
        &format!(r#""capabilities":{capabilities}"#),
    );
    let mut out = Vec::new();
    assert!(matches!(
        engine.receive(text_.as_bytes(), &mut out),
        Incoming::Handled
    ));
    text(out)
}

#[test]
fn each_revision_declares_what_it_has() {
    let declared = |version: &str| initialize(&mut engine(), version, "{}");
    let (old, last) = (declared("2025-06-18"), declared("2025-11-25"));
    assert!(
        old.contains(r#""extensions":{"com.example/free":{}}"#),
        "{old}"
    );
    assert!(
        !old.contains("tasks") && last.contains(r#""tasks":{}"#),
        "{old} {last}"
    );
    let mut out = Vec::new();
    let _ = engine().receive(modern("server/discover", "", "{}").as_bytes(), &mut out);
    let modern = text(out);
    let expected = r#""extensions":{"com.example/free":{},"com.example/x":{"a":1}}"#;
    assert!(
        modern.contains(expected) && !modern.contains("tasks"),
        "{modern}"
    );
}

#[test]
fn a_request_comes_to_who_claims_it() {
    let mut engine = engine();
    let mut out = Vec::new();
    let request = modern("x/get", r#""xId":"7","#, ABLE);
    let Incoming::Call(call) = engine.receive(request.as_bytes(), &mut out) else {
        panic!("{}", text(out));
    };
    assert!(matches!(
        call.request,
        CallRequest::Extension {
            extension: 1,
            method: 1
        }
    ));
    assert!(call.extensions.contains(1) && !call.extensions.contains(0));
    assert!(!call.extensions.contains(2) && !call.extensions.contains(99));
    assert_eq!(
        call.params.and_then(|it| it.member("xId")),
        Some(raw("\"7\""))
    );
    let members = raw(r#"{"resultType":"mine","_meta":{"k":1},"y":[]}"#);
    let result = ExtensionResult::of_type("x", members);
    engine
        .reply_extension(call.token, &result, &mut out)
        .expect("a Vec has room");
    let answer = text(out);
    assert!(answer.contains(r#""resultType":"x","_meta":{"#), "{answer}");
    assert!(
        answer.contains(r#","k":1}"#) && answer.ends_with(r#""y":[]}}"#),
        "{answer}"
    );
    assert!(!answer.contains("mine"), "{answer}");
    assert_eq!(engine.in_flight(), 0);
}

#[test]
fn who_did_not_declare_it_is_told_to() {
    let mut engine = engine();
    for capabilities in [
        "{}",
        r#"{"extensions":{"com.example/x":1}}"#,
        r#"{"extensions":{"com.example/free":{}}}"#,
    ] {
        let mut out = Vec::new();
        let incoming = engine.receive(modern("x/get", "", capabilities).as_bytes(), &mut out);
        assert!(matches!(incoming, Incoming::Rejected(_)));
        let answer = text(out);
        let expected = r#""data":{"requiredCapabilities":{"extensions":{"com.example/x":{}}}}"#;
        assert!(
            answer.contains("-32021") && answer.contains(expected),
            "{answer}"
        );
    }
    // Not required.
    let incoming = engine.receive(modern("free/do", "", "{}").as_bytes(), &mut Vec::new());
    assert!(matches!(incoming, Incoming::Call(_)));
}

/// ERR-10: in other revisions it is as unknown as what does not exist, and what the protocol has stays with the engine.
#[test]
fn what_is_not_claimed() {
    let unknown = |engine: &mut ServerEngine, request: &str| {
        let mut out = Vec::new();
        let incoming = engine.receive(request.as_bytes(), &mut out);
        assert!(
            matches!(incoming, Incoming::Rejected(PeerFault::MethodNotFound)),
            "{request}"
        );
        assert!(text(out).contains("-32601"));
    };
    let plain = |method: &str| -> &'static str {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#).leak()
    };
    let mut legacy = engine();
    // Before there is a session.
    let incoming = legacy.receive(plain("free/do").as_bytes(), &mut Vec::new());
    assert!(matches!(
        incoming,
        Incoming::Rejected(PeerFault::NotInitialized)
    ));
    let declared = r#"{"extensions":{"com.example/free":{"f":1},"com.example/other":{}}}"#;
    initialize(&mut legacy, "2025-06-18", declared);
    assert_eq!(
        legacy.session_extensions(),
        Some(raw(
            r#"{"com.example/free":{"f":1},"com.example/other":{}}"#
        ))
    );
    unknown(&mut legacy, plain("x/get"));
    unknown(&mut legacy, plain("tasks/get"));
    let Incoming::Call(call) = legacy.receive(plain("free/do").as_bytes(), &mut Vec::new()) else {
        panic!("it is claimed");
    };
    assert!(call.extensions.contains(0));
    let mut last = engine();
    initialize(&mut last, "2025-11-25", "{}");
    assert_eq!(last.session_extensions(), None);
    let incoming = last.receive(plain("tasks/get").as_bytes(), &mut Vec::new());
    assert!(matches!(incoming, Incoming::Call(_)));
    let mut modern_ = engine();
    unknown(&mut modern_, modern("tasks/get", "", ABLE));
    unknown(&mut modern_, modern("notifications/x/told", "", ABLE));
    let incoming = modern_.receive(modern("tools/list", "", ABLE).as_bytes(), &mut Vec::new());
    assert!(matches!(incoming, Incoming::Handled));
    let told = r#"{"jsonrpc":"2.0","method":"notifications/x/told","params":{"z":1}}"#;
    let Incoming::Notification(told) = modern_.receive(told.as_bytes(), &mut Vec::new()) else {
        panic!("it is claimed");
    };
    assert_eq!((told.extension, told.method), (1, 0));
    assert_eq!(told.params, Some(raw(r#"{"z":1}"#)));
}

#[test]
fn topics_are_told_as_they_are_last() {
    let mut engine = engine();
    let filter = r#""notifications":{"toolsListChanged":true,"xIds":["a","b","a","no"]},"#;
    let request = modern("subscriptions/listen", filter, ABLE);
    let Incoming::Listen(listening) = engine.receive(request.as_bytes(), &mut Vec::new()) else {
        panic!("somebody is to be asked");
    };
    let mut asked = Vec::new();
    let mut out = Vec::new();
    let incoming = engine.listen_to(
        listening,
        |extension, topic| {
            asked.push((extension, topic.to_string()));
            topic != "no"
        },
        &mut out,
    );
    assert!(matches!(incoming, Incoming::Handled));
    let asked: Vec<_> = asked
        .iter()
        .map(|(at, topic)| (*at, topic.as_str()))
        .collect();
    assert_eq!(asked, [(1, "a"), (1, "b"), (1, "no")], "each once");
    let acknowledged = text(out);
    let expected = r#""notifications":{"toolsListChanged":true,"xIds":["a","b"]}"#;
    assert!(acknowledged.contains(expected), "{acknowledged}");
    for (extension, topic, expected) in [(1, "a", true), (1, "no", false), (0, "a", false)] {
        assert_eq!(
            engine.has_listener(extension, topic),
            expected,
            "{extension} {topic}"
        );
    }
    for n in 0..100 {
        let params = format!(r#"{{"n":{n},"_meta":{{"m":1}}}}"#);
        engine.announce(Change::extension(1, "a", raw(&params)));
        engine.announce(Change::extension(1, "no", raw(&params)));
        engine.announce(Change::extension(0, "a", raw(&params)));
    }
    let mut out = Vec::new();
    while engine.next_notification(&mut Lines::new(&mut out)) == Ok(true) {}
    assert_eq!(
        text(out),
        concat!(
            r#"{"jsonrpc":"2.0","method":"notifications/x","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1,"m":1},"n":99}}"#,
            "\n"
        )
    );
    // What is malformed, and what is too much.
    for wanted in [r#""xIds":"a""#, r#""xIds":[1]"#] {
        let filter = format!(r#""notifications":{{{wanted}}},"#);
        let request = modern("subscriptions/listen", &filter, ABLE)
            .replace(r#""id":1"#, r#""id":2"#)
            .leak();
        let Incoming::Listen(listening) = engine.receive(request.as_bytes(), &mut Vec::new())
        else {
            panic!("{wanted}");
        };
        let mut out = Vec::new();
        let incoming = engine.listen_to(listening, |_, _| true, &mut out);
        assert!(
            matches!(incoming, Incoming::Rejected(PeerFault::Params { .. })),
            "{wanted}"
        );
    }
    assert_eq!(engine.subscriptions(), 1);
}

/// What is private to an extension is listed for those clients only that declare it with the word that it wants; in legacy
/// revisions for the session, in 2026-07-28 for the request (CAP-07).
#[test]
fn what_is_private_is_listed_for_its_clients() {
    let json = |text: &str| Json::owned(text.to_string()).expect("JSON");
    let server = Implementation::new("test", "1");
    let extension = Extension::new(EXTENSION)
        .declared_with("forms", "round")
        .private_meta("x")
        .private_tool("hidden")
        .private_resource("x://hidden");
    let tool = |name: &'static str, meta: &str| {
        let mut tool = Tool::new(name, json(r#"{"type":"object"}"#));
        tool.meta = Some(json(meta));
        tool
    };
    let tools = [
        tool("hidden", r#"{"x":1}"#),
        tool("plain", r#"{"x":1}"#),
        tool("mixed", r#"{"y":2,"x":1}"#),
    ];
    let resources = [
        crate::model::Resource::new("x://hidden", "a"),
        crate::model::Resource::new("x://shown", "b"),
    ];
    let catalog = Catalog::builder(&server)
        .tools(&tools)
        .resources(&resources)
        .page_size(core::num::NonZeroUsize::new(2).expect("it is not zero"))
        .with_extensions(core::slice::from_ref(&extension))
        .build();
    let catalog = Arc::new(catalog.expect("valid"));
    let able = r#"{"extensions":{"com.example/x":{"forms":["flat","round"]}}}"#;
    for (capabilities, knows) in [
        ("{}", false),
        (r#"{"extensions":{"com.example/x":{}}}"#, false),
        (
            r#"{"extensions":{"com.example/x":{"forms":["flat"]}}}"#,
            false,
        ),
        (
            r#"{"extensions":{"com.example/x":{"forms":"round"}}}"#,
            false,
        ),
        (able, true),
    ] {
        let list = |method: &str, cursor: &str| {
            let mut out = Vec::new();
            let mut engine = ServerEngine::new(catalog.clone(), Limits::DEFAULT, SEED);
            let _ = engine.receive(modern(method, cursor, capabilities).as_bytes(), &mut out);
            let of_request = text(out);
            let mut engine = ServerEngine::new(catalog.clone(), Limits::DEFAULT, SEED);
            initialize(&mut engine, "2025-11-25", capabilities);
            let mut out = Vec::new();
            let cursor = cursor.trim_end_matches(',');
            let request =
                format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{cursor}}}}}"#);
            let _ = engine.receive(request.as_bytes(), &mut out);
            let of_session = text(out);
            for (what, answer) in [("request", &of_request), ("session", &of_session)] {
                assert!(answer.contains(r#""result""#), "{what}: {answer}");
            }
            [of_request, of_session]
        };
        for answer in list("tools/list", "") {
            assert_eq!(answer.contains("hidden"), knows, "{capabilities}: {answer}");
            assert_eq!(answer.contains(r#""_meta":{"x":1}"#), knows, "{answer}");
            assert!(answer.contains("plain"), "{answer}");
            let (_, cursor) = answer
                .split_once(r#""nextCursor":""#)
                .expect("another page");
            let (cursor, _) = cursor.split_once('"').expect("it ends");
            for answer in list("tools/list", &format!(r#""cursor":"{cursor}","#)) {
                let meta = if knows {
                    r#""_meta":{"y":2,"x":1}"#
                } else {
                    r#""_meta":{"y":2}"#
                };
                assert!(
                    answer.contains(meta) && answer.contains("mixed"),
                    "{answer}"
                );
            }
        }
        for answer in list("resources/list", "") {
            assert_eq!(answer.contains("x://hidden"), knows, "{answer}");
            assert!(answer.contains("x://shown"), "{answer}");
        }
    }
}
