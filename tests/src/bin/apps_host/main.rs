//! A host that shows an app in a browser: see `tests/apps/run`.
//!
//! usage: apps_host BROWSER SERVER
//!
//! BROWSER is Chromium, SERVER `mcp-std/examples/server_app.rs`. The page of the server, with `tests/apps/probe.html` behind
//! it, is shown in a sandbox of another origin than the host's page; the host's page carries messages between the two and
//! an `AppBridge` here. Each check is `ok NAME` or `not ok NAME`; the exit code is not 0 if one fails. The same is done
//! once more without the app's content security policy, so that it is known that the policy is what stops the page.

mod shown;
mod web;

use std::io::Write as _;
use std::process::ExitCode;

use mcp_std::apps::{AppMeta, Csp};
use mcp_std::host::{CallHooks, Host, HostConfig, ServerConfig, Session, ToolCall};
use mcp_std::model::ResourceContents;
use serde_json::json;

use shown::{Shown, show};

type Failure = Box<dyn core::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [browser, server] = &arguments[..] else {
        let _ = writeln!(std::io::stderr(), "usage: apps_host BROWSER SERVER");
        return ExitCode::FAILURE;
    };
    match async_io::block_on(run(browser, server)) {
        Ok(0) => ExitCode::SUCCESS,
        Ok(failed) => {
            say(&format!("{failed} failed"));
            ExitCode::FAILURE
        }
        Err(error) => {
            say(&format!("not ok {error}"));
            ExitCode::FAILURE
        }
    }
}

fn say(line: &str) {
    // Whoever has gone does not hear it.
    let _ = writeln!(std::io::stdout(), "{line}");
}

struct Checks {
    failed: usize,
}

impl Checks {
    fn check(&mut self, name: &str, holds: bool) {
        self.failed += usize::from(!holds);
        say(&format!("{} {name}", if holds { "ok" } else { "not ok" }));
    }

    /// Whether the page found it so.
    fn probed(&mut self, shown: &Shown, probe: &str, expected: &str) {
        let outcome = shown.probes.get(probe).map(String::as_str);
        self.check(&format!("{probe}: {expected}"), outcome == Some(expected));
        if outcome != Some(expected) {
            say(&format!("  it is {outcome:?}"));
        }
    }
}

async fn run(browser: &str, server: &str) -> Result<usize, Failure> {
    let declared = web::Hits::serve()?;
    let dice = ServerConfig::stdio("dice", server).args([declared.origin.as_str()]);
    let host = Host::builder(HostConfig::new().server(dice)).apps().start();
    host.settled().await;
    let session = host.session();
    let mut checks = Checks { failed: 0 };

    let snapshot = session.snapshot();
    let names: Vec<_> = snapshot.tools().iter().map(|it| &*it.name).collect();
    checks.check(
        "the model has the tools that are for it",
        names == ["dice__roll", "dice__odds"],
    );
    let tool = snapshot.get("dice__roll").ok_or("there is no dice__roll")?;
    let uri = tool.ui.resource_uri.as_deref().ok_or("it has no app")?;
    let client = host.pool().client("dice").await?;
    let read = client.read_resource(uri).await?;
    let Some(ResourceContents::Text(page)) = read.contents.iter().next() else {
        return Err("the page is no text".into());
    };
    let (meta, faults) = AppMeta::read(page.meta.as_ref().map(mcp_std::Json::raw));
    checks.check("its policy is well-formed", faults.is_empty());
    checks.check(
        "it declares one origin",
        meta.csp.as_ref().is_some_and(Csp::is_external),
    );
    let tools = client.list_tools().await?;

    for with_policy in [true, false] {
        let other = web::Hits::serve()?;
        let html = format!("{}{}", page.text, include_str!("../../../apps/probe.html"))
            .replace("{DECLARED}", &declared.origin)
            .replace("{OTHER}", &other.origin);
        let before = declared.count();
        let policy = with_policy.then(|| meta.content_security_policy());
        let shown = show(browser, &session, html, &meta, policy, &tools).await?;
        if with_policy {
            judge(&mut checks, &shown);
            checks.check("nothing came to another origin", other.count() == 0);
        } else {
            say("without the policy:");
            for probe in [
                "another origin by fetch",
                "another origin as a script",
                "another origin as a picture",
                "eval",
            ] {
                checks.probed(&shown, probe, "loaded");
            }
            checks.check("it came to another origin", other.count() >= 3);
        }
        checks.check("it came to the declared origin", declared.count() > before);
    }
    host.close().await;
    Ok(checks.failed)
}

fn judge(checks: &mut Checks, shown: &Shown) {
    checks.check("the sandbox was given the page", shown.sandbox_was_ready);
    checks.check("the app said what it is", shown.name == "dice");
    checks.probed(shown, "input", "A die of 6 sides");
    checks.probed(shown, "value", &shown.rolled.to_string());
    checks.check(
        "the page called a tool through the host",
        shown.calls == ["reroll"],
    );
    let contexts: Vec<_> = shown
        .contexts
        .iter()
        .map(|it| it["value"].clone())
        .collect();
    let expected = [json!(shown.rolled), json!(shown.rerolled)];
    checks.check("and showed its result", contexts == expected);
    checks.check("it said how large it is", shown.was_resized);
    checks.probed(shown, "declared origin", "loaded");
    checks.probed(shown, "another origin by fetch", "blocked");
    checks.probed(shown, "another origin as a script", "blocked");
    checks.probed(shown, "another origin as a picture", "blocked");
    checks.probed(shown, "eval", "blocked");
    checks.probed(
        shown,
        "violations",
        "connect-src frame-src img-src script-src script-src-elem",
    );
    checks.probed(shown, "the host's page", "SecurityError");
    checks.probed(shown, "a tool for the model", "-32602");
    checks.probed(shown, "a tool of another server", "-32602");
    checks.probed(shown, "a link that is none", "-32000");
    checks.probed(shown, "an unknown method", "-32601");
    // Those four, and no message that only the sandbox may send.
    checks.check("the host knows of it", shown.faults == 4);
    checks.check("the app ended when it was told to", shown.has_ended);
}

/// Rolls a die, as the model would.
async fn roll(session: &Session) -> Result<mcp_std::model::CallToolResult<'static>, Failure> {
    let call = ToolCall::new("1", "dice__roll", json!({ "sides": 6 }));
    let reply = session
        .call_with(&session.snapshot(), call, &CallHooks::new())
        .await;
    Ok(reply.outcome?)
}
