//! The harness in the place of the tools: which calls are open, and how they are answered.

use mcp_core::engine::server::{Call, CallKey, CallRequest, ReplyToken};
use mcp_core::frame::Lines;
use mcp_core::json::RawJson;
use mcp_core::model::{CallToolResult, ContentBlock, Progress};
use mcp_core::rpc::ErrorObject;
use mcp_core::{ErrorCode, SendError};
use serde_json::value::RawValue;

use super::Session;
use crate::reference;
use crate::server::TOOLS;
use crate::server::answer::{Answer, Line, member};
use crate::server::due::{Due, Place};

/// An accepted call.
pub(super) struct Open {
    pub(super) token: ReplyToken,
    /// As it is written.
    id: String,
    place: Place,
}

/// An id by its value: `1` and `1.0` are one, `1` and `"1"` are two.
#[derive(Debug, Eq, PartialEq)]
enum Id {
    Integer(i128),
    Text(String),
}

impl Id {
    fn new(text: &str) -> Option<Self> {
        let value: &RawValue = serde_json::from_str(text).expect("a value");
        match text.as_bytes()[0] {
            b'"' => {
                (!reference::has_lone_surrogate(value)).then(|| Self::Text(reference::text(value)))
            }
            b'-' | b'0'..=b'9' => reference::integer(value).map(Self::Integer),
            _ => None,
        }
    }
}

impl Session {
    /// A call was accepted: it is the tool and the arguments that were sent, and is answered as the tool says.
    pub(super) fn call(&mut self, call: Call<'_>, id: String, params: &str, place: Place) {
        let CallRequest::Tool {
            tool, arguments, ..
        } = call.request
        else {
            panic!("{call:?}: only tools are offered");
        };
        let name = member(params, "name").expect("a tool is called by name");
        let name: &RawValue = serde_json::from_str(&name).expect("a value");
        assert_eq!(reference::text(name), TOOLS[tool]);
        let sent = member(params, "arguments");
        assert_eq!(arguments.map(RawJson::as_str), sent.as_deref());
        let token = member(params, "_meta").and_then(|meta| member(&meta, "progressToken"));
        assert_eq!(call.wants_progress, token.is_some());
        let open = Open {
            token: call.token,
            id,
            place,
        };
        self.batches.call(place);
        match TOOLS[tool] {
            "later" => self.open.push(open),
            "fail" => self.fail(open, arguments),
            "flush" => {
                self.open.push(open);
                self.flush();
            }
            "progress" => {
                let key = open.token.key();
                for (progress, more) in [(1.0, true), (1.0, false), (f64::NAN, false), (1.5, true)]
                {
                    let before = self.transcript.out.len();
                    let progress = Progress::new(progress).of(2.0).saying("\n");
                    let sent = self.server.engine_mut().progress(
                        key,
                        &progress,
                        &mut Lines::new(&mut self.transcript.out),
                    );
                    assert_eq!(sent, Ok(()));
                    let token = token.iter().filter(|_| more).cloned();
                    let due: Vec<Line> = token
                        .map(|token| Line::One(Answer::Progress { token }))
                        .collect();
                    assert_eq!(self.written_since(before), due);
                }
                self.reply(open, arguments);
                assert_eq!(self.touch(key), Err(SendError::Stale));
            }
            _ => self.reply(open, arguments),
        }
    }

    /// A call was cancelled: it is the one of that id.
    pub(super) fn cancelled(&mut self, key: CallKey, params: &str, before: usize) {
        let id = member(params, "requestId").expect("a request is cancelled by id");
        let at = self.holder(&id).expect("nothing of that id is open");
        let open = self.open.remove(at);
        assert_eq!(open.token.key(), key);
        self.over.push(key);
        self.cancelled.push(open.token);
        self.deliver(open.place, None, true, before);
    }

    /// Answers what is open. What was cancelled is answered too, and comes too late.
    pub(super) fn flush(&mut self) {
        for token in self.cancelled.drain(..) {
            let before = self.transcript.out.len();
            let result = CallToolResult::new(&[]);
            let sent = self.server.engine_mut().reply(
                token,
                &result,
                &mut Lines::new(&mut self.transcript.out),
            );
            assert_eq!(sent, Err(SendError::Stale));
            assert_eq!(self.transcript.out.len(), before);
        }
        while let Some(open) = self.open.pop() {
            self.reply(open, None);
        }
    }

    fn reply(&mut self, open: Open, structured: Option<RawJson<'_>>) {
        let content = [ContentBlock::text("\"\u{2028}\n")];
        let mut result = CallToolResult::new(&content);
        result.structured_content = structured.map(Into::into);
        self.over.push(open.token.key());
        let before = self.transcript.out.len();
        let sent = self.server.engine_mut().reply(
            open.token,
            &result,
            &mut Lines::new(&mut self.transcript.out),
        );
        assert_eq!(sent, Ok(()));
        let due = Due::Result {
            id: open.id,
            text: None,
        };
        self.deliver(open.place, Some(due), true, before);
    }

    fn fail(&mut self, open: Open, data: Option<RawJson<'_>>) {
        let mut error = ErrorObject::new(ErrorCode::new(-1), "as asked\n");
        error.data = data;
        self.over.push(open.token.key());
        let before = self.transcript.out.len();
        let sent = self.server.engine_mut().fail(
            open.token,
            &error,
            &mut Lines::new(&mut self.transcript.out),
        );
        assert_eq!(sent, Ok(()));
        let due = Due::Error {
            id: Some(open.id),
            code: -1,
        };
        self.deliver(open.place, Some(due), true, before);
    }

    /// Which open call has this id.
    pub(super) fn holder(&self, id: &str) -> Option<usize> {
        let id = Id::new(id)?;
        self.open
            .iter()
            .position(|open| Id::new(&open.id).as_ref() == Some(&id))
    }

    /// Tells whether a call is open, by progress that is none.
    pub(super) fn touch(&mut self, key: CallKey) -> Result<(), SendError<()>> {
        let before = self.transcript.out.len();
        let none = Progress::new(f64::NAN);
        let sent = self.server.engine_mut().progress(
            key,
            &none,
            &mut Lines::new(&mut self.transcript.out),
        );
        assert_eq!(self.transcript.out.len(), before);
        sent
    }
}
