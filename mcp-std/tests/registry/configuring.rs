//! What a host makes of a file.

use mcp_std::host::{HostConfig, Transport, Variables};
use mcp_std::registry::{Choice, HostEntry, Inputs, Problem, ServerJson};
use serde_json::{Value, json};

use crate::files::{whole, with};

fn configured(
    file: &Value,
    choice: Choice,
    inputs: &[(&str, &str)],
) -> Result<HostEntry, Vec<Problem>> {
    let server = ServerJson::parse(&file.to_string()).expect("it is one");
    let each = inputs
        .iter()
        .fold(Inputs::new(), |all, (name, value)| all.value(*name, *value));
    server.configuration(choice, &each)
}

fn entry(file: &Value, choice: Choice, inputs: &[(&str, &str)]) -> Value {
    let entry = configured(file, choice, inputs);
    entry
        .unwrap_or_else(|problems| panic!("{problems:#?}"))
        .to_value()
}

/// The paths of what is wrong.
fn refused(file: &Value, choice: Choice, inputs: &[(&str, &str)]) -> Vec<String> {
    let problems = configured(file, choice, inputs).expect_err("it is refused");
    problems.into_iter().map(|it| it.path).collect()
}

#[test]
fn each_kind_of_package_is_started_by_its_program() {
    let file = whole();
    let inputs = [("root", "/srv/a"), ("root", "/srv b"), ("--port", "80")];
    assert_eq!(
        entry(&file, Choice::Package(0), &inputs),
        json!({
            "command": "npx",
            "args": [
                "-y", "@example/files@1.0.2", "--level", "info", "--port", "80", "--verbose", "/srv/a", "/srv b"
            ],
            "env": {"API_KEY": "${env:API_KEY}", "UNITS": "C"}
        })
    );
    assert_eq!(
        entry(
            &file,
            Choice::Package(1),
            &[("source", "/home/ada"), ("API_KEY", "${env:MY_KEY}")]
        ),
        json!({
            "command": "docker",
            "args": [
                "run", "-i", "--rm", "-e", "API_KEY", "--mount", "type=bind,src=/home/ada,dst=/project",
                "ghcr.io/example/files:1.0.2", "/project"
            ],
            "env": {"API_KEY": "${env:MY_KEY}"}
        })
    );
    assert_eq!(
        entry(&file, Choice::Package(2), &[]),
        json!({"command": "uvx", "args": ["example-files@1.0.2"]})
    );
    assert_eq!(
        entry(&file, Choice::Package(3), &[]),
        json!({"command": "dnx", "args": ["Example.Files@1.0.2", "--yes", "--", "serve"]})
    );
    assert_eq!(
        entry(
            &file,
            Choice::Remote(0),
            &[("tenant", "acme"), ("X-Region", "us")]
        ),
        json!({
            "type": "http",
            "url": "https://acme.example.com/mcp",
            "headers": {"Authorization": "Bearer ${env:TOKEN}", "X-Region": "us"}
        })
    );
    let path = refused(&file, Choice::Package(4), &[]);
    assert_eq!(
        path[0], "packages[4].registryType",
        "a bundle is installed, not started"
    );
    assert_eq!(refused(&file, Choice::Remote(7), &[]), ["remotes[7]"]);
}

#[test]
fn a_host_takes_what_comes_of_it() {
    let found = configured(
        &whole(),
        Choice::Package(0),
        &[("root", "/srv/a; rm -rf $HOME `x`")],
    );
    let document = found.expect("it is one").document().to_string();
    let variables = Variables::new().var("API_KEY", "very secret");
    let config = HostConfig::parse(&document, variables).expect("a configuration");
    let server = &config.servers()[0];
    assert_eq!((server.name(), server.fault()), ("files", None));
    let Transport::Stdio {
        command, args, env, ..
    } = server.transport()
    else {
        panic!("{server:?}");
    };
    assert_eq!(command.reveal(), "npx");
    let last = args.last().expect("there are some");
    assert_eq!(
        last.reveal(),
        "/srv/a; rm -rf $HOME `x`",
        "one argument, whatever is in it"
    );
    assert_eq!(env["API_KEY"].reveal(), "very secret");
    assert!(!document.contains("very secret") && !format!("{config:?}").contains("very secret"));
}

#[test]
fn all_that_is_missing_or_wrong_is_told_by_its_path() {
    let file = whole();
    let first = Choice::Package(0);
    let root = "packages[0].packageArguments[3]";
    assert_eq!(refused(&file, first, &[]), [root]);
    assert_eq!(
        refused(
            &file,
            first,
            &[
                ("root", "/"),
                ("--level", "loud"),
                ("--port", "eighty"),
                ("nobody", "1")
            ]
        ),
        [
            "packages[0].packageArguments[0]",
            "packages[0].packageArguments[1]",
            ""
        ]
    );
    // By its path as well; and once where it is not repeated.
    let by_path = [(root, "/srv"), ("UNITS", "F"), ("UNITS", "K")];
    assert_eq!(
        refused(&file, first, &by_path),
        ["packages[0].environmentVariables[1]"]
    );
    assert_eq!(
        refused(&file, Choice::Package(1), &[]),
        ["packages[1].runtimeArguments[0].variables.source"]
    );
    assert_eq!(
        refused(&file, Choice::Remote(0), &[]),
        ["remotes[0].variables.tenant"]
    );
}

#[test]
fn a_secret_is_a_variable_and_never_a_value() {
    let file = whole();
    let inputs = [("root", "/"), ("API_KEY", "hunter2hunter2")];
    let problems = configured(&file, Choice::Package(0), &inputs).expect_err("it is refused");
    assert_eq!(problems[0].path, "packages[0].environmentVariables[0]");
    assert!(problems[0].remedy.contains("${env:API_KEY}"));
    assert!(!format!("{problems:?}").contains("hunter2"));
    assert!(!format!("{:?}", Inputs::new().value("API_KEY", "hunter2")).contains("hunter2"));
    let mixed = [("root", "/"), ("API_KEY", "${env:A}hunter2${env:B}")];
    assert_eq!(
        refused(&file, Choice::Package(0), &mixed),
        ["packages[0].environmentVariables[0]"]
    );
}

#[test]
fn what_is_said_does_not_become_an_option() {
    let file = whole();
    assert_eq!(
        refused(&file, Choice::Package(0), &[("root", "--eval=evil")]),
        ["packages[0].packageArguments[3]"]
    );
    let long = with(
        "/packages/0/packageArguments/1",
        json!({"type": "named", "name": "--note", "placeholder": "x"}),
    );
    let args = entry(
        &long,
        Choice::Package(0),
        &[("root", "/"), ("--note", "--inspect")],
    );
    assert_eq!(args["args"][4], "--note=--inspect");
    let short = with(
        "/packages/0/packageArguments/1",
        json!({"type": "named", "name": "-n", "placeholder": "x"}),
    );
    let inputs = [("root", "/"), ("-n", "--inspect")];
    assert_eq!(
        refused(&short, Choice::Package(0), &inputs),
        ["packages[0].packageArguments[1]"]
    );
    let inner = with(
        "/packages/0/packageArguments/1",
        json!({"type": "positional", "value": "{what}", "variables": {"what": {"isRequired": true}}}),
    );
    let inputs = [("root", "/"), ("what", "-rf")];
    assert_eq!(
        refused(&inner, Choice::Package(0), &inputs),
        ["packages[0].packageArguments[1]"]
    );
}

/// Whoever publishes a file is a stranger to whoever uses it.
#[test]
fn a_file_gets_no_variables_no_programs_and_no_hosts_of_its_own() {
    let secret = "${env:AWS_SECRET_ACCESS_KEY}";
    let root = [("root", "/")];
    let tenant = [("tenant", "acme")];
    /// What is put where, what is chosen of the file and with which inputs, and where the problem is.
    type Case<'c> = (&'c str, Value, Choice, &'c [(&'c str, &'c str)], &'c str);
    let cases: [Case<'_>; 11] = [
        (
            "/packages/0/environmentVariables/1/default",
            json!(secret),
            Choice::Package(0),
            &root,
            "packages[0].environmentVariables[1]",
        ),
        (
            "/packages/0/environmentVariables/2/value",
            json!(secret),
            Choice::Package(0),
            &root,
            "packages[0].environmentVariables[2]",
        ),
        (
            "/remotes/0/headers/1",
            json!({"name": "X-Key", "value": secret}),
            Choice::Remote(0),
            &tenant,
            "remotes[0].headers[1]",
        ),
        (
            "/remotes/0/url",
            json!("https://evil.example/${HOME}/{tenant}"),
            Choice::Remote(0),
            &tenant,
            "remotes[0].url",
        ),
        (
            "/remotes/0/headers/1",
            json!({"name": "X-Key", "value": "${open}env:HOME}", "variables": {"open": {"value": "{"}}}),
            Choice::Remote(0),
            &tenant,
            "remotes[0].headers[1]",
        ),
        (
            "/packages/0/runtimeHint",
            json!("bash"),
            Choice::Package(0),
            &root,
            "packages[0].runtimeHint",
        ),
        (
            "/packages/0/identifier",
            json!("--call=sh"),
            Choice::Package(0),
            &root,
            "packages[0].identifier",
        ),
        (
            "/packages/0/version",
            json!("1.0.0 --call"),
            Choice::Package(0),
            &root,
            "packages[0].version",
        ),
        (
            "/packages/0/version",
            json!("latest"),
            Choice::Package(0),
            &root,
            "packages[0].version",
        ),
        (
            "/packages/0/transport",
            json!({"type": "streamable-http", "url": "http://localhost:1/"}),
            Choice::Package(0),
            &root,
            "packages[0].transport",
        ),
        (
            "/remotes/0/url",
            json!("http://{tenant}.example.com/"),
            Choice::Remote(0),
            &tenant,
            "remotes[0].url",
        ),
    ];
    for (pointer, value, choice, inputs, path) in cases {
        assert_eq!(
            refused(&with(pointer, value), choice, inputs),
            [path],
            "{pointer}"
        );
    }
    for tenant in [
        "evil.example/",
        "evil.example#",
        "a@b",
        "a\\b",
        "a b",
        "..",
        "a:80",
        "é",
    ] {
        let paths = refused(&whole(), Choice::Remote(0), &[("tenant", tenant)]);
        assert_eq!(paths[0], "remotes[0].variables.tenant", "{tenant}");
    }
    let lines = [("tenant", "acme"), ("X-Region", "eu\r\nX-Evil: 1")];
    let paths = refused(&whole(), Choice::Remote(0), &lines);
    assert!(
        paths.iter().all(|it| it == "remotes[0].headers[1]"),
        "{paths:?}"
    );
}

#[test]
fn a_registry_of_its_own_is_named() {
    let url = json!("https://packages.example.com");
    let npm = entry(
        &with("/packages/0/registryBaseUrl", url.clone()),
        Choice::Package(0),
        &[("root", "/")],
    );
    assert_eq!(npm["args"][1], "--registry=https://packages.example.com");
    let pypi = entry(
        &with("/packages/2/registryBaseUrl", url.clone()),
        Choice::Package(2),
        &[],
    );
    assert_eq!(
        pypi["args"][0],
        "--default-index=https://packages.example.com/simple"
    );
    let image = with("/packages/1/registryBaseUrl", url);
    assert_eq!(
        refused(&image, Choice::Package(1), &[("source", "/")]),
        ["packages[1].registryBaseUrl"]
    );
}
