//! `mcp complete`: how an argument may go on.

use std::process::ExitCode;

use mcp_std::model::request::Complete as Request;
use mcp_std::model::{
    CompleteRequestParams, CompletionArgument, CompletionContext, CompletionReference,
    PromptReference, ResourceTemplateReference,
};

use crate::arguments::pair;
use crate::connect::{Connected, Target, output};
use crate::failure::Failure;
use crate::screen;
use crate::show;

#[derive(clap::Args)]
#[command(group = clap::ArgGroup::new("of").required(true).args(["prompt", "resource"]))]
#[command(after_help = "Examples:
  mcp complete --prompt test_prompt_with_arguments arg1=par -- mcp serve --everything
  mcp complete --resource 'test://template/{id}/data' id=1 -- mcp serve --everything")]
pub(crate) struct Complete {
    /// The prompt that the argument is of
    #[arg(long, value_name = "NAME")]
    prompt: Option<String>,
    /// The URI or the template that the argument is of
    #[arg(long, value_name = "URI")]
    resource: Option<String>,
    /// The argument, and what it begins with
    #[arg(value_name = "NAME=BEGINNING")]
    argument: String,
    /// Arguments that have their values already
    #[arg(value_name = "NAME=VALUE")]
    others: Vec<String>,
    #[command(flatten)]
    target: Target,
}

impl Complete {
    pub(crate) fn run(&self) -> ExitCode {
        match self.params() {
            Ok(params) => self
                .target
                .run("complete", |server| self.complete(server, params)),
            Err(failure) => failure.report("complete"),
        }
    }

    fn params(&self) -> Result<CompleteRequestParams<'_>, Failure> {
        let reference = match (&self.prompt, &self.resource) {
            (Some(prompt), _) => CompletionReference::Prompt(PromptReference::new(&**prompt)),
            (None, uri) => CompletionReference::Resource(ResourceTemplateReference::new(
                uri.as_deref().unwrap_or_default(),
            )),
        };
        let (name, beginning) = pair(&self.argument)?;
        let argument = CompletionArgument::new(name, beginning);
        let mut params = CompleteRequestParams::new(reference, argument);
        if !self.others.is_empty() {
            let others: Result<Vec<_>, _> = self.others.iter().map(|text| pair(text)).collect();
            let others = others?.into_iter();
            let mut context = CompletionContext::default();
            context.arguments = Some(others.map(|(name, value)| (name, value.into())).collect());
            params.context = Some(context);
        }
        Ok(params)
    }

    async fn complete(
        &self,
        server: Connected<'_>,
        params: CompleteRequestParams<'_>,
    ) -> Result<(), Failure> {
        let response = server
            .client
            .request::<Request>(&params, server.options())
            .await
            .map_err(|error| Failure::call(&error, "`mcp list` shows the prompts and templates"))?;
        let result = response.decode().map_err(Failure::undecoded)?;
        if self.target.json {
            return output(format!("{}\n", response.raw().as_str()).as_bytes());
        }
        let completion = &result.completion;
        let lines = completion
            .values
            .iter()
            .map(|value| show::word(value) + "\n");
        output(lines.collect::<String>().as_bytes())?;
        let more = completion.has_more == Some(true);
        if let Some(total) = completion
            .total
            .filter(|&all| all > completion.values.len() as u64)
        {
            screen::print(&format!("{} of {total}\n", completion.values.len()));
        } else if more {
            screen::print("there are more\n");
        }
        Ok(())
    }
}
