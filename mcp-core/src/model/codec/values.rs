//! Strings, numbers and arbitrary JSON.

use crate::Cow;
#[cfg(feature = "alloc")]
use alloc::{boxed::Box, string::String, vec::Vec};

#[cfg(feature = "alloc")]
use super::Own;
use super::{Decode, DecodeError, Encode, Target, Write};
use crate::json::{Json, RawJson, Sink, Writer};
#[cfg(feature = "alloc")]
use crate::model::ClientCapabilities;
use crate::model::ProtocolVersion;

impl<'b> Decode<'b> for Cow<'b, str> {
    fn decode(value: RawJson<'b>) -> Result<Self, DecodeError> {
        let string = value.as_string().ok_or(DecodeError::new("a string"))?;
        #[cfg(feature = "alloc")]
        let text = string.decode();
        // Nothing is decoded without an allocator.
        #[cfg(not(feature = "alloc"))]
        let text = string.as_plain().map(Cow::Borrowed);
        #[cfg(not(feature = "alloc"))]
        let text = text.ok_or(DecodeError::new("a string without escapes"))?;
        Ok(text)
    }
}

impl<'b> Decode<'b> for Json<'b> {
    fn decode(value: RawJson<'b>) -> Result<Self, DecodeError> {
        Ok(value.into())
    }
}

impl Decode<'_> for bool {
    fn decode(value: RawJson<'_>) -> Result<Self, DecodeError> {
        value.as_bool().ok_or(DecodeError::new("`true` or `false`"))
    }
}

impl Decode<'_> for i64 {
    fn decode(value: RawJson<'_>) -> Result<Self, DecodeError> {
        let number = value.as_number().and_then(crate::json::Number::as_i64);
        number.ok_or(DecodeError::new("an integer of 64 bits"))
    }
}

impl Decode<'_> for u64 {
    fn decode(value: RawJson<'_>) -> Result<Self, DecodeError> {
        let number = value.as_number().and_then(crate::json::Number::as_u64);
        number.ok_or(DecodeError::new("an integer of 64 bits, not negative"))
    }
}

impl Decode<'_> for f64 {
    fn decode(value: RawJson<'_>) -> Result<Self, DecodeError> {
        let number = value.as_number().and_then(crate::json::Number::as_f64);
        number.ok_or(DecodeError::new("a number"))
    }
}

#[cfg(feature = "alloc")]
impl<'b, T: Decode<'b>> Decode<'b> for Box<T> {
    fn decode(value: RawJson<'b>) -> Result<Self, DecodeError> {
        T::decode(value).map(Self::new)
    }
}

impl Write for Cow<'_, str> {
    #[inline]
    fn write<S: Sink + ?Sized>(&self, _: Target, json: &mut Writer<'_, S>) {
        json.string(self);
    }
}

impl Write for Json<'_> {
    fn write<S: Sink + ?Sized>(&self, _: Target, json: &mut Writer<'_, S>) {
        Json::write(self, json);
    }
}

impl Write for bool {
    fn write<S: Sink + ?Sized>(&self, _: Target, json: &mut Writer<'_, S>) {
        json.boolean(*self);
    }
}

impl Write for i64 {
    fn write<S: Sink + ?Sized>(&self, _: Target, json: &mut Writer<'_, S>) {
        json.integer(*self);
    }
}

impl Write for u64 {
    fn write<S: Sink + ?Sized>(&self, _: Target, json: &mut Writer<'_, S>) {
        json.unsigned(*self);
    }
}

/// What is not finite becomes null.
impl Write for f64 {
    fn write<S: Sink + ?Sized>(&self, _: Target, json: &mut Writer<'_, S>) {
        json.float(*self);
    }
}

#[cfg(feature = "alloc")]
impl<T: Write> Write for Box<T> {
    fn write<S: Sink + ?Sized>(&self, target: Target, json: &mut Writer<'_, S>) {
        (**self).write(target, json);
    }
}

impl Encode for Json<'_> {
    fn encode<S: Sink + ?Sized>(&self, _: ProtocolVersion, json: &mut Writer<'_, S>) {
        Json::write(self, json);
    }
}

impl Encode for RawJson<'_> {
    fn encode<S: Sink + ?Sized>(&self, _: ProtocolVersion, json: &mut Writer<'_, S>) {
        json.raw(*self);
    }
}

#[cfg(feature = "alloc")]
impl Own for Cow<'_, str> {
    type Owned = Cow<'static, str>;

    fn own(self) -> Cow<'static, str> {
        Cow::Owned(String::from(self))
    }
}

#[cfg(feature = "alloc")]
impl Own for Json<'_> {
    type Owned = Json<'static>;

    fn own(self) -> Self::Owned {
        self.into_owned()
    }
}

#[cfg(feature = "alloc")]
impl<T: Own> Own for Option<T> {
    type Owned = Option<T::Owned>;

    fn own(self) -> Self::Owned {
        self.map(T::own)
    }
}

#[cfg(feature = "alloc")]
impl<T: Own> Own for Vec<T> {
    type Owned = Vec<T::Owned>;

    fn own(self) -> Self::Owned {
        self.into_iter().map(T::own).collect()
    }
}

#[cfg(feature = "alloc")]
impl<T: Own> Own for Box<T> {
    type Owned = Box<T::Owned>;

    fn own(self) -> Self::Owned {
        Box::new((*self).own())
    }
}

macro_rules! own_as_is {
    ($($ty:ty),*) => {$(
        #[cfg(feature = "alloc")]
        impl $crate::model::codec::Own for $ty {
            type Owned = Self;

            fn own(self) -> Self {
                self
            }
        }
    )*};
}

#[cfg(feature = "alloc")]
own_as_is!(bool, i64, u64, f64, ClientCapabilities);

pub(crate) use own_as_is;
