//! What is answered with which status: whole responses, but for their dates.

use std::time::Duration;

use async_io::Timer;
use mcp_std::http::{HttpRules, SessionLimits};
use mcp_std::model::ClientCapabilities;
use mcp_std::{Limits, Server, Tool};
use serde_json::{Value, json};

use crate::site::{Request, Session, Site, initialize, notification, request};

fn server() -> Server {
    let mut limits = Limits::DEFAULT;
    limits.max_message = 4096;
    Server::builder("status", "1")
        .limits(limits)
        .tool("now", "", || async { "now" })
        .tool("later", "", || async {
            Timer::after(Duration::from_secs(60)).await;
            "later"
        })
        .with_tool(Tool::new("samples", "", || async { "" }).requires(ClientCapabilities::SAMPLING))
        .build()
        .expect("a server")
}

fn call(tool: &str) -> Request {
    Request::modern(1, "tools/call", &json!({ "name": tool }))
}

fn json_response(status: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\ncontent-type: application/json\ncontent-length: {length}\n\n{body}")
}

fn refusal(status: &str, message: &str) -> String {
    json_response(status, &error(-32600, message))
}

fn error(code: i64, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","error":{{"code":{code},"message":"{message}"}}}}"#)
}

fn error_to(id: u8, code: i64, message: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"{message}"}}}}"#)
}

#[track_caller]
fn assert_transcript(site: &Site, request: &Request, expected: &str) {
    let response = site.ask(request);
    assert_eq!(response.transcript(), expected, "to {request:?}");
}

#[test]
fn result_200() {
    let site = Site::new(&server());
    let body = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"status","version":"1"}},"content":[{"type":"text","text":"now"}]}}"#;
    assert_transcript(&site, &call("now"), &json_response("200 OK", body));
}

/// HTTP-09, HS-07.
#[test]
fn hs_07_notification_202() {
    let site = Site::new(&server());
    let body = notification("notifications/initialized", &json!({}));
    let modern = Request::post(&body).with("mcp-protocol-version", "2026-07-28");
    let accepted = "HTTP/1.1 202 Accepted\ncontent-length: 0\n\n";
    assert_transcript(&site, &modern, accepted);
    let session = Session::new(&site, "2025-11-25");
    assert_transcript(&site, &session.post(&body), accepted);
}

/// VAL-01, HDR-02: a header that is missing, or says something else.
#[test]
fn header_mismatch_400() {
    let site = Site::new(&server());
    let mismatch = |message: &str| {
        let body = error_to(1, -32020, message);
        json_response("400 Bad Request", &body)
    };
    for (request, message) in [
        (
            call("now").without("mcp-method"),
            "Header mismatch: `Mcp-Method` is missing",
        ),
        (
            call("now").set("mcp-method", "tools/list"),
            "Header mismatch: `Mcp-Method` does not agree with the body",
        ),
        (
            call("now").without("mcp-name"),
            "Header mismatch: `Mcp-Name` is missing",
        ),
        (
            call("now").set("mcp-protocol-version", "2025-11-25"),
            "Header mismatch: `MCP-Protocol-Version` does not agree with the body",
        ),
    ] {
        assert_transcript(&site, &request, &mismatch(message));
    }
}

/// META-11.
#[test]
fn missing_meta_400() {
    let site = Site::new(&server());
    let body = json!({ "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } });
    let request = Request::post(request(1, "tools/list", &body))
        .with("mcp-protocol-version", "2026-07-28")
        .with("mcp-method", "tools/list");
    let response = site.ask(&request);
    assert_eq!(response.status, 400);
    assert_eq!(response.code(), Some(-32602));
    let request = Request::post(self::request(1, "tools/list", &json!({})))
        .with("mcp-protocol-version", "2026-07-28")
        .with("mcp-method", "tools/list");
    let response = site.ask(&request);
    assert_eq!(response.status, 400);
    assert_eq!(response.code(), Some(-32602));
}

/// ERR-09, VAL-07: before everything else that a later revision may have changed.
#[test]
fn unsupported_version_400() {
    let site = Site::new(&server());
    let mut body = request(1, "tools/new", &json!({ "name": "x" }));
    body["params"]["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2099-01-01",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let request = Request::post(body).with("mcp-protocol-version", "2099-01-01");
    let response = site.ask(&request);
    assert_eq!(response.status, 400);
    let error = &response.message()["error"];
    assert_eq!(error["code"], -32022);
    assert_eq!(error["data"]["requested"], "2099-01-01");
    assert_eq!(error["data"]["supported"][0], "2026-07-28");
}

/// ERR-08.
#[test]
fn missing_capability_400() {
    let site = Site::new(&server());
    let response = site.ask(&call("samples"));
    assert_eq!(response.status, 400);
    let error = &response.message()["error"];
    assert_eq!(error["code"], -32021);
    let required = json!({ "sampling": {} });
    assert_eq!(error["data"]["requiredCapabilities"], required);
}

/// HDR-04, ERR-10: also of a capability that is not declared.
#[test]
fn unknown_method_404() {
    let site = Site::new(&server());
    for method in ["tools/new", "prompts/list", "ping", "initialize"] {
        let response = site.ask(&Request::modern(1, method, &json!({})));
        let body = error_to(1, -32601, &format!("Method not found: {method}"));
        let expected = json_response("404 Not Found", &body);
        assert_eq!(response.transcript(), expected);
    }
}

/// Where the specification names no status it is 200.
#[test]
fn unknown_tool_200() {
    let site = Site::new(&server());
    let body = error_to(1, -32602, "Unknown tool: none");
    assert_transcript(&site, &call("none"), &json_response("200 OK", &body));
}

#[test]
fn no_json_400() {
    let site = Site::new(&server());
    for body in ["", "{", "nonsense", "{\"jsonrpc\":\"2.0\",}", "\u{feff}{}"] {
        let response = site.ask(&call("now").saying(body));
        assert_eq!(response.status, 400, "{body}: {response:?}");
        let message = response.message();
        assert_eq!(message["error"]["code"], -32700, "{body}");
        assert_eq!(message.get("id"), None, "RPC-09: {body}");
    }
}

#[test]
fn no_message_400() {
    let site = Site::new(&server());
    for body in [
        "1",
        "{}",
        "null",
        r#"{"jsonrpc":"1.0","id":1,"method":"x"}"#,
    ] {
        for request in [call("now"), Request::post("")] {
            let response = site.ask(&request.saying(body));
            assert_eq!(response.status, 400, "{body}: {response:?}");
            assert_eq!(response.code(), Some(-32600), "{body}");
        }
    }
}

/// BAT-08, DET-12: there are no batches but in sessions of 2025-03-26.
#[test]
fn batch_400() {
    let site = Site::new(&server());
    let batch = json!([request(1, "tools/list", &json!({}))]);
    let session = Session::new(&site, "2025-06-18");
    for request in [
        Request::post(&batch),
        call("now").saying(&batch),
        session.post(&batch),
    ] {
        let response = site.ask(&request);
        assert_eq!(response.status, 400, "{response:?}");
        assert_eq!(response.code(), Some(-32600));
    }
}

/// RPC-16, HTTP-08: in the modern era the server asks nothing.
#[test]
fn response_400() {
    let site = Site::new(&server());
    let body = json!({ "jsonrpc": "2.0", "id": 1, "result": {} });
    let response = site.ask(&call("now").saying(body));
    assert_eq!(response.status, 400, "{response:?}");
    assert_eq!(response.code(), Some(-32600));
}

/// HTTP-02.
#[test]
fn origin_403() {
    let site = Site::new(&server());
    let expected = refusal("403 Forbidden", "Forbidden: `Origin` is not permitted");
    let request = call("now").with("origin", "https://evil.example");
    assert_transcript(&site, &request, &expected);
}

/// HS-05: the connection goes on.
#[test]
fn hs_05_method_405() {
    let site = Site::new(&server());
    let body = error(-32600, "Method not allowed");
    let length = body.len();
    let expected = format!(
        "HTTP/1.1 405 Method Not Allowed\ncontent-type: application/json\nallow: POST, GET, DELETE, OPTIONS\ncontent-length: {length}\n\n"
    );
    let mut client = site.connect();
    for method in ["PUT", "PATCH", "TRACE", "BREW"] {
        client.send(&Request::new(method));
        let response = client.response();
        assert_eq!(response.transcript(), [expected.as_str(), &body].concat());
    }
    client.send(&Request::new("HEAD"));
    // Of a body that does not come.
    assert_eq!(client.head().transcript(), expected);
    client.send(&call("now"));
    assert_eq!(client.response().status, 200);
}

/// HDR-11, DET-13, HS-06: without sessions there is nothing to be got and nothing to be deleted.
#[test]
fn hs_05_hs_06_get_and_delete_405() {
    let without = Site::with(&server(), |http| {
        http.rules(HttpRules::new().sessions(false))
    });
    let with = Site::new(&server());
    for request in [Request::get(), Request::new("DELETE")] {
        for request in [request.clone(), request.with("authorization", "Bearer x")] {
            let response = without.ask(&request);
            assert_eq!(response.status, 405);
            assert_eq!(response.header("allow"), Some("POST, OPTIONS"));
            assert_eq!(response.header("www-authenticate"), None);
            let modern = request.with("mcp-protocol-version", "2026-07-28");
            assert_eq!(with.ask(&modern).status, 405);
        }
    }
}

#[test]
fn accept_406() {
    let site = Site::new(&server());
    let expected = refusal(
        "406 Not Acceptable",
        "`Accept` has to list application/json and text/event-stream",
    );
    for accept in ["text/html", "*/*;q=0", "image/*"] {
        assert_transcript(&site, &call("now").set("accept", accept), &expected);
    }
    let get = Request::get().set("accept", "application/json");
    assert_eq!(site.ask(&get).status, 406);
}

/// DX-05.
#[test]
fn dx_05_slow_408() {
    let site = Site::with(&server(), |http| {
        http.body_timeout(Duration::from_millis(100))
    });
    let mut client = site.connect();
    let request = call("now");
    client.write(request.head().as_bytes());
    client.write(b"content-length: 100\r\n\r\n{");
    let response = client.response();
    let expected = refusal("408 Request Timeout", "The body did not come in time");
    assert_eq!(response.transcript(), expected);
    assert!(client.is_ended());
}

/// DX-05: what is announced is not read, and what comes is not read on.
#[test]
fn dx_05_too_long_413() {
    let site = Site::new(&server());
    let expected = refusal(
        "413 Payload Too Large",
        "The body is longer than this server takes",
    );
    let mut client = site.connect();
    client.write(call("now").head().as_bytes());
    client.write(b"content-length: 4097\r\n\r\n");
    assert_eq!(client.response().transcript(), expected);
    assert!(client.is_ended());

    let mut client = site.connect();
    client.write(call("now").head().as_bytes());
    client.write(b"transfer-encoding: chunked\r\n\r\n");
    for _ in 0..4 {
        client.write(format!("400\r\n{}\r\n", " ".repeat(1024)).as_bytes());
    }
    client.write(b"1\r\n \r\n");
    assert_eq!(client.response().transcript(), expected);

    // As long as may be.
    let request = call("now");
    let body = String::from_utf8(request.body.clone()).expect("UTF-8");
    let padding = " ".repeat(4096 - body.len());
    let response = site.ask(&request.saying([body, padding].concat()));
    assert_eq!(response.status, 200);
}

#[test]
fn content_type_415() {
    let site = Site::new(&server());
    let expected = refusal(
        "415 Unsupported Media Type",
        "`Content-Type` has to be application/json",
    );
    let request = call("now").set("content-type", "text/plain");
    assert_transcript(&site, &request, &expected);
    assert_transcript(&site, &call("now").without("content-type"), &expected);
}

/// SN-06: all sessions are in use.
#[test]
fn busy_503() {
    let site = Site::with(&server(), |http| {
        let mut limits = SessionLimits::default();
        limits.max_sessions = 2;
        http.session_limits(limits)
    });
    let sessions = [(); 2].map(|()| Session::new(&site, "2025-11-25"));
    let streams = sessions
        .each_ref()
        .map(|session| site.connect().stream(&session.get()));
    let expected = refusal(
        "503 Service Unavailable",
        "Server busy: too many sessions or streams, retry later",
    );
    assert_transcript(&site, &initialize("2025-11-25", &json!({})), &expected);
    drop(streams);
}

/// LH-24, LH-25, SN-04.
#[test]
fn sn_04_sessions_400_and_404() {
    let site = Site::new(&server());
    let list = request(1, "tools/list", &json!({}));
    let missing = refusal(
        "400 Bad Request",
        "`Mcp-Session-Id` is missing: begin with `initialize`, or send modern requests with their `_meta`",
    );
    assert_transcript(&site, &Request::post(&list), &missing);
    let unknown = refusal(
        "404 Not Found",
        "Session not found: begin another one with `initialize`",
    );
    let never = "00000000000000000000000000000000";
    for request in [Request::post(&list), Request::get(), Request::new("DELETE")] {
        let request = request.with("mcp-session-id", never);
        assert_transcript(&site, &request, &unknown);
    }
    let session = Session::new(&site, "2025-11-25");
    assert_transcript(&site, &session.delete(), "HTTP/1.1 204 No Content\n\n");
    assert_transcript(&site, &session.delete(), &unknown);
    assert_transcript(&site, &session.post(&list), &unknown);
}

/// What a handler finds out too late for a status is told in the stream (HTTP-21).
#[test]
fn errors_of_a_stream_are_events() {
    let site = Site::new(&server());
    let response = site.ask(&call("none").set("accept", "text/event-stream"));
    assert_eq!(response.status, 200);
    assert!(response.is_stream(), "{response:?}");
    assert_eq!(response.code(), Some(-32602));
    // The status counts for more than what is liked best.
    let response = site.ask(
        &call("now")
            .set("accept", "text/event-stream")
            .without("mcp-name"),
    );
    assert_eq!(response.status, 400, "{response:?}");
    assert_eq!(response.code(), Some(-32020));
    let _: Value = response.message();
}

/// A body that a layer in front has cut is one that is too long, and none that broke.
#[test]
fn a_limit_of_a_layer_in_front_is_one() {
    use core::pin::Pin;
    use core::task::{Context, Poll};
    use std::io;

    use http_body::{Body, Frame};
    use tower_service::Service as _;

    struct Cut(&'static str);

    impl Body for Cut {
        type Data = bytes::Bytes;
        type Error = io::Error;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Self::Data>, io::Error>>> {
            Poll::Ready(Some(Err(io::Error::other(self.0))))
        }
    }

    let mut service = server().http().service();
    let mut status = |error| {
        let request = http::Request::post("/mcp")
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .body(Cut(error))
            .expect("a request");
        let response = async_io::block_on(service.call(request));
        response.expect("infallible").status().as_u16()
    };
    assert_eq!(status("length limit exceeded"), 413);
    assert_eq!(status("connection reset"), 400);
}
