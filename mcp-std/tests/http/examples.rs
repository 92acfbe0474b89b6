//! The examples do what they show.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use serde_json::json;

use crate::site::{Client, Request, Response, initialize, notification, request, said};

/// Killed when it is dropped.
struct Example {
    child: Child,
    address: SocketAddr,
}

impl Example {
    /// An example of this package, which `cargo test` puts beside the tests, on a port of its own.
    fn start(name: &str) -> Self {
        let test = std::env::current_exe().expect("the path of this test");
        let directory = test.parent().and_then(|deps| deps.parent());
        let path = directory
            .expect("target/…/deps")
            .join("examples")
            .join(name);
        assert!(
            path.exists(),
            "{} is not built: run `cargo test` without `--test`, or `cargo build --example {name}` before",
            path.display()
        );
        let mut child = Command::new(path)
            .arg("127.0.0.1:0")
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let stderr = child.stderr.take().expect("piped");
        BufReader::new(stderr).read_line(&mut line).expect("UTF-8");
        let address = line.trim().strip_prefix("http://");
        let address = address.and_then(|address| address.split('/').next());
        let address = address.and_then(|address| address.parse().ok());
        let address = address.unwrap_or_else(|| panic!("no address: {line}"));
        Self { child, address }
    }

    fn ask(&self, user: Option<&str>, request: Request) -> Response {
        let request = match user {
            Some(user) => request.with("authorization", &format!("Bearer token-of-{user}")),
            None => request,
        };
        let mut client = Client::to(self.address);
        client.send(&request);
        client.response()
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        // It has ended by itself, at worst.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// LH-34: a session is of the user who began it.
#[test]
fn server_axum() {
    let example = Example::start("server_axum");
    let health = example.ask(None, Request::new("GET").at("/health"));
    assert_eq!((health.status, health.text()), (200, "well"));
    let nap = json!({ "name": "nap", "arguments": { "ms": 5 } });
    let modern = Request::modern(1, "tools/call", &nap);
    assert_eq!(example.ask(None, modern.clone()).status, 401);
    assert_eq!(example.ask(Some("eve"), modern.clone()).status, 401);
    let answer = example.ask(Some("alice"), modern);
    assert_eq!(said(&answer.message()), "slept for 5 ms");

    let opened = example.ask(Some("alice"), initialize("2025-11-25", &json!({})));
    let id = opened
        .header("mcp-session-id")
        .expect("a session")
        .to_owned();
    let of_session = |message| Request::post(message).with("mcp-session-id", &id);
    let initialized = notification("notifications/initialized", &json!({}));
    let accepted = example.ask(Some("alice"), of_session(initialized));
    assert_eq!(accepted.status, 202);
    let call = request(2, "tools/call", &nap);
    let answer = example.ask(Some("alice"), of_session(call.clone()));
    assert_eq!(said(&answer.message()), "slept for 5 ms");
    assert_eq!(example.ask(Some("bob"), of_session(call)).status, 404);
    let delete = Request::new("DELETE").with("mcp-session-id", &id);
    assert_eq!(example.ask(Some("bob"), delete.clone()).status, 404);
    assert_eq!(example.ask(Some("alice"), delete).status, 204);
}
