//! Our client against the lamp of `tests/bare`, on the serial line of an emulated machine.
//!
//! usage: bare_client COMMAND [ARGUMENT...]
//!
//! The command is the emulator, whose standard input and output are that line. The lines of the sessions go to standard
//! error, the figures that the lamp gives of itself to standard output; the exit code is not 0 if anything was not as it
//! should be.

use std::io::{BufRead, BufReader, Write};
use std::process::{ChildStdin, ChildStdout, ExitCode, Stdio};

use mcp_core::ErrorCode;
use mcp_core::model::ProtocolVersion;
use mcp_std::blocking::Client;
use mcp_std::client::{CallError, Command, Direction};
use serde_json::{Value, json};

type Failure = Box<dyn core::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let done = session(&words, ProtocolVersion::LATEST_MODERN)
        .and_then(|()| session(&words, ProtocolVersion::LATEST_LEGACY))
        .and_then(|()| wire(&words));
    match done {
        Ok(figures) => {
            // Nobody reads: there is nobody to tell.
            let _ = writeln!(std::io::stdout(), "{figures}");
            ExitCode::SUCCESS
        }
        Err(failure) => {
            shown("!!", &failure.to_string());
            ExitCode::FAILURE
        }
    }
}

/// A client's session in one era: what is there, used and refused.
fn session(words: &[String], revision: ProtocolVersion) -> Result<(), Failure> {
    shown("--", revision.as_str());
    let (first, arguments) = words.split_first().ok_or("no command")?;
    let client = Client::builder("bare", "1.0.0")
        .revision(revision)
        .on_frame(|direction, frame| {
            let to = matches!(direction, Direction::Sent);
            shown(
                if to { ">>" } else { "<<" },
                &String::from_utf8_lossy(frame),
            );
        })
        .connect_stdio(Command::new(first).args(arguments))?;
    let server = client.server().ok_or("no server")?;
    let named = server.implementation.as_ref();
    same(named.map(|it| &*it.name), Some("lamp"))?;
    let tools = client.list_tools()?;
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    same(names, vec!["switch", "echo", "figures"])?;
    same(client.list_resources()?.len(), 1)?;
    same(client.list_prompts()?.len(), 1)?;
    for text in ["a light", "é \"quoted\"\n", ""] {
        let said = client.call_tool("echo", &json!({"text": text}))?;
        same(said.text(), text.to_owned())?;
    }
    same(
        client.call_tool("switch", &json!({"on": true}))?.text(),
        "on".to_owned(),
    )?;
    let wrong = client.call_tool("switch", &json!({}))?;
    same(wrong.is_error(), true)?;
    match client.call_tool("fly", &json!({})) {
        Err(CallError::Protocol(error)) => same(error.code, ErrorCode::INVALID_PARAMS)?,
        other => return Err(format!("a tool that is not there: {other:?}").into()),
    }
    // What does not fit into the lamp's input is refused, and the session goes on.
    match client.call_tool("echo", &json!({"text": "x".repeat(2000)})) {
        Err(CallError::Protocol(error)) => same(error.code, ErrorCode::INVALID_REQUEST)?,
        other => return Err(format!("a line that is too long: {other:?}").into()),
    }
    same(client.read_resource("lamp://state")?.contents.len(), 1)?;
    same(client.call_tool("figures", &json!({}))?.is_error(), false)?;
    client.close();
    Ok(())
}

/// What no client of ours would send, byte by byte; then the figures.
fn wire(words: &[String]) -> Result<Value, Failure> {
    shown("--", "the wire itself");
    let (first, arguments) = words.split_first().ok_or("no command")?;
    let mut machine = std::process::Command::new(first)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let input = machine.stdin.take().ok_or("no input")?;
    let output = BufReader::new(machine.stdout.take().ok_or("no output")?);
    let said = garbage(&mut Line { input, output });
    machine.kill()?;
    machine.wait()?;
    said
}

fn garbage(line: &mut Line) -> Result<Value, Failure> {
    let refused = |answer: Value, code: i64| same(answer["error"]["code"].as_i64(), Some(code));
    refused(line.ask(b"not JSON at all")?, -32700)?;
    refused(line.ask(&[0xff, 0xfe, 0x00, 0x80])?, -32700)?;
    refused(line.ask(&[b'['; 900])?, -32600)?;
    refused(line.ask(&[b'x'; 5000])?, -32600)?;
    refused(
        line.ask(br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#)?,
        -32600,
    )?;
    let long_id = format!(
        r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#,
        "x".repeat(60)
    );
    refused(line.ask(long_id.as_bytes())?, -32600)?;
    refused(line.ask(&modern(1, "no/such", json!({})))?, -32601)?;
    // Nothing of that has hurt: a hundred and one calls more.
    for id in 2..=101 {
        let call = json!({"name": "echo", "arguments": {"text": format!("message {id}")}});
        let answer = line.ask(&modern(id, "tools/call", call))?;
        same(answer["id"].as_i64(), Some(id))?;
        let text = &answer["result"]["content"][0]["text"];
        same(text.as_str(), Some(&*format!("message {id}")))?;
    }
    // The figures are those of the message before.
    let call = json!({"name": "figures", "arguments": {}});
    let answer = line.ask(&modern(102, "tools/call", call))?;
    let text = answer["result"]["content"][0]["text"].as_str();
    Ok(serde_json::from_str(text.ok_or("no figures")?)?)
}

fn modern(id: i64, method: &str, mut params: Value) -> Vec<u8> {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
    message.to_string().into_bytes()
}

struct Line {
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Line {
    /// Sends a line, and reads one.
    fn ask(&mut self, message: &[u8]) -> Result<Value, Failure> {
        shown(">>", &String::from_utf8_lossy(message));
        self.input.write_all(message)?;
        self.input.write_all(b"\n")?;
        let mut answer = String::new();
        self.output.read_line(&mut answer)?;
        shown("<<", answer.trim_end());
        Ok(serde_json::from_str(&answer)?)
    }
}

/// `Ok` if what was seen is what was expected.
fn same<T: PartialEq + core::fmt::Debug>(seen: T, expected: T) -> Result<(), Failure> {
    match seen == expected {
        true => Ok(()),
        false => Err(format!("expected {expected:?}, seen {seen:?}").into()),
    }
}

fn shown(mark: &str, line: &str) {
    const SHOWN: usize = 400;
    let cut: String = line.chars().take(SHOWN).collect();
    let more = if cut.len() < line.len() { "…" } else { "" };
    // Nobody reads: there is nobody to tell.
    let _ = writeln!(std::io::stderr(), "{mark} {cut}{more}");
}
