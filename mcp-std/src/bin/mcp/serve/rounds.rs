//! Tools that steer the asking by themselves, as only clients of 2026-07-28 can be asked.

use mcp_std::model::{
    CreateMessageResult, ElicitRequestParams, ElicitResult, ListRootsResult, PromptMessage, Role,
};
use mcp_std::{
    ClientCapabilities, ContentBlock, Context, ErrorCode, InputRequired, Instead, IntoPrompt as _,
    IntoToolResult as _, Json, Progress, Prompt, ProtocolError, ServerBuilder, Tool, ToolResult,
};

use serde::Deserialize;

use super::questions::{conversation, form, said};

#[derive(Deserialize)]
struct Confirmed {
    ok: bool,
}

type Answer = Result<ToolResult, Instead>;

pub(super) fn add(builder: ServerBuilder) -> ServerBuilder {
    builder
        .tool(
            "test_input_required_result_elicitation",
            "Asks the user",
            elicitation,
        )
        .tool(
            "test_input_required_result_sampling",
            "Asks the model",
            sampling,
        )
        .tool(
            "test_input_required_result_list_roots",
            "Asks for roots",
            roots,
        )
        .tool(
            "test_input_required_result_request_state",
            "Keeps a state",
            state,
        )
        .tool(
            "test_input_required_result_tampered_state",
            "Keeps a state that can be tried to forge",
            state,
        )
        .tool(
            "test_input_required_result_multiple_inputs",
            "Asks three things",
            several,
        )
        .tool(
            "test_input_required_result_multi_round",
            "Asks twice",
            twice,
        )
        .tool(
            "test_input_required_result_capabilities",
            "Asks what the client can be asked",
            able,
        )
        .tool(
            "test_streaming_elicitation",
            "Reports progress, then asks the user",
            |context: Context| async move {
                context.progress(Progress::new(1.0)).await;
                elicitation(context).await
            },
        )
        .with_tool(
            Tool::new("test_missing_capability", "Needs sampling", || async {
                "present"
            })
            .requires(ClientCapabilities::SAMPLING),
        )
        .with_prompt(Prompt::new(
            "test_input_required_result_prompt",
            "Asks the user first",
            |context: Context| async move {
                match filled(&context, "user_context", "context")? {
                    Some(topic) => {
                        let text = ContentBlock::text(format!("Use this context: {topic}"));
                        PromptMessage::new(Role::User, text).into_prompt()
                    }
                    None => InputRequired::new()
                        .elicit("user_context", one("What context?", CONTEXT))
                        .into_prompt(),
                }
            },
        ))
}

/// What the user filled into one field of a form, if they did.
pub(super) fn filled(
    context: &Context,
    name: &str,
    field: &str,
) -> Result<Option<String>, ProtocolError> {
    let Some(answer) = context.input_response::<ElicitResult<'_>>(name)? else {
        return Ok(None);
    };
    let content = answer.content.as_ref();
    let value = content.and_then(|content| content.raw().member(field)?.as_string());
    Ok(value.map(|text| text.decode().into_owned()))
}

pub(super) fn one(message: &str, schema: &'static str) -> ElicitRequestParams<'static> {
    form(message.to_owned(), schema)
}

async fn elicitation(context: Context) -> Answer {
    match filled(&context, "user_name", "name")? {
        Some(name) => format!("Hello, {name}!").into_tool_result(),
        None => InputRequired::new()
            .elicit("user_name", one("What is your name?", NAME))
            .into_tool_result(),
    }
}

async fn sampling(context: Context) -> Answer {
    match context.input_response::<CreateMessageResult<'_>>("capital_question")? {
        Some(answer) => said(&answer).to_owned().into_tool_result(),
        None => InputRequired::new()
            .sample(
                "capital_question",
                conversation("What is the capital of France?".to_owned(), 100),
            )
            .into_tool_result(),
    }
}

async fn roots(context: Context) -> Answer {
    match context.input_response::<ListRootsResult<'_>>("client_roots")? {
        Some(answer) => {
            let uris: Vec<_> = answer.roots.iter().map(|root| &*root.uri).collect();
            uris.join("\n").into_tool_result()
        }
        None => InputRequired::new()
            .roots("client_roots")
            .into_tool_result(),
    }
}

async fn state(context: Context) -> Answer {
    match (
        context.request_state(),
        context.input_response::<ElicitResult<'_>>("confirm")?,
    ) {
        (Some("asked"), Some(answer)) => {
            let content = answer.content.as_ref().map_or("{}", Json::as_str);
            let invalid = |error: serde_json::Error| {
                ProtocolError::new(ErrorCode::INVALID_PARAMS, error.to_string())
            };
            let confirmed: Confirmed = serde_json::from_str(content).map_err(invalid)?;
            format!("state-ok {}", confirmed.ok).into_tool_result()
        }
        _ => InputRequired::new()
            .elicit("confirm", one("Go on?", CONFIRM))
            .state("asked")
            .into_tool_result(),
    }
}

async fn several(context: Context) -> Answer {
    let name = filled(&context, "user_name", "name")?;
    let greeting = context.input_response::<CreateMessageResult<'_>>("greeting")?;
    let roots = context.input_response::<ListRootsResult<'_>>("client_roots")?;
    if let (Some(name), Some(greeting), Some(roots)) = (name, greeting, roots) {
        return format!("{} {name}, {} roots", said(&greeting), roots.roots.len())
            .into_tool_result();
    }
    InputRequired::new()
        .elicit("user_name", one("What is your name?", NAME))
        .sample("greeting", conversation("Say hello".to_owned(), 50))
        .roots("client_roots")
        .state("asked")
        .into_tool_result()
}

async fn twice(context: Context) -> Answer {
    let known = context
        .request_state()
        .and_then(|state| state.strip_prefix("name: "));
    let name = match known {
        Some(name) => Some(name.to_owned()),
        None => filled(&context, "step1", "name")?,
    };
    let Some(name) = name else {
        return InputRequired::new()
            .elicit("step1", one("What is your name?", NAME))
            .state("nothing known")
            .into_tool_result();
    };
    match filled(&context, "step2", "color")? {
        Some(color) => format!("{name} likes {color}").into_tool_result(),
        None => InputRequired::new()
            .elicit("step2", one("Which colour?", COLOR))
            .state(format!("name: {name}"))
            .into_tool_result(),
    }
}

async fn able(context: Context) -> Answer {
    if context.input_responses().is_some() {
        return "answered".into_tool_result();
    }
    let able = context.capabilities();
    let asks = InputRequired::new();
    if able.contains(ClientCapabilities::ELICITATION) {
        asks.elicit("user_name", one("What is your name?", NAME))
            .into_tool_result()
    } else if able.contains(ClientCapabilities::SAMPLING) {
        let asks = asks.sample("greeting", conversation("Say hello".to_owned(), 50));
        asks.into_tool_result()
    } else {
        asks.roots("client_roots").into_tool_result()
    }
}

pub(super) const NAME: &str =
    r#"{"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}"#;
const COLOR: &str =
    r#"{"type": "object", "properties": {"color": {"type": "string"}}, "required": ["color"]}"#;
const CONTEXT: &str =
    r#"{"type": "object", "properties": {"context": {"type": "string"}}, "required": ["context"]}"#;
const CONFIRM: &str =
    r#"{"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}"#;
