//! The clocks (TMO-01, TMO-02, PRG-01 to PRG-04, INIT-14) and the end of the connection.

use super::*;

fn progress(token: &str, progress: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{progress},"total":9,"message":"m\u006d"}}}}"#
    )
}

fn cancelled(id: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"timeout"}}}}"#
    )
}

const PROGRESS: CallOptions<'_> = CallOptions {
    timeout: None,
    max_total: None,
    progress: true,
    log_level: None,
    meta: None,
    input_responses: None,
    request_state: None,
};

#[test]
fn id_07_a_call_without_an_answer_is_cancelled_and_its_late_answer_dropped() {
    for mut stage in [Stage::modern(), Stage::legacy("2025-11-25")] {
        let key = stage.call("tools/list").expect("sent");
        let quick = CallOptions {
            timeout: Some(SECOND),
            ..CallOptions::default()
        };
        let quick = stage.call_with("tools/list", "{}", &quick).expect("sent");
        stage.sent();
        assert_eq!(stage.wait(SECOND - MS), []);
        let timed_out = |key| [Event::TimedOut { key, total: false }];
        assert_eq!(stage.wait(MS * 3), timed_out(quick));
        assert_eq!(stage.sent(), [cancelled(2)]);
        assert_eq!(stage.sleep(), timed_out(key));
        assert_eq!(stage.sent(), [cancelled(1)]);
        let message = result(1);
        assert!(matches!(stage.hear(&message), Incoming::Late));
        assert_eq!(
            (stage.client.pending(), stage.client.poll_timeout()),
            (0, None)
        );
    }
}

#[test]
fn or_05_progress_starts_the_clock_again_up_to_the_ceiling() {
    let mut stage = Stage::modern();
    let mut start = stage.now;
    let key = stage
        .call_with("tools/call", r#"{"name":"t"}"#, &PROGRESS)
        .expect("sent");
    stage.sent();
    for turn in 0..12 {
        assert_eq!(stage.wait(SECOND * 50), [], "{turn}");
        let message = progress("1", &format!("{turn}.5"));
        match stage.hear(&message) {
            Incoming::Progress { key: of, progress } => {
                assert_eq!(of, key);
                assert_eq!(
                    (progress.progress, progress.total),
                    (f64::from(turn) + 0.5, Some(9.0))
                );
                assert_eq!(progress.message.as_deref(), Some("mm"));
            }
            other => panic!("{turn}: {other:?}"),
        }
        if turn == 11 {
            // The ceiling is where it was.
            assert_eq!(stage.now.since(start), SECOND * 600);
            break;
        }
    }
    assert_eq!(stage.sleep(), [Event::TimedOut { key, total: true }]);
    assert!(stage.now.since(start) < SECOND * 600 + MS * 2);
    assert_eq!(stage.sent(), [cancelled(1)]);

    // OR-05: a ceiling below the timeout.
    start = stage.now;
    let options = CallOptions {
        timeout: Some(SECOND * 10),
        max_total: Some(SECOND),
        ..CallOptions::default()
    };
    let key = stage.call_with("tools/list", "{}", &options).expect("sent");
    assert_eq!(stage.wait(SECOND - MS), []);
    assert_eq!(stage.sleep(), [Event::TimedOut { key, total: true }]);
    assert!(stage.now.since(start) < SECOND + MS * 2);
}

#[test]
fn or_04_progress_that_is_none_is_dropped_and_keeps_nothing_alive() {
    let mut stage = Stage::modern();
    let silent = stage.call("tools/list").expect("sent");
    let key = stage
        .call_with("tools/list", "{}", &PROGRESS)
        .expect("sent");
    stage
        .call_with("tools/list", "{}", &PROGRESS)
        .expect("sent");
    let message = result(3);
    assert!(matches!(stage.hear(&message), Incoming::Answer { .. }));
    let message = progress("2", "5");
    assert!(matches!(stage.hear(&message), Incoming::Progress { .. }));
    stage.wait(SECOND * 59);
    for (token, amount) in [
        ("2", "5"),
        ("2", "4.9"),
        ("2", "-1e300"),
        ("1", "6"),
        ("3", "6"),
        ("9", "6"),
        ("\"2\"", "6"),
        ("null", "6"),
    ] {
        let message = progress(token, amount);
        let incoming = stage.hear(&message);
        assert!(
            matches!(incoming, Incoming::Handled),
            "{token} {amount}: {incoming:?}"
        );
    }
    assert_eq!(stage.client.counters().dropped, 8);
    for amount in ["\"6\"", "null", "1e999"] {
        let message = progress("2", amount);
        let incoming = stage.hear(&message);
        assert!(
            matches!(incoming, Incoming::Rejected(_)),
            "{amount}: {incoming:?}"
        );
    }
    let timed_out = |key| Event::TimedOut { key, total: false };
    assert_eq!(
        stage.wait(SECOND + MS * 2),
        [timed_out(silent), timed_out(key)]
    );
}

#[test]
fn or_03_a_cancelled_call_is_over_for_everybody() {
    let mut stage = Stage::legacy("2025-06-18");
    let key = stage.call("tools/list").expect("sent");
    let other = stage.call("tools/list").expect("sent");
    stage.sent();
    let mut none = heapless::Vec::<u8, 20>::new();
    let refused = stage.client.cancel(key, None, &mut none);
    assert_eq!(refused, Err(SendError::Full(())));
    let out = &mut Lines::new(&mut stage.out);
    assert_eq!(stage.client.cancel(key, Some("a \"b\""), out), Ok(()));
    assert_eq!(stage.client.cancel(key, None, out), Err(SendError::Stale));
    assert_eq!(
        stage.sent(),
        [
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"a \"b\""}}"#
        ]
    );
    // OR-03: the answer was on its way.
    let message = result(1);
    assert!(matches!(stage.hear(&message), Incoming::Late));
    let message = result(2);
    assert!(matches!(stage.hear(&message), Incoming::Answer { key, .. } if key == other));
    assert_eq!(stage.wait(SECOND * 100), []);
    let out = &mut Lines::new(&mut stage.out);
    assert_eq!(stage.client.cancel(other, None, out), Err(SendError::Stale));
}

#[test]
fn without_room_time_is_not_up() {
    let mut stage = Stage::modern();
    let keys: Vec<_> = (0..3)
        .map(|_| stage.call("tools/list").expect("sent"))
        .collect();
    stage.sent();
    stage.now = stage.now + SECOND * 61;
    let mut one = heapless::Vec::<u8, 150>::new();
    let handled = stage.client.handle_timeout(stage.now, &mut one);
    assert!(handled.is_err());
    assert_eq!(stage.events().len(), 1);
    assert_eq!(stage.client.pending(), 2);
    let events = stage.wait(Duration::ZERO);
    assert_eq!(events.len(), 2);
    assert_eq!(stage.sent().len(), 2);
    let last = Event::TimedOut {
        key: keys[2],
        total: false,
    };
    assert_eq!(events[1], last);
}

#[test]
fn when_the_connection_is_lost_each_call_ends_once() {
    let mut stage = Stage::modern();
    let mut keys: Vec<_> = [
        "tools/list",
        "subscriptions/listen",
        "tools/list",
        "prompts/list",
    ]
    .into_iter()
    .map(|method| stage.call(method).expect("sent"))
    .collect();
    let message = result(3);
    assert!(matches!(stage.hear(&message), Incoming::Answer { .. }));
    keys.remove(2);
    stage.sent();
    stage.client.lost();
    stage.client.lost();
    let mut closed = stage.events();
    closed.sort_by_key(|event| match event {
        Event::Closed(key) => key.index(),
        other => panic!("{other:?}"),
    });
    keys.sort_by_key(|key| key.index());
    assert!(closed.into_iter().eq(keys.into_iter().map(Event::Closed)));
    assert_eq!(
        (stage.client.pending(), stage.client.poll_timeout()),
        (0, None)
    );
    assert_eq!(stage.call("tools/list"), Err(CallError::Closed));
    assert!(matches!(stage.hear(&message), Incoming::Handled));
    assert_eq!(stage.wait(SECOND * 100), []);
    assert!(stage.sent().is_empty());
}
