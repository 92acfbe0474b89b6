//! From spans to structs and back: the traits, and the macros that make them from one table of fields for each type.
//!
//! Reading takes what any revision has: unknown members are passed over, `null` for an optional member means that it is
//! absent, a known member that occurs twice is refused (two readers could see two values). Writing leaves out what the
//! revision written to does not have.

mod names;
mod record;
mod values;

use core::fmt;

use super::ProtocolVersion;
use super::cache::CacheHint;
#[cfg(feature = "alloc")]
use crate::json::Json;
use crate::json::{RawJson, Sink, Writer};

pub(crate) use names::{names, serde_impls, value_impls};
pub(crate) use record::{constructor, decode_field, field_type, record, result_impls, write_field};
pub(crate) use values::own_as_is;

/// A type that is read from checked JSON.
pub trait Decode<'b>: Sized {
    /// Reads a value of any revision.
    ///
    /// # Errors
    ///
    /// The first member that is missing, occurs twice or is not what it has to be.
    fn decode(value: RawJson<'b>) -> Result<Self, DecodeError>;
}

/// A type that is written as one JSON value.
pub trait Encode {
    /// Writes the value as `version` has it.
    fn encode<S: Sink + ?Sized>(&self, version: ProtocolVersion, json: &mut Writer<'_, S>);

    /// The value as `version` has it, in a text of its own.
    #[cfg(feature = "alloc")]
    fn to_json(&self, version: ProtocolVersion) -> Json<'static> {
        Json::written_unchecked(|json| self.encode(version, json))
    }
}

/// A type that is the result of a request.
///
/// The members of every result are not its business: who answers opens the object and writes `resultType`, `_meta` with
/// [`meta`](Self::meta) in it, `ttlMs` and `cacheScope`.
pub trait EncodeResult {
    /// Writes the members into an open object.
    fn members<S: Sink + ?Sized>(&self, version: ProtocolVersion, json: &mut Writer<'_, S>);

    /// The `_meta` to be sent with it: an object.
    fn meta(&self) -> Option<RawJson<'_>> {
        None
    }

    /// How long it may be cached, if it says so itself and is of a kind that may be (CAC-01).
    fn cache(&self) -> Option<CacheHint> {
        None
    }
}

impl<T: EncodeResult + ?Sized> EncodeResult for &T {
    fn members<S: Sink + ?Sized>(&self, version: ProtocolVersion, json: &mut Writer<'_, S>) {
        (**self).members(version, json);
    }

    fn meta(&self) -> Option<RawJson<'_>> {
        (**self).meta()
    }

    fn cache(&self) -> Option<CacheHint> {
        (**self).cache()
    }
}

/// What is wrong with a value that was to be decoded.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct DecodeError {
    /// The innermost type that could not be read, such as `Tool`.
    pub record: &'static str,
    /// Its member, by the name on the wire; empty if it is the value as a whole.
    pub field: &'static str,
    /// What it has to be, such as `a string`.
    pub expected: &'static str,
}

impl DecodeError {
    pub(crate) const fn new(expected: &'static str) -> Self {
        Self {
            record: "",
            field: "",
            expected,
        }
    }

    /// The same, saying where, if that is not known yet.
    pub(crate) const fn at(self, record: &'static str, field: &'static str) -> Self {
        if self.record.is_empty() {
            Self {
                record,
                field,
                expected: self.expected,
            }
        } else {
            self
        }
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.record)?;
        if !self.field.is_empty() {
            write!(f, ".{}", self.field)?;
        }
        write!(f, ": expected {}", self.expected)
    }
}

impl core::error::Error for DecodeError {}

/// What is written to: one revision, or all of them at once, so that nothing is left out.
#[derive(Clone, Copy)]
pub(crate) struct Target(u8);

pub(crate) const A: u32 = 0;
pub(crate) const B: u32 = 1;
pub(crate) const C: u32 = 2;
pub(crate) const D: u32 = 3;
pub(crate) const E: u32 = 4;

impl Target {
    /// Where nothing is negotiated.
    pub(crate) const ANY: Self = Self(0x1f);

    #[inline]
    pub(crate) const fn of(version: ProtocolVersion) -> Self {
        Self(1 << version.index())
    }

    /// Whether it is one of the revisions from `first` to `last`.
    #[inline]
    pub(crate) const fn within(self, first: u32, last: u32) -> bool {
        let revisions = (1_u8 << (last + 1)) - (1 << first);
        self.0 & revisions != 0
    }

    #[inline]
    pub(crate) const fn since(self, first: u32) -> bool {
        self.within(first, E)
    }
}

/// [`Encode`], for any [`Target`].
pub(crate) trait Write {
    fn write<S: Sink + ?Sized>(&self, target: Target, json: &mut Writer<'_, S>);
}

/// Cuts the ties to the message.
#[cfg(feature = "alloc")]
pub(crate) trait Own {
    type Owned: 'static;
    fn own(self) -> Self::Owned;
}

pub(crate) fn required<'b, T: Decode<'b>>(value: Option<RawJson<'b>>) -> Result<T, DecodeError> {
    match value {
        Some(value) => T::decode(value),
        // What is wrong with null says what it has to be.
        None => T::decode(RawJson::NULL).and(Err(DecodeError::new("a value"))),
    }
}

pub(crate) fn optional<'b, T: Decode<'b>>(
    value: Option<RawJson<'b>>,
) -> Result<Option<T>, DecodeError> {
    value
        .filter(|value| !value.is_null())
        .map(T::decode)
        .transpose()
}
