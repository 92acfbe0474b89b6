//! One direction of a byte stream, under a simulated clock.

use std::collections::VecDeque;
use std::time::Duration;

use mcp_core::json::{Full, Sink};
use mcp_core::time::Instant;

use super::random::Random;

/// Bytes on their way, in pieces of any size, in order.
#[derive(Debug, Default)]
pub(super) struct Wire {
    pieces: VecDeque<(Instant, Vec<u8>)>,
    /// Arrived and not consumed.
    pub(super) arrived: Vec<u8>,
}

impl Wire {
    /// Puts bytes on the way, cut where chance will have it.
    pub(super) fn send(&mut self, mut bytes: &[u8], now: Instant, random: &mut Random) {
        let mut at = self.pieces.back().map_or(now, |&(at, _)| at.max(now));
        while !bytes.is_empty() {
            let most = (bytes.len() as u64).min(1 + random.below(400));
            let (piece, rest) = bytes.split_at(most as usize);
            if random.percent(20) {
                at = at + Duration::from_micros(random.below(300_000));
            }
            self.pieces.push_back((at, piece.to_vec()));
            bytes = rest;
        }
    }

    /// The other side does not read for some time: nothing arrives before its end.
    pub(super) fn stall(&mut self, now: Instant, random: &mut Random) {
        let until = now + Duration::from_micros(random.below(1_500_000));
        for (at, _) in &mut self.pieces {
            *at = (*at).max(until);
        }
    }

    /// Lets arrive what is due.
    pub(super) fn arrive(&mut self, now: Instant) {
        while self.pieces.front().is_some_and(|&(at, _)| at <= now) {
            let (_, piece) = self.pieces.pop_front().unwrap_or_default();
            self.arrived.extend_from_slice(&piece);
        }
    }

    /// When something arrives next.
    pub(super) fn next(&self) -> Option<Instant> {
        self.pieces.front().map(|&(at, _)| at)
    }
}

/// An output that has room for so many bytes.
pub(super) struct Room<'o> {
    out: &'o mut Vec<u8>,
    most: usize,
}

impl<'o> Room<'o> {
    pub(super) const fn new(out: &'o mut Vec<u8>, most: usize) -> Self {
        Self { out, most }
    }
}

impl Sink for Room<'_> {
    fn append(&mut self, bytes: &[u8]) -> Result<(), Full> {
        if bytes.len() > self.most.saturating_sub(self.out.len()) {
            return Err(Full);
        }
        self.out.extend_from_slice(bytes);
        Ok(())
    }

    fn len(&self) -> usize {
        self.out.len()
    }

    fn truncate(&mut self, len: usize) {
        self.out.truncate(len);
    }
}
