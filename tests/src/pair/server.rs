//! The server's half of the world.

use std::collections::BTreeSet;

use mcp_core::binding::StdioServer;
use mcp_core::engine::server::{
    Call, CallKey, CallRequest, Change, Incoming, InputError, ReplyToken, RequestKey, ServerEngine,
};
use mcp_core::frame::Lines;
use mcp_core::model::{
    CallToolResult, CompleteResult, Completion, ContentBlock, ElicitRequestParams, Era,
    GetPromptResult, InputRequest, InputRequiredResult, Map, Progress, ProtocolVersion,
    ReadResourceResult, RequestedSchema,
};
use mcp_core::rpc::ErrorObject;
use mcp_core::{ErrorCode, Limits, SendError};

use super::random::Random;
use super::wire::Room;
use crate::server::full_catalog;

#[derive(Debug)]
pub(super) struct Server {
    stdio: StdioServer,
    out: Vec<u8>,
    /// Accepted, and neither answered nor cancelled.
    open: Vec<Open>,
    /// Asked, and not answered.
    asked: BTreeSet<RequestKeyOrder>,
}

type RequestKeyOrder = (usize, String);

#[derive(Debug)]
struct Open {
    token: ReplyToken,
    kind: Kind,
    version: ProtocolVersion,
    /// Whether the request has input already: then it is not asked for more.
    retried: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Kind {
    Tool,
    Resource,
    Prompt,
    Complete,
}

impl Server {
    pub(super) fn new(random: &mut Random) -> Self {
        let page_size = [None, Some(1), Some(2)][random.below(3) as usize];
        let engine = ServerEngine::new(full_catalog(page_size), Limits::DEFAULT, random.next());
        Self {
            stdio: StdioServer::new(engine),
            out: Vec::new(),
            open: Vec::new(),
            asked: BTreeSet::new(),
        }
    }

    pub(super) fn take_output(&mut self) -> Vec<u8> {
        let mut lines = Lines::new(&mut self.out);
        while self
            .stdio
            .engine_mut()
            .next_notification(&mut lines)
            .expect("a Vec has room")
        {}
        std::mem::take(&mut self.out)
    }

    /// Whether anything was taken.
    pub(super) fn receive(&mut self, input: &mut Vec<u8>, room: usize) -> bool {
        let mut at = 0;
        loop {
            let out = &mut Room::new(&mut self.out, room);
            let step = self.stdio.receive(&input[at..], out);
            let consumed = step.consumed;
            let incoming = step.incoming;
            at += consumed;
            match incoming {
                None if consumed == 0 => break,
                Some(Incoming::Blocked) => break,
                None => {}
                Some(Incoming::Call(call)) => self.open.push(opened(call)),
                Some(Incoming::Cancelled(key)) => self.cancelled(key),
                Some(Incoming::Answer(answer)) => {
                    assert!(
                        self.asked.remove(&order(answer.key)),
                        "an answer comes once, and to something that was asked"
                    );
                }
                // Batches are not sent here; the late answers of a client that was asked by another server are faults.
                Some(_) => {}
            }
        }
        input.drain(..at);
        at > 0
    }

    fn cancelled(&mut self, key: CallKey) {
        let at = self.open.iter().position(|open| open.token.key() == key);
        let Some(at) = at else { return };
        let Open { token, .. } = self.open.swap_remove(at);
        // CAN-04: nothing is sent about it any more, whoever tries.
        let before = self.out.len();
        let mut lines = Lines::new(&mut self.out);
        let engine = self.stdio.engine_mut();
        let late = engine.progress(key, &Progress::new(1e9), &mut lines);
        assert_eq!(
            late,
            Err(SendError::Stale),
            "a cancelled call makes no progress"
        );
        let late = engine.reply(token, &CallToolResult::new([].as_slice()), &mut lines);
        assert_eq!(
            late,
            Err(SendError::Stale),
            "a cancelled call is not answered"
        );
        assert_eq!(self.out.len(), before, "nothing is written about it");
    }

    /// Answers one of the calls, in one of the ways there are.
    pub(super) fn answer(&mut self, random: &mut Random) {
        if let Some(open) = random.take(&mut self.open) {
            self.answer_one(open, random);
        }
    }

    pub(super) fn answer_all(&mut self, random: &mut Random) {
        while let Some(open) = self.open.pop() {
            self.answer_one(open, random);
        }
    }

    fn answer_one(&mut self, open: Open, random: &mut Random) {
        let Open {
            token,
            kind,
            version,
            retried,
        } = open;
        let engine = self.stdio.engine_mut();
        let mut lines = Lines::new(&mut self.out);
        let token = if version.era() == Era::Modern
            && kind != Kind::Complete
            && !retried
            && random.percent(30)
        {
            let mut result = InputRequiredResult::default();
            result.input_requests = Some([("q", question())].into());
            result.request_state = random.percent(50).then(|| "state".into());
            match engine.require_input(token, &result, &mut lines) {
                Ok(()) => return,
                // The client of this request has no elicitation.
                Err(InputError::Undeclared { token, .. }) => token,
                Err(other) => panic!("{other}"),
            }
        } else {
            token
        };
        let done = if random.percent(10) {
            let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "it went wrong");
            engine.fail(token, &error, &mut lines)
        } else {
            match kind {
                Kind::Tool => {
                    let blocks = [ContentBlock::text("done")];
                    engine.reply(token, &CallToolResult::new(blocks.as_slice()), &mut lines)
                }
                Kind::Resource => {
                    engine.reply(token, &ReadResourceResult::new([].as_slice()), &mut lines)
                }
                Kind::Prompt => {
                    engine.reply(token, &GetPromptResult::new([].as_slice()), &mut lines)
                }
                Kind::Complete => {
                    let completion = Completion::new([].as_slice());
                    engine.reply(token, &CompleteResult::new(completion), &mut lines)
                }
            }
        };
        done.expect("an open call can be answered");
    }

    pub(super) fn progress(&mut self, random: &mut Random) {
        let keys: Vec<CallKey> = self.open.iter().map(|open| open.token.key()).collect();
        if let Some(key) = random.pick(&keys) {
            let progress = Progress::new(random.below(50) as f64);
            let mut lines = Lines::new(&mut self.out);
            let sent = self.stdio.engine_mut().progress(key, &progress, &mut lines);
            sent.expect("an open call makes progress");
        }
    }

    /// Asks the client something; takes back what was asked before, now and then.
    pub(super) fn ask(&mut self, random: &mut Random) {
        let mut lines = Lines::new(&mut self.out);
        let request = match random.below(3) {
            0 => InputRequest::ListRoots,
            _ => question(),
        };
        // Not in the modern era, not before the client is ready, not what it did not declare: all of that is refused.
        if let Ok(key) = self.stdio.engine_mut().request(None, &request, &mut lines) {
            assert!(self.asked.insert(order(key)), "keys are of one request");
            if random.percent(20) {
                let taken_back = self
                    .stdio
                    .engine_mut()
                    .cancel_request(key, None, &mut lines);
                taken_back.expect("it has just been asked");
                self.asked.remove(&order(key));
            }
        }
    }

    pub(super) fn announce(&mut self, random: &mut Random) {
        let change = match random.below(4) {
            0 => Change::ToolsList,
            1 => Change::PromptsList,
            2 => Change::ResourcesList,
            _ => Change::ResourceUpdated("a://one"),
        };
        self.stdio.engine_mut().announce(change);
    }

    pub(super) fn end_subscriptions(&mut self) {
        let mut lines = Lines::new(&mut self.out);
        let ended = self.stdio.engine_mut().end_subscriptions(&mut lines);
        ended.expect("a Vec has room");
    }

    /// All is quiet.
    pub(super) fn check(&self, seed: u64) {
        let engine = self.stdio.engine();
        assert!(self.open.is_empty(), "seed {seed}: a call is open");
        assert_eq!(engine.in_flight(), 0, "seed {seed}: the table of calls");
        assert_eq!(
            engine.subscriptions(),
            0,
            "seed {seed}: the table of subscriptions"
        );
        assert_eq!(
            self.asked.len(),
            engine.pending(),
            "seed {seed}: the table of questions"
        );
        assert_eq!(
            engine.pending(),
            0,
            "seed {seed}: a question was not answered"
        );
    }
}

fn opened(call: Call<'_>) -> Open {
    Open {
        kind: match call.request {
            CallRequest::Tool { .. } => Kind::Tool,
            CallRequest::Resource { .. } => Kind::Resource,
            CallRequest::Prompt { .. } => Kind::Prompt,
            CallRequest::Complete { .. } => Kind::Complete,
            _ => panic!("there is no other kind of call"),
        },
        version: call.version,
        retried: call.input_responses.is_some(),
        token: call.token,
    }
}

fn question() -> InputRequest<'static> {
    let schema = RequestedSchema::new(Map::EMPTY);
    InputRequest::Elicit(ElicitRequestParams::form("Well?", schema))
}

fn order(key: RequestKey) -> RequestKeyOrder {
    (key.index(), format!("{key:?}"))
}
