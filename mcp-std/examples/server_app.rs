//! A server with an app: dice that are shown rolling, and rolled again in the page. Clients that show no apps have the same
//! tool, and its result as text.
//!
//! `server_app [ORIGIN]`: the page may ask that origin for something, and no other.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};

use mcp_std::apps::{App, Csp};
use mcp_std::{Server, Structured, Tool};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Dice {
    /// How many sides it has: 2 to 100.
    #[schemars(range(min = 2, max = 100))]
    sides: u8,
}

#[derive(serde::Serialize, schemars::JsonSchema)]
struct Rolled {
    sides: u8,
    value: u8,
}

async fn roll(dice: Dice) -> Structured<Rolled> {
    let sides = dice.sides.max(2);
    // As random as the seeds of hash tables are.
    let chance = RandomState::new().build_hasher().finish() % u64::from(sides);
    let value = u8::try_from(chance).unwrap_or_default() + 1;
    Structured(Rolled { sides, value })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut csp = Csp::new();
    if let Some(origin) = std::env::args().nth(1) {
        csp = csp.connect(origin)?;
    }
    let dice = App::new(
        "ui://dice/table",
        "dice-table",
        include_str!("server_app.html"),
    )
    .title("Dice")
    .description("Shows a die, and rolls it again")
    .csp(csp)
    .border(true)
    .tool(Tool::new("roll", "Rolls a die", roll))
    .tool_for_app(Tool::new("reroll", "Rolls it again, for its page", roll))
    .tool_for_model(Tool::new(
        "odds",
        "How likely a side is",
        |dice: Dice| async move { format!("1 in {}", dice.sides) },
    ));
    let server = Server::builder("dice", "1.0.0").with_app(dice)?.build()?;
    server.run_stdio()?;
    Ok(())
}
