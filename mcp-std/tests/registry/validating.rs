//! What is wrong with a file, and where.

use mcp_std::registry::{MAX_BYTES, ServerJson, Severity, validate};
use serde_json::{Value, json};

use crate::files::{whole, with};

#[test]
fn a_file_that_is_in_order_has_no_errors_and_is_written_as_it_was() {
    let text = whole().to_string();
    let problems = validate(&text);
    assert!(problems.is_empty(), "{problems:?}");
    let server = ServerJson::parse(&text).expect("it is one");
    assert_eq!(server.packages.len(), 5);
    let written: Value = serde_json::from_str(&server.to_json()).expect("JSON");
    assert_eq!(written, whole(), "members that nobody knows as well");
    let new = ServerJson::new("com.example/new", "Something new", "1.0.0");
    assert!(validate(&new.to_json()).is_empty());
}

/// The member, what it is replaced with, the path that is told, and a part of what is told there.
#[test]
fn each_fault_is_told_where_it_is() {
    let long = "x".repeat(256);
    let cases = [
        ("/name", json!(null), "", "`name` is missing"),
        ("/name", json!("files"), "name", "has no `/`"),
        (
            "/name",
            json!("com.example/a/b"),
            "name",
            "more than one `/`",
        ),
        (
            "/name",
            json!("com.example/-files"),
            "name",
            "after the `/`",
        ),
        ("/name", json!(".example/files"), "name", "before the `/`"),
        ("/name", json!("com.example/ünï"), "name", "after the `/`"),
        (
            "/name",
            json!(7),
            "name",
            "a string is expected, and a number",
        ),
        ("/title", json!("   "), "title", "blank"),
        ("/title", json!("x".repeat(101)), "title", "101 characters"),
        (
            "/description",
            json!("x".repeat(101)),
            "description",
            "101 characters, and 100",
        ),
        ("/description", json!(""), "description", "0 characters"),
        ("/version", json!("^1.0.0"), "version", "range"),
        ("/version", json!("1.x"), "version", "range"),
        (
            "/version",
            json!("latest"),
            "version",
            "another version each time",
        ),
        (
            "/version",
            json!(long),
            "version",
            "256 characters, and 255",
        ),
        (
            "/$schema",
            json!("https://example.com/schema.json"),
            "$schema",
            "no schema",
        ),
        ("/$schema", json!(null), "", "`$schema` is missing"),
        (
            "/websiteUrl",
            json!("http://example.com"),
            "websiteUrl",
            "no https URL",
        ),
        (
            "/websiteUrl",
            json!("javascript:alert(1)"),
            "websiteUrl",
            "no https URL",
        ),
        (
            "/repository/url",
            json!("https://github.com/example"),
            "repository.url",
            "no repository of github",
        ),
        (
            "/repository/url",
            json!("https://github.com.evil.com/a/b"),
            "repository.url",
            "no repository",
        ),
        (
            "/repository/source",
            json!("sourceforge"),
            "repository.source",
            "sourceforge",
        ),
        (
            "/repository/subfolder",
            json!("../up"),
            "repository.subfolder",
            "no plain relative path",
        ),
        (
            "/icons/0/src",
            json!("data:image/png;base64,AA"),
            "icons[0].src",
            "no https URL",
        ),
        (
            "/icons/0/sizes/0",
            json!("big"),
            "icons[0].sizes[0]",
            "no size",
        ),
        (
            "/icons/0/mimeType",
            json!("text/html"),
            "icons[0].mimeType",
            "text/html",
        ),
        ("/packages", json!({}), "packages", "an array is expected"),
        (
            "/packages/0/registryType",
            json!(null),
            "packages[0]",
            "`registryType` is missing",
        ),
        (
            "/packages/0/version",
            json!(null),
            "packages[0]",
            "`version` is missing",
        ),
        (
            "/packages/0/version",
            json!("latest"),
            "packages[0].version",
            "another version",
        ),
        (
            "/packages/0/identifier",
            json!("@example files"),
            "packages[0].identifier",
            "no name of a package",
        ),
        (
            "/packages/0/identifier",
            json!("--call=sh"),
            "packages[0].identifier",
            "no name of a package",
        ),
        (
            "/packages/0/transport",
            json!(null),
            "packages[0]",
            "`transport` is missing",
        ),
        (
            "/packages/0/transport/type",
            json!("websocket"),
            "packages[0].transport.type",
            "websocket",
        ),
        (
            "/packages/0/transport",
            json!({"type": "sse"}),
            "packages[0].transport",
            "`url` is missing",
        ),
        (
            "/packages/0/transport",
            json!({"type": "streamable-http", "url": "http://localhost:{port}/mcp"}),
            "packages[0].transport.url",
            "`{port}`",
        ),
        (
            "/packages/0/packageArguments/1/name",
            json!(null),
            "packages[0].packageArguments[1]",
            "`name` is missing",
        ),
        (
            "/packages/0/packageArguments/1/name",
            json!("--port <n>"),
            "packages[0].packageArguments[1].name",
            "no name",
        ),
        (
            "/packages/0/packageArguments/0/default",
            json!("trace"),
            "packages[0].packageArguments[0].default",
            "none of `choices`",
        ),
        (
            "/packages/0/packageArguments/0/value",
            json!("--level=info"),
            "packages[0].packageArguments[0].value",
            "put before it",
        ),
        (
            "/packages/0/packageArguments/1/format",
            json!("float"),
            "packages[0].packageArguments[1].format",
            "float",
        ),
        (
            "/packages/0/packageArguments/3/valueHint",
            json!(null),
            "packages[0].packageArguments[3]",
            "neither",
        ),
        (
            "/packages/0/packageArguments/3/type",
            json!("other"),
            "packages[0].packageArguments[3].type",
            "other",
        ),
        (
            "/packages/0/environmentVariables/0/name",
            json!("API KEY"),
            "packages[0].environmentVariables[0].name",
            "no name of a variable",
        ),
        (
            "/packages/0/environmentVariables/0/isSecret",
            json!("yes"),
            "packages[0].environmentVariables[0].isSecret",
            "`true` or `false`",
        ),
        (
            "/packages/0/environmentVariables/0/value",
            json!("abc123"),
            "packages[0].environmentVariables[0].value",
            "everybody",
        ),
        (
            "/packages/0/environmentVariables/1/default",
            json!("${env:HOME}"),
            "packages[0].environmentVariables[1].default",
            "variable of their own",
        ),
        (
            "/packages/0/environmentVariables/1/name",
            json!("API_KEY"),
            "packages[0].environmentVariables[1].name",
            "twice",
        ),
        (
            "/packages/1/identifier",
            json!("ghcr.io/example/files"),
            "packages[1].identifier",
            "neither a tag nor a digest",
        ),
        (
            "/packages/1/identifier",
            json!("ghcr.io/example/files:latest"),
            "packages[1].identifier",
            "another image",
        ),
        (
            "/packages/1/identifier",
            json!("--privileged"),
            "packages[1].identifier",
            "no reference",
        ),
        (
            "/packages/1/version",
            json!("1.0.2"),
            "packages[1].identifier",
            "`version` as well",
        ),
        (
            "/packages/1/registryBaseUrl",
            json!("https://ghcr.io"),
            "packages[1].registryBaseUrl",
            "says where",
        ),
        (
            "/packages/4/fileSha256",
            json!(null),
            "packages[4]",
            "`fileSha256` is missing",
        ),
        (
            "/packages/4/fileSha256",
            json!("A".repeat(64)),
            "packages[4].fileSha256",
            "no such digest",
        ),
        (
            "/packages/4/identifier",
            json!("https://example.com/files.zip"),
            "packages[4].identifier",
            "`mcp`",
        ),
        (
            "/remotes/0/type",
            json!("stdio"),
            "remotes[0].type",
            "stdio",
        ),
        (
            "/remotes/0/url",
            json!(null),
            "remotes[0]",
            "`url` is missing",
        ),
        (
            "/remotes/0/url",
            json!("https://localhost/mcp"),
            "remotes[0].url",
            "machine of whoever",
        ),
        (
            "/remotes/0/url",
            json!("http://example.com/mcp"),
            "remotes[0].url",
            "read on the way",
        ),
        (
            "/remotes/0/url",
            json!("https://{tenant"),
            "remotes[0].url",
            "not closed",
        ),
        (
            "/remotes/0/url",
            json!("https://{other}.example.com/"),
            "remotes[0].url",
            "`{other}`",
        ),
        (
            "/remotes/0/url",
            json!("https://a:b@example.com/{tenant}"),
            "remotes[0].url",
            "a user",
        ),
        (
            "/remotes/0/headers/0/name",
            json!("A\r\nB"),
            "remotes[0].headers[0].name",
            "no name of a header",
        ),
        (
            "/_meta/io.modelcontextprotocol.registry~1publisher-provided",
            json!({"more": "x".repeat(5000)}),
            r#"_meta["io.modelcontextprotocol.registry/publisher-provided"]"#,
            "4096 are allowed",
        ),
    ];
    for (pointer, value, path, fault) in cases {
        let file = with(pointer, value).to_string();
        let problems = validate(&file);
        let told = |it: &&mcp_std::registry::Problem| it.path == path && it.fault.contains(fault);
        let found = problems.iter().find(told);
        let found = found.unwrap_or_else(|| panic!("{pointer}: {problems:#?}"));
        assert_eq!(found.severity, Severity::Error, "{found}");
        assert!(!found.remedy.is_empty(), "{found}");
    }
}

#[test]
fn what_can_be_published_and_is_not_as_it_looks_is_a_warning() {
    let older = "https://static.modelcontextprotocol.io/schemas/2025-10-17/server.schema.json";
    let cases = [
        ("/$schema", json!(older), "$schema", "deprecated"),
        (
            "/remotes/0/type",
            json!("sse"),
            "remotes[0].type",
            "deprecated",
        ),
        (
            "/_meta/com.example~1mine",
            json!({}),
            r#"_meta["com.example/mine"]"#,
            "drops it",
        ),
        (
            "/packages/0/registryBaseUrl",
            json!("https://packages.example.com"),
            "packages[0].registryBaseUrl",
            "public",
        ),
        (
            "/packages/1/identifier",
            json!("registry.example.com/files:1"),
            "packages[1].identifier",
            "takes no images",
        ),
        (
            "/packages/1/runtimeHint",
            json!(null),
            "packages[1].runtimeArguments",
            "not said",
        ),
    ];
    for (pointer, value, path, fault) in cases {
        let problems = validate(&with(pointer, value).to_string());
        assert_eq!(problems.len(), 1, "{pointer}: {problems:#?}");
        let found = &problems[0];
        assert_eq!((found.severity, &*found.path), (Severity::Warning, path));
        assert!(found.fault.contains(fault), "{found}");
    }
}

#[test]
fn members_of_older_forms_are_told_by_their_new_names() {
    let file = json!({
        "name": "com.example/old",
        "description": "As it was at first",
        "version_detail": {"version": "1.0.0"},
        "packages": [{"registry_name": "npm", "name": "old", "version": "1.0.0", "runtime_hint": "npx"}]
    });
    let problems = validate(&file.to_string());
    for (path, remedy) in [
        ("version_detail", "call it `version`"),
        ("packages[0].registry_name", "call it `registryType`"),
        ("packages[0].runtime_hint", "call it `runtimeHint`"),
    ] {
        let told = problems
            .iter()
            .any(|it| it.path == path && it.remedy == remedy);
        assert!(told, "{path}: {problems:#?}");
    }
}

#[test]
fn what_is_no_such_file_is_one_problem_and_many_problems_are_a_hundred() {
    for text in [
        "",
        "{",
        "[1",
        &"[".repeat(100_000),
        &" ".repeat(MAX_BYTES + 1),
    ] {
        let problems = validate(text);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(ServerJson::parse(text).is_err());
    }
    let twice = r#"{"version": "1.0.0", "version": "2.0.0"}"#;
    let told = |it: &mcp_std::registry::Problem| it.path == "version" && it.fault.contains("twice");
    assert!(validate(twice).iter().any(told));
    let many = vec![json!(1); 10_000];
    assert_eq!(
        validate(&with("/packages", json!(many)).to_string()).len(),
        100
    );
    let error = ServerJson::parse(&with("/packages/0/transport/type", json!(3)).to_string());
    assert_eq!(
        error.expect_err("a number").path,
        "packages[0].transport.type"
    );
}
