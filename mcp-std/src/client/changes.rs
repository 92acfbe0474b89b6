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
#[derive(Debug)]
pub(crate) struct Changes {
    queue: VecDeque<Change>,
    waiting: HashSet<Change>,
    /// Of the URIs that wait.
    bytes: usize,
    limits: Named,
}

/// How many resources may wait by name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Named {
    pub(crate) count: usize,
    /// Of their URIs together; they are held twice.
    pub(crate) bytes: usize,
}

impl Changes {
    pub(crate) fn new(limits: Named) -> Self {
        Self {
            queue: VecDeque::new(),
            waiting: HashSet::new(),
            bytes: 0,
            limits,
        }
    }

    pub(crate) fn push(&mut self, change: Change) {
        if self.waiting.contains(&change) {
            return;
        }
        if let Change::Resource(uri) = &change {
            if self.waiting.contains(&Change::ManyResources) {
                return;
            }
            let bytes = self.bytes.saturating_add(uri.len());
            if self.queue.len() >= self.limits.count || bytes > self.limits.bytes {
                self.forget_names();
                self.push(Change::ManyResources);
                return;
            }
            self.bytes = bytes;
        }
        self.waiting.insert(change.clone());
        self.queue.push_back(change);
    }

    fn forget_names(&mut self) {
        let stays = |change: &Change| !matches!(change, Change::Resource(_));
        self.queue.retain(stays);
        self.waiting.retain(stays);
        self.bytes = 0;
    }

    pub(crate) fn pop(&mut self) -> Option<Change> {
        let change = self.queue.pop_front()?;
        self.waiting.remove(&change);
        if let Change::Resource(uri) = &change {
            self.bytes -= uri.len();
        }
        Some(change)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(count: usize, bytes: usize) -> Changes {
        Changes::new(Named { count, bytes })
    }

    fn all(changes: &mut Changes) -> Vec<Change> {
        core::iter::from_fn(|| changes.pop()).collect()
    }

    #[test]
    fn li_02_a_slow_reader_gets_each_change_once_in_order() {
        let mut changes = named(10, 100);
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
        let mut changes = named(5, 1000);
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
    #[test]
    fn long_names_are_held_up_to_a_bound() {
        let mut changes = named(1000, 100);
        let long = |char: char| Change::Resource(char.to_string().repeat(40));
        for char in ['a', 'b', 'a', 'b'] {
            changes.push(long(char));
        }
        assert_eq!(changes.bytes, 80);
        assert_eq!(changes.pop(), Some(long('a')));
        changes.push(long('c'));
        assert_eq!(all(&mut changes), [long('b'), long('c')]);
        for char in ['a', 'b', 'c'] {
            changes.push(long(char));
        }
        assert_eq!(all(&mut changes), [Change::ManyResources]);
        assert_eq!(changes.bytes, 0);
        changes.push(Change::Resource("a".repeat(101)));
        assert_eq!(all(&mut changes), [Change::ManyResources]);
    }
}
