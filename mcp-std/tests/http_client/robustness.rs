//! What odd servers and what is between do to a client over HTTP.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use mcp_io::http::server::Listener;
use mcp_std::client::{CallError, Client};
use mcp_std::{Json, ProtocolVersion, Server, Structured};
use serde_json::{Value, json};
use smol::block_on;

use super::peer::{Answer, Asked, Peer};
use super::{builder, discovered, initialized, text};

/// A session `s1`, without a stream of the server's own messages.
fn legacy(asked: &Asked, answer: &mut Answer<'_>) -> bool {
    match (&*asked.verb, asked.method()) {
        ("POST", "initialize") => {
            let session = "Mcp-Session-Id: s1\r\n";
            answer.json(200, session, &asked.result(&initialized("2025-11-25")));
        }
        ("POST", "tools/call") => answer.json(200, "", &asked.result(&text("done"))),
        ("POST", _) if asked.body.get("id").is_none() => answer.status(202, "", ""),
        ("POST", _) => answer.json(200, "", &asked.result(&json!({}))),
        ("GET", _) => answer.status(405, "", ""),
        _ => answer.status(200, "", ""),
    }
    true
}

fn modern(asked: &Asked, answer: &mut Answer<'_>) -> bool {
    match asked.method() {
        "server/discover" => answer.json(200, "", &asked.result(&discovered())),
        _ => answer.json(200, "", &asked.result(&text("done"))),
    }
    true
}

async fn connect(url: &str, version: ProtocolVersion) -> Client {
    let builder = builder().revision(version);
    builder.connect_http(url).await.expect("connected")
}

/// HC-06, FR-04: whatever comes in place of the answer, with the id of the call or without, the call ends within a second,
/// and the others go on.
#[test]
fn fr_04_hc_06_id_02_a_body_that_is_no_answer_ends_its_call_at_once() {
    let bodies = [
        "",
        "{",
        "null",
        r#"{"status":200,"message":"Success"}"#,
        r#"{"id":N,"result":{}}"#,
        r#"{"jsonrpc":"1.0","id":N,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":N}"#,
        r#"{"jsonrpc":"2.0","id":N,"method":"ping","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":"0N","result":{"content":[]}}"#,
        r#"{"jsonrpc":"2.0","id":N,"result":{},"error":{"code":1,"message":"both"}}"#,
    ];
    for version in [ProtocolVersion::V2025_11_25, ProtocolVersion::V2026_07_28] {
        let calls = AtomicUsize::new(0);
        let peer = Peer::new(move |asked, answer| {
            let stream = match asked.method() {
                "tools/call" => match asked.body["params"]["name"].as_str() {
                    Some("json") => false,
                    Some("events") => true,
                    _ => return modern(asked, answer),
                },
                "server/discover" => return modern(asked, answer),
                _ => return legacy(asked, answer),
            };
            let at = calls.fetch_add(1, Ordering::Relaxed) % bodies.len();
            let body = bodies[at].replace('N', &asked.body["id"].to_string());
            if stream {
                answer.stream();
                answer.chunk(&format!("data: {body}\n\n"));
                answer.end();
            } else {
                answer.status(200, "Content-Type: application/json\r\n", &body);
            }
            true
        });
        block_on(async {
            let client = connect(&peer.url(), version).await;
            for tool in ["json", "events"] {
                for body in bodies {
                    let started = Instant::now();
                    let error = client.call_tool(tool, &()).await;
                    let error = error.expect_err("it was no answer");
                    assert!(
                        matches!(error, CallError::Http { .. } | CallError::Answer { .. }),
                        "{body}: {error}"
                    );
                    assert!(started.elapsed() < Duration::from_secs(1), "{body}");
                    let next = client.call_tool("good", &()).await;
                    assert_eq!(next.expect("an answer").text(), "done");
                }
            }
            client.close().await;
        });
    }
}

/// SN-03: an error status is about the request that it answers, whatever id its body has.
#[test]
fn sn_03_a_refusal_goes_to_the_call_that_was_refused() {
    for id in ["null", "0", "1", "2", "3", "\"server-error\""] {
        let waits = std::sync::mpsc::channel::<()>();
        let (refused, waits) = (Mutex::new(waits.0), Mutex::new(waits.1));
        let peer = Peer::new(move |asked, answer| {
            match asked.body["params"]["name"].as_str() {
                Some("slow") => {
                    waits.lock().expect("no panic").recv().expect("a refusal");
                    answer.json(200, "", &asked.result(&text("slow")));
                }
                Some("refused") => {
                    let body = format!(
                        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32000,"message":"Bad Request"}}}}"#
                    );
                    answer.status(400, "Content-Type: application/json\r\n", &body);
                }
                _ => return legacy(asked, answer),
            }
            true
        });
        block_on(async {
            let client = connect(&peer.url(), ProtocolVersion::V2025_11_25).await;
            let beside = client.clone();
            let slow = smol::spawn(async move { beside.call_tool("slow", &()).await });
            peer.wait(|asked| asked.body["params"]["name"] == "slow");
            let started = Instant::now();
            let error = client.call_tool("refused", &()).await;
            let error = error.expect_err("it was refused");
            let CallError::Protocol(answer) = &error else {
                panic!("{id}: {error}");
            };
            assert_eq!(answer.code.value(), -32000);
            assert!(started.elapsed() < Duration::from_secs(1));
            refused.lock().expect("no panic").send(()).expect("heard");
            assert_eq!(slow.await.expect("an answer").text(), "slow", "{id}");
            client.close().await;
        });
    }
}

/// HC-02: what stands in the body of an accepted notification does not matter, and the connection is used again.
#[test]
fn hc_02_bodies_of_accepted_notifications_do_not_matter() {
    let accepted = [
        (202, "Content-Type: text/plain\r\n", "accepted"),
        (200, "Content-Type: application/json\r\n", "null"),
        (202, "", "{}"),
        (202, "Content-Type: application/json\r\n", "{"),
        (
            200,
            "Content-Type: text/event-stream\r\n",
            ": nothing here\n\n",
        ),
    ];
    for (status, fields, body) in accepted {
        let peer = Peer::new(move |asked, answer| {
            if asked.verb == "POST" && asked.body.get("id").is_none() {
                answer.status(status, fields, body);
                return true;
            }
            legacy(asked, answer)
        });
        block_on(async {
            let client = connect(&peer.url(), ProtocolVersion::V2025_11_25).await;
            for _ in 0..3 {
                client.notify("x/told", &()).await.expect("sent");
                let outcome = client.call_tool("t", &()).await;
                assert_eq!(outcome.expect("an answer").text(), "done", "{body}");
            }
            client.close().await;
        });
        let told = peer.methods().iter().filter(|it| *it == "x/told").count();
        assert_eq!(told, 3);
    }
}

/// HC-02: nobody reads a body without end.
#[test]
fn hc_02_a_body_without_end_holds_nothing_up() {
    let peer = Peer::new(|asked, answer| {
        if asked.method() == "x/told" {
            answer.raw(
                "HTTP/1.1 202 X\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\n",
            );
            let flood = "x".repeat(100_000);
            for _ in 0..20 {
                answer.chunk(&flood);
            }
            return false;
        }
        legacy(asked, answer)
    });
    block_on(async {
        let client = connect(&peer.url(), ProtocolVersion::V2025_11_25).await;
        for _ in 0..3 {
            let started = Instant::now();
            client.notify("x/told", &()).await.expect("sent");
            let outcome = client.call_tool("t", &()).await.expect("an answer");
            assert_eq!(outcome.text(), "done");
            assert!(started.elapsed() < Duration::from_secs(2));
        }
        client.close().await;
    });
}

/// HC-03: a session goes through redirects with all that belongs to it, and later calls begin where they were told to.
#[test]
fn hc_03_a_session_is_redirected_with_its_headers() {
    let peer = Peer::new(|asked, answer| {
        let (path, hops) = asked
            .target
            .rsplit_once("/hop")
            .map_or((&*asked.target, 0), |(path, hops)| {
                (path, hops.parse::<u32>().expect("a number"))
            });
        match hops {
            hops if asked.body["params"]["name"] == "far" => {
                let location = format!("Location: /mcp/hop{}\r\n", hops + 1);
                answer.status(307, &location, "");
                true
            }
            0 => {
                assert_eq!(path, "/mcp?tenant=a");
                answer.status(308, "Location: /mcp/hop1\r\n", "");
                true
            }
            1 => {
                // Without a scheme, and without a host.
                answer.status(307, "Location: ./hop2\r\n", "");
                true
            }
            _ => legacy(asked, answer),
        }
    });
    block_on(async {
        let client = connect(&peer.url(), ProtocolVersion::V2025_11_25).await;
        let outcome = client.call_tool("t", &()).await.expect("an answer");
        assert_eq!(outcome.text(), "done");
        let started = Instant::now();
        let error = client.call_tool("far", &()).await;
        let error = error.expect_err("it goes on and on").to_string();
        assert!(error.contains("redirect"), "{error}");
        assert!(started.elapsed() < Duration::from_secs(2));
        let outcome = client.call_tool("t", &()).await.expect("an answer");
        assert_eq!(outcome.text(), "done");
        client.close().await;
    });
    let asked = peer.asked();
    let calls: Vec<_> = asked
        .iter()
        .filter(|asked| asked.body["params"]["name"] == "t")
        .collect();
    assert_eq!(calls.len(), 6, "three for each call");
    for call in &calls {
        assert_eq!(call.verb, "POST");
        assert_eq!(call.field("mcp-session-id"), Some("s1"));
        assert_eq!(call.field("mcp-protocol-version"), Some("2025-11-25"));
    }
    for (first, other) in [(0, 1), (0, 2), (3, 4), (3, 5)] {
        assert_eq!(calls[first].body, calls[other].body);
    }
    assert_eq!(calls[3].target, "/mcp?tenant=a");
}

/// HC-04: nobody makes a GET of a POST.
#[test]
fn hc_04_redirects_that_would_change_the_request_are_not_followed() {
    for status in [301, 302, 303] {
        let peer = Peer::new(move |asked, answer| {
            if asked.method() == "tools/call" {
                answer.status(status, "Location: /mcp/\r\n", "");
                return true;
            }
            legacy(asked, answer)
        });
        block_on(async {
            let client = connect(&peer.url(), ProtocolVersion::V2025_11_25).await;
            let error = client.call_tool("t", &()).await;
            let error = error.expect_err("it leads elsewhere").to_string();
            assert!(error.contains("/mcp/"), "{error}");
            client.close().await;
        });
        let gets: Vec<_> = peer
            .asked()
            .into_iter()
            .filter(|asked| asked.verb == "GET")
            .collect();
        assert!(
            gets.iter().all(|get| get.target == "/mcp?tenant=a"),
            "{gets:?}"
        );
    }
}

/// HC-05: on the wire is what was configured, in all that is sent.
#[test]
fn hc_05_the_target_is_as_it_was_configured() {
    let peer = Peer::new(legacy);
    let origin = peer.url();
    let origin = origin.strip_suffix("/mcp?tenant=a").expect("its end");
    for target in [
        "/mcp",
        "/mcp/",
        "/mcp?tenant=a",
        "/",
        "/a%2Fb/?x=%20&y",
        "/A//b",
    ] {
        block_on(async {
            let url = format!(" \t{origin}{target} \n");
            let client = connect(&url, ProtocolVersion::V2025_11_25).await;
            client.call_tool("t", &()).await.expect("an answer");
            client.close().await;
        });
        let verbs = ["POST", "GET", "DELETE"];
        for verb in verbs {
            let asked = peer.asked();
            let last = asked.iter().rfind(|asked| asked.verb == verb);
            assert_eq!(last.expect("it was asked").target, target, "{verb}");
        }
    }
}

/// OR-10: on the stream of the server's own messages, and on that of the call that is pending.
#[test]
fn or_10_a_ping_is_answered_on_every_stream() {
    for own in [true, false] {
        let (ask, asks) = std::sync::mpsc::channel::<()>();
        let (answered, answers) = std::sync::mpsc::channel::<Value>();
        let (ask, asks) = (Mutex::new(ask), Mutex::new(asks));
        let (answered, answers) = (Mutex::new(answered), Mutex::new(answers));
        let ping = json!({ "jsonrpc": "2.0", "id": "p1", "method": "ping" });
        let peer = Peer::new(move |asked, answer| {
            match (&*asked.verb, asked.method()) {
                ("GET", _) if own => {
                    answer.stream();
                    asks.lock().expect("no panic").recv().expect("a call");
                    answer.event(&ping);
                }
                ("POST", "tools/call") => {
                    answer.stream();
                    if own {
                        ask.lock().expect("no panic").send(()).expect("heard");
                    } else {
                        answer.event(&ping);
                    }
                    let answers = answers.lock().expect("no panic");
                    let pong = answers.recv_timeout(Duration::from_secs(1));
                    let pong = pong.expect("an answer within a second");
                    assert_eq!(pong, json!({ "jsonrpc": "2.0", "id": "p1", "result": {} }));
                    answer.event(&asked.result(&text("done")));
                    answer.end();
                }
                ("POST", "") => {
                    let answered = answered.lock().expect("no panic");
                    answered.send(asked.body.clone()).expect("heard");
                    answer.status(202, "", "");
                }
                _ => return legacy(asked, answer),
            }
            true
        });
        block_on(async {
            let client = connect(&peer.url(), ProtocolVersion::V2025_11_25).await;
            let outcome = client.call_tool("t", &()).await.expect("an answer");
            assert_eq!(outcome.text(), "done");
            client.close().await;
        });
    }
}

/// DX-03: a coding that nobody offered is an error that says so, in answers and in refusals.
#[test]
fn dx_03_a_coded_answer_is_a_clear_error() {
    let peer = Peer::new(|asked, answer| {
        assert_eq!(asked.field("accept-encoding"), None);
        match asked.body["params"]["name"].as_str() {
            Some("gzip") => {
                let fields = "Content-Type: application/json\r\nContent-Encoding: gzip\r\n";
                answer.status(200, fields, "\u{1f}\u{8}\0\0");
                true
            }
            _ => legacy(asked, answer),
        }
    });
    block_on(async {
        let client = connect(&peer.url(), ProtocolVersion::V2025_11_25).await;
        let error = client.call_tool("gzip", &()).await.expect_err("coded");
        assert!(error.to_string().contains("`gzip`"), "{error}");
        client.call_tool("t", &()).await.expect("an answer");
        client.close().await;
    });
}

/// FR-12, FR-07: what is in a string arrives as it was, by JSON and by events, there and back.
#[test]
fn fr_07_fr_12_control_characters_arrive_by_http() {
    let every: String = (0..32_u8)
        .map(char::from)
        .chain("\u{7f}\u{2028}\u{feff}é🦀".chars())
        .collect();
    let mirror = |arguments: Value| async move { Structured(arguments) };
    let nothing = || async { "a\0b" };
    let server = Server::builder("mirror", "1")
        .tool("mirror", "", mirror)
        .tool("nul", "", nothing)
        .tool("watched", "", |context: mcp_std::Context| async move {
            context.progress(mcp_std::Progress::new(1.0)).await;
            "SELECT 1\r\nFROM\tt\0"
        })
        .build()
        .expect("a server");
    let listener = Listener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/mcp", listener.local_addr().expect("an address"));
    let http = server.http();
    std::thread::spawn(move || block_on(http.serve_on(listener, std::future::pending())));
    for version in [ProtocolVersion::V2025_11_25, ProtocolVersion::V2026_07_28] {
        block_on(async {
            let client = connect(&url, version).await;
            let outcome = client.call_tool("nul", &()).await.expect("an answer");
            assert_eq!(outcome.text(), "a\0b");
            let sent =
                json!({ "text": every, "deep": { "lines": ["a\r\nb\tc", { "nul": "\0" }] } });
            // As a program prints it that likes line ends between its tokens.
            let pretty = serde_json::to_string_pretty(&sent).expect("JSON");
            let pretty = Json::owned(pretty).expect("JSON");
            let outcome = client.call_tool("mirror", &pretty).await;
            let outcome = outcome.expect("an answer");
            let back = outcome.structured::<Value>().expect("it is there");
            assert_eq!(back.expect("JSON"), sent);
            let options = mcp_std::client::CallOptions::new().on_progress(|_| {});
            let outcome = client.call_tool_with("watched", &(), options).await;
            assert_eq!(outcome.expect("an answer").text(), "SELECT 1\r\nFROM\tt\0");
            client.close().await;
        });
    }
}

/// HC-06: the connection ends at each byte of an answer. The call fails at once, and the one after it goes well.
#[test]
fn hc_06_an_answer_may_break_at_any_byte() {
    for version in [ProtocolVersion::V2025_11_25, ProtocolVersion::V2026_07_28] {
        let cut = std::sync::Arc::new(AtomicUsize::new(0));
        let whole = std::sync::Arc::new(AtomicUsize::new(usize::MAX));
        let (cuts, wholes) = (cut.clone(), whole.clone());
        let peer = Peer::new(move |asked, answer| {
            let events = match asked.body["params"]["name"].as_str() {
                Some("json") => false,
                Some("events") => true,
                _ if asked.method() == "server/discover" => return modern(asked, answer),
                _ => return legacy(asked, answer),
            };
            let mut body = asked.result(&text("done")).to_string();
            let kind = match events {
                true => {
                    body = format!(": here it comes\n\ndata: {body}\n\n");
                    "text/event-stream"
                }
                false => "application/json",
            };
            let response = format!(
                "HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n{body}",
                body.len()
            );
            wholes.store(response.len(), Ordering::SeqCst);
            answer.raw(&response[..response.len().min(cuts.load(Ordering::SeqCst))]);
            false
        });
        block_on(async {
            let client = connect(&peer.url(), version).await;
            for tool in ["json", "events"] {
                whole.store(usize::MAX, Ordering::SeqCst);
                for at in (0..).step_by(3) {
                    cut.store(at, Ordering::SeqCst);
                    let started = Instant::now();
                    let outcome = client.call_tool(tool, &()).await;
                    assert!(started.elapsed() < Duration::from_secs(1), "{tool} {at}");
                    match outcome {
                        Ok(outcome) => assert_eq!(outcome.text(), "done"),
                        Err(error) => {
                            assert!(matches!(error, CallError::Http { .. }), "{error:?}");
                        }
                    }
                    if at >= whole.load(Ordering::SeqCst) {
                        break;
                    }
                }
                let outcome = client.call_tool("good", &()).await;
                assert_eq!(outcome.expect("an answer").text(), "done");
            }
            client.close().await;
        });
    }
}
