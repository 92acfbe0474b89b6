//! Our client, as the official conformance suite starts it: once for each scenario, against a server that the suite plays.
//!
//! usage: conformance_client URL    (the suite appends it)
//!
//! Which scenario it is stands in `MCP_CONFORMANCE_SCENARIO`, the revision to speak in
//! `MCP_CONFORMANCE_PROTOCOL_VERSION`, what else the scenario gives in `MCP_CONFORMANCE_CONTEXT`. What is right and wrong the
//! suite finds out by itself; this only does what it asks, by nothing but the public API. With `CONFORMANCE_REVISION=auto`
//! in the environment the client is not told the revision and finds it out, as it does for its users.

mod login;
mod scenarios;

use core::time::Duration;
use std::io::Write as _;
use std::process::ExitCode;

use async_io::Timer;
use futures_lite::FutureExt as _;
use mcp_core::model::{
    ContentBlock, CreateMessageResult, ElicitAction, ElicitRequestParams, ElicitResult,
    ProtocolVersion, Role, Root,
};
use mcp_std::client::{Client, ClientBuilder, Declined, ElicitRequest};

/// Why a scenario was not gone through.
type Failure = Box<dyn core::error::Error + Send + Sync>;

/// The suite waits a little longer, but then it cannot say what was waited for.
const LIMIT: Duration = Duration::from_secs(25);

fn main() -> ExitCode {
    let Some(url) = std::env::args().nth(1) else {
        return failed("usage: conformance_client URL");
    };
    let late = async {
        Timer::after(LIMIT).await;
        Err(Failure::from(format!("not done after {LIMIT:?}")))
    };
    match async_io::block_on(run(&url).or(late)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => failed(&error.to_string()),
    }
}

fn failed(why: &str) -> ExitCode {
    // The suite may have closed it.
    let _ = writeln!(std::io::stderr(), "{why}");
    ExitCode::FAILURE
}

async fn run(url: &str) -> Result<(), Failure> {
    let scenario = std::env::var("MCP_CONFORMANCE_SCENARIO")?;
    let mut builder = builder()?;
    if let Some(auth) = login::auth(&scenario)? {
        builder = builder.auth(auth);
    }
    let client = builder.connect_http(url).await?;
    let done = scenarios::run(&scenario, &client).await;
    client.close().await;
    done
}

/// A client that can do for servers all that there is.
fn builder() -> Result<ClientBuilder, Failure> {
    let builder = Client::builder("conformance-client", "1.0.0")
        .elicitation(|request| async move { agree(&request) })
        .sampling(|_| async {
            let said = ContentBlock::text("It is said that all is well.");
            let answer = CreateMessageResult::new(Role::Assistant, vec![said], "test-model");
            Ok::<_, Declined>(answer)
        })
        .roots([Root::new("file:///workspace")]);
    if std::env::var("CONFORMANCE_REVISION").is_ok_and(|revision| revision == "auto") {
        return Ok(builder);
    }
    let revision = std::env::var("MCP_CONFORMANCE_PROTOCOL_VERSION")?;
    let revision = ProtocolVersion::parse(&revision).ok_or("no revision that we know")?;
    Ok(builder.revision(revision))
}

/// The user agrees to everything and leaves each form as it is; one without defaults asks to be confirmed.
fn agree(request: &ElicitRequest) -> ElicitResult<'static> {
    let mut answer = ElicitResult::new(ElicitAction::Accept);
    if let ElicitRequestParams::Form(form) = &request.params {
        answer.content = Some(scenarios::filled_in(&form.requested_schema));
    }
    answer
}
