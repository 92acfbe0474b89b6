//! Any order of messages and commands against a list of what is in flight, kept without thought of speed.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use proptest::prelude::*;
use serde_json::Value;

use super::{INITIALIZE, MODERN, catalog, limits};
use crate::engine::server::{Incoming, ReplyToken, ServerEngine};
use crate::error::{PeerFault, SendError};
use crate::model::{CallToolResult, Progress};

/// Few ids, so that they meet, in different texts of one value.
const IDS: [&str; 6] = ["0", "1", "1.0", "\"1\"", "\"\\u0031\"", "\"a\""];

/// The value of an id.
fn value(id: &str) -> String {
    id.replace("\\u0031", "1").replace(".0", "")
}

#[derive(Clone, Debug)]
enum Step {
    Call {
        id: usize,
        modern: bool,
    },
    Cancel {
        id: usize,
    },
    Ping {
        id: usize,
    },
    /// Answers one of the tokens held, stale ones included.
    Answer {
        token: usize,
        fails: bool,
    },
    Progress {
        token: usize,
        progress: f64,
    },
    Junk,
}

fn step() -> impl Strategy<Value = Step> {
    let id = || 0..IDS.len();
    prop_oneof![
        4 => (id(), any::<bool>()).prop_map(|(id, modern)| Step::Call { id, modern }),
        2 => id().prop_map(|id| Step::Cancel { id }),
        1 => id().prop_map(|id| Step::Ping { id }),
        3 => (0..8_usize, any::<bool>()).prop_map(|(token, fails)| Step::Answer { token, fails }),
        2 => (0..8_usize, -2.0..2.0).prop_map(|(token, progress)| Step::Progress { token, progress }),
        1 => Just(Step::Junk),
    ]
}

/// A token, and what is known of its call.
struct Held {
    token: ReplyToken,
    id: &'static str,
    modern: bool,
    progress: f64,
    over: bool,
}

const LIMIT: usize = 3;

/// What a step wrote: nothing, or one message.
fn written(out: &[u8]) -> Option<Value> {
    (!out.is_empty()).then(|| serde_json::from_slice(out).expect("one message"))
}

fn code(out: &[u8]) -> Option<i64> {
    written(out)?["error"]["code"].as_i64()
}

fn run(steps: Vec<Step>) -> Result<(), TestCaseError> {
    let mut engine = ServerEngine::new(catalog(), limits(LIMIT), 3);
    let _ = engine.receive(INITIALIZE.as_bytes(), &mut Vec::new());
    let mut held: Vec<Held> = Vec::new();
    for step in steps {
        let mut out = Vec::new();
        let in_flight = held.iter().filter(|held| !held.over).count();
        prop_assert_eq!(engine.in_flight(), in_flight);
        let live = |id: &str| {
            let mut all = held.iter();
            all.position(|held| !held.over && value(held.id) == value(id))
        };
        match step {
            Step::Call { id, modern } => {
                let id = IDS[id];
                let meta = if modern {
                    MODERN
                } else {
                    r#""_meta":{"progressToken":"p"}"#
                };
                let text = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo",{meta}}}}}"#
                );
                match engine.receive(text.as_bytes(), &mut out) {
                    Incoming::Call(call) => {
                        prop_assert!(live(id).is_none() && in_flight < LIMIT && out.is_empty());
                        held.push(Held {
                            token: call.token,
                            id,
                            modern,
                            progress: f64::NEG_INFINITY,
                            over: false,
                        });
                    }
                    Incoming::Rejected(PeerFault::IdInUse) => {
                        prop_assert!(live(id).is_some());
                        prop_assert_eq!(code(&out), Some(-32600));
                    }
                    Incoming::Rejected(PeerFault::Busy { limit: LIMIT }) => {
                        prop_assert!(live(id).is_none() && in_flight == LIMIT);
                        prop_assert_eq!(code(&out), Some(-32603));
                    }
                    other @ (Incoming::Handled
                    | Incoming::Batch(_)
                    | Incoming::Cancelled(_)
                    | Incoming::Answer(_)
                    | Incoming::Listen(_)
                    | Incoming::Notification(_)
                    | Incoming::RootsChanged
                    | Incoming::Rejected(_)
                    | Incoming::Blocked) => prop_assert!(false, "{:?}", other),
                }
            }
            Step::Cancel { id } => {
                let text = format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}}"#,
                    IDS[id]
                );
                let place = live(IDS[id]);
                let incoming = engine.receive(text.as_bytes(), &mut out);
                if let Incoming::Cancelled(key) = incoming {
                    let held = &mut held[place.expect("it is in flight")];
                    prop_assert_eq!(held.token.key(), key);
                    held.over = true;
                } else {
                    prop_assert!(matches!(incoming, Incoming::Handled) && place.is_none());
                }
                prop_assert!(out.is_empty());
            }
            Step::Ping { id } => {
                let text = format!(r#"{{"jsonrpc":"2.0","id":{},"method":"ping"}}"#, IDS[id]);
                let incoming = engine.receive(text.as_bytes(), &mut out);
                let free = live(IDS[id]).is_none();
                prop_assert_eq!(matches!(incoming, Incoming::Handled), free);
                prop_assert_eq!(code(&out), (!free).then_some(-32600));
            }
            Step::Answer { token, fails } => {
                if token >= held.len() {
                    continue;
                }
                let call = held.swap_remove(token);
                let sent = super::answer(&mut engine, call.token, fails, &mut out);
                if call.over {
                    prop_assert_eq!(sent, Err(SendError::Stale));
                    prop_assert!(out.is_empty());
                } else {
                    prop_assert_eq!(sent, Ok(()));
                    let answer = written(&out).expect("an answer");
                    prop_assert_eq!(answer.get("error").is_some(), fails);
                    prop_assert_eq!(
                        answer["result"]["resultType"].is_string(),
                        call.modern && !fails
                    );
                    let text = String::from_utf8(out).expect("UTF-8");
                    prop_assert!(text.contains(&format!("\"id\":{},", call.id)), "{}", text);
                }
            }
            Step::Progress { token, progress } => {
                let Some(call) = held.get_mut(token) else {
                    continue;
                };
                let sent = engine.progress(call.token.key(), &Progress::new(progress), &mut out);
                let more = !call.over && progress > call.progress;
                prop_assert_eq!(sent.is_err(), call.over);
                prop_assert_eq!(written(&out).is_some(), more);
                if more {
                    call.progress = progress;
                }
            }
            Step::Junk => {
                let incoming = engine.receive(b"{\"jsonrpc\":", &mut out);
                prop_assert!(matches!(incoming, Incoming::Rejected(PeerFault::Json(_))));
                prop_assert_eq!(code(&out), Some(-32700));
            }
        }
    }
    // Whatever happened, what is left can be answered, and then nothing is left.
    for call in held {
        let result = CallToolResult::new([]);
        let sent = engine.reply(call.token, &result, &mut Vec::new());
        prop_assert_eq!(sent.is_ok(), !call.over, "{}", call.id.to_string());
    }
    prop_assert_eq!(engine.in_flight(), 0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_agrees_with_the_reference(steps in prop::collection::vec(step(), 0..60)) {
        run(steps)?;
    }
}
