//! `mcp registry`.

use std::path::PathBuf;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::files::{whole, with};

fn file(name: &str, content: &Value) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("registry-{name}.json"));
    std::fs::write(&path, content.to_string()).expect("it can be written");
    path
}

fn run(arguments: &[&str], files: &[&PathBuf]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mcp"));
    command.arg("registry").args(arguments).args(files);
    command.output().expect("it runs")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

#[test]
fn validate_tells_people_and_programs() {
    let good = file("good", &whole());
    let bad = file("bad", &with("/packages/0/version", json!("^1.0.0")));
    let ran = run(&["validate"], &[&good]);
    assert_eq!(ran.status.code(), Some(0));
    assert!(stdout(&ran).ends_with("registry-good.json: in order\n"));
    let ran = run(&["validate"], &[&good, &bad]);
    assert_eq!(ran.status.code(), Some(1));
    let line = "registry-bad.json: error: `packages[0].version`: \"^1.0.0\" is a range of versions; write the one version that this is: `1.2.3`\n";
    assert!(stdout(&ran).ends_with(line), "{}", stdout(&ran));
    let ran = run(&["validate", "--json"], &[&good, &bad]);
    assert_eq!(ran.status.code(), Some(1));
    let json: Value = serde_json::from_str(&stdout(&ran)).expect("JSON");
    assert_eq!(json["files"][0]["valid"], true);
    assert_eq!(json["files"][1]["valid"], false);
    assert_eq!(
        json["files"][1]["problems"][0]["path"],
        "packages[0].version"
    );
    let ran = run(&["validate", "no-such-file.json"], &[]);
    assert_eq!(ran.status.code(), Some(2));
}

#[test]
fn config_prints_what_a_host_starts() {
    let path = file("config", &whole());
    let ran = run(&["config", "--input", "root=/srv"], &[&path]);
    assert_eq!(
        ran.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    let json: Value = serde_json::from_str(&stdout(&ran)).expect("JSON");
    let args = &json["mcpServers"]["files"]["args"];
    assert_eq!(args[args.as_array().map_or(0, Vec::len) - 1], "/srv");
    let ran = run(
        &["config", "--remote", "0", "--input", "tenant=acme"],
        &[&path],
    );
    let json: Value = serde_json::from_str(&stdout(&ran)).expect("JSON");
    assert_eq!(
        json["mcpServers"]["files"]["url"],
        "https://acme.example.com/mcp"
    );
    let ran = run(&["config"], &[&path]);
    let told = String::from_utf8_lossy(&ran.stderr);
    assert_eq!((ran.status.code(), stdout(&ran).as_str()), (Some(2), ""));
    assert!(
        told.contains("`packages[0].packageArguments[3]`: it is required"),
        "{told}"
    );
}
