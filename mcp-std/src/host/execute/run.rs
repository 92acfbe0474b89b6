//! From a call to its reply.

use core::time::Duration;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use async_io::Timer;
use futures_lite::future::{or, poll_fn};
use mcp_core::json::Json;
use mcp_core::model::CallToolResult;
use serde_json::{Map, Value};
use tracing::Instrument as _;

use super::super::catalog::Entry;
use super::super::guard::{Action, Finding, Rule, check_result};
use super::super::host::Inner;
use super::super::session::Session;
use super::super::snapshot::Snapshot;
use super::super::trust::hex;
use super::approval::{ApprovalRequest, AskAbout, Decision};
use super::audit::Record;
use super::call::{ExecuteError, ToolCall, ToolReply};
use super::hooks::CallHooks;
use super::middleware::{Flow, Invocation};
use super::search_tools;
use crate::client::{CallError, CallOptions, Client};

type Outcome = Result<CallToolResult<'static>, ExecuteError>;

impl Session {
    /// Makes a call that the model made of a tool of this snapshot. There is always a reply, which the model is to get.
    pub async fn call(&self, snapshot: &Snapshot, call: ToolCall) -> ToolReply {
        self.call_with(snapshot, call, &CallHooks::new()).await
    }

    /// [`call`](Self::call), with a word on how.
    pub async fn call_with(
        &self,
        snapshot: &Snapshot,
        call: ToolCall,
        hooks: &CallHooks,
    ) -> ToolReply {
        self.call_entry(snapshot, snapshot.entry(&call.name), call, hooks)
            .await
    }

    /// Makes a call that an app of this server made, of a tool by the name that the server has for it: one that is for apps,
    /// whether the model is offered it or not. It comes by the same way as the model's calls, with approval, middleware,
    /// bounds and audit; of other servers' tools there are none.
    ///
    /// [`AppBridge`](crate::apps::AppBridge) has looked at the call before.
    #[cfg(feature = "apps")]
    pub async fn call_for_app(
        &self,
        server: &str,
        tool: &str,
        arguments: Value,
        hooks: &CallHooks,
    ) -> ToolReply {
        let snapshot = self.snapshot();
        let catalog = snapshot.0.catalog.clone();
        let entry = catalog.entries.iter().find(|entry| {
            let it = &entry.definition;
            &*it.server == server && it.tool == tool && it.ui.visibility.app
        });
        let name = entry.map_or(tool, |entry| &entry.definition.name);
        let call = ToolCall::new("app", name, arguments);
        self.call_entry(&snapshot, entry, call, hooks).await
    }

    async fn call_entry(
        &self,
        snapshot: &Snapshot,
        entry: Option<&Entry>,
        call: ToolCall,
        hooks: &CallHooks,
    ) -> ToolReply {
        let started = Instant::now();
        let trace = hooks.trace.as_ref().unwrap_or(self.trace());
        let (span, traceparent) = trace.span();
        let server = entry.map_or_else(|| Arc::from(""), |it| it.definition.server.clone());
        let seen = tracing::info_span!(
            "execute_tool",
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = call.name,
            gen_ai.tool.call.id = call.id,
            mcp.server = &*server,
            trace_id = trace.id(),
            span_id = span,
            outcome = tracing::field::Empty,
        );
        let mut running = Running {
            session: self,
            host: self.host(),
            hooks,
            traceparent,
            approval: "none",
            sent: false,
        };
        let outcome = running
            .run(snapshot, entry, &call)
            .instrument(seen.clone())
            .await;
        let guards = &self.host().guards;
        let told = match &outcome {
            Ok(_) => running.sent,
            Err(error) => error.is_told_by_server(),
        };
        let untrusted = told && guards.is_on(Rule::UntrustedResults);
        let mut findings = Vec::new();
        if let (Ok(result), true, true) = (&outcome, running.sent, guards.is_on(Rule::Links)) {
            let tool = entry.map(|entry| &*entry.definition.tool);
            let found = check_result(result).into_iter();
            findings.extend(found.map(|what| Finding::new(Rule::Links, &server, tool, &what)));
        }
        seen.record(
            "outcome",
            match &outcome {
                Ok(result) if result.is_error => "tool_error",
                Ok(_) => "ok",
                Err(_) => "error",
            },
        );
        let reply = ToolReply {
            id: call.id,
            name: call.name,
            server,
            outcome,
            untrusted,
            findings,
            elapsed: started.elapsed(),
        };
        if let Some(audit) = &self.host().audit {
            let record = Record {
                reply: &reply,
                session: self.trace().id(),
                span: &span,
                digest: entry.map(|entry| entry.offered.digest),
                tool: entry.map_or("", |entry| &entry.definition.tool),
                approval: running.approval,
                arguments: &call.arguments,
            };
            audit.write(&record, self.host().pool.redactor());
        }
        reply
    }

    /// Makes all calls of one turn at once, within the bounds of the host and its servers. The replies are in the order of
    /// the calls, whatever the order in which they came.
    pub async fn call_all(
        &self,
        snapshot: &Snapshot,
        calls: Vec<ToolCall>,
        hooks: &CallHooks,
    ) -> Vec<ToolReply> {
        let calls = calls.into_iter();
        let running = calls.map(|call| Box::pin(self.call_with(snapshot, call, hooks)));
        all(running.collect()).await
    }
}

/// All of them, at once, in their order.
async fn all<F: Future + Unpin>(mut running: Vec<F>) -> Vec<F::Output>
where
    F::Output: Unpin,
{
    let mut done: Vec<Option<F::Output>> = running.iter().map(|_| None).collect();
    poll_fn(|cx| {
        let mut waits = false;
        for (future, done) in running.iter_mut().zip(&mut done) {
            if done.is_none() {
                match core::pin::Pin::new(future).poll(cx) {
                    core::task::Poll::Ready(output) => *done = Some(output),
                    core::task::Poll::Pending => waits = true,
                }
            }
        }
        if waits {
            core::task::Poll::Pending
        } else {
            core::task::Poll::Ready(())
        }
    })
    .await;
    done.into_iter().flatten().collect()
}

/// One call.
struct Running<'r> {
    session: &'r Session,
    host: &'r Inner,
    hooks: &'r CallHooks,
    traceparent: String,
    /// Who has approved, as audits have it.
    approval: &'static str,
    /// The result is the server's.
    sent: bool,
}

impl Running<'_> {
    async fn run(
        &mut self,
        snapshot: &Snapshot,
        entry: Option<&Entry>,
        call: &ToolCall,
    ) -> Outcome {
        if snapshot.0.search.as_deref() == Some(&*call.name) {
            self.approval = "host";
            return search_tools::run(self.session, snapshot, &call.arguments);
        }
        let Some(entry) = entry else {
            return Err(self.unknown(snapshot, &call.name));
        };
        if let Some(rule) = entry.held {
            return Err(ExecuteError::Held(rule));
        }
        let mut invocation = Invocation {
            id: call.id.clone(),
            tool: entry.definition.clone(),
            digest: hex(&entry.offered.digest),
            arguments: arguments(entry, &call.arguments)?,
        };
        let (chain, hooks) = (&self.host.middleware, self.hooks);
        let mut passed = 0;
        let through = self.through(entry, &mut invocation, &mut passed);
        let mut outcome = or(cancelled(hooks), through).await;
        for middleware in chain[..passed].iter().rev() {
            let after = middleware.after(&invocation, &mut outcome);
            let given_up = async {
                let _: Outcome = cancelled(hooks).await;
            };
            // Also of a call that was cancelled they hear, as long as they do not have to wait.
            or(after, given_up).await;
        }
        outcome
    }

    /// Past the middleware, of which `passed` have let it through, and to its server.
    async fn through(
        &mut self,
        entry: &Entry,
        invocation: &mut Invocation,
        passed: &mut usize,
    ) -> Outcome {
        for middleware in &self.host.middleware {
            match middleware.before(invocation).await? {
                Flow::Continue => *passed += 1,
                Flow::Answer(result) => {
                    // What it answers itself may be a server's, kept.
                    self.sent = true;
                    return Ok(*result);
                }
            }
        }
        self.approved(entry, invocation).await
    }

    fn unknown(&self, snapshot: &Snapshot, name: &str) -> ExecuteError {
        if let Some(&at) = snapshot.0.catalog.by_name.get(name)
            && let Some(rule) = snapshot.0.catalog.entries[at].held
        {
            return ExecuteError::Held(rule);
        }
        let near = snapshot.search(name, 3).into_iter();
        let near = near.filter(|tool| snapshot.get(&tool.name).is_some());
        ExecuteError::UnknownTool {
            name: super::super::guard::shown(name),
            near: near.map(|tool| tool.name.clone()).collect(),
        }
    }

    async fn approved(&mut self, entry: &Entry, call: &Invocation) -> Outcome {
        // Another definition may have been accepted since the snapshot was made.
        let it = &entry.definition;
        let digest = entry.offered.digest;
        if self.host.guards.action(Rule::ChangedDefinition) == Action::Hold
            && !self.host.trust.is_unchanged(&it.server, &it.tool, digest)
        {
            return Err(ExecuteError::Held(Rule::ChangedDefinition));
        }
        self.approve(entry, call).await?;
        for middleware in &self.host.middleware {
            if let Flow::Answer(result) = middleware.approved(call).await? {
                // It may be a server's, kept.
                self.sent = true;
                return Ok(*result);
            }
        }
        let time = self.hooks.timeout.unwrap_or(self.host.call_timeout);
        let late = async {
            Timer::after(time).await;
            Err(ExecuteError::TimedOut(time))
        };
        let outcome = self.limited(entry, call, late).await;
        self.sent = outcome.is_ok();
        outcome
    }

    async fn approve(&mut self, entry: &Entry, call: &Invocation) -> Result<(), ExecuteError> {
        let it = &entry.definition;
        let digest = entry.offered.digest;
        let remembered = |session: &Session, host: &Inner| {
            if host.trust.is_approved(&it.server, &it.tool, digest) {
                return Some("remembered");
            }
            session
                .is_approved(&it.server, &it.tool, digest)
                .then_some("session")
        };
        let Some(approver) = &self.host.approver else {
            self.approval = "not_asked";
            return Ok(());
        };
        if entry.offered.approved {
            self.approval = "configured";
            return Ok(());
        }
        if approver.about == AskAbout::Writes && it.read_only == Some(true) {
            self.approval = "read_only";
            return Ok(());
        }
        // One question at a time: the answer to the first may be that to the next.
        let _turn = self.session.asking().lock().await;
        if let Some(known) = remembered(self.session, self.host) {
            self.approval = known;
            return Ok(());
        }
        let request = ApprovalRequest {
            server: it.server.clone(),
            tool: it.clone(),
            arguments: Value::Object(call.arguments.clone()),
            digest: hex(&digest),
            findings: entry.offered.findings.clone(),
        };
        match (approver.ask)(request).await {
            Decision::Once => self.approval = "once",
            Decision::Session => {
                self.session.remember(&it.server, &it.tool, digest);
                self.approval = "session";
            }
            Decision::Always => {
                if self.host.guards.action(Rule::ChangedDefinition) != Action::Hold {
                    self.host.trust.replace(&it.server, &it.tool, digest);
                }
                self.host.trust.approve(&it.server, &it.tool, digest);
                self.approval = "always";
            }
            Decision::Deny(reason) => {
                self.approval = "denied";
                return Err(ExecuteError::NotApproved(reason));
            }
        }
        Ok(())
    }

    /// Waits for its turn and makes the call; `late` ends both.
    async fn limited(
        &self,
        entry: &Entry,
        call: &Invocation,
        late: impl Future<Output = Outcome>,
    ) -> Outcome {
        let tool = &call.tool;
        let lane = self.host.lanes.get(&tool.server);
        let lane = lane.ok_or_else(|| ExecuteError::Refused("its server has gone".to_owned()))?;
        let pass = lane.enter().map_err(|retry_in| ExecuteError::CircuitOpen {
            server: tool.server.clone(),
            retry_in,
        })?;
        // Whether it is the server that is waited for.
        let asked = AtomicBool::new(false);
        let work = async {
            // All that is of the server first, so that who waits for a slow one takes no place of the others.
            let _server = lane.permits.acquire().await;
            lane.turn().await;
            asked.store(true, Ordering::Relaxed);
            let wait = Duration::from_secs(10);
            let client = self.host.pool.client_within(&tool.server, wait).await;
            let client = client.map_err(ExecuteError::Unavailable)?;
            asked.store(false, Ordering::Relaxed);
            let _host = self.host.permits.acquire().await;
            asked.store(true, Ordering::Relaxed);
            self.send(&client, entry, call).await
        };
        let outcome = or(work, late).await;
        match &outcome {
            // It never came to its turn, or waited for calls of others.
            Err(ExecuteError::TimedOut(_)) if !asked.load(Ordering::Relaxed) => drop(pass),
            // Whoever cancelled it says nothing of the server.
            Err(ExecuteError::Call(error)) if matches!(**error, CallError::Cancelled) => drop(pass),
            Ok(_) => pass.done(true),
            Err(error) => pass.done(!error.is_of_server()),
        }
        outcome
    }

    async fn send(&self, client: &Client, entry: &Entry, call: &Invocation) -> Outcome {
        self.still_the_same(entry)?;
        let meta = Json::written(|json| {
            json.begin_object();
            json.key("traceparent");
            json.string(&self.traceparent);
            json.end_object();
        });
        let mut options = CallOptions::new().meta(meta);
        if let Some(told) = &self.hooks.on_progress {
            let (told, id) = (told.clone(), call.id.clone());
            options = options.on_progress(move |progress| told(&id, progress));
        }
        let called = client.call_tool_with(&call.tool.tool, &call.arguments, options);
        let outcome = called
            .await
            .map_err(|error| ExecuteError::Call(Box::new(error)));
        outcome.map(crate::client::ToolOutcome::into_inner)
    }
}

impl Running<'_> {
    /// Whether the server has the tool as the model saw it, and as it was approved of: while the call waited, or the user was
    /// asked, it may have become another one.
    fn still_the_same(&self, entry: &Entry) -> Result<(), ExecuteError> {
        let it = &entry.definition;
        let now = self.host.pool.member(&it.server);
        let now = now.map(|member| member.tools()).unwrap_or_default();
        let now = now.iter().find(|now| now.definition.tool == it.tool);
        let now = now.ok_or_else(|| ExecuteError::Gone(it.server.clone()))?;
        // An approval is of one definition, whatever is done about changes.
        let counts = self.host.approver.is_some()
            || self.host.guards.action(Rule::ChangedDefinition) == Action::Hold;
        if counts && now.digest != entry.offered.digest {
            return Err(ExecuteError::Held(Rule::ChangedDefinition));
        }
        Ok(())
    }
}

/// Ends when the call is cancelled, and never otherwise.
async fn cancelled(hooks: &CallHooks) -> Outcome {
    let Some(canceller) = &hooks.canceller else {
        return core::future::pending().await;
    };
    let forever = core::future::pending::<Result<(), CallError>>();
    let error = canceller.guard(forever).await.err();
    Err(ExecuteError::Call(Box::new(
        error.unwrap_or(CallError::Cancelled),
    )))
}

/// What the tool is called with: what the model says, and what is preset.
fn arguments(entry: &Entry, given: &Value) -> Result<Map<String, Value>, ExecuteError> {
    let mut arguments = match given {
        Value::Object(members) => members.clone(),
        Value::Null => Map::new(),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            let fault = "they are to be a JSON object".to_owned();
            return Err(ExecuteError::Arguments(fault));
        }
    };
    for (name, value) in &entry.offered.preset {
        arguments.insert(name.clone(), value.clone());
    }
    Ok(arguments)
}
