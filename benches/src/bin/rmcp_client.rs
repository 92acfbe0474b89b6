//! rmcp as a client of a server that offers what `tests/interop/contract.md` says, over HTTP.
//!
//! usage: `rmcp_client auto|pin|REVISION URL`
//!
//! Each check is one line, `ok NAME` or `not ok NAME` with what was seen. Results are looked at as the JSON they are.

#![expect(clippy::print_stdout, reason = "what was found goes there")]
#![expect(
    deprecated,
    reason = "sampling and roots are what the earlier revisions have"
)]

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rmcp::model::{
    ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ListRootsResult, ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext, RunningService};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::{ClientHandler, ClientLifecycleMode, ClientServiceExt, ErrorData, RoleClient};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

type Failure = Box<dyn Error>;
type Client = RunningService<RoleClient, User>;

/// For everything together.
const PATIENCE: Duration = Duration::from_secs(60);

/// Answers what servers ask, and counts what they tell.
struct User {
    config: ClientConfig,
    steps: Arc<AtomicUsize>,
}

fn typed<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        // Whatever the form asks for.
        let asked = serde_json::to_value(&request)
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let fields = asked["requestedSchema"]["properties"].as_object();
        let content: serde_json::Map<_, _> = fields
            .into_iter()
            .flatten()
            .map(|(name, _)| (name.clone(), json!(format!("my-{name}@example.com"))))
            .collect();
        typed(json!({"action": "accept", "content": content}))
    }

    async fn create_message(
        &self,
        _: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        typed(json!({
            "model": "m", "role": "assistant", "stopReason": "endTurn",
            "content": {"type": "text", "text": "a model's words"},
        }))
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        typed(json!({"roots": [{"uri": "file:///home/ann", "name": "home"}]}))
    }

    async fn on_progress(&self, _: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }
}

/// What was checked, and whether all was well.
struct Report {
    all_well: bool,
}

impl Report {
    fn check(&mut self, name: &str, seen: Result<Value, Failure>, wanted: impl Fn(&Value) -> bool) {
        match seen {
            Ok(seen) if wanted(&seen) => println!("ok {name}"),
            Ok(seen) => self.fail(name, &seen.to_string()),
            Err(error) => self.fail(name, &error.to_string()),
        }
    }

    fn fail(&mut self, name: &str, seen: &str) {
        let seen: String = seen.chars().take(500).collect();
        println!("not ok {name}: {}", seen.replace('\n', " "));
        self.all_well = false;
    }
}

fn seen<T: Serialize, E: Error + 'static>(result: Result<T, E>) -> Result<Value, Failure> {
    Ok(serde_json::to_value(result?)?)
}

async fn call(client: &Client, name: &str, arguments: Value) -> Result<Value, Failure> {
    let params = typed(json!({"name": name, "arguments": arguments}))?;
    seen(client.call_tool(params).await)
}

async fn prompt(client: &Client, name: &str, arguments: Value) -> Result<Value, Failure> {
    let params = typed(json!({"name": name, "arguments": arguments}))?;
    seen(client.get_prompt(params).await)
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_default()
}

/// Whether the list has these, each once.
fn lists(list: &Value, field: &str, wanted: &[&str]) -> bool {
    let all: Vec<_> = list
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|item| item[field].as_str())
        .collect();
    wanted
        .iter()
        .all(|wanted| all.iter().filter(|name| *name == wanted).count() == 1)
}

async fn tools(client: &Client, report: &mut Report) {
    let tools = seen(client.list_all_tools().await);
    report.check("tools/list", tools, |tools| {
        lists(tools, "name", &["add", "echo", "fail", "slow"])
    });
    for (name, said) in [
        ("plain", "hello".to_owned()),
        ("empty", String::new()),
        ("non-ascii", "Grüße, 世界, 🦀 and e\u{301}".to_owned()),
        ("newlines", "one\ntwo\r\nthree\n".to_owned()),
        ("200 KiB", "x".repeat(200 * 1024)),
    ] {
        let echoed = call(client, "echo", json!({"text": said})).await;
        report.check(&format!("echo {name}"), echoed, |it| text(it) == said);
    }
    let sum = call(client, "add", json!({"a": -2, "b": 44})).await;
    report.check("add", sum, |it| text(it) == r#"{"sum":42}"#);
    let wrong = call(client, "add", json!({"a": "two"})).await;
    report.check("add with invalid arguments is a tool error", wrong, |it| {
        it["isError"] == true
    });
    let failed = call(client, "fail", json!({"message": "no luck"})).await;
    report.check("fail", failed, |it| {
        it["isError"] == true && text(it) == "no luck"
    });
    match call(client, "no_such_tool", json!({})).await {
        Ok(result) => report.fail("a tool that is none", &result.to_string()),
        Err(error) => report.check("a tool that is none", Ok(json!(error.to_string())), |it| {
            it.as_str().is_some_and(|it| it.contains("no_such_tool"))
        }),
    }
}

async fn progress(client: &Client, report: &mut Report) {
    let steps = &client.service().steps;
    steps.store(0, Ordering::Relaxed);
    let slow = call(client, "slow", json!({"steps": 3, "delay_ms": 50})).await;
    report.check("slow", slow, |it| text(it) == "done after 3 steps");
    let told = steps.load(Ordering::Relaxed);
    report.check("progress", Ok(json!(told)), |told| *told == 3);
    let all = (0..16).map(|n| call(client, "echo", json!({"text": n.to_string()})));
    let mut right = 0;
    for (n, echoed) in (0..).zip(at_once(all).await) {
        right += usize::from(echoed.is_ok_and(|it| text(&it) == format!("{n}")));
    }
    report.check("16 calls at once", Ok(json!(right)), |right| *right == 16);
}

/// All of them at once, in their order.
async fn at_once<F: Future>(all: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut all: Vec<_> = all.map(|one| (Box::pin(one), None)).collect();
    core::future::poll_fn(|cx| {
        let mut pending = false;
        for (one, done) in &mut all {
            if done.is_none() {
                match one.as_mut().poll(cx) {
                    core::task::Poll::Ready(output) => *done = Some(output),
                    core::task::Poll::Pending => pending = true,
                }
            }
        }
        match pending {
            true => core::task::Poll::Pending,
            false => core::task::Poll::Ready(()),
        }
    })
    .await;
    all.into_iter().filter_map(|(_, done)| done).collect()
}

async fn questions(client: &Client, version: &str, report: &mut Report) {
    let sampled = call(client, "test_sampling", json!({"prompt": "say"})).await;
    report.check("sampling", sampled, |it| {
        text(it) == "LLM response: a model's words"
    });
    let roots = call(client, "test_list_roots", json!({})).await;
    report.check("roots", roots, |it| text(it).contains("file:///home/ann"));
    if version < "2025-06-18" {
        return;
    }
    let form = call(client, "test_elicitation", json!({"message": "who?"})).await;
    report.check("elicitation", form, |it| {
        text(it).contains("action=accept") && text(it).contains("my-username@example.com")
    });
    let rounds = call(client, "test_two_rounds", json!({})).await;
    report.check("two rounds", rounds, |it| {
        text(it) == "my-name@example.com likes my-color@example.com"
    });
    let three = call(client, "test_three_questions", json!({})).await;
    report.check("three questions", three, |it| {
        text(it).contains("my-name@example.com") && text(it).contains("1 roots")
    });
    let asks = prompt(client, "test_prompt_that_asks", json!({})).await;
    report.check("a prompt that asks", asks, |it| {
        it.to_string().contains("my-context@example.com")
    });
}

async fn resources(client: &Client, report: &mut Report) {
    let listed = seen(client.list_all_resources().await);
    report.check("resources/list", listed, |list| {
        lists(list, "uri", &["test://static-text", "test://static-binary"])
    });
    let listed = seen(client.list_all_resource_templates().await);
    report.check("resources/templates/list", listed, |list| {
        lists(list, "uriTemplate", &["test://template/{id}/data"])
    });
    for (name, uri, field) in [
        ("text", "test://static-text", "text"),
        ("binary", "test://static-binary", "blob"),
        ("template", "test://template/123/data", "text"),
    ] {
        let read = match typed(json!({"uri": uri})) {
            Ok(params) => seen(client.read_resource(params).await),
            Err(error) => Err(error.into()),
        };
        report.check(&format!("resources/read {name}"), read, |it| {
            it["contents"][0]["uri"] == uri && it["contents"][0][field].is_string()
        });
    }
}

async fn prompts(client: &Client, report: &mut Report) {
    let listed = seen(client.list_all_prompts().await);
    report.check("prompts/list", listed, |list| {
        let names = ["test_simple_prompt", "test_prompt_with_arguments"];
        lists(list, "name", &names)
    });
    let arguments = json!({"arg1": "one", "arg2": "two"});
    let got = prompt(client, "test_prompt_with_arguments", arguments).await;
    report.check("prompts/get", got, |it| {
        let said = it["messages"][0]["content"]["text"].as_str();
        said.is_some_and(|it| it.contains("one") && it.contains("two"))
    });
    let completed = client
        .complete_prompt_simple("test_prompt_with_arguments", "arg1", "par")
        .await;
    report.check("completion/complete", seen(completed), |it| {
        *it == json!(["paris", "park", "party"])
    });
}

async fn run(how: &str, url: &str, report: &mut Report) -> Result<(), Failure> {
    let modern = vec![ProtocolVersion::V_2026_07_28];
    let (lifecycle, version) = match how {
        "auto" => (
            ClientLifecycleMode::Auto {
                preferred_versions: modern,
                legacy_version: None,
            },
            "2026-07-28",
        ),
        "pin" => (
            ClientLifecycleMode::Discover {
                preferred_versions: modern,
            },
            "2026-07-28",
        ),
        revision => (ClientLifecycleMode::Initialize, revision),
    };
    let user = User {
        config: typed(json!({
            "protocolVersion": version,
            "capabilities": {"elicitation": {}, "sampling": {}, "roots": {}},
            "clientInfo": {"name": "interop", "version": "1.0.0"},
        }))?,
        steps: Arc::default(),
    };
    let transport = StreamableHttpClientTransport::from_uri(url);
    let client = user.serve_with_lifecycle(transport, lifecycle).await?;
    let spoken = client.peer_info().map(|info| info.protocol_version.clone());
    report.check(
        &format!("connect, {how}"),
        Ok(serde_json::to_value(spoken)?),
        |spoken| spoken == version,
    );
    tools(&client, report).await;
    progress(&client, report).await;
    questions(&client, version, report).await;
    resources(&client, report).await;
    prompts(&client, report).await;
    client.cancel().await?;
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [how, url] = &*arguments else {
        println!("not ok usage: rmcp_client auto|pin|REVISION URL");
        return ExitCode::from(2);
    };
    let mut report = Report { all_well: true };
    match tokio::time::timeout(PATIENCE, run(how, url, &mut report)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => report.fail("the connection", &error.to_string()),
        Err(_) => report.fail("the connection", "it took too long"),
    }
    match report.all_well {
        true => ExitCode::SUCCESS,
        false => ExitCode::FAILURE,
    }
}
