//! What comes back: each answer to its call, and what is none (RPC-09, RPC-10, RES-02, RES-03, SUB-01 to SUB-13).

use super::*;
use crate::error::{EnvelopeFault, PeerFault};

/// The key and how the call ended.
#[track_caller]
fn answer(incoming: Incoming<'_>) -> (RequestKey, Outcome<'_>) {
    match incoming {
        Incoming::Answer { key, outcome } => (key, outcome),
        other => panic!("{other:?}"),
    }
}

#[test]
fn answers_find_their_calls_in_any_order_and_once() {
    let mut stage = Stage::modern();
    let keys: Vec<_> = (0..4)
        .map(|_| stage.call("tools/list").expect("sent"))
        .collect();
    for turn in [2, 0, 3, 1] {
        let message = format!(
            r#"{{"result":{{"n":{turn}}},"id":{},"jsonrpc":"2.0"}}"#,
            turn + 1
        );
        let (key, outcome) = answer(stage.hear(&message));
        assert_eq!(key, keys[turn]);
        let Outcome::Complete(result) = outcome else {
            panic!("{outcome:?}");
        };
        assert_eq!(result.as_str(), format!(r#"{{"n":{turn}}}"#));
        assert!(matches!(stage.hear(&message), Incoming::Late));
    }
    for unknown in [
        "9",
        "-1",
        "\"x\"",
        "\"01\"",
        "\"+1\"",
        "18446744073709551615",
    ] {
        let message = format!(r#"{{"jsonrpc":"2.0","id":{unknown},"result":{{}}}}"#);
        let incoming = stage.hear(&message);
        assert!(
            matches!(incoming, Incoming::Rejected(_)),
            "{unknown}: {incoming:?}"
        );
    }
    let expected = Counters {
        late: 4,
        unknown: 5,
        // Not an integer of 64 bits, so no id at all.
        rejected: 1,
        ..Counters::default()
    };
    assert_eq!(*stage.client.counters(), expected);
}

#[test]
fn id_02_an_id_that_comes_back_as_a_string_is_taken_for_the_number() {
    let mut stage = Stage::modern();
    let call = stage.call("tools/list").expect("sent");
    let (key, outcome) = answer(stage.hear(r#"{"jsonrpc":"2.0","id":"1","result":{}}"#));
    assert_eq!(key, call);
    assert!(matches!(outcome, Outcome::Complete(_)));
    assert_eq!(stage.client.counters().mistyped, 1);
}

#[test]
fn id_08_an_answer_that_is_none_fails_its_call_at_once() {
    for (text, fault) in [
        (
            r#""result":{},"error":{"code":1,"message":""}"#,
            EnvelopeFault::Ambiguous,
        ),
        (r#""result":{},"method":"ping""#, EnvelopeFault::Ambiguous),
        (
            r#""result":{},"result":{}"#,
            EnvelopeFault::Duplicate("result"),
        ),
        (r#""status":200"#, EnvelopeFault::Shapeless),
        (r#""result":null"#, EnvelopeFault::Shapeless),
        (r#""error":{"code":1.5,"message":""}"#, EnvelopeFault::Error),
        (r#""error":"no""#, EnvelopeFault::Error),
    ] {
        let mut stage = Stage::modern();
        let call = stage.call("tools/list").expect("sent");
        let message = format!(r#"{{"jsonrpc":"2.0","id":1,{text}}}"#);
        let (key, outcome) = answer(stage.hear(&message));
        assert_eq!(key, call);
        let Outcome::Invalid(found) = outcome else {
            panic!("{text}: {outcome:?}");
        };
        assert_eq!(found, PeerFault::from(fault), "{text}");
        assert_eq!(stage.client.counters().rejected, 1);
        assert_eq!(stage.client.pending(), 0);
    }
    // ID-08: null beside the other one is absent.
    let mut stage = Stage::modern();
    stage.call("tools/list").expect("sent");
    stage.call("tools/list").expect("sent");
    let message = r#"{"jsonrpc":"2.0","id":1,"result":{},"error":null}"#;
    assert!(matches!(
        answer(stage.hear(message)).1,
        Outcome::Complete(_)
    ));
    let message = r#"{"jsonrpc":"2.0","id":2,"result":null,"error":{"code":-1,"message":"no"}}"#;
    let (_, outcome) = answer(stage.hear(message));
    let Outcome::Error(error) = outcome else {
        panic!("{outcome:?}");
    };
    assert_eq!((error.code.value(), error.message.raw()), (-1, "no"));
}

#[test]
fn fr_04_id_05_noise_and_requests_with_our_ids_hurt_no_call() {
    for mut stage in [Stage::modern(), Stage::legacy("2025-11-25")] {
        let call = stage.call("tools/list").expect("sent");
        for message in [
            r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
            r#"{"id":1,"result":{}}"#,
            r#"{"id":1,"status":200}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":[]}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":7}"#,
            r#"{"jsonrpc":"2.0","id":1,"id":1,"result":{}}"#,
            r#"{"jsonrpc":"2.0","result":{}}"#,
            "{",
        ] {
            let incoming = stage.hear(message);
            assert!(
                matches!(incoming, Incoming::Rejected(_)),
                "{message}: {incoming:?}"
            );
        }
        let complaint = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"bad"}}"#;
        assert!(matches!(stage.hear(complaint), Incoming::Complaint(_)));
        for start in [
            "",
            "noise",
            r#"{"jsonrpc":"2.0","result":{"#,
            r#"{"id":1,"result":{"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"roots/list","params":{"#,
            r#"{"jsonrpc":"2.0","id":99,"result":{"#,
        ] {
            let incoming = stage.too_long(start);
            assert!(matches!(incoming, Incoming::Rejected(_)), "{incoming:?}");
        }
        assert_eq!(answer(stage.hear(&result(1))).0, call);
    }
}

#[test]
fn an_answer_above_the_limit_fails_its_call() {
    let mut stage = Stage::modern();
    let call = stage.call("tools/list").expect("sent");
    let other = stage.call("tools/list").expect("sent");
    let (key, outcome) = answer(stage.too_long(r#"{"jsonrpc":"2.0","id":2,"result":{"tools":[{"#));
    assert_eq!(key, other);
    let limit = Limits::DEFAULT.max_message;
    let expected = PeerFault::TooLong { limit };
    assert!(matches!(outcome, Outcome::Invalid(fault) if fault == expected));
    let (key, _) = answer(stage.too_long(r#"{"jsonrpc":"2.0","id":1,"error":{"#));
    assert_eq!(key, call);
    assert_eq!(
        (stage.client.pending(), stage.client.counters().rejected),
        (0, 2)
    );
}

#[test]
fn a_result_is_of_a_known_type_that_its_request_can_have() {
    let of_type = |id, value: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"resultType":{value}}}}}"#)
    };
    for method in [
        "tools/call",
        "prompts/get",
        "resources/read",
        "tools/list",
        "completion/complete",
    ] {
        let may_ask = !matches!(method, "tools/list" | "completion/complete");
        let mut stage = Stage::modern();
        for _ in 0..5 {
            stage.call(method).expect("sent");
        }
        for (id, value) in [(1, "\"complete\""), (2, "null"), (3, "\"compl\\u0065te\"")] {
            let message = of_type(id, value);
            let (_, outcome) = answer(stage.hear(&message));
            assert!(matches!(outcome, Outcome::Complete(_)), "{method} {value}");
        }
        let message = of_type(4, "\"input_required\"");
        let (_, outcome) = answer(stage.hear(&message));
        assert_eq!(
            matches!(outcome, Outcome::InputRequired(_)),
            may_ask,
            "{method}: {outcome:?}"
        );
        let message = of_type(5, "\"task\"");
        let (_, outcome) = answer(stage.hear(&message));
        assert!(
            matches!(outcome, Outcome::Invalid(PeerFault::ResultType)),
            "{method}: {outcome:?}"
        );
    }
    // Before 2026-07-28 it is a member like any.
    let mut stage = Stage::legacy("2025-11-25");
    stage.call("tools/call").expect("sent");
    let message = of_type(1, "\"task\"");
    assert!(matches!(
        answer(stage.hear(&message)).1,
        Outcome::Complete(_)
    ));
}

#[test]
fn a_batch_is_taken_apart_where_there_are_batches() {
    let message = r#"[{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","method":"notifications/tools/list_changed"},7,{"jsonrpc":"2.0","id":"p","method":"ping"},{"jsonrpc":"2.0","id":1,"result":{}},[]]"#;
    let take = |stage: &mut Stage| {
        let Incoming::Batch(mut batch) = stage.hear(message) else {
            panic!("a batch");
        };
        let mut texts = Vec::new();
        while let Some(incoming) =
            stage
                .client
                .next_in_batch(stage.now, &mut batch, &mut Lines::new(&mut stage.out))
        {
            texts.push(match incoming {
                Incoming::Answer {
                    outcome: Outcome::Complete(_),
                    ..
                } => "answer",
                Incoming::Answer {
                    outcome: Outcome::Invalid(_),
                    ..
                } => "failed",
                Incoming::Notification(_) => "notification",
                Incoming::Handled => "handled",
                Incoming::Rejected(_) => "rejected",
                other => panic!("{other:?}"),
            });
        }
        texts
    };
    let mut stage = Stage::legacy("2025-03-26");
    stage.call("tools/list").expect("sent");
    stage.call("tools/list").expect("sent");
    stage.sent();
    assert_eq!(
        take(&mut stage),
        [
            "answer",
            "notification",
            "rejected",
            "handled",
            "answer",
            "rejected"
        ]
    );
    assert_eq!(stage.sent(), [r#"{"jsonrpc":"2.0","id":"p","result":{}}"#]);
    // Elsewhere nobody waits for what has come.
    for mut stage in [Stage::legacy("2025-06-18"), Stage::modern()] {
        stage.call("tools/list").expect("sent");
        stage.call("tools/list").expect("sent");
        stage.sent();
        assert_eq!(
            take(&mut stage),
            [
                "failed", "rejected", "rejected", "rejected", "failed", "rejected"
            ]
        );
        assert!(stage.sent().is_empty());
        assert_eq!(stage.client.pending(), 0);
    }
    let mut limits = Limits::DEFAULT;
    limits.max_batch = 5;
    let mut stage = Stage::limited(config(), limits);
    for refused in ["[]", message] {
        assert!(matches!(stage.hear(refused), Incoming::Rejected(_)));
    }
}

fn notified(method: &str, tag: &str, more: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"{method}","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{tag}}}{more}}}}}"#
    )
}

#[test]
fn notifications_go_to_the_subscription_they_name() {
    let mut stage = Stage::modern();
    let one = stage.call("subscriptions/listen").expect("sent");
    let two = stage.call("subscriptions/listen").expect("sent");
    stage.call("tools/list").expect("sent");
    let told = |stage: &mut Stage, message: &str| match stage.hear(message) {
        Incoming::Notification(notification) => Some((
            format!("{:?}", notification.kind),
            notification.subscription,
        )),
        Incoming::Handled => None,
        other => panic!("{other:?}"),
    };
    let acknowledged = notified(
        "notifications/subscriptions/acknowledged",
        "2",
        r#","notifications":{"toolsListChanged":true}"#,
    );
    assert_eq!(
        told(&mut stage, &acknowledged),
        Some(("Acknowledged".into(), Some(two)))
    );
    for (method, kind) in [
        ("tools", "ToolsChanged"),
        ("prompts", "PromptsChanged"),
        ("resources", "ResourcesChanged"),
    ] {
        let changed = notified(&format!("notifications/{method}/list_changed"), "1", "");
        assert_eq!(told(&mut stage, &changed), Some((kind.into(), Some(one))));
    }
    let updated = notified("notifications/resources/updated", "1", r#","uri":"a:b""#);
    let kind = r#"ResourceUpdated { uri: "a:b" }"#;
    assert_eq!(told(&mut stage, &updated), Some((kind.into(), Some(one))));
    // Of a request that is no subscription, of none, and of nothing: about nothing.
    for tag in ["3", "9", "\"x\"", "{}"] {
        let stray = notified("notifications/tools/list_changed", tag, "");
        assert_eq!(told(&mut stage, &stray), None, "{tag}");
    }
    let untagged = r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"}"#;
    assert_eq!(told(&mut stage, untagged), None);
    assert_eq!(stage.client.counters().dropped, 5);
    // Of another revision, and of a client.
    for method in ["tasks/status", "elicitation/complete", "initialized"] {
        let message = notified(&format!("notifications/{method}"), "1", "");
        assert_eq!(told(&mut stage, &message), None, "{method}");
    }
    assert_eq!(stage.client.counters().dropped, 8);
    let other = r#"{"jsonrpc":"2.0","method":"notifications/tasks","params":{}}"#;
    let kind = r#"Other { method: "notifications/tasks" }"#;
    assert_eq!(told(&mut stage, other), Some((kind.into(), None)));
    // What the engine has to read of it has to be there.
    let mut stage = Stage::legacy("2025-11-25");
    for (method, field) in [
        ("resources/updated", "uri"),
        ("elicitation/complete", "elicitationId"),
    ] {
        let message = notified(&format!("notifications/{method}"), "1", r#","uri":7"#);
        let incoming = stage.hear(&message);
        assert!(
            matches!(&incoming, Incoming::Rejected(PeerFault::Params { field: found, .. }) if *found == field),
            "{incoming:?}"
        );
    }
}

#[test]
fn a_subscription_waits_for_ever_and_ends_once() {
    let mut stage = Stage::modern();
    let keys: Vec<_> = (0..3)
        .map(|_| stage.call("subscriptions/listen").expect("sent"))
        .collect();
    stage.sent();
    assert_eq!(stage.client.poll_timeout(), None);
    assert_eq!(stage.wait(SECOND * 1_000_000_000), []);
    // By the result alone.
    let message = result(1);
    assert_eq!(answer(stage.hear(&message)).0, keys[0]);
    // By both, as on stdio (SUB-12).
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#;
    let (key, outcome) = answer(stage.hear(cancelled));
    assert_eq!(key, keys[1]);
    assert!(matches!(outcome, Outcome::Ended));
    let message = result(2);
    assert!(matches!(stage.hear(&message), Incoming::Late));
    assert!(matches!(stage.hear(cancelled), Incoming::Handled));
    // By us (SUB-10).
    let out = &mut Lines::new(&mut stage.out);
    stage.client.cancel(keys[2], None, out).expect("pending");
    assert_eq!(
        stage.sent(),
        [r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}"#]
    );
    assert_eq!(stage.client.pending(), 0);
    let stray = notified("notifications/tools/list_changed", "3", "");
    assert!(matches!(stage.hear(&stray), Incoming::Handled));
}

#[test]
fn a_server_cancels_subscriptions_and_no_other_call() {
    for mut stage in [Stage::modern(), Stage::legacy("2025-11-25")] {
        stage.call("tools/list").expect("sent");
        for id in ["1", "0", "9", "\"1\"", "null", "{}"] {
            let message = format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
            );
            assert!(matches!(stage.hear(&message), Incoming::Handled), "{id}");
        }
        let without = r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#;
        assert!(matches!(stage.hear(without), Incoming::Handled));
        assert_eq!(stage.client.counters().dropped, 7);
        assert_eq!(stage.client.pending(), 1);
    }
}
