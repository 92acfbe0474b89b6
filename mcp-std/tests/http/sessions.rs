//! How sessions begin and end, and how many there are.

use std::time::{Duration, Instant};

use async_io::Timer;
use mcp_std::Server;
use mcp_std::http::SessionLimits;
use serde_json::json;

use crate::site::{Request, Session, Site, initialize, request, said, until};

fn server() -> Server {
    Server::builder("sessions", "1")
        .tool("now", "", || async { "now" })
        .tool("soon", "", || async {
            Timer::after(Duration::from_millis(900)).await;
            "soon"
        })
        .tool("ever", "", std::future::pending::<String>)
        .build()
        .expect("a server")
}

fn bounded(server: &Server, max_sessions: usize, idle: Duration) -> Site {
    Site::with(server, |http| {
        let mut limits = SessionLimits::default();
        limits.max_sessions = max_sessions;
        limits.idle = idle;
        http.session_limits(limits)
    })
}

/// SN-04, LH-24, LH-25.
#[test]
fn sn_04_a_session_is_there_until_it_is_deleted() {
    let site = Site::new(&server());
    let list = request(1, "tools/list", &json!({}));
    let session = Session::new(&site, "2025-11-25");
    let other = Session::new(&site, "2025-11-25");
    assert_eq!(session.ask(&list).status, 200);
    let stream = site.connect().stream(&session.get());
    assert_eq!(site.ask(&session.delete()).status, 204);
    // Its streams end with it.
    assert!(
        stream
            .rest()
            .iter()
            .all(|event| event.data.as_deref() == Some(""))
    );
    for request in [session.delete(), session.post(&list), session.get()] {
        assert_eq!(site.ask(&request).status, 404);
    }
    assert_eq!(other.ask(&list).status, 200);
    assert_eq!(site.ask(&Request::post(&list)).status, 400);
    assert_eq!(site.ask(&Request::new("DELETE")).status, 400);
}

/// A session ends with the calls that run in it.
#[test]
fn a_deleted_session_answers_nobody() {
    let site = Site::new(&server());
    let session = Session::new(&site, "2025-11-25");
    let mut client = site.connect();
    client.send(&session.call(1, "soon"));
    std::thread::sleep(Duration::from_millis(50));
    let began = Instant::now();
    assert_eq!(site.ask(&session.delete()).status, 204);
    assert_eq!(client.response().status, 404);
    assert!(began.elapsed() < Duration::from_millis(700));
}

/// `initialize` that fails opens none.
#[test]
fn a_session_begins_with_a_version() {
    let site = Site::new(&server());
    let response = site.ask(&Request::post(request(1, "initialize", &json!({}))));
    assert_eq!(response.code(), Some(-32602), "{response:?}");
    assert_eq!(response.header("mcp-session-id"), None);
    // Again in a session.
    let session = Session::new(&site, "2025-11-25");
    let again = initialize("2025-11-25", &json!({})).with("mcp-session-id", &session.id);
    let response = site.ask(&again);
    assert_eq!((response.status, response.code()), (400, Some(-32600)));
}

/// SN-06: never more than the cap; the one that was not used for the longest time makes room.
#[test]
fn sn_06_sessions_are_bounded() {
    let site = bounded(&server(), 20, Duration::from_secs(600));
    let first = Session::new(&site, "2025-11-25");
    let used = Session::new(&site, "2025-11-25");
    let list = request(1, "tools/list", &json!({}));
    let mut client = site.connect();
    for n in 0..500 {
        client.send(&initialize("2025-11-25", &json!({})));
        let response = client.response();
        assert_eq!(response.status, 200, "{n}: {response:?}");
        if n % 10 == 0 {
            assert_eq!(used.ask(&list).status, 200, "{n}");
        }
    }
    assert_eq!(first.ask(&list).status, 404);
    assert_eq!(used.ask(&list).status, 200);
}

/// SN-06: streams and calls are use.
#[test]
fn sn_06_unused_sessions_end() {
    let site = bounded(&server(), 100, Duration::from_millis(400));
    let list = request(1, "tools/list", &json!({}));
    let unused = Session::new(&site, "2025-11-25");
    let listening = Session::new(&site, "2025-11-25");
    let stream = site.connect().stream(&listening.get());
    let calling = Session::new(&site, "2025-11-25");
    let response = site.ask(&calling.call(1, "soon"));
    assert_eq!(said(&response.message()), "soon");
    assert_eq!(unused.ask(&list).status, 404);
    assert_eq!(listening.ask(&list).status, 200);
    assert_eq!(calling.ask(&list).status, 200);
    drop(stream);
    until("it ends once nobody listens", || {
        std::thread::sleep(Duration::from_millis(800));
        listening.ask(&list).status == 404
    });
}

/// SN-06: a call whose client has left is none, however long it goes on.
#[test]
fn sessions_that_nobody_comes_back_to_end() {
    let site = bounded(&server(), 100, Duration::from_millis(300));
    let session = Session::new(&site, "2025-11-25");
    let mut client = site.connect();
    client.send(&session.call(1, "ever"));
    std::thread::sleep(Duration::from_millis(100));
    drop(client);
    std::thread::sleep(Duration::from_millis(1500));
    let list = request(2, "tools/list", &json!({}));
    assert_eq!(session.ask(&list).status, 404);
}

/// SN-07: as many modern requests as there could be sessions leave room for all of them.
#[test]
fn sn_07_modern_requests_take_no_room() {
    let site = bounded(&server(), 2, Duration::from_secs(600));
    let session = Session::new(&site, "2025-11-25");
    let mut client = site.connect();
    for n in 0..1000 {
        client.send(&Request::modern(n, "server/discover", &json!({})));
        let response = client.response();
        assert_eq!(response.header("mcp-session-id"), None);
        assert_eq!(response.message()["id"], n);
    }
    let list = request(1, "tools/list", &json!({}));
    assert_eq!(session.ask(&list).status, 200);
}
