//! Tables that grow to their limits.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;
use alloc::vec::Vec;

use hashbrown::HashTable;

use super::{Index, Memory, Queue, Rows, Tables, Text};
use crate::engine::pending::{Numbered, Wheel};
use crate::engine::server::Catalog;
use crate::json::JsonStr;
use crate::limits::Limits;

/// Tables that grow to their [`Limits`], by the allocator.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Growing;

impl Memory for Growing {
    type Catalog = Arc<Catalog>;
}

impl Tables for Growing {
    type Calls<T> = Vec<T>;
    type Id = Short;
    type Requests<T> = Vec<T>;
    type RequestIds = Numbered;
    type Deadlines = Option<Box<Wheel>>;
    type Listeners<T> = Vec<T>;
    type Watches<T> = Vec<T>;
    type Uri = Box<str>;
    type Due<T: Copy> = VecDeque<T>;
    type Index = HashTable<u32>;
    type Batches<T> = Vec<T>;
    type Answers = Vec<u8>;
    const BATCHES: bool = true;
    const LISTENS: bool = true;
    const URIS: bool = true;

    fn bound(limits: Limits) -> Limits {
        limits
    }
}

impl<T> Rows<T> for Vec<T> {
    #[inline]
    fn push(&mut self, row: T) -> Option<()> {
        self.push(row);
        Some(())
    }

    #[inline]
    fn pop(&mut self) -> Option<T> {
        self.pop()
    }
}

impl Index for HashTable<u32> {
    #[inline]
    fn hash(hash: impl FnOnce() -> u64) -> u64 {
        hash()
    }

    #[inline]
    fn len(&self) -> usize {
        self.len()
    }

    #[inline]
    fn find(&self, hash: u64, _: usize, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        self.find(hash, |&place| is(place)).copied()
    }

    fn each(&self, hash: u64, _: usize, mut visit: impl FnMut(u32)) {
        for &place in self.iter_hash(hash) {
            visit(place);
        }
    }

    #[inline]
    fn insert(&mut self, hash: u64, place: u32, rehash: impl Fn(u32) -> u64) {
        self.insert_unique(hash, place, |&other| rehash(other));
    }

    #[inline]
    fn remove(&mut self, hash: u64, place: u32) {
        if let Ok(entry) = self.find_entry(hash, |&other| other == place) {
            entry.remove();
        }
    }

    fn retain(&mut self, _: usize, mut keep: impl FnMut(u32) -> bool) {
        self.retain(|&mut place| keep(place));
    }
}

impl<T: Copy> Queue<T> for VecDeque<T> {
    fn push_back(&mut self, element: T) {
        self.push_back(element);
    }

    fn front(&self) -> Option<&T> {
        self.front()
    }

    fn pop_front(&mut self) -> Option<T> {
        self.pop_front()
    }

    fn retain(&mut self, keep: impl FnMut(&T) -> bool) {
        self.retain(keep);
    }

    #[cfg(test)]
    fn capacity(&self) -> usize {
        self.capacity()
    }
}

/// Text of up to 38 bytes stays in the table, which takes a UUID in its quotes.
#[derive(Debug)]
pub(in crate::engine) enum Short {
    Inline(heapless::String<38, u8>),
    Spilled(Box<str>),
}

impl Text for Short {
    #[inline]
    fn new(text: &str) -> Option<Self> {
        let inline = heapless::String::try_from(text);
        Some(inline.map_or_else(|_| Self::Spilled(text.into()), Self::Inline))
    }

    fn decoded(text: JsonStr<'_>) -> Option<Self> {
        Self::new(&text.decode())
    }

    #[inline]
    fn as_str(&self) -> &str {
        match self {
            Self::Inline(text) => text.as_str(),
            Self::Spilled(text) => text,
        }
    }
}

impl Text for Box<str> {
    fn new(text: &str) -> Option<Self> {
        Some(text.into())
    }

    fn decoded(text: JsonStr<'_>) -> Option<Self> {
        Some(match text.decode() {
            Cow::Borrowed(text) => text.into(),
            Cow::Owned(text) => text.into(),
        })
    }

    fn as_str(&self) -> &str {
        self
    }
}
