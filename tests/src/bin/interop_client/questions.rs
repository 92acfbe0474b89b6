//! What a server asks: the user, the model, the client itself.

use core::time::Duration;

use mcp_core::ErrorCode;
use mcp_core::model::{
    ElicitAction, ElicitRequestParams, Era, ProtocolVersion, Root, ToolChoiceMode,
};
use mcp_std::client::{CallError, CallOptions, Client};
use serde_json::{Value, json};

use crate::attend::{Asked, Attended, roots};
use crate::{Checked, Failure, QUIET, Report, a_while, holds, same, soon};

pub(crate) async fn run(report: &mut Report, client: &Client, attended: &Attended) {
    let formed = client.version() >= ProtocolVersion::V2025_06_18;
    if formed {
        forms(report, client, attended).await;
    }
    let asked = async |name: &str, arguments: Value| {
        let outcome = client.call_tool(name, &arguments).await?;
        holds(!outcome.is_error(), &outcome)?;
        Ok::<_, Failure>(outcome.text())
    };
    if client.version() >= ProtocolVersion::V2025_11_25 {
        report
            .check("elicitation by URL", async {
                same(
                    asked("test_elicitation_url", json!({})).await?,
                    "URL response: action=accept",
                )?;
                match attended.asked().as_slice() {
                    [Asked::Elicit(ElicitRequestParams::Url(page))] => {
                        same(&*page.url, "https://example.com/authorize?state=1")
                    }
                    other => Err(format!("{other:?}").into()),
                }
            })
            .await;
        report
            .check("sampling with tools", async {
                let said = asked("test_sampling_with_tools", json!({})).await?;
                same(said, r#"LLM wants: get_weather {"city":"Paris"}"#)?;
                match attended.asked().as_slice() {
                    [Asked::Sample(params)] => {
                        let mode = params
                            .tool_choice
                            .as_ref()
                            .and_then(|choice| choice.mode.as_ref());
                        same(mode, Some(&ToolChoiceMode::Required))
                    }
                    other => Err(format!("{other:?}").into()),
                }
            })
            .await;
    }
    report
        .check("sampling", async {
            let said = asked("test_sampling", json!({"prompt": "Say hello"})).await?;
            same(said, "LLM response: model says: Say hello")?;
            match attended.asked().as_slice() {
                [Asked::Sample(params)] => same(params.max_tokens, 100),
                other => Err(format!("{other:?}").into()),
            }
        })
        .await;
    report
        .check("roots, and other roots", async {
            let told = async || {
                let said = asked("test_list_roots", json!({})).await?;
                let said = said.strip_prefix("Roots: ").ok_or("no roots")?;
                Ok::<_, Failure>(serde_json::from_str::<Value>(said)?)
            };
            let mut expected = json!([{"uri": "file:///workspace", "name": "Workspace"}]);
            same(&told().await?, &expected)?;
            let mut elsewhere = Root::new("file:///elsewhere");
            elsewhere.name = Some("Elsewhere".into());
            let more = roots().into_iter().chain([elsewhere]);
            client.set_roots(more)?;
            if let Some(list) = expected.as_array_mut() {
                list.push(json!({"uri": "file:///elsewhere", "name": "Elsewhere"}));
            }
            same(&told().await?, &expected)
        })
        .await;
    if formed {
        report
            .check("several questions, in rounds and at once", async {
                same(asked("test_two_rounds", json!({})).await?, "Ada likes blue")?;
                same(attended.asked().len(), 2)?;
                let said = asked("test_three_questions", json!({})).await?;
                same(said, "model says: Say hello Ada, 2 roots")?;
                same(attended.asked().len(), 2)
            })
            .await;
        report
            .check("a prompt that asks", async {
                let prompt = client.get_prompt("test_prompt_that_asks", &()).await?;
                let said = prompt.messages[0].content.as_text();
                same(said, Some("Use this context: the sea"))?;
                same(attended.asked().len(), 1)
            })
            .await;
    }
}

async fn forms(report: &mut Report, client: &Client, attended: &Attended) {
    let arguments = json!({"message": "Who are you?"});
    let ask = async || {
        let outcome = client.call_tool("test_elicitation", &arguments).await?;
        holds(!outcome.is_error(), &outcome)?;
        Ok::<_, Failure>(outcome.text())
    };
    let accepted = |said: &str| -> Checked {
        let content = said.strip_prefix("User response: action=accept, content=");
        let content: Value = serde_json::from_str(content.ok_or_else(|| said.to_owned())?)?;
        same(
            content,
            json!({"username": "ada", "email": "ada@example.com"}),
        )
    };
    report
        .check("elicitation, accepted", async {
            accepted(&ask().await?)?;
            match attended.asked().as_slice() {
                [Asked::Elicit(ElicitRequestParams::Form(form))] => {
                    same(&*form.message, "Who are you?")
                }
                other => Err(format!("{other:?}").into()),
            }
        })
        .await;
    for action in [ElicitAction::Decline, ElicitAction::Cancel] {
        let name = format!("elicitation, {}", action.as_str());
        report
            .check(&name, async {
                attended.behind().action = Some(action.clone());
                let said = ask().await;
                attended.behind().action = None;
                same(said?, format!("User response: action={}", action.as_str()))?;
                same(attended.asked().len(), 1)
            })
            .await;
    }
    report
        .check("a call that is dropped while it asks", async {
            attended.behind().thinking = 2 * QUIET;
            let options = CallOptions::new().timeout(QUIET);
            let ended = client
                .call_tool_with("test_elicitation", &arguments, options)
                .await;
            // In 2026-07-28 nothing is under way while the user thinks: the time is that of each request.
            if client.version().era() == Era::Legacy {
                holds(matches!(ended, Err(CallError::Timeout(_))), &ended)?;
            }
            attended.behind().thinking = Duration::ZERO;
            a_while().await;
            attended.asked();
            accepted(&ask().await?)?;
            same(attended.asked().len(), 1)
        })
        .await;
    report
        .check("20 elicitations at once", async {
            let calls: Vec<_> = (0..20)
                .map(|_| {
                    let (client, arguments) = (client.clone(), arguments.clone());
                    smol::spawn(
                        async move { client.call_tool("test_elicitation", &arguments).await },
                    )
                })
                .collect();
            for call in calls {
                accepted(&call.await?.text())?;
            }
            soon("20 questions", || attended.behind().asked.len() == 20).await?;
            attended.asked();
            Ok(())
        })
        .await;
}

/// With a client that has declared no capability.
pub(crate) async fn undeclared(report: &mut Report, client: Client) {
    report
        .check("a client that declared nothing is asked nothing", async {
            for (name, arguments) in [
                ("test_elicitation", json!({"message": "Who are you?"})),
                ("test_sampling", json!({"prompt": "Say hello"})),
                ("test_list_roots", json!({})),
            ] {
                match client.call_tool(name, &arguments).await {
                    Ok(outcome) if client.version().era() == Era::Legacy => {
                        holds(outcome.is_error(), &outcome)?;
                    }
                    Err(CallError::Protocol(error)) => {
                        let modern = client.version().era() == Era::Modern;
                        holds(
                            !modern || error.code == ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY,
                            &error,
                        )?;
                    }
                    other => return Err(format!("{other:?}").into()),
                }
            }
            client.close().await;
            Ok(())
        })
        .await;
}
