//! What [`Cow`](crate::Cow) is without an allocator.

use core::fmt;
use core::ops::Deref;

/// What is borrowed; with the feature `alloc`, `alloc`'s own type, which may own it as well.
#[expect(
    clippy::exhaustive_enums,
    reason = "what `alloc` has, as far as it can be"
)]
#[derive(Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Cow<'a, B: ?Sized> {
    /// Of somebody else.
    Borrowed(&'a B),
}

impl<B: ?Sized> Clone for Cow<'_, B> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<B: ?Sized> Copy for Cow<'_, B> {}

impl<B: ?Sized> Deref for Cow<'_, B> {
    type Target = B;

    #[inline]
    fn deref(&self) -> &B {
        let Self::Borrowed(value) = self;
        value
    }
}

impl<B: ?Sized> AsRef<B> for Cow<'_, B> {
    fn as_ref(&self) -> &B {
        self
    }
}

impl<'a> From<&'a str> for Cow<'a, str> {
    fn from(text: &'a str) -> Self {
        Self::Borrowed(text)
    }
}

impl PartialEq<str> for Cow<'_, str> {
    fn eq(&self, other: &str) -> bool {
        **self == *other
    }
}

impl PartialEq<&str> for Cow<'_, str> {
    fn eq(&self, other: &&str) -> bool {
        **self == **other
    }
}

impl<B: fmt::Display + ?Sized> fmt::Display for Cow<'_, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}
