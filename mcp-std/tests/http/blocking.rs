//! Handlers that compute for long without giving way.

use std::time::{Duration, Instant};

use async_io::Timer;
use mcp_std::Server;
use mcp_std::http::Options;
use serde_json::json;

use crate::site::{Request, Session, Site, request, said};

fn server() -> Server {
    Server::builder("blocking", "1")
        .tool("now", "", || async { "now" })
        .tool("soon", "", || async {
            Timer::after(Duration::from_millis(20)).await;
            "soon"
        })
        .tool("computes", "", || async {
            // Not on the thread that takes the request.
            futures_lite::future::yield_now().await;
            std::thread::sleep(Duration::from_secs(2));
            "computed"
        })
        .build()
        .expect("a server")
}

/// A handler that blocks its thread holds up its own session, and no other client.
#[test]
fn a_session_that_computes() {
    for threads in [1, 2] {
        let site = Site::with(&server(), |http| {
            let mut options = Options::default();
            options.threads = threads;
            http.options(options)
        });
        let session = Session::new(&site, "2025-11-25");
        let other = Session::new(&site, "2025-11-25");
        let mut client = site.connect();
        client.send(&session.call(1, "computes"));
        std::thread::sleep(Duration::from_millis(200));
        let began = Instant::now();
        // Those that wait for the session do not keep others from being served.
        let mut waiting: Vec<_> = (2..10)
            .map(|id| {
                let mut client = site.connect();
                client.send(&session.call(id, "now"));
                client
            })
            .collect();
        assert_eq!(said(&site.ask(&other.call(1, "now")).message()), "now");
        assert_eq!(said(&site.ask(&other.call(1, "soon")).message()), "soon");
        let list = request(2, "tools/list", &json!({}));
        assert_eq!(other.ask(&list).status, 200);
        let modern = Request::modern(1, "tools/call", &json!({ "name": "now" }));
        assert_eq!(said(&site.ask(&modern).message()), "now");
        let third = Session::new(&site, "2025-06-18");
        assert_eq!(site.ask(&third.delete()).status, 204);
        let took = began.elapsed();
        assert!(took < Duration::from_secs(1), "{threads}: {took:?}");
        assert_eq!(said(&client.response().message()), "computed");
        for client in &mut waiting {
            assert_eq!(said(&client.response().message()), "now");
        }
    }
}
