//! Buffers of the driver: input that is read into and taken from, output that is written piece by piece.

#[cfg(test)]
mod tests;

use std::io::ErrorKind;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use futures_io::AsyncWrite;

use crate::error::Failure;
use crate::{Options, Source};

/// One read is of this size, unless a longer message is on its way.
const READ: usize = 64 * 1024;

/// A buffer that had to grow beyond this goes back to [`READ`] when it is empty. Up to this it is kept, so that a stream
/// of middling messages does not allocate for each.
const KEEP: usize = 1024 * 1024;

/// Bytes that were read and not yet taken.
///
/// ```text
///  [ taken | unconsumed ......... | room ]
///          start                  end    bytes.len()
/// ```
///
/// The unconsumed part moves to the front when there is no room behind it, and only if that gives no room is the buffer
/// doubled, up to what the protocol needs: a message of n bytes costs copies of at most 2n. It goes back to its first size when a
/// large message is done.
#[derive(Debug)]
pub(crate) struct Input {
    bytes: Vec<u8>,
    start: usize,
    end: usize,
    /// The buffer need not be longer than this.
    window: usize,
}

impl Input {
    pub(crate) fn new(window: usize) -> Self {
        Self {
            bytes: vec![0; READ],
            start: 0,
            end: 0,
            window: window.max(READ),
        }
    }

    pub(crate) fn unconsumed(&self) -> &[u8] {
        &self.bytes[self.start..self.end]
    }

    /// Whether there is as much as any message needs.
    pub(crate) fn is_full(&self) -> bool {
        self.end - self.start >= self.window
    }

    pub(crate) fn consume(&mut self, count: usize) {
        debug_assert!(
            count <= self.end - self.start,
            "no more is consumed than there is"
        );
        self.start += count;
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.bytes.len() > KEEP {
                self.bytes = vec![0; READ];
            }
        }
    }

    /// Reads once. Zero: the input has ended.
    pub(crate) fn poll_fill<R: Source + ?Sized>(
        &mut self,
        mut reader: Pin<&mut R>,
        cx: &mut Context<'_>,
        idle: bool,
    ) -> Poll<Result<usize, Failure>> {
        if self.end == self.bytes.len() {
            if self.start > 0 {
                self.bytes.copy_within(self.start..self.end, 0);
                (self.start, self.end) = (0, self.end - self.start);
            } else {
                // A protocol that keeps more than it said has to grow all the same.
                let double = self.bytes.len() * 2;
                let most = if self.end < self.window {
                    self.window
                } else {
                    double
                };
                self.bytes.resize(double.min(most), 0);
            }
        }
        loop {
            let room = &mut self.bytes[self.end..];
            match ready!(reader.as_mut().poll_fill(cx, room, idle)) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(Failure::read(error))),
                Ok(count) => {
                    self.end += count;
                    return Poll::Ready(Ok(count));
                }
            }
        }
    }
}

/// Bytes that are to be written. What a short write leaves stays at the front.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) bytes: Vec<u8>,
    written: usize,
    /// The writer may still hold something back: a buffer, or a TLS record.
    unflushed: bool,
    /// So many bytes of answers were added since it became full.
    answers: usize,
}

impl Output {
    /// How much is still to be written.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len() - self.written
    }

    /// Whether a message may be taken, which may be answered here.
    pub(crate) fn has_room(&self, options: &Options) -> bool {
        self.len() < options.high_water || self.answers < options.reserve
    }

    /// A message was taken, and so many bytes of an answer were added.
    pub(crate) fn answered(&mut self, bytes: usize, options: &Options) {
        self.answers = if self.len() < options.high_water {
            0
        } else {
            self.answers.saturating_add(bytes)
        };
    }

    /// What is not written yet.
    pub(crate) fn unwritten(&self) -> &[u8] {
        &self.bytes[self.written..]
    }

    /// So many bytes need not be written any more.
    pub(crate) fn consume(&mut self, count: usize) {
        debug_assert!(count <= self.len(), "no more is consumed than there is");
        self.written += count;
        if self.written == self.bytes.len() {
            self.discard();
        } else {
            self.compact();
        }
    }

    /// Writes all there is, in as few calls as the writer allows, and flushes it. Ready: the peer can have all of it.
    pub(crate) fn poll_write<W: AsyncWrite + ?Sized>(
        &mut self,
        mut writer: Pin<&mut W>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<(), Failure>> {
        while self.written < self.bytes.len() {
            match ready!(writer.as_mut().poll_write(cx, &self.bytes[self.written..])) {
                Ok(0) => return Poll::Ready(Err(Failure::Closed)),
                Ok(count) => {
                    self.written += count;
                    self.unflushed = true;
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Poll::Ready(Err(Failure::write(error))),
            }
        }
        self.clear();
        while self.unflushed {
            match ready!(writer.as_mut().poll_flush(cx)) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                flushed => {
                    flushed.map_err(Failure::write)?;
                    self.unflushed = false;
                }
            }
        }
        Poll::Ready(Ok(()))
    }

    /// Gives up what is not written.
    pub(crate) fn discard(&mut self) {
        self.clear();
        self.unflushed = false;
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.written = 0;
        if self.bytes.capacity() > KEEP {
            self.bytes.shrink_to(READ);
        }
    }

    /// Forgets what was written, so that a long tail does not keep its head in memory.
    pub(crate) fn compact(&mut self) {
        if self.written >= READ && self.written >= self.len() {
            self.bytes.drain(..self.written);
            self.written = 0;
        }
    }
}
