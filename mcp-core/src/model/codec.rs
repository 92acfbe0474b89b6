//! From spans to structs and back: the traits, and the macros that make them from one table of fields for each type.
//!
//! Reading takes what any revision has: unknown members are passed over, `null` for an optional member means that it is
//! absent, a known member that occurs twice is refused (two readers could see two values). Writing leaves out what the
//! revision written to does not have.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::cache::CacheHint;
use super::{ClientCapabilities, ProtocolVersion};
use crate::json::{Json, RawJson, Sink, Writer};

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
    fn to_json(&self, version: ProtocolVersion) -> Json<'static> {
        Json::written(|json| self.encode(version, json))
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
pub(crate) trait Own {
    type Owned: 'static;
    fn own(self) -> Self::Owned;
}

impl<'b> Decode<'b> for Cow<'b, str> {
    fn decode(value: RawJson<'b>) -> Result<Self, DecodeError> {
        let string = value.as_string().ok_or(DecodeError::new("a string"))?;
        Ok(string.decode())
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

impl Own for Cow<'_, str> {
    type Owned = Cow<'static, str>;

    fn own(self) -> Cow<'static, str> {
        Cow::Owned(String::from(self))
    }
}

impl Own for Json<'_> {
    type Owned = Json<'static>;

    fn own(self) -> Self::Owned {
        self.into_owned()
    }
}

impl<T: Own> Own for Option<T> {
    type Owned = Option<T::Owned>;

    fn own(self) -> Self::Owned {
        self.map(T::own)
    }
}

impl<T: Own> Own for Vec<T> {
    type Owned = Vec<T::Owned>;

    fn own(self) -> Self::Owned {
        self.into_iter().map(T::own).collect()
    }
}

impl<T: Own> Own for Box<T> {
    type Owned = Box<T::Owned>;

    fn own(self) -> Self::Owned {
        Box::new((*self).own())
    }
}

macro_rules! own_as_is {
    ($($ty:ty),*) => {$(
        impl $crate::model::codec::Own for $ty {
            type Owned = Self;

            fn own(self) -> Self {
                self
            }
        }
    )*};
}

own_as_is!(bool, i64, u64, f64, ClientCapabilities);

/// Serialisation as the value itself, with everything that any revision has; deserialising gives owned values.
#[cfg(feature = "serde")]
macro_rules! serde_impls {
    ($name:ident $(<$lt:lifetime>)?) => {
        impl serde::Serialize for $name $(<$lt>)? {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use $crate::model::codec::{Target, Write};
                $crate::json::Json::written(|json| self.write(Target::ANY, json))
                    .serialize(serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name $(<$lt>)? {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                use $crate::model::codec::{Decode, Own};
                let json = <$crate::json::Json<'_> as serde::Deserialize>::deserialize(deserializer)?;
                let value: Result<$name $(<$lt>)?, _> = Decode::decode(json.raw());
                value.map(Own::own).map_err(serde::de::Error::custom)
            }
        }
    };
}

#[cfg(not(feature = "serde"))]
macro_rules! serde_impls {
    ($($any:tt)*) => {};
}

/// What is the same for every type that is [`Write`] and [`Own`].
macro_rules! value_impls {
    ($name:ident) => {
        impl $crate::model::codec::Encode for $name {
            fn encode<S: $crate::json::Sink + ?Sized>(
                &self,
                version: $crate::model::ProtocolVersion,
                json: &mut $crate::json::Writer<'_, S>,
            ) {
                use $crate::model::codec::{Target, Write};
                self.write(Target::of(version), json);
            }
        }

        $crate::model::codec::serde_impls!($name);
    };
    ($name:ident<'_>) => {
        impl $crate::model::codec::Encode for $name<'_> {
            #[inline]
            fn encode<S: $crate::json::Sink + ?Sized>(
                &self,
                version: $crate::model::ProtocolVersion,
                json: &mut $crate::json::Writer<'_, S>,
            ) {
                use $crate::model::codec::{Target, Write};
                self.write(Target::of(version), json);
            }
        }

        impl $name<'_> {
            /// The same, kept for as long as wanted: what was borrowed is copied.
            #[must_use]
            pub fn into_owned(self) -> $name<'static> {
                $crate::model::codec::Own::own(self)
            }
        }

        $crate::model::codec::serde_impls!($name<'_>);
    };
}

/// Makes a struct of the wire, and its reading and writing, from one table:
///
/// ```text
/// field: kind Type = "wireName" as codec [first last] if keep;
/// ```
///
/// `codec` is a module that reads and writes the member, if its type does not;
/// `first` and `last` are the revisions that have the member, A to E (all, if they are left out); `keep` says for a
/// `(&Type, Target)` whether it can be written there. The kinds:
///
/// - `req`: required, an `Into` in `new`; `num`: the same, as it is in `new`;
/// - `opt`: an `Option`, null read as absent; `keep`: an `Option` where null is a value;
/// - `nul`: an `Option` that is always written, `None` as null;
/// - `flag`: a `bool`, absent if false;
/// - `off`: not on the wire.
///
/// The members under `around` are those of every result: not among [`EncodeResult::members`].
macro_rules! record {
    (
        $(#[$doc:meta])*
        pub struct $name:ident<$lt:lifetime> $(tag $tag:literal = $tag_value:literal)? {
            $(
                $(#[$field_doc:meta])*
                $field:ident: $kind:ident $ty:ty = $wire:literal $(as $codec:ident)?
                    $([$first:ident $last:ident])? $(if $keep:path)?;
            )*
        }
        $(around {
            $(
                $(#[$around_doc:meta])*
                $around:ident: opt $around_ty:ty = $around_wire:literal [$around_first:ident $around_last:ident];
            )*
        })?
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub struct $name<$lt> {
            $($(#[$field_doc])* pub $field: $crate::model::codec::field_type!($kind $ty),)*
            $($($(#[$around_doc])* pub $around: Option<$around_ty>,)*)?
        }

        $crate::model::codec::constructor! {
            $name $lt [] []
            $($field $kind [$ty];)* $($($around opt [$around_ty];)*)?
        }

        impl<$lt> $crate::model::codec::Decode<$lt> for $name<$lt> {
            fn decode(
                value: $crate::json::RawJson<$lt>,
            ) -> Result<Self, $crate::model::codec::DecodeError> {
                use $crate::model::codec::DecodeError;
                const RECORD: &str = stringify!($name);
                $(let mut $field: Option<$crate::json::RawJson<$lt>> = None;)*
                $($(let mut $around: Option<$crate::json::RawJson<$lt>> = None;)*)?
                let members = value
                    .as_object()
                    .ok_or(DecodeError::new("an object").at(RECORD, ""))?;
                for (name, value) in members {
                    let (slot, wire) = match &*name.decode() {
                        $($wire => (&mut $field, $wire),)*
                        $($($around_wire => (&mut $around, $around_wire),)*)?
                        _ => continue,
                    };
                    if slot.replace(value).is_some() {
                        return Err(DecodeError::new("one of it only").at(RECORD, wire));
                    }
                }
                Ok(Self {
                    $($field: $crate::model::codec::decode_field!($kind $field $($codec)?)
                        .map_err(|error: DecodeError| error.at(RECORD, $wire))?,)*
                    $($($around: $crate::model::codec::decode_field!(opt $around)
                        .map_err(|error: DecodeError| error.at(RECORD, $around_wire))?,)*)?
                })
            }
        }

        impl $name<'_> {
            /// Writes the members into an open object.
            pub(crate) fn write_members<S: $crate::json::Sink + ?Sized>(
                &self,
                target: $crate::model::codec::Target,
                json: &mut $crate::json::Writer<'_, S>,
            ) {
                #[allow(unused_imports, reason = "a type may have nothing that changed")]
                use $crate::model::codec::{A, B, C, D, E};
                $($crate::model::codec::write_field! {
                    $kind (&self.$field) $wire target json [$($first $last)?] [$($keep)?] $($codec)?
                })*
                let _ = (target, json);
            }
        }

        impl $crate::model::codec::Write for $name<'_> {
            fn write<S: $crate::json::Sink + ?Sized>(
                &self,
                target: $crate::model::codec::Target,
                json: &mut $crate::json::Writer<'_, S>,
            ) {
                json.begin_object();
                $(
                    json.open(concat!("\"", $tag, "\":"));
                    json.string($tag_value);
                )?
                self.write_members(target, json);
                $(
                    #[allow(unused_imports, reason = "a type may have nothing that changed")]
                    use $crate::model::codec::{A, B, C, D, E};
                    $($crate::model::codec::write_field! {
                        opt (&self.$around) $around_wire target json [$around_first $around_last] []
                    })*
                )?
                json.end_object();
            }
        }

        impl $crate::model::codec::Own for $name<'_> {
            type Owned = $name<'static>;

            fn own(self) -> $name<'static> {
                use $crate::model::codec::Own;
                $name {
                    $($field: Own::own(self.$field),)*
                    $($($around: Own::own(self.$around),)*)?
                }
            }
        }

        $crate::model::codec::value_impls!($name<'_>);
    };
}

macro_rules! field_type {
    (req $ty:ty) => { $ty };
    (num $ty:ty) => { $ty };
    (off $ty:ty) => { $ty };
    (opt $ty:ty) => { Option<$ty> };
    (keep $ty:ty) => { Option<$ty> };
    (nul $ty:ty) => { Option<$ty> };
    (flag $ty:ty) => { $ty };
}

/// `new`, with what is required; a type that requires nothing derives `Default` instead.
macro_rules! constructor {
    ($name:ident $lt:lifetime [$($param:tt)*] [$($init:tt)*] $field:ident req [$ty:ty]; $($rest:tt)*) => {
        $crate::model::codec::constructor! {
            $name $lt [$($param)* $field: impl Into<$ty>,] [$($init)* $field: $field.into(),] $($rest)*
        }
    };
    ($name:ident $lt:lifetime [$($param:tt)*] [$($init:tt)*] $field:ident num [$ty:ty]; $($rest:tt)*) => {
        $crate::model::codec::constructor! {
            $name $lt [$($param)* $field: $ty,] [$($init)* $field,] $($rest)*
        }
    };
    ($name:ident $lt:lifetime [$($param:tt)*] [$($init:tt)*] $field:ident flag [$ty:ty]; $($rest:tt)*) => {
        $crate::model::codec::constructor! {
            $name $lt [$($param)*] [$($init)* $field: false,] $($rest)*
        }
    };
    ($name:ident $lt:lifetime [$($param:tt)*] [$($init:tt)*] $field:ident off [$ty:ty]; $($rest:tt)*) => {
        $crate::model::codec::constructor! {
            $name $lt [$($param)*] [$($init)* $field: Default::default(),] $($rest)*
        }
    };
    ($name:ident $lt:lifetime [$($param:tt)*] [$($init:tt)*] $field:ident $kind:ident [$ty:ty]; $($rest:tt)*) => {
        $crate::model::codec::constructor! {
            $name $lt [$($param)*] [$($init)* $field: None,] $($rest)*
        }
    };
    ($name:ident $lt:lifetime [] [$($init:tt)*]) => {};
    ($name:ident $lt:lifetime [$($param:tt)+] [$($init:tt)*]) => {
        impl<$lt> $name<$lt> {
            /// What is required, and nothing else.
            #[must_use]
            pub fn new($($param)+) -> Self {
                Self { $($init)* }
            }
        }
    };
}

macro_rules! decode_field {
    (req $field:ident $codec:ident) => {
        $codec::decode($field.unwrap_or($crate::json::RawJson::NULL))
    };
    (req $field:ident) => {
        $crate::model::codec::required($field)
    };
    (num $field:ident) => {
        $crate::model::codec::required($field)
    };
    (opt $field:ident) => {
        $crate::model::codec::optional($field)
    };
    (nul $field:ident) => {
        $crate::model::codec::optional($field)
    };
    (keep $field:ident) => {
        Ok::<_, DecodeError>($field.map($crate::json::Json::from))
    };
    (flag $field:ident) => {
        $crate::model::codec::optional($field).map(|flag| flag.unwrap_or(false))
    };
    (off $field:ident) => {{
        let _: Option<$crate::json::RawJson<'_>> = $field;
        Ok::<_, DecodeError>(Default::default())
    }};
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

macro_rules! write_field {
    (off $($any:tt)*) => {};
    (req ($value:expr) $wire:literal $target:ident $json:ident [] [] $codec:ident) => {
        $json.open(concat!("\"", $wire, "\":"));
        $codec::write($value, $target, $json);
    };
    (req ($value:expr) $wire:literal $target:ident $json:ident [$($first:ident $last:ident)?] [$($keep:path)?]) => {
        if true $(&& $target.within($first, $last))? $(&& $keep($value, $target))? {
            $json.open(concat!("\"", $wire, "\":"));
            $crate::model::codec::Write::write($value, $target, $json);
        }
    };
    (num $($rest:tt)*) => { $crate::model::codec::write_field! { req $($rest)* } };
    (flag ($value:expr) $($rest:tt)*) => {
        if *$value {
            $crate::model::codec::write_field! { req ($value) $($rest)* }
        }
    };
    (nul ($value:expr) $wire:literal $target:ident $json:ident [$($first:ident $last:ident)?] []) => {
        if true $(&& $target.within($first, $last))? {
            $json.open(concat!("\"", $wire, "\":"));
            match $value {
                Some(value) => $crate::model::codec::Write::write(value, $target, $json),
                None => $json.null(),
            }
        }
    };
    (opt ($value:expr) $($rest:tt)*) => {
        if let Some(value) = $value {
            $crate::model::codec::write_field! { req (value) $($rest)* }
        }
    };
    (keep $($rest:tt)*) => { $crate::model::codec::write_field! { opt $($rest)* } };
}

/// [`EncodeResult`] for a record with `meta` under `around`; `cacheable` if also `ttl_ms` and `cache_scope`.
macro_rules! result_impls {
    ($name:ident $($cacheable:ident)?) => {
        impl $crate::model::codec::EncodeResult for $name<'_> {
            #[inline]
            fn members<S: $crate::json::Sink + ?Sized>(
                &self,
                version: $crate::model::ProtocolVersion,
                json: &mut $crate::json::Writer<'_, S>,
            ) {
                self.write_members($crate::model::codec::Target::of(version), json);
            }

            fn meta(&self) -> Option<$crate::json::RawJson<'_>> {
                self.meta.as_ref().map($crate::json::Json::raw)
            }

            $($crate::model::codec::result_impls! { @ $cacheable })?
        }
    };
    (@ cacheable) => {
        fn cache(&self) -> Option<$crate::model::CacheHint> {
            $crate::model::CacheHint::read(self.ttl_ms, self.cache_scope)
        }
    };
}

/// Makes an enum of names on the wire, open at its end: what is not known is kept as it is.
macro_rules! names {
    (
        $(#[$doc:meta])*
        pub enum $name:ident { $($(#[$variant_doc:meta])* $variant:ident = $wire:literal,)+ }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Eq, Hash, PartialEq)]
        #[non_exhaustive]
        pub enum $name<'a> {
            $($(#[$variant_doc])* $variant,)+
            /// Another one, as it stands on the wire.
            Unknown(alloc::borrow::Cow<'a, str>),
        }

        impl<'a> $name<'a> {
            /// The name on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $wire,)+
                    Self::Unknown(name) => name,
                }
            }

            /// What has this name.
            #[must_use]
            pub fn from_name(name: impl Into<alloc::borrow::Cow<'a, str>>) -> Self {
                let name = name.into();
                match &*name {
                    $($wire => Self::$variant,)+
                    _ => Self::Unknown(name),
                }
            }
        }

        impl<'b> $crate::model::codec::Decode<'b> for $name<'b> {
            fn decode(
                value: $crate::json::RawJson<'b>,
            ) -> Result<Self, $crate::model::codec::DecodeError> {
                alloc::borrow::Cow::decode(value).map(Self::from_name)
            }
        }

        impl $crate::model::codec::Write for $name<'_> {
            fn write<S: $crate::json::Sink + ?Sized>(
                &self,
                _: $crate::model::codec::Target,
                json: &mut $crate::json::Writer<'_, S>,
            ) {
                json.string(self.as_str());
            }
        }

        impl $crate::model::codec::Own for $name<'_> {
            type Owned = $name<'static>;

            fn own(self) -> $name<'static> {
                match self {
                    $(Self::$variant => $name::$variant,)+
                    Self::Unknown(name) => $name::Unknown($crate::model::codec::Own::own(name)),
                }
            }
        }

        $crate::model::codec::value_impls!($name<'_>);
    };
}

pub(crate) use {
    constructor, decode_field, field_type, names, own_as_is, record, result_impls, serde_impls,
    value_impls, write_field,
};
