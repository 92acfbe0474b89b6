//! Arguments that are strings on the wire, as those of prompts and the variables of templates are: decoded into the
//! types that their handler gives them.

use core::fmt;

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{DeserializeOwned, Deserializer, Error as _, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;

/// One string, or several for a variable that stands for a list or for pairs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Text {
    One(String),
    Many(Vec<String>),
    Named(Vec<(String, String)>),
}

/// Decodes named strings. Numbers and booleans are read from their text; what is missing is left to the type.
///
/// # Errors
///
/// What is wrong, and with which argument.
pub(crate) fn decode_strings<A: DeserializeOwned>(
    arguments: impl Iterator<Item = (String, Text)>,
) -> Result<A, String> {
    let deserializer = MapDeserializer::<_, Problem>::new(arguments);
    serde_path_to_error::deserialize(deserializer).map_err(|error| {
        if error.path().iter().next().is_none() {
            error.inner().0.clone()
        } else {
            format!("`{}`: {}", error.path(), error.inner().0)
        }
    })
}

#[derive(Debug)]
pub(crate) struct Problem(String);

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl core::error::Error for Problem {}

impl serde::de::Error for Problem {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self(message.to_string())
    }
}

impl<'de> IntoDeserializer<'de, Problem> for Text {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

/// Reads the text as the type that the visitor wants.
macro_rules! parsed {
    ($($method:ident $visit:ident $type:ty: $what:literal)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
            match &self {
                Self::One(text) => match text.trim().parse::<$type>() {
                    Ok(value) => visitor.$visit(value),
                    Err(_) => Err(Problem::custom(format_args!(
                        concat!("expected ", $what, ", not {:?}"), Shown(text)
                    ))),
                },
                Self::Many(_) | Self::Named(_) => self.deserialize_any(visitor),
            }
        }
    )*};
}

/// The beginning of a text of any length.
struct Shown<'a>(&'a str);

impl fmt::Debug for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(64) {
            Some((at, _)) => write!(f, "{:?}…", &self.0[..at]),
            None => self.0.fmt(f),
        }
    }
}

impl<'de> Deserializer<'de> for Text {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self {
            Self::One(text) => visitor.visit_string(text),
            Self::Many(texts) => visitor.visit_seq(SeqDeserializer::new(texts.into_iter())),
            Self::Named(texts) => {
                let texts = texts
                    .into_iter()
                    .map(|(name, text)| (name, Self::One(text)));
                visitor.visit_map(MapDeserializer::new(texts))
            }
        }
    }

    parsed! {
        deserialize_bool visit_bool bool: "true or false"
        deserialize_i8 visit_i8 i8: "a whole number"
        deserialize_i16 visit_i16 i16: "a whole number"
        deserialize_i32 visit_i32 i32: "a whole number"
        deserialize_i64 visit_i64 i64: "a whole number"
        deserialize_u8 visit_u8 u8: "a whole number from 0 on"
        deserialize_u16 visit_u16 u16: "a whole number from 0 on"
        deserialize_u32 visit_u32 u32: "a whole number from 0 on"
        deserialize_u64 visit_u64 u64: "a whole number from 0 on"
        deserialize_f32 visit_f32 f32: "a number"
        deserialize_f64 visit_f64 f64: "a number"
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Problem> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        _: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        match self {
            Self::One(text) => visitor.visit_enum(text.into_deserializer()),
            Self::Many(_) | Self::Named(_) => Err(Problem::custom("expected one value")),
        }
    }

    /// A list of one may be written without being one.
    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        let texts = match self {
            Self::One(text) => vec![text],
            Self::Many(texts) => texts,
            Self::Named(_) => return self.deserialize_any(visitor),
        };
        let texts = texts.into_iter().map(Self::One);
        visitor.visit_seq(SeqDeserializer::new(texts))
    }

    forward_to_deserialize_any! {
        i128 u128 char str string bytes byte_buf unit unit_struct tuple tuple_struct map struct identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Tone {
        Formal,
        Casual,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Seat(u8);

    #[derive(Debug, Deserialize, PartialEq)]
    struct Arguments {
        text: String,
        count: Option<u32>,
        #[serde(default)]
        loud: bool,
        ratio: f64,
        tone: Tone,
        seat: Seat,
        path: Vec<u16>,
    }

    fn one(pairs: &[(&str, &str)]) -> Vec<(String, Text)> {
        let text = |text: &str| Text::One(text.to_owned());
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), text(value)))
            .collect()
    }

    fn decode(pairs: &[(&str, &str)]) -> Result<Arguments, String> {
        let path = Text::Many(vec!["1".into(), "2".into()]);
        let path = (!pairs.iter().any(|(name, _)| *name == "path")).then(|| ("path".into(), path));
        decode_strings(one(pairs).into_iter().chain(path))
    }

    const ALL: [(&str, &str); 5] = [
        ("text", "12"),
        ("ratio", "0.5"),
        ("tone", "casual"),
        ("seat", "3"),
        ("other", "ignored"),
    ];

    #[test]
    fn strings_become_what_the_type_wants() {
        let mut arguments = Arguments {
            text: "12".into(),
            count: None,
            loud: false,
            ratio: 0.5,
            tone: Tone::Casual,
            seat: Seat(3),
            path: vec![1, 2],
        };
        assert_eq!(decode(&ALL).as_ref(), Ok(&arguments));
        let more = [&ALL[..], &[("count", "7"), ("loud", "true"), ("path", "9")]].concat();
        (arguments.count, arguments.loud, arguments.path) = (Some(7), true, vec![9]);
        assert_eq!(decode(&more).as_ref(), Ok(&arguments));
        let pairs = Text::Named(vec![("a".into(), "1".into())]);
        let query: BTreeMap<String, BTreeMap<String, u8>> =
            decode_strings([("query".into(), pairs)].into_iter()).expect("pairs");
        assert_eq!(query["query"]["a"], 1);
        let map: BTreeMap<String, String> =
            decode_strings(one(&[("a", "1"), ("b", "x")]).into_iter()).expect("strings");
        assert_eq!(map["a"], "1");
    }

    #[test]
    fn what_is_wrong_is_said_with_its_name() {
        let with = |name: &'static str, value: &'static str| {
            let mut pairs = ALL.to_vec();
            pairs.retain(|(other, _)| *other != name);
            pairs.push((name, value));
            decode(&pairs).expect_err("it does not fit")
        };
        let long = "x".repeat(1000).leak();
        for (problem, expected) in [
            (
                with("ratio", "half"),
                "`ratio`: expected a number, not \"half\"",
            ),
            (
                with("count", "-1"),
                "`count`: expected a whole number from 0 on, not \"-1\"",
            ),
            (
                with("loud", "yes"),
                "`loud`: expected true or false, not \"yes\"",
            ),
            (
                with("seat", "256"),
                "`seat`: expected a whole number from 0 on, not \"256\"",
            ),
            (
                with("tone", "rude"),
                "`tone`: unknown variant `rude`, expected `formal` or `casual`",
            ),
        ] {
            assert_eq!(problem, expected);
        }
        assert!(with("ratio", long).len() < 120);
        assert_eq!(decode(&ALL[1..]), Err("missing field `text`".into()));
    }
}
