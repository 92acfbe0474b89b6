//! What changed and has not been read yet: never more than a bound, and no kind of change is lost.

use std::collections::{HashSet, VecDeque};

/// Something of the server's changed.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Change {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources, and so maybe that of templates.
    Resources,
    /// What this URI names. It can be part of a resource that was subscribed to (SUB-15).
    Resource(String),
    /// More resources than the reader of the subscription kept up with: any of those subscribed to.
    ManyResources,
}

/// Changes in the order they came, each at most once.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    queue: VecDeque<Change>,
    waiting: HashSet<Change>,
    max: usize,
}

impl Changes {
    /// At most `max` resources wait by name.
    pub(crate) fn new(max: usize) -> Self {
        Self {
            max,
            ..Self::default()
        }
    }

    pub(crate) fn push(&mut self, change: Change) {
        let named = matches!(change, Change::Resource(_));
        if named && self.waiting.contains(&Change::ManyResources) {
            return;
        }
        if named && self.queue.len() >= self.max && !self.waiting.contains(&change) {
            self.queue
                .retain(|change| !matches!(change, Change::Resource(_)));
            self.waiting
                .retain(|change| !matches!(change, Change::Resource(_)));
            self.push(Change::ManyResources);
            return;
        }
        if self.waiting.insert(change.clone()) {
            self.queue.push_back(change);
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Change> {
        let change = self.queue.pop_front()?;
        self.waiting.remove(&change);
        Some(change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(changes: &mut Changes) -> Vec<Change> {
        core::iter::from_fn(|| changes.pop()).collect()
    }

    #[test]
    fn a_slow_reader_gets_each_change_once_in_order() {
        let mut changes = Changes::new(10);
        for _ in 0..100 {
            changes.push(Change::Tools);
            changes.push(Change::Resource("a:b".to_owned()));
            changes.push(Change::Prompts);
        }
        let expected = [
            Change::Tools,
            Change::Resource("a:b".to_owned()),
            Change::Prompts,
        ];
        assert_eq!(all(&mut changes), expected);
        changes.push(Change::Tools);
        assert_eq!(
            all(&mut changes),
            [Change::Tools],
            "a new one is told again"
        );
    }

    #[test]
    fn more_resources_than_fit_become_one_change_and_other_kinds_stay() {
        let mut changes = Changes::new(5);
        changes.push(Change::Tools);
        for index in 0..1000 {
            changes.push(Change::Resource(index.to_string()));
            assert!(changes.queue.len() <= 8 && changes.queue.len() == changes.waiting.len());
        }
        changes.push(Change::Resources);
        let expected = [Change::Tools, Change::ManyResources, Change::Resources];
        assert_eq!(all(&mut changes), expected);
        changes.push(Change::Resource("again".to_owned()));
        assert_eq!(all(&mut changes).len(), 1);
    }
}
