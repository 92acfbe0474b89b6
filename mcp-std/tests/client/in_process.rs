//! Client and server in one process, in both eras.

use std::sync::{Arc, OnceLock};

use mcp_std::client::{CallError, CallOptions, Client};
use mcp_std::model::{ElicitAction, ElicitResult};
use mcp_std::{Context, Progress, ProtocolVersion, Server, Tool};
use serde_json::json;

use crate::peer::{MOMENT, builder};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Count {
    to: u32,
}

fn server() -> Server {
    Server::builder("counter", "1")
        .with_tool(Tool::new(
            "count",
            "Counts",
            |context: Context, args: Count| async move {
                for step in 1..=args.to {
                    context.progress(Progress::new(step.into())).await;
                }
                args.to.to_string()
            },
        ))
        .build()
        .expect("nothing to refuse")
}

#[test]
fn all_revisions_are_spoken_without_a_stream() {
    smol::block_on(async {
        for &version in ProtocolVersion::ALL {
            let client = builder()
                .revision(version)
                .connect_in_process(&server())
                .await
                .expect("it connects");
            assert_eq!(client.version(), version);
            assert_eq!(client.list_tools().await.expect("it answers").len(), 1);
            let steps = std::sync::Arc::new(std::sync::atomic::AtomicU32::new(0));
            let seen = steps.clone();
            let options = CallOptions::new().on_progress(move |_| {
                seen.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            });
            let to = json!({"to": 100});
            let counted = client.call_tool_with("count", &to, options);
            assert_eq!(counted.await.expect("it answers").text(), "100");
            assert_eq!(steps.load(std::sync::atomic::Ordering::SeqCst), 100);
            let error = client.call_tool("nothing", &()).await;
            assert!(matches!(error, Err(CallError::Protocol(_))), "{error:?}");
            client.close().await;
        }
    });
}

#[test]
fn one_handler_on_each_side_serves_both_eras() {
    let server = Server::builder("asks", "1")
        .with_tool(Tool::new("ask", "Asks", |context: Context| async move {
            let asked = mcp_std::model::ElicitRequestParams::form(
                "Who?",
                mcp_std::model::RequestedSchema::new(mcp_std::model::Map::EMPTY),
            );
            match context.elicit(asked).await {
                Ok(answer) => format!("{:?}", answer.action),
                Err(error) => error.to_string(),
            }
        }))
        .build()
        .expect("nothing to refuse");
    smol::block_on(async {
        for version in [ProtocolVersion::V2025_06_18, ProtocolVersion::V2026_07_28] {
            let client = builder()
                .revision(version)
                .elicitation(|request| async move {
                    assert_eq!(request.server.expect("it said so").name, "asks");
                    ElicitResult::new(ElicitAction::Decline)
                })
                .connect_in_process(&server)
                .await
                .expect("it connects");
            let said = client.call_tool("ask", &()).await.expect("it answers");
            assert_eq!(said.text(), "Decline", "{version:?}");
        }
    });
}

/// What a call brings back with it from the client's user counts among what waits.
#[test]
fn a_call_that_waits_is_counted_with_the_answers_it_brings() {
    for (length, is_refused) in [(4000, true), (10, false)] {
        let (napping, naps) = smol::channel::bounded::<()>(1);
        let (wake, woken) = smol::channel::bounded::<()>(1);
        let server = Server::builder("busy", "1")
            .max_concurrent(1)
            .max_waiting(2000)
            .with_tool(Tool::new("ask", "Asks", |context: Context| async move {
                let fields = mcp_std::model::RequestedSchema::new(mcp_std::model::Map::EMPTY);
                let asked = mcp_std::model::ElicitRequestParams::form("Who?", fields);
                match context.elicit(asked).await {
                    Ok(answer) => format!("{:?}", answer.action),
                    Err(error) => error.to_string(),
                }
            }))
            .tool("nap", "Takes the one place there is", move || {
                let (napping, woken) = (napping.clone(), woken.clone());
                async move {
                    napping.send(()).await.expect("somebody waits");
                    woken.recv().await.expect("somebody wakes");
                    "awake"
                }
            })
            .build()
            .expect("nothing to refuse");
        let known = Arc::new(OnceLock::<Client>::new());
        let client = known.clone();
        let (naps, wakes) = (naps.clone(), wake.clone());
        let builder = builder().elicitation(move |_| {
            let (client, naps, wake) = (client.clone(), naps.clone(), wakes.clone());
            async move {
                let client = client.get().expect("it is connected").clone();
                smol::spawn(async move { client.call_tool("nap", &()).await }).detach();
                naps.recv().await.expect("it naps");
                if !is_refused {
                    // Once the call waits in its turn.
                    smol::spawn(async move {
                        smol::Timer::after(MOMENT).await;
                        let _ = wake.send(()).await;
                    })
                    .detach();
                }
                let mut answer = ElicitResult::new(ElicitAction::Accept);
                let text = format!("{{\"x\":\"{}\"}}", "x".repeat(length));
                answer.content = Some(mcp_std::Json::owned(text).expect("it is JSON"));
                answer
            }
        });
        smol::block_on(async {
            let client = builder.connect_in_process(&server).await;
            let client = client.expect("it connects");
            known.set(client.clone()).expect("nobody else does");
            let asked = client.call_tool("ask", &()).await;
            if is_refused {
                let error = asked.expect_err("there is no room for it");
                assert!(error.to_string().contains("Server busy"), "{error}");
            } else {
                assert_eq!(asked.expect("it has its turn").text(), "Accept");
            }
            client.close().await;
        });
    }
}
