//! The engine in fixed memory: the same answers as the engine whose tables grow, byte for byte, and defined ones where
//! there is no room. With and without the feature `alloc`.

use mcp_core::Limits;
use mcp_core::binding::StdioServer;
use mcp_core::engine::server::{
    CallRequest, CatalogBuilder, Change, Incoming, ReplyToken, ResourceTarget, ServerEngine,
};
use mcp_core::engine::{Fixed, Memory};
use mcp_core::frame::Lines;
use mcp_core::json::{Json, RawJson};
use mcp_core::model::{
    CallToolResult, ContentBlock, GetPromptResult, Implementation, LoggingLevel, LoggingMessage,
    Prompt, PromptArgument, PromptMessage, ReadResourceResult, Resource, ResourceContents, Role,
    Tool,
};

static SERVER: Implementation<'_> = Implementation::constant("fixed", "1.0.0");
static TOOLS: [Tool<'_>; 3] = [
    Tool::constant(
        "echo",
        "Says it again",
        Json::constant(r#"{"type":"object"}"#),
    ),
    Tool::constant("later", "Waits", Json::constant(r#"{"type":"object"}"#)),
    Tool::constant("fail", "Fails", Json::constant(r#"{"type":"object"}"#)),
];
static RESOURCES: [Resource<'_>; 2] = [
    Resource::constant("note://a", "a", "text/plain"),
    Resource::constant("note://é", "b", "text/plain"),
];
static ARGUMENTS: [PromptArgument<'_>; 1] = [PromptArgument::constant("name", "Whom", true)];
static PROMPTS: [Prompt<'_>; 1] = [Prompt::constant("greet", "Greets", &ARGUMENTS)];
static CATALOG: CatalogBuilder<'_> = CatalogBuilder::new(&SERVER)
    .instructions("Be small.")
    .tools(&TOOLS)
    .resources(&RESOURCES)
    .resources_subscribe(true)
    .tools_list_changed(true)
    .prompts(&PROMPTS)
    .logging(true);

/// Room for two calls, ids of 12 bytes, one subscription beside the session, two URIs of 10 bytes.
type Small = Fixed<'static, 2, 12, 2, 2, 10>;

struct Host<M: Memory> {
    server: StdioServer<M>,
    waiting: Vec<ReplyToken>,
    out: heapless::Vec<u8, 16_384>,
}

impl<M: Memory> Host<M> {
    fn new(engine: ServerEngine<M>) -> Self {
        Self {
            server: StdioServer::new(engine),
            waiting: Vec::new(),
            out: heapless::Vec::new(),
        }
    }

    /// Offers a line, and returns what is answered.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "nothing else is offered, so nothing else comes"
    )]
    fn say(&mut self, line: &str) -> String {
        let input = format!("{line}\n");
        let mut at = 0;
        while at < input.len() {
            let step = self.server.receive(&input.as_bytes()[at..], &mut self.out);
            at += step.consumed;
            let Some(Incoming::Call(call)) = step.incoming else {
                continue;
            };
            let out = &mut Lines::new(&mut self.out);
            let engine = self.server.engine_mut();
            let sent = match call.request {
                CallRequest::Tool { tool: 1, .. } => {
                    self.waiting.push(call.token);
                    Ok(())
                }
                CallRequest::Tool {
                    tool, arguments, ..
                } => {
                    let text = arguments.map_or("nothing", RawJson::as_str);
                    let note = Json::constant("\"called\"");
                    let note = LoggingMessage::new(LoggingLevel::Info, note);
                    engine
                        .log(Some(call.token.key()), &note, out)
                        .expect("room");
                    let content = [ContentBlock::text(text)];
                    let result = CallToolResult::new(&content).failed(tool == 2);
                    engine.reply(call.token, &result, out)
                }
                CallRequest::Resource {
                    target: ResourceTarget::Fixed(at),
                    ..
                } => {
                    let uri = &*RESOURCES[at].uri;
                    let contents = [ResourceContents::text(uri, "text")];
                    engine.reply(call.token, &ReadResourceResult::new(&contents), out)
                }
                CallRequest::Prompt { .. } => {
                    let messages = [PromptMessage::new(Role::User, ContentBlock::text("Hello"))];
                    engine.reply(call.token, &GetPromptResult::new(&messages), out)
                }
                other => panic!("{other:?}"),
            };
            sent.expect("room");
        }
        self.take()
    }

    fn finish_waiting(&mut self) -> String {
        for token in self.waiting.drain(..) {
            let content = [ContentBlock::text("done")];
            let out = &mut Lines::new(&mut self.out);
            // One that was cancelled is stale.
            let _ = self
                .server
                .engine_mut()
                .reply(token, &CallToolResult::new(&content), out);
        }
        self.take()
    }

    fn announce(&mut self, change: Change<'_>) -> String {
        let engine = self.server.engine_mut();
        engine.announce(change);
        while engine
            .next_notification(&mut Lines::new(&mut self.out))
            .expect("room")
        {}
        self.take()
    }

    fn take(&mut self) -> String {
        let said = std::str::from_utf8(&self.out).expect("UTF-8").to_owned();
        self.out.clear();
        said
    }
}

fn small() -> Host<Small> {
    Host::new(ServerEngine::with_memory(&CATALOG, Limits::DEFAULT, 1))
}

const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"debug"}"#;

fn modern(id: &str, method: &str, params: &str) -> String {
    let comma = if params.is_empty() { "" } else { "," };
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{META}{comma}{params}}}}}"#
    )
}

#[cfg(feature = "alloc")]
fn initialize(version: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{version}","capabilities":{{}},"clientInfo":{{"name":"c","version":"1"}}}}}}"#
    )
}

/// Whatever is within the limits of both.
#[cfg(feature = "alloc")]
#[test]
fn the_same_answers_as_with_tables_that_grow() {
    use std::sync::Arc;

    let catalog = CATALOG.build().expect("a sound catalog");
    let limits = *small().server.engine().limits();
    let mut growing = Host::new(ServerEngine::new(Arc::new(catalog), limits, 1));
    let mut fixed = small();
    let mut lines = vec![
        modern("1", "server/discover", ""),
        modern("2", "tools/list", ""),
        modern("3", "resources/list", ""),
        modern("4", "resources/templates/list", ""),
        modern("5", "prompts/list", ""),
        modern("6", "tools/call", r#""name":"echo","arguments":{"a":"\u00e9"}"#),
        modern("\"7\\u0061\"", "tools/call", r#""name":"e\u0063ho""#),
        modern("8", "tools/call", r#""name":"fail""#),
        modern("9", "tools/call", r#""name":"none\u0020such""#),
        modern("10", "resources/read", r#""uri":"note://\u00e9""#),
        modern("11", "resources/read", r#""uri":"note://z""#),
        modern("12", "prompts/get", r#""name":"greet","arguments":{"name":"Ada"}"#),
        modern("13", "prompts/get", r#""name":"greet""#),
        modern("14", "no/such", ""),
        modern("15", "tools/list", r#""cursor":"0""#),
        modern("1.5", "tools/list", ""),
        modern("\"an id that is too long\"", "tools/list", ""),
        modern("16", "tools/call", r#""name":"later""#),
        modern("17", "tools/call", r#""name":"later""#),
        modern("18", "tools/call", r#""name":"later""#),
        modern("17", "tools/call", r#""name":"later""#),
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":16}}"#.into(),
        modern("19", "subscriptions/listen", r#""notifications":{"toolsListChanged":true,"resourceSubscriptions":["note://\u00e9","note://a"]}"#),
        modern("20", "subscriptions/listen", r#""notifications":{"toolsListChanged":true,"toolsListChanged":true}"#),
        modern("21", "subscriptions/listen", r#""notifications":{"resourceSubscriptions":[1]}"#),
        modern("22", "subscriptions/listen", r#""notifications":{"toolsListChanged":true}"#),
        initialize("2025-03-26"),
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.into(),
        initialize("2025-11-25"),
        r#"{"jsonrpc":"2.0","id":30,"method":"ping"}"#.into(),
        r#"{"jsonrpc":"2.0","id":31,"method":"tools/list"}"#.into(),
        r#"{"jsonrpc":"2.0","id":32,"method":"resources/subscribe","params":{"uri":"note://b"}}"#.into(),
        r#"{"jsonrpc":"2.0","id":33,"method":"resources/unsubscribe","params":{"uri":"note://b"}}"#.into(),
        r#"{"jsonrpc":"2.0","id":34,"method":"logging/setLevel","params":{"level":"emerg\u0065ncy"}}"#.into(),
        r#"{"jsonrpc":"2.0","id":35,"method":"tools/call","params":{"name":"echo"}}"#.into(),
        r#"[{"jsonrpc":"2.0","id":36,"method":"ping"}]"#.into(),
        r#"{"jsonrpc":"2.0","id":7,"result":{}}"#.into(),
        r#"{"jsonrpc":"2.0","id":37,"meth"#.into(),
        "]".into(),
    ];
    lines.push("[".repeat(200));
    let mut answers = 0;
    for line in &lines {
        let said = growing.say(line);
        assert_eq!(fixed.say(line), said, "{line}");
        answers += said.lines().count();
    }
    assert_eq!(fixed.finish_waiting(), growing.finish_waiting());
    for change in [
        Change::ToolsList,
        Change::ToolsList,
        Change::ResourceUpdated("note://é"),
        Change::ResourceUpdated("note://a"),
        Change::ResourceUpdated("note://b"),
        Change::PromptsList,
    ] {
        let said = growing.announce(change);
        assert_eq!(fixed.announce(change), said);
        answers += said.lines().count();
    }
    assert!(answers > 38, "{answers}: they answered");
}

#[test]
fn what_there_is_no_room_for_is_refused_and_nothing_else_is_hurt() {
    let mut host = small();
    assert_eq!(host.server.engine().limits().max_in_flight, 2);
    for id in ["1", "2"] {
        assert_eq!(host.say(&modern(id, "tools/call", r#""name":"later""#)), "");
    }
    let busy = host.say(&modern("3", "tools/call", r#""name":"echo""#));
    assert!(busy.contains(r#""id":3,"error":{"code":-32603"#), "{busy}");
    let busy = host.say(&modern(
        "3",
        "subscriptions/listen",
        r#""notifications":{"toolsListChanged":true}"#,
    ));
    assert!(busy.contains(r#""id":3,"error":{"code":-32603"#), "{busy}");
    // What needs no place is served all the same.
    assert!(
        host.say(&modern("4", "tools/list", ""))
            .contains("\"later\"")
    );
    assert_eq!(host.finish_waiting().lines().count(), 2);
    assert!(
        host.say(&modern("5", "tools/call", r#""name":"echo""#))
            .contains("result")
    );

    let long = host.say(&modern("\"longer than that\"", "tools/list", ""));
    assert!(
        long.contains(r#"{"jsonrpc":"2.0","error":{"code":-32600"#),
        "{long}"
    );
    let uris = |uris: &str| {
        let filter = format!(r#""notifications":{{"resourceSubscriptions":[{uris}]}}"#);
        modern("6", "subscriptions/listen", &filter)
    };
    let long = host.say(&uris(r#""note://longer""#));
    assert!(long.contains(r#""id":6,"error":{"code":-32602"#), "{long}");
    let many = host.say(&uris(r#""n://1","n://2","n://3""#));
    assert!(many.contains(r#""id":6,"error":{"code":-32603"#), "{many}");
    assert!(
        host.say(&uris(r#""n://1","n://2""#))
            .contains("acknowledged")
    );
    let second = host.say(&modern(
        "7",
        "subscriptions/listen",
        r#""notifications":{"toolsListChanged":true}"#,
    ));
    assert!(
        second.contains(r#""id":7,"error":{"code":-32603"#),
        "{second}"
    );
}

/// Exactly with an allocator, and as exactly as 15 digits are without.
#[test]
fn floats_read_back() {
    for value in [
        0.5,
        -0.1,
        1.0,
        -3.25,
        0.123_456_789_012_345,
        1e300,
        5e-324,
        1.5e-7,
        2e16,
    ] {
        let mut out = heapless::Vec::<u8, 64>::new();
        let mut json = mcp_core::json::Writer::new(&mut out);
        json.float(value);
        json.finish().expect("room");
        let read: f64 = std::str::from_utf8(&out)
            .expect("ASCII")
            .parse()
            .expect("a number");
        assert!(
            (read - value).abs() <= value.abs() * 1e-13,
            "{value}: {read}"
        );
    }
}

/// Through more changes than the queue of what is due has places.
#[test]
fn what_is_due_is_told_once_and_in_order_however_often_round() {
    let mut host = small();
    host.say(&modern(
        "1",
        "subscriptions/listen",
        r#""notifications":{"toolsListChanged":true,"resourceSubscriptions":["n://1","n://2"]}"#,
    ));
    for _ in 0..20 {
        let engine = host.server.engine_mut();
        for _ in 0..3 {
            engine.announce(Change::ResourceUpdated("n://2"));
            engine.announce(Change::ToolsList);
            engine.announce(Change::ResourceUpdated("n://1"));
        }
        let told = host.announce(Change::ToolsList);
        let told: Vec<&str> = told.lines().collect();
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[0].contains("n://2") && told[2].contains("n://1"));
    }
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    host.server.engine_mut().announce(Change::ToolsList);
    host.say(cancel);
    assert_eq!(host.announce(Change::ResourceUpdated("n://1")), "");
}

#[test]
fn pages_of_a_catalog_that_is_written_as_it_is_asked_for() {
    let two = core::num::NonZeroUsize::new(2).expect("two");
    let catalog = CATALOG.clone().page_size(two);
    let mut host: Host<Fixed<'_>> =
        Host::new(ServerEngine::with_memory(&catalog, Limits::DEFAULT, 1));
    let first = host.say(&modern("1", "tools/list", ""));
    assert!(
        first.contains("\"echo\"") && !first.contains("\"fail\""),
        "{first}"
    );
    let (_, cursor) = first
        .split_once(r#""nextCursor":""#)
        .expect("there is more");
    let (cursor, _) = cursor.split_once('"').expect("a string");
    let second = host.say(&modern(
        "2",
        "tools/list",
        &format!(r#""cursor":"{cursor}""#),
    ));
    assert!(
        second.contains("\"fail\"") && !second.contains("\"echo\""),
        "{second}"
    );
    assert!(!second.contains("nextCursor"));
    let other = host.say(&modern(
        "3",
        "resources/list",
        &format!(r#""cursor":"{cursor}""#),
    ));
    assert!(other.contains("-32602"), "{other}");
}

#[test]
fn an_answer_that_does_not_fit_is_blocked_and_can_be_given_later() {
    let mut server =
        StdioServer::<Small>::new(ServerEngine::with_memory(&CATALOG, Limits::DEFAULT, 1));
    let line = modern("1", "tools/list", "") + "\n";
    let mut out = heapless::Vec::<u8, 64>::new();
    let step = server.receive(line.as_bytes(), &mut out);
    assert!(matches!(step.incoming, Some(Incoming::Blocked)));
    assert_eq!((step.consumed, out.len()), (0, 0));
    // It will never fit here: something shorter does.
    let mut short = heapless::Vec::<u8, 128>::new();
    let step = server.give_up(line.as_bytes(), &mut short);
    assert!(matches!(step.incoming, Some(Incoming::Rejected(_))));
    assert_eq!(step.consumed, line.len());
    let text = core::str::from_utf8(&short).expect("UTF-8");
    assert!(
        text.starts_with(r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32603"#),
        "{text}"
    );
    let mut out = heapless::Vec::<u8, 2048>::new();
    let step = server.receive(line.as_bytes(), &mut out);
    assert_eq!(step.consumed, line.len());
    assert!(out.ends_with(b"}\n"));
}
