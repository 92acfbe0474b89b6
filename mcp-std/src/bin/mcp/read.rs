//! `mcp read`: reads a resource.

use std::process::ExitCode;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_std::model::request::ReadResource;
use mcp_std::model::{ReadResourceRequestParams, ReadResourceResult, ResourceContents};

use crate::connect::{Connected, Target, is_read_by_a_person, output};
use crate::failure::Failure;
use crate::show;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  mcp read test://static-text -- mcp serve --everything
  mcp read test://static-binary -- mcp serve --everything > pixel.png")]
pub(crate) struct Read {
    /// The resource. Its bytes, if it has no text, are written as they are unless standard output is a terminal
    uri: String,
    #[command(flatten)]
    target: Target,
}

impl Read {
    pub(crate) fn run(&self) -> ExitCode {
        self.target.run("read", |server| self.read(server))
    }

    async fn read(&self, server: Connected<'_>) -> Result<(), Failure> {
        let params = ReadResourceRequestParams::new(&*self.uri);
        let response = server
            .client
            .request::<ReadResource>(&params, server.options())
            .await
            .map_err(|error| Failure::call(&error, "`mcp list` shows the resources"))?;
        let result = response.decode().map_err(Failure::undecoded)?;
        if self.target.json {
            return output(format!("{}\n", response.raw().as_str()).as_bytes());
        }
        output(&contents(&result)?)
    }
}

fn contents(result: &ReadResourceResult<'_>) -> Result<Vec<u8>, Failure> {
    if let [ResourceContents::Blob(blob)] = &*result.contents
        && !is_read_by_a_person()
    {
        return STANDARD.decode(blob.blob.as_bytes()).map_err(|error| {
            Failure::Server(format!(
                "the contents are no base64: {error}; `--json` shows them"
            ))
        });
    }
    let mut text = String::new();
    for contents in &result.contents {
        show::contents(contents, &mut text);
    }
    Ok(text.into_bytes())
}
