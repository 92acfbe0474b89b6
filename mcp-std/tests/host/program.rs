//! `mcp host`, as its users run it.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::MCP;

/// A folder that is there as long as this is.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("mcp-host-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("it can be made");
        Self(path)
    }

    fn write(&self, name: &str, json: &Value) -> String {
        let path = self.0.join(name);
        std::fs::write(&path, json.to_string()).expect("it can be written");
        self.path(name)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).to_str().expect("UTF-8").to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(MCP);
    command.arg("host").args(arguments).stdin(Stdio::null());
    let output = command.output().expect("it runs");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

fn two_good_ones() -> Value {
    json!({"mcpServers": {
        "small": {"command": MCP, "args": ["serve"], "includeTools": ["echo", "fail"]},
        "every": {"command": MCP, "args": ["serve", "--everything"]},
    }})
}

#[test]
fn tools_are_listed_found_and_called() {
    let folder = Folder::new("call");
    let config = folder.write("mcp.json", &two_good_ones());
    let (code, stdout, stderr) = run(&["--config", &config, "list"]);
    assert_eq!(code, Some(0), "{stderr}");
    let small: Vec<_> = stdout
        .lines()
        .filter(|line| line.starts_with("small__"))
        .collect();
    assert!(
        small.len() == 2 && small[0].starts_with("small__echo"),
        "{stdout}"
    );
    let (_, stdout, _) = run(&["--config", &config, "--naming", "mcp", "--json", "list"]);
    let list: Value = serde_json::from_str(&stdout).expect("JSON");
    assert_eq!(list["tools"][0]["name"], "mcp__small__echo");
    let (_, stdout, _) = run(&[
        "--config",
        &config,
        "list",
        "--search",
        "say the text again",
    ]);
    assert!(
        stdout
            .lines()
            .next()
            .is_some_and(|line| line.contains("echo")),
        "{stdout}"
    );
    let audit = folder.path("audit.jsonl");
    let (code, stdout, stderr) = run(&[
        "--config",
        &config,
        "--audit",
        &audit,
        "call",
        "small__echo",
        "text=hi",
    ]);
    assert_eq!((code, &*stdout), (Some(0), "hi\n"), "{stderr}");
    let written = std::fs::read_to_string(&audit).expect("it is there");
    assert!(written.contains(r#""outcome":"ok""#), "{written}");
    let (code, ..) = run(&["--config", &config, "call", "small__fail"]);
    assert_eq!(code, Some(1));
    let (code, _, stderr) = run(&["--config", &config, "call", "small__ecko"]);
    assert_eq!(code, Some(2), "{stderr}");
}

#[test]
fn the_doctor_says_how_each_server_is_and_what_helps() {
    let folder = Folder::new("doctor");
    let good = folder.write("good.json", &two_good_ones());
    let (code, stdout, stderr) = run(&["--config", &good, "doctor"]);
    assert_eq!(code, Some(0), "{stdout} {stderr}");
    assert!(stdout.contains("modern, revision 2026-07-28"), "{stdout}");
    let (_, stdout, _) = run(&["--config", &good, "--json", "doctor"]);
    let report: Value = serde_json::from_str(&stdout).expect("JSON");
    assert!(report["servers"][0]["latencyMicros"].is_u64(), "{report}");

    let mut ill = two_good_ones();
    ill["mcpServers"]["gone"] = json!({"command": "no-such-program", "comand": "x"});
    ill["mcpServers"]["off"] = json!({"url": "http://127.0.0.1:1/", "disabled": true});
    ill["mcpServers"]["nobody"] = json!({"url": "http://127.0.0.1:1/mcp"});
    ill["mcpServers"]["unset"] = json!({"command": "x", "env": {"T": "${MCP_TEST_NOT_SET}"}});
    let ill = folder.write("ill.json", &ill);
    let (code, stdout, stderr) = run(&["--config", &ill, "doctor"]);
    assert_eq!(code, Some(3), "{stdout}");
    assert!(stderr.contains("3 of 6"), "{stderr}");
    for part in [
        "- off: disabled",
        "✗ gone",
        "✗ nobody",
        "mcpServers.unset.env.T",
        "is `command` meant",
        "in PATH",
    ] {
        assert!(stdout.contains(part), "{part}: {stdout}");
    }
}

#[test]
fn a_wrong_file_is_told_by_the_field() {
    let folder = Folder::new("wrong");
    let wrong = json!({"mcpServers": {"github": {"command": "x", "args": ["a", "b", 3]}}});
    let config = folder.write("mcp.json", &wrong);
    let (code, _, stderr) = run(&["--config", &config, "list"]);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("`mcpServers.github.args[2]`"), "{stderr}");
}

#[test]
fn inputs_are_given_on_the_command_line() {
    let folder = Folder::new("input");
    let servers = json!({"inputs": [{"id": "mode"}], "servers": {"s": {"command": MCP, "args": ["${input:mode}"]}}});
    let config = folder.write("mcp.json", &servers);
    let (code, stdout, _) = run(&["--config", &config, "--input", "mode=serve", "list"]);
    assert!(code == Some(0) && stdout.starts_with("s__echo"), "{stdout}");
    let (_, stdout, stderr) = run(&["--config", &config, "list"]);
    assert!(
        stdout.is_empty() && stderr.contains("the input `mode`"),
        "{stdout} {stderr}"
    );
}

#[test]
fn a_tool_that_has_changed_is_not_called_until_it_is_accepted() {
    let folder = Folder::new("trust");
    let config = folder.write("mcp.json", &two_good_ones());
    let trust = folder.path("trust.json");
    let call = |more: &[&str]| {
        let fixed = [
            "--config",
            &config,
            "--trust",
            &trust,
            "call",
            "small__echo",
            "text=hi",
        ];
        run(&[&fixed[..], more].concat())
    };
    assert_eq!(call(&[]).0, Some(0));
    // As if it had been another one then.
    let known = std::fs::read_to_string(&trust).expect("it is there");
    let mut known: Value = serde_json::from_str(&known).expect("JSON");
    for tool in known["tools"].as_array_mut().expect("an array") {
        tool["digest"] = json!("0".repeat(64));
    }
    folder.write("trust.json", &known);
    let (code, _, stderr) = call(&[]);
    assert_eq!(code, Some(3));
    assert!(stderr.contains("changed-definition"), "{stderr}");
    assert_eq!(call(&["--accept"]).0, Some(0));
    assert_eq!(call(&[]).0, Some(0));
}
