//! The body of one response: one JSON text, or a stream of events.

use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::vec::Vec;
use core::fmt::Write as _;
use core::time::Duration;

use super::Accepts;
use crate::json::{Full, Sink};

/// What an engine writes in answer to one request, on its way into a response. It is a [`Sink`]: each message that is
/// written becomes the JSON body, or an event.
///
/// ```text
///  Undecided --one message, and it is the answer------> Json     one body, one status
///      |
///      \----a message before the answer, or waiting---> Events   a stream, status 200
///                  for it takes too long
/// ```
///
/// A client that does not take one of the two gets the other: without events, messages before the answer are left out.
#[derive(Debug)]
pub struct Reply {
    accepts: Accepts,
    form: Form,
    status: u16,
    bytes: Vec<u8>,
    /// Where the message that is being written begins, what stands before it in its event included.
    start: usize,
    ended: bool,
    /// Nobody is there to read: what is written goes to the log alone.
    detached: bool,
    /// The response ends with what waits to be read, though the answer may not have been given: the rest goes to the log
    /// alone.
    hang_up: bool,
    /// So many bytes may wait to be read, and one message.
    most: usize,
    name: Option<&'static str>,
    log: Option<Log>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Form {
    Undecided,
    Json,
    Events,
}

/// What is ready of a [`Reply`].
#[derive(Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Output {
    /// Nothing yet, and the head of the response is not decided.
    Undecided,
    /// No body: nothing was to be answered. The status is 202.
    Accepted,
    /// The whole body, of this status.
    #[non_exhaustive]
    Json {
        /// The status of the response.
        status: u16,
        /// One JSON text.
        body: Vec<u8>,
    },
    /// More of a stream of events; nothing, if there is nothing now.
    Events(Vec<u8>),
    /// The stream is over.
    End,
}

/// The events of a stream that can be taken up again (LH-15, LH-16).
#[derive(Debug)]
pub(super) struct Log {
    /// Unique in its session.
    stream: u32,
    /// The number of the next event.
    next: u64,
    /// Whether the stream begins with an event that says nothing but its id (LH-10).
    primes: bool,
    events: VecDeque<(u64, Box<[u8]>)>,
    size: usize,
}

impl Log {
    pub(super) const fn new(stream: u32, primes: bool) -> Self {
        Self {
            stream,
            next: 0,
            primes,
            events: VecDeque::new(),
            size: 0,
        }
    }
}

impl Reply {
    /// The reply to a request whose client takes `accepts`.
    #[must_use]
    pub const fn new(accepts: Accepts) -> Self {
        Self {
            accepts,
            form: Form::Undecided,
            status: 200,
            bytes: Vec::new(),
            start: 0,
            ended: false,
            detached: false,
            hang_up: false,
            most: usize::MAX,
            name: None,
            log: None,
        }
    }

    /// A stream of events from the beginning, with a name for each if there is one.
    pub(super) fn events(name: Option<&'static str>, log: Option<Log>, most: usize) -> Self {
        let mut reply = Self::new(Accepts::Events).logged(log, most);
        reply.name = name;
        reply.begin_events();
        reply
    }

    pub(super) fn logged(self, log: Option<Log>, most: usize) -> Self {
        Self { log, most, ..self }
    }

    /// Whether a stream has begun, so that no other status can be given any more (HTTP-21).
    #[must_use]
    pub const fn is_stream(&self) -> bool {
        matches!(self.form, Form::Events)
    }

    /// Whether the answer is given.
    #[must_use]
    pub const fn is_ended(&self) -> bool {
        self.ended
    }

    /// How many bytes wait to be read.
    #[must_use]
    pub const fn buffered(&self) -> usize {
        self.bytes.len()
    }

    /// Sets the status of a JSON body. 200, unless it is set.
    pub const fn set_status(&mut self, status: u16) {
        self.status = status;
    }

    /// What was written last is the answer: nothing comes after it (HTTP-15).
    ///
    /// A stream has no status but 200. So where there is another one, the answer is a JSON text even for a client that
    /// would rather have events (RFC 9110, 15.5).
    pub fn end(&mut self) {
        if self.form == Form::Undecided {
            match self.accepts {
                Accepts::Events if self.status == 200 && !self.bytes.is_empty() => {
                    self.begin_events();
                }
                Accepts::Events | Accepts::Json | Accepts::Both => self.form = Form::Json,
            }
        }
        self.ended = true;
    }

    /// What was written so far is not the answer, or the answer takes its time: begins the stream of events, if the
    /// client takes one. To be called before waiting.
    pub fn begin_stream(&mut self) {
        if self.form != Form::Undecided {
            return;
        }
        match self.accepts {
            Accepts::Events | Accepts::Both => self.begin_events(),
            // It is for the answer only.
            Accepts::Json => drop(self.take_bytes()),
        }
    }

    /// Whether something was written that is not the answer, so that the stream is to [begin](Self::begin_stream).
    #[must_use]
    pub const fn has_more_than_answer(&self) -> bool {
        matches!(self.form, Form::Undecided) && !self.bytes.is_empty() && !self.ended
    }

    /// Whether messages other than the answer reach the client here.
    #[must_use]
    pub const fn takes_messages(&self) -> bool {
        !matches!(self.accepts, Accepts::Json) && !self.ended
    }

    /// Adds a comment, which keeps proxies and clients from taking a quiet stream for a dead one (HTTP-18).
    pub fn keep_alive(&mut self) {
        if self.is_stream() && self.is_open() {
            self.bytes.extend_from_slice(b":\n\n");
            self.start = self.bytes.len();
        }
    }

    /// Ends the response, not the request: the client is to ask again after `retry`, and gets the rest then (LH-12).
    /// Whether it can: the stream has to be one that can be taken up again.
    pub(super) fn disconnect(&mut self, retry: Duration) -> bool {
        let can = self.log.as_ref().is_some_and(|log| log.primes);
        if !can || self.accepts == Accepts::Json || self.ended {
            return false;
        }
        self.begin_stream();
        let mut retry_field = heapless::String::<40>::new();
        // 20 digits take any 64-bit number.
        let _ = write!(retry_field, "retry: {}\n\n", retry.as_millis() as u64);
        self.bytes.extend_from_slice(retry_field.as_bytes());
        self.start = self.bytes.len();
        self.hang_up = true;
        true
    }

    /// Takes what is ready.
    pub fn take(&mut self) -> Output {
        match self.form {
            Form::Undecided => Output::Undecided,
            Form::Json if self.bytes.is_empty() => Output::Accepted,
            Form::Json => Output::Json {
                status: self.status,
                body: self.take_bytes(),
            },
            Form::Events if !self.bytes.is_empty() => Output::Events(self.take_bytes()),
            Form::Events if self.ended || self.hang_up => Output::End,
            Form::Events => Output::Events(Vec::new()),
        }
    }

    fn take_bytes(&mut self) -> Vec<u8> {
        self.start = 0;
        core::mem::take(&mut self.bytes)
    }

    /// Its reader has left. What is written from now on is kept for another one, if there is a log.
    pub(super) fn detach(&mut self) {
        self.detached = true;
        self.hang_up = false;
        self.take_bytes();
    }

    pub(super) const fn is_detached(&self) -> bool {
        self.detached
    }

    /// Whether what is written now reaches the one who reads now.
    pub(super) const fn is_open(&self) -> bool {
        !self.detached && !self.ended && !self.hang_up
    }

    pub(super) fn log_size(&self) -> usize {
        self.log.as_ref().map_or(0, |log| log.size)
    }

    pub(super) const fn log_stream(&self) -> Option<u32> {
        match &self.log {
            Some(log) => Some(log.stream),
            None => None,
        }
    }

    /// Its reader is too slow: what waits is dropped, and the response ends. Whoever comes back finds it in the log, if
    /// there is one. Whether anything was dropped.
    pub(super) fn cut_off(&mut self) -> bool {
        if !self.is_stream() || self.bytes.is_empty() {
            return false;
        }
        self.hang_up = true;
        self.take_bytes();
        true
    }

    /// Forgets the oldest event. Whether there was one.
    pub(super) fn forget_oldest(&mut self) -> bool {
        let Some(log) = &mut self.log else {
            return false;
        };
        let oldest = log.events.pop_front();
        log.size -= oldest.as_ref().map_or(0, |(_, event)| event.len());
        oldest.is_some()
    }

    /// Whether something can be taken up after the event of this number.
    pub(super) fn knows(&self, event: u64) -> bool {
        let Some(log) = &self.log else {
            return false;
        };
        let oldest = log.events.front().map_or(log.next, |(number, _)| *number);
        event < log.next && event + 1 >= oldest
    }

    /// A new reader has seen all up to the event of this number, and gets what came after.
    pub(super) fn resume(&mut self, event: u64) {
        self.detached = false;
        self.hang_up = false;
        self.form = Form::Events;
        self.take_bytes();
        if let Some(log) = &self.log {
            for (_, text) in log.events.iter().filter(|(number, _)| *number > event) {
                if self.bytes.len() > self.most {
                    // It comes again for the rest.
                    self.hang_up = true;
                    break;
                }
                self.bytes.extend_from_slice(text);
            }
        }
        self.start = self.bytes.len();
    }

    fn begin_events(&mut self) {
        self.form = Form::Events;
        let first = self.take_bytes();
        if self.log.as_ref().is_some_and(|log| log.primes) {
            self.begin_event();
            self.end_event();
        }
        if !first.is_empty() {
            self.begin_event();
            self.bytes.extend_from_slice(&first);
            self.end_event();
        }
    }

    fn begin_event(&mut self) {
        if let Some(log) = &self.log {
            let mut id = heapless::String::<48>::new();
            // Two numbers of at most 10 and 20 digits.
            let _ = writeln!(id, "id: {}-{}", log.stream, log.next);
            self.bytes.extend_from_slice(id.as_bytes());
        }
        if let Some(name) = self.name {
            self.bytes.extend_from_slice(b"event: ");
            self.bytes.extend_from_slice(name.as_bytes());
            self.bytes.push(b'\n');
        }
        self.bytes.extend_from_slice(b"data: ");
    }

    fn end_event(&mut self) {
        self.bytes.extend_from_slice(b"\n\n");
        if let Some(log) = &mut self.log {
            let event = &self.bytes[self.start..];
            log.size += event.len();
            log.events.push_back((log.next, event.into()));
            log.next += 1;
        }
        if self.start > self.most {
            // Its reader is too slow. It gets what waits for it, and then the end.
            self.hang_up = true;
        }
        if self.detached || self.hang_up {
            // It is in the log, if there is one. A reader that comes back misses nothing in between.
            self.bytes.truncate(self.start);
        }
        self.start = self.bytes.len();
    }

    /// An event of another name than the others, with text of our own.
    pub(super) fn announce(&mut self, name: &str, data: &str) {
        for part in ["event: ", name, "\ndata: ", data, "\n\n"] {
            self.bytes.extend_from_slice(part.as_bytes());
        }
        self.start = self.bytes.len();
    }
}

/// A message is written where the last one ended.
impl Sink for Reply {
    #[inline]
    fn append(&mut self, bytes: &[u8]) -> Result<(), Full> {
        if self.bytes.len() == self.start {
            match self.form {
                Form::Events => self.begin_event(),
                // One message, and it was not the answer.
                Form::Undecided if self.start > 0 => {
                    self.begin_stream();
                    if self.form == Form::Events {
                        self.begin_event();
                    }
                }
                Form::Undecided | Form::Json => self.bytes.reserve(512),
            }
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    #[inline]
    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
        self.start = self.start.min(self.bytes.len());
    }

    #[inline]
    fn end_message(&mut self) -> Result<(), Full> {
        match self.form {
            Form::Events => self.end_event(),
            Form::Undecided | Form::Json if self.detached => self.bytes.truncate(self.start),
            Form::Undecided | Form::Json => self.start = self.bytes.len(),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
