//! What a peer may do to an engine in fixed memory: the tables are always nearly full, the input comes in pieces and may be
//! anything, the output refuses until there is room for a whole message. Whatever happens, the engine answers as one that is
//! given whole lines and as much room as it wants; where there is an allocator, as one whose tables grow to the same limits.

use mcp_core::Limits;
use mcp_core::binding::StdioServer;
use mcp_core::engine::server::{
    CallRequest, CatalogBuilder, Change, Incoming, ReplyToken, ServerEngine,
};
use mcp_core::engine::{Fixed, Memory};
use mcp_core::frame::Lines;
use mcp_core::json::{Full, Json, Sink};
use mcp_core::model::{CallToolResult, ContentBlock, Implementation, Progress, Tool};
use mcp_core::rpc::ErrorObject;
use mcp_core::{ErrorCode, SendError};
use proptest::prelude::*;
use proptest::sample::select;

static SERVER: Implementation<'_> = Implementation::constant("fixed", "1.0.0");
static TOOLS: [Tool<'_>; 2] = [
    Tool::constant("now", "Answers", Json::constant(r#"{"type":"object"}"#)),
    Tool::constant("later", "Waits", Json::constant(r#"{"type":"object"}"#)),
];
static CATALOG: CatalogBuilder<'_> = CatalogBuilder::new(&SERVER)
    .tools(&TOOLS)
    .tools_list_changed(true)
    .resources_subscribe(true)
    .logging(true);

/// Room for two calls, ids of 12 bytes, one subscription beside the session, two URIs of 10 bytes, one request.
type Small = Fixed<'static, 2, 12, 2, 2, 10>;
/// Room for nothing but the session.
type None = Fixed<'static, 0, 0, 1, 0, 0, 0>;

const LONGEST: usize = 700;

fn limits() -> Limits {
    let mut limits = Limits::DEFAULT;
    limits.max_message = LONGEST;
    limits.max_depth = 12;
    limits
}

/// An output that has room for so many bytes.
struct Room {
    bytes: Vec<u8>,
    most: usize,
}

impl Sink for Room {
    fn append(&mut self, bytes: &[u8]) -> Result<(), Full> {
        if bytes.len() > self.most - self.bytes.len() {
            return Err(Full);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
    }
}

#[derive(Clone, Debug)]
enum Deed {
    Receive(Vec<u8>),
    Announce(Change<'static>),
    Tell,
    /// Of the calls that wait, one is answered: with a result or an error.
    Answer(usize, bool),
    Progress(usize, f64),
    GiveUp(usize),
    Ask,
    End,
}

struct Host<M: Memory> {
    server: StdioServer<M>,
    waiting: Vec<ReplyToken>,
    input: Vec<u8>,
    out: Room,
    /// The most bytes that arrive at once.
    piece: usize,
    /// Whether the output has no room at first, and a little more each time.
    reluctant: bool,
    said: Vec<String>,
}

impl<M: Memory> Host<M> {
    fn new(engine: ServerEngine<M>, piece: usize, reluctant: bool) -> Self {
        let most = if reluctant { 0 } else { usize::MAX };
        Self {
            server: StdioServer::new(engine),
            waiting: Vec::new(),
            input: Vec::new(),
            out: Room {
                bytes: Vec::new(),
                most,
            },
            piece,
            reluctant,
            said: Vec::new(),
        }
    }

    /// What is refused leaves nothing behind; the next time there is more room.
    fn more_room(&mut self) {
        assert!(self.reluctant, "there was room");
        self.out.most += 23;
        assert!(self.out.most < 10_000, "no message is that long");
    }

    fn until_there_is_room<T, E: PartialEq>(
        &mut self,
        full: &E,
        mut deed: impl FnMut(&mut ServerEngine<M>, &mut Lines<'_, Room>) -> Result<T, E>,
    ) -> Result<T, E> {
        loop {
            let before = self.out.bytes.len();
            match deed(self.server.engine_mut(), &mut Lines::new(&mut self.out)) {
                Err(error) if error == *full => {
                    let left = &self.out.bytes[before..];
                    assert!(left.is_empty() || left.ends_with(b"\n"), "whole messages");
                    self.more_room();
                }
                done => return done,
            }
        }
    }

    fn run(&mut self, deed: &Deed) -> (String, Vec<String>) {
        match deed {
            Deed::Receive(bytes) => {
                for piece in bytes.chunks(self.piece) {
                    self.input.extend_from_slice(piece);
                    self.turn();
                    assert!(self.input.len() < self.server.window());
                }
            }
            Deed::Announce(change) => self.server.engine_mut().announce(*change),
            Deed::Tell => {
                let told =
                    self.until_there_is_room(&Full, |engine, out| engine.next_notification(out));
                let more = self.server.engine().has_notifications();
                self.said.push(format!("{told:?}, more: {more}"));
            }
            Deed::Answer(which, well) => {
                if !self.waiting.is_empty() {
                    let token = self.waiting.remove(which % self.waiting.len());
                    self.answer(token, *well);
                }
            }
            Deed::Progress(which, progress) => {
                if !self.waiting.is_empty() {
                    let key = self.waiting[which % self.waiting.len()].key();
                    let progress = Progress::new(*progress);
                    let full = SendError::Full(());
                    let sent = self.until_there_is_room(&full, |engine, out| {
                        engine.progress(key, &progress, out)
                    });
                    self.said.push(format!("{sent:?}"));
                }
            }
            Deed::GiveUp(which) => {
                if !self.waiting.is_empty() {
                    let token = self.waiting.remove(which % self.waiting.len());
                    for _ in 0..2 {
                        let out = &mut Lines::new(&mut self.out);
                        let engine = self.server.engine_mut();
                        self.said
                            .push(format!("{:?}", engine.abandon(token.key(), out)));
                    }
                }
            }
            Deed::Ask => {
                let full = mcp_core::engine::server::RequestError::Full;
                let asked = self.until_there_is_room(&full, |engine, out| engine.ping(out));
                self.said.push(format!("{:?}", asked.map(drop)));
            }
            Deed::End => {
                let ended =
                    self.until_there_is_room(&Full, |engine, out| engine.end_subscriptions(out));
                self.said.push(format!("{ended:?}"));
            }
        }
        let engine = self.server.engine();
        let (limits, counts) = (
            engine.limits(),
            (engine.in_flight(), engine.subscriptions()),
        );
        assert!(counts.0 + counts.1 <= limits.max_in_flight);
        assert!(counts.1 <= limits.max_subscriptions && engine.pending() <= limits.max_pending);
        self.said.push(format!("{counts:?}"));
        let written = String::from_utf8(std::mem::take(&mut self.out.bytes)).expect("UTF-8");
        assert!(written.is_empty() || written.ends_with('\n'));
        if self.reluctant {
            self.out.most = 0;
        }
        (written, std::mem::take(&mut self.said))
    }

    fn turn(&mut self) {
        let input = std::mem::take(&mut self.input);
        let mut used = 0;
        loop {
            let step = self.server.receive(&input[used..], &mut self.out);
            used += step.consumed;
            match step.incoming {
                Option::None => break,
                Some(Incoming::Blocked) => {
                    assert_eq!(step.consumed, 0);
                    self.more_room();
                }
                Some(Incoming::Call(call)) => {
                    self.said.push(format!("{:?}", call.request));
                    if matches!(call.request, CallRequest::Tool { tool: 1, .. }) {
                        self.waiting.push(call.token);
                    } else {
                        self.answer(call.token, true);
                    }
                }
                Some(Incoming::Rejected(fault)) => self.said.push(format!("{fault:?}")),
                Some(Incoming::Cancelled(_)) => self.said.push("cancelled".to_owned()),
                Some(Incoming::Answer(answer)) => self.said.push(format!("{:?}", answer.outcome)),
                Some(_) => {}
            }
        }
        self.input = input[used..].to_vec();
    }

    fn answer(&mut self, mut token: ReplyToken, well: bool) {
        let content = [ContentBlock::text("done \"so\"\n\u{1}é")];
        loop {
            let out = &mut Lines::new(&mut self.out);
            let engine = self.server.engine_mut();
            let sent = if well {
                engine.reply(token, &CallToolResult::new(&content), out)
            } else {
                let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, "it broke");
                engine.fail(token, &error, out)
            };
            match sent {
                Ok(()) => return,
                Err(SendError::Full(again)) => token = again,
                Err(other) => return self.said.push(format!("{other:?}")),
            }
            self.more_room();
        }
    }
}

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;

/// Few of them, so that they meet; some are too long, some are the same number, some are none.
fn id() -> impl Strategy<Value = &'static str> {
    select(
        &[
            "1",
            "1.0",
            "1e0",
            "2",
            "3",
            "\"1\"",
            "\"\\u0031\"",
            "\"abcdefghij\"",
            "\"abcdefghijk\"",
            "123456789012",
            "1234567890123",
            "10e-1",
            "-0",
            "0",
            "0.1",
            "1e400",
            "null",
            "true",
            "{}",
            "\"\\ud800\"",
        ][..],
    )
}

fn uri() -> impl Strategy<Value = &'static str> {
    select(
        &[
            "\"n:1\"",
            "\"n:2\"",
            "\"\\u006e:2\"",
            "\"n:3\"",
            "\"n:45678901\"",
            "\"n:456789012\"",
            "\"n:ééé\"",
            "\"n:éééé\"",
            "\"n:éé\\u00e9\\u00e9\\u00e9\"",
            "\"\"",
            "\"\\udc00\"",
            "7",
        ][..],
    )
}

fn message() -> impl Strategy<Value = String> {
    let legacy = |id: &str, method: &str, params: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{params}}}}}"#)
    };
    let modern = move |id: &str, method: &str, params: &str| {
        legacy(id, method, &format!("{params}{META}}}"))
    };
    let version = select(&["2024-11-05", "2025-03-26", "2025-11-25", "2026-07-28", "x"][..]);
    prop_oneof![
        1 => (id(), version).prop_map(move |(id, version)| legacy(
            id,
            "initialize",
            &format!(
                r#""protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}"#
            )
        )),
        1 => Just(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned()),
        1 => (id(), select(&["now", "later", "no\\u0077", "none"][..]), id()).prop_map(
            move |(id, name, token)| legacy(
                id,
                "tools/call",
                &format!(r#""name":"{name}","_meta":{{"progressToken":{token}}}"#)
            )
        ),
        3 => (id(), select(&["now", "later", "later"][..]), id()).prop_map(
            move |(id, name, token)| legacy(
                id,
                "tools/call",
                &format!(r#""name":"{name}",{META},"progressToken":{token}}}"#)
            )
        ),
        1 => (id(), any::<bool>(), uri()).prop_map(move |(id, on, uri)| {
            let method = if on { "resources/subscribe" } else { "resources/unsubscribe" };
            legacy(id, method, &format!(r#""uri":{uri}"#))
        }),
        2 => (id(), any::<bool>(), prop::collection::vec(uri(), 0..4)).prop_map(
            move |(id, tools, uris)| modern(
                id,
                "subscriptions/listen",
                &format!(
                    r#""notifications":{{"toolsListChanged":{tools},"resourceSubscriptions":[{}]}},"#,
                    uris.join(",")
                )
            )
        ),
        2 => id().prop_map(|id| format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        )),
        1 => (id(), select(&["tools/list", "server/discover", "ping", "prompts/list", "x/y", "tasks/get"][..]))
            .prop_map(move |(id, method)| modern(id, method, "")),
        1 => (id(), select(&["tools/list", "ping", "logging/setLevel"][..]))
            .prop_map(move |(id, method)| legacy(id, method, r#""level":"error""#)),
        1 => (0_u64..4, any::<bool>()).prop_map(|(id, well)| {
            let outcome = if well { r#""result":{}"# } else { r#""error":{"code":1.0,"message":"x"}"# };
            format!(r#"{{"jsonrpc":"2.0","id":{id},{outcome}}}"#)
        }),
        // Deeper than is allowed, or just not.
        1 => (1_usize..16).prop_map(move |depth| {
            let value = "[".repeat(depth) + &"]".repeat(depth);
            modern("5", "tools/list", &format!(r#""x":{value},"#))
        }),
        // Longer than is allowed, or just not.
        1 => (LONGEST - 20..LONGEST + 20, any::<bool>()).prop_map(|(length, first)| {
            let (before, after) = match first {
                true => (r#"{"jsonrpc":"2.0","id":8,"method":"ping","x":""#, "\"}"),
                false => (r#"{"x":""#, r#"","jsonrpc":"2.0","id":8,"method":"ping"}"#),
            };
            format!("{before}{}{after}", "y".repeat(length - before.len() - after.len()))
        }),
    ]
}

/// A message as it is, or damaged: bytes exchanged, put in, left out; a part of it twice, so that members are.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let damage = (any::<prop::sample::Index>(), 0_u8..5, any::<u8>());
    let ends = select(&["\n", "\n", "\n", "\r\n", "\n\n", " \r\n", ""][..]);
    (message(), prop::collection::vec(damage, 0..3), 0..4, ends).prop_map(
        |(message, damages, how_often, end)| {
            let mut bytes = message.into_bytes();
            // Most are as they are.
            for (at, what, byte) in damages.into_iter().filter(|_| how_often == 0) {
                let at = at.index(bytes.len().max(1));
                match what {
                    0 => bytes.insert(at, byte),
                    1 => bytes.truncate(at),
                    2 if !bytes.is_empty() => drop(bytes.remove(at)),
                    3 => {
                        let twice: Vec<u8> = bytes[at..].iter().copied().take(40).collect();
                        bytes.splice(at..at, twice);
                    }
                    _ => bytes.extend_from_slice(&[0xef, 0xbb, 0xbf, byte]),
                }
            }
            bytes.extend_from_slice(end.as_bytes());
            bytes
        },
    )
}

fn deed() -> impl Strategy<Value = Deed> {
    let changes = [
        Change::ToolsList,
        Change::PromptsList,
        Change::ResourceUpdated("n:1"),
        Change::ResourceUpdated("n:2"),
        Change::ResourceUpdated("n:éééé"),
        Change::ResourceUpdated("\u{fffd}"),
    ];
    prop_oneof![
        12 => bytes().prop_map(Deed::Receive),
        2 => select(changes.to_vec()).prop_map(Deed::Announce),
        2 => Just(Deed::Tell),
        2 => (0_usize..3, any::<bool>()).prop_map(|(which, well)| Deed::Answer(which, well)),
        1 => (0_usize..3, select(&[0.5, 1.0, 0.25, f64::NAN, f64::INFINITY, -1e300][..]))
            .prop_map(|(which, progress)| Deed::Progress(which, progress)),
        1 => (0_usize..3).prop_map(Deed::GiveUp),
        1 => Just(Deed::Ask),
        1 => Just(Deed::End),
    ]
}

fn in_memory<M: Memory<Catalog = &'static CatalogBuilder<'static>>>() -> ServerEngine<M> {
    ServerEngine::with_memory(&CATALOG, limits(), 1)
}

fn agree<A: Memory, B: Memory>(
    reference: ServerEngine<A>,
    engine: ServerEngine<B>,
    piece: usize,
    deeds: &[Deed],
) {
    let mut reference = Host::new(reference, usize::MAX, false);
    let mut host = Host::new(engine, piece, true);
    for (at, deed) in deeds.iter().enumerate() {
        let expected = reference.run(deed);
        assert_eq!(host.run(deed), expected, "deed {at} of {deeds:#?}");
    }
}

/// The tables grow, and to the same limits.
#[cfg(feature = "alloc")]
fn reference() -> ServerEngine {
    let catalog = CATALOG.build().expect("a sound catalog");
    let limits = *in_memory::<Small>().limits();
    ServerEngine::new(std::sync::Arc::new(catalog), limits, 1)
}

#[cfg(not(feature = "alloc"))]
fn reference() -> ServerEngine<Small> {
    in_memory()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: Option::None, cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn whatever_a_peer_does_in_small_tables(
        deeds in prop::collection::vec(deed(), 1..60),
        piece in select(&[1, 2, 7, 64, 4096][..]),
    ) {
        agree(reference(), in_memory::<Small>(), piece, &deeds);
    }

    #[test]
    fn whatever_a_peer_does_where_there_is_room_for_nothing(
        deeds in prop::collection::vec(deed(), 1..30),
        piece in select(&[1, 64][..]),
    ) {
        agree(in_memory::<None>(), in_memory::<None>(), piece, &deeds);
    }
}
