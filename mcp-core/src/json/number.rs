//! Numbers: where they end, and what they are worth.

use core::fmt;

use super::error::{Error, ErrorKind};

/// Checks the number that begins at `at`, with `-` or a digit, and returns the position after it.
#[cfg_attr(feature = "alloc", inline(always))]
pub(super) fn number_end(bytes: &[u8], mut at: usize) -> Result<usize, Error> {
    if bytes.get(at) == Some(&b'-') {
        at += 1;
    }
    match bytes.get(at) {
        Some(b'0') => at += 1,
        Some(b'1'..=b'9') => at = digits_end(bytes, at + 1),
        Some(_) => return Err(Error::new(ErrorKind::BadNumber, at)),
        None => return Err(Error::new(ErrorKind::UnexpectedEnd, at)),
    }
    match bytes.get(at) {
        Some(b'.' | b'e' | b'E') => fraction_end(bytes, at),
        Some(_) | None => Ok(at),
    }
}

fn fraction_end(bytes: &[u8], mut at: usize) -> Result<usize, Error> {
    if bytes.get(at) == Some(&b'.') {
        at = some_digits_end(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at += 1;
        if let Some(b'+' | b'-') = bytes.get(at) {
            at += 1;
        }
        at = some_digits_end(bytes, at)?;
    }
    Ok(at)
}

fn some_digits_end(bytes: &[u8], at: usize) -> Result<usize, Error> {
    match bytes.get(at) {
        Some(b'0'..=b'9') => Ok(digits_end(bytes, at + 1)),
        Some(_) => Err(Error::new(ErrorKind::BadNumber, at)),
        None => Err(Error::new(ErrorKind::UnexpectedEnd, at)),
    }
}

#[cfg_attr(feature = "alloc", inline(always))]
fn digits_end(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b'0'..=b'9') = bytes.get(at) {
        at += 1;
    }
    at
}

/// A checked JSON number, as written: `1`, `1.0` and `1e0` are different texts of one value.
///
/// It keeps every digit. What a program can hold is asked for with [`as_i64`](Self::as_i64),
/// [`as_u64`](Self::as_u64) and [`as_f64`](Self::as_f64), each of which says no rather than change the value's size.
#[derive(Clone, Copy)]
pub struct Number<'b>(&'b str);

impl<'b> Number<'b> {
    /// `text` is a checked number.
    pub(super) const fn new(text: &'b str) -> Self {
        Self(text)
    }

    /// The number as written.
    #[must_use]
    pub const fn as_str(self) -> &'b str {
        self.0
    }

    /// The value, if it is an integer from -2^63 to 2^63 - 1, however it is written: `1.0`, `1e3` and `-0` are
    /// integers, `0.5` is not. Exact; the cost is linear in the length of the text, whatever the exponent.
    #[must_use]
    pub fn as_i64(self) -> Option<i64> {
        let (negative, magnitude) = self.integer()?;
        if negative {
            0_i64.checked_sub_unsigned(magnitude)
        } else {
            i64::try_from(magnitude).ok()
        }
    }

    /// The value, if it is an integer from 0 to 2^64 - 1, however it is written. Exact, see [`as_i64`](Self::as_i64).
    #[must_use]
    pub fn as_u64(self) -> Option<u64> {
        let (negative, magnitude) = self.integer()?;
        (!negative || magnitude == 0).then_some(magnitude)
    }

    /// The nearest double, if it is finite. Values below the smallest double are 0, as usual.
    #[must_use]
    pub fn as_f64(self) -> Option<f64> {
        self.0.parse().ok().filter(|value: &f64| value.is_finite())
    }

    /// Sign and magnitude, if the value is an integer and its magnitude fits.
    fn integer(self) -> Option<(bool, u64)> {
        let (negative, unsigned) = match self.0.strip_prefix('-') {
            Some(unsigned) => (true, unsigned),
            None => (false, self.0),
        };
        // At most 19 digits cannot overflow; anything else, a point or an exponent included, takes the long way.
        let mut value = 0;
        for byte in unsigned.bytes() {
            let digit = byte.wrapping_sub(b'0');
            if digit > 9 || unsigned.len() > 19 {
                return Some((negative, scaled_integer(unsigned)?));
            }
            value = value * 10 + u64::from(digit);
        }
        Some((negative, value))
    }
}

/// The value of an unsigned number with a fraction, an exponent or many digits, if it is an integer that fits.
fn scaled_integer(text: &str) -> Option<u64> {
    let mut value = 0_u64;
    // Zeros at the end are better counted than kept: the value is `value` times ten to the power of `scale`.
    let (mut zeros, mut scale) = (0, 0_i64);
    let mut in_fraction = false;
    let mut exponent = 0;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'.' => in_fraction = true,
            b'e' | b'E' => {
                exponent = saturating_exponent(&text[at + 1..]);
                break;
            }
            digit => {
                scale -= i64::from(in_fraction);
                zeros += 1;
                if digit != b'0' {
                    // What was counted so far, in a value that is 0 too.
                    value = scaled(value, zeros)?.checked_add(u64::from(digit - b'0'))?;
                    zeros = 0;
                }
            }
        }
    }
    if value == 0 {
        return Some(0);
    }
    let scale = exponent.saturating_add(scale).saturating_add(zeros);
    (scale >= 0).then(|| scaled(value, scale))?
}

/// Times ten to the power of `zeros`; what is not 0 is too large soon.
#[inline(never)]
fn scaled(mut value: u64, zeros: i64) -> Option<u64> {
    if value != 0 {
        for _ in 0..zeros {
            value = value.checked_mul(10)?;
        }
    }
    Some(value)
}

/// The exponent, or a value no text is long enough to make up for.
fn saturating_exponent(text: &str) -> i64 {
    let mut exponent = 0_i64;
    for digit in text.bytes().filter(u8::is_ascii_digit) {
        exponent = exponent
            .saturating_mul(10)
            .saturating_add(i64::from(digit - b'0'));
    }
    if text.starts_with('-') {
        -exponent
    } else {
        exponent
    }
}

impl fmt::Display for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl fmt::Debug for Number<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}
