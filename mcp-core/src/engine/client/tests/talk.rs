//! The two roles with each other, in every revision: no streams, no clock, only messages.

use alloc::string::ToString;
use alloc::sync::Arc;

use super::*;
use crate::engine::server::{self, CallRequest, Catalog, Change, ServerEngine};
use crate::json::Json;
use crate::model::{
    CallToolRequestParams, CallToolResult, ContentBlock, InputRequest, InputRequiredResult,
    Progress, Tool,
};

struct Talk {
    stage: Stage,
    server: ServerEngine,
}

/// What the client was told, in a few words.
type Told = Vec<String>;

impl Talk {
    fn new(mode: EraMode) -> Self {
        let mut config = config();
        config.capabilities = ClientCapabilities::ROOTS;
        config.mode = mode;
        let named = Implementation::new("s", "2");
        let schema = Json::parse(br#"{"type":"object"}"#).expect("JSON");
        let tools = [Tool::new("t", schema)];
        let catalog = Catalog::builder(&named)
            .tools(&tools)
            .tools_list_changed(true)
            .build()
            .expect("nothing to refuse");
        Self {
            stage: Stage::new(config),
            server: ServerEngine::new(Arc::new(catalog), Limits::DEFAULT, 9),
        }
    }

    /// Passes messages to and fro until both are silent. Tools answer with what they were given; one that is given
    /// nothing asks for roots first.
    fn run(&mut self) -> Told {
        let mut told = Told::new();
        loop {
            let mut said = Vec::new();
            for message in self.stage.sent() {
                let lines = &mut Lines::new(&mut said);
                let incoming = self.server.receive(message.as_bytes(), lines);
                self.serve(incoming, &mut said);
            }
            while self
                .server
                .next_notification(&mut Lines::new(&mut said))
                .expect("room")
            {}
            if said.is_empty() {
                return told;
            }
            let said = String::from_utf8(said).expect("UTF-8");
            for message in said.lines() {
                let now = self.stage.now;
                let word = match self.stage.hear(message) {
                    Incoming::Answer { outcome, .. } => match outcome {
                        Outcome::Complete(result) => short(result),
                        Outcome::InputRequired(result) => {
                            ["asked: ".into(), short(result)].concat()
                        }
                        other => format!("{other:?}"),
                    },
                    Incoming::Request(request) => {
                        let roots = RawJson::parse(br#"{"roots":[]}"#).expect("JSON");
                        let out = &mut Lines::new(&mut self.stage.out);
                        let answered = self.stage.client.reply(request.token, &roots, out);
                        assert_eq!(answered, Ok(()), "{now:?}");
                        format!("{:?}", request.kind)
                    }
                    Incoming::Progress { progress, .. } => {
                        format!("progress {}", progress.progress)
                    }
                    Incoming::Notification(notification) => format!("{:?}", notification.kind),
                    Incoming::Handled => continue,
                    other => format!("{other:?}"),
                };
                told.push(word);
            }
        }
    }

    fn serve(&mut self, incoming: server::Incoming<'_>, said: &mut Vec<u8>) {
        let out = &mut Lines::new(said);
        let call = match incoming {
            server::Incoming::Call(call) => call,
            server::Incoming::Handled
            | server::Incoming::Answer(_)
            | server::Incoming::Cancelled(_) => return,
            other => panic!("{other:?}"),
        };
        let CallRequest::Tool { arguments, .. } = call.request else {
            panic!("{call:?}");
        };
        if arguments.is_none() && call.input_responses.is_none() {
            if call.version.era() == Era::Legacy {
                let asked =
                    self.server
                        .request(Some(call.token.key()), &InputRequest::ListRoots, out);
                asked.expect("declared");
            } else {
                let wanted = InputRequiredResult {
                    request_state: Some("a\u{0}\"é".into()),
                    ..InputRequiredResult::default()
                };
                self.server
                    .require_input(call.token, &wanted, out)
                    .expect("modern");
                return;
            }
        }
        for amount in [0.5, 1.0] {
            let progress = Progress::new(amount);
            self.server
                .progress(call.token.key(), &progress, out)
                .expect("in flight");
        }
        let state = call.request_state.map(|state| state.decode().into_owned());
        let text = arguments.map_or_else(
            || state.unwrap_or_default(),
            |arguments| arguments.as_str().to_string(),
        );
        let result = CallToolResult::new([ContentBlock::text(text)].to_vec());
        self.server
            .reply(call.token, &result, out)
            .expect("in flight");
    }
}

fn short(result: RawJson<'_>) -> String {
    let content = super::super::detect::member(result, "content");
    content.unwrap_or(result).as_str().into()
}

const PROGRESS: fn() -> CallOptions<'static> = || CallOptions {
    progress: true,
    ..CallOptions::default()
};

#[test]
fn a_modern_talk() {
    for mode in [EraMode::Auto, EraMode::Modern(ProtocolVersion::V2026_07_28)] {
        let mut talk = Talk::new(mode);
        assert_eq!(talk.run(), ["Connected"]);
        assert_eq!(
            talk.stage.client.version(),
            Some(ProtocolVersion::V2026_07_28)
        );
        let now = talk.stage.now;
        // A typed call.
        let mut params = CallToolRequestParams::new("t");
        params.arguments = Some(Json::parse(br#"{"a":1}"#).expect("JSON"));
        let out = &mut Lines::new(&mut talk.stage.out);
        let called = talk
            .stage
            .client
            .call(now, "tools/call", &params, &PROGRESS(), out);
        called.expect("sent");
        let echo = r#"[{"type":"text","text":"{\"a\":1}"}]"#;
        assert_eq!(talk.run(), ["progress 0.5", "progress 1", echo]);
        // One that asks first, and is asked again with its state.
        let name = r#"{"name":"t"}"#;
        talk.stage
            .call_with("tools/call", name, &PROGRESS())
            .expect("sent");
        let told = talk.run();
        assert_eq!(told.len(), 1, "{told:?}");
        let asked = told[0].strip_prefix("asked: ").expect("it asks");
        let asked = RawJson::parse(asked.as_bytes()).expect("JSON");
        let state = super::super::detect::member(asked, "requestState");
        assert!(state.is_some());
        let options = CallOptions {
            input_responses: Some(RawJson::parse(b"{}").expect("JSON")),
            request_state: state,
            ..CallOptions::default()
        };
        talk.stage
            .call_with("tools/call", name, &options)
            .expect("sent");
        assert_eq!(
            talk.run(),
            ["[{\"type\":\"text\",\"text\":\"a\\u0000\\\"é\"}]"]
        );
        // A subscription.
        let filter = r#"{"notifications":{"toolsListChanged":true}}"#;
        let options = CallOptions::default();
        talk.stage
            .call_with("subscriptions/listen", filter, &options)
            .expect("sent");
        assert_eq!(talk.run(), ["Acknowledged"]);
        talk.server.announce(Change::ToolsList);
        assert_eq!(talk.run(), ["ToolsChanged"]);
        let mut said = Vec::new();
        talk.server
            .end_subscriptions(&mut Lines::new(&mut said))
            .expect("room");
        let said = String::from_utf8(said).expect("UTF-8");
        let ended = said
            .lines()
            .filter(|line| matches!(talk.stage.hear(line), Incoming::Answer { .. }));
        assert_eq!(ended.count(), 1, "{said}");
        assert_eq!(talk.stage.client.pending(), 0);
        assert_eq!(talk.stage.client.counters().rejected, 0);
    }
}

#[test]
fn a_legacy_talk_in_each_revision() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let version = ProtocolVersion::parse(version).expect("known");
        let mut talk = Talk::new(EraMode::Legacy(version));
        assert_eq!(talk.run(), ["Connected"]);
        assert_eq!(talk.stage.client.version(), Some(version));
        talk.stage.call("ping").expect("sent");
        assert_eq!(talk.run(), ["{}"]);
        let params = r#"{"name":"t","arguments":{"a":1}}"#;
        talk.stage
            .call_with("tools/call", params, &PROGRESS())
            .expect("sent");
        let echo = r#"[{"type":"text","text":"{\"a\":1}"}]"#;
        assert_eq!(talk.run(), ["progress 0.5", "progress 1", echo]);
        // One that asks on the way.
        talk.stage
            .call_with("tools/call", r#"{"name":"t"}"#, &PROGRESS())
            .expect("sent");
        let empty = r#"[{"type":"text","text":""}]"#;
        assert_eq!(
            talk.run(),
            ["ListRoots", "progress 0.5", "progress 1", empty]
        );
        talk.server.announce(Change::ToolsList);
        assert_eq!(talk.run(), ["ToolsChanged"]);
        assert_eq!(*talk.stage.client.counters(), Counters::default());
        assert_eq!((talk.stage.client.pending(), talk.server.pending()), (0, 0));
    }
}
