//! What is said, and what has to come back.

use core::time::Duration;

use mcp_core::json::Kind;
use mcp_core::model::{Era, ProtocolVersion, key};

use super::Stop;
use super::check::{Frame, Want};
use super::exchange::{Exchange, Json};

const LEGACY: &str = ProtocolVersion::LATEST_LEGACY.as_str();
const MODERN: &str = ProtocolVersion::LATEST_MODERN.as_str();
const TOOLS: [&str; 4] = ["echo", "add", "slow", "fail"];

/// What a request carries in `_meta`.
#[derive(Clone, Copy)]
struct Meta {
    era: Era,
    token: Option<&'static str>,
}

const OLD: Meta = Meta {
    era: Era::Legacy,
    token: None,
};
const NEW: Meta = Meta {
    era: Era::Modern,
    token: None,
};

/// 2025-11-25: `initialize` opens a session.
pub(super) fn legacy(x: &mut Exchange) -> Result<(), Stop> {
    x.heading(&format!("{LEGACY}: a handshake opens a session"))?;
    let answer = x.ask("initialize", "", |json| {
        json.begin_object();
        json.key("protocolVersion");
        json.string(LEGACY);
        json.key("capabilities");
        empty(json);
        json.key("clientInfo");
        client_info(json);
        json.end_object();
    })?;
    x.check(&answer, "result.protocolVersion", Want::Text(LEGACY))?;
    x.check(&answer, "result.capabilities.tools", Want::A(Kind::Object))?;
    x.check(&answer, "result.serverInfo.name", Want::A(Kind::String))?;
    x.notify("notifications/initialized", empty)?;

    x.caption("Which tools are there?")?;
    let answer = x.ask("tools/list", "", empty)?;
    tools(x, &answer)?;

    x.caption("A call, and one with a result for programs")?;
    let text = "two\nlines, \"quoted\"";
    let answer = echo(x, OLD, text)?;
    x.check(&answer, "result.resultType", Want::Nothing)?;
    add(x, OLD)?;

    x.caption(
        "A tool that fails gives a result that says so; a tool that is not there gives an error",
    )?;
    let message = "the demo asked for it";
    let id = prepare_call(x, OLD, "fail", |json| member(json, "message", message));
    x.send()?;
    let answer = x.answer(id)?;
    x.check(&answer, "result.isError", Want::Bool(true))?;
    x.check(&answer, "result.content.0.text", Want::Text(message))?;
    let id = prepare_call(x, OLD, "teleport", |_| {});
    x.send()?;
    let answer = x.answer(id)?;
    x.check(&answer, "error.code", Want::Integer(-32602))?;

    x.caption("A slow call reports its progress")?;
    let id = prepare_slow(
        x,
        Meta {
            token: Some("a"),
            ..OLD
        },
        3,
        60,
    );
    x.send()?;
    for step in 1..=3 {
        x.progress("a", step, 3)?;
    }
    let answer = x.answer(id)?;
    x.check(
        &answer,
        "result.content.0.text",
        Want::Text("done after 3 steps"),
    )?;

    x.caption("Four calls in one write")?;
    let texts = ["one", "two", "three", "four"];
    let ids = texts.map(|text| prepare_echo(x, OLD, text));
    x.send()?;
    let answers = x.answers(&ids)?;
    for (answer, text) in answers.iter().zip(texts) {
        x.check(answer, "result.content.0.text", Want::Text(text))?;
    }

    x.caption("Still there?")?;
    let answer = x.ask("ping", "", empty)?;
    x.check(&answer, "result", Want::A(Kind::Object))
}

/// 2026-07-28: every request stands for itself.
pub(super) fn modern(x: &mut Exchange) -> Result<(), Stop> {
    x.heading(&format!(
        "{MODERN}: no handshake, requests stand alone; same process"
    ))?;
    let answer = x.ask("server/discover", "", |json| only_meta(MODERN, json))?;
    x.check(&answer, "result.resultType", Want::Text("complete"))?;
    for version in [MODERN, LEGACY] {
        x.check(
            &answer,
            "result.supportedVersions",
            Want::Including(version),
        )?;
    }
    x.check(&answer, "result.capabilities.tools", Want::A(Kind::Object))?;

    x.caption("The same tools")?;
    let answer = x.ask("tools/list", "", |json| only_meta(MODERN, json))?;
    x.check(&answer, "result.resultType", Want::Text("complete"))?;
    x.check(&answer, "result.ttlMs", Want::A(Kind::Number))?;
    tools(x, &answer)?;
    let answer = echo(x, NEW, "stateless")?;
    x.check(&answer, "result.resultType", Want::Text("complete"))?;
    add(x, NEW)?;

    x.caption("A slow call is cancelled: it is not answered, and reports no more progress")?;
    let slow = prepare_slow(
        x,
        Meta {
            token: Some("b"),
            ..NEW
        },
        50,
        100,
    );
    x.send()?;
    x.progress("b", 1, 50)?;
    x.cancel(slow, "b")?;
    echo(x, NEW, "still here")?;
    // Longer than two of its steps.
    x.silence(Duration::from_millis(250))?;

    x.caption("What a request must say, and in which version")?;
    let answer = x.ask("server/discover", "without _meta", empty)?;
    x.check(&answer, "error.code", Want::Integer(-32602))?;
    let future = "2999-12-31";
    let answer = x.ask("tools/list", "of the future", |json| {
        only_meta(future, json)
    })?;
    x.check(&answer, "error.code", Want::Integer(-32022))?;
    x.check(&answer, "error.data.supported", Want::Including(MODERN))?;
    x.check(&answer, "error.data.requested", Want::Text(future))?;
    Ok(())
}

/// Both at once.
pub(super) fn both(x: &mut Exchange) -> Result<(), Stop> {
    x.heading("Both eras in one write: each is answered in its own shape")?;
    let old = prepare_echo(x, OLD, "old");
    let new = prepare_echo(x, NEW, "new");
    x.send()?;
    let answers = x.answers(&[old, new])?;
    if let [old, new] = &answers[..] {
        x.check(old, "result.resultType", Want::Nothing)?;
        x.check(old, "result.content.0.text", Want::Text("old"))?;
        x.check(new, "result.resultType", Want::Text("complete"))?;
        x.check(new, "result.content.0.text", Want::Text("new"))?;
    }
    x.caption("The end of the input is the end of the server")
}

/// The list has our tools, each with a schema.
fn tools(x: &mut Exchange, answer: &Frame) -> Result<(), Stop> {
    for (at, name) in TOOLS.into_iter().enumerate() {
        x.check(answer, "result.tools", Want::Including(name))?;
        let path = format!("result.tools.{at}.inputSchema.type");
        x.check(answer, &path, Want::Text("object"))?;
    }
    Ok(())
}

fn echo(x: &mut Exchange, meta: Meta, text: &str) -> Result<Frame, Stop> {
    let id = prepare_echo(x, meta, text);
    x.send()?;
    let answer = x.answer(id)?;
    x.check(&answer, "result.content.0.text", Want::Text(text))?;
    Ok(answer)
}

fn add(x: &mut Exchange, meta: Meta) -> Result<(), Stop> {
    let id = prepare_call(x, meta, "add", |json| {
        json.key("a");
        json.integer(40);
        json.key("b");
        json.integer(2);
    });
    x.send()?;
    let answer = x.answer(id)?;
    x.check(&answer, "result.structuredContent.sum", Want::Integer(42))
}

fn prepare_echo(x: &mut Exchange, meta: Meta, text: &str) -> u64 {
    prepare_call(x, meta, "echo", |json| member(json, "text", text))
}

fn prepare_slow(x: &mut Exchange, meta: Meta, steps: u64, delay_ms: u64) -> u64 {
    prepare_call(x, meta, "slow", |json| {
        json.key("steps");
        json.unsigned(steps);
        json.key("delay_ms");
        json.unsigned(delay_ms);
    })
}

/// Prepares a call of a tool; `arguments` writes the members of its arguments.
fn prepare_call(
    x: &mut Exchange,
    meta: Meta,
    tool: &str,
    arguments: impl FnOnce(&mut Json<'_>),
) -> u64 {
    x.prepare("tools/call", tool, |json| {
        json.begin_object();
        json.key("name");
        json.string(tool);
        json.key("arguments");
        json.begin_object();
        arguments(json);
        json.end_object();
        meta.write(MODERN, json);
        json.end_object();
    })
}

impl Meta {
    /// Writes the member `_meta`, if there is anything in it.
    fn write(self, version: &str, json: &mut Json<'_>) {
        if self.era == Era::Legacy && self.token.is_none() {
            return;
        }
        json.key("_meta");
        json.begin_object();
        if let Some(token) = self.token {
            member(json, key::PROGRESS_TOKEN, token);
        }
        if self.era == Era::Modern {
            member(json, key::PROTOCOL_VERSION, version);
            json.key(key::CLIENT_CAPABILITIES);
            empty(json);
            json.key(key::CLIENT_INFO);
            client_info(json);
        }
        json.end_object();
    }
}

fn only_meta(version: &str, json: &mut Json<'_>) {
    json.begin_object();
    NEW.write(version, json);
    json.end_object();
}

fn client_info(json: &mut Json<'_>) {
    json.begin_object();
    member(json, "name", "mcp-demo");
    member(json, "version", env!("CARGO_PKG_VERSION"));
    json.end_object();
}

fn member(json: &mut Json<'_>, name: &str, text: &str) {
    json.key(name);
    json.string(text);
}

fn empty(json: &mut Json<'_>) {
    json.begin_object();
    json.end_object();
}
