//! The table of pending requests: what a call costs while 0, 1 000 and 1 000 000 others are pending, beside a plain hash
//! map that knows no deadlines.
//!
//! The others were sent before and stay while one call is sent and answered, or they are themselves answered or run out of
//! time, the oldest first, and are sent again.

use core::hash::BuildHasher;
use core::hint::black_box;
use core::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use mcp_core::engine::{Lookup, Pending};
use mcp_core::time::Instant;

const TIMEOUT: Duration = Duration::from_secs(60);
const LIMIT: usize = 1 << 21;

/// A table with so many pending, one of them sent each microsecond.
fn filled(pending: u64) -> (Pending<u64>, Instant) {
    let mut table = Pending::new(LIMIT, 1);
    let mut now = Instant::from_micros(1_700_000_000_000_000);
    for id in 0..pending {
        now = now + Duration::from_micros(1);
        table.insert(id, Some(now + TIMEOUT)).expect("room");
    }
    (table, now)
}

fn answered(table: &mut Pending<u64>, id: u64) -> u64 {
    match table.find_number(id) {
        Lookup::Pending(key) => table.remove(key).expect("it is pending"),
        other @ (Lookup::Over | Lookup::Unknown | _) => panic!("{id}: {other:?}"),
    }
}

/// Which of `count` is next, in an order without any locality.
fn scattered(turn: u64, count: u64) -> u64 {
    FixedState::with_seed(7).hash_one(turn) % count
}

fn pending(criterion: &mut Criterion) {
    for others in [1, 1_000, 1_000_000_u64] {
        let mut group = criterion.benchmark_group(format!("pending/{others}"));
        let (mut table, mut now) = filled(others);
        group.bench_function(BenchmarkId::from_parameter("call and answer"), |bencher| {
            bencher.iter(|| {
                now = now + Duration::from_micros(1);
                let id = table.next_id();
                table.insert(black_box(id), Some(now + TIMEOUT));
                assert_eq!(answered(&mut table, black_box(id)), id);
            });
        });
        group.bench_function(
            BenchmarkId::from_parameter("call, moved deadline, answer"),
            |bencher| {
                bencher.iter(|| {
                    now = now + Duration::from_micros(1);
                    let id = table.next_id();
                    let key = table.insert(black_box(id), Some(now + TIMEOUT));
                    table.set_deadline(key.expect("room"), Some(now + TIMEOUT * 2));
                    assert_eq!(answered(&mut table, black_box(id)), id);
                });
            },
        );
        group.bench_function(BenchmarkId::from_parameter("find, scattered"), |bencher| {
            let mut turn = 0;
            bencher.iter(|| {
                turn += 1;
                table.find_number(black_box(scattered(turn, others)))
            });
        });
        group.bench_function(
            BenchmarkId::from_parameter("find and read, scattered"),
            |bencher| {
                let mut turn = 0;
                bencher.iter(|| {
                    turn += 1;
                    let id = black_box(scattered(turn, others));
                    let Lookup::Pending(key) = table.find_number(id) else {
                        panic!("{id} is pending");
                    };
                    *table.get(key).expect("it is pending")
                });
            },
        );

        // Every turn one of those that wait longest is answered and another sent: the whole table is gone through.
        let mut oldest = 0;
        let (mut table, mut now) = filled(others);
        group.bench_function(
            BenchmarkId::from_parameter("answer the oldest, call again"),
            |bencher| {
                bencher.iter(|| {
                    now = now + Duration::from_micros(1);
                    assert_eq!(answered(&mut table, oldest), oldest);
                    oldest += 1;
                    let id = table.next_id();
                    table.insert(id, Some(now + TIMEOUT));
                });
            },
        );
        // Every turn one runs out of time and another is sent.
        let (mut table, mut now) = filled(others);
        group.bench_function(
            BenchmarkId::from_parameter("run out of time, call again"),
            |bencher| {
                bencher.iter(|| {
                    let key = loop {
                        if let Some(key) = table.expired(now) {
                            break key;
                        }
                        now = table.next_deadline().expect("some are pending");
                    };
                    table.remove(key);
                    let id = table.next_id();
                    table.insert(id, Some(now + TIMEOUT));
                });
            },
        );

        let mut map: HashMap<u64, u64, FixedState> = HashMap::with_hasher(FixedState::with_seed(1));
        map.extend((0..others).map(|id| (id, id)));
        let mut next = others;
        group.bench_function(
            BenchmarkId::from_parameter("hashbrown: insert and remove"),
            |bencher| {
                bencher.iter(|| {
                    map.insert(black_box(next), next);
                    assert_eq!(map.remove(&black_box(next)), Some(next));
                    next += 1;
                });
            },
        );
        group.bench_function(
            BenchmarkId::from_parameter("hashbrown: get, scattered"),
            |bencher| {
                let mut turn = 0;
                bencher.iter(|| {
                    turn += 1;
                    map[&black_box(scattered(turn, others))]
                });
            },
        );
        let mut oldest = 0;
        let mut next = others;
        map.clear();
        map.extend((0..others).map(|id| (id, id)));
        group.bench_function(
            BenchmarkId::from_parameter("hashbrown: remove the oldest, insert"),
            |bencher| {
                bencher.iter(|| {
                    assert_eq!(map.remove(&oldest), Some(oldest));
                    map.insert(next, next);
                    oldest += 1;
                    next += 1;
                });
            },
        );
        group.finish();
    }
}

criterion_group!(benches, pending);
criterion_main!(benches);
