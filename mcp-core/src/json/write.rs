//! Structure to text: compact JSON at the end of the caller's buffer.

#[cfg(feature = "alloc")]
use alloc::vec::Vec;
use core::fmt::{self, Write as _};

use super::raw::{Kind, RawJson};
use super::text::JsonStr;
use crate::scan;

/// Where a [`Writer`] appends.
pub trait Sink {
    /// Appends all of `bytes`, or nothing.
    ///
    /// # Errors
    ///
    /// [`Full`] if there is no room for all of them.
    fn append(&mut self, bytes: &[u8]) -> Result<(), Full>;

    /// How many bytes there are, those from before included.
    fn len(&self) -> usize;

    /// Whether there are none.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Keeps the first `len` bytes. Does nothing if there are no more.
    fn truncate(&mut self, len: usize);

    /// Told once after each whole message: the place for what a transport puts behind it, such as a line end. The message
    /// may still be taken back, by [`truncate`](Self::truncate), where two have to leave together.
    ///
    /// # Errors
    ///
    /// [`Full`] if there is no room for that. The message is then taken back.
    #[inline]
    fn end_message(&mut self) -> Result<(), Full> {
        Ok(())
    }
}

/// What is written to if nothing else is said.
#[cfg(feature = "alloc")]
pub(crate) type StandardSink = Vec<u8>;
#[cfg(not(feature = "alloc"))]
pub(crate) type StandardSink = dyn Sink;

/// Never full: it grows.
#[cfg(feature = "alloc")]
impl Sink for Vec<u8> {
    #[inline]
    fn append(&mut self, bytes: &[u8]) -> Result<(), Full> {
        self.extend_from_slice(bytes);
        Ok(())
    }

    #[inline]
    fn len(&self) -> usize {
        self.len()
    }

    #[inline]
    fn truncate(&mut self, len: usize) {
        self.truncate(len);
    }
}

/// Full after `N` bytes.
impl<const N: usize> Sink for heapless::Vec<u8, N> {
    fn append(&mut self, bytes: &[u8]) -> Result<(), Full> {
        self.extend_from_slice(bytes).map_err(|_| Full)
    }

    fn len(&self) -> usize {
        self.as_slice().len()
    }

    fn truncate(&mut self, len: usize) {
        self.truncate(len);
    }
}

/// A [`Sink`] had no room.
#[expect(
    clippy::exhaustive_structs,
    reason = "sinks outside this crate make it, and there is nothing to add"
)]
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Full;

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no room left in the output buffer")
    }
}

impl core::error::Error for Full {}

/// Appends one JSON value, compactly, to a [`Sink`].
///
/// The writer puts in the commas; the caller sees to it that what begins also ends and that values in objects come
/// after a [`key`](Self::key). It never writes a line end, so the value is one line whatever it holds.
///
/// Once the sink is full nothing more is appended, and [`finish`](Self::finish) says so and takes back what was. A
/// writer dropped without `finish` leaves what it appended.
///
/// ```
/// use mcp_core::json::Writer;
///
/// let mut out = Vec::new();
/// let mut json = Writer::new(&mut out);
/// json.begin_object();
/// json.key("id");
/// json.integer(7);
/// json.key("names");
/// json.begin_array();
/// json.string("a \"b\"");
/// json.end_array();
/// json.end_object();
/// assert_eq!(json.finish(), Ok(28));
/// assert_eq!(out, br#"{"id":7,"names":["a \"b\""]}"#);
/// ```
pub struct Writer<'o, S: Sink + ?Sized> {
    sink: &'o mut S,
    /// The length of the sink at the start.
    start: usize,
    /// Whether a value has ended where the next one begins.
    comma: bool,
    full: bool,
}

/// A place to go back to, see [`Writer::rollback`].
#[derive(Clone, Copy, Debug)]
pub struct Mark {
    len: usize,
    comma: bool,
    full: bool,
}

impl<'o, S: Sink + ?Sized> Writer<'o, S> {
    /// A writer that appends to what `sink` already has.
    #[inline]
    pub fn new(sink: &'o mut S) -> Self {
        let start = sink.len();
        Self {
            sink,
            start,
            comma: false,
            full: false,
        }
    }

    /// Remembers this place.
    #[must_use]
    pub fn mark(&self) -> Mark {
        Mark {
            len: self.sink.len(),
            comma: self.comma,
            full: self.full,
        }
    }

    /// Goes back to a place marked before, taking back all that was written since, a [`Full`] included.
    pub fn rollback(&mut self, mark: Mark) {
        self.sink.truncate(mark.len.max(self.start));
        self.comma = mark.comma;
        self.full = mark.full;
    }

    /// Ends the writing and returns how many bytes were appended.
    ///
    /// # Errors
    ///
    /// [`Full`] if the sink had no room. It is then as it was before the writer.
    pub fn finish(self) -> Result<usize, Full> {
        if self.full {
            self.sink.truncate(self.start);
            return Err(Full);
        }
        Ok(self.sink.len() - self.start)
    }

    /// The same, and what was written is a whole message: the sink ends it, see [`Sink::end_message`].
    #[inline]
    pub(crate) fn finish_message(self) -> Result<(), Full> {
        if self.full || self.sink.end_message().is_err() {
            self.sink.truncate(self.start);
            return Err(Full);
        }
        Ok(())
    }

    /// `{`
    #[inline]
    pub fn begin_object(&mut self) {
        self.begin(b"{", b",{");
    }

    /// `}`
    #[inline]
    pub fn end_object(&mut self) {
        self.append(b"}");
        self.comma = true;
    }

    /// `[`
    #[inline]
    pub fn begin_array(&mut self) {
        self.begin(b"[", b",[");
    }

    /// `]`
    #[inline]
    pub fn end_array(&mut self) {
        self.append(b"]");
        self.comma = true;
    }

    /// The name of a member, whose value is to be written next.
    #[inline]
    pub fn key(&mut self, name: &str) {
        self.begin(b"\"", b",\"");
        self.escape(name);
        self.append(b"\":");
    }

    /// A string. Escaped are only `"`, `\` and the control characters (RFC 8259, section 7).
    #[inline]
    pub fn string(&mut self, text: &str) {
        self.begin(b"\"", b",\"");
        self.escape(text);
        self.append(b"\"");
        self.comma = true;
    }

    /// A string with what `value` displays, without putting it together first.
    pub fn display(&mut self, value: &(impl fmt::Display + ?Sized)) {
        self.begin(b"\"", b",\"");
        // The adapter does not fail. An error can only be one of `value`'s own, and then the text ends early.
        let _ = write!(Escaped(self), "{value}");
        self.append(b"\"");
        self.comma = true;
    }

    /// A string that was read: what it says, escaped as by [`string`](Self::string).
    pub(crate) fn decoded(&mut self, text: JsonStr<'_>) {
        match text.as_plain() {
            Some(plain) => self.string(plain),
            None => self.display(&Decoded(text)),
        }
    }

    /// The same as the name of a member.
    pub(crate) fn decoded_key(&mut self, name: JsonStr<'_>) {
        self.decoded(name);
        self.append(b":");
        self.comma = false;
    }

    /// A signed integer.
    #[inline]
    pub fn integer(&mut self, value: i64) {
        self.digits(value < 0, value.unsigned_abs());
    }

    /// An unsigned integer.
    #[inline]
    pub fn unsigned(&mut self, value: u64) {
        self.digits(false, value);
    }

    /// A number with the fewest digits that read back as `value`, whole numbers without a fraction. JSON has no
    /// infinities and no NaN: they become `null`.
    ///
    /// Without the feature `alloc`, at most 15 digits, the last of which may be off where there is a large exponent: what
    /// prints doubles exactly is as large as half of the engine.
    #[cfg(not(feature = "alloc"))]
    pub fn float(&mut self, value: f64) {
        const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;
        const DIGITS: u64 = 1_000_000_000_000_000;
        // By whole numbers: there may be no hardware for doubles.
        let bits = value.to_bits();
        let negative = bits >> 63 == 1;
        let fraction = bits & ((1 << FRACTION) - 1);
        let (mut digits, mut twos) = match (bits >> FRACTION) as i32 & 0x7ff {
            0x7ff => return self.null(),
            0 => (fraction, -1074),
            exponent => (fraction | 1 << FRACTION, exponent - 1075),
        };
        // The value is digits * 2^twos * 10^tens, as exactly as 60 bits are.
        let mut tens = 0_i32;
        while twos > 0 && digits != 0 {
            match digits.leading_zeros() {
                0 => (digits, tens) = (digits / 10, tens + 1),
                _ => (digits, twos) = (digits << 1, twos - 1),
            }
        }
        while twos < 0 && digits != 0 {
            match digits.leading_zeros() >= 4 && digits % 2 == 1 {
                true => (digits, tens) = (digits * 10, tens - 1),
                false => (digits, twos) = ((digits >> 1) + (digits & 1), twos + 1),
            }
        }
        while digits >= DIGITS {
            (digits, tens) = (digits / 10 + u64::from(digits % 10 >= 5), tens + 1);
        }
        while digits != 0 && digits % 10 == 0 {
            (digits, tens) = (digits / 10, tens + 1);
        }
        // Whole numbers as such.
        while tens > 0 && digits < DIGITS {
            (digits, tens) = (digits * 10, tens - 1);
        }
        self.digits(negative, digits);
        if tens != 0 && digits != 0 {
            self.append(b"e");
            self.comma = false;
            self.integer(tens.into());
        }
    }

    /// A number with the fewest digits that read back as `value`, whole numbers without a fraction. JSON has no
    /// infinities and no NaN: they become `null`.
    #[cfg(feature = "alloc")]
    pub fn float(&mut self, value: f64) {
        /// Whole numbers below this have no exponent: all integers up to here are doubles.
        const PLAIN: f64 = 9_007_199_254_740_992.0;
        if !value.is_finite() {
            return self.null();
        }
        self.separate();
        // The adapter does not fail, nor does the formatting of a float.
        let _ = if value.abs() < PLAIN && value as i64 as f64 == value {
            write!(Plain(self), "{value}")
        } else {
            // Unlike `Display`, this has an exponent where the zeros would be many.
            write!(Plain(self), "{value:?}")
        };
        self.comma = true;
    }

    /// `true` or `false`
    #[inline]
    pub fn boolean(&mut self, value: bool) {
        self.fragment(if value { "true" } else { "false" });
    }

    /// `null`
    #[inline]
    pub fn null(&mut self) {
        self.fragment("null");
    }

    /// A checked value as it was written, except that line ends between its tokens are left out.
    #[inline]
    pub fn raw(&mut self, value: RawJson<'_>) {
        match value.kind() {
            Kind::Array | Kind::Object => self.fragment(value.as_str()),
            // One token.
            Kind::Null | Kind::Bool | Kind::Number | Kind::String => self.compact(value.as_str()),
        }
    }

    /// Text that is already JSON: a value, or one or more members or elements with the commas between them. Nothing if
    /// it is empty. It is the caller's word that it fits here; only line ends are left out, which valid JSON has nowhere
    /// but between tokens.
    pub fn fragment(&mut self, json: &str) {
        if json.is_empty() {
            return;
        }
        self.separate();
        let mut rest = json.as_bytes();
        while let Some(at) = memchr::memchr2(b'\n', b'\r', rest) {
            let (line, after) = rest.split_at(at);
            self.append(line);
            rest = after.get(1..).unwrap_or_default();
        }
        self.append(rest);
        self.comma = true;
    }

    /// A [`fragment`](Self::fragment) that is known to have no line ends, such as one that a writer has written.
    #[inline]
    pub(crate) fn compact(&mut self, json: &str) {
        self.separate();
        self.append(json.as_bytes());
        self.comma = true;
    }

    /// Text of ours that begins a value or a member and stops where a value is to be written next, or a first element or
    /// member: several tokens in one piece. It is not escaped.
    #[cfg_attr(feature = "alloc", inline(always))]
    pub(crate) fn open(&mut self, json: &'static str) {
        self.separate();
        self.append(json.as_bytes());
    }

    /// Puts in the comma, if one is due.
    #[cfg_attr(feature = "alloc", inline(always))]
    fn separate(&mut self) {
        if self.comma {
            self.append(b",");
        }
        self.comma = false;
    }

    /// Begins a value or a name: `first` where nothing came before it, else `next`, the same after a comma.
    #[cfg_attr(feature = "alloc", inline(always))]
    fn begin<const N: usize, const M: usize>(&mut self, first: &[u8; N], next: &[u8; M]) {
        // Not one append of either: their lengths are then known, and there is nothing to call.
        match self.comma {
            true => self.append(next),
            false => self.append(first),
        }
        self.comma = false;
    }

    fn digits(&mut self, negative: bool, mut magnitude: u64) {
        let mut buffer = [0; 20];
        let mut at = buffer.len();
        for place in buffer.iter_mut().rev() {
            // A digit always fits.
            *place = b'0' + (magnitude % 10) as u8;
            magnitude /= 10;
            at -= 1;
            if magnitude == 0 {
                break;
            }
        }
        match negative {
            true => self.begin(b"-", b",-"),
            false => self.begin(b"", b","),
        }
        self.append(buffer.get(at..).unwrap_or_default());
        self.comma = true;
    }

    fn escape(&mut self, text: &str) {
        const HEX: &[u8; 16] = b"0123456789abcdef";
        let mut rest = text.as_bytes();
        loop {
            let (plain, after) = rest.split_at(scan::string_run(rest));
            self.append(plain);
            let Some((&byte, after)) = after.split_first() else {
                return;
            };
            match byte {
                b'"' => self.append(b"\\\""),
                b'\\' => self.append(b"\\\\"),
                b'\n' => self.append(b"\\n"),
                b'\r' => self.append(b"\\r"),
                b'\t' => self.append(b"\\t"),
                0x08 => self.append(b"\\b"),
                0x0c => self.append(b"\\f"),
                _ => {
                    let (high, low) = (HEX[usize::from(byte >> 4)], HEX[usize::from(byte & 15)]);
                    self.append(&[b'\\', b'u', b'0', b'0', high, low]);
                }
            }
            rest = after;
        }
    }

    #[cfg_attr(feature = "alloc", inline(always))]
    fn append(&mut self, bytes: &[u8]) {
        if !self.full {
            self.full = self.sink.append(bytes).is_err();
        }
    }
}

impl<S: Sink + ?Sized> fmt::Debug for Writer<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("start", &self.start)
            .field("len", &self.sink.len())
            .field("full", &self.full)
            .finish_non_exhaustive()
    }
}

struct Decoded<'b>(JsonStr<'b>);

impl fmt::Display for Decoded<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|char| f.write_char(char))
    }
}

/// Formatted text into a string.
struct Escaped<'w, 'o, S: Sink + ?Sized>(&'w mut Writer<'o, S>);

impl<S: Sink + ?Sized> fmt::Write for Escaped<'_, '_, S> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.escape(text);
        Ok(())
    }
}

/// Formatted text as it is.
struct Plain<'w, 'o, S: Sink + ?Sized>(&'w mut Writer<'o, S>);

impl<S: Sink + ?Sized> fmt::Write for Plain<'_, '_, S> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.append(text.as_bytes());
        Ok(())
    }
}
