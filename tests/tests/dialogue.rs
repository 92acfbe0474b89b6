//! Every dialogue of `vectors/dialogues`, with outputs of any size.

use mcp_tests::{Dialogue, Role, client_dialogues, dialogues};

#[test]
fn dialogues_with_a_server_go_as_written() {
    go(&dialogues());
}

#[test]
fn dialogues_with_a_client_go_as_written() {
    go(&client_dialogues());
}

fn go(dialogues: &[Dialogue]) {
    assert!(dialogues.len() > 30, "the vectors are there");
    let failures: Vec<String> = dialogues
        .iter()
        .filter_map(|dialogue| dialogue.play().err())
        .collect();
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

const DIALOGUE: &str = r#"
@ let META = "_meta":{"progressToken":7,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}
> {"jsonrpc":"2.0","id":0,"method":"ping"}
< {"jsonrpc":"2.0","id":0,"result":{}}
> {"jsonrpc":"2.0","id":"1","method":"tools/call","params":{"name":"echo",$META}}
= call echo 2026-07-28 -
! progress "1" {"progress":0.5}
< {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":7,"progress":0.5}}
> {"jsonrpc":"2.0","id":2,"method":"nope"}
< {"jsonrpc":"2.0","id":2,"error":{"code":-32601,"message":"*"}}
> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}
= cancelled "1"
! reply "1" {"content":[]}
= stale
"#;

/// Who judges the judge: one word changed, and it is another dialogue.
#[test]
fn a_dialogue_can_fail() {
    let play = |role: Role, text: &str| {
        let dialogues = Dialogue::read(role, "test", text).expect("it can be read");
        dialogues.iter().try_for_each(Dialogue::play)
    };
    assert_eq!(play(Role::Server, DIALOGUE), Ok(()));
    for (right, wrong) in [
        (
            r#"< {"jsonrpc":"2.0","id":0,"#,
            r#"< {"jsonrpc":"2.0","id":0.0,"#,
        ),
        (r#""result":{}"#, r#""result":{"x":1}"#),
        ("\n< {\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{}}", ""),
        ("call echo 2026-07-28 -", "call echo 2026-07-28 {}"),
        ("call echo 2026-07-28 -", "call echo 2025-11-25 -"),
        ("call echo", "call add"),
        ("\n= call echo 2026-07-28 -", ""),
        (
            r#"{"progressToken":7,"progress":0.5}"#,
            r#"{"progressToken":7.0,"progress":0.5}"#,
        ),
        (
            r#"{"progressToken":7,"progress":0.5}"#,
            r#"{"progressToken":7,"progress":1}"#,
        ),
        (
            r#"! progress "1" {"progress":0.5}"#,
            r#"! progress "1" {"progress":0}"#,
        ),
        ("-32601", "-32602"),
        (r#""message":"*""#, r#""message":"Method not found""#),
        (r#"= cancelled "1""#, "= cancelled 1"),
        (r#"= cancelled "1""#, "= handled"),
        ("\n= stale", ""),
    ] {
        let text = DIALOGUE.replace(right, wrong);
        assert_ne!(text, DIALOGUE, "{right}");
        assert!(
            play(Role::Server, &text).is_err(),
            "{wrong} instead of {right}"
        );
    }
    let other = DIALOGUE.replace(
        r#"{"jsonrpc":"2.0","id":0,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":0,"result":"*"}"#,
    );
    assert_eq!(play(Role::Server, &other), Ok(()), "any result");
    let other = other.replace(
        r#"-32601,"message":"*"}"#,
        r#"-32601,"message":"*"},"result":"*""#,
    );
    assert!(play(Role::Server, &other).is_err(), "an error is no result");
    for unreadable in ["< {}", "! reply", "! dance 1 {}", "? x", "> {}\n= a\n= b"] {
        assert!(
            Dialogue::read(Role::Server, "test", unreadable).is_err(),
            "{unreadable}"
        );
    }
}

const CLIENT: &str = r#"
@ each VERSION = 2025-06-18 2025-11-25
@ version $VERSION
@ let MORE =
@ let MORE 2025-11-25 = "more":1
! connect
> {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"$VERSION","capabilities":{},"clientInfo":{"name":"client","version":"2.0"}}}
< {"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"$VERSION","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}
> {"jsonrpc":"2.0","method":"notifications/initialized","params":{}}
= connected $VERSION
! call tools/list {$MORE} {"timeout":100}
> {"jsonrpc":"2.0","id":1,"method":"tools/list","params":{$MORE}}
! call resources/list
= not offered resources
< {"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"e"}}
@ in 2025-06-18
= dropped
@ in 2025-11-25
= elicitation complete e
@ in
! time 50
< {"jsonrpc":"2.0","id":7,"method":"ping"}
> {"jsonrpc":"2.0","id":7,"result":{}}
! time 60
> {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"timeout"}}
= timed out 1
< {"jsonrpc":"2.0","id":1,"result":{}}
= late
"#;

#[test]
fn a_dialogue_with_a_client_can_fail() {
    let play = |text: &str| {
        let dialogues = Dialogue::read(Role::Client, "test", text).expect("it can be read");
        assert_eq!(dialogues.len(), 2);
        dialogues.iter().try_for_each(Dialogue::play)
    };
    assert_eq!(play(CLIENT), Ok(()));
    for (right, wrong) in [
        ("@ version $VERSION\n", ""),
        ("@ version $VERSION", "@ version 2025-11-25"),
        ("@ let MORE =\n", ""),
        (r#""params":{$MORE}"#, r#""params":{"more":1}"#),
        ("= connected $VERSION", "= connected 2025-11-25"),
        ("not offered resources", "not in 2025-11-25"),
        ("= elicitation complete e", "= elicitation complete f"),
        ("! time 50", "! time 150"),
        ("! time 60", "! time 40"),
        ("= timed out 1", "= timed out 1 in all"),
        ("= timed out 1", "= timed out 0"),
        ("= late", "= answer 1 {}"),
        ("= late", "= handled"),
    ] {
        let text = CLIENT.replace(right, wrong);
        assert_ne!(text, CLIENT, "{right}");
        assert!(play(&text).is_err(), "{wrong} instead of {right}");
    }
}
