//! The macros for sets of names, and for what all types have.

/// Serialisation as the value itself, with everything that any revision has; deserialising gives owned values.
#[cfg(feature = "serde")]
macro_rules! serde_impls {
    ($name:ident $(<$lt:lifetime>)?) => {
        impl serde::Serialize for $name $(<$lt>)? {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use $crate::model::codec::{Target, Write};
                $crate::json::Json::written_unchecked(|json| self.write(Target::ANY, json))
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

/// What is the same for every type that is `Write` and `Own`.
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

        #[cfg(feature = "alloc")]
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
            Unknown($crate::Cow<'a, str>),
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
            pub fn from_name(name: impl Into<$crate::Cow<'a, str>>) -> Self {
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
                $crate::Cow::decode(value).map(Self::from_name)
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

        #[cfg(feature = "alloc")]
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

pub(crate) use {names, serde_impls, value_impls};
