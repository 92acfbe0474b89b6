//! Checked values that can be kept.

use crate::Cow;
#[cfg(feature = "alloc")]
use alloc::{format, string::String, vec::Vec};
use core::fmt;

use super::constant;
use super::error::Error;
use super::raw::RawJson;
use super::write::{Sink, Writer};

/// A checked JSON value like [`RawJson`], borrowed or owned: what structs have that are read from a message as well as
/// made by programs.
///
/// Equality is that of the text.
///
/// With the feature `serde` it is serialised as the value itself, into any self-describing format. Text passes unchanged
/// but for spaces and the notation of numbers: integers of up to 128 bits and doubles keep their value, what is longer
/// becomes the nearest double, and what is beyond doubles is refused. The other format may lose more: `serde_json` reads
/// integers beyond 64 bits as doubles, and doubles exactly only with its feature `float_roundtrip`. Deserialising refuses what JSON cannot say, such as
/// bytes, and depth beyond [`DEFAULT_DEPTH`](super::DEFAULT_DEPTH).
#[derive(Clone, Eq, Hash, PartialEq)]
pub struct Json<'a>(Cow<'a, str>);

impl<'a> Json<'a> {
    /// `{}`
    pub const EMPTY_OBJECT: Json<'static> = Json(Cow::Borrowed("{}"));

    /// `null`
    pub const NULL: Json<'static> = Json(Cow::Borrowed("null"));

    /// A value that is checked when the program is compiled, for a `static` or a `const`.
    ///
    /// ```
    /// use mcp_core::json::Json;
    ///
    /// const SCHEMA: Json<'_> = Json::constant(r#"{"type":"object"}"#);
    /// assert_eq!(SCHEMA.as_str(), r#"{"type":"object"}"#);
    /// ```
    ///
    /// ```compile_fail
    /// # use mcp_core::json::Json;
    /// const SCHEMA: Json<'_> = Json::constant(r#"{"type":"object""#);
    /// ```
    ///
    /// # Panics
    ///
    /// `text` is not one JSON value, or has blanks around it: then it does not compile, in a constant.
    #[must_use]
    pub const fn constant(text: &'a str) -> Self {
        assert!(constant::is_value(text.as_bytes()), "this is not JSON");
        Self(Cow::Borrowed(text))
    }

    /// Checks that `bytes` are one JSON document, at most [`DEFAULT_DEPTH`](super::DEFAULT_DEPTH) deep.
    ///
    /// # Errors
    ///
    /// The first fault and where it is.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error> {
        RawJson::parse(bytes).map(Self::from)
    }

    /// Checks a text and keeps it.
    ///
    /// # Errors
    ///
    /// The first fault and where it is.
    #[cfg(feature = "alloc")]
    pub fn owned(text: String) -> Result<Json<'static>, Error> {
        let value = RawJson::parse(text.as_bytes())?.as_str();
        Ok(Json(Cow::Owned(if value.len() == text.len() {
            text
        } else {
            value.into()
        })))
    }

    /// What serde makes of a value of yours: a struct, a map, a `serde_json::Value`.
    ///
    /// ```
    /// use std::collections::BTreeMap;
    ///
    /// use mcp_core::json::Json;
    ///
    /// let ages = BTreeMap::from([("Ada", 36)]);
    /// assert_eq!(Json::of(&ages)?.as_str(), r#"{"Ada":36}"#);
    /// assert!(Json::of(&BTreeMap::from([((1, 2), 3)])).is_err());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Its `Serialize` fails, or it is no JSON (a map whose keys are no strings), or deeper than
    /// [`DEFAULT_DEPTH`](super::DEFAULT_DEPTH).
    #[cfg(feature = "serde_json")]
    pub fn of(
        value: &(impl serde::Serialize + ?Sized),
    ) -> Result<Json<'static>, serde_json::Error> {
        use serde::ser::Error as _;
        Self::owned(serde_json::to_string(value)?).map_err(serde_json::Error::custom)
    }

    /// The string `text`.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn string(text: &str) -> Json<'static> {
        Self::written_unchecked(|json| json.string(text))
    }

    /// The value that `write` writes.
    ///
    /// ```
    /// use mcp_core::json::Json;
    ///
    /// let point = Json::written(|json| {
    ///     json.begin_object();
    ///     json.key("x");
    ///     json.integer(1);
    ///     json.end_object();
    /// });
    /// assert_eq!(point.as_str(), r#"{"x":1}"#);
    /// ```
    ///
    /// # Panics
    ///
    /// What is written is not exactly one value, or one deeper than [`MAX_DEPTH`](super::MAX_DEPTH): a mistake of the
    /// caller's.
    #[cfg(feature = "alloc")]
    pub fn written(write: impl FnOnce(&mut Writer<'_, Vec<u8>>)) -> Json<'static> {
        let mut text = Vec::new();
        write(&mut Writer::new(&mut text));
        let fault = RawJson::parse_with_depth(&text, super::MAX_DEPTH).err();
        assert!(fault.is_none(), "not one value was written: {fault:?}");
        Json(Cow::Owned(
            String::from_utf8(text).expect("the writer writes UTF-8"),
        ))
    }

    /// The value that `write` writes, which is one by its construction.
    #[cfg(feature = "alloc")]
    pub(crate) fn written_unchecked(write: impl FnOnce(&mut Writer<'_, Vec<u8>>)) -> Json<'static> {
        let mut text = Vec::new();
        write(&mut Writer::new(&mut text));
        let text = String::from_utf8(text).expect("the writer writes UTF-8");
        debug_assert!(
            RawJson::parse_with_depth(text.as_bytes(), super::MAX_DEPTH).is_ok(),
            "one value: {text}"
        );
        Json(Cow::Owned(text))
    }

    /// The value, to look into.
    #[must_use]
    pub fn raw(&self) -> RawJson<'_> {
        RawJson::new(&self.0)
    }

    /// The value as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The same, kept for as long as wanted: copied if it was borrowed.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn into_owned(self) -> Json<'static> {
        Json(Cow::Owned(self.0.into_owned()))
    }

    /// Appends the value.
    pub(crate) fn write<S: Sink + ?Sized>(&self, json: &mut Writer<'_, S>) {
        json.raw(self.raw());
    }
}

impl<'a> From<RawJson<'a>> for Json<'a> {
    fn from(value: RawJson<'a>) -> Self {
        Self(Cow::Borrowed(value.as_str()))
    }
}

impl<'a> From<&'a Json<'_>> for Json<'a> {
    fn from(value: &'a Json<'_>) -> Self {
        value.raw().into()
    }
}

impl From<bool> for Json<'_> {
    fn from(value: bool) -> Self {
        Self(Cow::Borrowed(if value { "true" } else { "false" }))
    }
}

#[cfg(feature = "alloc")]
impl From<i64> for Json<'_> {
    fn from(value: i64) -> Self {
        Self(Cow::Owned(format!("{value}")))
    }
}

#[cfg(feature = "alloc")]
impl From<u64> for Json<'_> {
    fn from(value: u64) -> Self {
        Self(Cow::Owned(format!("{value}")))
    }
}

#[cfg(feature = "serde_json")]
impl From<serde_json::Value> for Json<'_> {
    /// # Panics
    ///
    /// It is deeper than [`MAX_DEPTH`](super::MAX_DEPTH), which nothing is that `serde_json` reads by itself.
    fn from(value: serde_json::Value) -> Self {
        let text = alloc::string::ToString::to_string(&value);
        let fault = RawJson::parse_with_depth(text.as_bytes(), super::MAX_DEPTH).err();
        assert!(fault.is_none(), "too deep: {fault:?}");
        Self(Cow::Owned(text))
    }
}

impl fmt::Debug for Json<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.raw().fmt(f)
    }
}

impl fmt::Display for Json<'_> {
    /// The value as written.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(feature = "serde")]
mod transcode {
    //! From and to any format, token by token.

    use alloc::string::String;
    use alloc::vec::Vec;
    use core::fmt;

    use serde::de::{self, DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
    use serde::ser::{Error as _, SerializeMap, SerializeSeq, Serializer};
    use serde::{Deserialize, Serialize};

    use super::super::{DEFAULT_DEPTH, Kind, RawJson, Writer};
    use super::Json;

    impl Serialize for Json<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.raw().serialize(serializer)
        }
    }

    /// See [`Json`] for what becomes of numbers. Recurses as deep as the value, which was checked to be bounded.
    impl Serialize for RawJson<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            match self.kind() {
                Kind::Null => serializer.serialize_unit(),
                Kind::Bool => serializer.serialize_bool(*self == RawJson::new("true")),
                Kind::Number => serialize_number(*self, serializer),
                Kind::String => {
                    let text = self.as_string().map(super::super::JsonStr::decode);
                    serializer.serialize_str(&text.unwrap_or_default())
                }
                Kind::Array => {
                    let mut list = serializer.serialize_seq(None)?;
                    for element in self.as_array().into_iter().flatten() {
                        list.serialize_element(&element)?;
                    }
                    list.end()
                }
                Kind::Object => {
                    let mut map = serializer.serialize_map(None)?;
                    for (name, value) in self.as_object().into_iter().flatten() {
                        map.serialize_entry(&*name.decode(), &value)?;
                    }
                    map.end()
                }
            }
        }
    }

    fn serialize_number<S: Serializer>(
        value: RawJson<'_>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let text = value.as_str();
        // `-0` is a double: no integer has its sign.
        if text != "-0" {
            if let Ok(integer) = text.parse() {
                return serializer.serialize_i64(integer);
            }
            if let Ok(integer) = text.parse() {
                return serializer.serialize_u64(integer);
            }
            if let Ok(integer) = text.parse() {
                return serializer.serialize_i128(integer);
            }
        }
        let number = value.as_number().and_then(super::super::Number::as_f64);
        serializer.serialize_f64(number.ok_or_else(|| S::Error::custom("number out of range"))?)
    }

    impl<'de> Deserialize<'de> for Json<'_> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let mut text = Vec::new();
            let mut json = Writer::new(&mut text);
            Value {
                json: &mut json,
                depth: DEFAULT_DEPTH,
            }
            .deserialize(deserializer)?;
            let text = String::from_utf8(text).map_err(de::Error::custom)?;
            Json::owned(text).map_err(de::Error::custom)
        }
    }

    /// Writes one value; `depth` more containers may be opened.
    struct Value<'w, 'o> {
        json: &'w mut Writer<'o, Vec<u8>>,
        depth: usize,
    }

    impl<'de> DeserializeSeed<'de> for Value<'_, '_> {
        type Value = ();

        fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
            deserializer.deserialize_any(self)
        }
    }

    impl Value<'_, '_> {
        fn inside<E: de::Error>(&self) -> Result<usize, E> {
            self.depth
                .checked_sub(1)
                .ok_or_else(|| E::custom("nested too deeply"))
        }
    }

    impl<'de> Visitor<'de> for Value<'_, '_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a JSON value")
        }

        fn visit_unit<E: de::Error>(self) -> Result<(), E> {
            self.json.null();
            Ok(())
        }

        fn visit_none<E: de::Error>(self) -> Result<(), E> {
            self.visit_unit()
        }

        fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
            self.deserialize(deserializer)
        }

        fn visit_newtype_struct<D: Deserializer<'de>>(
            self,
            deserializer: D,
        ) -> Result<(), D::Error> {
            self.deserialize(deserializer)
        }

        fn visit_bool<E: de::Error>(self, value: bool) -> Result<(), E> {
            self.json.boolean(value);
            Ok(())
        }

        fn visit_i64<E: de::Error>(self, value: i64) -> Result<(), E> {
            self.json.integer(value);
            Ok(())
        }

        fn visit_u64<E: de::Error>(self, value: u64) -> Result<(), E> {
            self.json.unsigned(value);
            Ok(())
        }

        fn visit_i128<E: de::Error>(self, value: i128) -> Result<(), E> {
            self.json.fragment(&alloc::format!("{value}"));
            Ok(())
        }

        fn visit_u128<E: de::Error>(self, value: u128) -> Result<(), E> {
            self.json.fragment(&alloc::format!("{value}"));
            Ok(())
        }

        fn visit_f64<E: de::Error>(self, value: f64) -> Result<(), E> {
            if !value.is_finite() {
                return Err(E::custom("JSON has neither infinities nor NaN"));
            }
            // With its point, so that it stays a double on the way on.
            self.json.fragment(&alloc::format!("{value:?}"));
            Ok(())
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
            self.json.string(text);
            Ok(())
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
            let depth = self.inside()?;
            self.json.begin_array();
            while list
                .next_element_seed(Value {
                    json: self.json,
                    depth,
                })?
                .is_some()
            {}
            self.json.end_array();
            Ok(())
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
            let depth = self.inside()?;
            self.json.begin_object();
            while map.next_key_seed(Key(self.json))?.is_some() {
                map.next_value_seed(Value {
                    json: self.json,
                    depth,
                })?;
            }
            self.json.end_object();
            Ok(())
        }
    }

    /// Writes the name of a member.
    struct Key<'w, 'o>(&'w mut Writer<'o, Vec<u8>>);

    impl<'de> DeserializeSeed<'de> for Key<'_, '_> {
        type Value = ();

        fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
            deserializer.deserialize_str(self)
        }
    }

    impl Visitor<'_> for Key<'_, '_> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("the name of a member")
        }

        fn visit_str<E: de::Error>(self, text: &str) -> Result<(), E> {
            self.0.key(text);
            Ok(())
        }
    }
}
