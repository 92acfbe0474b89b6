//! `mcp call`: calls a tool.

use std::process::ExitCode;

use mcp_std::ContentBlock;
use mcp_std::model::request::CallTool;
use mcp_std::model::{CallToolRequestParams, CallToolResult};

use crate::arguments::{Values, object};
use crate::connect::{Connected, Target, output};
use crate::failure::Failure;
use crate::show;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  mcp call echo text=hello -- mcp serve
  mcp call add --args '{\"a\":1,\"b\":2}' -- mcp serve

Exit status: 0 done, 1 the tool failed, 2 wrong usage, 3 the server or the connection failed, 130 interrupted.")]
pub(crate) struct Call {
    /// The tool
    tool: String,
    /// Arguments by name. A value that is JSON is taken as that, any other is a string; '"1"' is the string 1
    #[arg(value_name = "NAME=VALUE")]
    named: Vec<String>,
    /// Arguments as a JSON object. Those by name go before them
    #[arg(long, value_name = "JSON")]
    args: Option<String>,
    #[command(flatten)]
    target: Target,
}

impl Call {
    pub(crate) fn run(&self) -> ExitCode {
        let arguments = match object(self.args.as_deref(), &self.named, Values::Json) {
            Ok(arguments) => arguments,
            Err(failure) => return failure.report("call"),
        };
        let mut params = CallToolRequestParams::new(&*self.tool);
        params.arguments = arguments;
        self.target.run("call", |server| self.call(server, params))
    }

    async fn call(
        &self,
        server: Connected<'_>,
        params: CallToolRequestParams<'_>,
    ) -> Result<(), Failure> {
        let response = server
            .client
            .request::<CallTool>(&params, server.options())
            .await
            .map_err(|error| {
                Failure::call(&error, "`mcp list` shows the tools and their arguments")
            })?;
        let result = response.decode().map_err(Failure::undecoded)?;
        if self.target.json {
            output(format!("{}\n", response.raw().as_str()).as_bytes())?;
        } else {
            output(text(&result).as_bytes())?;
        }
        if result.is_error {
            Err(Failure::Tool)
        } else {
            Ok(())
        }
    }
}

/// The content; what is structured, in lines, in the place of a text that says the same.
fn text(result: &CallToolResult<'_>) -> String {
    let mut text = String::new();
    let Some(structured) = &result.structured_content else {
        show::blocks(&result.content, &mut text);
        return text;
    };
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    let same = value(structured.as_str());
    for block in &result.content {
        let repeats = matches!(block, ContentBlock::Text(block)
            if same.is_some() && value(&block.text) == same);
        if !repeats {
            show::block(block, &mut text);
        }
    }
    text.push_str(&show::plain(&show::pretty(structured.raw())));
    text.push('\n');
    text
}
