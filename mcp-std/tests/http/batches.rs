//! Batches of 2025-03-26.

use mcp_std::{Context, Progress, Server};
use serde_json::{Value, json};

use crate::site::{Session, Site, cancel, notification, request};

fn server() -> (Server, async_channel::Sender<()>) {
    let (open, opened) = async_channel::unbounded::<()>();
    let server = Server::builder("batches", "1")
        .tool("now", "", || async { "now" })
        .tool("gate", "", move |context: Context| {
            let opened = opened.clone();
            async move {
                context.progress(Progress::new(1.0)).await;
                let _ = opened.recv().await;
                "through"
            }
        })
        .build()
        .expect("a server");
    (server, open)
}

fn call(id: u64, tool: &str) -> Value {
    request(id, "tools/call", &json!({ "name": tool }))
}

fn ids(message: &Value) -> Vec<u64> {
    let answers = message
        .as_array()
        .unwrap_or_else(|| panic!("no array: {message}"));
    let mut ids: Vec<_> = answers
        .iter()
        .map(|answer| answer["id"].as_u64().expect("an answer"))
        .collect();
    ids.sort_unstable();
    ids
}

/// BAT-01, BAT-05, BAT-07.
#[test]
fn id_09_id_10_a_batch_has_one_response() {
    let (server, _open) = server();
    let site = Site::new(&server);
    let session = Session::new(&site, "2025-03-26");
    let initialized = notification("notifications/initialized", &json!({}));
    let batch = json!([
        call(1, "now"),
        initialized,
        call(2, "now"),
        request(3, "ping", &json!({}))
    ]);
    let response = session.ask(&batch);
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(ids(&response.message()), [1, 2, 3]);
    session.tell(&json!([initialized, initialized]));
    session.tell(&json!([{ "jsonrpc": "2.0", "id": 9, "result": {} }]));
    let response = session.ask(&json!([]));
    assert_eq!((response.status, response.code()), (400, Some(-32600)));
}

/// BAT-06: what is about one of its calls is in its stream, before all the answers.
#[test]
fn a_batch_that_takes_its_time() {
    let (server, open) = server();
    let site = Site::new(&server);
    let session = Session::new(&site, "2025-03-26");
    let mut slow = call(1, "gate");
    slow["params"]["_meta"] = json!({ "progressToken": "p" });
    let batch = json!([slow, call(2, "now")]);
    let mut stream = site.connect().stream(&session.post(&batch));
    assert_eq!(stream.message()["params"]["progressToken"], "p");
    open.try_send(()).expect("the tool waits");
    assert_eq!(ids(&stream.message()), [1, 2]);
    assert_eq!(stream.rest(), []);
}

/// Who cancels the last call of a batch that was not answered does not get the answers of the others.
#[test]
fn a_batch_whose_last_call_is_cancelled() {
    let (server, open) = server();
    let site = Site::new(&server);
    for accept in ["application/json, text/event-stream", "application/json"] {
        let session = Session::new(&site, "2025-03-26");
        let post = |batch: Value| session.post(&batch).set("accept", accept);
        let mut first = site.connect();
        first.send(&post(json!([call(1, "now"), call(2, "gate")])));
        let mut second = site.connect();
        second.send(&post(json!([call(3, "now"), call(4, "gate")])));
        let mut third = site.connect();
        third.send(&post(json!([call(5, "now"), call(6, "gate")])));
        // They have been taken once this is answered behind them.
        crate::site::until("all three run", || {
            let response = session.ask(&json!([call(2, "now"), call(4, "now"), call(6, "now")]));
            let answers = response.message();
            let answers = answers.as_array().expect("answers");
            answers
                .iter()
                .all(|answer| answer["error"]["code"] == -32600)
        });
        // By a message of its own.
        session.tell(&cancel(2));
        assert_eq!(ids(&first.response().message()), [1]);
        // By a batch, which has answers of its own.
        let batch = json!([call(7, "now"), cancel(4), call(8, "now"), cancel(6)]);
        assert_eq!(ids(&session.ask(&batch).message()), [7, 8]);
        assert_eq!(ids(&second.response().message()), [3]);
        assert_eq!(ids(&third.response().message()), [5]);
        // By itself.
        let batch = json!([call(9, "gate"), call(10, "now"), cancel(9)]);
        assert_eq!(ids(&session.ask(&batch).message()), [10]);
        // With nothing left to be said.
        let response = session.ask(&json!([call(11, "gate"), cancel(11)]));
        assert_eq!(response.status, 202, "{response:?}");
    }
    drop(open);
}
