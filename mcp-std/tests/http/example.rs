//! An example that is running.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, Stdio};

use crate::site::{Client, Request, Response};

/// Where `cargo test` puts an example of this package: beside the tests.
pub(crate) fn path(name: &str) -> PathBuf {
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
    path
}

/// Killed when it is dropped.
pub(crate) struct Example {
    child: Child,
    stdin: Option<ChildStdin>,
    /// What it says its URL is.
    pub(crate) url: String,
    address: SocketAddr,
}

impl Example {
    /// On a port of its own, with these words behind it.
    pub(crate) fn start(name: &str, arguments: &[&str]) -> Self {
        let mut child = Command::new(path(name))
            .arg("127.0.0.1:0")
            .args(arguments)
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it starts");
        let mut line = String::new();
        let stderr = child.stderr.take().expect("piped");
        BufReader::new(stderr).read_line(&mut line).expect("UTF-8");
        let url = line.trim();
        let address = url.strip_prefix("http://");
        let address = address.and_then(|address| address.split('/').next());
        let address = address.and_then(|address| address.parse().ok());
        let address = address.unwrap_or_else(|| panic!("no address: {line}"));
        Self {
            stdin: child.stdin.take(),
            child,
            url: url.to_owned(),
            address,
        }
    }

    pub(crate) fn ask(&self, user: Option<&str>, request: Request) -> Response {
        let request = match user {
            Some(user) => request.with("authorization", &format!("Bearer token-of-{user}")),
            None => request,
        };
        let mut client = Client::to(self.address);
        client.send(&request);
        client.response()
    }

    /// Its standard input ends. Whether it ends well.
    pub(crate) fn end(mut self) -> bool {
        drop(self.stdin.take());
        self.child.wait().expect("it ran").success()
    }
}

impl Drop for Example {
    fn drop(&mut self) {
        // It has ended by itself, at worst.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
