//! JSON as `serde_json` reads it, for the targets to compare with.
//!
//! Everything goes through [`RawValue`], not `Value`: that keeps the order of members, duplicates and the text of
//! numbers, and it accepts what RFC 8259 accepts. What is decoded here is decoded naively, without `mcp_core`.

use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

/// Arrays and objects that [`serde_json::Value`] nests at most.
const VALUE_DEPTH: usize = 127;

/// The document in `bytes`, if it is one and has at most `depth` arrays and objects open at once.
pub(crate) fn document(bytes: &[u8], depth: usize) -> Option<&RawValue> {
    let value: &RawValue = serde_json::from_slice(bytes).ok()?;
    (depth_of(value) <= depth).then_some(value)
}

/// The most arrays and objects that are open at once.
pub(crate) fn depth_of(value: &RawValue) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    let mut bytes = value.get().bytes();
    let mut in_string = false;
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            b'\\' => drop(bytes.next()),
            b'[' | b'{' if !in_string => {
                open += 1;
                most = most.max(open);
            }
            b']' | b'}' if !in_string => open -= 1,
            _ => {}
        }
    }
    most
}

/// Whether this is a document that RFC 8259 allows and [`serde_json::Value`] refuses: it cannot hold lone surrogates or
/// numbers beyond the largest double, and nests less deeply. The only reasons for the two readers to differ.
pub(crate) fn beyond_value(value: &RawValue) -> bool {
    fn any(value: &RawValue) -> bool {
        match value.get().as_bytes().first() {
            Some(b'"') => has_lone_surrogate(value),
            Some(b'[') => elements(value).into_iter().any(any),
            Some(b'{') => members(value)
                .into_iter()
                .any(|(name, value)| has_lone_surrogate(name) || any(value)),
            Some(b't' | b'f' | b'n') => false,
            // This is about the range, and `serde_json` is the judge of its own.
            Some(_) | None => serde_json::from_str::<f64>(value.get()).is_err(),
        }
    }
    depth_of(value) > VALUE_DEPTH || any(value)
}

/// The elements of an array.
pub(crate) fn elements(array: &RawValue) -> Vec<&RawValue> {
    serde_json::from_str(array.get()).expect("an array of checked values")
}

/// The members of an object in order, duplicates included; the names are in quotes.
pub(crate) fn members(object: &RawValue) -> Vec<(&RawValue, &RawValue)> {
    let Members(members) =
        serde_json::from_str(object.get()).expect("an object of checked members");
    members
}

struct Members<'a>(Vec<(&'a RawValue, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;

        impl<'de> Visitor<'de> for InOrder {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(InOrder)
    }
}

/// The text of a string; each surrogate without a partner is U+FFFD.
pub(crate) fn text(string: &RawValue) -> String {
    String::from_utf16_lossy(&units(string))
}

pub(crate) fn has_lone_surrogate(string: &RawValue) -> bool {
    String::from_utf16(&units(string)).is_err()
}

/// The text as UTF-16, which is what `\u` escapes are written in.
fn units(string: &RawValue) -> Vec<u16> {
    let quoted = string.get();
    let mut chars = quoted[1..quoted.len() - 1].chars();
    let mut units = Vec::new();
    while let Some(char) = chars.next() {
        let escaped = if char == '\\' { chars.next() } else { None };
        match escaped {
            None => units.extend_from_slice(char.encode_utf16(&mut [0; 2])),
            Some('b') => units.push(0x08),
            Some('t') => units.push(0x09),
            Some('n') => units.push(0x0a),
            Some('f') => units.push(0x0c),
            Some('r') => units.push(0x0d),
            Some('u') => {
                let digits: String = chars.by_ref().take(4).collect();
                units.push(u16::from_str_radix(&digits, 16).expect("four checked digits"));
            }
            Some(itself) => units.push(u16::try_from(itself).expect("one of three in ASCII")),
        }
    }
    units
}

/// The value of a number, if it is an integer of not much more than 64 bits, however it is written.
pub(crate) fn integer(number: &RawValue) -> Option<i128> {
    let (negative, text) = match number.get().strip_prefix('-') {
        Some(text) => (true, text),
        None => (false, number.get()),
    };
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let leading = digits.find(|digit| digit != '0');
    let Some(leading) = leading else {
        return Some(0);
    };
    // Beyond i64 there is no text long enough to bring the point back among the digits.
    let point = i64::try_from(whole.len())
        .ok()?
        .checked_add(exponent.parse().ok()?)?;
    let point = usize::try_from(point).ok()?;
    if point.saturating_sub(leading) > 30 {
        return None;
    }
    let (before, after) = digits.split_at(point.min(digits.len()));
    if after.contains(|digit| digit != '0') {
        return None;
    }
    let magnitude: i128 = format!("{before:0<point$}").parse().ok()?;
    Some(if negative { -magnitude } else { magnitude })
}
