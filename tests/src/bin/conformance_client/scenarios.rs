//! What each scenario wants done.

use mcp_core::json::Json;
use mcp_core::model::{PrimitiveSchema, RequestedSchema, Tool};
use mcp_std::client::{CallError, Client};
use mcp_std::skills::{SkillError, SkillFiles};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::Failure;

pub(crate) async fn run(scenario: &str, client: &Client) -> Result<(), Failure> {
    match scenario {
        // The servers offer no tools, and so the library does not ask for any.
        other if other.starts_with("auth/") => {
            client.list_tools().await?;
            call(client, "test-tool", json!({})).await?;
            Ok(())
        }
        "initialize" | "request-metadata" => match client.list_tools().await {
            Ok(_) | Err(CallError::Unsupported(_)) => Ok(()),
            Err(error) => Err(error.into()),
        },
        "json-schema-ref-no-deref" => {
            client.list_tools().await?;
            Ok(())
        }
        "tools_call" => {
            let sum = call(client, "add_numbers", json!({"a": 5, "b": 3})).await?;
            // The suite plays a server that counts.
            if sum.contains('8') {
                Ok(())
            } else {
                Err(format!("5 and 3 are not {sum}").into())
            }
        }
        "elicitation-sep1034-client-defaults" => {
            client.list_tools().await?;
            call(client, "test_client_elicitation_defaults", json!({})).await?;
            Ok(())
        }
        "sse-retry" => {
            call(client, "test_reconnection", json!({})).await?;
            Ok(())
        }
        "json-schema-2020-12-preservation" => echo_schema(client).await,
        "sep-2322-client-request-state" => rounds(client).await,
        "http-standard-headers" => standard_headers(client).await,
        "http-custom-headers" => custom_headers(client).await,
        "http-invalid-tool-headers" => invalid_headers(client).await,
        // What a host does before it is asked to use a skill: it reads no file of any.
        "sep-2640-client-no-prefetch" => {
            client.list_skills().await?;
            Ok(())
        }
        other if other.starts_with("sep-2640-client-verify-") => use_skills(client).await,
        other => Err(format!("no such scenario here: {other}").into()),
    }
}

/// Loads each skill and reads its other files. One that is not what the server said is not used, and no failure here.
async fn use_skills(client: &Client) -> Result<(), Failure> {
    for skill in client.list_skills().await? {
        let held = match client.load_skill(&skill).await {
            Ok(held) => held,
            Err(SkillError::Fault(_)) => continue,
            Err(error) => return Err(error.into()),
        };
        if let SkillFiles::Listed(files) = &skill.resources {
            for file in files {
                held.read(&file.uri).await?;
            }
        }
    }
    Ok(())
}

/// What the user fills in: what stands there, and yes where nothing does and yes is an answer.
pub(crate) fn filled_in(form: &RequestedSchema<'_>) -> Json<'static> {
    let mut content: Map<String, Value> =
        serde_json::from_str(form.defaults().as_str()).expect("an object");
    for (name, field) in form.properties.iter() {
        if matches!(field, PrimitiveSchema::Boolean(it) if it.default.is_none()) {
            content.insert(name.to_owned(), json!(true));
        }
    }
    Json::owned(Value::Object(content).to_string()).expect("serde_json writes JSON")
}

/// Calls a tool that has to succeed.
async fn call(client: &Client, name: &str, arguments: Value) -> Result<String, Failure> {
    let outcome = client.call_tool(name, &arguments).await?;
    if outcome.is_error() {
        return Err(format!("{name} failed: {}", outcome.text()).into());
    }
    Ok(outcome.text())
}

fn named<'t>(tools: &'t [Tool<'static>], name: &str) -> Result<&'t Tool<'static>, Failure> {
    let found = tools.iter().find(|tool| tool.name == name);
    found.ok_or_else(|| format!("{name} is not in the list").into())
}

/// Says back the schema that the list showed.
async fn echo_schema(client: &Client) -> Result<(), Failure> {
    let tools = client.list_tools().await?;
    let schema = &named(&tools, "json_schema_2020_12_tool")?.input_schema;
    let schema: Value = serde_json::from_str(schema.as_str())?;
    call(client, "json_schema_echo", json!({"schema": schema})).await?;
    Ok(())
}

/// A call that is asked for more, with and without a state to bring back, and beside it one that has nothing to do with it.
async fn rounds(client: &Client) -> Result<(), Failure> {
    for name in [
        "test_mrtr_echo_state",
        "test_mrtr_unrelated",
        "test_mrtr_no_state",
        "test_mrtr_no_result_type",
    ] {
        call(client, name, json!({})).await?;
    }
    Ok(())
}

async fn standard_headers(client: &Client) -> Result<(), Failure> {
    client.list_tools().await?;
    for name in ["test_headers", "my-hyphenated-tool"] {
        call(client, name, json!({})).await?;
    }
    client.list_resources().await?;
    for uri in [
        "file:///path/to/file%20name.txt",
        "https://example.com/resource?id=123",
    ] {
        client.read_resource(uri).await?;
    }
    client.list_prompts().await?;
    client.get_prompt("test_prompt", &()).await?;
    Ok(())
}

/// What the suite wants called in `http-custom-headers`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Context {
    tool_calls: Vec<ToolCall>,
}

#[derive(Deserialize)]
struct ToolCall {
    name: String,
    arguments: Value,
}

async fn custom_headers(client: &Client) -> Result<(), Failure> {
    let context: Context = serde_json::from_str(&std::env::var("MCP_CONFORMANCE_CONTEXT")?)?;
    client.list_tools().await?;
    for wanted in context.tool_calls {
        call(client, &wanted.name, wanted.arguments).await?;
    }
    Ok(())
}

/// The library leaves out the tools whose headers are none; whatever it leaves can be called.
async fn invalid_headers(client: &Client) -> Result<(), Failure> {
    let tools = client.list_tools().await?;
    named(&tools, "valid_tool")?;
    for tool in &tools {
        call(client, &tool.name, json!({"region": "us-west1"})).await?;
    }
    Ok(())
}
