//! `mcp serve --http … --auth-issuer …`.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::issuer::{Issuer, RESOURCE};
use crate::keys::Signer;
use crate::protected::{bearing, parameter};
use crate::site::{Client, Request, said};

const MCP: &str = env!("CARGO_BIN_EXE_mcp");

struct Program(Child, SocketAddr);

impl Program {
    fn new(arguments: &[&str]) -> Self {
        let mut child = Command::new(MCP)
            .args(["serve", "--http", "127.0.0.1:0"])
            .args(arguments)
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program is there");
        let mut lines = BufReader::new(child.stderr.take().expect("it is piped")).lines();
        let mut first = lines.next().expect("a line").expect("UTF-8");
        // Whatever else it says is read, so that it can go on.
        std::thread::spawn(move || lines.for_each(drop));
        let at = first.find("http://").expect("its address") + "http://".len();
        let address = first.split_off(at);
        let (address, _) = address.split_once('/').expect("a path");
        Self(child, address.parse().expect("an address"))
    }

    fn ask(&self, request: &Request) -> crate::site::Response {
        let mut client = Client::to(self.1);
        client.send(request);
        client.response()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_program_protects_what_it_serves() {
    let key = Signer::es256("a");
    let issuer = Issuer::new(&[&key]);
    let program = Program::new(&[
        "--auth-issuer",
        &issuer.url,
        "--auth-audience",
        RESOURCE,
        "--auth-scope",
        "read",
        "--auth-tool-scope",
        "add=maths",
    ]);
    let echo = Request::modern(
        1,
        "tools/call",
        &json!({ "name": "echo", "arguments": { "text": "hi" } }),
    );
    let response = program.ask(&echo);
    assert_eq!(response.status, 401);
    assert_eq!(parameter(&response, "scope").as_deref(), Some("read"));
    let token = key.token(&issuer.claims());
    // By the name of the resource as well as that of this machine.
    for host in ["mcp.example.com", "localhost"] {
        let response = program.ask(&bearing(echo.clone().set("host", host), &token));
        assert_eq!(said(&response.message()), "hi");
    }
    let add = Request::modern(
        1,
        "tools/call",
        &json!({ "name": "add", "arguments": { "a": 1, "b": 2 } }),
    );
    let response = program.ask(&bearing(add, &token));
    assert_eq!(response.status, 403);
    assert_eq!(parameter(&response, "scope").as_deref(), Some("read maths"));
    let page = Request::new("GET").at("/.well-known/oauth-protected-resource/mcp");
    assert_eq!(program.ask(&page).message()["resource"], RESOURCE);
}

/// The code and the last words of a run that cannot be.
fn refused(arguments: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(MCP);
    command.arg("serve").args(arguments).stdin(Stdio::null());
    let output = command.output().expect("the program is there");
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    (output.status.code(), said)
}

#[test]
fn what_cannot_be_is_said_with_what_to_do() {
    let http = ["--http", "127.0.0.1:0"];
    let issuer = ["--auth-issuer", "https://as.example.com"];
    let audience = ["--auth-audience", RESOURCE];
    for (arguments, part) in [
        ([&issuer[..], &audience[..]].concat(), "--http"),
        ([&http[..], &issuer[..]].concat(), "--auth-audience"),
        ([&http[..], &audience[..]].concat(), "--auth-issuer"),
        (
            [
                &http[..],
                &issuer[..],
                &["--auth-audience", "mcp.example.com"],
            ]
            .concat(),
            "https://",
        ),
        (
            [
                &http[..],
                &audience[..],
                &["--auth-issuer", "http://as.example.com"],
            ]
            .concat(),
            "https://",
        ),
        (
            [
                &http[..],
                &audience[..],
                &issuer[..],
                &["--auth-tool-scope", "add"],
            ]
            .concat(),
            "TOOL=SCOPE",
        ),
        (
            [
                &http[..],
                &audience[..],
                &issuer[..],
                &["--auth-tool-scope", "Add=maths"],
            ]
            .concat(),
            "no tool `Add`",
        ),
        (
            [
                &http[..],
                &audience[..],
                &issuer[..],
                &["--auth-scope", "a b"],
            ]
            .concat(),
            "blank",
        ),
    ] {
        let (code, said) = refused(&arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {said}");
        assert!(said.contains(part), "{arguments:?}: {said}");
    }
}
