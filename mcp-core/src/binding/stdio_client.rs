//! stdio, from the client's side: the server's output in, lines for its input out.

use crate::engine::client::{ClientEngine, Incoming};
use crate::frame::{LineFramer, LineOutcome, LineStep, Lines};
use crate::json::Sink;
use crate::time::Instant;

/// A client on a pair of byte streams: an engine, and the lines around its messages.
///
/// Calls and other commands go to [`engine_mut`](Self::engine_mut), with [`Lines`] around the same output.
///
/// ```text
///  input   [ line \n line \n li|ne …            receive() takes one line, says how many bytes are used up
///  output  { … }\n{ … }\n                       whole lines: the engine writes through `Lines`
/// ```
#[derive(Debug)]
pub struct StdioClient {
    framer: LineFramer,
    engine: ClientEngine,
}

/// What one call of [`StdioClient::receive`] did.
#[derive(Debug)]
#[must_use = "`consumed` bytes are not to be offered again"]
#[non_exhaustive]
pub struct ClientStep<'b> {
    /// So many bytes of the input are used up.
    pub consumed: usize,
    /// What came of the message among them; `None`: no whole message is there, more input is needed.
    pub incoming: Option<Incoming<'b>>,
}

impl StdioClient {
    /// Puts an engine on a stream.
    #[must_use]
    pub const fn new(engine: ClientEngine) -> Self {
        Self {
            framer: LineFramer::new(engine.limits().max_message),
            engine,
        }
    }

    /// The engine.
    #[must_use]
    pub const fn engine(&self) -> &ClientEngine {
        &self.engine
    }

    /// The engine, to be commanded. Its output belongs in [`Lines`].
    pub const fn engine_mut(&mut self) -> &mut ClientEngine {
        &mut self.engine
    }

    /// A buffer of so many bytes holds any message: fewer are left unconsumed when more input is needed.
    #[must_use]
    pub const fn window(&self) -> usize {
        self.framer.window()
    }

    /// Takes at most one message from `input`, which starts at the first byte not yet reported as consumed.
    ///
    /// What is not a message is counted and passed over, lines that are too long included. If there is no room for an
    /// answer ([`Incoming::Blocked`]) nothing is consumed.
    pub fn receive<'b, S: Sink + ?Sized>(
        &mut self,
        now: Instant,
        input: &'b [u8],
        out: &mut S,
    ) -> ClientStep<'b> {
        self.take(LineFramer::next, now, input, out)
    }

    /// The same when no more input will come: a last line without a line end is a message too. To be called until
    /// `incoming` is `None`; then it is time for [`ClientEngine::lost`].
    pub fn finish<'b, S: Sink + ?Sized>(
        &mut self,
        now: Instant,
        rest: &'b [u8],
        out: &mut S,
    ) -> ClientStep<'b> {
        self.take(LineFramer::finish, now, rest, out)
    }

    fn take<'b, S: Sink + ?Sized>(
        &mut self,
        next: fn(&mut LineFramer, &'b [u8]) -> LineStep<'b>,
        now: Instant,
        input: &'b [u8],
        out: &mut S,
    ) -> ClientStep<'b> {
        let before = self.framer.clone();
        let LineStep { consumed, outcome } = next(&mut self.framer, input);
        let incoming = match outcome {
            LineOutcome::NeedMore => None,
            LineOutcome::Line(line) => Some(self.engine.receive(now, line, &mut Lines::new(out))),
            LineOutcome::TooLong { start, .. } => {
                Some(self.engine.too_long(now, start, &mut Lines::new(out)))
            }
        };
        if matches!(incoming, Some(Incoming::Blocked)) {
            self.framer = before;
            return ClientStep {
                consumed: 0,
                incoming,
            };
        }
        ClientStep { consumed, incoming }
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;
    use alloc::vec::Vec;
    use core::time::Duration;

    use super::*;
    use crate::Limits;
    use crate::engine::client::{ClientConfig, Outcome};
    use crate::error::PeerFault;
    use crate::json::RawJson;
    use crate::model::Implementation;

    const NOW: Instant = Instant::ZERO;

    /// What came of a whole stream, line by line.
    fn all(client: &mut StdioClient, mut input: &[u8], out: &mut Vec<u8>) -> Vec<&'static str> {
        let mut found = Vec::new();
        loop {
            let step = client.receive(NOW, input, out);
            input = &input[step.consumed..];
            found.push(match step.incoming {
                None if step.consumed == 0 => return found,
                None => continue,
                Some(Incoming::Connected) => "connected",
                Some(Incoming::Answer {
                    outcome: Outcome::Complete(_),
                    ..
                }) => "answer",
                Some(Incoming::Rejected(_)) => "rejected",
                Some(Incoming::Handled) => "handled",
                other => panic!("{other:?}"),
            });
        }
    }

    #[test]
    fn fr_03_fr_08_a_server_that_chatters_and_answers_is_understood() {
        let mut limits = Limits::DEFAULT;
        limits.max_message = 1_000;
        let config = ClientConfig::new(Implementation::new("c", "1"));
        let mut client = StdioClient::new(ClientEngine::new(config, limits, 1));
        let mut out = Vec::new();
        let engine = client.engine_mut();
        engine
            .connect(NOW, &mut Lines::new(&mut out))
            .expect("room");
        // FR-03, FR-08, FR-09: banner, blank lines, a header, a line without end.
        let long = "x".repeat(5_000);
        let input = [
            "\n   \nExample server 1.2 running on stdio\r\nContent-Length: 40\r\n\r\n",
            r#"{"jsonrpc":"2.0","id":0,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#,
            "\r\n",
            &long,
            "\n",
        ]
        .concat();
        let found = all(&mut client, input.as_bytes(), &mut out);
        assert_eq!(found, ["rejected", "rejected", "connected", "rejected"]);
        let params = RawJson::parse(b"{}").expect("JSON");
        let engine = client.engine_mut();
        let options = Default::default();
        engine
            .call(
                NOW,
                "tools/list",
                &params,
                &options,
                &mut Lines::new(&mut out),
            )
            .expect("sent");
        assert_eq!(
            engine
                .poll_timeout()
                .map(|at| at.since(NOW) > Duration::ZERO),
            Some(true)
        );
        // The last line has no end.
        let last = br#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
        assert!(all(&mut client, last, &mut out).is_empty());
        let step = client.finish(NOW, last, &mut out);
        assert!(matches!(step.incoming, Some(Incoming::Answer { .. })));
        assert_eq!(step.consumed, last.len());
        let sent = String::from_utf8(out).expect("UTF-8");
        assert_eq!(sent.lines().count(), 2);
        assert!(sent.ends_with("}\n"), "{sent}");
    }

    #[test]
    fn an_answer_that_is_too_long_fails_its_call_however_it_is_cut() {
        let mut limits = Limits::DEFAULT;
        limits.max_message = 120;
        let answer = [
            r#"{"jsonrpc":"2.0","id":1,"result":{"text":""#,
            &"x".repeat(120),
            "\"}}\r\n",
        ]
        .concat();
        for cut in 0..answer.len() {
            let config = ClientConfig::new(Implementation::new("c", "1"));
            let mut client = StdioClient::new(ClientEngine::new(config, limits, 1));
            let mut out = Vec::new();
            let engine = client.engine_mut();
            engine
                .connect(NOW, &mut Lines::new(&mut out))
                .expect("room");
            let discovered = concat!(
                r#"{"jsonrpc":"2.0","id":0,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#,
                "\n"
            );
            let found = all(&mut client, discovered.as_bytes(), &mut out);
            assert_eq!(found, ["connected"]);
            let params = RawJson::parse(b"{}").expect("JSON");
            let options = Default::default();
            let engine = client.engine_mut();
            let call = engine.call(
                NOW,
                "tools/list",
                &params,
                &options,
                &mut Lines::new(&mut out),
            );
            let call = call.expect("sent");
            let mut ended = Vec::new();
            let mut held = 0;
            for read in [cut, answer.len()] {
                loop {
                    let step = client.receive(NOW, &answer.as_bytes()[held..read], &mut out);
                    held += step.consumed;
                    match step.incoming {
                        None => break,
                        Some(Incoming::Answer {
                            key,
                            outcome: Outcome::Invalid(fault),
                        }) => ended.push((key, fault)),
                        other => panic!("{cut}: {other:?}"),
                    }
                }
            }
            assert_eq!(ended, [(call, PeerFault::TooLong { limit: 120 })], "{cut}");
            assert_eq!(held, answer.len());
        }
    }

    #[test]
    fn a_blocked_message_is_offered_again() {
        let mut config = ClientConfig::new(Implementation::new("c", "1"));
        config.mode =
            crate::engine::client::EraMode::Legacy(crate::model::ProtocolVersion::V2025_06_18);
        let mut client = StdioClient::new(ClientEngine::new(config, Limits::DEFAULT, 1));
        let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
        // Room for the message, but not for its line end.
        let mut small = heapless::Vec::<u8, 36>::new();
        let step = client.receive(NOW, ping, &mut small);
        assert!(matches!(step.incoming, Some(Incoming::Blocked)), "{step:?}");
        assert!(step.consumed == 0 && small.is_empty());
        let mut out = Vec::new();
        let step = client.receive(NOW, ping, &mut out);
        assert_eq!(step.consumed, ping.len());
        assert_eq!(out, b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
    }
}
