//! What a client is to be told of the topics of extensions that it listens for.
//!
//! What is told of a topic can be long, such as the result of a task, and many clients may listen and not read. So it is held
//! once for all of them, and what a client is told first is made when there is room to write it. Only what is being written
//! is in its engine.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use mcp_core::json::Json;

use super::principal::Principal;

/// The topics of one connection: as many as its engine lets it listen for.
#[derive(Debug, Default)]
pub(crate) struct Topics {
    /// What is due to be told, by extension and topic.
    wanted: HashMap<(usize, Box<str>), Option<Told>>,
    /// Those of which something is.
    due: VecDeque<(usize, Box<str>)>,
}

/// What is told of a topic.
#[derive(Clone, Debug)]
pub(crate) enum Told {
    /// How it stands: the extension is asked, for this client.
    State(Option<Principal>),
    /// The latest that was announced.
    News(Arc<Json<'static>>),
}

impl Topics {
    /// From now on what is announced of it is told.
    pub(crate) fn want(&mut self, extension: usize, topic: &str) {
        self.wanted.entry((extension, topic.into())).or_default();
    }

    /// How a topic stands is to be told, if there is no news of it anyway.
    pub(crate) fn tell_state(&mut self, extension: usize, topic: &str, to: Option<&Principal>) {
        let key = (extension, topic.into());
        if let Some(told @ None) = self.wanted.get_mut(&key) {
            *told = Some(Told::State(to.cloned()));
            self.due.push_back(key);
        }
    }

    /// Something was announced. Whether it is told here.
    pub(super) fn tell(
        &mut self,
        extension: usize,
        topic: &str,
        news: &Arc<Json<'static>>,
    ) -> bool {
        if self.wanted.is_empty() {
            return false;
        }
        let key = (extension, topic.into());
        let Some(told) = self.wanted.get_mut(&key) else {
            return false;
        };
        if told.replace(Told::News(news.clone())).is_none() {
            self.due.push_back(key);
        }
        true
    }

    /// What has waited longest, and is still wanted.
    pub(crate) fn next(
        &mut self,
        is_wanted: impl Fn(usize, &str) -> bool,
    ) -> Option<(usize, Box<str>, Told)> {
        while let Some(key) = self.due.pop_front() {
            if !is_wanted(key.0, &key.1) {
                self.wanted.remove(&key);
            } else if let Some(told) = self.wanted.get_mut(&key).and_then(Option::take) {
                return Some((key.0, key.1, told));
            }
        }
        None
    }

    /// Forgets those that are not wanted any more.
    pub(crate) fn retain(&mut self, is_wanted: impl Fn(usize, &str) -> bool) {
        let is_wanted = |key: &(usize, Box<str>)| is_wanted(key.0, &key.1);
        self.wanted.retain(|key, _| is_wanted(key));
        self.due.retain(is_wanted);
    }
}
