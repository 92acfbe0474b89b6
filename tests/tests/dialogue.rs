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
        assert!(play(Role::Server, &text).is_err(), "{wrong} instead of {right}");
    }
    for unreadable in ["< {}", "! reply", "! dance 1 {}", "? x", "> {}\n= a\n= b"] {
        assert!(Dialogue::read(Role::Server, "test", unreadable).is_err(), "{unreadable}");
    }
}
