//! The server of the README: one tool, on standard input and output.

use mcp_std::Server;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    /// What to say again.
    text: String,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Server::builder("parrot", "1.0.0")
        .tool("echo", "Says the text again", |args: Echo| async move {
            args.text
        })
        .build()?
        .run_stdio()?;
    Ok(())
}
