//! Lists and maps, borrowed or owned.

use crate::Cow;
#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;

#[cfg(feature = "alloc")]
use super::codec::Own;
use super::codec::{Decode, DecodeError};
use super::codec::{Target, Write};
#[cfg(feature = "alloc")]
use crate::json::RawJson;
use crate::json::{Sink, Writer};

/// A list, borrowed or owned: a `Cow<[T]>` that, unlike one, may stand where shorter-lived elements are asked for.
///
/// Made `from` a slice, an array or a `Vec`, or collected; read as a slice, or taken apart:
///
/// ```
/// use mcp_core::model::List;
///
/// let words = ["one".to_owned(), "two".to_owned()];
/// for list in [List::from(&words), List::from(words.clone())] {
///     let taken: Vec<String> = list.into_iter().collect();
///     assert_eq!(taken, words);
/// }
/// ```
#[expect(clippy::exhaustive_enums, reason = "borrowed or owned, as in `Cow`")]
#[derive(Clone)]
pub enum List<'a, T> {
    /// Of somebody else.
    Borrowed(&'a [T]),
    /// Of its own.
    #[cfg(feature = "alloc")]
    Owned(Vec<T>),
}

impl<T> List<'_, T> {
    /// No elements.
    pub const EMPTY: Self = Self::Borrowed(&[]);

    /// The elements.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn into_vec(self) -> Vec<T>
    where
        T: Clone,
    {
        match self {
            Self::Borrowed(list) => list.to_vec(),
            Self::Owned(list) => list,
        }
    }
}

impl<T> Deref for List<'_, T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match self {
            Self::Borrowed(list) => list,
            #[cfg(feature = "alloc")]
            Self::Owned(list) => list,
        }
    }
}

impl<T> Default for List<'_, T> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<T: PartialEq> PartialEq for List<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for List<'_, T> {}

impl<T: fmt::Debug> fmt::Debug for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(feature = "alloc")]
impl<T> From<Vec<T>> for List<'_, T> {
    fn from(list: Vec<T>) -> Self {
        Self::Owned(list)
    }
}

#[cfg(feature = "alloc")]
impl<T, const N: usize> From<[T; N]> for List<'_, T> {
    fn from(list: [T; N]) -> Self {
        Self::Owned(list.into())
    }
}

impl<'a, T> From<&'a [T]> for List<'a, T> {
    fn from(list: &'a [T]) -> Self {
        Self::Borrowed(list)
    }
}

#[cfg(feature = "alloc")]
impl<'a, T> From<&'a Vec<T>> for List<'a, T> {
    fn from(list: &'a Vec<T>) -> Self {
        Self::Borrowed(list)
    }
}

impl<'a, T, const N: usize> From<&'a [T; N]> for List<'a, T> {
    fn from(list: &'a [T; N]) -> Self {
        Self::Borrowed(list)
    }
}

#[cfg(feature = "alloc")]
impl<T> FromIterator<T> for List<'_, T> {
    fn from_iter<I: IntoIterator<Item = T>>(elements: I) -> Self {
        Self::Owned(elements.into_iter().collect())
    }
}

#[cfg(feature = "alloc")]
impl<T: Clone> IntoIterator for List<'_, T> {
    type Item = T;
    type IntoIter = alloc::vec::IntoIter<T>;

    /// The elements, copied if they are of somebody else.
    fn into_iter(self) -> Self::IntoIter {
        self.into_vec().into_iter()
    }
}

impl<'l, T> IntoIterator for &'l List<'_, T> {
    type Item = &'l T;
    type IntoIter = core::slice::Iter<'l, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(feature = "alloc")]
impl<'b, T: Decode<'b>> Decode<'b> for List<'_, T> {
    fn decode(value: RawJson<'b>) -> Result<Self, DecodeError> {
        let elements = value.as_array().ok_or(DecodeError::new("an array"))?;
        elements.map(T::decode).collect()
    }
}

impl<T: Write> Write for List<'_, T> {
    #[inline]
    fn write<S: Sink + ?Sized>(&self, target: Target, json: &mut Writer<'_, S>) {
        json.begin_array();
        for element in self {
            element.write(target, json);
        }
        json.end_array();
    }
}

#[cfg(feature = "alloc")]
impl<T: Own + Clone> Own for List<'_, T> {
    type Owned = List<'static, T::Owned>;

    fn own(self) -> List<'static, T::Owned> {
        self.into_vec().into_iter().map(T::own).collect()
    }
}

/// An object whose names are data: values by name, in the order of the text. A name does not occur twice.
#[derive(Clone)]
pub struct Map<'a, T>(List<'a, (Cow<'a, str>, T)>);

impl<'a, T> Map<'a, T> {
    /// Nothing.
    pub const EMPTY: Self = Self(List::EMPTY);

    /// The value of this name. Looks at one after the other.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&T> {
        self.iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    /// The names and their values.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &T)> {
        self.0.iter().map(|(name, value)| (&**name, value))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    #[cfg(feature = "alloc")]
    /// Puts in a value, in the place of the one that had its name if there was one.
    pub fn insert(&mut self, name: impl Into<Cow<'a, str>>, value: T)
    where
        T: Clone,
    {
        let name = name.into();
        let mut entries = core::mem::take(&mut self.0).into_vec();
        match entries.iter_mut().find(|(known, _)| *known == name) {
            Some(entry) => entry.1 = value,
            None => entries.push((name, value)),
        }
        self.0 = List::Owned(entries);
    }
}

impl<T> Default for Map<'_, T> {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl<T: PartialEq> PartialEq for Map<'_, T> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Map<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

#[cfg(feature = "alloc")]
/// Of entries of one name the last counts.
impl<'a, T: Clone, N: Into<Cow<'a, str>>> FromIterator<(N, T)> for Map<'a, T> {
    fn from_iter<I: IntoIterator<Item = (N, T)>>(entries: I) -> Self {
        let mut entries: Vec<_> = entries
            .into_iter()
            .map(|(name, value)| (name.into(), value))
            .collect();
        if twice(&entries) {
            let mut order: Vec<usize> = (0..entries.len()).collect();
            order.sort_by(|&one, &other| entries[one].0.cmp(&entries[other].0));
            let replaced: Vec<usize> = order
                .windows(2)
                .filter(|pair| entries[pair[0]].0 == entries[pair[1]].0)
                .map(|pair| pair[0])
                .collect();
            let mut keep = alloc::vec![true; entries.len()];
            for at in replaced {
                keep[at] = false;
            }
            let mut keep = keep.into_iter();
            entries.retain(|_| keep.next() == Some(true));
        }
        Self(List::Owned(entries))
    }
}

#[cfg(feature = "alloc")]
impl<'a, T: Clone, N: Into<Cow<'a, str>>, const L: usize> From<[(N, T); L]> for Map<'a, T> {
    fn from(entries: [(N, T); L]) -> Self {
        entries.into_iter().collect()
    }
}

#[cfg(feature = "alloc")]
/// Whether a name occurs twice.
fn twice<T>(entries: &[(Cow<'_, str>, T)]) -> bool {
    // Peers choose how many: no quadratic search.
    let mut names: Vec<&str> = entries.iter().map(|(name, _)| &**name).collect();
    names.sort_unstable();
    names.windows(2).any(|pair| pair[0] == pair[1])
}

#[cfg(feature = "alloc")]
impl<'b, T: Decode<'b>> Decode<'b> for Map<'b, T> {
    fn decode(value: RawJson<'b>) -> Result<Self, DecodeError> {
        let members = value.as_object().ok_or(DecodeError::new("an object"))?;
        let entries = members
            .map(|(name, value)| Ok((name.decode(), T::decode(value)?)))
            .collect::<Result<Vec<_>, DecodeError>>()?;
        if twice(&entries) {
            return Err(DecodeError::new("each name only once"));
        }
        Ok(Self(List::Owned(entries)))
    }
}

impl<T: Write> Write for Map<'_, T> {
    fn write<S: Sink + ?Sized>(&self, target: Target, json: &mut Writer<'_, S>) {
        json.begin_object();
        for (name, value) in self.iter() {
            json.key(name);
            value.write(target, json);
        }
        json.end_object();
    }
}

#[cfg(feature = "alloc")]
impl<T: Own + Clone> Own for Map<'_, T> {
    type Owned = Map<'static, T::Owned>;

    fn own(self) -> Self::Owned {
        let entries = self.0.into_vec().into_iter();
        Map(entries
            .map(|(name, value)| (name.own(), value.own()))
            .collect())
    }
}
