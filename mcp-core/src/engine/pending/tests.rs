use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::time::Duration;

use super::*;
use crate::json::RawJson;

const MS: Duration = Duration::from_millis(1);

fn at(ms: u64) -> Instant {
    Instant::from_micros(ms * 1_000)
}

fn id(text: &str) -> RequestId<'_> {
    RequestId::new(RawJson::parse(text.as_bytes()).expect("JSON")).expect("an id")
}

#[test]
fn ids_count_up_and_are_found_by_value() {
    let mut pending = Pending::new(10, 1);
    assert_eq!(pending.next_id(), 0);
    let keys: Vec<_> = (0..3)
        .map(|value| pending.insert(value, None).expect("room"))
        .collect();
    assert_eq!(pending.find(id("1")), Lookup::Pending(keys[1]));
    assert_eq!(pending.find(id("1.0")), Lookup::Pending(keys[1]));
    for other in ["3", "-1", "\"1\"", "9223372036854775807"] {
        assert_eq!(pending.find(id(other)), Lookup::Unknown, "{other}");
    }
    assert_eq!(pending.remove(keys[1]), Some(1));
    assert_eq!(pending.find(id("1")), Lookup::Over);
    assert_eq!(pending.remove(keys[1]), None);
    let again = pending.insert(3, None).expect("room");
    assert_eq!(again.index(), keys[1].index(), "the place is used again");
    assert_eq!(pending.id(again), Some(3), "and the id is not");
    assert_eq!((pending.get(keys[1]), pending.id(keys[1])), (None, None));
    assert_eq!(pending.get_mut(keys[1]), None);
}

#[test]
fn no_more_than_the_limit() {
    let mut pending = Pending::new(2, 1);
    let first = pending.insert('a', None).expect("room");
    pending.insert('b', None).expect("room");
    assert_eq!(pending.insert('c', None), None);
    assert_eq!(pending.next_id(), 2, "no id is spent on it");
    pending.remove(first);
    assert!(pending.insert('c', None).is_some());
}

#[test]
fn keys_of_another_table_name_nothing() {
    let mut one = Pending::new(2, 1);
    let mut two = Pending::new(2, 2);
    let key = one.insert((), None).expect("room");
    two.insert((), None).expect("room");
    assert_eq!(two.remove(key), None);
}

#[test]
fn a_deadline_is_never_early_and_hardly_late() {
    for millis in [
        0, 1, 2, 63, 64, 65, 1_000, 4_095, 4_096, 60_000, 300_000, 86_400_000,
    ] {
        for start in [0, 1, 62, 63, 64, 4_095, 12_345_678_901] {
            let mut pending = Pending::new(1, 0);
            let mut now = at(start);
            assert_eq!(pending.expired(now), None);
            let deadline = now + MS * millis;
            let key = pending.insert((), Some(deadline)).expect("room");
            let mut asked = 0;
            loop {
                let next = pending.next_deadline().expect("it is pending");
                now = now.max(next);
                asked += 1;
                if let Some(expired) = pending.expired(now) {
                    assert_eq!(expired, key);
                    break;
                }
            }
            assert!(now >= deadline, "{start} {millis}: early");
            assert!(
                now.since(deadline) < Duration::from_micros(1_024),
                "{start} {millis}: {:?} late",
                now.since(deadline)
            );
            assert!(
                asked <= 10,
                "{start} {millis}: asked {asked} times for one deadline"
            );
            assert_eq!(pending.expired(now), Some(key), "until it is removed");
            pending.remove(key);
            assert_eq!(pending.expired(now), None);
            assert_eq!(pending.next_deadline(), None);
        }
    }
}

#[test]
fn the_end_of_time_is_a_deadline_like_any() {
    let mut pending = Pending::new(2, 0);
    let last = pending
        .insert((), Some(Instant::from_micros(u64::MAX)))
        .expect("room");
    let first = pending.insert((), Some(at(5))).expect("room");
    assert_eq!(pending.expired(at(6)), Some(first));
    pending.remove(first);
    assert_eq!(pending.expired(Instant::from_micros(u64::MAX / 2)), None);
    pending.set_deadline(last, Some(at(7)));
    assert_eq!(
        pending.expired(at(1)),
        Some(last),
        "time does not run backwards"
    );
}

#[test]
fn a_deadline_can_move_and_go() {
    let mut pending = Pending::new(4, 0);
    let key = pending.insert((), Some(at(10))).expect("room");
    pending.set_deadline(key, Some(at(5_000)));
    assert_eq!(pending.expired(at(4_999)), None);
    pending.set_deadline(key, Some(at(20)));
    assert_eq!(
        pending.expired(at(4_999)),
        Some(key),
        "one that is past already"
    );
    pending.set_deadline(key, None);
    assert_eq!(pending.expired(at(9_999)), None);
    assert_eq!(pending.next_deadline(), None);
    pending.remove(key);
    pending.set_deadline(key, Some(at(1)));
    assert_eq!(
        pending.next_deadline(),
        None,
        "a request that is over has none"
    );
}

/// Random schedules against a table that is a sorted map and scans: the same is pending, and the same runs out.
#[test]
fn random_schedules_agree_with_a_map() {
    for seed in 0..2_000_u64 {
        let mut random = Random(seed);
        let limit = 1 + random.below(40) as usize;
        let mut pending = Pending::new(limit, seed);
        let mut model: BTreeMap<u64, (RequestKey, Option<Instant>)> = BTreeMap::new();
        let mut now = Instant::from_micros(random.below(1 << 40));
        // The wheel has to know what time it is before the first deadline.
        assert_eq!(pending.expired(now), None);
        for _ in 0..120 {
            let span = 1 << random.below(34);
            let deadline =
                (random.below(4) > 0).then(|| now + Duration::from_micros(random.below(span)));
            let victim = model
                .keys()
                .nth(random.below(limit as u64) as usize)
                .copied();
            match (random.below(8), victim) {
                (0..=3, _) => {
                    let id = pending.next_id();
                    match pending.insert(id, deadline) {
                        Some(key) => drop(model.insert(id, (key, deadline))),
                        None => assert_eq!(model.len(), limit, "seed {seed}"),
                    }
                }
                (4, Some(id)) => {
                    let (key, _) = model.remove(&id).expect("chosen from it");
                    assert_eq!(pending.find_number(id), Lookup::Pending(key), "seed {seed}");
                    assert_eq!(pending.remove(key), Some(id), "seed {seed}");
                    assert_eq!(pending.find_number(id), Lookup::Over, "seed {seed}");
                }
                (5, Some(id)) => {
                    let entry = model.get_mut(&id).expect("chosen from it");
                    entry.1 = deadline;
                    pending.set_deadline(entry.0, deadline);
                }
                _ => {
                    now = now + Duration::from_micros(random.below(span));
                    while let Some(key) = pending.expired(now) {
                        let id = pending.id(key).expect("it is pending");
                        let (known, deadline) = model.remove(&id).expect("pending there too");
                        assert_eq!(known, key, "seed {seed}");
                        assert!(deadline.is_some_and(|at| at <= now), "seed {seed}: early");
                        pending.remove(key);
                    }
                    for (_, deadline) in model.values() {
                        let late = deadline.map(|at| now.since(at));
                        assert!(
                            late.is_none_or(|late| late < Duration::from_micros(1_024)),
                            "seed {seed}"
                        );
                    }
                    let next = pending.next_deadline();
                    let first = model.values().filter_map(|(_, deadline)| *deadline).min();
                    assert_eq!(next.is_some(), first.is_some(), "seed {seed}");
                    assert!(
                        next <= first.map(|at| at + Duration::from_micros(1_024)),
                        "seed {seed}"
                    );
                }
            }
            assert_eq!(pending.len(), model.len(), "seed {seed}");
        }
        let mut left = Vec::new();
        let mut from = 0;
        while let Some(key) = pending.first_from(from) {
            from = key.index() + 1;
            left.push(pending.remove(key).expect("it is pending"));
        }
        left.sort_unstable();
        assert!(left.into_iter().eq(model.into_keys()), "seed {seed}");
        assert_eq!(pending.next_deadline(), None, "seed {seed}");
    }
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
