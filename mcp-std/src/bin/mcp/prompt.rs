//! `mcp prompt`: gets a prompt.

use std::process::ExitCode;

use mcp_core::json::Json;
use mcp_std::model::request::GetPrompt;
use mcp_std::model::{Decode, GetPromptRequestParams, GetPromptResult};

use crate::arguments::{Values, object};
use crate::connect::{Connected, Target, output};
use crate::failure::Failure;
use crate::show;

#[derive(clap::Args)]
#[command(
    after_help = "Example: mcp prompt test_prompt_with_arguments arg1=one arg2=two -- mcp serve --everything"
)]
pub(crate) struct Prompt {
    /// The prompt
    name: String,
    /// Arguments by name. Values are strings
    #[arg(value_name = "NAME=VALUE")]
    named: Vec<String>,
    /// Arguments as a JSON object of strings. Those by name go before them
    #[arg(long, value_name = "JSON")]
    args: Option<String>,
    #[command(flatten)]
    target: Target,
}

impl Prompt {
    pub(crate) fn run(&self) -> ExitCode {
        let arguments = match object(self.args.as_deref(), &self.named, Values::Strings) {
            Ok(arguments) => arguments,
            Err(failure) => return failure.report("prompt"),
        };
        let mut params = GetPromptRequestParams::new(&*self.name);
        match arguments
            .as_ref()
            .map(Json::raw)
            .map(Decode::decode)
            .transpose()
        {
            Ok(arguments) => params.arguments = arguments,
            Err(_) => {
                let fault = "`--args` of a prompt is an object of strings".to_owned();
                return Failure::Usage(fault).report("prompt");
            }
        }
        self.target
            .run("prompt", |server| self.get(server, &params))
    }

    async fn get(
        &self,
        server: Connected<'_>,
        params: &GetPromptRequestParams<'_>,
    ) -> Result<(), Failure> {
        let response = server
            .client
            .request::<GetPrompt>(params, server.options())
            .await
            .map_err(|error| {
                Failure::call(&error, "`mcp list` shows the prompts and their arguments")
            })?;
        let result = response.decode().map_err(Failure::undecoded)?;
        if self.target.json {
            return output(format!("{}\n", response.raw().as_str()).as_bytes());
        }
        output(text(&result).as_bytes())
    }
}

/// Who says what.
fn text(result: &GetPromptResult<'_>) -> String {
    let mut text = String::new();
    for message in &result.messages {
        text.push_str(&show::word(message.role.as_str()));
        text.push_str(": ");
        show::block(&message.content, &mut text);
    }
    text
}
