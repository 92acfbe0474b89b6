//! A list, serialised once for each revision and cut into pages.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::hash::BuildHasher;

use foldhash::fast::FixedState;

use super::cursor::Cursor;
use super::text::{by_version, text};
use crate::json::{JsonStr, Sink, Writer};
use crate::model::{Encode, ProtocolVersion};

/// The elements of a list. A page is a slice of their text.
#[derive(Debug)]
pub(super) struct List {
    /// By version; revisions that see the same share one text.
    pages: [Arc<Pages>; ProtocolVersion::TABLE.len()],
    stamp: u64,
}

#[derive(Debug, PartialEq)]
struct Pages {
    /// The elements, with commas between them.
    text: Arc<str>,
    /// Where each page ends in the text; the comma after it belongs to none. At least one: a list of nothing is a page.
    ends: Vec<usize>,
}

impl List {
    /// Pages of `size` elements, the last one of fewer.
    pub(super) fn new<T: Encode>(name: &str, elements: &[T], size: usize) -> Self {
        let mut previous: Option<Arc<Pages>> = None;
        let pages = by_version(|version| {
            let pages = Arc::new(Pages::new(elements, size, version));
            if previous.as_ref() != Some(&pages) {
                previous = Some(pages);
            }
            previous.clone().expect("there is one by now")
        });
        let newest = &pages[ProtocolVersion::LATEST_MODERN.index()];
        Self {
            // Whether a cursor is of this very list: of its name, its content, and the way it is cut.
            stamp: FixedState::default().hash_one((name, &*newest.text, size)),
            pages,
        }
    }

    /// The page that a cursor of the client's stands for, the first one without. `None`: it is no cursor of this list as
    /// it is now (PAG-04); the empty string never is (PAG-02).
    pub(super) fn page(&self, cursor: Option<JsonStr<'_>>) -> Option<usize> {
        Cursor::page(cursor, self.stamp, self.pages[0].ends.len())
    }

    /// Writes `"name":[…]`, and `"nextCursor"` if there are more pages: never null (PAG-03).
    pub(super) fn write<S: Sink + ?Sized>(
        &self,
        name: &str,
        page: usize,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
    ) {
        let pages = &self.pages[version.index()];
        json.key(name);
        json.begin_array();
        json.compact(pages.slice(page));
        json.end_array();
        if page + 1 < pages.ends.len() {
            json.key("nextCursor");
            json.display(&self.cursor(page + 1));
        }
    }

    const fn cursor(&self, page: usize) -> Cursor {
        Cursor {
            stamp: self.stamp,
            page,
        }
    }
}

impl Pages {
    fn new<T: Encode>(elements: &[T], size: usize, version: ProtocolVersion) -> Self {
        let mut ends = Vec::new();
        let mut written = String::new();
        for page in elements.chunks(size.max(1)) {
            for element in page {
                if !written.is_empty() {
                    written.push(',');
                }
                written.push_str(&text(|json| element.encode(version, json)));
            }
            ends.push(written.len());
        }
        if ends.is_empty() {
            ends.push(0);
        }
        Self {
            text: written.into(),
            ends,
        }
    }

    fn slice(&self, page: usize) -> &str {
        let start = match page.checked_sub(1) {
            Some(before) => self.ends[before] + 1,
            None => 0,
        };
        &self.text[start..self.ends[page]]
    }
}
