//! The macro for objects.

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
/// The members under `around` are those of every result: not among `EncodeResult::members`.
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

        #[cfg(feature = "alloc")]
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
                    let (slot, wire) = match &*name.known() {
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

        #[cfg(feature = "alloc")]
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
    (opt $field:ident $codec:ident) => {
        $codec::decode($field)
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

/// `EncodeResult` for a record with `meta` under `around`; `cacheable` if also `ttl_ms` and `cache_scope`.
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

pub(crate) use {constructor, decode_field, field_type, record, result_impls, write_field};
