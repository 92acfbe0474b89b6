//! Messages with bytes changed, cut and joined: whatever comes, nothing panics, what is sent is whole, and each call ends
//! exactly once.

use alloc::collections::BTreeSet;

use super::*;

const SAID: [&str; 14] = [
    r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","content":[]}}"#,
    r#"{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"no","data":{"supported":["2025-06-18"]}}}"#,
    r#"{"jsonrpc":"2.0","id":3,"result":{"resultType":"input_required","requestState":"x"}}"#,
    r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","id":0,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":0.5,"total":1,"message":"m"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"r"}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a:b","_meta":{"io.modelcontextprotocol/subscriptionId":4}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":4},"notifications":{}}}"#,
    r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":9,"method":"elicitation/create","params":{"mode":"url","message":"m","url":"u"}}"#,
    r#"{"jsonrpc":"2.0","id":9,"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1,"tools":[]}}"#,
    r#"[{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":"b","method":"ping"}]"#,
    r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}"#,
];

/// Takes note of what ended, of this message and of a batch in it.
fn take(
    client: &mut ClientEngine,
    now: Instant,
    incoming: Incoming<'_>,
    out: &mut Vec<u8>,
    ended: &mut Vec<RequestKey>,
) {
    match incoming {
        Incoming::Answer { key, .. } => ended.push(key),
        Incoming::Batch(mut batch) => {
            while let Some(incoming) = client.next_in_batch(now, &mut batch, &mut Lines::new(out)) {
                take(client, now, incoming, out, ended);
            }
        }
        // Half of the server's requests are answered, the others kept waiting.
        Incoming::Request(request) if now.as_micros().is_multiple_of(2) => {
            let params = RawJson::parse(b"{}").expect("JSON");
            let answered = client.reply(request.token, &params, &mut Lines::new(out));
            assert_eq!(answered, Ok(()));
        }
        _ => {}
    }
}

#[test]
fn nothing_that_is_said_breaks_the_client() {
    for seed in 0..3_000 {
        let mut random = Random(seed);
        let mut all = config();
        all.capabilities = ClientCapabilities::ROOTS
            | ClientCapabilities::SAMPLING_TOOLS
            | ClientCapabilities::ELICITATION_URL;
        let mut stage = match random.below(4) {
            0 => Stage::new(all),
            1 => Stage::modern_with(all),
            2 => Stage::legacy_with(all, "2025-03-26"),
            _ => Stage::legacy_with(all, "2025-11-25"),
        };
        let (mut sent, mut ended) = (BTreeSet::new(), Vec::new());
        for _ in 0..40 {
            if random.below(3) == 0 {
                let methods = ["tools/call", "subscriptions/listen", "tools/list"];
                let options = CallOptions {
                    progress: true,
                    ..CallOptions::default()
                };
                let method = methods[random.below(3) as usize];
                if let Ok(key) = stage.call_with(method, "{}", &options) {
                    sent.insert(format!("{key:?}"));
                }
            }
            let mut message = SAID[random.below(14) as usize].as_bytes().to_vec();
            for _ in 0..random.below(4) {
                let at = random.below(message.len() as u64) as usize;
                match random.below(5) {
                    0 => message[at] = random.below(256) as u8,
                    // More likely to be JSON still.
                    1 => message[at] = b"0123456789\"{}[],:ntf"[random.below(20) as usize],
                    2 if message.len() > 1 => drop(message.remove(at)),
                    3 => message.truncate(at.max(1)),
                    _ => {
                        let other = SAID[random.below(14) as usize].as_bytes();
                        message.splice(at..at, other.iter().copied());
                    }
                }
            }
            stage.now = stage.now + MS * random.below(3_000) as u32;
            let (now, out) = (stage.now, &mut stage.out);
            let incoming = stage.client.receive(now, &message, &mut Lines::new(out));
            take(&mut stage.client, now, incoming, out, &mut ended);
            for event in stage.wait(Duration::ZERO) {
                if let Event::TimedOut { key, .. } = event {
                    ended.push(key);
                }
            }
            // Checks that it is whole.
            stage.sent();
        }
        stage.client.lost();
        for event in stage.events() {
            if let Event::Closed(key) = event {
                ended.push(key);
            }
        }
        let ended: Vec<_> = ended.iter().map(|key| format!("{key:?}")).collect();
        let once: BTreeSet<_> = ended.iter().cloned().collect();
        assert_eq!(once.len(), ended.len(), "seed {seed}: some ended twice");
        assert_eq!(once, sent, "seed {seed}");
    }
}
