//! Our client at a server whose users log in at an OpenID provider of another make: see `tests/oidc/run`.
//!
//! usage: oidc_client URL STALE COMMAND [ARGUMENT...]
//!
//! The server at URL has the tools `echo`, which takes the scope that everything takes, and `add`, which takes another one
//! besides. After STALE seconds a token counts as expired. The command is the user: it gets the page to log in at as its last
//! argument, and ends when it has come back. Each check is `ok NAME` or `not ok NAME`, and the first one that fails is the
//! last.

use core::time::Duration;
use std::io::Write as _;
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_io::Timer;
use mcp_std::Client;
use mcp_std::auth::{Auth, LoggedOut};
use mcp_std::client::Proxy;
use serde_json::{Value, json};

type Failure = Box<dyn core::error::Error + Send + Sync>;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, stale, user @ ..] = &arguments[..] else {
        let _ = writeln!(std::io::stderr(), "usage: oidc_client URL STALE COMMAND...");
        return ExitCode::FAILURE;
    };
    let stale = stale.parse().map(Duration::from_secs_f64);
    let run = async { run(url, stale?, user.to_vec()).await };
    match async_io::block_on(run) {
        Ok(()) => ExitCode::SUCCESS,
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

fn check(name: &str, holds: bool) -> Result<(), Failure> {
    if !holds {
        return Err(name.into());
    }
    say(&format!("ok {name}"));
    Ok(())
}

async fn run(url: &str, stale: Duration, user: Vec<String>) -> Result<(), Failure> {
    let visits = Arc::new(AtomicUsize::new(0));
    let count = visits.clone();
    let auth = Auth::code().on_page(move |page| {
        count.fetch_add(1, Ordering::SeqCst);
        let started = match user.split_first() {
            Some((program, rest)) => Command::new(program).args(rest).arg(page).spawn(),
            None => return,
        };
        // The page leads back here: it is not to be waited for.
        std::thread::spawn(move || started.map(|mut child| child.wait()));
    });
    let visited = || visits.load(Ordering::SeqCst);
    let client = Client::builder("oidc-client", "1")
        .proxy(Proxy::None)
        .auth(auth.clone())
        .connect_http(url)
        .await?;
    check("a login leads to a connection", visited() == 1)?;
    let echo = || call(&client, "echo", json!({"text": "hi"}));
    let add = || call(&client, "add", json!({"a": 1, "b": 2}));
    check("the token is taken", echo().await? == "hi")?;
    for time in ["once", "and with the next refresh token"] {
        Timer::after(stale).await;
        check(
            &format!("a token that has expired is refreshed {time}"),
            echo().await? == "hi" && visited() == 1,
        )?;
    }
    check(
        "a scope that is missing is asked for",
        add().await?.contains('3'),
    )?;
    check("with the user", visited() == 2)?;
    check("what there was is still there", echo().await? == "hi")?;
    Timer::after(stale).await;
    check(
        "both scopes are there after a refresh",
        add().await?.contains('3') && echo().await? == "hi" && visited() == 2,
    )?;
    let end = auth.logout(url).await?;
    check(
        "the tokens are revoked at the end",
        end == LoggedOut::Revoked,
    )?;
    Ok(())
}

async fn call(client: &Client, tool: &str, arguments: Value) -> Result<String, Failure> {
    let outcome = client.call_tool(tool, &arguments).await;
    Ok(outcome.map_err(|error| format!("{tool}: {error}"))?.text())
}
