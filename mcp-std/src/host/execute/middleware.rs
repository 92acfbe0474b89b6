//! What stands between a model and the servers.

use core::fmt;
use core::future::{Future, ready};
use core::pin::Pin;
use core::time::Duration;
use std::borrow::Cow;
use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use mcp_core::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value};

use super::super::redact::Redactor;
use super::super::tool::ToolDefinition;
use super::call::ExecuteError;
use super::texts;

/// What a [`Middleware`] returns.
pub type Doing<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A call on its way to its server.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Invocation {
    /// That of the model's call.
    pub id: String,
    /// The tool.
    pub tool: Arc<ToolDefinition>,
    /// Identifies the definition of the tool, as [`ApprovalRequest::digest`](crate::host::ApprovalRequest::digest) does.
    pub digest: String,
    /// Its arguments, preset ones included. They can be changed before the call.
    pub arguments: Map<String, Value>,
}

/// Whether a call goes on.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Flow {
    /// It does.
    Continue,
    /// It does not: this is its result.
    Answer(Box<CallToolResult<'static>>),
}

/// Sees each call before it is approved and made, and its result before the model does. Of several, the first one that was
/// added sees a call first, and its result last.
///
/// ```
/// use mcp_std::host::{Doing, ExecuteError, Flow, Invocation, Middleware};
///
/// /// Nobody deletes on Fridays.
/// struct Fridays;
///
/// impl Middleware for Fridays {
///     fn before<'a>(&'a self, call: &'a mut Invocation) -> Doing<'a, Result<Flow, ExecuteError>> {
///         Box::pin(async move {
///             if call.tool.tool.starts_with("delete") {
///                 return Err(ExecuteError::Refused("not on a Friday".to_owned()));
///             }
///             Ok(Flow::Continue)
///         })
///     }
/// }
/// ```
pub trait Middleware: Send + Sync {
    /// Before the call. By default it goes on as it is.
    ///
    /// # Errors
    ///
    /// The call is not to be made. What stands further in does not see it; what stands further out sees the error.
    fn before<'a>(&'a self, call: &'a mut Invocation) -> Doing<'a, Result<Flow, ExecuteError>> {
        let _ = call;
        Box::pin(ready(Ok(Flow::Continue)))
    }

    /// When the call is approved of, in the order of the calls of [`before`](Self::before): here somebody can answer it who must
    /// not do so unasked. By default it goes on.
    ///
    /// # Errors
    ///
    /// The call is not to be made.
    fn approved<'a>(&'a self, call: &'a Invocation) -> Doing<'a, Result<Flow, ExecuteError>> {
        let _ = call;
        Box::pin(ready(Ok(Flow::Continue)))
    }

    /// After the call, or whatever took its place further in. By default nothing is changed.
    fn after<'a>(
        &'a self,
        call: &'a Invocation,
        outcome: &'a mut Result<CallToolResult<'static>, ExecuteError>,
    ) -> Doing<'a, ()> {
        let _ = (call, outcome);
        Box::pin(ready(()))
    }
}

/// Takes the secrets of the configuration out of the texts of results, embedded resources and links included, and out of
/// errors.
#[derive(Clone, Debug)]
pub struct RedactResults(Redactor);

impl RedactResults {
    /// Those that `redactor` knows.
    #[must_use]
    pub const fn new(redactor: Redactor) -> Self {
        Self(redactor)
    }
}

impl Middleware for RedactResults {
    fn after<'a>(
        &'a self,
        _: &'a Invocation,
        outcome: &'a mut Result<CallToolResult<'static>, ExecuteError>,
    ) -> Doing<'a, ()> {
        texts::change(outcome, &|text| match self.0.text(text) {
            Cow::Owned(clean) => Some(clean),
            Cow::Borrowed(_) => None,
        });
        if let Ok(result) = outcome
            && let Some(structured) = &mut result.structured_content
            && let Ok(value) = serde_json::from_str(structured.as_str())
            && let Ok(clean) = mcp_core::json::Json::of(&self.0.value(&value))
        {
            *structured = clean;
        }
        Box::pin(ready(()))
    }
}

/// Shortens texts of results and errors that are too long for the model, embedded resources included. What is left out is said.
/// Structured content stays as it is.
#[derive(Clone, Copy, Debug)]
pub struct LimitTexts(usize);

impl LimitTexts {
    /// Each text to so many bytes at most, whole characters of them; the note on what is left out comes on top.
    #[must_use]
    pub const fn new(bytes: usize) -> Self {
        Self(bytes)
    }

    /// `None`: it is short enough.
    fn shortened(self, text: &str) -> Option<String> {
        if text.len() <= self.0 {
            return None;
        }
        let start = (0..=self.0).rev().find_map(|end| text.get(..end));
        let start = start.unwrap_or_default();
        let (kept, all) = (start.len(), text.len());
        Some(format!("{start}\n[shortened: {kept} of {all} bytes]"))
    }
}

impl Middleware for LimitTexts {
    fn after<'a>(
        &'a self,
        _: &'a Invocation,
        outcome: &'a mut Result<CallToolResult<'static>, ExecuteError>,
    ) -> Doing<'a, ()> {
        texts::change(outcome, &|text| self.shortened(text));
        Box::pin(ready(()))
    }
}

/// Remembers the results of tools whose servers say that they change nothing, for as long as their definitions do not change.
/// Whoever has to approve of a call is asked also if there is a result already.
pub struct ResultCache {
    time: Duration,
    most: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    results: HashMap<Key, (Instant, CallToolResult<'static>)>,
    /// Oldest first.
    order: VecDeque<Key>,
}

/// The server, its tool, the digest of that, the arguments.
type Key = (Arc<str>, String, String, String);

impl ResultCache {
    /// For so long, and so many at most. Results that say that the tool failed are not remembered, nor those of more than
    /// 64 KiB of text.
    #[must_use]
    pub fn new(time: Duration, most: usize) -> Self {
        Self {
            time,
            most,
            kept: Mutex::default(),
        }
    }

    fn key(call: &Invocation) -> Option<Key> {
        let tool = &call.tool;
        let arguments = serde_json::to_string(&call.arguments).ok()?;
        let safe = tool.read_only == Some(true);
        safe.then(|| {
            let (server, digest) = (tool.server.clone(), call.digest.clone());
            (server, tool.tool.clone(), digest, arguments)
        })
    }
}

impl fmt::Debug for ResultCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResultCache")
            .field("time", &self.time)
            .field("most", &self.most)
            .finish_non_exhaustive()
    }
}

impl Middleware for ResultCache {
    fn approved<'a>(&'a self, call: &'a Invocation) -> Doing<'a, Result<Flow, ExecuteError>> {
        let found = Self::key(call).and_then(|key| {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let (since, result) = kept.results.get(&key)?;
            (since.elapsed() < self.time).then(|| result.clone())
        });
        let flow = found.map_or(Flow::Continue, |result| Flow::Answer(Box::new(result)));
        Box::pin(ready(Ok(flow)))
    }

    fn after<'a>(
        &'a self,
        call: &'a Invocation,
        outcome: &'a mut Result<CallToolResult<'static>, ExecuteError>,
    ) -> Doing<'a, ()> {
        const LONGEST: usize = 64 * 1024;
        if let (Some(key), Ok(result)) = (Self::key(call), outcome)
            && !result.is_error
            && length(result) <= LONGEST
        {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let fresh = kept
                .results
                .get(&key)
                .is_some_and(|(since, _)| since.elapsed() < self.time);
            if !fresh {
                if kept
                    .results
                    .insert(key.clone(), (Instant::now(), result.clone()))
                    .is_none()
                {
                    kept.order.push_back(key);
                }
                while kept.results.len() > self.most {
                    let Some(oldest) = kept.order.pop_front() else {
                        break;
                    };
                    kept.results.remove(&oldest);
                }
            }
        }
        Box::pin(ready(()))
    }
}

fn length(result: &CallToolResult<'_>) -> usize {
    let blocks = result.content.iter().map(|block| match block {
        ContentBlock::Text(block) => block.text.len(),
        ContentBlock::Image(block) => block.data.len(),
        ContentBlock::Audio(block) => block.data.len(),
        // Of these nobody knows what they hold.
        ContentBlock::ResourceLink(_) => 0,
        ContentBlock::Resource(_)
        | ContentBlock::ToolUse(_)
        | ContentBlock::ToolResult(_)
        | ContentBlock::Unknown(_)
        | _ => usize::MAX,
    });
    let structured = result.structured_content.as_ref();
    let structured = structured.map_or(0, |json| json.as_str().len());
    blocks.fold(structured, usize::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        let smileys = "😀😀😀😀";
        let cut = LimitTexts::new(10).shortened(smileys);
        assert_eq!(cut.as_deref(), Some("😀😀\n[shortened: 8 of 16 bytes]"));
        assert_eq!(LimitTexts::new(16).shortened(smileys), None);
        let cut = LimitTexts::new(3).shortened(smileys);
        assert_eq!(cut.as_deref(), Some("\n[shortened: 0 of 16 bytes]"));
    }
}
