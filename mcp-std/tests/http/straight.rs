//! A request that comes in one piece is read by another reader than one that comes in two: nobody can tell.

use std::time::Duration;

use async_io::Timer;
use mcp_std::http::HttpRules;
use mcp_std::{Context, Progress, Server};
use serde_json::json;

use crate::site::{Request, Site, notification, request};

fn server() -> Server {
    Server::builder("straight", "1")
        .tool("now", "", || async { "now" })
        .tool("soon", "", || async {
            Timer::after(Duration::from_millis(5)).await;
            "soon"
        })
        .tool("streams", "", |context: Context| async move {
            context.progress(Progress::new(1.0)).await;
            "streamed"
        })
        .tool("panics", "", || async {
            if true {
                panic!("as asked");
            }
            "never"
        })
        .build()
        .expect("a server")
}

fn call(tool: &str) -> Request {
    let params = json!({ "name": tool, "_meta": { "progressToken": 1 } });
    Request::modern(1, "tools/call", &params)
}

#[test]
fn whether_a_request_comes_in_one_piece_is_of_no_account() {
    let rules = HttpRules::new().origin("https://app.example.com");
    let site = Site::with(&server(), |http| http.rules(rules));
    let list = request(1, "tools/list", &json!({}));
    let requests = [
        call("now"),
        call("soon"),
        call("streams"),
        call("panics"),
        call("nothing"),
        call("now").set("accept", "application/json"),
        call("now").set("accept", "text/event-stream"),
        call("now").set("accept", "text/html"),
        call("now").set("host", "example.com"),
        call("now").without("host"),
        call("now").with("host", "localhost"),
        call("now").with("origin", "https://app.example.com"),
        call("now").with("origin", "https://example.com"),
        call("now").set("content-type", "text/plain"),
        call("now").set("mcp-name", "soon"),
        call("now").with("Mcp-Name", "now"),
        call("now").with("mcp-name", "soon"),
        call("now").without("mcp-method"),
        call("now").set("mcp-protocol-version", "2099-01-01"),
        call("now").at("/?sessionId=1"),
        call("now").with("mcp-session-id", "a b"),
        call("now").with("connection", "close"),
        call("now").with("connection", "keep-alive"),
        call("now").saying("{"),
        call("now").saying(""),
        call("now").saying("[]"),
        Request::modern(1, "server/discover", &json!({})),
        Request::modern(1, "no/method", &json!({})),
        Request::modern(1, "tools/list", &json!({ "cursor": "x" })),
        Request::post(notification(
            "notifications/cancelled",
            &json!({ "requestId": 1 }),
        )),
        Request::post(&list),
        Request::post(&list).with("mcp-session-id", "0123456789abcdef"),
        Request::post(&list).at("/?sessionId=0123456789abcdef"),
        Request::post(json!([list, list])),
        Request::new("DELETE").with("mcp-session-id", "0123456789abcdef"),
        Request::new("OPTIONS"),
    ];
    for request in &requests {
        let whole = site.ask(request).transcript();
        let bytes = request.bytes();
        let mut client = site.connect();
        let (first, second) = bytes.split_at(bytes.len() / 2);
        client.write(first);
        // The server hears of it.
        std::thread::sleep(Duration::from_millis(10));
        client.write(second);
        assert_eq!(client.response().transcript(), whole, "{request:?}");
    }
    // One after the other on one connection: whoever has it at last.
    let mut client = site.connect();
    for request in &requests {
        if request
            .headers
            .contains(&("connection".into(), "close".into()))
        {
            continue;
        }
        let alone = site.ask(request).transcript();
        client.send(request);
        assert_eq!(client.response().transcript(), alone, "{request:?}");
    }
}
