//! Where a page begins, as clients are told.

use core::fmt::{self, Write as _};

use crate::json::JsonStr;

/// How many characters of a cursor are the stamp.
const STAMP: usize = 16;

/// Opaque to clients: which list, and which page of it.
pub(super) struct Cursor {
    pub(super) stamp: u64,
    pub(super) page: usize,
}

impl Cursor {
    /// The page that a cursor of the client's stands for, the first one without. `None`: it is none of the list of this
    /// stamp and so many pages (PAG-04); the empty string never is (PAG-02).
    pub(super) fn page(cursor: Option<JsonStr<'_>>, stamp: u64, pages: usize) -> Option<usize> {
        let Some(cursor) = cursor else {
            return Some(0);
        };
        let digits = cursor.chars().skip(STAMP);
        let mut page = 0_usize;
        for digit in digits {
            let digit = digit.to_digit(16)? as usize;
            page = page.checked_mul(16)?.checked_add(digit)?;
        }
        // Only in the very form it is written in: not `+1`, not `01`.
        let ours = (1..pages).contains(&page) && cursor == *Self { stamp, page }.text();
        ours.then_some(page)
    }

    fn text(&self) -> heapless::String<{ STAMP + 16 }, u8> {
        let mut text = heapless::String::new();
        // A page number has at most 16 digits.
        let _ = write!(text, "{self}");
        text
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0STAMP$x}{:x}", self.stamp, self.page)
    }
}
