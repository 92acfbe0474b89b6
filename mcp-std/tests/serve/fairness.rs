//! No handler, and no flood of messages, keeps others from their turn.

use std::future::poll_fn;
use std::task::Poll;

use mcp_std::{Context, Progress, Server};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::peer::{call_with_progress, cancel, session, text};

#[derive(Deserialize, JsonSchema)]
struct Tell {
    /// How much further each report is than the last one.
    step: f64,
}

fn server() -> Server {
    Server::builder("fairness", "1")
        .tool("spin", "Wakes itself for ever", || {
            poll_fn(|cx| -> Poll<()> {
                cx.waker().wake_by_ref();
                Poll::Pending
            })
        })
        .tool(
            "tell",
            "Reports progress for ever, without a rest",
            |context: Context, args: Tell| async move {
                let mut progress = 0.0;
                loop {
                    context
                        .progress(Progress::new(progress).saying("on and on"))
                        .await;
                    progress += args.step;
                }
                #[expect(unreachable_code, reason = "says what the future would return")]
                ()
            },
        )
        .tool("echo", "", || async { "here" })
        .build()
        .expect("a server")
}

#[test]
fn a_handler_that_wakes_itself() {
    session(&server(), |mut peer| async move {
        peer.call(1, "spin", "{}").await;
        for id in 2..100 {
            assert_eq!(text(&peer.answer(id, "echo", "{}").await), "here");
        }
        peer.send(&cancel(1)).await;
        peer.ping().await;
        assert_eq!(peer.rest().await.len(), 0);
    });
}

/// Progress that is sent, faster than anyone reads, and progress that is left out because it is none.
#[test]
fn a_handler_that_never_stops_reporting() {
    for step in ["1", "0"] {
        session(&server(), |mut peer| async move {
            let args = format!(r#"{{"step":{step}}}"#);
            peer.send(&call_with_progress(1, "tell", &args)).await;
            peer.call(2, "echo", "{}").await;
            let mut told = 0;
            loop {
                let message = peer.message().await;
                if message["id"] == 2 {
                    break;
                }
                assert_eq!(message["params"]["progressToken"], 1);
                told += 1;
            }
            peer.send(&cancel(1)).await;
            let left = peer.rest().await;
            assert!(left.iter().all(|message| message.get("id").is_none()));
            assert!(step == "1" || told + left.len() == 1, "PRG-03");
        });
    }
}

/// More messages than one turn takes; nothing comes after them that would begin another.
#[test]
fn a_flood_of_messages() {
    session(&server(), |mut peer| async move {
        let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
        for count in [1023, 1024, 1025, 1500] {
            peer.send(&vec![ping; count].join("\n")).await;
            for _ in 0..count {
                assert_eq!(peer.line().await, r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
            }
        }
        assert_eq!(peer.rest().await.len(), 0);
    });
}
