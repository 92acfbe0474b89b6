//! Random schedules against a small model of the same client: which calls wait, and how each ended.

use alloc::collections::BTreeMap;

use super::*;

/// A call that waits.
struct Waiting {
    key: RequestKey,
    /// `None`: a subscription.
    deadline: Option<Instant>,
    ceiling: Instant,
    timeout: Duration,
    progress: Option<u64>,
}

/// A deadline may be noticed so much later.
const SLACK: Duration = Duration::from_micros(1_024);

fn run(seed: u64) {
    let mut random = Random(seed);
    let mut limits = Limits::DEFAULT;
    limits.max_pending = 1 + random.below(12) as usize;
    let mut stage = Stage::limited(config(), limits);
    let answer = discovered(r#"["2026-07-28"]"#, ALL);
    assert!(
        matches!(stage.hear(&answer), Incoming::Connected),
        "seed {seed}"
    );
    stage.sent();
    let mut model: BTreeMap<u64, Waiting> = BTreeMap::new();
    let mut next = 1_u64;
    let mut counters = Counters::default();
    for _ in 0..60 {
        // Mostly one that waits, else any that there is or is not.
        let waiting = model
            .keys()
            .nth(random.below(limits.max_pending as u64) as usize);
        let id = waiting.copied().unwrap_or_else(|| random.below(next + 2));
        match random.below(10) {
            0..=2 => {
                let listen = random.below(6) == 0;
                let timeout = SECOND * (1 + random.below(5) as u32);
                let total = SECOND * (1 + random.below(12) as u32);
                let options = CallOptions {
                    timeout: (!listen).then_some(timeout),
                    max_total: (!listen).then_some(total),
                    progress: random.below(2) == 0,
                    ..CallOptions::default()
                };
                let method = if listen {
                    "subscriptions/listen"
                } else {
                    "tools/list"
                };
                match stage.call_with(method, "{}", &options) {
                    Ok(key) => {
                        assert_eq!(id_of(&stage.sent()[0]), next, "seed {seed}");
                        let ceiling = stage.now + total;
                        let waiting = Waiting {
                            key,
                            deadline: (!listen).then(|| (stage.now + timeout).min(ceiling)),
                            ceiling,
                            timeout,
                            progress: options.progress.then_some(0),
                        };
                        model.insert(next, waiting);
                        next += 1;
                    }
                    Err(error) => {
                        let limit = limits.max_pending;
                        assert_eq!(error, CallError::Busy { limit }, "seed {seed}");
                        assert_eq!(model.len(), limit, "seed {seed}");
                    }
                }
            }
            3..=4 => {
                let message = match random.below(3) {
                    0 => result(id),
                    1 => error(id, -5, "null"),
                    _ => format!(r#"{{"jsonrpc":"2.0","id":{id}}}"#),
                };
                match (stage.hear(&message), model.remove(&id)) {
                    (Incoming::Answer { key, outcome }, Some(waiting)) => {
                        assert_eq!(key, waiting.key, "seed {seed}");
                        counters.rejected += u64::from(matches!(outcome, Outcome::Invalid(_)));
                    }
                    (Incoming::Late, None) if id < next => counters.late += 1,
                    (Incoming::Rejected(_), None) if id >= next => counters.unknown += 1,
                    (incoming, _) => panic!("seed {seed}: {id}: {incoming:?}"),
                }
            }
            5 => {
                let amount = random.below(5);
                let message = format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":{amount}}}}}"#
                );
                let now = stage.now;
                let known = model.get_mut(&id).filter(|waiting| {
                    // The first may be anything: it is more than nothing at all.
                    waiting.progress.is_some_and(|last| amount + 1 > last)
                });
                match (stage.hear(&message), known) {
                    (Incoming::Progress { key, .. }, Some(waiting)) => {
                        assert_eq!(key, waiting.key, "seed {seed}");
                        waiting.progress = Some(amount + 1);
                        let again = (now + waiting.timeout).min(waiting.ceiling);
                        waiting.deadline = waiting.deadline.map(|_| again);
                    }
                    (Incoming::Handled, None) => counters.dropped += 1,
                    (incoming, _) => panic!("seed {seed}: {id}: {incoming:?}"),
                }
            }
            6 => {
                if let Some(waiting) = model.remove(&id) {
                    let out = &mut Lines::new(&mut stage.out);
                    let cancelled = stage.client.cancel(waiting.key, None, out);
                    assert_eq!(cancelled, Ok(()), "seed {seed}");
                    let again = stage.client.cancel(waiting.key, None, out);
                    assert_eq!(again, Err(SendError::Stale), "seed {seed}");
                    assert_eq!(stage.sent().len(), 1, "seed {seed}");
                }
            }
            7 => {
                let message = format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
                );
                let listens = model.get(&id).is_some_and(|it| it.deadline.is_none());
                match stage.hear(&message) {
                    Incoming::Answer {
                        key,
                        outcome: Outcome::Ended,
                    } if listens => {
                        let waiting = model.remove(&id).expect("it listens");
                        assert_eq!(key, waiting.key, "seed {seed}");
                    }
                    Incoming::Handled if !listens => counters.dropped += 1,
                    incoming => panic!("seed {seed}: {id}: {incoming:?}"),
                }
            }
            _ => {
                let events = stage.wait(MS * random.below(2_000) as u32);
                assert_eq!(
                    stage.sent().len(),
                    events.len(),
                    "seed {seed}: one word each"
                );
                for event in events {
                    let Event::TimedOut { key, total } = event else {
                        panic!("seed {seed}: {event:?}");
                    };
                    let found = model.iter().find(|(_, waiting)| waiting.key == key);
                    let id = *found.expect("it waits").0;
                    let waiting = model.remove(&id).expect("found in it");
                    assert!(
                        waiting.deadline.is_some_and(|at| at <= stage.now),
                        "seed {seed}: early"
                    );
                    assert_eq!(total, waiting.ceiling <= stage.now, "seed {seed}");
                }
                for waiting in model.values() {
                    let overdue = waiting.deadline.is_some_and(|at| at + SLACK <= stage.now);
                    assert!(!overdue, "seed {seed}: late");
                }
            }
        }
        assert_eq!(stage.client.pending(), model.len(), "seed {seed}");
        let due = model.values().any(|waiting| waiting.deadline.is_some());
        assert_eq!(stage.client.poll_timeout().is_some(), due, "seed {seed}");
    }
    assert_eq!(*stage.client.counters(), counters, "seed {seed}");
    stage.client.lost();
    let mut closed: Vec<_> = stage
        .events()
        .into_iter()
        .map(|event| match event {
            Event::Closed(key) => key.index(),
            other => panic!("seed {seed}: {other:?}"),
        })
        .collect();
    closed.sort_unstable();
    let mut waiting: Vec<_> = model.values().map(|waiting| waiting.key.index()).collect();
    waiting.sort_unstable();
    assert_eq!(closed, waiting, "seed {seed}");
    assert_eq!(stage.client.pending(), 0, "seed {seed}");
}

#[test]
fn ten_thousand_schedules_agree_with_the_model() {
    for seed in 0..10_000 {
        run(seed);
    }
}
