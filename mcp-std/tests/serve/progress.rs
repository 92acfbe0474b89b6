//! Reports of progress: whose they are, in which order they come, and which are left out.

use std::collections::HashMap;
use std::time::Duration;

use async_io::Timer;
use mcp_std::{Context, Progress, Server};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::peer::{call, call_with_progress, cancel, session};

#[derive(Deserialize, JsonSchema)]
struct Steps {
    steps: Vec<f64>,
    #[serde(default)]
    message: Option<String>,
}

fn server() -> Server {
    Server::builder("progress", "1")
        .tool("report", "", |context: Context, args: Steps| async move {
            for step in args.steps {
                let mut progress = Progress::new(step);
                progress.message = args.message.as_deref().map(Into::into);
                context.progress(progress).await;
            }
            context.wants_progress().to_string()
        })
        .tool(
            "report and go on",
            "",
            |context: Context, args: Steps| async move {
                for step in args.steps {
                    context.progress(Progress::new(step)).await;
                    Timer::after(Duration::from_millis(5)).await;
                }
            },
        )
        .build()
        .expect("a server")
}

fn reported(messages: &[Value]) -> Vec<f64> {
    messages
        .iter()
        .filter(|message| message["method"] == "notifications/progress")
        .map(|message| message["params"]["progress"].as_f64().expect("a number"))
        .collect()
}

/// OR-08: 64 handlers, 50 reports of 1 KB each, and a reader that is slow.
#[test]
fn or_08_every_report_in_its_order_and_before_the_result() {
    session(&server(), |mut peer| async move {
        let steps: Vec<_> = (1..=50).collect();
        let args = json!({ "steps": steps, "message": "m".repeat(1000) }).to_string();
        let calls: Vec<_> = (0..64)
            .map(|id| call_with_progress(id, "report", &args))
            .collect();
        peer.send(&calls.join("\n")).await;
        let mut last: HashMap<u64, u64> = HashMap::new();
        for n in 0..64 * 51 {
            if n < 200 {
                Timer::after(Duration::from_millis(1)).await;
            }
            let message = peer.message().await;
            if let Some(id) = message["id"].as_u64() {
                assert_eq!(
                    last.remove(&id),
                    Some(50),
                    "all reports of {id} came before"
                );
                continue;
            }
            let params = &message["params"];
            let token = params["progressToken"].as_u64().expect("an id");
            let progress = last.entry(token).or_default();
            *progress += 1;
            assert_eq!(params["progress"], *progress, "of {token}");
            assert_eq!(params["message"].as_str().map(str::len), Some(1000));
        }
        assert!(last.is_empty(), "{last:?} were not answered");
        assert_eq!(peer.rest().await.len(), 0);
    });
}

#[test]
fn nothing_without_a_token() {
    session(&server(), |mut peer| async move {
        peer.send(&call(1, "report", r#"{"steps":[1,2,3]}"#)).await;
        let messages = peer.rest().await;
        assert_eq!(messages.len(), 1);
        assert_eq!(messages[0]["result"]["content"][0]["text"], "false");
    });
}

/// PRG-03.
#[test]
fn only_what_is_more_than_before() {
    session(&server(), |mut peer| async move {
        let args = r#"{"steps":[1,1,0.5,2,-1,2.5,2.5,1e3,1001]}"#;
        peer.send(&call_with_progress(1, "report", args)).await;
        let messages = peer.rest().await;
        assert_eq!(reported(&messages), [1.0, 2.0, 2.5, 1000.0, 1001.0]);
        let result = messages.last().expect("the result comes last");
        assert_eq!(result["result"]["content"][0]["text"], "true");
    });
}

#[test]
fn nothing_after_a_cancellation() {
    session(&server(), |mut peer| async move {
        let steps: Vec<_> = (1..1000).collect();
        let args = json!({ "steps": steps }).to_string();
        peer.send(&call_with_progress(1, "report and go on", &args))
            .await;
        assert_eq!(peer.message().await["params"]["progress"], 1);
        peer.send(&cancel(1)).await;
        // The same id again: reports of the first call are not taken for its own.
        peer.send(&call_with_progress(1, "report", r#"{"steps":[0.25]}"#))
            .await;
        let messages = peer.rest().await;
        let result = messages.iter().position(|message| message["id"] == 1);
        assert_eq!(result, Some(messages.len() - 1));
        let reported = reported(&messages);
        assert_eq!(reported.last(), Some(&0.25));
        assert!(reported.is_sorted_by(|a, b| a < b || *b == 0.25));
    });
}
