//! Lists that come in pages, read to their end.

#[cfg(test)]
mod tests;

use core::fmt;
use core::future::Future;
use core::hash::{BuildHasher, Hash};
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use std::collections::{HashSet, VecDeque};
use std::hash::RandomState;

use futures_lite::{Stream, StreamExt};

use super::error::CallError;

/// More pages than this are an error, unless [`Timeouts`](super::Timeouts) or memory end the list before.
pub(crate) const MAX_PAGES: usize = 10_000;

/// How many bytes of answers may make up a list that is collected: no honest list is that long.
const MAX_COLLECTED: usize = 64 * 1024 * 1024;

/// One page.
pub(crate) struct Page<T> {
    pub(crate) items: Vec<T>,
    /// `None` ends the list; an empty string does not (PAG-02).
    pub(crate) next: Option<String>,
    /// Of what the page holds, cursor excluded.
    pub(crate) fingerprint: u64,
    /// How long the answer was.
    pub(crate) bytes: usize,
}

/// What a page holds, in a number. Two pages that differ have the same one only by an accident of 1 in 2^64.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fingerprints(RandomState);

impl Fingerprints {
    pub(crate) fn of(&self, value: impl Hash) -> u64 {
        self.0.hash_one(value)
    }
}

type Fetching<T> = Pin<Box<dyn Future<Output = Result<Page<T>, CallError>> + Send>>;
type Fetch<T> = Box<dyn FnMut(Option<String>) -> Fetching<T> + Send>;

/// The items of a list, by [`next`](Self::next) or as a stream: the next page is asked for when the last one has been read.
///
/// A list is never cut short in silence: it ends where its server says so, or with an error. It never runs in a circle: a
/// page that comes again under the same cursor is [`CallError::Paging`], and so is the 10,001st page. After an error the
/// stream has ended.
///
/// Dropping it cancels the question that is on its way.
#[must_use = "streams do nothing unless polled"]
pub struct Pager<T> {
    fetch: Fetch<T>,
    items: VecDeque<T>,
    state: State<T>,
    seen: HashSet<u64>,
    fingerprints: Fingerprints,
    pages: usize,
    /// How long all answers were together.
    bytes: usize,
    max_pages: usize,
}

enum State<T> {
    /// The page under this cursor is next; the first has none.
    Next(Option<String>),
    Fetching(Fetching<T>),
    Done,
}

/// Nothing in it is pinned but the boxed future, which is so by itself.
impl<T> Unpin for Pager<T> {}

impl<T> Pager<T> {
    pub(crate) fn new<F>(mut fetch: impl FnMut(Option<String>) -> F + Send + 'static) -> Self
    where
        F: Future<Output = Result<Page<T>, CallError>> + Send + 'static,
    {
        Self {
            fetch: Box::new(move |cursor| Box::pin(fetch(cursor))),
            items: VecDeque::new(),
            state: State::Next(None),
            seen: HashSet::new(),
            fingerprints: Fingerprints::default(),
            pages: 0,
            bytes: 0,
            max_pages: MAX_PAGES,
        }
    }

    /// Another bound than 10,000 pages.
    pub const fn max_pages(mut self, pages: usize) -> Self {
        self.max_pages = pages;
        self
    }

    /// The next item; `None` at the end of the list.
    ///
    /// # Errors
    ///
    /// Those of the calls, and [`CallError::Paging`]. Then it has ended.
    pub async fn next(&mut self) -> Option<Result<T, CallError>> {
        StreamExt::next(self).await
    }

    /// All items.
    ///
    /// # Errors
    ///
    /// Those of the calls, and [`CallError::Paging`].
    pub(crate) async fn collect(mut self) -> Result<Vec<T>, CallError> {
        let mut all = Vec::new();
        while let Some(item) = self.next().await {
            all.push(item?);
            all.extend(self.items.drain(..));
            if self.bytes > MAX_COLLECTED {
                let limit = MAX_COLLECTED;
                return Err(CallError::Paging(PagingFault::TooLarge { limit }));
            }
        }
        Ok(all)
    }

    /// Takes a page; a circle is noticed here.
    fn turn(&mut self, page: Page<T>) -> Result<(), CallError> {
        self.items = page.items.into();
        self.pages += 1;
        self.bytes = self.bytes.saturating_add(page.bytes);
        let Some(cursor) = page.next else {
            self.state = State::Done;
            return Ok(());
        };
        // Servers exist that call each next page the same: that alone is no circle as long as each page is another.
        let turn = self.fingerprints.of((&cursor, page.fingerprint));
        if !self.seen.insert(turn) {
            return Err(CallError::Paging(PagingFault::Circle { pages: self.pages }));
        }
        if self.pages >= self.max_pages {
            return Err(CallError::Paging(PagingFault::TooLong {
                limit: self.max_pages,
            }));
        }
        self.state = State::Next(Some(cursor));
        Ok(())
    }
}

/// Why a list cannot be read to its end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum PagingFault {
    /// The server sends the same page under the same cursor again.
    #[non_exhaustive]
    Circle {
        /// After so many pages.
        pages: usize,
    },
    /// More pages than the limit.
    #[non_exhaustive]
    TooLong {
        /// So many pages were read.
        limit: usize,
    },
    /// More bytes than are held for a list that is wanted as a whole.
    #[non_exhaustive]
    TooLarge {
        /// The limit.
        limit: usize,
    },
}

impl fmt::Display for PagingFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Circle { pages } => write!(
                f,
                "after {pages} pages the server repeats a page and its cursor: its paging has a fault"
            ),
            Self::TooLong { limit } => write!(
                f,
                "the list has more than {limit} pages: raise `Pager::max_pages` if that is right"
            ),
            Self::TooLarge { limit } => write!(
                f,
                "the list is longer than {limit} bytes: take it item by item, as a stream, if that is right"
            ),
        }
    }
}

impl<T> Stream for Pager<T> {
    type Item = Result<T, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = &mut *self;
        loop {
            if let Some(item) = this.items.pop_front() {
                return Poll::Ready(Some(Ok(item)));
            }
            match &mut this.state {
                State::Done => return Poll::Ready(None),
                State::Next(cursor) => {
                    let cursor = cursor.take();
                    this.state = State::Fetching((this.fetch)(cursor));
                }
                State::Fetching(future) => {
                    let page = ready!(future.as_mut().poll(cx));
                    if let Err(error) = page.and_then(|page| this.turn(page)) {
                        this.state = State::Done;
                        // What came with a page that begins a circle is there already.
                        this.items.clear();
                        return Poll::Ready(Some(Err(error)));
                    }
                }
            }
        }
    }
}

impl<T> fmt::Debug for Pager<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pager")
            .field("pages", &self.pages)
            .field("at_hand", &self.items.len())
            .finish_non_exhaustive()
    }
}
