//! `mcp demo`: to be written.
use std::process::ExitCode;

#[derive(clap::Args)]
pub(crate) struct Demo {}

impl Demo {
    pub(crate) fn run(self) -> ExitCode {
        ExitCode::FAILURE
    }
}
