//! What the host tells an app.

use mcp_core::model::CallToolResult;
use serde_json::{Value, json};

use super::ask::written;
use super::{AppBridge, AppReply, AppRequest, BridgeError, DisplayMode, Pending, Phase};
use super::{error, notification, result};

/// What the specification has for what is denied.
const DENIED: i64 = -32000;

/// The id of the only request of a host.
pub(super) const TEARDOWN: &str = "teardown";

impl AppBridge {
    /// Tells the arguments of the call as far as the model has written them, an object; as often as there is more. What an app
    /// that is not there yet has missed of it does not matter: it is told the last.
    ///
    /// # Errors
    ///
    /// They are no object, or the app has been told all of them, or how the call ended; or it is gone.
    pub fn tool_input_partial(
        &mut self,
        arguments: &Value,
        out: &mut Vec<String>,
    ) -> Result<(), BridgeError> {
        let message = self.input("ui/notifications/tool-input-partial", arguments)?;
        match self.is_ready() {
            true => out.push(message),
            false => self.held.partial = Some(message),
        }
        Ok(())
    }

    /// Tells the arguments of the call, an object: once.
    ///
    /// # Errors
    ///
    /// They are no object, or the app has been told them, or how the call ended; or it is gone.
    pub fn tool_input(
        &mut self,
        arguments: &Value,
        out: &mut Vec<String>,
    ) -> Result<(), BridgeError> {
        let message = self.input("ui/notifications/tool-input", arguments)?;
        self.call.has_input = true;
        match self.is_ready() {
            true => out.push(message),
            false => {
                self.held.partial = None;
                self.held.input = Some(message);
            }
        }
        Ok(())
    }

    fn input(&self, method: &str, arguments: &Value) -> Result<String, BridgeError> {
        self.is_open()?;
        if !arguments.is_object() {
            return Err(BridgeError::NotAnObject);
        }
        if self.call.has_ended {
            return Err(BridgeError::HasEnded);
        }
        if self.call.has_input {
            return Err(BridgeError::InputIsComplete);
        }
        Ok(notification(method, json!({ "arguments": arguments })))
    }

    /// Tells the result of the call, once, after its arguments.
    ///
    /// # Errors
    ///
    /// The app has not been told the arguments, or knows how the call ended; or it is gone.
    pub fn tool_result(
        &mut self,
        outcome: &CallToolResult<'_>,
        out: &mut Vec<String>,
    ) -> Result<(), BridgeError> {
        if !self.call.has_input {
            return Err(BridgeError::NoInput);
        }
        let message = notification("ui/notifications/tool-result", written(outcome));
        self.end(message, out)
    }

    /// Tells that the call was cancelled, for whatever reason: in the place of a result.
    ///
    /// # Errors
    ///
    /// The app knows how the call ended, or is gone.
    pub fn tool_cancelled(
        &mut self,
        reason: Option<&str>,
        out: &mut Vec<String>,
    ) -> Result<(), BridgeError> {
        let reason = reason.unwrap_or_default();
        let message = notification(
            "ui/notifications/tool-cancelled",
            json!({ "reason": reason }),
        );
        self.end(message, out)
    }

    fn end(&mut self, message: String, out: &mut Vec<String>) -> Result<(), BridgeError> {
        self.is_open()?;
        if self.call.has_ended {
            return Err(BridgeError::HasEnded);
        }
        self.call.has_ended = true;
        match self.is_ready() {
            true => out.push(message),
            false => self.held.end = Some(message),
        }
        Ok(())
    }

    /// Tells members of the context that have changed: an object. How the app is displayed is not said here, but by
    /// [`display`](Self::display).
    ///
    /// # Errors
    ///
    /// It is no object, or says how the app is displayed in a way that it cannot be; or the app is gone.
    pub fn host_context_changed(
        &mut self,
        change: &Value,
        out: &mut Vec<String>,
    ) -> Result<(), BridgeError> {
        self.is_open()?;
        let Value::Object(change) = change else {
            return Err(BridgeError::NotAnObject);
        };
        if let Some(mode) = change.get("displayMode") {
            let mode = DisplayMode::read(mode).filter(|mode| self.can_be(*mode));
            mode.ok_or(BridgeError::DisplayMode)?;
        }
        for (name, value) in change {
            self.options.context.insert(name.clone(), value.clone());
        }
        match self.phase {
            // What it is told when it begins has it.
            Phase::Sandbox | Phase::New => {}
            Phase::Greeted => self.held.context.extend(change.clone()),
            Phase::Ready | Phase::Closing | Phase::Closed => {
                let change = Value::Object(change.clone());
                out.push(notification(
                    "ui/notifications/host-context-changed",
                    change,
                ));
            }
        }
        Ok(())
    }

    /// Tells that the app is displayed otherwise, as the host or its user wanted.
    ///
    /// # Errors
    ///
    /// The app does not say that it can be displayed so, and the host must not do it; or it is gone.
    pub fn display(&mut self, mode: DisplayMode, out: &mut Vec<String>) -> Result<(), BridgeError> {
        self.host_context_changed(&json!({ "displayMode": mode.as_str() }), out)
    }

    /// Whether the app can be displayed so: it says so, or says nothing.
    pub(super) fn can_be(&self, mode: DisplayMode) -> bool {
        let modes = self
            .info
            .as_ref()
            .and_then(|info| info.display_modes.as_ref());
        modes.is_none_or(|modes| modes.contains(&mode))
    }

    /// Answers what the app [wanted](super::AppEvent::Wants).
    ///
    /// # Errors
    ///
    /// The request does not wait any more, or the answer is of another kind; or the app is gone.
    pub fn answer(
        &mut self,
        request: AppRequest,
        reply: AppReply,
        out: &mut Vec<String>,
    ) -> Result<(), BridgeError> {
        let Pending { id, kind } =
            self.pending
                .remove(&request.0)
                .ok_or(match self.is_closed() {
                    true => BridgeError::Closed,
                    false => BridgeError::NotPending,
                })?;
        if !reply.fits(kind) {
            out.push(error(&id, -32603, "The host answered wrongly"));
            return Err(BridgeError::WrongAnswer);
        }
        out.push(match reply {
            AppReply::Tool(outcome) => result(&id, written(&*outcome)),
            AppReply::Resource(contents) => result(&id, written(&contents)),
            AppReply::Done => result(&id, json!({})),
            AppReply::Displayed(mode) if self.can_be(mode) => {
                let mode = mode.as_str();
                self.options
                    .context
                    .insert("displayMode".to_owned(), mode.into());
                result(&id, json!({ "mode": mode }))
            }
            AppReply::Displayed(_) => {
                out.push(result(&id, json!({ "mode": self.display_mode().as_str() })));
                return Err(BridgeError::DisplayMode);
            }
            AppReply::Denied(reason) => error(&id, DENIED, &reason),
            AppReply::Failed { code, message } => error(&id, code, &message),
        });
        Ok(())
    }

    /// Says that the app is about to be taken away. `true`: it was told, and the host should wait for
    /// [`TornDown`](super::AppEvent::TornDown), as long as its patience goes; `false`: nobody is there, and it can go at once.
    pub fn teardown(&mut self, reason: Option<&str>, out: &mut Vec<String>) -> bool {
        match self.phase {
            Phase::Ready => {
                let reason = reason.unwrap_or_default();
                let mut message = json!({ "jsonrpc": "2.0", "id": TEARDOWN });
                message["method"] = "ui/resource-teardown".into();
                message["params"] = json!({ "reason": reason });
                out.push(message.to_string());
                self.phase = Phase::Closing;
                true
            }
            Phase::Closing => true,
            Phase::Sandbox | Phase::New | Phase::Greeted | Phase::Closed => {
                self.close();
                false
            }
        }
    }

    /// Says that the app has been taken away: whatever it wanted is forgotten.
    pub fn close(&mut self) {
        self.phase = Phase::Closed;
        self.pending.clear();
        self.held = super::Held::default();
        self.page = None;
    }

    const fn is_open(&self) -> Result<(), BridgeError> {
        match self.phase {
            Phase::Closed | Phase::Closing => Err(BridgeError::Closed),
            Phase::Sandbox | Phase::New | Phase::Greeted | Phase::Ready => Ok(()),
        }
    }

    /// What waited for the app.
    pub(super) fn release(&mut self, out: &mut Vec<String>) {
        let held = core::mem::take(&mut self.held);
        if !held.context.is_empty() {
            let change = Value::Object(held.context);
            out.push(notification(
                "ui/notifications/host-context-changed",
                change,
            ));
        }
        let all = [held.partial, held.input, held.end].into_iter();
        out.extend(all.flatten());
    }
}
