//! Things found by name.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::hash::BuildHasher;

use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// Names, or URIs, in the order they were given, found by what they are.
#[derive(Debug, Default)]
pub(super) struct Names {
    names: Vec<Box<str>>,
    places: HashTable<u32>,
    hasher: FixedState,
}

impl Names {
    /// Adds a name at the next place.
    ///
    /// # Errors
    ///
    /// It is there already, and comes back.
    pub(super) fn add(&mut self, name: &str) -> Result<(), Box<str>> {
        if self.find(name).is_some() {
            return Err(name.into());
        }
        let (names, hasher) = (&self.names, &self.hasher);
        self.places
            .insert_unique(hasher.hash_one(name), names.len() as u32, |&at| {
                hasher.hash_one(&*names[at as usize])
            });
        self.names.push(name.into());
        Ok(())
    }

    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let found = self.places.find(self.hasher.hash_one(name), |&at| {
            *self.names[at as usize] == *name
        });
        found.map(|&at| at as usize)
    }

    pub(super) fn get(&self, at: usize) -> Option<&str> {
        self.names.get(at).map(|name| &**name)
    }
}
