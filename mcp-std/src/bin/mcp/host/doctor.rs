//! How each server is.

use core::fmt::Write as _;
use core::time::Duration;

use mcp_std::Client;
use mcp_std::host::{Host, HostConfig, ServerState, ServerStatus};
use mcp_std::model::{Era, ServerCapabilities};
use serde_json::{Value, json};

use super::{findings, within};
use crate::connect::output;
use crate::failure::Failure;
use crate::show::word;
use crate::text::duration;

/// Examines the servers. It is an error if one that is enabled is not well.
pub(super) async fn run(
    host: &Host,
    config: &HostConfig,
    patience: Duration,
    as_json: bool,
) -> Result<(), Failure> {
    within(patience, host.settled()).await;
    let mut reports = Vec::new();
    for status in host.status() {
        reports.push(examined(host, status).await);
    }
    let findings = findings(&host.findings());
    let warnings: Vec<_> = config.warnings().iter().map(ToString::to_string).collect();
    if as_json {
        let servers: Vec<_> = reports.iter().map(|report| &report.json).collect();
        let json = json!({"servers": servers, "findings": findings, "warnings": warnings});
        output(format!("{json}\n").as_bytes())?;
    } else {
        let mut text: String = reports.iter().map(|report| &*report.text).collect();
        for (what, lines) in [("suspicious", &findings), ("ignored", &warnings)] {
            for line in lines {
                let _ = writeln!(text, "{what}: {}", word(line));
            }
        }
        output(text.as_bytes())?;
    }
    let ill = reports.iter().filter(|report| !report.well).count();
    if ill > 0 {
        let all = reports.len();
        return Err(Failure::Server(format!(
            "{ill} of {all} servers cannot be used"
        )));
    }
    Ok(())
}

struct Report {
    well: bool,
    text: String,
    json: Value,
}

async fn examined(host: &Host, status: ServerStatus) -> Report {
    let name = word(&status.name);
    if status.state == ServerState::Disabled {
        return Report {
            well: true,
            text: format!("- {name}: disabled\n"),
            json: json!({"name": &*status.name, "state": "disabled"}),
        };
    }
    let ready = status.state == ServerState::Ready;
    let client = if ready {
        host.pool().client(&status.name).await.ok()
    } else {
        None
    };
    match client {
        Some(client) => connected(&client, &status).await,
        None => failed(&status),
    }
}

fn failed(status: &ServerStatus) -> Report {
    let (what, advice) = match &status.fault {
        Some(fault) => (&*fault.what, &*fault.advice),
        None => (
            "it is not connected yet",
            "`--timeout SECONDS` waits longer",
        ),
    };
    let mut text = format!("✗ {}: {}\n", word(&status.name), word(what));
    let _ = writeln!(text, "    to mend it: {advice}");
    Report {
        well: false,
        text,
        json: json!({"name": &*status.name, "state": "failed", "fault": what, "advice": advice}),
    }
}

async fn connected(client: &Client, status: &ServerStatus) -> Report {
    let version = client.version();
    let era = if version.era() == Era::Legacy {
        "legacy"
    } else {
        "modern"
    };
    let server = client.server();
    let implementation = server.as_ref().and_then(|it| it.implementation.as_ref());
    let title = implementation.map(|it| format!("{} {}", it.name, it.version));
    let title = title.unwrap_or_else(|| "a server without a name".to_owned());
    let capabilities = server.as_ref().and_then(|it| it.capabilities.as_ref());
    let capabilities = capabilities.map(declared).unwrap_or_default();
    let latency = latency(client).await;
    // Its list could not be read, say.
    let fault = status.fault.as_ref();
    let well = latency.is_ok() && fault.is_none();
    let mark = if well { '✓' } else { '✗' };
    let mut text = format!(
        "{mark} {}: {}, {era}, revision {}\n    {} tools; declares {}\n",
        word(&status.name),
        word(&title),
        version.as_str(),
        status.tools,
        if capabilities.is_empty() {
            "nothing".to_owned()
        } else {
            capabilities.join(", ")
        },
    );
    if let Some(time) = status.connected_in {
        let _ = write!(text, "    connected in {}", duration(time));
    }
    match &latency {
        Ok(time) => {
            let _ = writeln!(text, ", answers in {}", duration(*time));
        }
        Err(why) => {
            let _ = writeln!(text, "\n    it does not answer: {}", word(why));
        }
    }
    if let Some(fault) = fault {
        let _ = writeln!(
            text,
            "    {}\n    to mend it: {}",
            word(&fault.what),
            fault.advice
        );
    }
    let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
    Report {
        well,
        text,
        json: json!({
            "name": &*status.name,
            "state": "ready",
            "server": title,
            "era": era,
            "revision": version.as_str(),
            "capabilities": capabilities,
            "tools": status.tools,
            "connectedInMicros": status.connected_in.map(micros),
            "latencyMicros": latency.as_ref().ok().map(|&time| micros(time)),
            "fault": latency.as_ref().err().cloned().or_else(|| Some(fault?.what.clone())),
        }),
    }
}

/// The middle one of a few answers.
async fn latency(client: &Client) -> Result<Duration, String> {
    let mut times = Vec::new();
    for _ in 0..5 {
        times.push(client.ping().await.map_err(|error| error.to_string())?);
    }
    times.sort();
    Ok(times[times.len() / 2])
}

fn declared(it: &ServerCapabilities<'_>) -> Vec<&'static str> {
    let resources = it.resources.as_ref();
    let tools = it.tools.as_ref().is_some_and(|it| it.list_changed);
    let all = [
        (it.tools.is_some(), "tools"),
        (tools, "tools.listChanged"),
        (resources.is_some(), "resources"),
        (
            resources.is_some_and(|it| it.subscribe),
            "resources.subscribe",
        ),
        (it.prompts.is_some(), "prompts"),
        (it.completions, "completions"),
        (it.logging, "logging"),
        (it.tasks.is_some(), "tasks"),
        (it.extensions.is_some(), "extensions"),
        (it.experimental.is_some(), "experimental"),
    ];
    let there = all.into_iter().filter(|(there, _)| *there);
    there.map(|(_, name)| name).collect()
}
