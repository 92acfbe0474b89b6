//! Request ids, exact from end to end.

use core::hash::{Hash, Hasher};

use crate::json::{JsonStr, Kind, RawJson};

/// The id of a request: a JSON string or integer (RPC-03), never null (RPC-04).
///
/// It is echoed in the very text it came in (RPC-07). Two ids are equal if their type and value are: `1` equals `1.0`
/// and `"a"` equals `"\u0061"`, but `1` is not `"1"`. Integers reach from -2^63 to 2^63-1; a number outside is refused
/// rather than taken for another one, and so is a string that is not Unicode.
#[derive(Clone, Copy, Debug)]
pub struct RequestId<'b> {
    raw: RawJson<'b>,
    value: Value<'b>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Value<'b> {
    Integer(i64),
    String(JsonStr<'b>),
}

impl<'b> RequestId<'b> {
    /// Reads an id; `None` if the value is neither a string of Unicode nor an integer of 64 bits.
    #[must_use]
    pub fn new(raw: RawJson<'b>) -> Option<Self> {
        let value = match raw.kind() {
            Kind::Number => Value::Integer(raw.as_number()?.as_i64()?),
            Kind::String => Value::String(raw.as_string().filter(|text| text.is_unicode())?),
            Kind::Null | Kind::Bool | Kind::Array | Kind::Object => return None,
        };
        Some(Self { raw, value })
    }

    /// The id as it stands on the wire.
    #[must_use]
    pub const fn raw(&self) -> RawJson<'b> {
        self.raw
    }

    /// The value, if it is an integer.
    #[must_use]
    pub const fn as_integer(&self) -> Option<i64> {
        match self.value {
            Value::Integer(value) => Some(value),
            Value::String(_) => None,
        }
    }

    /// The value, if it is a string.
    #[must_use]
    pub const fn as_string(&self) -> Option<JsonStr<'b>> {
        match self.value {
            Value::Integer(_) => None,
            Value::String(value) => Some(value),
        }
    }
}

impl PartialEq for RequestId<'_> {
    fn eq(&self, other: &RequestId<'_>) -> bool {
        self.value == other.value
    }
}

impl Eq for RequestId<'_> {}

impl Hash for RequestId<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self.value {
            Value::Integer(value) => {
                state.write_u8(0);
                state.write_i64(value);
            }
            Value::String(value) => {
                state.write_u8(1);
                value.hash(state);
            }
        }
    }
}
