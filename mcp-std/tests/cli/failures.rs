//! Wrong usage is exit status 2, and what the server or the connection does wrong is 3, with what to do about it.

use crate::program::{EVERYTHING, MCP, Ran, SMALL, run};

/// The exit status, and words on standard error. There is nothing on standard output.
fn fails(arguments: &[&str], server: &[&str], code: i32, words: &[&str]) {
    let ran = run(arguments, server);
    assert_eq!(ran.code, Some(code), "{arguments:?}: {}", ran.stderr);
    assert_eq!(ran.stdout, "", "{arguments:?}");
    for word in words {
        assert!(ran.stderr.contains(word), "no {word:?} in {}", ran.stderr);
    }
}

#[test]
fn wrong_usage() {
    for (arguments, word) in [
        (&["call", "echo", "text"][..], "NAME=VALUE"),
        (&["call", "echo", "a=1", "a=2"], "given twice"),
        (&["call", "echo", "--args", "{"], "not JSON"),
        (&["call", "echo", "--args", "[]"], "JSON object"),
        (&["prompt", "p", "--args", "{\"a\":1}"], "object of strings"),
        (&["complete", "a=b"], "<--prompt <NAME>|--resource <URI>>"),
        (
            &["complete", "a=b", "--prompt", "p", "--resource", "r:"],
            "cannot be used with",
        ),
        (&["complete", "--prompt", "p", "a"], "NAME=VALUE"),
        (&["ping", "--revision", "2025-01-01"], "2026-07-28"),
        (&["ping", "--era", "stone"], "legacy"),
        (
            &["ping", "--era", "legacy", "--revision", "2025-11-25"],
            "cannot be used with",
        ),
        (&["ping", "--log", "loud"], "warning"),
        (&["ping", "--timeout", "0"], "--timeout"),
        (&["ping", "--timeout", "1e400"], "a number of seconds"),
        (&["ping", "--max-time", "soon"], "a number of seconds"),
        (&["call"], "TOOL"),
    ] {
        fails(arguments, SMALL, 2, &[word]);
    }
    fails(&["ping"], &[], 2, &["COMMAND"]);
}

#[test]
fn what_the_server_refuses() {
    fails(
        &["call", "nothing"],
        SMALL,
        3,
        &["Unknown tool", "-32602", "`mcp list`"],
    );
    fails(
        &["read", "test://nothing"],
        EVERYTHING,
        3,
        &["`mcp list` shows the resources"],
    );
    fails(
        &["prompt", "nothing"],
        EVERYTHING,
        3,
        &["`mcp list` shows the prompts"],
    );
    // Not offered, and so not sent.
    fails(&["read", "a:b"], SMALL, 3, &["does not offer `resources`"]);
    let sampling = ["call", "test_sampling", "prompt=x"];
    let words = ["sampling", "This program cannot do that for a server"];
    fails(&sampling, EVERYTHING, 3, &words);
}

/// Programs read the error on standard output, and people are told nothing else than without `--json`.
#[test]
fn what_the_server_refuses_as_json() {
    let ran = run(&["call", "nothing", "--json"], SMALL);
    assert_eq!(ran.code, Some(3));
    assert!(ran.stderr.contains("Unknown tool"), "{}", ran.stderr);
    let error = &ran.json()["error"];
    assert_eq!(error["code"], -32602, "{error}");
    let message = error["message"].as_str().expect("a text");
    assert!(message.contains("Unknown tool"), "{message}");
    let sampling = ["call", "test_sampling", "prompt=x", "--json"];
    let error = run(&sampling, EVERYTHING).json();
    let data = &error["error"]["data"]["requiredCapabilities"];
    assert_eq!(data["sampling"], serde_json::json!({}), "{error}");
}

/// The names of tools do not help where something else went wrong.
#[test]
fn hints_are_for_what_they_help_with() {
    let script = MORTAL.replace(
        "echo 'out of memory' >&2; exit 9",
        r#"echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"no disk"}}'; cat"#,
    );
    let server = ["sh", "-c", &script];
    let ran = run(&["call", "x", "--era", "legacy"], &server);
    assert!(ran.stderr.contains("no disk"), "{}", ran.stderr);
    assert!(!ran.stderr.contains("mcp list"), "{}", ran.stderr);
}

#[test]
fn a_server_that_was_named_without_the_dashes() {
    for arguments in [&["list", "server"][..], &["ping"], &["call", "echo"]] {
        let output = std::process::Command::new(MCP).args(arguments).output();
        let ran = Ran::of(output.expect("it runs"));
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains("follows `--`: mcp "), "{}", ran.stderr);
    }
    let ran = run(&["list", "server"], SMALL);
    assert!(!ran.stderr.contains("follows `--`"), "{}", ran.stderr);
}

/// `mcp arguments…`, without a server's command.
fn alone(arguments: &[&str]) -> Ran {
    let mut command = std::process::Command::new(MCP);
    command.args(arguments).stdin(std::process::Stdio::null());
    Ran::of(command.output().expect("it runs"))
}

#[test]
fn a_url_that_was_named_without_its_flag() {
    let url = "http://127.0.0.1:9/mcp";
    for arguments in [&["list", url][..], &["call", "echo", url], &["ping", url]] {
        let ran = alone(arguments);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        let hint = format!("mcp {} … --url {url}", arguments[0]);
        assert!(ran.stderr.contains(&hint), "{}", ran.stderr);
    }
    let ran = run(&["ping"], &[url]);
    assert!(ran.stderr.contains("named with `--url`"), "{}", ran.stderr);
}

#[test]
fn a_url_that_cannot_be_used() {
    for (url, word) in [
        ("ws://127.0.0.1/", "http:// nor https://"),
        ("http://user:s3cret@127.0.0.1/", "a user in it"),
        ("127.0.0.1:9", "is expected"),
    ] {
        let ran = alone(&["ping", "--trace", "--url", url]);
        assert_eq!(ran.code, Some(2), "{}", ran.stderr);
        assert!(ran.stderr.contains(word), "{}", ran.stderr);
        assert!(!ran.stderr.contains("s3cret"), "{}", ran.stderr);
    }
    let ran = alone(&["ping", "--url", "http://127.0.0.1:9/"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    assert!(!ran.stderr.contains("output"), "{}", ran.stderr);
}

#[test]
fn an_authority_that_is_none() {
    let file = |ca: &str| alone(&["ping", "--url", "https://127.0.0.1:9/", "--ca", ca]);
    let ran = file("/no/such/file.pem");
    let said = ran.stderr.contains("--ca /no/such/file.pem: ");
    assert!(ran.code == Some(2) && said, "{}", ran.stderr);
    let ran = file(MCP);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
}

#[test]
fn a_program_that_says_back_what_it_is_told() {
    for arguments in [&["ping"][..], &["ping", "--era", "legacy"]] {
        fails(
            arguments,
            &["cat"],
            3,
            &["cat is no MCP server", "says back"],
        );
    }
}

#[test]
fn pr_03_a_program_that_is_not_there() {
    fails(
        &["ping"],
        &["./no-such-program"],
        3,
        &["no program ./no-such-program", "What follows `--`"],
    );
}

#[test]
fn pr_03_a_program_that_ends() {
    let server = [
        "sh",
        "-c",
        "echo first >&2; echo 'last \u{1b}[2Jwords' >&2; exit 7",
    ];
    fails(
        &["ping"],
        &server,
        3,
        &[
            "its process ended",
            "7",
            "\n  first\n",
            "\n  last \u{fffd}[2Jwords\n",
        ],
    );
    fails(&["ping"], &["true"], 3, &["true is no MCP server"]);
}

/// It speaks as it should until it is called.
const MORTAL: &str = r#"
read line; echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"mortal","version":"1"}}}'
read line; read line; echo 'out of memory' >&2; exit 9"#;

#[test]
fn pr_04_a_server_that_dies_in_a_call() {
    let server = ["sh", "-c", MORTAL];
    let words = [
        "mcp call: its process ended (exit status: 9)",
        "\n  out of memory\n",
    ];
    fails(&["call", "x", "--era", "legacy"], &server, 3, &words);
}

#[test]
fn a_server_that_closes_its_output_and_lives_on() {
    let script = MORTAL.replace("exit 9", "exec >&-; exec sleep 60");
    let ran = run(&["call", "x", "--era", "legacy"], &["sh", "-c", &script]);
    let said = ran.stderr.lines().next();
    assert_eq!(
        said,
        Some("mcp call: it closed its output"),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_program_that_prints_something_else() {
    let server = [
        "sh",
        "-c",
        "echo 'Welcome \u{1b}[2Jto it'; echo why >&2; while read line; do :; done",
    ];
    let words = [
        "--timeout",
        "It printed what is no message: Welcome \u{fffd}[2Jto it",
        "\n  why\n",
    ];
    fails(&["ping", "--timeout", "1"], &server, 3, &words);
    let ran = run(&["ping", "--timeout", "1", "--trace"], &server);
    assert!(ran.stderr.contains("no message: "), "{}", ran.stderr);
}

#[test]
fn fr_03_lines_between_the_messages_do_no_harm() {
    let server = ["sh", "-c", "echo Welcome; exec \"$0\" serve", MCP];
    run(&["call", "echo", "text=hi"], &server).good();
}

#[test]
fn a_call_that_takes_too_long() {
    let slow = [
        "call",
        "slow",
        "steps=1",
        "delay_ms=60000",
        "--timeout",
        "0.5",
        "--json",
    ];
    fails(
        &slow,
        SMALL,
        3,
        &["no answer and no progress within 500ms", "--timeout"],
    );
}

#[test]
fn a_command_that_takes_too_long_in_all() {
    let slow = ["steps=600", "delay_ms=100", "--max-time", "1"];
    let call = [&["call", "slow"][..], &slow, &["--json"]].concat();
    let words = ["it was not done within 1 s", "--max-time"];
    fails(&call, SMALL, 3, &words);
    fails(&["ping", "--max-time", "1"], &["sleep", "60"], 3, &words);
}

/// What nobody gave is not to be left out.
#[test]
fn a_server_of_no_known_revision() {
    let version = r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"1999-01-01","capabilities":{},"serverInfo":{"name":"old","version":"1"}}}"#;
    let script = format!("read line; echo '{version}'; while read line; do :; done");
    let server = ["sh", "-c", &script];
    let ran = run(&["ping", "--era", "legacy"], &server);
    assert!(
        ran.stderr.contains("Leave out `--revision`"),
        "{}",
        ran.stderr
    );
    let script = "while read line; do \
        id=${line#*\\\"id\\\":}; id=${id%%[,\\}]*}; \
        echo \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":$id,\\\"error\\\":{\\\"code\\\":-32022,\\\"message\\\":\\\"no\\\",\\\"data\\\":{\\\"supported\\\":[\\\"1999-01-01\\\"]}}}\"; done";
    let ran = run(&["ping"], &["sh", "-c", script]);
    assert!(
        ran.stderr.contains("no protocol version in common"),
        "{}",
        ran.stderr
    );
    assert!(!ran.stderr.contains("Leave out"), "{}", ran.stderr);
}

#[test]
fn a_server_of_another_revision() {
    let server = ["sh", "-c", MORTAL];
    let words = ["speaks revision 2025-11-25, and not 2025-06-18"];
    fails(&["ping", "--revision", "2025-06-18"], &server, 3, &words);
    fails(
        &["ping", "--era", "modern", "--timeout", "2"],
        &server,
        3,
        &[],
    );
}

#[test]
fn a_reader_that_has_enough() {
    let script = "\"$0\" list -- \"$0\" serve --everything | true; \"$0\" ping -- \"$0\" serve >&-";
    let output = std::process::Command::new("sh")
        .args(["-c", script, MCP])
        .output();
    let stderr = output.expect("a shell").stderr;
    let stderr = String::from_utf8_lossy(&stderr).into_owned();
    assert!(!stderr.contains("panicked"), "{stderr}");
}
