//! Server-sent events, both directions (WHATWG HTML, "Server-sent events").

#[cfg(test)]
mod tests;
mod write;

pub use write::{write_comment, write_event, write_retry};

use alloc::borrow::Cow;
use alloc::vec::Vec;
use core::time::Duration;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Cuts a stream of server-sent events into events without copying them, and without looking for the end of one twice.
///
/// Like a [`LineFramer`](super::LineFramer) it owns none of the stream's bytes: the driver keeps the input, offers all of
/// it that was not yet reported as consumed, and drops what [`SseStep::consumed`] says. An event borrows the input; only
/// data of several lines is copied, to join them. The events and the reports are the same however the stream is cut into
/// reads.
///
/// What an event is:
///
/// - It ends with an empty line. Lines end with LF, CR LF or CR, mixed as they like; an empty line that ends with CR ends
///   the event at once, and an LF that follows later belongs to it.
/// - One U+FEFF at the start of the stream is dropped.
/// - Comments and unknown fields mean nothing. What has neither `data`, nor a valid `id` or `retry`, is skipped.
/// - If its lines have more than `limit` bytes, it is reported as [`SseOutcome::TooLong`], once, as soon as that is
///   certain; its bytes are consumed as they come, up to its empty line, and the next event is read as usual. An `id`
///   within the limit counts all the same, so that a resumed stream goes on after it.
///
/// # Memory
///
/// After [`SseOutcome::NeedMore`] fewer than [`window`](Self::window) bytes are left unconsumed: a driver's buffer of
/// that size never has to grow. The parser itself keeps the last event id, [`MAX_ID`](Self::MAX_ID) bytes at most, and
/// joined data has fewer bytes than the limit.
#[derive(Clone, Debug)]
pub struct SseParser {
    limit: usize,
    /// So many bytes at the start of the next input are whole lines of the event. Always 0 where nothing is held.
    lines: usize,
    /// So many bytes at the start of the next input are known to hold no end of the current line. At least `lines`.
    searched: usize,
    /// The line before ended with CR: an LF now is part of that.
    after_cr: bool,
    state: State,
    last_id: Vec<u8>,
}

/// ```text
///          no BOM, or its end           more than limit
///  Start ---------------------> Event ------------------> Overlong { blank: true }
///                               ^ | ^                       |  ^     a line's end  |
///                               | | |      an empty line    |  |                   | bytes
///                               | | +-----------------------+  +-------------------v
///                    line's end | | `:`, nothing held             Overlong { blank: false }
///                               | v
///                             Comment
/// ```
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    /// No byte of the stream was consumed. The only place for a BOM.
    Start,
    /// Within an event or before one.
    Event,
    /// Within a comment before an event: it may have any length.
    Comment,
    /// The event was reported as too long, its empty line is still to come.
    Overlong {
        /// The current line has no bytes yet.
        blank: bool,
    },
}

/// What one call of [`SseParser::next`] found.
#[derive(Clone, Debug, Eq, PartialEq)]
#[must_use = "the next input must start after the consumed bytes"]
#[non_exhaustive]
pub struct SseStep<'b> {
    /// So many bytes of the input are done with, whatever the outcome. The next input starts after them.
    pub consumed: usize,
    /// What they were.
    pub outcome: SseOutcome<'b>,
}

/// See [`SseStep`].
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum SseOutcome<'b> {
    /// The input holds no further event. It may still have been consumed in part: comments, empty lines, the rest of an
    /// event that is too long.
    NeedMore,
    /// An event.
    Event(SseEvent<'b>),
    /// An event above the limit. The report comes once, the event never.
    #[non_exhaustive]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
    },
}

/// One event, as far as it was sent.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct SseEvent<'b> {
    /// Its name: `message` if it has none. Not necessarily UTF-8.
    pub name: &'b [u8],
    /// Its lines of data with LF between them; empty if there are none. Not necessarily UTF-8.
    pub data: Cow<'b, [u8]>,
    /// The `id` it brought, if any: empty if it takes back the one before. [`SseParser::last_id`] has it already. Not
    /// necessarily UTF-8; without NUL and line ends, at most [`SseParser::MAX_ID`] bytes.
    pub id: Option<&'b [u8]>,
    /// How long to wait before the next attempt if the connection is lost, in whole milliseconds, without a bound.
    pub retry: Option<Duration>,
}

impl<'b> SseEvent<'b> {
    /// The JSON-RPC message, for an event of that name that has data. Without data an event is there for its `id` or its
    /// `retry` (LH-11).
    #[must_use]
    pub fn message(&self) -> Option<&[u8]> {
        (self.name == b"message" && !self.data.is_empty()).then_some(&*self.data)
    }

    /// The event of these lines. `None` if nothing in them means anything. `ended`: the last one has its line end, so no
    /// field is cut short.
    fn of(lines: &'b [u8], ended: bool) -> Option<Self> {
        let mut event = Self {
            name: b"",
            data: Cow::Borrowed(b""),
            id: None,
            retry: None,
        };
        let mut has_data = false;
        let mut rest = lines;
        while !rest.is_empty() {
            let (line, after) = match memchr::memchr2(b'\r', b'\n', rest) {
                Some(end) if rest[end..].starts_with(b"\r\n") => (&rest[..end], &rest[end + 2..]),
                Some(end) => (&rest[..end], &rest[end + 1..]),
                None => (rest, &rest[rest.len()..]),
            };
            let whole = ended || line.len() < rest.len();
            rest = after;
            let (field, value) = match memchr::memchr(b':', line) {
                Some(colon) => {
                    let value = &line[colon + 1..];
                    (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
                }
                None => (line, &b""[..]),
            };
            match field {
                b"data" if has_data => {
                    let data = event.data.to_mut();
                    data.push(b'\n');
                    data.extend_from_slice(value);
                }
                b"data" => {
                    event.data = Cow::Borrowed(value);
                    has_data = true;
                }
                b"event" => event.name = value,
                b"id" if whole && value.len() <= SseParser::MAX_ID && !value.contains(&0) => {
                    event.id = Some(value);
                }
                b"retry" if whole => event.retry = milliseconds(value).or(event.retry),
                _ => {}
            }
        }
        if event.name.is_empty() {
            event.name = b"message";
        }
        (has_data || event.id.is_some() || event.retry.is_some()).then_some(event)
    }
}

/// `None` for anything but ASCII digits.
fn milliseconds(digits: &[u8]) -> Option<Duration> {
    if digits.is_empty() {
        return None;
    }
    let mut milliseconds = 0_u64;
    for byte in digits {
        let digit = byte.checked_sub(b'0').filter(|digit| *digit < 10)?;
        milliseconds = milliseconds
            .saturating_mul(10)
            .saturating_add(u64::from(digit));
    }
    Some(Duration::from_millis(milliseconds))
}

impl SseParser {
    /// The longest `id` that counts, in bytes: one that is longer is ignored, since no server would take it back in a
    /// header.
    pub const MAX_ID: usize = 4096;

    /// A parser at the start of a stream. `limit` is the most bytes that an event's lines may have, with their field
    /// names and line ends, without its empty line, and without comments before its first field: some more than the
    /// largest message.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self {
            limit,
            lines: 0,
            searched: 0,
            after_cr: false,
            state: State::Start,
            last_id: Vec::new(),
        }
    }

    /// The most bytes that an event's lines may have.
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// The size, in bytes, of an input buffer that never has to grow: the limit, and three bytes so that there is room
    /// for a read even if the limit is smaller than a BOM.
    #[must_use]
    pub const fn window(&self) -> usize {
        self.limit.saturating_add(3)
    }

    /// What to resume after (`Last-Event-ID`): the `id` of the last event that had one, in this stream and those before
    /// it. Empty if there was none, or if the last one took it back.
    #[must_use]
    pub fn last_id(&self) -> &[u8] {
        &self.last_id
    }

    /// Looks for the next event. `input` is everything that has arrived and was not yet reported as consumed.
    ///
    /// At most one event per call: call again with the rest, until the outcome is [`SseOutcome::NeedMore`].
    pub fn next<'b>(&mut self, input: &'b [u8]) -> SseStep<'b> {
        let mut start = 0;
        if self.state == State::Start {
            if input.starts_with(BOM) {
                start = BOM.len();
            } else if BOM.starts_with(input) {
                return SseStep {
                    consumed: 0,
                    outcome: SseOutcome::NeedMore,
                };
            }
            self.state = State::Event;
        }
        self.lines = self.lines.min(input.len() - start);
        loop {
            // `input[start..]` begins with the whole lines that are held, then comes the current one.
            let line = start + self.lines;
            if self.after_cr {
                match input.get(line) {
                    None => break,
                    Some(b'\n') if self.lines > 0 => self.lines += 1,
                    Some(b'\n') => start += 1,
                    Some(_) => {}
                }
                self.after_cr = false;
                if self.lines > self.limit {
                    // All of them but the LF were within it.
                    return self.overlong(&input[start..line], line + 1, true);
                }
                continue;
            }
            let searched = (start + self.searched).clamp(line, input.len());
            let Some(found) = memchr::memchr2(b'\r', b'\n', &input[searched..]) else {
                return self.unfinished(input, start);
            };
            let end = searched + found;
            let next = end + 1;
            self.after_cr = input[end] == b'\r';
            self.searched = 0;
            match self.state {
                State::Overlong { blank } if blank && end == line => {
                    self.state = State::Event;
                    start = next;
                }
                State::Overlong { .. } => {
                    self.state = State::Overlong { blank: true };
                    start = next;
                }
                State::Comment => {
                    self.state = State::Event;
                    start = next;
                }
                State::Start | State::Event if end == line => {
                    let event = SseEvent::of(&input[start..line], true);
                    self.lines = 0;
                    start = next;
                    if let Some(event) = event {
                        return self.found(event, start);
                    }
                }
                State::Start | State::Event if line == start && input[line] == b':' => start = next,
                State::Start | State::Event if next - start > self.limit => {
                    return self.overlong(&input[start..line], next, true);
                }
                State::Start | State::Event => self.lines = next - start,
            }
        }
        SseStep {
            consumed: start,
            outcome: SseOutcome::NeedMore,
        }
    }

    /// The same where the body has ended as it should, which ends a last event too: some servers leave out its empty line.
    /// Only `data` and `event` count in a last line without an end, since an `id` could have been cut short.
    ///
    /// Call it until the outcome is [`SseOutcome::NeedMore`], which here means that nothing is left: all of `rest` is
    /// consumed, and the parser is ready for another stream.
    ///
    /// Where the connection broke, call [`restart`](Self::restart) instead.
    pub fn finish<'b>(&mut self, rest: &'b [u8]) -> SseStep<'b> {
        let step = self.next(rest);
        let SseOutcome::NeedMore = step.outcome else {
            return step;
        };
        self.restart();
        match SseEvent::of(&rest[step.consumed..], false) {
            Some(event) => self.found(event, rest.len()),
            None => SseStep {
                consumed: rest.len(),
                outcome: SseOutcome::NeedMore,
            },
        }
    }

    /// Another stream begins. What is left of the one before is no event and must not be offered again; the last id
    /// stays.
    pub const fn restart(&mut self) {
        self.lines = 0;
        self.searched = 0;
        self.after_cr = false;
        self.state = State::Start;
    }

    fn found<'b>(&mut self, event: SseEvent<'b>, consumed: usize) -> SseStep<'b> {
        self.keep_id(&event);
        SseStep {
            consumed,
            outcome: SseOutcome::Event(event),
        }
    }

    fn keep_id(&mut self, event: &SseEvent<'_>) {
        if let Some(id) = event.id {
            self.last_id.clear();
            self.last_id.extend_from_slice(id);
        }
    }

    /// The current line has no end yet. `input[start..]` is not consumed.
    fn unfinished<'b>(&mut self, input: &'b [u8], start: usize) -> SseStep<'b> {
        let line = start + self.lines;
        let arrived = &input[line..];
        let mut consumed = input.len();
        match self.state {
            State::Comment => {}
            State::Overlong { ref mut blank } => *blank &= arrived.is_empty(),
            State::Start | State::Event if line == start && arrived.first() == Some(&b':') => {
                self.state = State::Comment;
            }
            State::Start | State::Event if input.len() - start > self.limit => {
                return self.overlong(&input[start..line], consumed, false);
            }
            State::Start | State::Event => {
                self.searched = input.len() - start;
                consumed = start;
            }
        }
        SseStep {
            consumed,
            outcome: SseOutcome::NeedMore,
        }
    }

    /// `head` is what was whole before the limit was crossed, `blank` whether a new line begins after `consumed`.
    fn overlong<'b>(&mut self, head: &[u8], consumed: usize, blank: bool) -> SseStep<'b> {
        if let Some(event) = SseEvent::of(head, true) {
            self.keep_id(&event);
        }
        self.lines = 0;
        self.searched = 0;
        self.state = State::Overlong { blank };
        SseStep {
            consumed,
            outcome: SseOutcome::TooLong { limit: self.limit },
        }
    }
}
