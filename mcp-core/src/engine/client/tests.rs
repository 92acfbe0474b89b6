//! A server in the hands of the test: it sees what the client sends and says what it likes, and time is what it says.
#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "a test that gets another variant, whichever it is, has failed"
)]

mod answers;
mod asked;
mod calls;
mod detection;
mod noise;
mod schedules;
mod talk;
mod time;

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::*;
use crate::frame::Lines;
use crate::json::RawJson;
use crate::model::Implementation;

const MS: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);

/// What the client is given, and what it said.
struct Stage {
    client: ClientEngine,
    now: Instant,
    out: Vec<u8>,
}

fn config() -> ClientConfig {
    ClientConfig::new(Implementation::new("c", "1"))
}

impl Stage {
    fn new(config: ClientConfig) -> Self {
        Self::limited(config, Limits::DEFAULT)
    }

    fn limited(config: ClientConfig, limits: Limits) -> Self {
        let mut stage = Self {
            client: ClientEngine::new(config, limits, 7),
            now: Instant::from_micros(1_700_000_000_000_000),
            out: Vec::new(),
        };
        stage
            .client
            .connect(stage.now, &mut Lines::new(&mut stage.out))
            .expect("room");
        stage
    }

    /// Connected to a modern server with all capabilities.
    fn modern() -> Self {
        Self::modern_with(config())
    }

    fn modern_with(config: ClientConfig) -> Self {
        let mut stage = Self::new(config);
        assert!(stage.sent()[0].contains(r#""method":"server/discover""#));
        let answer = discovered("[\"2026-07-28\"]", ALL);
        let incoming = stage.hear(&answer);
        assert!(matches!(incoming, Incoming::Connected), "{incoming:?}");
        stage
    }

    /// Connected to a legacy server of this version with all capabilities.
    fn legacy(version: &str) -> Self {
        Self::legacy_with(config(), version)
    }

    fn legacy_with(mut config: ClientConfig, version: &str) -> Self {
        config.mode = EraMode::Legacy(ProtocolVersion::LATEST_LEGACY);
        let mut stage = Self::new(config);
        assert!(stage.sent()[0].contains(r#""method":"initialize""#));
        let answer = initialized(0, version, ALL);
        let incoming = stage.hear(&answer);
        assert!(matches!(incoming, Incoming::Connected), "{incoming:?}");
        assert_eq!(
            stage.sent(),
            [r#"{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}"#]
        );
        stage
    }

    /// What has been sent since the last time, line by line.
    fn sent(&mut self) -> Vec<String> {
        let text = String::from_utf8(core::mem::take(&mut self.out)).expect("UTF-8");
        assert!(text.is_empty() || text.ends_with('\n'), "{text}");
        for line in text.lines() {
            RawJson::parse(line.as_bytes()).expect("what is sent is JSON");
        }
        text.lines().map(ToOwned::to_owned).collect()
    }

    /// The server says this.
    fn hear<'b>(&mut self, message: &'b str) -> Incoming<'b> {
        self.client
            .receive(self.now, message.as_bytes(), &mut Lines::new(&mut self.out))
    }

    /// The server says something too long that begins so.
    fn too_long<'b>(&mut self, start: &'b str) -> Incoming<'b> {
        self.client
            .too_long(self.now, start.as_bytes(), &mut Lines::new(&mut self.out))
    }

    fn call(&mut self, method: &str) -> Result<RequestKey, CallError> {
        self.call_with(method, "{}", &CallOptions::default())
    }

    fn call_with(
        &mut self,
        method: &str,
        params: &str,
        options: &CallOptions<'_>,
    ) -> Result<RequestKey, CallError> {
        let params = RawJson::parse(params.as_bytes()).expect("JSON");
        self.client.call(
            self.now,
            method,
            &params,
            options,
            &mut Lines::new(&mut self.out),
        )
    }

    /// So much later, and not called in between.
    fn wait(&mut self, time: Duration) -> Vec<Event> {
        self.now = self.now + time;
        self.client
            .handle_timeout(self.now, &mut Lines::new(&mut self.out))
            .expect("room");
        self.events()
    }

    /// When it has something to do next, as often as it likes, until something has happened.
    fn sleep(&mut self) -> Vec<Event> {
        for _ in 0..100 {
            let Some(at) = self.client.poll_timeout() else {
                break;
            };
            self.now = self.now.max(at);
            let events = self.wait(Duration::ZERO);
            if !events.is_empty() || !self.out.is_empty() {
                return events;
            }
        }
        panic!("it never wakes up");
    }

    fn events(&mut self) -> Vec<Event> {
        core::iter::from_fn(|| self.client.poll_event()).collect()
    }
}

const ALL: &str = r#"{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"completions":{},"logging":{}}"#;

fn discovered(versions: &str, capabilities: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"result":{{"resultType":"complete","supportedVersions":{versions},"capabilities":{capabilities},"ttlMs":0,"cacheScope":"private","instructions":"be\tkind","_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"s","version":"2"}}}}}}}}"#
    )
}

fn initialized(id: u64, version: &str, capabilities: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"protocolVersion":"{version}","capabilities":{capabilities},"serverInfo":{{"name":"s","version":"2"}}}}}}"#
    )
}

fn error(id: u64, code: i64, data: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":"no","data":{data}}}}}"#
    )
}

fn result(id: u64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#)
}

/// The id of a request that was sent.
fn id_of(message: &str) -> u64 {
    let message = RawJson::parse(message.as_bytes()).expect("JSON");
    let id = super::detect::member(message, "id").expect("a request");
    id.as_number().and_then(|id| id.as_u64()).expect("a number")
}

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound.max(1)
    }
}
