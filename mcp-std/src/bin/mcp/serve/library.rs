//! Resources, a template of them, prompts, and completion.

use mcp_std::model::{PromptMessage, ResourceContents, Role};
use mcp_std::{ContentBlock, Prompt, Resource, ResourceError, ResourceTemplate, ServerBuilder};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::content::PNG;

#[derive(Deserialize)]
struct Record {
    id: String,
}

#[derive(Deserialize, JsonSchema)]
struct Two {
    /// The first.
    arg1: String,
    /// The second.
    arg2: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Embed {
    /// What to embed.
    resource_uri: String,
}

pub(super) fn add(builder: ServerBuilder) -> ServerBuilder {
    builder
        .with_resource(
            Resource::new("test://static-text", "static-text", || async {
                ResourceContents::text(
                    "test://static-text",
                    "This is the content of the static text resource.",
                )
                .of_type("text/plain")
            })
            .title("Static text")
            .description("Never changes")
            .mime_type("text/plain"),
        )
        .with_resource(
            Resource::new("test://static-binary", "static-binary", || async {
                ResourceContents::blob("test://static-binary", PNG).of_type("image/png")
            })
            .description("One pixel")
            .mime_type("image/png"),
        )
        .with_template(
            ResourceTemplate::new("test://template/{id}/data", "template", record)
                .description("Data by id")
                .mime_type("application/json")
                .complete("id", |typed: String, _| async move {
                    beginning(&typed, &["123", "124", "200"])
                }),
        )
        .with_prompt(Prompt::new("test_simple_prompt", "One message", || async {
            "This is a simple prompt for testing."
        }))
        .with_prompt(
            Prompt::new(
                "test_prompt_with_arguments",
                "Says its arguments",
                |it: Two| async move {
                    format!(
                        "Prompt with arguments: arg1='{}', arg2='{}'",
                        it.arg1, it.arg2
                    )
                },
            )
            .complete("arg1", |typed: String, _| async move {
                beginning(&typed, &["paris", "park", "party", "rome"])
            }),
        )
        .with_prompt(Prompt::new(
            "test_prompt_with_embedded_resource",
            "A resource in a message",
            |it: Embed| async move {
                let contents = ResourceContents::text(
                    it.resource_uri,
                    "Embedded resource content for testing.",
                );
                vec![
                    user(ContentBlock::resource(contents.of_type("text/plain"))),
                    user(ContentBlock::text(
                        "Please process the embedded resource above.",
                    )),
                ]
            },
        ))
        .with_prompt(Prompt::new(
            "test_prompt_with_image",
            "An image in a message",
            || async {
                vec![
                    user(ContentBlock::image(PNG, "image/png")),
                    user(ContentBlock::text("Please analyze the image above.")),
                ]
            },
        ))
}

/// The text alone: with it goes the URI that was asked for, which `id` need not spell in the same way.
async fn record(Record { id }: Record) -> Result<String, ResourceError> {
    if id == "missing" {
        return Err(ResourceError::NotFound);
    }
    let data = json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
    Ok(data.to_string())
}

fn user(content: ContentBlock<'static>) -> PromptMessage<'static> {
    PromptMessage::new(Role::User, content)
}

fn beginning(typed: &str, words: &[&'static str]) -> Vec<&'static str> {
    let fitting = words.iter().filter(|word| word.starts_with(typed));
    fitting.copied().collect()
}
