//! Tables of a fixed size, without an allocator.

use super::{Deadlines, Ids, Index, Memory, Queue, Rows, Tables, Text};
use crate::engine::server::CatalogBuilder;
use crate::json::JsonStr;
use crate::limits::Limits;

/// Tables whose size is fixed when the program is compiled: they are part of the engine, and nothing is allocated.
///
/// What there is room for is a limit like any other: an engine lowers the [`Limits`] it is given to what fits, and
/// refuses what is beyond them with the same errors. Look-ups go from row to row, so the tables are meant to be small.
///
/// | Parameter | What it bounds |
/// | --- | --- |
/// | `CALLS` | [`max_in_flight`](Limits::max_in_flight): calls and `subscriptions/listen` that are not answered |
/// | `ID` | [`max_id`](Limits::max_id): bytes of an id or a progress token |
/// | `LISTENERS` | the session, and [`max_subscriptions`](Limits::max_subscriptions): one less |
/// | `URIS` | [`max_subscribed_uris`](Limits::max_subscribed_uris) |
/// | `URI` | [`max_subscribed_uri`](Limits::max_subscribed_uri): bytes of a URI that is subscribed to |
/// | `REQUESTS` | [`max_pending`](Limits::max_pending): requests to the client that are not answered |
///
/// `size_of::<ServerEngine<Fixed<'_, …>>>()` is all the memory that an engine has.
///
/// Batches, which only sessions of 2025-03-26 have, are refused whole.
///
/// The catalog is a [`CatalogBuilder`], which can be a `static`: what it lists is written afresh at each request. The
/// builder does not check it: let a test [`build`](CatalogBuilder::build) it where there is an allocator.
///
/// ```
/// use mcp_core::Limits;
/// use mcp_core::engine::Fixed;
/// use mcp_core::engine::server::{CatalogBuilder, ServerEngine};
/// use mcp_core::model::Implementation;
///
/// static SERVER: Implementation<'_> = Implementation::constant("lamp", "1.0.0");
/// static CATALOG: CatalogBuilder<'_> = CatalogBuilder::new(&SERVER).logging(true);
///
/// let engine: ServerEngine<Fixed<'_, 2, 24>> = ServerEngine::with_memory(&CATALOG, Limits::DEFAULT, 7);
/// assert_eq!(engine.limits().max_in_flight, 2);
/// assert_eq!(engine.limits().max_id, 24);
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Fixed<
    'c,
    const CALLS: usize = 4,
    const ID: usize = 40,
    const LISTENERS: usize = 2,
    const URIS: usize = 4,
    const URI: usize = 64,
    const REQUESTS: usize = 1,
>(core::marker::PhantomData<&'c ()>);

impl<
    'c,
    const CALLS: usize,
    const ID: usize,
    const LISTENERS: usize,
    const URIS: usize,
    const URI: usize,
    const REQUESTS: usize,
> Memory for Fixed<'c, CALLS, ID, LISTENERS, URIS, URI, REQUESTS>
{
    type Catalog = &'c CatalogBuilder<'c>;
}

impl<
    const CALLS: usize,
    const ID: usize,
    const LISTENERS: usize,
    const URIS: usize,
    const URI: usize,
    const REQUESTS: usize,
> Tables for Fixed<'_, CALLS, ID, LISTENERS, URIS, URI, REQUESTS>
{
    type Calls<T> = heapless::Vec<T, CALLS>;
    type Id = heapless::String<ID>;
    type Requests<T> = heapless::Vec<T, REQUESTS>;
    type RequestIds = Scan;
    type Deadlines = NoDeadlines;
    type Listeners<T> = heapless::Vec<T, LISTENERS>;
    type Watches<T> = heapless::Vec<T, URIS>;
    type Uri = heapless::String<URI>;
    type Due<T: Copy> = Ring<T, LISTENERS, URIS>;
    type Index = Scan;
    type Batches<T> = heapless::Vec<T, 0>;
    type Answers = heapless::Vec<u8, 0>;
    const BATCHES: bool = false;
    const LISTENS: bool = LISTENERS > 1;
    const URIS: bool = URIS > 0;

    fn bound(limits: Limits) -> Limits {
        // The session is a listener too, and there may be one at any time.
        const { assert!(LISTENERS > 0, "the session needs a listener") };
        Limits {
            max_in_flight: limits.max_in_flight.min(CALLS),
            max_pending: limits.max_pending.min(REQUESTS),
            max_id: limits.max_id.min(ID),
            max_batch: 0,
            max_subscriptions: limits.max_subscriptions.min(LISTENERS - 1),
            max_subscribed_uris: limits.max_subscribed_uris.min(URIS),
            max_subscribed_uri: limits.max_subscribed_uri.min(URI),
            ..limits
        }
    }
}

impl<T, const N: usize> Rows<T> for heapless::Vec<T, N> {
    fn push(&mut self, row: T) -> Option<()> {
        self.push(row).ok()
    }

    fn pop(&mut self) -> Option<T> {
        self.pop()
    }
}

/// Looks at one row after the other.
#[derive(Debug, Default)]
pub(in crate::engine) struct Scan {
    len: usize,
}

impl Index for Scan {
    fn hash(_: impl FnOnce() -> u64) -> u64 {
        0
    }

    fn len(&self) -> usize {
        self.len
    }

    fn find(&self, _: u64, places: usize, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        (0..places as u32).find(|&place| is(place))
    }

    fn each(&self, _: u64, places: usize, visit: impl FnMut(u32)) {
        (0..places as u32).for_each(visit);
    }

    fn insert(&mut self, _: u64, _: u32, _: impl Fn(u32) -> u64) {
        self.len += 1;
    }

    fn remove(&mut self, _: u64, _: u32) {
        self.len -= 1;
    }

    fn retain(&mut self, places: usize, mut keep: impl FnMut(u32) -> bool) {
        self.len -= (0..places as u32).filter(|&place| !keep(place)).count();
    }
}

impl Ids for Scan {
    fn new(_: u64) -> Self {
        Self::default()
    }

    fn len(&self) -> usize {
        self.len
    }

    fn insert(&mut self, _: u64, _: u32) {
        self.len += 1;
    }

    fn get(&self, _: u64, places: usize, mut is: impl FnMut(u32) -> bool) -> Option<u32> {
        (0..places as u32).find(|&place| is(place))
    }

    fn remove(&mut self, _: u64) {
        self.len -= 1;
    }
}

/// No request has one.
#[derive(Debug, Default)]
pub(in crate::engine) struct NoDeadlines;

impl Deadlines for NoDeadlines {
    fn clear(&mut self, _: u32) {}
}

/// A queue of at most `3 * L + W` elements.
#[derive(Debug)]
pub(in crate::engine) struct Ring<T, const L: usize, const W: usize> {
    lists: [[Option<T>; 3]; L],
    watches: [Option<T>; W],
    first: usize,
    len: usize,
}

impl<T: Copy, const L: usize, const W: usize> Default for Ring<T, L, W> {
    fn default() -> Self {
        Self {
            lists: [[None; 3]; L],
            watches: [None; W],
            first: 0,
            len: 0,
        }
    }
}

impl<T, const L: usize, const W: usize> Ring<T, L, W> {
    const CAPACITY: usize = 3 * L + W;

    fn place(&mut self, nth: usize) -> Option<&mut Option<T>> {
        let at = (self.first + nth) % Self::CAPACITY.max(1);
        self.lists
            .as_flattened_mut()
            .iter_mut()
            .chain(&mut self.watches)
            .nth(at)
    }
}

impl<T: Copy, const L: usize, const W: usize> Queue<T> for Ring<T, L, W> {
    fn push_back(&mut self, element: T) {
        debug_assert!(self.len < Self::CAPACITY, "one for each that can be due");
        if let Some(place) = self.place(self.len) {
            *place = Some(element);
            self.len += 1;
        }
    }

    fn front(&self) -> Option<&T> {
        let lists = self.lists.as_flattened();
        lists.iter().chain(&self.watches).nth(self.first)?.as_ref()
    }

    fn pop_front(&mut self) -> Option<T> {
        let element = self.place(0)?.take()?;
        self.first = (self.first + 1) % Self::CAPACITY.max(1);
        self.len -= 1;
        Some(element)
    }

    fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        for _ in 0..self.len {
            if let Some(element) = self.pop_front()
                && keep(&element)
            {
                self.push_back(element);
            }
        }
    }

    #[cfg(test)]
    fn capacity(&self) -> usize {
        Self::CAPACITY
    }
}

impl<const N: usize> Text for heapless::String<N> {
    fn new(text: &str) -> Option<Self> {
        Self::try_from(text).ok()
    }

    fn decoded(text: JsonStr<'_>) -> Option<Self> {
        let mut decoded = Self::new();
        for char in text.chars() {
            decoded.push(char).ok()?;
        }
        Some(decoded)
    }

    fn as_str(&self) -> &str {
        self.as_str()
    }
}
