//! Tools that ask the client: each is one function for clients of both eras.

use futures_lite::future::zip;
use mcp_std::model::{
    ContentBlock, CreateMessageRequestParams, CreateMessageResult, Decode as _, ElicitAction,
    ElicitRequestParams, ElicitRequestUrlParams, RequestedSchema, Role, SamplingMessage,
    Tool as ToolDescription, ToolChoice, ToolChoiceMode,
};
use mcp_std::{AskError, Context, Elicited, Json, Prompt, ProtocolVersion, ServerBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize, JsonSchema)]
struct Message {
    /// What to say to the user.
    message: String,
}

#[derive(Deserialize, JsonSchema)]
struct Question {
    /// What to say to the model.
    prompt: String,
}

#[derive(Deserialize, JsonSchema)]
struct Name {
    /// What you are called.
    name: String,
}

#[derive(Deserialize, JsonSchema)]
struct Color {
    /// Which one you like best.
    color: String,
}

#[derive(Deserialize, JsonSchema)]
struct Topic {
    /// What it is about.
    context: String,
}

pub(super) fn add(builder: ServerBuilder) -> ServerBuilder {
    builder
        .tool("test_elicitation", "Asks the user two things", user)
        .tool(
            "test_elicitation_sep1034_defaults",
            "Asks the user, with defaults",
            |context: Context| fill_in(context, "Please check these", DEFAULTS),
        )
        .tool(
            "test_elicitation_sep1330_enums",
            "Asks the user to choose",
            |context: Context| fill_in(context, "Please choose", ENUMS),
        )
        .tool("test_elicitation_url", "Sends the user to a page", page)
        .tool("test_sampling", "Asks the model", model)
        .tool(
            "test_sampling_with_tools",
            "Lets the model choose a tool",
            model_with_tools,
        )
        .tool("test_list_roots", "Says which roots there are", roots)
        .tool(
            "test_two_rounds",
            "Asks twice, one after the other",
            two_rounds,
        )
        .tool(
            "test_three_questions",
            "Asks three things at once",
            three_questions,
        )
        .with_prompt(Prompt::new(
            "test_prompt_that_asks",
            "Asks before it answers",
            |context: Context| async move {
                let topic = context.elicit_form::<Topic>("What context?").await?;
                Ok::<_, AskError>(match topic {
                    Elicited::Accepted(topic) => format!("Use this context: {}", topic.context),
                    Elicited::Declined | Elicited::Cancelled => "There is no context".to_owned(),
                })
            },
        ))
}

async fn user(context: Context, args: Message) -> Result<String, AskError> {
    let answer = context.elicit(form(args.message, USER)).await?;
    Ok(told(
        "User response: ",
        &answer.action,
        answer.content.as_ref(),
    ))
}

async fn fill_in(
    context: Context,
    message: &'static str,
    schema: &'static str,
) -> Result<String, AskError> {
    let answer = context.elicit(form(message.to_owned(), schema)).await?;
    Ok(told(
        "Elicitation completed: ",
        &answer.action,
        answer.content.as_ref(),
    ))
}

fn told(what: &str, action: &ElicitAction<'_>, content: Option<&Json<'_>>) -> String {
    let content = content.map(|content| format!(", content={}", content.as_str()));
    format!(
        "{what}action={}{}",
        action.as_str(),
        content.unwrap_or_default()
    )
}

async fn page(context: Context) -> Result<String, AskError> {
    // Only 2025-11-25 names what it asks, to say later that it is done.
    let id = "elicitation-of-a-page";
    let mut page =
        ElicitRequestUrlParams::new("Please authorize", "https://example.com/authorize?state=1");
    if context.version() == ProtocolVersion::V2025_11_25 {
        page.elicitation_id = Some(id.into());
    }
    let answer = context.elicit(ElicitRequestParams::Url(page)).await?;
    if answer.action == ElicitAction::Accept {
        context.elicitation_complete(id).await;
    }
    Ok(told("URL response: ", &answer.action, None))
}

async fn model(context: Context, args: Question) -> Result<String, AskError> {
    let answer = context.sample(conversation(args.prompt, 100)).await?;
    Ok(format!("LLM response: {}", said(&answer)))
}

async fn model_with_tools(context: Context) -> Result<String, AskError> {
    let mut params = conversation("What is the weather in Paris?".to_owned(), 100);
    let schema =
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let schema = Json::owned(schema.to_string()).expect("it has just been written");
    params.tools = Some(vec![ToolDescription::new("get_weather", schema)].into());
    let mut choice = ToolChoice::default();
    choice.mode = Some(ToolChoiceMode::Required);
    params.tool_choice = Some(choice);
    let answer = context.sample(params).await?;
    let wanted = answer.content.iter().find_map(|block| match block {
        ContentBlock::ToolUse(call) => Some(format!("{} {}", call.name, call.input.as_str())),
        _ => None,
    });
    Ok(format!(
        "LLM wants: {}",
        wanted.as_deref().unwrap_or("nothing")
    ))
}

async fn roots(context: Context) -> Result<String, AskError> {
    let roots: Vec<_> = context
        .roots()
        .await?
        .iter()
        .map(|root| json!({"uri": root.uri, "name": root.name}))
        .collect();
    Ok(format!("Roots: {}", json!(roots)))
}

async fn two_rounds(context: Context) -> Result<String, AskError> {
    let Elicited::Accepted(person) = context.elicit_form::<Name>("Who are you?").await? else {
        return Ok("Nobody".to_owned());
    };
    let Elicited::Accepted(taste) = context
        .elicit_form::<Color>(format!("Which colour, {}?", person.name))
        .await?
    else {
        return Ok(format!("{} does not say", person.name));
    };
    Ok(format!("{} likes {}", person.name, taste.color))
}

async fn three_questions(context: Context) -> Result<String, AskError> {
    let greeting = context.sample(conversation("Say hello".to_owned(), 50));
    let (name, (greeting, roots)) = zip(
        context.elicit_form::<Name>("Who are you?"),
        zip(greeting, context.roots()),
    )
    .await;
    let name = name?.accepted().map_or("nobody".to_owned(), |it| it.name);
    Ok(format!(
        "{} {name}, {} roots",
        said(&greeting?),
        roots?.len()
    ))
}

pub(super) fn form(message: String, schema: &'static str) -> ElicitRequestParams<'static> {
    let schema = Json::parse(schema.as_bytes()).expect("a constant");
    let schema = RequestedSchema::decode(schema.raw())
        .expect("a constant")
        .into_owned();
    ElicitRequestParams::form(message, schema)
}

pub(super) fn conversation(prompt: String, max_tokens: u64) -> CreateMessageRequestParams<'static> {
    let message = SamplingMessage::new(Role::User, vec![ContentBlock::text(prompt)]);
    CreateMessageRequestParams::new(vec![message], max_tokens)
}

pub(super) fn said<'r>(answer: &'r CreateMessageResult<'_>) -> &'r str {
    let first = answer.content.iter().find_map(ContentBlock::as_text);
    first.unwrap_or("nothing that is text")
}

const USER: &str = r#"{
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "What to call you"},
        "email": {"type": "string", "description": "Where to write to you"}
    },
    "required": ["username", "email"]
}"#;

const DEFAULTS: &str = r#"{
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true}
    }
}"#;

const ENUMS: &str = r#"{
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": [
            {"const": "value1", "title": "First Option"},
            {"const": "value2", "title": "Second Option"},
            {"const": "value3", "title": "Third Option"}
        ]},
        "legacyEnum": {
            "type": "string", "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"]
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": [
            {"const": "value1", "title": "First Choice"},
            {"const": "value2", "title": "Second Choice"},
            {"const": "value3", "title": "Third Choice"}
        ]}}
    }
}"#;
