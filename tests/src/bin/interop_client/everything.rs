//! What `@modelcontextprotocol/server-everything` offers.

use core::time::Duration;
use std::sync::{Arc, Mutex};

use async_io::Timer;
use futures_lite::FutureExt as _;
use mcp_core::model::{
    CompleteRequestParams, CompletionArgument, CompletionContext, CompletionReference,
    ContentBlock, LoggingLevel, PromptReference, ResourceContents, SubscriptionFilter,
};
use mcp_std::client::{CallError, CallOptions, Canceller, Change, Client};
use serde_json::{Value, json};

use crate::attend::Attended;
use crate::{Failure, Report, holds, refused, same, soon};

/// How often this server tells of something, and a little more.
const BEAT: Duration = Duration::from_secs(7);

pub(crate) async fn run(report: &mut Report, client: &Client, attended: &Attended) {
    let text = async |name: &str, arguments: Value| {
        let outcome = client.call_tool(name, &arguments).await?;
        holds(!outcome.is_error(), &outcome)?;
        Ok::<_, Failure>(outcome.text())
    };
    report
        .check("tools", async {
            same(
                text("echo", json!({"message": "hello"})).await?,
                "Echo: hello",
            )?;
            let sum = text("get-sum", json!({"a": 2, "b": 3})).await?;
            holds(sum.contains('5'), &sum)?;
            let outcome = client
                .call_tool("get-structured-content", &json!({"location": "New York"}))
                .await?;
            holds(outcome.structured::<Value>().is_some(), &outcome)?;
            let outcome = client.call_tool("get-tiny-image", &()).await?;
            holds(
                outcome
                    .content
                    .iter()
                    .any(|it| matches!(it, ContentBlock::Image(_))),
                &outcome,
            )?;
            let outcome = client
                .call_tool("get-resource-links", &json!({"count": 3}))
                .await?;
            let links = outcome
                .content
                .iter()
                .filter(|it| matches!(it, ContentBlock::ResourceLink(_)));
            same(links.count(), 3)?;
            let arguments = json!({"messageType": "error", "includeImage": true});
            let outcome = client
                .call_tool("get-annotated-message", &arguments)
                .await?;
            let ContentBlock::Text(block) = &outcome.content[0] else {
                return Err(format!("{outcome:?}").into());
            };
            holds(block.annotations.is_some(), block)
        })
        .await;
    report
        .check("progress, cancellation", async {
            let seen = Arc::new(Mutex::new(0));
            let heard = seen.clone();
            let options = CallOptions::new().on_progress(move |_| {
                heard
                    .lock()
                    .map(|mut count| *count += 1)
                    .unwrap_or_default();
            });
            let arguments = json!({"duration": 0.2, "steps": 4});
            client
                .call_tool_with("trigger-long-running-operation", &arguments, options)
                .await?;
            same(seen.lock().map(|count| *count).unwrap_or_default(), 4)?;
            let canceller = Canceller::new();
            let stop = canceller.clone();
            let options = CallOptions::new()
                .canceller(&canceller)
                .on_progress(move |_| stop.cancel());
            // The tool goes on though it is cancelled, and the server does not end before it.
            let arguments = json!({"duration": 3, "steps": 30});
            let ended = client
                .call_tool_with("trigger-long-running-operation", &arguments, options)
                .await;
            holds(matches!(ended, Err(CallError::Cancelled)), &ended)?;
            same(
                text("echo", json!({"message": "still here"})).await?,
                "Echo: still here",
            )
        })
        .await;
    report
        .check("resources and templates", async {
            let resources = client.list_resources().await?;
            let document = resources.first().ok_or("no resources")?;
            let read = client.read_resource(&document.uri).await?;
            holds(
                matches!(read.contents.first(), Some(ResourceContents::Text(_))),
                &read,
            )?;
            same(client.list_resource_templates().await?.len(), 2)?;
            let read = client
                .read_resource("demo://resource/dynamic/blob/1")
                .await?;
            holds(
                matches!(read.contents.first(), Some(ResourceContents::Blob(_))),
                &read,
            )?;
            let none = client.read_resource("demo://resource/nothing").await;
            refused(none, &[-32602, -32002])
        })
        .await;
    report
        .check("prompts and completion", async {
            holds(client.list_prompts().await?.len() >= 4, "four prompts")?;
            let arguments = json!({"city": "Paris"});
            let prompt = client.get_prompt("args-prompt", &arguments).await?;
            holds(
                prompt.messages[0]
                    .content
                    .as_text()
                    .is_some_and(|it| it.contains("Paris")),
                &prompt,
            )?;
            let reference =
                || CompletionReference::Prompt(PromptReference::new("completable-prompt"));
            let argument = CompletionArgument::new("department", "S");
            let result = client
                .complete(&CompleteRequestParams::new(reference(), argument))
                .await?;
            same(&*result.completion.values, ["Sales", "Support"])?;
            let argument = CompletionArgument::new("name", "");
            let mut params = CompleteRequestParams::new(reference(), argument);
            let mut context = CompletionContext::default();
            context.arguments = Some([("department", "Sales".into())].into_iter().collect());
            params.context = Some(context);
            let result = client.complete(&params).await?;
            same(&*result.completion.values, ["David", "Eve", "Frank"])
        })
        .await;
    report
        .check("elicitation, sampling, roots", async {
            // The server offers them when it knows what the client can do, a little after the handshake.
            let said = text("trigger-elicitation-request", json!({})).await?;
            holds(said.contains("Ada"), &said)?;
            let arguments = json!({"url": "https://example.com/", "message": "Please"});
            let said = text("trigger-url-elicitation", arguments).await?;
            holds(said.contains("accept") || said.contains("User"), &said)?;
            let arguments = json!({"prompt": "Say hello", "maxTokens": 10});
            let said = text("trigger-sampling-request", arguments).await?;
            holds(said.contains("model says: "), &said)?;
            let said = text("get-roots-list", json!({})).await?;
            holds(said.contains("file:///workspace"), &said)?;
            same(attended.asked().len(), 3)
        })
        .await;
    report
        .check("log messages", async {
            client.set_level(LoggingLevel::Debug).await?;
            text("toggle-simulated-logging", json!({})).await?;
            let late = std::time::Instant::now() + BEAT;
            while attended.behind().logs.is_empty() {
                holds(std::time::Instant::now() < late, "a message")?;
                Timer::after(Duration::from_millis(20)).await;
            }
            text("toggle-simulated-logging", json!({})).await.map(drop)
        })
        .await;
    report
        .check("subscriptions and list changes", async {
            let mut filter = SubscriptionFilter::default();
            filter.resources_list_changed = true;
            filter.resource_subscriptions =
                Some(vec!["demo://resource/dynamic/text/1".into()].into());
            let mut changes = client.subscribe(filter).await?;
            text("toggle-subscriber-updates", json!({})).await?;
            let arguments = json!({"name": "hello.gz", "data": "data:text/plain;base64,aGVsbG8="});
            text("gzip-file-as-resource", arguments).await?;
            let mut seen = Vec::new();
            while seen.len() < 2 {
                let change = changes
                    .next()
                    .or(async {
                        Timer::after(BEAT).await;
                        None
                    })
                    .await;
                seen.push(change.ok_or_else(|| format!("two changes; there was {seen:?}"))?);
            }
            holds(seen.contains(&Change::Resources), &seen)?;
            // While these are on, it does not end when its input does.
            text("toggle-subscriber-updates", json!({})).await?;
            holds(
                seen.contains(&Change::Resource(
                    "demo://resource/dynamic/text/1".to_owned(),
                )),
                &seen,
            )
        })
        .await;
    report
        .check("ping", async {
            client.ping().await?;
            soon("nothing is asked any more", || {
                attended.behind().asked.is_empty()
            })
            .await
        })
        .await;
}
