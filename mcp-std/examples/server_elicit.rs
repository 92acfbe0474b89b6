//! A server that asks: one tool, for clients of both eras.

use mcp_std::{AskError, Context, Elicited, Server};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Table {
    /// For how many?
    people: u8,
    /// Inside or outside?
    place: Place,
}

#[derive(Debug, serde::Deserialize, schemars::JsonSchema)]
enum Place {
    Inside,
    Outside,
}

/// A modern client runs this twice: up to the question, and from the beginning with the answer. So what is to happen once
/// comes after the last answer.
async fn reserve(context: Context) -> Result<String, AskError> {
    let table = context.elicit_form::<Table>("What table would you like?");
    Ok(match table.await? {
        Elicited::Accepted(table) => {
            format!("reserved for {}: {:?}", table.people, table.place)
        }
        Elicited::Declined | Elicited::Cancelled => "nothing reserved".to_owned(),
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    Server::builder("restaurant", "1.0.0")
        .tool("reserve", "Reserves a table", reserve)
        .build()?
        .run_stdio()?;
    Ok(())
}
