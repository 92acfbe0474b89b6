//! The program of the crate's manual does what it shows.

use std::io::Write;
use std::process::{Command, Stdio};

#[test]
fn the_run_loop_answers() {
    let test = std::env::current_exe().expect("the path of this test");
    let target = test.ancestors().nth(2).expect("target/…/deps");
    let program = target.join("examples/stdio");
    let child = Command::new(&program)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.unwrap_or_else(|error| {
        let program = program.display();
        panic!("{program}: {error}; `cargo build -p mcp-core --example stdio` builds it");
    });
    // A batch, and a last line without its end.
    let input = concat!(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","#,
        r#""capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
        "\n",
        r#"[{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"now"}},"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"ping"}]"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"now"}}"#,
    );
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(input.as_bytes()).expect("it reads");
    drop(stdin);
    let ended = child.wait_with_output().expect("it ends");
    assert!(ended.status.success());
    let output = String::from_utf8(ended.stdout).expect("UTF-8");
    let lines: Vec<&str> = output.lines().collect();
    let result = r#""result":{"content":[{"type":"text","text":"half past nine"}]}"#;
    assert_eq!(lines.len(), 3, "{output}");
    assert!(
        lines[0].starts_with(r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26""#)
    );
    assert_eq!(
        lines[1],
        format!(
            r#"[{{"jsonrpc":"2.0","id":2,{result}}},{{"jsonrpc":"2.0","id":3,"result":{{}}}}]"#
        )
    );
    assert_eq!(lines[2], format!(r#"{{"jsonrpc":"2.0","id":4,{result}}}"#));
}
