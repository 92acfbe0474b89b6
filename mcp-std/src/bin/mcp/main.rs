//! `mcp`: serves, and shows, the Model Context Protocol from the command line.

mod demo;
mod serve;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "mcp",
    version,
    about = "The Model Context Protocol from the command line"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serves a few small tools on standard input and output
    ///
    /// One JSON message a line, until the input ends. The tools:
    ///
    ///   echo  says the text again
    ///   add   adds two integers
    ///   slow  takes its time and reports progress
    ///   fail  fails, always
    #[command(verbatim_doc_comment)]
    Serve(serve::Serve),
    /// Starts `mcp serve`, talks to it in both eras, and draws what goes over the wire
    ///
    /// The diagram is as wide as the terminal, or 100 columns if there is none.
    /// COLUMNS in the environment sets another width, from 60 to 300.
    #[command(verbatim_doc_comment)]
    Demo(demo::Demo),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Serve(serve) => serve.run(),
        Command::Demo(demo) => demo.run(),
    }
}
