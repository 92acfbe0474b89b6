//! What goes over the wire, to the byte, and what junk does to it.

use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use crate::child::{INITIALIZE, INITIALIZED, PING, PONG, Serve, call, text};

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;

#[test]
fn fr_07_fr_12_a_legacy_session_to_the_byte() {
    let mut serve = Serve::start();
    serve.send(INITIALIZE);
    serve.send(INITIALIZED);
    serve.send(&call(
        "2",
        "echo",
        r#"{"text":"SELECT 1\r\nFROM\tt \u0000—é🦀"}"#,
    ));
    serve.send(&call("3", "add", r#"{"a":20,"b":22}"#));
    serve.send(&call("4", "fail", r#"{"message":null}"#));
    serve.send(&call("5", "nope", "{}"));
    let version = env!("CARGO_PKG_VERSION");
    let expected = [
        format!(
            r#"{{"jsonrpc":"2.0","id":"init","result":{{"protocolVersion":"2025-11-25","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"mcp-serve","title":"mcp serve","version":"{version}"}},"instructions":"Small tools to try a client with: echo, add, slow (reports progress), fail."}}}}"#
        ),
        r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"SELECT 1\r\nFROM\tt \u0000—é🦀"}]}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"{\"sum\":42}"}],"structuredContent":{"sum":42}}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"this tool always fails"}],"isError":true}}"#.to_owned(),
        r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"Unknown tool: nope"}}"#.to_owned(),
    ];
    let ended = serve.end();
    assert!(ended.status.success(), "{}", ended.status);
    assert_eq!(ended.lines, expected);
    assert_eq!(ended.stderr, "mcp serve: Unknown tool\n");
}

#[test]
fn a_modern_dialogue_to_the_byte() {
    let mut serve = Serve::start();
    serve.send(&format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"add","arguments":{{"a":2,"b":3}},{META}}}}}"#
    ));
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        serve.end().clean(),
        [format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"mcp-serve","title":"mcp serve","version":"{version}"}}}},"content":[{{"type":"text","text":"{{\"sum\":5}}"}}],"structuredContent":{{"sum":5}}}}}}"#
        )]
    );
}

/// FR-02, FR-03, FR-04, FR-08. What cannot be read is answered without an id, and nothing else comes of it.
#[test]
fn fr_02_fr_04_fr_08_junk_is_reported_and_skipped() {
    let mut serve = Serve::session();
    serve.write(b"this is not json\n");
    serve.write(b"\n   \n\r\n");
    serve.write(b"Example server 1.2 running on stdio\r\n");
    serve.write(
        b"{\"status\":200,\"message\":\"Success\",\"results\":[]}\n42\nnull\n\"hello\"\n[]\n",
    );
    serve.write(b"{\"jsonrpc\":\"1.0\",\"id\":5,\"result\":{}}\n");
    serve.write(b"\xFF\xFE\x00\x01\n\x80\n");
    serve.write(format!("Content-Length: {}\r\n\r\n{PING}\r\n", PING.len()).as_bytes());
    let mut junk = 0;
    loop {
        let line = serve.line();
        if line == PONG {
            break;
        }
        assert!(
            line.starts_with(r#"{"jsonrpc":"2.0","error":{"code":-32"#),
            "{line}"
        );
        junk += 1;
    }
    // All but the blank lines and the response.
    assert_eq!(junk, 10);
    let ended = serve.end();
    assert!(ended.status.success(), "{}", ended.status);
    assert_eq!(ended.lines, [""; 0]);
    assert_eq!(ended.stderr.lines().count(), 11, "{}", ended.stderr);
    assert!(
        ended.stderr.starts_with("mcp serve: Parse error: "),
        "{}",
        ended.stderr
    );
}

#[test]
fn fr_02_a_flood_of_junk_does_not_flood_standard_error() {
    let mut serve = Serve::session();
    for _ in 0..500 {
        serve.write(b"junk\n");
        serve.line();
    }
    serve.ping();
    let ended = serve.end();
    assert!(ended.status.success(), "{}", ended.status);
    assert!(ended.stderr.lines().count() < 30, "{}", ended.stderr);
}

/// Nobody reads standard error: writing there fails, and that is all.
#[test]
fn a_standard_error_that_nobody_reads_ends_nothing() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut serve = Serve::with_stderr(writer).initialized();
    for _ in 0..3 {
        serve.write(b"junk\n");
        assert!(serve.line().contains("-32700"));
    }
    serve.ping();
    assert_eq!(serve.end().clean(), [""; 0]);
}

#[test]
fn a_closed_standard_error_ends_nothing() {
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$0\" serve 2>&-", env!("CARGO_BIN_EXE_mcp")]);
    let mut serve = Serve::spawn(command).initialized();
    serve.write(b"junk\n");
    assert!(serve.line().contains("-32700"));
    assert_eq!(serve.end().clean(), [""; 0]);
}

/// FR-01.
#[test]
fn fr_01_one_byte_order_mark_at_the_start_of_a_line_is_dropped() {
    let mut serve = Serve::session();
    serve.write(b"\xEF\xBB\xBF");
    sleep(Duration::from_millis(20));
    serve.ping();
    serve.send(&format!("\u{FEFF}{PING}"));
    assert_eq!(serve.line(), PONG);
    serve.send(&call("1", "echo", "{\"text\":\"a\u{FEFF}b\"}"));
    assert_eq!(serve.line(), text("1", "a\u{FEFF}b"));
    assert_eq!(serve.end().clean(), [""; 0]);
}

#[test]
fn the_last_line_needs_no_end() {
    let mut serve = Serve::session();
    serve.write(PING.as_bytes());
    assert_eq!(serve.end().clean(), [PONG]);
}

/// FR-05.
#[test]
fn fr_05_byte_by_byte_and_in_any_two_parts() {
    let said = "x—é🦀\u{FEFF}";
    let mut serve = Serve::session();
    let line = format!(
        "{}\n",
        call("1", "echo", &format!("{{\"text\":\"{said}\"}}"))
    );
    for byte in line.as_bytes() {
        serve.write(&[*byte]);
        sleep(Duration::from_micros(500));
    }
    assert_eq!(serve.line(), text("1", said));
    for cut in 1..line.len() {
        serve.write(&line.as_bytes()[..cut]);
        sleep(Duration::from_millis(1));
        serve.write(&line.as_bytes()[cut..]);
        assert_eq!(serve.line(), text("1", said), "cut at {cut}");
    }
    assert_eq!(serve.end().clean(), [""; 0]);
}

/// FR-06.
#[test]
fn fr_06_three_and_a_half_messages_in_one_write() {
    let mut serve = Serve::session();
    let lines: String = (1..=4)
        .map(|id| call(&id.to_string(), "echo", &format!("{{\"text\":\"{id}\"}}")) + "\n")
        .collect();
    let cut = lines.len() - 40;
    serve.write(&lines.as_bytes()[..cut]);
    for id in ["1", "2", "3"] {
        assert_eq!(serve.line(), text(id, id));
    }
    sleep(Duration::from_millis(50));
    serve.write(&lines.as_bytes()[cut..]);
    assert_eq!(serve.line(), text("4", "4"));
    assert_eq!(serve.end().clean(), [""; 0]);
}

/// More messages than the driver takes in one turn, in one read, and nothing after them to wake it.
#[test]
fn many_short_messages_in_one_write() {
    let mut serve = Serve::session();
    let count = 1500;
    serve.write(format!("{PING}\n").repeat(count).as_bytes());
    for _ in 0..count {
        assert_eq!(serve.line(), PONG);
    }
    assert_eq!(serve.end().clean(), [""; 0]);
}
