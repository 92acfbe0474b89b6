//! Tools as plain functions: what is said about them in Rust is what the client is told.

use mcp_std::{Server, tool};

/// Adds two numbers.
#[tool(read_only, title = "Sum")]
fn add(
    /// The first number.
    a: i64,
    /// The second number.
    #[default(1)]
    b: i64,
) -> String {
    (a + b).to_string()
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::builder("sums", "1.0.0").with_tool(add::tool());
    server.build()?.run_stdio()?;
    Ok(())
}
