//! One exchange: what it is for, and how far it has been read.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::message::Outgoing;
use crate::frame::SseParser;
use crate::time::Instant;

#[derive(Debug)]
pub(super) struct Exchange {
    pub(super) purpose: Purpose,
    /// The session that it began in (SN-02).
    pub(super) generation: u32,
    pub(super) reading: Reading,
    /// Bytes of the body that have not been taken yet.
    pub(super) body: Vec<u8>,
    /// The server's wish for the pause before the stream is opened again (LH-13).
    pub(super) retry: Option<Duration>,
    /// Attempts in a row to resume the stream that led to none.
    pub(super) attempts: u32,
    /// The session id that came with the head of the answer to `initialize`.
    pub(super) session_id: Option<String>,
    /// The scopes that the request takes, if it was refused for lack of them.
    pub(super) lacking: Option<String>,
    /// When it has taken too long, if it is not for the engine to say.
    pub(super) until: Option<Instant>,
    /// The last id of the stream that is to be resumed.
    pub(super) last_id: Vec<u8>,
}

#[derive(Debug)]
pub(super) enum Purpose {
    /// A request of the engine's: the answer is for it. The text is kept while the session may have to be renewed.
    Request { id: u64, message: Outgoing },
    /// `notifications/initialized`: when it has arrived, the session is open.
    Opening,
    /// What wants no answer.
    Telling,
    /// The server's own messages, in a legacy session.
    Listening,
    /// `initialize`, to get another session.
    Renewal { id: u64 },
    /// The stream of HTTP+SSE, or what may be one.
    Stream,
}

impl Purpose {
    /// Whether others that have a connection may wait for this: what the server can take its time with is not.
    pub(super) fn is_urgent(&self) -> bool {
        match self {
            // A sign of life says nothing about a server if it cannot leave.
            Self::Request { message, .. } => message.is("ping") || message.is("server/discover"),
            Self::Opening
            | Self::Telling
            | Self::Listening
            | Self::Renewal { .. }
            | Self::Stream => true,
        }
    }
}

/// ```text
///            head                                            answered
///  Head ---------------> Json, Events, Refused, Ignored -------------> Ignored --end--> over
///   ^                          |
///   |      stream ended        |
///   +--------- Waiting <-------+
/// ```
#[derive(Debug)]
pub(super) enum Reading {
    /// Nothing has come yet.
    Head,
    /// One JSON text, as a whole.
    Json,
    Events(SseParser),
    /// The body of an error status.
    Refused {
        status: u16,
    },
    /// All is known: what still comes is let pass, so that the connection can be used again.
    Ignored {
        left: usize,
    },
    /// No exchange: it is opened again then.
    Waiting {
        at: Instant,
    },
}

/// So much of a body nobody wants is read for the sake of its connection.
pub(super) const PASSED: usize = 64 * 1024;

impl Exchange {
    pub(super) const fn new(purpose: Purpose, generation: u32) -> Self {
        Self {
            purpose,
            generation,
            reading: Reading::Head,
            body: Vec::new(),
            retry: None,
            attempts: 0,
            session_id: None,
            lacking: None,
            until: None,
            last_id: Vec::new(),
        }
    }

    pub(super) const fn request_id(&self) -> Option<u64> {
        match self.purpose {
            Purpose::Request { id, .. } => Some(id),
            Purpose::Opening
            | Purpose::Telling
            | Purpose::Listening
            | Purpose::Renewal { .. }
            | Purpose::Stream => None,
        }
    }

    /// When something is to be done about it: it is opened again, or has taken too long.
    pub(super) const fn due(&self) -> Option<Instant> {
        match self.reading {
            Reading::Waiting { at } => Some(at),
            Reading::Head
            | Reading::Json
            | Reading::Events(_)
            | Reading::Refused { .. }
            | Reading::Ignored { .. } => self.until,
        }
    }
}
