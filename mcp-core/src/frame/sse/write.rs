//! Events to bytes.

use core::time::Duration;

use crate::json::{Full, Sink, Writer};

/// Appends one event: `id` and `event` as given, then `data`, one line of it per line. JSON from our
/// [`Writer`] is one line.
///
/// With an `id` and no data it is what a stream begins with that can be resumed (LH-10). An `id` or a name that could not
/// be read back, because of a line end or a NUL in it, is left out.
///
/// # Errors
///
/// [`Full`] if there is no room for all of it. Nothing is appended then.
pub fn write_event<S: Sink + ?Sized>(
    out: &mut S,
    id: Option<&str>,
    event: Option<&str>,
    data: &[u8],
) -> Result<(), Full> {
    whole(out, |out| {
        for (field, value) in [("id: ", id), ("event: ", event)] {
            if let Some(value) = value.filter(|value| !value.contains(['\r', '\n', '\0'])) {
                out.append(field.as_bytes())?;
                out.append(value.as_bytes())?;
                out.append(b"\n")?;
            }
        }
        write_lines(out, b"data: ", data)?;
        out.append(b"\n")
    })
}

/// Appends a comment, which readers skip: it keeps a connection open. It may stand between events only.
///
/// # Errors
///
/// [`Full`] if there is no room for all of it. Nothing is appended then.
pub fn write_comment<S: Sink + ?Sized>(out: &mut S, text: &str) -> Result<(), Full> {
    whole(out, |out| {
        write_lines(out, b": ", text.as_bytes())?;
        out.append(b"\n")
    })
}

/// Appends how long the client is to wait before it connects again (LH-12), cut to whole milliseconds.
///
/// # Errors
///
/// [`Full`] if there is no room for all of it. Nothing is appended then.
pub fn write_retry<S: Sink + ?Sized>(out: &mut S, delay: Duration) -> Result<(), Full> {
    let milliseconds = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
    whole(out, |out| {
        out.append(b"retry: ")?;
        let mut json = Writer::new(out);
        json.unsigned(milliseconds);
        json.finish()?;
        out.append(b"\n\n")
    })
}

/// All that `write` appends, or nothing.
fn whole<S: Sink + ?Sized>(
    out: &mut S,
    write: impl FnOnce(&mut S) -> Result<(), Full>,
) -> Result<(), Full> {
    let start = out.len();
    write(out).inspect_err(|_| out.truncate(start))
}

/// `text`, with `prefix` before each of its lines; one line even if it is empty.
fn write_lines<S: Sink + ?Sized>(out: &mut S, prefix: &[u8], text: &[u8]) -> Result<(), Full> {
    let mut rest = Some(text);
    while let Some(text) = rest {
        let end = memchr::memchr2(b'\r', b'\n', text);
        let line = &text[..end.unwrap_or(text.len())];
        rest = end.map(|end| {
            let after = &text[end..];
            after.strip_prefix(b"\r\n").unwrap_or(&after[1..])
        });
        out.append(prefix)?;
        out.append(line)?;
        out.append(b"\n")?;
    }
    Ok(())
}
