//! An app in a browser, and what happens there.

use std::collections::BTreeMap;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mcp_std::apps::{
    AppAsk, AppBridge, AppEvent, AppMeta, AppPage, AppReply, BridgeOptions, DisplayMode,
    HostCapabilities, SANDBOX,
};
use mcp_std::host::{CallHooks, Session};
use mcp_std::model::{CallToolResult, Tool};
use serde_json::{Value, json};

use super::web::{Answer, serve};
use super::{Failure, roll};

/// A browser may be that slow.
const PATIENCE: Duration = Duration::from_secs(60);

/// What happened.
#[derive(Default)]
pub(crate) struct Shown {
    pub(crate) sandbox_was_ready: bool,
    pub(crate) name: String,
    pub(crate) rolled: i64,
    pub(crate) rerolled: i64,
    /// Tools that the app called.
    pub(crate) calls: Vec<String>,
    /// What it told the model.
    pub(crate) contexts: Vec<Value>,
    pub(crate) was_resized: bool,
    /// What it tried, and what came of it.
    pub(crate) probes: BTreeMap<String, String>,
    pub(crate) faults: usize,
    pub(crate) has_ended: bool,
}

/// Messages on their way to the host's page.
#[derive(Default)]
struct Mailbox {
    messages: Mutex<Vec<String>>,
    filled: Condvar,
}

impl Mailbox {
    fn put(&self, messages: &mut Vec<String>) {
        let mut all = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        all.append(messages);
        self.filled.notify_all();
    }

    /// A JSON array of what there is, at the latest after a while.
    fn take(&self) -> String {
        let all = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let some = self
            .filled
            .wait_timeout_while(all, Duration::from_secs(5), |all| all.is_empty());
        let (mut all, _) = some.unwrap_or_else(PoisonError::into_inner);
        let array = format!("[{}]", all.join(","));
        all.clear();
        array
    }
}

/// The browser, until this is dropped.
struct Browser {
    child: Child,
    folder: std::path::PathBuf,
}

impl Browser {
    fn start(program: &str, url: &str) -> Result<Self, Failure> {
        let folder = std::env::temp_dir().join(format!("apps_host-{}", std::process::id()));
        let child = Command::new(program)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
            ])
            .args([
                "--no-first-run",
                "--disable-extensions",
                "--disable-background-networking",
            ])
            // It stays until it is ended.
            .args(["--no-proxy-server", "--remote-debugging-port=0"])
            .arg(format!("--user-data-dir={}", folder.display()))
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { child, folder })
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Shows a page until it has tried everything, and ends it.
pub(crate) async fn show(
    browser: &str,
    session: &Session,
    html: String,
    meta: &AppMeta,
    policy: Option<String>,
    tools: &[Tool<'_>],
) -> Result<Shown, Failure> {
    let can = HostCapabilities::new()
        .open_links()
        .server_tools()
        .logging()
        .sandbox(meta);
    let options = BridgeOptions::new("apps_host", "1")
        .capabilities(can)
        .context("theme", "light")
        .display_modes(DisplayMode::Inline, &[DisplayMode::Inline]);
    let mut bridge = AppBridge::sandboxed(options, AppPage::new(html, meta.clone()));
    bridge.tools(tools);

    let mailbox = Arc::new(Mailbox::default());
    let (said, heard) = channel();
    // Each origin is in the page of the other.
    let host_origin = Arc::new(Mutex::new(String::new()));
    let allow = meta.permissions.allow();
    let its_host = host_origin.clone();
    let sandbox_origin = serve(move |_| {
        let host = its_host.lock().unwrap_or_else(PoisonError::into_inner);
        let page = include_str!("../../../apps/sandbox.html")
            .replace("{HOST_ORIGIN}", &host)
            .replace("{SANDBOX}", SANDBOX)
            .replace("{ALLOW}", &allow);
        Answer {
            policy: policy.clone(),
            ..Answer::html(page)
        }
    })?;
    let waiting = mailbox.clone();
    let origin = serve(move |asked| match &*asked.path {
        "/said" => {
            let _ = said.send(asked.body);
            Answer::json("[]".to_owned())
        }
        "/next" => Answer::json(waiting.take()),
        "/" => Answer::html(
            include_str!("../../../apps/host.html")
                .replace("{SANDBOX_ORIGIN}", &sandbox_origin)
                .replace("{SANDBOX}", SANDBOX),
        ),
        _ => Answer::default(),
    })?;
    host_origin
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone_from(&origin);

    // The call is made while the browser starts: the bridge keeps what the app has to know.
    let mut out = Vec::new();
    bridge.tool_input_partial(&json!({}), &mut out)?;
    bridge.tool_input(&json!({ "sides": 6 }), &mut out)?;
    let rolled = roll(session).await?;
    bridge.tool_result(&rolled, &mut out)?;
    let mut shown = Shown {
        rolled: value(&rolled),
        ..Shown::default()
    };
    let _browser = Browser::start(browser, &origin)?;
    attend(&mut bridge, session, &heard, &mailbox, &mut shown).await?;
    Ok(shown)
}

/// Serves the app until it has ended.
async fn attend(
    bridge: &mut AppBridge,
    session: &Session,
    heard: &Receiver<Vec<u8>>,
    mailbox: &Mailbox,
    shown: &mut Shown,
) -> Result<(), Failure> {
    let until = Instant::now() + PATIENCE;
    let mut out = Vec::new();
    let mut has_tried = false;
    while !bridge.is_closed() {
        let left = until.saturating_duration_since(Instant::now());
        let message = heard.recv_timeout(left);
        let message = message
            .map_err(|_| format!("not at its end after {PATIENCE:?}: {:?}", shown.probes))?;
        match bridge.receive(&message, &mut out) {
            Some(AppEvent::SandboxReady) => shown.sandbox_was_ready = true,
            Some(AppEvent::Initialized(info)) => shown.name = info.name,
            Some(AppEvent::Wants(request, ask)) => {
                let reply = wish(session, ask, shown).await;
                bridge.answer(request, reply, &mut out)?;
            }
            Some(AppEvent::SizeChanged { width, height, .. }) => {
                shown.was_resized = width.is_some() && height.is_some();
            }
            Some(AppEvent::Log { data, .. }) => {
                let (probe, outcome) = (data["probe"].as_str(), data["outcome"].as_str());
                let (probe, outcome) = probe.zip(outcome).ok_or("a probe says nothing")?;
                shown.probes.insert(probe.to_owned(), outcome.to_owned());
                has_tried |= probe == "end";
            }
            Some(AppEvent::TornDown(end)) => shown.has_ended = end.is_ok(),
            Some(AppEvent::Fault(_)) => shown.faults += 1,
            Some(_) | None => {}
        }
        // Both that it showed: the second may come after all that it tried.
        if has_tried && shown.contexts.len() == 2 {
            has_tried = false;
            bridge.teardown(Some("the test is over"), &mut out);
        }
        mailbox.put(&mut out);
    }
    Ok(())
}

/// Grants what the app wants.
async fn wish(session: &Session, ask: AppAsk, shown: &mut Shown) -> AppReply {
    match ask {
        AppAsk::CallTool {
            name, arguments, ..
        } => {
            let (hooks, arguments) = (CallHooks::new(), Value::Object(arguments));
            let reply = session.call_for_app("dice", &name, arguments, &hooks).await;
            shown.calls.push(name);
            match reply.outcome {
                Ok(result) => {
                    shown.rerolled = value(&result);
                    AppReply::Tool(Box::new(result))
                }
                Err(error) => AppReply::failed(-32603, error.to_string()),
            }
        }
        AppAsk::UpdateModelContext {
            structured_content, ..
        } => {
            let said = structured_content.map(Value::Object);
            shown.contexts.extend(said);
            AppReply::Done
        }
        AppAsk::ReadResource { .. }
        | AppAsk::OpenLink { .. }
        | AppAsk::Message { .. }
        | AppAsk::RequestDisplayMode { .. }
        | _ => AppReply::Denied("It is a test".to_owned()),
    }
}

/// What a die shows.
fn value(result: &CallToolResult<'_>) -> i64 {
    let content = result.structured_content.as_ref();
    let content = content.and_then(|it| serde_json::from_str::<Value>(it.as_str()).ok());
    content
        .and_then(|it| it["value"].as_i64())
        .unwrap_or_default()
}
