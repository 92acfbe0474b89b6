//! `mcp`: serves, and shows, the Model Context Protocol from the command line.

mod arguments;
mod ask;
mod call;
mod complete;
mod connect;
mod demo;
mod diagram;
mod failure;
mod gateway;
mod host;
mod list;
mod login;
mod ping;
mod progress;
mod prompt;
mod read;
mod registry;
mod screen;
mod serve;
mod show;
mod text;
mod trace;

use std::process::ExitCode;

use clap::error::ErrorKind;
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
    /// Lists the tools, resources, templates and prompts of a server
    List(list::List),
    /// Calls a tool of a server
    Call(call::Call),
    /// Reads a resource of a server
    Read(read::Read),
    /// Gets a prompt of a server
    Prompt(prompt::Prompt),
    /// Asks a server how an argument may go on
    Complete(complete::Complete),
    /// Logs in to a server over HTTP, so that the other commands can use it
    Login(login::Login),
    /// Forgets the login to a server
    Logout(login::Logout),
    /// Uses all servers of a configuration at once
    Host(host::Host),
    /// Serves all servers of a configuration as one
    Gateway(gateway::Gateway),
    /// Checks files that servers are published with, and makes configurations of them
    Registry(registry::Registry),
    /// Asks whether a server is there, and says how long the answer took
    Ping(ping::Ping),
}

fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    match cli.command {
        Command::Serve(serve) => serve.run(),
        Command::Demo(demo) => demo.run(),
        Command::List(list) => list.run(),
        Command::Call(call) => call.run(),
        Command::Read(read) => read.run(),
        Command::Prompt(prompt) => prompt.run(),
        Command::Complete(complete) => complete.run(),
        Command::Login(login) => login.run(),
        Command::Logout(logout) => logout.run(),
        Command::Gateway(gateway) => gateway.run(),
        Command::Host(host) => host.run(),
        Command::Registry(registry) => registry.run(),
        Command::Ping(ping) => ping.run(),
    }
}

/// Wrong usage, or help. The mistake that is made most is to name the server without `--`.
fn refuse(error: &clap::Error) -> ExitCode {
    // A standard stream that is closed: then there is nobody to tell.
    let _ = error.print();
    let mut words = std::env::args_os().skip(1);
    let command = words.next().unwrap_or_default();
    let for_server = ["list", "call", "read", "prompt", "complete", "ping"];
    let words: Vec<_> = words.collect();
    let named = |name: &str| words.iter().any(|word| word == name);
    let unmarked = matches!(
        error.kind(),
        ErrorKind::UnknownArgument | ErrorKind::MissingRequiredArgument
    ) && !named("--")
        && !named("--url");
    if let Some(command) = for_server.iter().find(|&&known| command == known)
        && unmarked
    {
        let mut urls = words.iter().filter_map(|word| word.to_str());
        let hint = match urls.find(|word| text::is_url(word)) {
            Some(url) => format!(
                "A server at a URL is named with `--url`: mcp {command} … --url {}",
                text::printable(&text::without_user(url))
            ),
            None => {
                format!("The server's command follows `--`: mcp {command} … -- COMMAND [ARGUMENT…]")
            }
        };
        screen::print(&format!("\n{hint}\n"));
    }
    u8::try_from(error.exit_code()).map_or(ExitCode::FAILURE, ExitCode::from)
}
