//! `mcp call`: calls a tool.

use core::time::Duration;
use std::process::ExitCode;

use async_io::Timer;
use futures_lite::future::or;
use mcp_core::json::RawJson;
use mcp_std::ContentBlock;
use mcp_std::model::request::CallTool;
use mcp_std::model::{CallToolRequestParams, CallToolResult};

use crate::arguments::{Values, object};
use crate::connect::{Connected, Target, output};
use crate::failure::Failure;
use crate::text::{cut, printable_lines};
use crate::{screen, show};

/// So long a note on the arguments is waited for, which is not what the call is about.
const LIST: Duration = Duration::from_secs(2);

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
        // The messages of a trace are to be those of the call alone.
        if !server.is_traced()
            && let Some(note) = unknown(&server, &params).await
        {
            screen::print(&printable_lines(&cut(&note, 2000)));
        }
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

/// A note on arguments that the tool's schema does not name: most tools ignore them, and a name that is misspelt is one of
/// those. `None` if there are none, or it cannot be said.
async fn unknown(server: &Connected<'_>, params: &CallToolRequestParams<'_>) -> Option<String> {
    let given = params.arguments.as_ref()?.raw().as_object()?;
    let given: Vec<_> = given.map(|(name, _)| name.decode()).collect();
    if given.is_empty() {
        return None;
    }
    let tools = async { server.client.list_tools().await.ok() };
    let late = async {
        Timer::after(LIST).await;
        None
    };
    let tools = or(tools, late).await?;
    let tool = tools.iter().find(|tool| tool.name == params.name)?;
    let schema = tool.input_schema.raw();
    // What is beside these may name more.
    let plain = [
        "$defs",
        "$schema",
        "description",
        "properties",
        "required",
        "title",
        "type",
    ];
    if !schema
        .as_object()?
        .all(|(name, _)| plain.contains(&&*name.decode()))
    {
        return None;
    }
    let known = schema.member("properties").and_then(RawJson::as_object);
    let known: Vec<_> = known
        .into_iter()
        .flatten()
        .map(|(name, _)| name.decode())
        .collect();
    let strange: Vec<_> = given
        .iter()
        .filter(|name| !known.contains(name))
        .map(|name| &**name)
        .collect();
    if strange.is_empty() {
        return None;
    }
    let all = if known.is_empty() {
        "none".to_owned()
    } else {
        known.join(", ")
    };
    Some(format!(
        "mcp call: the tool names no argument {}; it has: {all}\n",
        strange.join(", ")
    ))
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
