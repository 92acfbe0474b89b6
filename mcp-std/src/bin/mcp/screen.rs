//! Standard error as a person sees it: lines that go by, and below them a bar that stays.

use std::env;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::text::cut;

/// The one that there is.
static SCREEN: Mutex<Screen> = Mutex::new(Screen { bar: false });

struct Screen {
    /// A bar stands in the last line.
    bar: bool,
}

/// From the start of the line on, and nothing else in it.
const CLEAR: &str = "\r\u{1b}[2K";

impl Screen {
    /// Whoever started this may have closed standard error, which ends nothing.
    fn write(&mut self, text: &str) {
        let clear = if self.bar { CLEAR } else { "" };
        self.bar = false;
        let mut err = io::stderr().lock();
        let _ = err.write_all([clear, text].concat().as_bytes());
        let _ = err.flush();
    }
}

fn screen() -> MutexGuard<'static, Screen> {
    SCREEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes lines, or the beginning of one. They hold nothing that a terminal would obey but what this program put there.
pub(crate) fn print(text: &str) {
    screen().write(text);
}

/// Whether there can be a bar.
pub(crate) fn has_bar() -> bool {
    io::stderr().is_terminal()
}

/// Draws the bar anew: at most the first line's width of it.
pub(crate) fn bar(text: &str) {
    let mut screen = screen();
    // The last column makes some terminals begin a new line.
    let columns = width(&io::stderr()) - 1;
    screen.write(&format!("{CLEAR}{}", cut(text, columns)));
    screen.bar = true;
}

/// Takes the bar away, if there is one.
pub(crate) fn clear_bar() {
    screen().write("");
}

/// Standard error for who writes bytes, such as the traces.
pub(crate) struct Err;

impl Write for Err {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        print(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(unix)]
pub(crate) use std::os::fd::AsFd as Stream;

#[cfg(windows)]
pub(crate) use std::os::windows::io::AsHandle as Stream;

/// The columns to draw in: as many as asked for, or as the terminal has.
pub(crate) fn width(stream: &impl Stream) -> usize {
    let asked = env::var("COLUMNS").ok().and_then(|text| text.parse().ok());
    let columns = asked.or_else(|| terminal_columns(stream)).unwrap_or(100);
    // Narrower than this there is no room for an arrow with its label.
    columns.clamp(60, 300)
}

/// `None`: it is no terminal, or one that does not know.
#[cfg(unix)]
fn terminal_columns(stream: &impl Stream) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}

#[cfg(not(unix))]
const fn terminal_columns(_: &impl Stream) -> Option<usize> {
    None
}

pub(crate) fn colourful(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
