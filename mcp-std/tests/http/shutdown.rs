//! How a server ends.

use std::time::{Duration, Instant};

use async_io::Timer;
use mcp_std::Server;
use mcp_std::http::Options;
use serde_json::json;

use crate::old::Old;
use crate::site::{Client, Request, Session, Site, said};

fn server() -> Server {
    Server::builder("shutdown", "1")
        .tool("soon", "", || async {
            Timer::after(Duration::from_millis(300)).await;
            "soon"
        })
        .tool("never", "", || async {
            Timer::after(Duration::from_secs(60)).await;
            "never"
        })
        .build()
        .expect("a server")
}

/// What is in flight is answered, what would go on for ever ends, and nobody is let in any more.
#[test]
fn what_is_in_flight_is_answered() {
    let site = Site::new(&server());
    let session = Session::new(&site, "2025-11-25");
    let mut modern = site.connect();
    modern.send(&Request::modern(
        1,
        "tools/call",
        &json!({ "name": "soon" }),
    ));
    let mut legacy = site.connect();
    legacy.send(&session.call(2, "soon"));
    let listening = site.connect().stream(&session.get());
    let old = Old::new(&site);
    std::thread::sleep(Duration::from_millis(50));
    drop(session);
    let address = site.address;
    site.shut_down();
    let began = Instant::now();
    let events = listening.rest();
    assert!(events.iter().all(|event| event.data.as_deref() == Some("")));
    assert_eq!(old.events.rest(), []);
    assert!(began.elapsed() < Duration::from_millis(250));
    assert_eq!(said(&modern.response().message()), "soon");
    assert_eq!(said(&legacy.response().message()), "soon");
    site.end();
    assert!(std::net::TcpStream::connect(address).is_err());
}

/// For as long as it may take.
#[test]
fn what_does_not_end_is_dropped() {
    let site = Site::with(&server(), |http| {
        let mut options = Options::default();
        options.grace = Duration::from_millis(200);
        http.options(options)
    });
    let session = Session::new(&site, "2025-11-25");
    let mut clients: Vec<Client> = [
        session.call(1, "never"),
        Request::modern(1, "tools/call", &json!({ "name": "never" })),
    ]
    .iter()
    .map(|request| {
        let mut client = site.connect();
        client.send(request);
        client
    })
    .collect();
    std::thread::sleep(Duration::from_millis(50));
    drop(session);
    let began = Instant::now();
    site.shut_down();
    site.end();
    assert!(began.elapsed() < Duration::from_secs(2));
    for client in &mut clients {
        assert!(client.try_head().is_none());
    }
}
