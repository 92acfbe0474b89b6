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
    Serve,
    /// Starts `mcp serve`, talks to it in both eras, and draws what goes over the wire
    Demo(demo::Demo),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Serve => serve::run(),
        Command::Demo(demo) => demo.run(),
    }
}
