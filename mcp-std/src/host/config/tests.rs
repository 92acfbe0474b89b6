use core::time::Duration;

use super::*;

fn read(text: &str) -> Result<HostConfig, ConfigError> {
    let variables = Variables::new()
        .var("TOKEN", "s3cr3t-token")
        .var("EMPTY", "")
        .workspace("/work/space");
    HostConfig::parse(text, variables)
}

fn one(server: &str) -> ServerConfig {
    let config = read(&format!("{{\"mcpServers\": {{\"x\": {server}}}}}"));
    config.expect("it is in order").servers.remove(0)
}

#[test]
fn faults_name_the_field() {
    for (server, path) in [
        (r#"[]"#, "mcpServers.x"),
        (r#"{}"#, "mcpServers.x"),
        (r#"{"command": 1}"#, "mcpServers.x.command"),
        (r#"{"command": "a", "args": "b"}"#, "mcpServers.x.args"),
        (
            r#"{"command": "a", "args": ["b", "c", 3]}"#,
            "mcpServers.x.args[2]",
        ),
        (
            r#"{"command": "a", "env": {"A": []}}"#,
            "mcpServers.x.env.A",
        ),
        (
            r#"{"command": "a", "env": {"a b": {}}}"#,
            "mcpServers.x.env[\"a b\"]",
        ),
        (r#"{"command": "a", "url": "b"}"#, "mcpServers.x"),
        (r#"{"command": "a", "type": "http"}"#, "mcpServers.x"),
        (r#"{"command": "a", "type": "pigeon"}"#, "mcpServers.x.type"),
        (
            r#"{"url": "a", "headers": {"h": 1}}"#,
            "mcpServers.x.headers.h",
        ),
        (
            r#"{"command": "a", "disabled": "no"}"#,
            "mcpServers.x.disabled",
        ),
        (r#"{"command": "a", "timeout": -1}"#, "mcpServers.x.timeout"),
        (
            r#"{"command": "a", "timeout": 1e300}"#,
            "mcpServers.x.timeout",
        ),
        (
            r#"{"command": "a", "includeTools": [1]}"#,
            "mcpServers.x.includeTools[0]",
        ),
        (
            r#"{"command": "a", "preset": {"t": 1}}"#,
            "mcpServers.x.preset.t",
        ),
        (
            r#"{"command": "a", "rateLimit": {"calls": 0, "seconds": 1}}"#,
            "mcpServers.x.rateLimit.calls",
        ),
        (
            r#"{"command": "a", "command": "b"}"#,
            "mcpServers.x.command",
        ),
    ] {
        let text = format!("{{\"mcpServers\": {{\"x\": {server}}}}}");
        let error = read(&text).expect_err(server);
        assert_eq!(error.path, path, "{error}");
    }
    assert_eq!(read("{}").expect_err("no servers").path, "");
    let syntax = read("{\n  \"mcpServers\": {x}}").expect_err("no JSON");
    assert!(syntax.fault.starts_with("line 2, column 18"), "{syntax}");
    let twice = r#"{"mcpServers": {"x": {"command": "a"}, "x": {"command": "b"}}}"#;
    assert_eq!(read(twice).expect_err("twice").path, "mcpServers.x");
}

#[test]
fn variables_are_substituted_and_their_values_not_shown() {
    let server = one(
        r#"{"command": "${workspaceFolder}/run", "args": ["--key=${env:TOKEN}", "${NONE:-none}", "${EMPTY:-it}", "$5"],
            "env": {"A_TOKEN": "${TOKEN}", "B": "x${TOKEN}", "C": 5}, "cwd": "${userHome}"}"#,
    );
    let Transport::Stdio {
        command, args, env, ..
    } = server.transport()
    else {
        panic!("it is a program");
    };
    assert_eq!(command.reveal(), "/work/space/run");
    let args: Vec<_> = args.iter().map(Text::reveal).collect();
    assert_eq!(args, ["--key=s3cr3t-token", "none", "it", "$5"]);
    assert_eq!(env["A_TOKEN"].reveal(), "s3cr3t-token");
    assert_eq!(env["A_TOKEN"].to_string(), "${TOKEN}");
    assert_eq!(env["B"].to_string(), "[redacted]");
    assert_eq!(env["C"].reveal(), "5");
    assert!(!format!("{server:?}").contains("s3cr3t"), "{server:?}");
    assert_eq!(server.secrets(), ["--key=s3cr3t-token", "s3cr3t-token"]);
}

#[test]
fn a_variable_that_is_not_set_is_the_fault_of_its_server_alone() {
    let text = r#"{"mcpServers": {
        "bad": {"command": "a", "env": {"K": "${NOT_SET}"}},
        "worse": {"command": "a", "args": ["${what ever}"]},
        "off": {"command": "${NOT_SET}", "disabled": true},
        "good": {"command": "b"}
    }}"#;
    let config = read(text).expect("the file is in order");
    let faults = config.servers().iter().map(ServerConfig::fault);
    let faults: Vec<_> = faults.map(|it| it.map(|it| it.path.as_str())).collect();
    let bad = Some("mcpServers.bad.env.K");
    assert_eq!(faults, [bad, Some("mcpServers.worse.args[0]"), None, None]);
}

#[test]
fn what_looks_like_a_secret_is_hidden() {
    let server = one(
        r#"{"command": "a", "args": ["--api-key", "k-123456", "--verbose", "--token=t-123456", "--password", "--force"]}"#,
    );
    let shown = format!("{server:?}");
    assert!(!shown.contains("123456"), "{shown}");
    assert!(
        shown.contains("--force") && shown.contains("--verbose"),
        "{shown}"
    );
    let server = one(r#"{"url": "https://a.example/?key=k-123456", "headers": {"X": "h-123456"}}"#);
    assert!(!format!("{server:?}").contains("123456"), "{server:?}");
}

#[test]
fn the_dialect_of_vs_code_is_read() {
    let text = r#"{
        // What the user is asked for.
        "inputs": [
            {"type": "promptString", "id": "key", "description": "Key", "password": true},
            {"type": "promptString", "id": "level", "default": "info"},
        ],
        "servers": {
            "a": {"type": "http", "url": "https://a.example/mcp", "headers": {"Key": "${input:key}"}},
            "b": {"type": "stdio", "command": "b", "env": {"L": "${input:level}", "N": null}}, /* the last */
        },
    }"#;
    let given = Variables::new().input("key", "given");
    let config = HostConfig::parse(text, given).expect("it is in order");
    let [a, b] = config.servers() else {
        panic!("there are two");
    };
    let Transport::Http { headers, .. } = a.transport() else {
        panic!("it is at a URL");
    };
    assert_eq!(headers[0].1.reveal(), "given");
    let Transport::Stdio { env, .. } = b.transport() else {
        panic!("it is a program");
    };
    assert_eq!(env["L"].reveal(), "info");
    assert!(!env.contains_key("N"));
    let asked = HostConfig::parse(text, Variables::new()).expect("it is in order");
    let fault = asked.servers()[0].fault().expect("nobody said the key");
    assert_eq!(fault.path, "servers.a.headers.Key");
    let settings = r#"{"mcp": {"servers": {"c": {"command": "c"}}}}"#;
    assert_eq!(read(settings).expect("it is in order").servers().len(), 1);
}

#[test]
fn times_filters_and_warnings_are_read() {
    let text = r#"{"mcpServers": {"x": {"command": "a", "timeout": 30, "startupTimeout": 2000, "comand": 1,
        "includeTools": ["read_*", "list"], "excludeTools": ["read_secret"], "alwaysAllow": ["list"]}}}"#;
    let config = read(text).expect("it is in order");
    let [x] = config.servers() else {
        panic!("there is one");
    };
    assert_eq!(x.timeout, Some(Duration::from_secs(30)));
    assert_eq!(x.connect_timeout, Some(Duration::from_secs(2)));
    let offered = ["read_a", "read_secret", "list", "write"].map(|tool| x.filter.admits(tool));
    assert_eq!(offered, [true, false, true, false]);
    let warning = &config.warnings()[0];
    assert_eq!(warning.path, "mcpServers.x.comand");
    assert!(warning.fault.contains("`command`"), "{warning}");
}

#[test]
fn a_secret_behind_a_name_is_known_to_be_one() {
    let server = one(
        r#"{"command": "docker", "args": ["run", "-e", "GITHUB_TOKEN=ghp_x1y2z3", "--token=${TOKEN}"]}"#,
    );
    let secrets = server.secrets();
    for secret in ["ghp_x1y2z3", "s3cr3t-token"] {
        assert!(
            secrets.iter().any(|it| it == secret),
            "{secret}: {secrets:?}"
        );
    }
}
