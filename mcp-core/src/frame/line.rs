//! Newline framing, as the stdio transport uses it: one message per line.

#[cfg(test)]
mod tests;

use crate::scan;

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// Cuts a byte stream into lines without copying them and without ever looking at a byte twice.
///
/// The framer owns no bytes, only a position: the driver keeps the input, offers all of it that was not yet reported
/// as consumed, and drops what [`LineStep::consumed`] says. The lines and the reports are the same however the stream
/// is cut into reads.
///
/// What a line is:
///
/// - It ends with LF. One CR before the LF is not part of it; any other CR is.
/// - One U+FEFF at its very start is dropped, no matter how many reads it arrives in. A second one is kept.
/// - Blanks (space, TAB, CR) before its first other byte are dropped. A line of nothing else is skipped without being
///   reported.
/// - If what is left has more than `limit` bytes, the line is reported as [`LineOutcome::TooLong`], once, as soon as
///   that is certain; its bytes are consumed as they come, up to and including its LF, and the next line is read as usual.
///
/// # Memory
///
/// After [`LineOutcome::NeedMore`] fewer than [`window`](Self::window) bytes are left unconsumed. A driver that reads
/// into a buffer of that size, and moves what is unconsumed to its front, always has room for the next read and need
/// never grow it, whatever the peer sends.
#[derive(Clone, Debug)]
pub struct LineFramer {
    limit: usize,
    /// So many bytes at the start of the next input are known to hold no LF, and to begin with the line's first byte.
    searched: usize,
    state: State,
}

/// ```text
///            BOM, blank               other byte              more than limit
///  Start ----------------> Indent ---------------+         +------------------> Overlong
///   | ^                      |                   v         |                       |
///   | |         LF           |        (searched counts the line's bytes)           |
///   | +----------------------+-------------------+---------------------------------+
///   +-- other byte ------------------------------^
/// ```
///
/// While a line's bytes are held back, nothing but `searched` changes: they are all offered again next time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum State {
    /// No byte of the line was consumed. The only place for a BOM.
    Start,
    /// A BOM or blanks were consumed.
    Indent,
    /// The line was reported as too long, its end is still to come.
    Overlong,
}

/// What one call of [`LineFramer::next`] found.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[must_use = "the next input must start after the consumed bytes"]
#[non_exhaustive]
pub struct LineStep<'b> {
    /// So many bytes of the input are done with, whatever the outcome. The next input starts after them.
    pub consumed: usize,
    /// What they were.
    pub outcome: LineOutcome<'b>,
}

/// See [`LineStep`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum LineOutcome<'b> {
    /// The input holds no further line. It may still have been consumed in part: blank lines, the rest of a line that
    /// is too long.
    NeedMore,
    /// A line without its terminator. Never empty, never above the limit, not necessarily UTF-8.
    Line(&'b [u8]),
    /// A line above the limit. The report comes once, and nothing of the line beyond its start ever.
    #[non_exhaustive]
    TooLong {
        /// The limit, in bytes.
        limit: usize,
        /// So many bytes of its beginning, without what is dropped before a line: whose message it was may be found there.
        start: &'b [u8],
    },
}

impl LineFramer {
    /// A framer at the start of a stream. `limit` is the most bytes of a line that is handed out: its terminator (LF or
    /// CR LF), a leading U+FEFF and leading blanks do not count. A line of exactly `limit` bytes passes.
    #[must_use]
    pub const fn new(limit: usize) -> Self {
        Self {
            limit,
            searched: 0,
            state: State::Start,
        }
    }

    /// The most bytes of a line that is handed out.
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// The size, in bytes, of an input buffer that never has to grow: the limit, CR LF, and one byte so that there is
    /// room for a read even if the limit is smaller than a BOM.
    #[must_use]
    pub const fn window(&self) -> usize {
        self.limit.saturating_add(3)
    }

    /// Looks for the next line. `input` is everything that has arrived and was not yet reported as consumed.
    ///
    /// At most one line per call: call again with the rest, until the outcome is [`LineOutcome::NeedMore`].
    pub fn next<'b>(&mut self, input: &'b [u8]) -> LineStep<'b> {
        let mut start = 0;
        if self.state == State::Overlong {
            let Some(end) = scan::newline(input) else {
                return LineStep {
                    consumed: input.len(),
                    outcome: LineOutcome::NeedMore,
                };
            };
            self.restart();
            start = end + 1;
        }
        if self.searched == 0 {
            start += self.skip_indent(&input[start..]);
        }
        let line = &input[start..];
        let searched = self.searched.min(line.len());
        if let Some(found) = scan::newline(&line[searched..]) {
            let end = searched + found;
            self.restart();
            return LineStep {
                consumed: start + end + 1,
                outcome: self.judge(&line[..end]),
            };
        }
        if self.state == State::Start && BOM.starts_with(line) {
            // Nothing, or a BOM that is not complete: to be looked at again from its first byte.
            return LineStep {
                consumed: start,
                outcome: LineOutcome::NeedMore,
            };
        }
        if let outcome @ LineOutcome::TooLong { .. } = self.judge(line) {
            self.searched = 0;
            self.state = State::Overlong;
            return LineStep {
                consumed: input.len(),
                outcome,
            };
        }
        self.searched = line.len();
        LineStep {
            consumed: start,
            outcome: LineOutcome::NeedMore,
        }
    }

    /// The same at the end of the stream, where a last line needs no terminator.
    ///
    /// Call it until the outcome is [`LineOutcome::NeedMore`], which here means that nothing is left: all of `rest` is
    /// consumed, and the framer is ready for another stream.
    pub fn finish<'b>(&mut self, rest: &'b [u8]) -> LineStep<'b> {
        let step = self.next(rest);
        let LineOutcome::NeedMore = step.outcome else {
            return step;
        };
        self.restart();
        let outcome = match &rest[step.consumed..] {
            [] => LineOutcome::NeedMore,
            line => self.judge(line),
        };
        LineStep {
            consumed: rest.len(),
            outcome,
        }
    }

    const fn restart(&mut self) {
        self.searched = 0;
        self.state = State::Start;
    }

    /// How many bytes come before the first one of a line: BOM, blanks, blank lines.
    fn skip_indent(&mut self, input: &[u8]) -> usize {
        let mut at = 0;
        while let Some(byte) = input.get(at) {
            match byte {
                b'\n' => self.state = State::Start,
                b' ' | b'\t' | b'\r' => self.state = State::Indent,
                0xEF if self.state == State::Start && input[at..].starts_with(BOM) => {
                    self.state = State::Indent;
                    at += BOM.len() - 1;
                }
                _ => break,
            }
            at += 1;
        }
        at
    }

    /// `raw` is a line, or so much of it as has arrived, without LF.
    fn judge<'b>(&self, raw: &'b [u8]) -> LineOutcome<'b> {
        // A CR at the end of what has arrived may turn out to be part of the terminator.
        let line = raw.strip_suffix(b"\r").unwrap_or(raw);
        if line.len() > self.limit {
            let (limit, start) = (self.limit, &line[..self.limit]);
            LineOutcome::TooLong { limit, start }
        } else {
            LineOutcome::Line(line)
        }
    }
}
