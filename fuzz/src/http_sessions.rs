//! The sessions of an endpoint against a list of them.

use core::time::Duration;

use mcp_core::binding::http::{Refusal, SessionId, SessionLimits, Sessions, Usage, session_id};
use mcp_core::time::Instant;

const MOST: usize = 4;
const SHARE: usize = 2;
const IDLE: u64 = 20;

/// Opens, finds, closes and expires sessions.
///
/// The input is a list of operations, each of three bytes: `o`, `f`, `c`, `e`, or `u` to change how a session is used; a
/// session, a digit; and who does it, `-`, `a`, `b`; for `u` how it is used, `-` not at all, `a` now and then, else now.
/// Each takes a second.
///
/// # Panics
///
/// On a finding: another outcome than the list's; more sessions than there may be; one ended that had to stay, or before
/// another one that had to end first.
pub fn http_sessions(data: &[u8]) {
    let mut limits = SessionLimits::default();
    limits.max_sessions = MOST;
    limits.max_per_principal = SHARE;
    limits.idle = Duration::from_secs(IDLE);
    let mut sessions: Sessions<u8> = Sessions::new(limits, 7);
    let mut model: Vec<Entry> = Vec::new();
    let mut usages = [Usage::Unused; 16];
    for (second, operation) in (0..).zip(data.chunks_exact(3)) {
        let now = Instant::from_micros(second * 1_000_000);
        let session = operation[1] % 16;
        let id = session_id([session; 16]);
        let principal = match operation[2] % 4 {
            1 => Some("a"),
            2 => Some("b"),
            _ => None,
        };
        let usage = |value: &u8| usages[usize::from(*value)];
        let at = model
            .iter()
            .position(|it| it.id == id && it.principal == principal);
        match operation[0] {
            b'u' => {
                usages[usize::from(session)] = match operation[2] % 4 {
                    1 => Usage::Idle,
                    2 => Usage::Busy,
                    _ => Usage::Unused,
                };
            }
            // Ids are random: none comes twice.
            b'o' if model.iter().any(|it| it.id == id) => {}
            b'o' => {
                let ended = sessions.open(now, id.clone(), principal, session, usage);
                make_room(&mut model, principal, usage, &ended);
                if ended.is_ok() {
                    model.push(Entry {
                        id,
                        principal,
                        used: second,
                        value: session,
                    });
                }
            }
            b'f' => {
                let found = sessions.find(now, &id, principal).copied();
                let expected = at.map(|at| model[at].value).ok_or(Refusal::NO_SESSION);
                assert_eq!(found, expected);
                if let Some(at) = at {
                    model[at].used = second;
                }
            }
            b'c' => {
                let closed = sessions.close(now, &id, principal);
                let expected = at.map(|at| model.remove(at).value);
                assert_eq!(closed, expected.ok_or(Refusal::NO_SESSION));
            }
            b'e' => {
                let mut ended = Vec::new();
                let next = sessions.expire(now, usage, &mut ended);
                for entry in &mut model {
                    if usage(&entry.value) == Usage::Busy {
                        entry.used = second;
                    }
                }
                let mut expected: Vec<u8> = model
                    .extract_if(.., |entry| second - entry.used >= IDLE)
                    .map(|entry| entry.value)
                    .collect();
                expected.sort_unstable();
                ended.sort_unstable();
                assert_eq!(ended, expected);
                let oldest = model.iter().map(|entry| entry.used).min();
                let due = oldest.map(|used| Instant::from_micros((used + IDLE) * 1_000_000));
                assert_eq!(next, due);
            }
            _ => {}
        }
        assert_eq!(sessions.len(), model.len());
        assert!(model.len() <= MOST);
    }
}

struct Entry {
    id: SessionId,
    principal: Option<&'static str>,
    used: u64,
    value: u8,
}

/// Takes out of the list what was ended to make room, which has to be one that comes first, or nothing if there was room.
fn make_room(
    model: &mut Vec<Entry>,
    principal: Option<&str>,
    usage: impl Fn(&u8) -> Usage,
    ended: &Result<Option<u8>, Refusal>,
) {
    let own = |entry: &&Entry| principal.is_some() && entry.principal == principal;
    let all_its_share = model.iter().filter(own).count() == SHARE;
    let candidates: Vec<&Entry> = model
        .iter()
        .filter(|entry| !all_its_share || own(entry))
        .filter(|entry| usage(&entry.value) != Usage::Busy)
        .collect();
    let rank = |entry: &&Entry| (usage(&entry.value), entry.used);
    let first = candidates.iter().map(rank).min();
    match (ended, first) {
        _ if !all_its_share && model.len() < MOST => assert_eq!(*ended, Ok(None)),
        (_, None) => assert_eq!(*ended, Err(Refusal::BUSY)),
        (Ok(Some(ended)), Some(first)) => {
            let at = model.iter().position(|entry| entry.value == *ended);
            let at = at.expect("one that was there");
            assert!(!all_its_share || own(&&model[at]));
            assert_eq!(rank(&&model[at]), first);
            model.remove(at);
        }
        (other, Some(first)) => panic!("{other:?}, though {first:?} could go"),
    }
}
