//! Where connections and handlers run.

use std::time::Duration;

use mcp_std::client::{CallError, Client, ClosedReason, ConnectError};
use mcp_std::model::{ElicitRequestParams, ElicitResult, Map, RequestedSchema};
use mcp_std::{Context, ProtocolVersion, Server, Spawner};
use serde_json::json;

use crate::peer::builder;

async fn nap() -> &'static str {
    tokio::time::sleep(Duration::from_millis(1)).await;
    "slept"
}

async fn ask(context: Context) -> String {
    let form = RequestedSchema::new(Map::EMPTY);
    let answer = context
        .elicit(ElicitRequestParams::form("Who?", form))
        .await;
    let content = answer.expect("it can be asked").content;
    content.expect("the user agrees").as_str().to_owned()
}

fn server() -> Server {
    Server::builder("napper", "1")
        .tool("nap", "Sleeps", nap)
        .tool("ask", "Asks", ask)
        .tool("sleep", "Sleeps on", core::future::pending::<()>)
        .build()
        .expect("it is one")
}

/// A server's tools and a client's handlers both have tokio's timers, in both eras.
#[test]
fn all_of_it_runs_on_the_runtime_that_was_given() {
    for runtime in [
        &mut tokio::runtime::Builder::new_current_thread(),
        &mut tokio::runtime::Builder::new_multi_thread(),
    ] {
        let runtime = runtime.enable_time().build().expect("a runtime");
        for version in [ProtocolVersion::V2025_11_25, ProtocolVersion::V2026_07_28] {
            runtime.block_on(async {
                let client = builder()
                    .revision(version)
                    .spawner(Spawner::new(|task| drop(tokio::spawn(task))))
                    .elicitation(|_| async {
                        nap().await;
                        ElicitResult::accept(json!({"name": "Ada"}))
                    })
                    .connect_in_process(&server())
                    .await
                    .expect("it connects");
                for (tool, said) in [("nap", "slept"), ("ask", r#"{"name":"Ada"}"#)] {
                    let outcome = client.call_tool(tool, &()).await.expect("it answers");
                    assert_eq!(outcome.text(), said, "{version}");
                }
                client.close().await;
            });
        }
    }
}

/// Nobody waits for a connection that no runtime drives any more.
#[test]
fn a_runtime_that_ends_closes_the_client() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let handle = runtime.handle().clone();
    let spawner = Spawner::new(move |task| drop(handle.spawn(task)));
    let connect = |spawner: &Spawner| {
        let builder = builder().spawner(spawner.clone());
        smol::block_on(builder.connect_in_process(&server()))
    };
    let client: Client = connect(&spawner).expect("it connects");
    std::thread::scope(|scope| {
        let call = scope.spawn(|| smol::block_on(client.call_tool("sleep", &())));
        std::thread::sleep(crate::peer::MOMENT);
        runtime.shutdown_background();
        let error = call.join().expect("no panic").expect_err("it is gone");
        assert!(matches!(error, CallError::Closed(_)), "{error:?}");
    });
    let closed = client.closed().expect("it is");
    assert!(matches!(closed.reason(), ClosedReason::Us), "{closed:?}");
    let error = smol::block_on(client.call_tool("nap", &()));
    assert!(matches!(error, Err(CallError::Closed(_))), "{error:?}");
    let refused = connect(&spawner);
    assert!(
        matches!(refused, Err(ConnectError::Closed(_))),
        "{refused:?}"
    );
}
