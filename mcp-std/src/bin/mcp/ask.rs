//! What servers ask the user: asked in the terminal, one question at a time.
//!
//! The user sees which server asks and what (ELI-16), can say no or nothing at each point, and sees what is sent before it
//! is. An address is shown whole, with its host, and never opened from here (ELI-17).

mod address;
mod approval;
mod field;
mod keyboard;

use core::future::Future;
use core::pin::Pin;
use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::sync::{Arc, Mutex, PoisonError};

use mcp_core::json::Json;
use mcp_std::client::ElicitRequest;
use mcp_std::model::{
    ElicitAction, ElicitRequestFormParams, ElicitRequestParams, ElicitRequestUrlParams,
    ElicitResult, PrimitiveSchema,
};

use crate::screen;
use crate::show::word;
use crate::text::printable_lines;
use address::Address;
use field::Field;

pub(crate) use approval::approver;
use keyboard::Turn;
pub(crate) use keyboard::{abandon, next_line};

/// One question at a time, whatever number of calls and servers ask.
static TURN: Mutex<()> = Mutex::new(());

type Answering = Pin<Box<dyn Future<Output = ElicitResult<'static>> + Send>>;

/// Whether there is somebody to ask: whoever reads standard error and writes standard input.
pub(crate) fn is_possible() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// A handler for forms and one for addresses. `command` is what was started.
pub(crate) fn handlers(
    command: &[OsString],
) -> (
    impl Fn(ElicitRequest) -> Answering + Send + Sync + use<>,
    impl Fn(ElicitRequest) -> Answering + Send + Sync + use<>,
) {
    let words: Vec<_> = command.iter().map(|word| word.to_string_lossy()).collect();
    let command: Arc<str> = words.join(" ").into();
    let handler = move |request: ElicitRequest| -> Answering {
        let command = command.clone();
        let asked = Turn::begin();
        // It waits for a person: on a thread of its own, so that the connection goes on.
        Box::pin(smol::unblock(move || answer(&request, &command, asked)))
    };
    (handler.clone(), handler)
}

/// Why a question ends before it is answered.
enum Ending {
    Decline,
    /// The end of input: nothing was said.
    Cancel,
}

fn answer(request: &ElicitRequest, command: &str, asked: Turn) -> ElicitResult<'static> {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    if asked.is_over() {
        return ElicitResult::new(ElicitAction::Cancel);
    }
    let server = request.server.as_ref();
    let name = server.map_or("a server without a name", |it| {
        it.title.as_deref().unwrap_or(&it.name)
    });
    let who = format!("{} ({})", word(name), word(command));
    if !is_possible() {
        screen::print(&format!(
            "{who} asks for something, and there is no terminal to ask it in: declined\n"
        ));
        return ElicitResult::new(ElicitAction::Decline);
    }
    screen::print(&format!("\n{who} asks:\n"));
    let done = match &request.params {
        ElicitRequestParams::Form(form) => fill_in(form, asked).map(Some),
        ElicitRequestParams::Url(page) => visit(page, asked).map(|()| None),
        ElicitRequestParams::Unknown(_) | _ => {
            screen::print("  something that this program does not know: declined\n");
            Err(Ending::Decline)
        }
    };
    match done {
        Ok(content) => {
            let mut result = ElicitResult::new(ElicitAction::Accept);
            result.content = content;
            result
        }
        Err(Ending::Decline) => ElicitResult::new(ElicitAction::Decline),
        Err(Ending::Cancel) => {
            screen::print("\n");
            ElicitResult::new(ElicitAction::Cancel)
        }
    }
}

/// Asks for each field, shows all, and sends what the user agrees to.
fn fill_in(form: &ElicitRequestFormParams<'_>, asked: Turn) -> Result<Json<'static>, Ending> {
    say(&form.message);
    screen::print("Never type passwords or keys here. Ctrl-D says nothing to the server.\n");
    if !agreed("Answer? [Y/n] ", true, asked)? {
        return Err(Ending::Decline);
    }
    loop {
        let content = fields(form, asked)?;
        screen::print(&format!("To be sent: {}\n", word(content.as_str())));
        match choose("Send it? [Y]es, [n]o, [e]dit: ", &["y", "n", "e"], asked)? {
            "n" => return Err(Ending::Decline),
            "e" => {}
            _ => return Ok(content),
        }
    }
}

fn fields(form: &ElicitRequestFormParams<'_>, asked: Turn) -> Result<Json<'static>, Ending> {
    let schema = &form.requested_schema;
    let required = |name: &str| schema.required.iter().flatten().any(|it| &**it == name);
    let mut values = Vec::new();
    for (name, schema) in schema.properties.iter() {
        let field = Field::new(schema, required(name));
        if let Some(value) = ask(name, &field, schema, asked)? {
            values.push((name, value));
        }
    }
    Ok(Json::written(|json| {
        json.begin_object();
        for (name, value) in &values {
            json.key(name);
            json.raw(value.raw());
        }
        json.end_object();
    }))
}

/// Until what is typed is a value of the field. `None`: it is left out.
fn ask(
    name: &str,
    field: &Field<'_>,
    schema: &PrimitiveSchema<'_>,
    asked: Turn,
) -> Result<Option<Json<'static>>, Ending> {
    screen::print(&format!("\n{}", field.heading(name)));
    loop {
        screen::print(&format!("{}> ", field.hint()));
        match field.read(schema, line(asked)?.trim()) {
            Ok(value) => return Ok(value),
            Err(fault) => screen::print(&format!("  {}\n", word(&fault))),
        }
    }
}

/// Shows an address, and asks whether the server may take it as opened.
fn visit(page: &ElicitRequestUrlParams<'_>, asked: Turn) -> Result<(), Ending> {
    say(&page.message);
    let Some(address) = Address::new(&page.url) else {
        screen::print(&format!(
            "It wants a page opened whose address is none: {}\nDeclined.\n",
            word(&page.url)
        ));
        return Err(Ending::Decline);
    };
    screen::print(&format!(
        "It wants you to open this page:\n  {}\n  host: {}\n",
        word(&page.url),
        word(address.host)
    ));
    for warning in address.warnings() {
        screen::print(&format!("  Careful: {warning}.\n"));
    }
    screen::print("Nothing is opened from here: open it yourself if you trust the host.\n");
    if agreed("Tell the server that you agree? [y/N] ", false, asked)? {
        Ok(())
    } else {
        Err(Ending::Decline)
    }
}

fn say(message: &str) {
    for line in printable_lines(message).lines() {
        screen::print(&format!("  {line}\n"));
    }
}

fn agreed(question: &str, default: bool, asked: Turn) -> Result<bool, Ending> {
    let options = if default { ["y", "n"] } else { ["n", "y"] };
    Ok(choose(question, &options, asked)? == "y")
}

/// One of the options, by its first letter; nothing is the first of them.
fn choose<'o>(question: &str, options: &[&'o str], asked: Turn) -> Result<&'o str, Ending> {
    loop {
        screen::print(question);
        let typed = line(asked)?.trim().to_lowercase();
        let chosen = options.iter().find(|option| typed.starts_with(**option));
        match chosen.or(options.first().filter(|_| typed.is_empty())) {
            Some(option) => return Ok(option),
            None => continue,
        }
    }
}

fn line(asked: Turn) -> Result<String, Ending> {
    let line = asked.next_line().recv_blocking();
    line.ok().flatten().ok_or(Ending::Cancel)
}
