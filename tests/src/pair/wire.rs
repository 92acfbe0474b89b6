//! One direction of a byte stream, under a simulated clock.

use std::collections::VecDeque;
use std::time::Duration;

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
