//! A client whose user is asked by servers, at the terminal.
//!
//! `cargo run --example client_elicit -- TOOL SERVER [ARGUMENT…]`; with `server_elicit` the tool is `reserve`.

#![expect(clippy::print_stdout, reason = "a client's standard output is no wire")]

use std::error::Error;
use std::io::{BufRead, stdin};

use mcp_std::Client;
use mcp_std::client::{Command, ElicitRequest};
use mcp_std::model::{ElicitRequestParams, ElicitResult};
use serde_json::{Map, Value};

/// Asks for each field; an empty line is no answer, and no line at all the end of it.
fn ask(request: &ElicitRequest) -> ElicitResult<'static> {
    let ElicitRequestParams::Form(form) = &request.params else {
        return ElicitResult::cancel();
    };
    let server = request.server.as_ref().map_or("the server", |it| &*it.name);
    println!("{server} asks: {}", form.message);
    let mut content = Map::new();
    let mut lines = stdin().lock().lines();
    for (name, _) in form.requested_schema.properties.iter() {
        println!("{name}?");
        match lines.next() {
            Some(Ok(line)) if line.is_empty() => {}
            Some(Ok(line)) => {
                let value = serde_json::from_str(&line).unwrap_or(Value::String(line));
                content.insert(name.to_owned(), value);
            }
            Some(Err(_)) | None => return ElicitResult::decline(),
        }
    }
    ElicitResult::accept(Value::Object(content))
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let tool = words.next().ok_or("which tool?")?;
    let program = words.next().ok_or("which server?")?;
    smol::block_on(async {
        let client = Client::builder("my-program", "1.0.0")
            // A terminal blocks its thread, so the question has a thread for itself.
            .elicitation(|request| smol::unblock(move || ask(&request)))
            .connect_stdio(Command::new(program).args(words))
            .await?;
        // No arguments.
        let outcome = client.call_tool(&tool, &()).await?;
        println!("{}", outcome.text());
        client.close().await;
        Ok(())
    })
}
