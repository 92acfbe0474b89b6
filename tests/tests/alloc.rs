//! No call of the engine allocates in steady state: contract 4 of `ServerEngine`. A request over HTTP does, so many times.

#![allow(
    unsafe_code,
    reason = "a global allocator, which counts, cannot be had without"
)]

extern crate alloc;

use alloc::collections::VecDeque;
use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use core::convert::Infallible;
use core::pin::{Pin, pin};
use core::task::{Context, Poll, Waker};
use std::alloc::System;

use bytes::Bytes;
use http::Request;
use http_body::{Body, Frame};
use mcp_core::engine::server::{Incoming, ReplyToken, ServerEngine};
use mcp_core::json::RawJson;
use mcp_core::model::{CallToolResult, ContentBlock, Era, Progress};
use mcp_core::{Limits, SendError};
use mcp_std::Server;
use mcp_std::http::HttpService;
use mcp_tests::server;
use tower_service::Service as _;

/// The system's allocator, counting for each thread, so that tests can run side by side.
struct Counting;

thread_local! {
    /// Allocations and reallocations of this thread. Constant and without a destructor: reaching it allocates nothing.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    COUNT.set(COUNT.get() + 1);
}

// SAFETY: every method hands its arguments to `System` unchanged and returns what that returns; counting touches a
// thread-local integer, which neither allocates nor panics.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `alloc`, which is the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller keeps the contract of `alloc_zeroed`, which is the same.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: `block` is from `System`, as all blocks of this allocator are; the rest is the caller's, unchanged.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: `block` is from `System`, as all blocks of this allocator are, and has this layout.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// How many calls are measured, and as many other messages with them.
const MESSAGES: usize = 10_000;

/// All messages of a run, made before anything is measured.
struct Traffic {
    calls: Vec<String>,
    cancels: Vec<String>,
    others: Vec<String>,
}

impl Traffic {
    fn new(era: Era) -> Self {
        let modern = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"},"#;
        let meta = if era == Era::Modern { modern } else { "" };
        // Numbers, strings and UUIDs, as ids and as tokens.
        let id = |n: usize| match n % 4 {
            0 => n.to_string(),
            1 => format!("\"request-{n}\""),
            2 => format!("\"0d5ae9a4-7d3b-4c6e-9f10-{n:012x}\""),
            _ => (9_007_199_254_740_992 + n).to_string(),
        };
        let call = |n| {
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"_meta":{{{meta}"progressToken":{id}}},"name":"ask","arguments":{{"text":"é \u0041\n","deep":[[{{"n":{n}}}]]}}}}}}"#,
                id = id(n)
            )
        };
        let cancel = |n| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{},"reason":"enough"}}}}"#,
                id(n)
            )
        };
        let meta = meta.trim_end_matches(',');
        let request = |method: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":"o","method":"{method}","params":{{"_meta":{{{meta}}}}}}}"#
            )
        };
        let mut others = vec![
            request("tools/list"),
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.into(),
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":-1}}"#.into(),
            r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#.into(),
            r#"{"jsonrpc":"2.0","id":5,"result":{}}"#.into(),
            // What is answered with an error, with and without something of it quoted.
            r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#.into(),
            r#"{"jsonrpc":"2.0","id":"e","method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2025\u002d11-25"}}}"#.into(),
            r#"{"jsonrpc":"2.0","id":"e""#.into(),
            request(&format!("no\\n{}", "such".repeat(100))),
        ];
        others.push(request(if era == Era::Modern {
            "server/discover"
        } else {
            "ping"
        }));
        Self {
            calls: (0..MESSAGES).map(call).collect(),
            cancels: (0..MESSAGES).map(cancel).collect(),
            others,
        }
    }
}

fn engine(era: Era) -> ServerEngine {
    let mut engine = ServerEngine::new(server::catalog(), Limits::DEFAULT, 1);
    if era == Era::Legacy {
        let initialize = br#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"c","version":"1"}}}"#;
        let incoming = engine.receive(initialize, &mut Vec::new());
        assert!(matches!(incoming, Incoming::Handled));
    }
    engine
}

/// What the run is measured over.
struct Run {
    engine: ServerEngine,
    traffic: Traffic,
    out: Vec<u8>,
    /// The calls in flight, oldest first.
    waiting: VecDeque<(usize, ReplyToken)>,
    written: usize,
}

impl Run {
    fn new(era: Era, in_flight: usize) -> Self {
        Self {
            engine: engine(era),
            traffic: Traffic::new(era),
            out: Vec::with_capacity(64 * 1_024),
            waiting: VecDeque::with_capacity(in_flight + 1),
            written: 0,
        }
    }

    /// Every call comes with the traffic around it, and ends when so many more have begun: four of five with an
    /// answer, one cancelled.
    fn pass(&mut self, in_flight: usize) {
        for n in 0..MESSAGES {
            let incoming = self
                .engine
                .receive(self.traffic.calls[n].as_bytes(), &mut self.out);
            let Incoming::Call(call) = incoming else {
                panic!("{incoming:?}");
            };
            assert!(call.wants_progress);
            self.waiting.push_back((n, call.token));
            let other = &self.traffic.others[n % self.traffic.others.len()];
            let _ = self.engine.receive(other.as_bytes(), &mut self.out);
            if self.waiting.len() >= in_flight {
                self.end_one();
            }
            self.written += self.out.len();
            self.out.clear();
        }
        while !self.waiting.is_empty() {
            self.end_one();
        }
        assert_eq!(self.engine.in_flight(), 0);
    }

    fn end_one(&mut self) {
        let Some((n, token)) = self.waiting.pop_front() else {
            return;
        };
        let progress = Progress::new(0.5).of(n as f64).saying("half\nway");
        self.engine
            .progress(token.key(), &progress, &mut self.out)
            .expect("in flight");
        let content = [
            ContentBlock::text("line\n\"line\""),
            ContentBlock::text("é"),
        ];
        let structured = RawJson::parse(br#"{"sum":3}"#).expect("valid");
        let result = CallToolResult::new(&content[..]).structured(structured);
        if n.is_multiple_of(5) {
            let cancel = self.traffic.cancels[n].as_bytes();
            let incoming = self.engine.receive(cancel, &mut self.out);
            assert!(matches!(incoming, Incoming::Cancelled(_)));
            let late = self.engine.reply(token, &result, &mut self.out);
            assert!(matches!(late, Err(SendError::Stale)));
        } else {
            let sent = self.engine.reply(token, &result, &mut self.out);
            assert!(sent.is_ok());
        }
    }
}

fn measure(era: Era, in_flight: usize) {
    let mut run = Run::new(era, in_flight);
    // The index of the calls may grow once more after all of them were in it: what is removed leaves marks behind.
    for _ in 0..3 {
        run.pass(in_flight);
    }
    let (before, written) = (COUNT.get(), run.written);
    run.pass(in_flight);
    let counted = COUNT.get() - before;
    assert!(run.written > written, "it was worth measuring");
    assert_eq!(counted, 0, "allocations, {era:?}, {in_flight} in flight");
}

#[test]
fn one_call_at_a_time_allocates_nothing() {
    measure(Era::Legacy, 1);
    measure(Era::Modern, 1);
}

#[test]
fn many_calls_at_once_allocate_nothing() {
    measure(Era::Legacy, 64);
    measure(Era::Modern, 64);
    measure(Era::Modern, 1_000);
}

#[test]
fn the_counter_counts() {
    let before = COUNT.get();
    let mut vector = Vec::<u8>::with_capacity(1);
    assert_eq!(COUNT.get() - before, 1);
    vector.reserve_exact(1_000);
    assert_eq!(COUNT.get() - before, 2);
    // An id that does not fit into the table does cost one: so much is said in the contract.
    let mut engine = engine(Era::Legacy);
    let call = format!(
        r#"{{"jsonrpc":"2.0","id":"{}","method":"tools/call","params":{{"name":"echo"}}}}"#,
        "x".repeat(100)
    );
    let cancel = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":"{}"}}}}"#,
        "x".repeat(100)
    );
    for round in 0..2 {
        let before = COUNT.get();
        let Incoming::Call(_) = engine.receive(call.as_bytes(), &mut vector) else {
            panic!("{call}");
        };
        let counted = COUNT.get() - before;
        assert!(round == 0 || counted == 1, "{counted}");
        let incoming = engine.receive(cancel.as_bytes(), &mut vector);
        assert!(matches!(incoming, Incoming::Cancelled(_)));
    }
}

/// A body that is there already.
struct Whole(Bytes);

impl Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let all = core::mem::take(&mut self.0);
        Poll::Ready((!all.is_empty()).then(|| Ok(Frame::data(all))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }
}

/// How many allocations one request costs, its answer taken and dropped.
fn post(service: &mut HttpService, body: &Bytes) -> usize {
    let request = Request::post("/mcp")
        .header("host", "127.0.0.1:8000")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream")
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/call")
        .header("mcp-name", "echo")
        .body(Whole(body.clone()))
        .expect("a request");
    let mut cx = Context::from_waker(Waker::noop());
    let before = COUNT.get();
    let mut response = service.call(request);
    let Poll::Ready(Ok(response)) = response.as_mut().poll(&mut cx) else {
        panic!("nothing is waited for");
    };
    assert_eq!(response.status(), 200);
    let mut answer = pin!(response.into_body());
    let Poll::Ready(Some(Ok(frame))) = answer.as_mut().poll_frame(&mut cx) else {
        panic!("the answer is there");
    };
    let counted = COUNT.get() - before;
    let text = frame.into_data().expect("no trailers");
    assert!(
        text.ends_with(br#"[{"type":"text","text":"hello"}]}}"#),
        "{text:?}"
    );
    counted
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

/// The future of the request, the arguments, the future of the handler, the text that it returns, the list of content,
/// the answer, and what is around it: headers, and the counter of a buffer that can be shared.
#[test]
fn a_request_over_http_allocates_so_much() {
    let server = Server::builder("s", "1").tool("echo", "", |echo: Echo| async move { echo.text });
    let mut service = server.build().expect("a server").http().service();
    let body = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello"},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    let body = Bytes::from_static(body);
    for _ in 0..3 {
        post(&mut service, &body);
    }
    for _ in 0..100 {
        let counted = post(&mut service, &body);
        assert!(counted <= 8, "{counted}");
    }
}
