//! Header values: what is safe stands as it is, the rest in base64 (ENC-01 to ENC-07).

use crate::Cow;
use alloc::string::String;
use core::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Case counts in both marks (ENC-04).
const PREFIX: &str = "=?base64?";
const SUFFIX: &str = "?=";

/// The text of `Mcp-Name` or `Mcp-Param-*` for a value: as it is if that is safe in a header, else its UTF-8 in base64
/// between `=?base64?` and `?=` (ENC-02).
///
/// Not safe are characters outside U+0020 to U+007E, a space at either end, and what looks as if it were encoded already
/// (ENC-03). The empty value is an empty header, which has to be sent all the same (ENC-06).
///
/// ```
/// use mcp_core::model::header::encode_value;
///
/// assert_eq!(encode_value("us west 1"), "us west 1");
/// assert_eq!(encode_value("line1\nline2"), "=?base64?bGluZTEKbGluZTI=?=");
/// ```
#[must_use]
pub fn encode_value(value: &str) -> Cow<'_, str> {
    let unsafe_as_it_is = value.bytes().any(|byte| !matches!(byte, b' '..=b'~'))
        || value.starts_with(' ')
        || value.ends_with(' ')
        || (value.starts_with(PREFIX) && value.ends_with(SUFFIX));
    if !unsafe_as_it_is {
        return Cow::Borrowed(value);
    }
    let mut text = String::from(PREFIX);
    STANDARD.encode_string(value, &mut text);
    text.push_str(SUFFIX);
    Cow::Owned(text)
}

/// The value of a header `Mcp-Name` or `Mcp-Param-*` (ENC-05): decoded if it has both marks, else as it stands.
///
/// Spaces and tabs around it are not part of it (HDR-12), a tab within is (ENC-07). Costs the length of the header.
///
/// # Errors
///
/// What makes it no value: the request is to be refused with `400` and
/// [`HEADER_MISMATCH`](crate::ErrorCode::HEADER_MISMATCH).
pub fn decode_value(header: &[u8]) -> Result<Cow<'_, str>, ValueFault> {
    let text = match str::from_utf8(header) {
        Ok(text) if text.bytes().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) => text,
        // UTF-8 or not: a receiver on the way may have read other characters.
        Ok(_) | Err(_) => return Err(ValueFault::Character),
    };
    let text = text.trim_matches([' ', '\t']);
    let Some(encoded) = text
        .strip_prefix(PREFIX)
        .and_then(|rest| rest.strip_suffix(SUFFIX))
    else {
        return Ok(Cow::Borrowed(text));
    };
    let bytes = STANDARD.decode(encoded).map_err(|_| ValueFault::Base64)?;
    match String::from_utf8(bytes) {
        Ok(value) => Ok(Cow::Owned(value)),
        Err(_) => Err(ValueFault::Utf8),
    }
}

/// Why a header is no value.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ValueFault {
    /// It has a byte that is neither visible ASCII, nor a space, nor a tab.
    Character,
    /// It is marked as base64, and what is between the marks is none: standard alphabet, padded, no bits left over.
    Base64,
    /// It is marked as base64, of something that is not UTF-8.
    Utf8,
}

impl fmt::Display for ValueFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Character => "a character outside visible ASCII, which has to come in base64",
            Self::Base64 => "marked as base64, which it is not",
            Self::Utf8 => "base64 of something that is not UTF-8",
        })
    }
}

impl core::error::Error for ValueFault {}

#[cfg(test)]
mod tests {
    use super::{ValueFault, decode_value, encode_value};
    use alloc::string::String;
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    #[test]
    fn values_are_encoded_as_the_specification_shows() {
        for (value, header) in [
            ("", ""),
            ("us-west1", "us-west1"),
            ("us west 1", "us west 1"),
            ("true", "true"),
            ("42", "42"),
            (" us-west1", "=?base64?IHVzLXdlc3Qx?="),
            ("us-west1 ", "=?base64?dXMtd2VzdDEg?="),
            (" us-west1 ", "=?base64?IHVzLXdlc3QxIA==?="),
            (" padded ", "=?base64?IHBhZGRlZCA=?="),
            ("Hello, 世界", "=?base64?SGVsbG8sIOS4lueVjA==?="),
            ("日本語", "=?base64?5pel5pys6Kqe?="),
            ("note://café", "=?base64?bm90ZTovL2NhZsOp?="),
            ("line1\nline2", "=?base64?bGluZTEKbGluZTI=?="),
            ("line1\r\nline2", "=?base64?bGluZTENCmxpbmUy?="),
            ("\tindented", "=?base64?CWluZGVudGVk?="),
            ("=?base64?literal?=", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?="),
            // The marks overlap: a reader may find both.
            ("=?base64?=", "=?base64?PT9iYXNlNjQ/PQ==?="),
            ("a\tb", "=?base64?YQli?="),
            ("\u{7F}", "=?base64?fw==?="),
            ("=?BASE64?literal?=", "=?BASE64?literal?="),
            ("=?base64?literal", "=?base64?literal"),
            ("~!\"\\", "~!\"\\"),
        ] {
            assert_eq!(encode_value(value), header, "{value:?}");
            assert_eq!(
                decode_value(header.as_bytes()).as_deref(),
                Ok(value),
                "{header}"
            );
        }
    }

    #[test]
    fn hm_01_headers_are_read_as_the_specification_says() {
        for (header, value) in [
            ("=?base64?SGVsbG8=?=", "Hello"),
            // More than has to be may be encoded (HM-01).
            ("=?base64?dG9vbA==?=", "tool"),
            ("=?base64??=", ""),
            ("=?base64?IHg=?=", " x"),
            // Not both marks, or not exactly: taken literally (ENC-04).
            ("SGVsbG8=", "SGVsbG8="),
            ("=?base64?SGVsbG8=", "=?base64?SGVsbG8="),
            ("SGVsbG8=?=", "SGVsbG8=?="),
            ("=?BASE64?SGVsbG8=?=", "=?BASE64?SGVsbG8=?="),
            ("=?Base64?SGVsbG8=?=", "=?Base64?SGVsbG8=?="),
            ("=?base64?=", "=?base64?="),
            ("x=?base64?SGVsbG8=?=", "x=?base64?SGVsbG8=?="),
            // Around it: nothing; within: as it stands (HDR-12, ENC-07).
            (" \t foo \t", "foo"),
            (" =?base64?SGVsbG8=?= ", "Hello"),
            ("a\tb  c", "a\tb  c"),
            (" ", ""),
        ] {
            assert_eq!(
                decode_value(header.as_bytes()).as_deref(),
                Ok(value),
                "{header:?}"
            );
        }
    }

    #[test]
    fn hm_02_what_is_no_value_is_refused() {
        for (header, fault) in [
            (&b"=?base64?SGVsbG8?="[..], ValueFault::Base64),
            (b"=?base64?SGVs!!!bG8=?=", ValueFault::Base64),
            (b"=?base64?SGVsbG8==?=", ValueFault::Base64),
            (b"=?base64?SGVs bG8=?=", ValueFault::Base64),
            (b"=?base64? SGVsbG8=?=", ValueFault::Base64),
            // The alphabet for URLs, and bits left over.
            (b"=?base64?-_-_?=", ValueFault::Base64),
            (b"=?base64?SGVsbG9=?=", ValueFault::Base64),
            (b"=?base64?=?=", ValueFault::Base64),
            (b"=?base64?6Q==?=", ValueFault::Utf8),
            // As UTF-8 and as Latin-1 (HM-02).
            (b"caf\xC3\xA9", ValueFault::Character),
            (b"caf\xE9", ValueFault::Character),
            (b"\xC2\xA0foo", ValueFault::Character),
            (b"a\0b", ValueFault::Character),
            (b"a\nb", ValueFault::Character),
            (b"a\rb", ValueFault::Character),
            (b"a\x7F", ValueFault::Character),
        ] {
            assert_eq!(decode_value(header), Err(fault), "{header:02x?}");
        }
    }

    #[test]
    fn any_value_comes_back_through_a_header_that_is_safe() {
        proptest!(|(value in any::<String>())| {
            let header = encode_value(&value);
            prop_assert!(header.bytes().all(|byte| matches!(byte, b' '..=b'~')));
            prop_assert_eq!(header.trim_matches([' ', '\t']), &*header);
            let decoded = decode_value(header.as_bytes());
            prop_assert_eq!(decoded.as_deref(), Ok(&*value));
        });
    }
}
