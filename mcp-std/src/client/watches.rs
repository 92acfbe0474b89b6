//! Legacy era: which resources the server is asked to tell of, for all subscriptions together.
//!
//! ```text
//!          a reader               answered
//!   Out ------------> Subscribing ---------> In
//!    ^                                        | no reader left
//!    '------------- Unsubscribing <-----------'
//! ```
//!
//! One request about a URI is on its way at a time: what is wanted meanwhile is looked at when it is answered, so that a
//! server that answers out of order cannot end with another state than ours. What there is no room for stays due.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The resources of one connection, by their URIs.
#[derive(Debug, Default)]
pub(super) struct Watches {
    by_uri: HashMap<Arc<str>, Watch>,
    /// Each at most once; whether there is something to ask is seen when its turn comes.
    due: VecDeque<Arc<str>>,
}

#[derive(Debug)]
struct Watch {
    stage: Stage,
    readers: usize,
    /// It is in [`Watches::due`].
    due: bool,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Stage {
    Out,
    Subscribing,
    In,
    Unsubscribing,
}

/// What a server is asked about a URI.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Ask {
    /// `resources/subscribe`
    Subscribe,
    /// `resources/unsubscribe`
    Unsubscribe,
}

impl Watches {
    /// One more reader. Whether the server tells of it already; else it will be [asked](Self::next).
    pub(super) fn add(&mut self, uri: &str) -> bool {
        if let Some(watch) = self.by_uri.get_mut(uri) {
            watch.readers += 1;
            return watch.stage == Stage::In;
        }
        let uri: Arc<str> = uri.into();
        let watch = Watch {
            stage: Stage::Out,
            readers: 1,
            due: true,
        };
        self.by_uri.insert(uri.clone(), watch);
        self.due.push_back(uri);
        false
    }

    /// One reader less.
    pub(super) fn remove(&mut self, uri: &str) {
        if let Some(watch) = self.by_uri.get_mut(uri) {
            watch.readers -= 1;
            if watch.readers == 0 && watch.stage == Stage::In {
                self.is_due(uri);
            }
        }
    }

    /// What is to be asked next. To be called when there is room for a request, and its answer is to be
    /// [told](Self::answered).
    pub(super) fn next(&mut self) -> Option<(Ask, Arc<str>)> {
        while let Some(uri) = self.due.pop_front() {
            let Some(watch) = self.by_uri.get_mut(&uri) else {
                continue;
            };
            watch.due = false;
            match (watch.stage, watch.readers) {
                (Stage::Out, 0) => {
                    self.by_uri.remove(&uri);
                }
                (Stage::Out, _) => {
                    watch.stage = Stage::Subscribing;
                    return Some((Ask::Subscribe, uri));
                }
                (Stage::In, 0) => {
                    watch.stage = Stage::Unsubscribing;
                    return Some((Ask::Unsubscribe, uri));
                }
                // A reader came back before its turn did.
                (Stage::In | Stage::Subscribing | Stage::Unsubscribing, _) => {}
            }
        }
        None
    }

    /// The answer to what was asked, or that there will be none. Where it is not `done`, those who waited have no reader
    /// there any more: nobody is to [remove](Self::remove) it.
    pub(super) fn answered(&mut self, ask: Ask, uri: &str, done: bool) {
        let Some(watch) = self.by_uri.get_mut(uri) else {
            return;
        };
        match ask {
            Ask::Subscribe if done => {
                watch.stage = Stage::In;
                if watch.readers == 0 {
                    self.is_due(uri);
                }
            }
            Ask::Subscribe => {
                self.by_uri.remove(uri);
            }
            Ask::Unsubscribe => {
                watch.stage = Stage::Out;
                if watch.readers > 0 {
                    self.is_due(uri);
                } else {
                    self.by_uri.remove(uri);
                }
            }
        }
    }

    fn is_due(&mut self, uri: &str) {
        let Some(watch) = self.by_uri.get_mut(uri) else {
            return;
        };
        if !core::mem::replace(&mut watch.due, true) {
            self.due.push_back(uri.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(watches: &mut Watches) -> Option<(Ask, String)> {
        watches.next().map(|(ask, uri)| (ask, uri.to_string()))
    }

    fn ask(ask: Ask) -> Option<(Ask, String)> {
        Some((ask, "a:b".to_owned()))
    }

    #[test]
    fn a_uri_is_asked_for_once_however_many_readers_there_are() {
        let mut watches = Watches::default();
        assert!(!watches.add("a:b"));
        assert!(!watches.add("a:b"), "its answer is not there yet");
        assert_eq!(next(&mut watches), ask(Ask::Subscribe));
        assert!(!watches.add("a:b"));
        assert_eq!(next(&mut watches), None);
        watches.answered(Ask::Subscribe, "a:b", true);
        assert!(watches.add("a:b"));
        for _ in 0..4 {
            assert_eq!(next(&mut watches), None, "there are readers");
            watches.remove("a:b");
        }
        assert_eq!(next(&mut watches), ask(Ask::Unsubscribe));
        watches.answered(Ask::Unsubscribe, "a:b", true);
        assert!(watches.by_uri.is_empty() && watches.due.is_empty());
    }

    #[test]
    fn one_request_is_on_its_way_and_the_last_wish_wins() {
        let mut watches = Watches::default();
        watches.add("a:b");
        assert_eq!(next(&mut watches), ask(Ask::Subscribe));
        watches.remove("a:b");
        assert_eq!(next(&mut watches), None, "not before the answer");
        watches.answered(Ask::Subscribe, "a:b", true);
        assert_eq!(next(&mut watches), ask(Ask::Unsubscribe));
        assert!(!watches.add("a:b"), "it is about to end");
        assert_eq!(next(&mut watches), None);
        watches.answered(Ask::Unsubscribe, "a:b", true);
        assert_eq!(next(&mut watches), ask(Ask::Subscribe));
    }

    #[test]
    fn what_waits_for_room_is_kept_once_and_dropped_when_nobody_wants_it() {
        let mut watches = Watches::default();
        watches.add("a:b");
        watches.remove("a:b");
        assert_eq!(next(&mut watches), None);
        assert!(watches.by_uri.is_empty());
        watches.add("a:b");
        assert_eq!(next(&mut watches), ask(Ask::Subscribe));
        watches.answered(Ask::Subscribe, "a:b", true);
        for _ in 0..100 {
            watches.remove("a:b");
            assert!(watches.add("a:b"));
        }
        assert_eq!(watches.due.len(), 1);
        watches.remove("a:b");
        assert_eq!(next(&mut watches), ask(Ask::Unsubscribe));
    }

    #[test]
    fn a_refusal_leaves_nothing() {
        let mut watches = Watches::default();
        watches.add("a:b");
        watches.add("a:b");
        assert_eq!(next(&mut watches), ask(Ask::Subscribe));
        watches.answered(Ask::Subscribe, "a:b", false);
        assert!(watches.by_uri.is_empty());
        assert!(!watches.add("a:b"));
        assert_eq!(next(&mut watches), ask(Ask::Subscribe), "asked anew");
    }
}
