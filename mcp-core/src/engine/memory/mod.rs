//! Where a server engine keeps what it remembers: in tables that grow to their limits, or in ones whose size is fixed when
//! the program is compiled. The engine is the same; [`Memory`] is its parameter.

mod fixed;
#[cfg(feature = "alloc")]
mod growing;

use core::fmt;
use core::ops::{Deref, DerefMut};

pub use fixed::Fixed;
#[cfg(feature = "alloc")]
pub use growing::Growing;

use super::server::Offering;
use crate::json::{JsonStr, Sink};
use crate::limits::Limits;

/// What [`ServerEngine`](super::server::ServerEngine) uses if nothing else is said.
#[cfg(feature = "alloc")]
pub(crate) type Standard = Growing;
#[cfg(not(feature = "alloc"))]
pub(crate) type Standard = Fixed<'static>;

/// Where a server engine keeps what it remembers: `Growing`, or [`Fixed`].
#[expect(
    private_bounds,
    reason = "sealed: the tables are the engine's own business"
)]
pub trait Memory: Tables {
    /// What is offered, shared by the engines of a server.
    type Catalog: Deref<Target: Offering> + fmt::Debug;
}

/// The tables.
pub(in crate::engine) trait Tables: fmt::Debug {
    /// One row for each request that was accepted and is not answered.
    type Calls<T>: Rows<T>;
    /// Its id, and its progress token.
    type Id: Text;
    /// One row for each request of ours that is not answered.
    type Requests<T>: Rows<T>;
    type RequestIds: Ids;
    type Deadlines: Deadlines;
    /// One row for the session, and one for each `subscriptions/listen`.
    type Listeners<T>: Rows<T>;
    /// One row for each URI that is subscribed to.
    type Watches<T>: Rows<T>;
    type Uri: Text;
    /// Three for each listener, and one for each watch.
    type Due<T: Copy>: Queue<T>;
    type Index: Index;
    /// One row for each batch that is being answered.
    type Batches<T>: Rows<T>;
    type Answers: Sink + Deref<Target = [u8]> + Default;
    /// Whether there is room for any batch: what only they need is left out of the program otherwise.
    const BATCHES: bool;
    /// The same for `subscriptions/listen`, and for URIs that are subscribed to.
    const LISTENS: bool;
    const URIS: bool;

    /// The limits as far as there is room.
    fn bound(limits: Limits) -> Limits;
}

/// Rows by their place.
pub(in crate::engine) trait Rows<T>: DerefMut<Target = [T]> + Default {
    /// One more. `None`: there is no room.
    fn push(&mut self, row: T) -> Option<()>;

    fn pop(&mut self) -> Option<T>;
}

/// Finds the places of rows by what is in them.
pub(in crate::engine) trait Index: Default {
    /// The hash, where one is of use.
    fn hash(hash: impl FnOnce() -> u64) -> u64;

    fn len(&self) -> usize;

    /// The first place that `is` it; `places` is how many there are, vacant ones included.
    fn find(&self, hash: u64, places: usize, is: impl FnMut(u32) -> bool) -> Option<u32>;

    /// Every place that may be of this hash.
    fn each(&self, hash: u64, places: usize, visit: impl FnMut(u32));

    fn insert(&mut self, hash: u64, place: u32, rehash: impl Fn(u32) -> u64);

    /// Removes a place that is there.
    fn remove(&mut self, hash: u64, place: u32);

    /// Removes the places that are not to be kept. `keep` is asked of each of `places` that may be there.
    fn retain(&mut self, places: usize, keep: impl FnMut(u32) -> bool);
}

/// The same for ids that are counted.
pub(in crate::engine) trait Ids {
    fn new(seed: u64) -> Self;

    fn len(&self) -> usize;

    /// Adds an id that is greater than any before.
    fn insert(&mut self, id: u64, place: u32);

    fn get(&self, id: u64, places: usize, is: impl FnMut(u32) -> bool) -> Option<u32>;

    /// Removes an id that is there.
    fn remove(&mut self, id: u64);
}

/// Deadlines of rows.
pub(in crate::engine) trait Deadlines: Default {
    fn clear(&mut self, place: u32);
}

/// First in, first out.
pub(in crate::engine) trait Queue<T>: Default {
    /// There is room: see [`Tables::Due`].
    fn push_back(&mut self, element: T);

    fn front(&self) -> Option<&T>;

    fn pop_front(&mut self) -> Option<T>;

    fn retain(&mut self, keep: impl FnMut(&T) -> bool);

    #[cfg(test)]
    fn capacity(&self) -> usize;
}

/// Text that is kept.
pub(in crate::engine) trait Text: Sized + fmt::Debug {
    /// `None`: it is too long.
    fn new(text: &str) -> Option<Self>;

    /// The same of a string's decoded text.
    fn decoded(text: JsonStr<'_>) -> Option<Self>;

    fn as_str(&self) -> &str;
}
