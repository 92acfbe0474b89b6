//! Client and server in one process, in both eras.

use mcp_std::client::{CallError, CallOptions};
use mcp_std::model::{ElicitAction, ElicitResult};
use mcp_std::{Context, Progress, ProtocolVersion, Server, Tool};
use serde_json::json;

use crate::peer::builder;

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
