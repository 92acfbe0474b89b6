//! Tools, resources, prompts, completion and log messages of a server of the contract.

use core::time::Duration;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use futures_lite::StreamExt as _;
use futures_lite::future::zip;
use mcp_core::model::{
    CompleteRequestParams, CompletionArgument, CompletionReference, ContentBlock, Era,
    LoggingLevel, PromptReference, ProtocolVersion, ResourceContents, ResourceTemplateReference,
};
use mcp_std::client::{CallError, CallOptions, Canceller, Client};
use serde::Deserialize;
use serde_json::json;

use crate::attend::Attended;
use crate::{Report, a_while, holds, refused, same};

const INVALID_PARAMS: i64 = -32602;

pub(crate) async fn run(report: &mut Report, client: &Client, attended: &Attended) {
    lists(report, client).await;
    tools(report, client).await;
    calls(report, client).await;
    content(report, client).await;
    resources(report, client).await;
    prompts(report, client).await;
    completion(report, client).await;
    logging(report, client, attended).await;
}

async fn lists(report: &mut Report, client: &Client) {
    let later = client.version() >= ProtocolVersion::V2025_06_18;
    report
        .check("server says who it is", async {
            let server = client.server().ok_or("nothing is known")?;
            if client.version().era() == Era::Modern {
                holds(
                    client.discover().await?.capabilities.tools.is_some(),
                    "tools",
                )?;
            }
            holds(server.revision == client.version(), &server)
        })
        .await;
    report
        .check("tools/list, page by page and all", async {
            let tools = client.list_tools().await?;
            let names: BTreeSet<_> = tools.iter().map(|tool| tool.name.to_string()).collect();
            same(names.len(), tools.len())?;
            for name in ["echo", "add", "fail", "slow", "test_simple_text"] {
                holds(names.contains(name), (name, &names))?;
            }
            let paged: Vec<_> = client.tools().try_collect().await?;
            same(paged.len(), tools.len())?;
            let add = tools
                .iter()
                .find(|tool| tool.name == "add")
                .ok_or("no add")?;
            holds(add.input_schema.as_str().contains("integer"), add)?;
            // Servers that say more than an older revision has do no harm.
            holds(add.output_schema.is_some() || !later, add)
        })
        .await;
    report
        .check("resources/list, resources/templates/list", async {
            let resources = client.list_resources().await?;
            let text = resources.iter().find(|it| it.uri == "test://static-text");
            let text = text.ok_or("no static text")?;
            same(&*text.name, "static-text")?;
            same(text.mime_type.as_deref(), Some("text/plain"))?;
            holds(text.title.as_deref() == Some("Static text") || !later, text)?;
            holds(
                resources
                    .iter()
                    .any(|it| it.uri == "test://watched-resource"),
                &resources,
            )?;
            let templates = client.list_resource_templates().await?;
            same(templates.len(), 1)?;
            same(&*templates[0].uri_template, "test://template/{id}/data")
        })
        .await;
    report
        .check("prompts/list", async {
            let prompts = client.list_prompts().await?;
            let prompt = prompts
                .iter()
                .find(|it| it.name == "test_prompt_with_arguments");
            let arguments = prompt
                .and_then(|it| it.arguments.as_deref())
                .ok_or("no arguments")?;
            let arguments: Vec<_> = arguments
                .iter()
                .map(|it| (&*it.name, it.required))
                .collect();
            same(arguments, [("arg1", true), ("arg2", true)])
        })
        .await;
}

#[derive(Deserialize)]
struct Sum {
    sum: i64,
}

async fn tools(report: &mut Report, client: &Client) {
    let later = client.version() >= ProtocolVersion::V2025_06_18;
    let texts = [
        ("plain", "hello".to_owned()),
        ("empty", String::new()),
        ("non-ascii", "Grüße, 世界, 🦀 and e\u{301}".to_owned()),
        ("newlines", "one\ntwo\r\nthree\n".to_owned()),
        (
            "escapes",
            "\"q\" \\ b\\s \t \u{1} \u{2028} </script>".to_owned(),
        ),
        (
            "like a frame",
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_owned(),
        ),
        ("200 KiB", "x".repeat(200 * 1024)),
    ];
    for (name, text) in texts {
        report
            .check(&format!("echo {name}"), async {
                let outcome = client.call_tool("echo", &json!({"text": text})).await?;
                holds(
                    !outcome.is_error() && outcome.text() == text,
                    outcome.content.len(),
                )
            })
            .await;
    }
    report
        .check("add", async {
            for (a, b) in [(2, 3), (-2, 44), (0, 0), (1 << 40, 1)] {
                let outcome = client.call_tool("add", &json!({"a": a, "b": b})).await?;
                let sum: Sum = serde_json::from_str(&outcome.text())?;
                same(sum.sum, a + b)?;
                if later {
                    let sum = outcome.structured::<Sum>().ok_or("nothing structured")??;
                    same(sum.sum, a + b)?;
                }
            }
            Ok(())
        })
        .await;
    report
        .check("a tool that fails is no error of the call", async {
            for arguments in [json!({"a": "two", "b": 3}), json!({"a": 2}), json!({})] {
                let outcome = client.call_tool("add", &arguments).await?;
                holds(outcome.is_error() && !outcome.text().is_empty(), &outcome)?;
            }
            let outcome = client
                .call_tool("fail", &json!({"message": "as asked"}))
                .await?;
            holds(
                outcome.is_error() && outcome.text().contains("as asked"),
                &outcome,
            )?;
            let failed = outcome.into_result();
            holds(matches!(failed, Err(CallError::Tool(_))), &failed)
        })
        .await;
    report
        .check("an unknown tool is refused", async {
            refused(
                client.call_tool("no-such-tool", &()).await,
                &[INVALID_PARAMS],
            )
        })
        .await;
}

async fn calls(report: &mut Report, client: &Client) {
    report
        .check("progress", async {
            let seen = Arc::new(Mutex::new(Vec::new()));
            let heard = seen.clone();
            let options = CallOptions::new().on_progress(move |progress| {
                if let Ok(mut heard) = heard.lock() {
                    heard.push((progress.progress, progress.total));
                }
            });
            let arguments = json!({"steps": 5, "delay_ms": 20});
            let outcome = client.call_tool_with("slow", &arguments, options).await?;
            same(outcome.text(), "done after 5 steps")?;
            let seen = seen.lock().map(|seen| seen.clone()).unwrap_or_default();
            let expected: Vec<_> = (1..=5).map(|step| (f64::from(step), Some(5.0))).collect();
            same(seen, expected)
        })
        .await;
    report
        .check("50 calls at once", async {
            let texts: Vec<_> = (0..50).map(|at| format!("call {at} ü")).collect();
            let calls: Vec<_> = texts
                .iter()
                .map(|text| {
                    let client = client.clone();
                    let arguments = json!({"text": text});
                    smol_spawn(async move { client.call_tool("echo", &arguments).await })
                })
                .collect();
            for (call, text) in calls.into_iter().zip(&texts) {
                same(&call.await?.text(), text)?;
            }
            Ok(())
        })
        .await;
    report
        .check("a fast call overtakes a slow one", async {
            let order = Mutex::new(Vec::new());
            let told = |name| {
                order
                    .lock()
                    .map(|mut order| order.push(name))
                    .unwrap_or_default()
            };
            let slow = async {
                let arguments = json!({"steps": 4, "delay_ms": 50});
                let outcome = client.call_tool("slow", &arguments).await;
                told("slow");
                outcome
            };
            let fast = async {
                let outcome = client.call_tool("echo", &json!({"text": "fast"})).await;
                told("echo");
                outcome
            };
            let (slow, fast) = zip(slow, fast).await;
            slow?;
            fast?;
            same(order.into_inner().unwrap_or_default(), ["echo", "slow"])
        })
        .await;
    report
        .check("a cancelled call ends, the connection goes on", async {
            let canceller = Canceller::new();
            let stop = canceller.clone();
            let options = CallOptions::new()
                .canceller(&canceller)
                .on_progress(move |_| stop.cancel());
            let arguments = json!({"steps": 1000, "delay_ms": 20});
            let ended = client.call_tool_with("slow", &arguments, options).await;
            holds(matches!(ended, Err(CallError::Cancelled)), &ended)?;
            same(
                client
                    .call_tool("echo", &json!({"text": "still here"}))
                    .await?
                    .text(),
                "still here",
            )
        })
        .await;
    report
        .check(
            "a call that takes too long ends, the connection goes on",
            async {
                let options = CallOptions::new().timeout(Duration::from_millis(50));
                let arguments = json!({"steps": 1, "delay_ms": 5000});
                let ended = client.call_tool_with("slow", &arguments, options).await;
                holds(matches!(ended, Err(CallError::Timeout(_))), &ended)?;
                same(
                    client
                        .call_tool("echo", &json!({"text": "still here"}))
                        .await?
                        .text(),
                    "still here",
                )
            },
        )
        .await;
    report
        .check("ping", async {
            client.ping().await.map(drop).map_err(Into::into)
        })
        .await;
}

/// On the executor of the connections.
fn smol_spawn<T: Send + 'static>(
    future: impl Future<Output = T> + Send + 'static,
) -> smol::Task<T> {
    smol::spawn(future)
}

async fn content(report: &mut Report, client: &Client) {
    let version = client.version();
    report
        .check("content of each type", async {
            let only = async |name| {
                let outcome = client.call_tool(name, &()).await?;
                holds(!outcome.is_error() && outcome.content.len() == 1, &outcome)?;
                Ok::<_, crate::Failure>(outcome.into_inner().content[0].clone())
            };
            let text = only("test_simple_text").await?;
            same(text.as_text(), Some("This is a simple text response for testing."))?;
            let image = only("test_image_content").await?;
            holds(matches!(&image, ContentBlock::Image(it) if it.mime_type == "image/png"), &image)?;
            let embedded = only("test_embedded_resource").await?;
            let ContentBlock::Resource(embedded) = embedded else {
                return Err(format!("{embedded:?}").into());
            };
            same(embedded.resource.uri(), "test://embedded-resource")?;
            if version >= ProtocolVersion::V2025_03_26 {
                let audio = only("test_audio_content").await?;
                holds(matches!(&audio, ContentBlock::Audio(it) if it.mime_type == "audio/wav"), &audio)?;
            }
            if version >= ProtocolVersion::V2025_06_18 {
                let link = only("test_resource_link").await?;
                holds(matches!(&link, ContentBlock::ResourceLink(it) if it.uri == "test://static-text"), &link)?;
            }
            let mixed = client.call_tool("test_multiple_content_types", &()).await?;
            same(mixed.content.len(), 3)
        })
        .await;
}

async fn resources(report: &mut Report, client: &Client) {
    let read = async |uri: &str| {
        let result = client.read_resource(uri).await?;
        same(result.contents.len(), 1)?;
        same(result.contents[0].uri(), uri)?;
        Ok::<_, crate::Failure>(result.contents[0].clone())
    };
    report
        .check("resources/read", async {
            let text = read("test://static-text").await?;
            let ResourceContents::Text(text) = text else {
                return Err(format!("{text:?}").into());
            };
            same(
                &*text.text,
                "This is the content of the static text resource.",
            )?;
            let binary = read("test://static-binary").await?;
            holds(matches!(binary, ResourceContents::Blob(_)), &binary)?;
            let data = read("test://template/123/data").await?;
            let ResourceContents::Text(data) = data else {
                return Err(format!("{data:?}").into());
            };
            let expected = json!({"id": "123", "templateTest": true, "data": "Data for ID: 123"});
            same(
                serde_json::from_str::<serde_json::Value>(&data.text)?,
                expected,
            )
        })
        .await;
    report
        .check("resources/read, of none", async {
            for uri in [
                "test://nonexistent-resource",
                "test://template/missing/data",
            ] {
                let result = client.read_resource(uri).await;
                holds(
                    matches!(&result, Err(CallError::Protocol(error)) if error.is_not_found()),
                    &result,
                )?;
            }
            Ok(())
        })
        .await;
}

async fn prompts(report: &mut Report, client: &Client) {
    report
        .check("prompts/get", async {
            let simple = client.get_prompt("test_simple_prompt", &()).await?;
            same(simple.messages.len(), 1)?;
            let said = simple.messages[0].content.as_text();
            same(said, Some("This is a simple prompt for testing."))?;
            let arguments = json!({"arg1": "one", "arg2": "t'wo"});
            let with = client
                .get_prompt("test_prompt_with_arguments", &arguments)
                .await?;
            let said = with.messages[0].content.as_text();
            same(said, Some("Prompt with arguments: arg1='one', arg2='t'wo'"))?;
            let image = client.get_prompt("test_prompt_with_image", &()).await?;
            holds(
                matches!(image.messages[0].content, ContentBlock::Image(_)),
                &image,
            )?;
            let arguments = json!({"resourceUri": "test://any"});
            let embedded = client
                .get_prompt("test_prompt_with_embedded_resource", &arguments)
                .await?;
            let ContentBlock::Resource(resource) = &embedded.messages[0].content else {
                return Err(format!("{embedded:?}").into());
            };
            same(resource.resource.uri(), "test://any")
        })
        .await;
    report
        .check("prompts/get, wrong", async {
            refused(
                client.get_prompt("no-such-prompt", &()).await,
                &[INVALID_PARAMS],
            )?;
            let arguments = json!({"arg1": "only one"});
            let missing = client
                .get_prompt("test_prompt_with_arguments", &arguments)
                .await;
            refused(missing, &[INVALID_PARAMS])
        })
        .await;
}

async fn completion(report: &mut Report, client: &Client) {
    let complete =
        async |reference: CompletionReference<'static>, name: &'static str, value: &'static str| {
            let argument = CompletionArgument::new(name, value);
            let params = CompleteRequestParams::new(reference, argument);
            let result = client.complete(&params).await?;
            let values = result.completion.values.iter().map(ToString::to_string);
            Ok::<Vec<_>, CallError>(values.collect())
        };
    let prompt = || CompletionReference::Prompt(PromptReference::new("test_prompt_with_arguments"));
    report
        .check("completion/complete", async {
            same(
                complete(prompt(), "arg1", "par").await?,
                ["paris", "park", "party"],
            )?;
            same(complete(prompt(), "arg1", "xyz").await?, [""; 0])?;
            let template = ResourceTemplateReference::new("test://template/{id}/data");
            let template = CompletionReference::Resource(template);
            same(complete(template, "id", "12").await?, ["123", "124"])?;
            let none = CompletionReference::Prompt(PromptReference::new("no-such-prompt"));
            refused(complete(none, "a", "").await, &[INVALID_PARAMS])
        })
        .await;
}

async fn logging(report: &mut Report, client: &Client, attended: &Attended) {
    const LINES: [&str; 3] = [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ];
    let modern = client.version().era() == Era::Modern;
    let logs = async |level: Option<LoggingLevel>| {
        let mut options = CallOptions::new();
        match level {
            Some(level) if modern => options = options.log_level(level),
            Some(level) => client.set_level(level).await?,
            None => {}
        }
        client
            .call_tool_with("test_tool_with_logging", &(), options)
            .await?;
        a_while().await;
        let logs = core::mem::take(&mut attended.behind().logs);
        Ok::<_, CallError>(logs.into_iter().map(|(_, text)| text).collect::<Vec<_>>())
    };
    let name = if modern {
        "messages at the level of the request"
    } else {
        "logging/setLevel and messages"
    };
    report
        .check(name, async {
            same(logs(Some(LoggingLevel::Debug)).await?, LINES)?;
            same(logs(Some(LoggingLevel::Info)).await?, LINES)?;
            same(logs(Some(LoggingLevel::Error)).await?, [""; 0])?;
            if modern {
                same(logs(None).await?, [""; 0])?;
            }
            Ok(())
        })
        .await;
}
