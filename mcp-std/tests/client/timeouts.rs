//! What takes too long (OR-05, TMO-01, TMO-02).

use core::time::Duration;
use std::time::Instant;

use mcp_std::client::{CallError, CallOptions, ClosedReason, Timeout, Timeouts};
use serde_json::json;

use crate::peer::{MOMENT, Peer, builder, complete, with};

#[test]
fn id_07_hm_06_silence_ends_a_call_and_the_server_is_told() {
    let script = |peer: &mut Peer| {
        peer.modern();
        let call = peer.expect("tools/call");
        let cancelled = peer.expect("notifications/cancelled");
        assert_eq!(cancelled["params"]["requestId"], call["id"]);
        peer.answer(&call, &complete(json!({"content": []})));
        peer.serve("tools/call", &complete(json!({"content": []})));
        peer.ends();
    };
    with(builder(), script, async |client| {
        let options = CallOptions::new().timeout(MOMENT);
        let error = client.call_tool_with("x", &(), options).await;
        let error = error.expect_err("it is silent");
        assert!(
            matches!(error, CallError::Timeout(Timeout::Request(MOMENT))),
            "{error}"
        );
        assert!(
            error.to_string().contains("CallOptions::timeout"),
            "{error}"
        );
        client.call_tool("x", &()).await.expect("it answers");
    });
}

#[test]
fn progress_gives_a_call_more_time_but_not_for_ever() {
    let script = |peer: &mut Peer| {
        peer.modern();
        let call = peer.expect("tools/call");
        let token = call["params"]["_meta"]["progressToken"].clone();
        for progress in 1..=12 {
            std::thread::sleep(MOMENT / 2);
            let params = json!({"progressToken": token, "progress": progress});
            peer.notify("notifications/progress", &params);
        }
        peer.expect("notifications/cancelled");
        peer.ends();
    };
    with(builder(), script, async |client| {
        let options = CallOptions::new()
            .timeout(2 * MOMENT)
            .max_total(4 * MOMENT)
            .on_progress(|_| {});
        let started = Instant::now();
        let error = client.call_tool_with("x", &(), options).await;
        let error = error.expect_err("there is a limit");
        assert!(
            matches!(error, CallError::Timeout(Timeout::Total(_))),
            "{error}"
        );
        assert!(started.elapsed() >= 4 * MOMENT);
    });
}

#[test]
fn a_server_that_is_silent_is_asked_whether_it_is_there() {
    for (legacy, method) in [(true, "ping"), (false, "server/discover")] {
        let script = move |peer: &mut Peer| {
            if legacy {
                peer.legacy("2025-11-25");
            } else {
                peer.modern();
            }
            for _ in 0..2 {
                let result = if legacy {
                    json!({})
                } else {
                    crate::peer::discovery()
                };
                peer.serve(method, &result);
            }
            peer.expect(method);
            while peer.next().is_some() {}
        };
        let mut timeouts = Timeouts::DEFAULT;
        timeouts.idle = Some(MOMENT);
        timeouts.request = MOMENT;
        with(builder().timeouts(timeouts), script, async |client| {
            let started = Instant::now();
            while client.closed().is_none() {
                smol::Timer::after(MOMENT / 10).await;
                assert!(started.elapsed() < Duration::from_secs(10));
            }
            assert!(started.elapsed() >= 3 * MOMENT);
            let closed = client.closed().expect("it is");
            assert!(
                matches!(closed.reason(), ClosedReason::Silent(MOMENT)),
                "{closed}"
            );
            let error = client.call_tool("x", &()).await;
            assert!(matches!(error, Err(CallError::Closed(_))));
        });
    }
}

#[test]
fn a_server_that_talks_and_does_not_answer_is_there() {
    let script = |peer: &mut Peer| {
        peer.legacy("2025-11-25");
        peer.expect("ping");
        for _ in 0..12 {
            std::thread::sleep(MOMENT / 4);
            peer.notify("notifications/tools/list_changed", &json!({}));
        }
        while let Some(message) = peer.next() {
            if message.get("id").is_some() {
                peer.answer(&message, &json!({"content": []}));
            }
        }
    };
    let mut timeouts = Timeouts::DEFAULT;
    timeouts.idle = Some(MOMENT);
    timeouts.request = MOMENT;
    with(builder().timeouts(timeouts), script, async |client| {
        smol::Timer::after(5 * MOMENT).await;
        assert!(client.closed().is_none(), "{:?}", client.closed());
        client.call_tool("x", &()).await.expect("it answers again");
    });
}
