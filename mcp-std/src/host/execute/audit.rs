//! A record of each call.

use core::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::super::redact::Redactor;
use super::super::trust::hex;
use super::call::{ExecuteError, ToolReply};
use crate::host::offer::ToolDigest;

/// Where each call is written down, as a line of JSON, when it is over:
///
/// ```json
/// {"time":1764537600123,"session":"4bf92f35…","span":"00f067aa…","call":"call_1","name":"git__log","server":"git","tool":"log",
///  "digest":"9f86d0…","approval":"configured","arguments":{"token":"[redacted]"},"outcome":"ok","ms":12,"findings":[]}
/// ```
///
/// `outcome` is `ok`, `tool_error` or `error`; then `error` says which. What is secret is not in it: see
/// [`Redactor`]. What tools return is not in it either.
///
/// A line that cannot be written is lost, and told to `tracing`; calls go on. The writer is called where the call is awaited,
/// and is not to block for long.
#[derive(Clone)]
pub struct AuditLog(Arc<Mutex<Box<dyn Write + Send>>>);

impl AuditLog {
    /// To any writer.
    pub fn new(writer: impl Write + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(Box::new(writer))))
    }

    /// To the end of a file, which is made if there is none.
    ///
    /// # Errors
    ///
    /// It cannot be opened.
    pub fn append(path: impl AsRef<Path>) -> io::Result<Self> {
        let file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(path)?;
        Ok(Self::new(file))
    }

    pub(super) fn write(&self, record: &Record<'_>, redactor: &Redactor) {
        let Record {
            reply,
            session,
            span,
            digest,
            tool,
            approval,
            arguments,
        } = record;
        let time = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        let (outcome, error) = match &reply.outcome {
            Ok(result) if result.is_error => ("tool_error", None),
            Ok(_) => ("ok", None),
            Err(error) => ("error", Some(error)),
        };
        let mut line = json!({
            "time": u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
            "session": session,
            "span": span,
            "call": reply.id,
            "name": reply.name,
            "server": &*reply.server,
            "tool": tool,
            "digest": digest.map(|digest| hex(&digest)),
            "approval": approval,
            "arguments": redactor.value(arguments),
            "outcome": outcome,
            "ms": u64::try_from(reply.elapsed.as_millis()).unwrap_or(u64::MAX),
            "findings": reply.findings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        if let Some(error) = error {
            line["error"] = Value::String(said(error, redactor));
        }
        let line = format!("{line}\n");
        let mut writer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let written = writer
            .write_all(line.as_bytes())
            .and_then(|()| writer.flush());
        if let Err(error) = written {
            tracing::error!(%error, "a call was not written to the audit log");
        }
    }
}

fn said(error: &ExecuteError, redactor: &Redactor) -> String {
    const LONGEST: usize = 1000;
    let text = error.to_string();
    redactor.text(&text).chars().take(LONGEST).collect()
}

impl fmt::Debug for AuditLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AuditLog")
    }
}

/// What is written down beside the reply.
pub(super) struct Record<'r> {
    pub(super) reply: &'r ToolReply,
    pub(super) session: &'r str,
    pub(super) span: &'r str,
    pub(super) digest: Option<ToolDigest>,
    pub(super) tool: &'r str,
    pub(super) approval: &'static str,
    pub(super) arguments: &'r Value,
}
