//! `subscriptions/listen` over HTTP: a stream of its own.

use std::time::Duration;

use mcp_std::{Resource, Server, Tool};
use serde_json::{Value, json};

use crate::site::{Events, Request, Site};

const ID: &str = "io.modelcontextprotocol/subscriptionId";

fn server() -> Server {
    Server::builder("listening", "1")
        .list_changes()
        .subscriptions()
        .with_resource(Resource::new("mem://a", "a", || async { "a" }))
        .build()
        .expect("a server")
}

fn listen(id: impl Into<Value>, notifications: Value) -> Request {
    let params = json!({ "notifications": notifications });
    Request::modern(id, "subscriptions/listen", &params)
}

/// SUB-03: the first message says what of it is honoured.
fn open(site: &Site, request: &Request, id: &Value) -> Events {
    let mut stream = site.connect().stream(request);
    let first = stream.message();
    assert_eq!(
        first["method"], "notifications/subscriptions/acknowledged",
        "{first}"
    );
    assert_eq!(first["params"]["_meta"][ID], *id, "META-14");
    stream
}

/// SUB-03, META-14, HTTP-16: each stream has what it asked for and nothing else.
#[test]
fn each_stream_has_what_it_asked_for() {
    let server = server();
    let site = Site::new(&server);
    let tools = listen("t", json!({ "toolsListChanged": true }));
    let mut tools = open(&site, &tools, &json!("t"));
    let resource = listen(7, json!({ "resourceSubscriptions": ["mem://a"] }));
    let mut resource = open(&site, &resource, &json!(7));
    server.resource_updated("mem://a");
    let updated = resource.message();
    assert_eq!(updated["method"], "notifications/resources/updated");
    assert_eq!(
        updated["params"],
        json!({ "_meta": { ID: 7 }, "uri": "mem://a" })
    );
    assert!(tools.is_quiet(Duration::from_millis(30)));
    server
        .add_tool(Tool::new("t", "", || async { "" }))
        .expect("the server can change");
    let changed = tools.message();
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    assert_eq!(changed["params"]["_meta"][ID], "t");
    assert!(resource.is_quiet(Duration::from_millis(30)));
}

/// SUB-11: a subscription to nothing is over at once.
#[test]
fn li_04_listening_to_nothing() {
    let site = Site::new(&server());
    let response = site.ask(&listen(1, json!({})));
    let events = response.events();
    assert_eq!(events.len(), 2, "{events:?}");
    assert_eq!(
        events[0].message()["method"],
        "notifications/subscriptions/acknowledged"
    );
    assert_eq!(events[1].message()["result"]["resultType"], "complete");
}

/// SUB-11, SUB-12: the server says that it ends, and then it does.
#[test]
fn ended_by_the_server() {
    let site = Site::new(&server());
    let mut streams: Vec<_> = (0..20)
        .map(|id| {
            let request = listen(id, json!({ "toolsListChanged": true }));
            open(&site, &request, &json!(id))
        })
        .collect();
    site.shut_down();
    for (id, stream) in streams.iter_mut().enumerate() {
        let cancelled = stream.message();
        assert_eq!(cancelled["method"], "notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], id);
        let ended = stream.message();
        assert_eq!(ended["id"], id);
        assert_eq!(ended["result"]["_meta"][ID], id);
        assert_eq!(stream.next(), None);
    }
    site.end();
}

/// It cannot be one JSON text.
#[test]
fn a_stream_has_to_be_taken() {
    let site = Site::new(&server());
    let request = listen(1, json!({ "toolsListChanged": true }));
    let response = site.ask(&request.set("accept", "application/json"));
    assert_eq!(response.status, 406, "{response:?}");
}

/// A small version of `tests/http-load`: a change reaches all of them.
#[test]
fn two_hundred_streams() {
    let server = server();
    let site = Site::new(&server);
    let mut streams: Vec<_> = (0..200)
        .map(|id| {
            let request = listen(id, json!({ "toolsListChanged": true }));
            open(&site, &request, &json!(id))
        })
        .collect();
    for round in 0..3 {
        let tool = Tool::new(format!("t{round}"), "", || async { "" });
        server.add_tool(tool).expect("the server can change");
        for (id, stream) in streams.iter_mut().enumerate() {
            let changed = stream.message();
            assert_eq!(changed["method"], "notifications/tools/list_changed");
            assert_eq!(changed["params"]["_meta"][ID], id);
        }
    }
}
