//! The client against the server of this library, in every revision.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_lite::future::zip;
use mcp_io::http::server::Listener;
use mcp_std::client::{CallError, CallOptions, Client};
use mcp_std::model::{ElicitAction, ElicitResult, SubscriptionFilter};
use mcp_std::{AskError, Context, Elicited, Json, Progress, ProtocolVersion, Server, Tool};
use serde_json::json;
use smol::block_on;

use super::builder;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

async fn greet(context: Context) -> Result<String, AskError> {
    Ok(match context.elicit_form::<Name>("Who?").await? {
        Elicited::Accepted(it) => format!("hello {}", it.name),
        Elicited::Declined | Elicited::Cancelled => "hello".to_owned(),
    })
}

async fn slow(context: Context) -> String {
    for step in 1..=3 {
        context.progress(Progress::new(f64::from(step))).await;
        async_io::Timer::after(Duration::from_millis(10)).await;
    }
    "slow".to_owned()
}

fn server() -> Server {
    Server::builder("ours", "1")
        .list_changes()
        .tool("greet", "Asks for a name", greet)
        .tool("slow", "Takes its time", slow)
        .build()
        .expect("a server")
}

/// The URL of a server that goes on until the process ends.
fn serve(server: &Server) -> String {
    let listener = Listener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let http = server.http();
    std::thread::spawn(move || block_on(http.serve_on(listener, std::future::pending())));
    format!("http://{address}/mcp")
}

async fn connect(url: &str, version: ProtocolVersion) -> Client {
    builder()
        .revision(version)
        .elicitation(|_| async {
            let mut result = ElicitResult::new(ElicitAction::Accept);
            let content = Json::owned(r#"{"name":"ann"}"#.to_owned());
            result.content = Some(content.expect("JSON"));
            result
        })
        .connect_http(url)
        .await
        .expect("connected")
}

#[test]
fn every_revision_calls_asks_and_hears_of_changes() {
    let server = server();
    let url = serve(&server);
    for (count, version) in ProtocolVersion::ALL.iter().copied().enumerate() {
        block_on(async {
            let client = connect(&url, version).await;
            assert_eq!(client.version(), version);
            let told = Arc::new(AtomicUsize::new(0));
            let counts = told.clone();
            let options = CallOptions::new().on_progress(move |_| {
                counts.fetch_add(1, Ordering::Relaxed);
            });
            let outcome = client.call_tool_with("slow", &(), options).await;
            assert_eq!(outcome.expect("an outcome").text(), "slow", "{version:?}");
            assert_eq!(told.load(Ordering::Relaxed), 3, "{version:?}");
            if version >= ProtocolVersion::V2025_06_18 {
                let outcome = client.call_tool("greet", &()).await.expect("an outcome");
                assert_eq!(outcome.text(), "hello ann", "{version:?}");
            }
            let error = client.call_tool("none", &json!({})).await;
            let error = error.expect_err("there is no such tool");
            assert!(matches!(error, CallError::Protocol(_)), "{error:?}");

            let mut filter = SubscriptionFilter::default();
            filter.tools_list_changed = true;
            let mut changes = client.subscribe(filter).await.expect("a subscription");
            let name = format!("new-{count}");
            let tool = mcp_std::Tool::new(name.clone(), "New", || async { "new" });
            server.add_tool(tool).expect("added");
            assert!(changes.next().await.is_some());
            let tools = client.list_tools().await.expect("tools");
            assert!(tools.iter().any(|tool| tool.name == name), "{version:?}");
            client.close().await;
        });
    }
}

#[test]
fn dx_04_many_calls_go_at_once() {
    let url = serve(&server());
    block_on(async {
        for version in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25] {
            let client = connect(&url, version).await;
            let calls: Vec<_> = (0..16)
                .map(|_| {
                    let client = client.clone();
                    smol::spawn(async move { client.call_tool("slow", &()).await })
                })
                .collect();
            for call in calls {
                assert_eq!(call.await.expect("an outcome").text(), "slow");
            }
            client.close().await;
        }
    });
}

/// A connected client asks for signs of life like any client asks for anything.
#[test]
fn a_sign_of_life_disturbs_nothing() {
    let server = server();
    let url = serve(&server);
    for version in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25] {
        block_on(async {
            let client = connect(&url, version).await;
            let filter = SubscriptionFilter::new().tools();
            let mut subscription = client.subscribe(filter).await.expect("subscribed");
            let beside = async {
                client.ping().await.expect("somebody is there");
            };
            let (outcome, ()) = zip(client.call_tool("slow", &()), beside).await;
            assert_eq!(outcome.expect("an answer").text(), "slow");
            let later = Tool::new(version.as_str(), "Comes later", || async { "late" });
            server.add_tool(later).expect("a new name");
            assert!(subscription.next().await.is_some());
            client.close().await;
        });
    }
}

/// Calls that wait for an answer of the client's hold a connection each: the answer needs another one.
#[test]
fn dx_04_answers_leave_while_all_connections_wait_for_them() {
    let url = serve(&server());
    for version in [ProtocolVersion::V2025_06_18, ProtocolVersion::V2025_11_25] {
        block_on(async {
            let client = Client::builder("c", "1")
                .proxy(mcp_std::client::Proxy::None)
                .revision(version)
                .request_timeout(Duration::from_secs(10))
                .max_connections(2)
                .elicitation(|_| async { ElicitResult::accept(json!({"name": "ann"})) })
                .connect_http(&url)
                .await
                .expect("connected");
            let calls: Vec<_> = (0..8)
                .map(|_| {
                    let client = client.clone();
                    smol::spawn(async move { client.call_tool("greet", &()).await })
                })
                .collect();
            for call in calls {
                let outcome = call.await.expect("an outcome");
                assert_eq!(outcome.text(), "hello ann", "{version:?}");
            }
            client.close().await;
        });
    }
}
