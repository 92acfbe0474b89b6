//! JSON-RPC batches, which servers of 2025-03-26 may send and no others (BAT-01, BAT-08).

use super::ClientEngine;
use super::receive::Incoming;
use crate::error::{EnvelopeFault, PeerFault};
use crate::json::{Array, RawJson, Sink};
use crate::model::ProtocolVersion;
use crate::time::Instant;

/// Messages that came in one array, to be taken one by one with
/// [`ClientEngine::next_in_batch`](ClientEngine::next_in_batch).
///
/// Requests in it are answered one by one as well.
#[derive(Debug)]
#[must_use = "its messages have not been taken yet"]
pub struct Batch<'b> {
    messages: Array<'b>,
    /// The version has no batches. Calls that are answered in it fail, so that nobody waits for what has come (ID-09).
    refused: bool,
}

impl ClientEngine {
    pub(super) fn open_batch<'b>(&mut self, message: &'b [u8]) -> Incoming<'b> {
        let parsed = RawJson::parse_with_depth(message, self.limits.max_depth);
        let messages = match parsed.map(RawJson::as_array) {
            Ok(Some(messages)) => messages,
            Ok(None) => return self.reject(EnvelopeFault::NotAnObject.into()),
            Err(error) => return self.reject(PeerFault::Json(error)),
        };
        let limit = self.limits.max_batch;
        if messages.clone().next().is_none() {
            return self.reject(EnvelopeFault::EmptyBatch.into());
        }
        if messages.clone().nth(limit).is_some() {
            return self.reject(EnvelopeFault::LongBatch { limit }.into());
        }
        Incoming::Batch(Batch {
            messages,
            refused: self.version() != Some(ProtocolVersion::V2025_03_26),
        })
    }

    /// Takes the next message of a batch; `None` when there are no more.
    pub fn next_in_batch<'b, S: Sink + ?Sized>(
        &mut self,
        now: Instant,
        batch: &mut Batch<'b>,
        out: &mut S,
    ) -> Option<Incoming<'b>> {
        let before = batch.messages.clone();
        let message = batch.messages.next()?;
        let incoming = self.single(now, message.as_bytes(), Some(batch.refused), out);
        if matches!(incoming, Incoming::Blocked) {
            // It comes again.
            batch.messages = before;
        }
        Some(incoming)
    }
}
