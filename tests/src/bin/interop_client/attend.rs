//! The user and the model behind the client: what they are asked, and what they answer.

use core::time::Duration;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_io::Timer;
use mcp_core::json::Json;
use mcp_core::model::{
    ContentBlock, CreateMessageRequestParams, CreateMessageResult, ElicitAction,
    ElicitRequestParams, ElicitResult, LoggingLevel, Role, Root, StopReason, ToolUseContent,
};
use mcp_std::client::{ClientBuilder, Declined};
use serde_json::json;

/// A question that came.
#[derive(Clone, Debug)]
pub(crate) enum Asked {
    Elicit(ElicitRequestParams<'static>),
    Sample(CreateMessageRequestParams<'static>),
}

/// What happened behind the client, and what is to happen. Clones are one.
#[derive(Clone, Default)]
pub(crate) struct Attended(Arc<Mutex<Behind>>);

#[derive(Default)]
pub(crate) struct Behind {
    pub(crate) asked: Vec<Asked>,
    /// Level and data of each log message.
    pub(crate) logs: Vec<(LoggingLevel, String)>,
    /// What the user does; `None`: accepts.
    pub(crate) action: Option<ElicitAction<'static>>,
    /// How long the user thinks.
    pub(crate) thinking: Duration,
}

pub(crate) fn roots() -> Vec<Root<'static>> {
    let mut root = Root::new("file:///workspace");
    root.name = Some("Workspace".into());
    vec![root]
}

impl Attended {
    pub(crate) fn behind(&self) -> MutexGuard<'_, Behind> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What was asked since the last time.
    pub(crate) fn asked(&self) -> Vec<Asked> {
        core::mem::take(&mut self.behind().asked)
    }

    /// A client with all of this behind it.
    pub(crate) fn attend(&self, builder: ClientBuilder) -> ClientBuilder {
        let (form, url, sampled, logged) = (self.clone(), self.clone(), self.clone(), self.clone());
        builder
            .elicitation(move |request| form.clone().answer(request.params))
            .url_elicitation(move |request| url.clone().answer(request.params))
            .sampling(move |request| {
                let answer = sample(&request.params);
                sampled.behind().asked.push(Asked::Sample(request.params));
                async move { Ok::<_, Declined>(answer) }
            })
            .sampling_tools()
            .roots(roots())
            .on_log(move |message| {
                let data = message.data.raw().as_string();
                let text = data.map_or_else(
                    || message.data.as_str().to_owned(),
                    |text| text.decode().into_owned(),
                );
                logged.behind().logs.push((message.level, text));
            })
    }

    async fn answer(self, params: ElicitRequestParams<'static>) -> ElicitResult<'static> {
        let (action, thinking) = {
            let mut behind = self.behind();
            behind.asked.push(Asked::Elicit(params.clone()));
            (behind.action.clone(), behind.thinking)
        };
        if !thinking.is_zero() {
            Timer::after(thinking).await;
        }
        if let Some(action) = action {
            return ElicitResult::new(action);
        }
        let mut result = ElicitResult::new(ElicitAction::Accept);
        if let ElicitRequestParams::Form(form) = params {
            let mut content = serde_json::Map::new();
            for (name, _) in form.requested_schema.properties.iter() {
                content.insert(name.to_string(), known(name));
            }
            result.content = Json::owned(serde_json::Value::Object(content).to_string()).ok();
        }
        result
    }
}

/// What the user fills into a field of this name.
fn known(field: &str) -> serde_json::Value {
    match field {
        "username" => json!("ada"),
        "email" => json!("ada@example.com"),
        "name" => json!("Ada"),
        "color" => json!("blue"),
        "context" => json!("the sea"),
        "ok" | "check" => json!(true),
        "integer" => json!(42),
        "number" => json!(3.5),
        _ => json!("something"),
    }
}

fn sample(params: &CreateMessageRequestParams<'_>) -> CreateMessageResult<'static> {
    let (content, reason) = match params.tools.as_deref() {
        Some([tool, ..]) => {
            let input = Json::owned(json!({"city": "Paris"}).to_string()).expect("JSON");
            let call = ToolUseContent::new("use-1", tool.name.to_string(), input);
            (ContentBlock::tool_use(call), StopReason::ToolUse)
        }
        _ => {
            let said = params
                .messages
                .first()
                .and_then(|message| message.content.first());
            let said = said.and_then(ContentBlock::as_text).unwrap_or_default();
            let text = format!("model says: {said}");
            (ContentBlock::text(text), StopReason::EndTurn)
        }
    };
    let mut result = CreateMessageResult::new(Role::Assistant, vec![content], "test-model");
    result.stop_reason = Some(reason);
    result
}
