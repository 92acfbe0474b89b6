//! The order of a struct's fields. Schemas are maps and have lost it, but people read forms from the top.

use serde::de::value::Error;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::forward_to_deserialize_any;

/// The names of the fields of `T` as serde has them, in the order of the declaration; none if it is no struct, or one with
/// flattened parts.
pub(crate) fn fields<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut fields: &[&str] = &[];
    // It always fails: the names are told before the first value is read.
    let _ = T::deserialize(Probe(&mut fields));
    fields
}

/// Puts names in the order of the fields of `T`; others come last, as they were.
pub(crate) fn in_order<T: DeserializeOwned, N>(names: &mut [N], name: impl Fn(&N) -> &str) {
    let fields = fields::<T>();
    names.sort_by_key(|it| {
        let place = fields.iter().position(|field| *field == name(it));
        place.unwrap_or(fields.len())
    });
}

struct Probe<'p>(&'p mut &'static [&'static str]);

impl<'de> Deserializer<'de> for Probe<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(Error::custom("there is nothing to be read"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        *self.0 = fields;
        self.deserialize_any(visitor)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct seq
        tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    #[expect(dead_code, reason = "never read")]
    struct Declared {
        zebra: String,
        #[serde(rename = "kind")]
        renamed: u8,
        apple: Option<Vec<u8>>,
    }

    #[derive(serde::Deserialize)]
    #[expect(dead_code, reason = "never read")]
    struct Wrapped(Declared);

    #[test]
    fn the_order_of_the_declaration() {
        assert_eq!(fields::<Declared>(), ["zebra", "kind", "apple"]);
        assert_eq!(fields::<Wrapped>(), ["zebra", "kind", "apple"]);
        assert_eq!(fields::<String>(), [""; 0]);
        let mut names = ["apple", "else", "kind", "other", "zebra"];
        in_order::<Declared, _>(&mut names, |name| name);
        assert_eq!(names, ["zebra", "kind", "apple", "else", "other"]);
    }
}
