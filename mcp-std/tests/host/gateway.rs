//! Many servers behind one endpoint.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mcp_std::client::{CallError, CallOptions, Canceller, Change, Client};
use mcp_std::host::gateway::{Gateway, GatewayOptions};
use mcp_std::host::{HostConfig, ServerConfig};
use mcp_std::model::{
    ContentBlock, ElicitRequestParams, ElicitResult, Map, PrimitiveSchema, RequestedSchema,
    SubscriptionFilter,
};
use mcp_std::{Context, Json, Prompt, ProtocolVersion, Resource, Server, Tool, ToolResult};
use serde_json::json;

use crate::{MCP, built, child};

const BOTH: [ProtocolVersion; 2] = [ProtocolVersion::V2025_06_18, ProtocolVersion::V2026_07_28];

async fn gateway(servers: Vec<ServerConfig>, behind: Option<ProtocolVersion>) -> Gateway {
    let config = servers
        .into_iter()
        .fold(HostConfig::new(), HostConfig::server);
    let options = GatewayOptions::new("gateway", "1").configure(move |_, builder| match behind {
        Some(version) => builder.revision(version),
        None => builder,
    });
    let gateway = Gateway::start(config, options).expect("nothing to refuse");
    gateway.settled().await;
    gateway
}

async fn in_front(gateway: &Gateway, version: ProtocolVersion) -> Client {
    let builder = Client::builder("test", "1").revision(version);
    let connected = builder.connect_in_process(gateway.server()).await;
    connected.expect("it connects")
}

/// Each way from an era to an era.
fn ways() -> impl Iterator<Item = (ProtocolVersion, ProtocolVersion)> {
    BOTH.into_iter()
        .flat_map(|front| BOTH.map(|behind| (front, behind)))
}

#[test]
fn tools_resources_and_prompts_go_through_between_all_eras() {
    let tool = Tool::new("say", "Says it", |_: Context| async {
        let mut result = ToolResult::text("hi");
        result.structured_content = Some(r#"{"b":1.50,"a":[]}"#.to_owned());
        result
            .content
            .push(ContentBlock::image("AAAA", "image/png"));
        result
    })
    .output_schema(&json!({"type": "object"}));
    let server = built(
        Server::builder("a", "1")
            .with_tool(tool)
            .tool("fail", "Fails", || async { Err::<(), _>("no") })
            .with_resource(Resource::new("note://1", "one", || async { "first" }))
            .with_prompt(Prompt::new("ask", "Asks", || async { "Why?" })),
    );
    smol::block_on(async {
        for (front, behind) in ways() {
            let servers = vec![ServerConfig::in_process("a", &server), child("b")];
            let gateway = gateway(servers, Some(behind)).await;
            let client = in_front(&gateway, front).await;
            let tools = client.list_tools().await.expect("it answers");
            let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
            assert_eq!(names[..3], ["a__say", "a__fail", "b__echo"]);
            let said = client.call_tool("a__say", &()).await.expect("it answers");
            let direct = Client::builder("test", "1")
                .revision(front)
                .connect_in_process(&server)
                .await;
            let direct = direct.expect("it connects");
            let as_is = direct.call_tool("say", &()).await.expect("it answers");
            assert_eq!(said.content, as_is.content);
            assert_eq!(said.structured_content, as_is.structured_content);
            // Whose result it is said to be is the gateway's, where that is said at all.
            let whose = said
                .meta
                .as_ref()
                .map(|meta| meta.as_str().contains("gateway"));
            assert_eq!(
                whose,
                (front == ProtocolVersion::V2026_07_28).then_some(true)
            );
            assert!(
                client
                    .call_tool("a__fail", &())
                    .await
                    .expect("it answers")
                    .is_error()
            );
            let echoed = client.call_tool("b__echo", &json!({"text": "é"})).await;
            assert_eq!(echoed.expect("it answers").text(), "é");
            let wrong = client
                .call_tool("b__add", &json!({"a": "x"}))
                .await
                .expect("it answers");
            assert!(wrong.is_error());
            let read = client.read_resource("note://1").await.expect("it answers");
            assert_eq!(
                read.contents,
                direct
                    .read_resource("note://1")
                    .await
                    .expect("it answers")
                    .contents
            );
            let nothing = client.read_resource("note://2").await;
            assert!(
                matches!(&nothing, Err(CallError::Protocol(it)) if it.is_not_found()),
                "{nothing:?}"
            );
            let prompt = client.get_prompt("a__ask", &()).await.expect("it answers");
            assert_eq!(prompt.messages.len(), 1);
            client.close().await;
            gateway.close().await;
        }
    });
}

#[test]
fn arguments_and_results_are_spliced() {
    smol::block_on(async {
        // A number that no float holds, and a member that no revision knows.
        let raw = Json::owned(r#"{"n":1e999,"z":{"ключ":"\u0041"}}"#.to_owned()).expect("JSON");
        let seen = Arc::new(Mutex::new(String::new()));
        let shown = seen.clone();
        let server = built(Server::builder("a", "1").tool("t", "", || async { "" }));
        let config = HostConfig::new().server(ServerConfig::in_process("a", &server));
        let options = GatewayOptions::new("gateway", "1").configure(move |_, builder| {
            let shown = shown.clone();
            builder.on_frame(move |_, bytes| {
                let text = String::from_utf8_lossy(bytes);
                if text.contains("tools/call") {
                    *shown.lock().expect("nobody panics") = text.into_owned();
                }
            })
        });
        let gateway = Gateway::start(config, options).expect("nothing to refuse");
        gateway.settled().await;
        let client = in_front(&gateway, ProtocolVersion::V2026_07_28).await;
        let mut params = mcp_std::model::CallToolRequestParams::new("a__t");
        params.arguments = Some(raw.clone());
        let asked =
            client.request::<mcp_std::model::request::CallTool>(&params, CallOptions::new());
        asked.await.expect("it answers");
        let seen = seen.lock().expect("nobody panics").clone();
        assert!(seen.contains(raw.as_str()), "{seen}");
        client.close().await;
        gateway.close().await;
    });
}

#[test]
fn questions_reach_the_client_whose_call_it_is_between_all_eras() {
    let asks = Tool::new("ask", "Asks", |context: Context| async move {
        let field = PrimitiveSchema::String(Default::default());
        let form = RequestedSchema::new(Map::from([("name", field)]));
        match context
            .elicit(ElicitRequestParams::form("Who?", form))
            .await
        {
            Ok(answer) => answer
                .content
                .map(|it| it.as_str().to_owned())
                .unwrap_or_default(),
            Err(error) => format!("no answer: {error}"),
        }
    });
    let server = built(Server::builder("asks", "1").with_tool(asks));
    smol::block_on(async {
        for (front, behind) in ways() {
            let servers = vec![ServerConfig::in_process("asker", &server)];
            let gateway = gateway(servers, Some(behind)).await;
            for name in ["Ada", "Grace"] {
                let builder = Client::builder("test", "1").revision(front);
                let builder = builder.elicitation(move |asked| async move {
                    let ElicitRequestParams::Form(form) = &asked.params else {
                        return ElicitResult::decline();
                    };
                    // The user is told which of the servers asks.
                    assert_eq!(form.message, "asker: Who?");
                    ElicitResult::accept(json!({"name": name}))
                });
                let client = builder
                    .connect_in_process(gateway.server())
                    .await
                    .expect("it connects");
                let asked = client
                    .call_tool("asker__ask", &())
                    .await
                    .expect("it answers");
                assert_eq!(
                    asked.text(),
                    format!("{{\"name\":\"{name}\"}}"),
                    "{front:?} {behind:?}"
                );
                client.close().await;
            }
            // Nobody is there to be asked: that is no yes.
            let alone = in_front(&gateway, front).await;
            let asked = alone.call_tool("asker__ask", &()).await;
            assert!(
                asked.is_ok_and(|it| !it.text().contains("name")),
                "{front:?} {behind:?}"
            );
            alone.close().await;
            gateway.close().await;
        }
    });
}

#[test]
fn progress_and_cancellation_go_through() {
    smol::block_on(async {
        let dropped = Arc::new(AtomicUsize::new(0));
        let counts = dropped.clone();
        struct Counts(Arc<AtomicUsize>);
        impl Drop for Counts {
            fn drop(&mut self) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        let waits = Tool::new("wait", "Waits", move || {
            let counts = Counts(counts.clone());
            async move {
                let _counts = counts;
                core::future::pending::<String>().await
            }
        });
        let server = built(Server::builder("w", "1").with_tool(waits));
        let gateway = gateway(
            vec![ServerConfig::in_process("w", &server), child("s")],
            None,
        )
        .await;
        for front in BOTH {
            let client = in_front(&gateway, front).await;
            let steps = Arc::new(AtomicUsize::new(0));
            let told = steps.clone();
            let options = CallOptions::new().on_progress(move |_| {
                told.fetch_add(1, Ordering::SeqCst);
            });
            let slow = json!({"steps": 5, "delay_ms": 20});
            let done = client.call_tool_with("s__slow", &slow, options).await;
            assert_eq!(done.expect("it answers").text(), "done after 5 steps");
            assert_eq!(steps.load(Ordering::SeqCst), 5);
            let before = dropped.load(Ordering::SeqCst);
            let canceller = Canceller::new();
            let options = CallOptions::new().canceller(&canceller);
            let cancels = async {
                smol::Timer::after(Duration::from_millis(50)).await;
                canceller.cancel();
            };
            let called = client.call_tool_with("w__wait", &(), options);
            let (called, ()) = futures_lite::future::zip(called, cancels).await;
            assert!(called.is_err());
            let late = Instant::now() + Duration::from_secs(20);
            while dropped.load(Ordering::SeqCst) == before {
                assert!(Instant::now() < late, "the server goes on");
                smol::Timer::after(Duration::from_millis(5)).await;
            }
            client.close().await;
        }
        gateway.close().await;
    });
}

#[test]
fn changes_go_through_between_all_eras() {
    smol::block_on(async {
        for (front, behind) in ways() {
            let server = built(
                Server::builder("a", "1")
                    .tool("one", "", || async { "1" })
                    .with_resource(Resource::new("note://1", "one", || async { "first" }))
                    .list_changes()
                    .subscriptions(),
            );
            let gateway = gateway(vec![ServerConfig::in_process("a", &server)], Some(behind)).await;
            let client = in_front(&gateway, front).await;
            let filter = SubscriptionFilter::new().tools().resource("note://1");
            let mut changes = client.subscribe(filter).await.expect("it begins");
            server
                .add_tool(Tool::new("two", "", || async { "2" }))
                .expect("it is new");
            assert_eq!(changes.next().await, Some(Change::Tools));
            assert_eq!(
                client
                    .call_tool("a__two", &())
                    .await
                    .expect("it answers")
                    .text(),
                "2"
            );
            // The gateway follows the resources that it has listed, as soon as it has.
            let updated = async {
                loop {
                    server.resource_updated("note://1");
                    smol::Timer::after(Duration::from_millis(20)).await;
                }
            };
            let heard = async {
                while changes.next().await != Some(Change::Resource("note://1".to_owned())) {}
            };
            futures_lite::future::or(heard, updated).await;
            drop(changes);
            client.close().await;
            gateway.close().await;
        }
    });
}

#[test]
fn a_server_that_is_not_there_takes_nothing_from_the_others() {
    smol::block_on(async {
        let servers = vec![ServerConfig::stdio("gone", "no-such-program"), child("b")];
        let gateway = gateway(servers, None).await;
        let client = in_front(&gateway, ProtocolVersion::V2026_07_28).await;
        let echoed = client.call_tool("b__echo", &json!({"text": "hi"})).await;
        assert_eq!(echoed.expect("it answers").text(), "hi");
        gateway.close().await;
        let closed = client.call_tool("b__echo", &json!({"text": "hi"})).await;
        assert!(matches!(closed, Err(CallError::Protocol(_))), "{closed:?}");
        client.close().await;
    });
}

#[test]
fn the_program_serves_both_transports() {
    let file = std::env::temp_dir().join(format!("mcp-gateway-{}.json", std::process::id()));
    let config = json!({"mcpServers": {
        "one": {"command": MCP, "args": ["serve"]},
        "every": {"command": MCP, "args": ["serve", "--everything"]},
    }});
    std::fs::write(&file, config.to_string()).expect("it can be written");
    let path = file.to_str().expect("UTF-8");
    smol::block_on(async {
        let command = mcp_std::client::Command::new(MCP).args(["gateway", "--config", path]);
        let client = Client::stdio(command).await.expect("it connects");
        let echoed = client.call_tool("one__echo", &json!({"text": "hi"})).await;
        assert_eq!(echoed.expect("it answers").text(), "hi");
        assert!(!client.list_prompts().await.expect("it answers").is_empty());
        assert!(
            !client
                .list_resources()
                .await
                .expect("it answers")
                .is_empty()
        );
        client.close().await;

        let mut served = Command::new(MCP);
        served.args(["gateway", "--config", path, "--http", "127.0.0.1:0"]);
        served.stdin(Stdio::null()).stderr(Stdio::piped());
        let mut served = served.spawn().expect("it starts");
        let errors = BufReader::new(served.stderr.take().expect("it is piped"));
        let mut lines = errors.lines().map_while(Result::ok);
        let url = lines.find_map(|line| Some(line.split_once("http://")?.1.to_owned()));
        let url = format!("http://{}", url.expect("it says where it is"));
        let client = Client::http(&url).await.expect("it connects");
        let echoed = client
            .call_tool("every__echo", &json!({"text": "hi"}))
            .await;
        assert_eq!(echoed.expect("it answers").text(), "hi");
        client.close().await;
        served.kill().expect("it is there");
        served.wait().expect("it is there");
    });
    let _ = std::fs::remove_file(&file);
}

/// `cargo test -p mcp-std --features cli --test host gateway -- --nocapture` prints them.
#[test]
fn what_a_hop_costs() {
    const CALLS: usize = 2000;
    const AT_ONCE: usize = 64;
    async fn measured(client: &Client, tool: &str) -> (f64, Duration) {
        let arguments = json!({"text": "hello"});
        let mut times = Vec::new();
        for _ in 0..500 {
            let started = Instant::now();
            client
                .call_tool(tool, &arguments)
                .await
                .expect("it answers");
            times.push(started.elapsed());
        }
        times.sort();
        let started = Instant::now();
        let left = Arc::new(AtomicUsize::new(CALLS));
        let workers: Vec<_> = (0..AT_ONCE)
            .map(|_| {
                let (client, tool, arguments, left) = (
                    client.clone(),
                    tool.to_owned(),
                    arguments.clone(),
                    left.clone(),
                );
                smol::spawn(async move {
                    let take = |it: usize| it.checked_sub(1);
                    while left
                        .fetch_update(Ordering::SeqCst, Ordering::SeqCst, take)
                        .is_ok()
                    {
                        client
                            .call_tool(&tool, &arguments)
                            .await
                            .expect("it answers");
                    }
                })
            })
            .collect();
        for worker in workers {
            worker.await;
        }
        (
            CALLS as f64 / started.elapsed().as_secs_f64(),
            times[times.len() / 2],
        )
    }
    let file = std::env::temp_dir().join(format!("mcp-hop-{}.json", std::process::id()));
    let config = json!({"mcpServers": {"one": {"command": MCP, "args": ["serve"]}}});
    std::fs::write(&file, config.to_string()).expect("it can be written");
    let path = file.to_str().expect("UTF-8");
    smol::block_on(async {
        let direct = mcp_std::client::Command::new(MCP).args(["serve"]);
        let direct = Client::stdio(direct).await.expect("it connects");
        let hop = mcp_std::client::Command::new(MCP).args(["gateway", "--config", path]);
        let hop = Client::stdio(hop).await.expect("it connects");
        let (one, alone) = measured(&direct, "echo").await;
        let (two, through) = measured(&hop, "one__echo").await;
        eprintln!(
            "direct: {one:.0}/s at {AT_ONCE} in flight, p50 {alone:?}; through the gateway: {two:.0}/s ({:.2} of direct), p50 \
             {through:?} (+{:.2} round trips)",
            two / one,
            (through.as_secs_f64() - alone.as_secs_f64()) / alone.as_secs_f64(),
        );
        // Far below what it is: a sign that calls wait for each other.
        assert!(two > one / 20.0);
        direct.close().await;
        hop.close().await;
    });
    let _ = std::fs::remove_file(&file);
}
