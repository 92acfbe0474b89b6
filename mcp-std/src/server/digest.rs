//! Digests of JSON by what it says, not by how it is written.

use std::borrow::Cow;

use mcp_core::json::{Kind, RawJson};
use sha2::{Digest as _, Sha256};

/// A SHA-256 of values, each told apart from its neighbours.
pub(crate) struct Digest(Sha256);

impl Digest {
    pub(crate) fn new() -> Self {
        Self(Sha256::new())
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
    }

    /// A text that may be missing, which is not the same as empty.
    pub(crate) fn option(&mut self, text: Option<&str>) {
        self.0.update([u8::from(text.is_some())]);
        self.text(text.unwrap_or_default());
    }

    /// A value. Space between tokens, the order of members, escapes and the way a number is written make no difference:
    /// a client that repeats a call may write it anew. Recursion is bounded by the depth the engine accepts.
    pub(crate) fn json(&mut self, value: RawJson<'_>) {
        match value.kind() {
            Kind::Null => self.0.update("n"),
            Kind::Bool => self.0.update(value.as_str()),
            Kind::Number => self.number(value),
            Kind::String => {
                self.0.update("s");
                let text = value.as_string().map(|text| text.decode());
                self.text(&text.unwrap_or_default());
            }
            Kind::Array => {
                self.0.update("[");
                for element in value.as_array().into_iter().flatten() {
                    self.json(element);
                }
                self.0.update("]");
            }
            Kind::Object => {
                let members = value.as_object().into_iter().flatten();
                let mut members: Vec<(Cow<'_, str>, RawJson<'_>)> = members
                    .map(|(name, member)| (name.decode(), member))
                    .collect();
                // Stable: of members with one name, the order decides which is meant.
                members.sort_by(|(one, _), (other, _)| one.cmp(other));
                self.0.update("{");
                for (name, member) in members {
                    self.text(&name);
                    self.json(member);
                }
                self.0.update("}");
            }
        }
    }

    /// Integers of 64 bits by their value; others by that of the float, if they have no more digits than a float tells
    /// apart, and else as they are written.
    fn number(&mut self, value: RawJson<'_>) {
        const DIGITS: usize = 15;
        let number = value.as_number();
        let mantissa = value.as_str().split(['e', 'E']).next().unwrap_or_default();
        let digits = mantissa.bytes().filter(u8::is_ascii_digit).count();
        let integer = number.and_then(|number| number.as_i64().map(i128::from));
        let integer = integer.or_else(|| Some(i128::from(number?.as_u64()?)));
        let float = number
            .and_then(|number| number.as_f64())
            .filter(|_| digits <= DIGITS);
        match (integer, float) {
            (Some(integer), _) => {
                self.0.update("i");
                self.0.update(integer.to_le_bytes());
            }
            (None, Some(float)) => {
                self.0.update("d");
                self.0.update(float.to_bits().to_le_bytes());
            }
            (None, None) => {
                self.0.update("t");
                self.text(value.as_str());
            }
        }
    }

    pub(crate) fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(json: &str) -> [u8; 32] {
        let mut digest = Digest::new();
        digest.json(RawJson::parse(json.as_bytes()).expect("JSON"));
        digest.finish()
    }

    #[test]
    fn what_is_written_in_another_way_is_the_same() {
        for (one, other) in [
            (
                r#"{"a":1,"b":[true,null]}"#,
                " { \"b\" : [true ,null],\n\"a\":1.0}",
            ),
            (r#""\u00e9\n""#, "\"é\\u000a\""),
            ("1e2", "100"),
            ("0.50", "5e-1"),
        ] {
            assert_eq!(digest(one), digest(other), "{one} {other}");
        }
    }

    #[test]
    fn what_says_something_else_is_not() {
        let values = [
            "null",
            "true",
            "false",
            "0",
            "1",
            "1.5",
            "-1",
            "\"\"",
            "\"0\"",
            "\"null\"",
            "[]",
            "[[]]",
            "[[],[]]",
            "[0,1]",
            "[1,0]",
            "{}",
            r#"{"a":0}"#,
            r#"{"a":"0"}"#,
            r#"{"b":0}"#,
            r#"{"a":{},"b":0}"#,
            r#"{"a":{"b":0}}"#,
            r#"{"a":0,"a":1}"#,
            r#"{"a":1,"a":0}"#,
            r#"["a","b"]"#,
            r#"["ab"]"#,
            "18446744073709551615",
            "9223372036854775807",
            "1e400",
            "1e401",
            "123456789012345678901",
            "123456789012345678902",
            "0.1234567890123456",
            "0.12345678901234561",
        ];
        for (at, one) in values.iter().enumerate() {
            for other in &values[..at] {
                assert_ne!(digest(one), digest(other), "{one} {other}");
            }
        }
    }
}
