//! What a child says on standard error.

use std::collections::VecDeque;
use std::fmt::{self, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use async_process::ChildStderr;
use futures_io::AsyncRead;

use super::command::Stderr;

/// A longer line is passed on in parts.
const LINE: usize = 8 * 1024;

/// One read.
const READ: usize = 16 * 1024;

/// So many reads before others get their turn.
const BUDGET: usize = 64;

/// The last bytes that were read.
#[derive(Debug)]
pub(super) struct Tail {
    bytes: Mutex<VecDeque<u8>>,
    most: usize,
}

impl Tail {
    pub(super) fn new(most: usize) -> Self {
        Self {
            bytes: Mutex::default(),
            most,
        }
    }

    fn push(&self, bytes: &[u8]) {
        let bytes = &bytes[bytes.len().saturating_sub(self.most)..];
        let mut kept = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let over = (kept.len() + bytes.len()).saturating_sub(self.most);
        kept.drain(..over);
        kept.extend(bytes);
    }

    /// As text, from the first whole character on.
    pub(super) fn text(&self) -> String {
        let kept = self.bytes.lock().unwrap_or_else(PoisonError::into_inner);
        let is_rest = |byte: &u8| byte & 0b1100_0000 == 0b1000_0000;
        // At most three bytes of a character follow its first one.
        let cut = if kept.len() == self.most {
            kept.iter().take(3).take_while(|byte| is_rest(byte)).count()
        } else {
            0
        };
        let bytes: Vec<u8> = kept.iter().skip(cut).copied().collect();
        String::from_utf8_lossy(&bytes).into_owned()
    }
}

type Report = dyn Fn(&str) + Send + Sync;

/// Reads all there is, for as long as it is polled.
pub(super) struct Drain {
    source: Option<ChildStderr>,
    tail: Arc<Tail>,
    report: Option<Arc<Report>>,
    lines: Lines,
    read: Box<[u8]>,
}

impl Drain {
    pub(super) fn new(source: Option<ChildStderr>, to: &Stderr, tail: Arc<Tail>) -> Self {
        let report = match to {
            Stderr::Lines(report) => Some(report.clone()),
            Stderr::Capture | Stderr::Forward | Stderr::Drop => None,
        };
        Self {
            source,
            tail,
            report,
            lines: Lines::default(),
            read: vec![0; READ].into(),
        }
    }

    /// Reads what is there. Whoever polls this is woken when there is more.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) {
        for _ in 0..BUDGET {
            let Some(source) = &mut self.source else {
                return;
            };
            match Pin::new(source).poll_read(cx, &mut self.read) {
                Poll::Pending => return,
                Poll::Ready(Ok(count)) if count > 0 => {
                    let (bytes, report) = (&self.read[..count], self.report.as_deref());
                    self.tail.push(bytes);
                    self.lines.push(bytes, |line| tell(report, line));
                }
                Poll::Ready(_) => {
                    self.finish();
                    return;
                }
            }
        }
        cx.waker().wake_by_ref();
    }

    /// There is no more, or nobody is interested any more.
    pub(super) fn finish(&mut self) {
        self.source = None;
        let report = self.report.as_deref();
        self.lines.finish(|line| tell(report, line));
    }
}

fn tell(report: Option<&Report>, line: &[u8]) {
    let wanted = tracing::enabled!(target: super::handle::STDERR, tracing::Level::DEBUG);
    if report.is_none() && !wanted {
        return;
    }
    let line = String::from_utf8_lossy(line);
    tracing::debug!(target: super::handle::STDERR, "{}", Escaped(&line));
    if let Some(report) = report {
        // The child chooses when this runs: a panic in it is not to leave the child alone.
        let _ = catch_unwind(AssertUnwindSafe(|| report(&line)));
    }
}

/// A line as it can be in a log: what would steer a terminal, begin a line, or turn the direction of a text is escaped.
struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for char in self.0.chars() {
            let steers = match char {
                '\t' => false,
                '\u{61c}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2066}'..='\u{2069}' => true,
                _ => char.is_control(),
            };
            match steers {
                true => char.escape_unicode().fmt(f)?,
                false => f.write_char(char)?,
            }
        }
        Ok(())
    }
}

/// Cuts bytes into lines.
#[derive(Default)]
struct Lines {
    /// What came of a line that is not complete: fewer than [`LINE`] bytes.
    begun: Vec<u8>,
}

impl Lines {
    fn push(&mut self, mut bytes: &[u8], mut tell: impl FnMut(&[u8])) {
        while !bytes.is_empty() {
            let most = &bytes[..bytes.len().min(LINE - self.begun.len())];
            let end = most.iter().position(|byte| *byte == b'\n');
            let (part, used) = end.map_or((most, most.len()), |end| (&most[..end], end + 1));
            bytes = &bytes[used..];
            let full = self.begun.len() + part.len() >= LINE;
            if end.is_none() && !full {
                self.begun.extend_from_slice(part);
            } else if self.begun.is_empty() {
                tell(trimmed(part));
            } else {
                self.begun.extend_from_slice(part);
                tell(trimmed(&self.begun));
                self.begun.clear();
            }
        }
    }

    fn finish(&mut self, tell: impl FnOnce(&[u8])) {
        if !self.begun.is_empty() {
            tell(&self.begun);
            self.begun.clear();
        }
    }
}

fn trimmed(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tail_is_the_last_whole_characters() {
        for most in 0..12 {
            let text = "a\nbcß€d";
            let tail = Tail::new(most);
            for byte in text.bytes() {
                tail.push(&[byte]);
            }
            let whole = Tail::new(most);
            whole.push(text.as_bytes());
            assert_eq!(tail.text(), whole.text());
            assert!(text.ends_with(&tail.text()), "{most}: {:?}", tail.text());
            assert!(tail.text().len() + 3 > most.min(text.len()));
        }
    }

    #[test]
    fn what_is_logged_steers_nothing() {
        let line = "\u{1b}[2J\u{202e}dlo\u{2069}\u{2028}\r\u{9b}\ta\u{df}\\";
        let expected = r"\u{1b}[2J\u{202e}dlo\u{2069}\u{2028}\u{d}\u{9b}";
        assert_eq!(Escaped(line).to_string(), format!("{expected}\ta\u{df}\\"));
    }

    #[test]
    fn lines_come_whole_however_they_are_read() {
        let long = "x".repeat(2 * LINE + 5);
        let text = format!("one\r\n\ntwo\n{long}\nthree");
        let (first, rest) = long.split_at(LINE);
        let (second, third) = rest.split_at(LINE);
        let expected = ["one", "", "two", first, second, third, "three"];
        for size in [1, 2, 3, 7, 1000, LINE - 1, LINE, LINE + 1, text.len()] {
            let mut lines = Lines::default();
            let mut said = Vec::new();
            let mut tell = |line: &[u8]| said.push(String::from_utf8_lossy(line).into_owned());
            for part in text.as_bytes().chunks(size) {
                lines.push(part, &mut tell);
                assert!(lines.begun.len() < LINE);
            }
            lines.finish(&mut tell);
            assert_eq!(said, expected, "{size}");
        }
    }
}
