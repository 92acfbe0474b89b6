//! One server for clients of all revisions at the same time.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::UnixStream;
use std::thread;

use async_io::Async;
use mcp_std::{Server, Tool};
use serde_json::{Value, json};

use crate::old::Old;
use crate::site::{Request, Session, Site, request, said};

fn server() -> Server {
    Server::builder("eras", "1")
        .list_changes()
        .tool("now", "", || async { "now" })
        .build()
        .expect("a server")
}

/// VER-05, DET-12: at one URL.
#[test]
fn all_revisions_at_one_url_at_once() {
    let site = Site::new(&server());
    let call = json!({ "name": "now" });
    thread::scope(|scope| {
        for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
            let (site, call) = (&site, &call);
            scope.spawn(move || {
                let session = Session::new(site, version);
                for n in 0..50 {
                    let response = session.ask(&request(n, "tools/call", call));
                    assert_eq!(said(&response.message()), "now");
                    let list = session.ask(&request(n, "tools/list", &json!({})));
                    assert_eq!(list.result().get("ttlMs"), None);
                }
            });
        }
        scope.spawn(|| {
            let mut client = site.connect();
            for n in 0..50 {
                client.send(&Request::modern(n, "tools/call", &call));
                let message = client.response().message();
                assert_eq!(message["result"]["resultType"], "complete");
                assert_eq!(said(&message), "now");
            }
        });
        scope.spawn(|| {
            let mut old = Old::new(&site);
            old.initialize("2024-11-05");
            for n in 0..50 {
                old.post(&request(n, "tools/call", &call));
                assert_eq!(said(&old.events.message()), "now");
            }
        });
        // VER-09: both on one connection.
        scope.spawn(|| {
            let session = Session::new(&site, "2025-11-25");
            let mut client = site.connect();
            for n in 0..50 {
                client.send(&Request::modern(n, "tools/call", &call));
                assert_eq!(
                    client.response().message()["result"]["resultType"],
                    "complete"
                );
                client.send(&session.call(n, "now"));
                assert_eq!(
                    client.response().message()["result"].get("resultType"),
                    None
                );
            }
        });
    });
}

/// On a stream of lines as well, at the same time; a change reaches all of them.
#[test]
fn one_server_on_lines_and_over_http() {
    let server = server();
    let site = Site::new(&server);
    let (near, far) = UnixStream::pair().expect("a pair of sockets");
    let lines = server.clone();
    let serving = thread::spawn(move || {
        let far = Async::new(far).expect("a socket");
        async_io::block_on(lines.serve(&far, &far)).expect("sockets do not fail");
    });
    let mut reader = BufReader::new(near.try_clone().expect("a socket"));
    let mut writer = near;
    let mut send = |message: &Value| writeln!(writer, "{message}").expect("the server reads");
    let mut message = || -> Value {
        let mut line = String::new();
        reader.read_line(&mut line).expect("UTF-8");
        serde_json::from_str(&line).expect("JSON")
    };
    let opened = request(
        "init",
        "initialize",
        &json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        }),
    );
    send(&opened);
    assert_eq!(message()["id"], "init");
    send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    send(&request(1, "tools/call", &json!({ "name": "now" })));
    assert_eq!(said(&message()), "now");

    let session = Session::new(&site, "2025-06-18");
    let mut listening = site.connect().stream(&session.get());
    let listen = json!({ "notifications": { "toolsListChanged": true } });
    let listen = Request::modern("l", "subscriptions/listen", &listen);
    let mut modern = site.connect().stream(&listen);
    let acknowledged = modern.message();
    assert_eq!(
        acknowledged["method"],
        "notifications/subscriptions/acknowledged"
    );
    server
        .add_tool(Tool::new("more", "", || async { "more" }))
        .expect("the server can change");
    for changed in [message(), listening.message(), modern.message()] {
        assert_eq!(changed["method"], "notifications/tools/list_changed");
    }
    send(&request(2, "tools/call", &json!({ "name": "more" })));
    assert_eq!(said(&message()), "more");
    assert_eq!(said(&site.ask(&session.call(2, "more")).message()), "more");
    let call = Request::modern(2, "tools/call", &json!({ "name": "more" }));
    assert_eq!(said(&site.ask(&call).message()), "more");
    drop(writer);
    drop(reader);
    serving.join().expect("the server ends");
}
