//! Subscriptions whose exchange broke: over HTTP the connection goes on without it, and they are made again (SUB-18).

use core::time::Duration;
use std::sync::Arc;
use std::time::Instant;

use mcp_core::binding::http::client::HttpFault;

use super::connection::ClientConnection;
use super::subscription::Channel;

/// The first pause, which doubles.
const PAUSE: Duration = Duration::from_secs(1);

/// The longest.
const LONGEST: Duration = Duration::from_secs(30);

/// So many attempts in a row may lead to nothing.
const ATTEMPTS: u32 = 10;

/// A subscription that is to be made again.
pub(super) struct Again {
    channel: Arc<Channel>,
    attempts: u32,
    /// How often it had been acknowledged: once more, and the attempts were good ones.
    acknowledged: usize,
    /// `None`: it is being made.
    at: Option<Instant>,
}

impl ClientConnection<'_> {
    /// The stream of a subscription broke. `false`: that is not worth another attempt.
    pub(super) fn listen_again(&mut self, channel: &Arc<Channel>, fault: &HttpFault) -> bool {
        let acknowledged = channel.acknowledgements();
        let before = self
            .again
            .iter()
            .position(|again| Arc::ptr_eq(&again.channel, channel));
        let before = before.map(|at| self.again.swap_remove(at));
        let attempts = before
            .filter(|again| again.acknowledged == acknowledged)
            .map_or(0, |again| again.attempts);
        if !fault.is_transient() || acknowledged == 0 || attempts >= ATTEMPTS {
            return false;
        }
        self.unlist(channel);
        let pause = PAUSE.saturating_mul(1 << attempts).min(LONGEST);
        tracing::debug!(%fault, ?pause, "a subscription broke and is made again");
        self.again.push(Again {
            channel: channel.clone(),
            attempts: attempts + 1,
            acknowledged,
            at: Instant::now().checked_add(pause),
        });
        true
    }

    /// When the next one is to be made.
    pub(super) fn again_at(&self) -> Option<Instant> {
        self.again.iter().filter_map(|again| again.at).min()
    }

    pub(super) fn make_again(&mut self, now: Instant, out: &mut Vec<u8>) {
        let mut due = Vec::new();
        for again in &mut self.again {
            if again.at.is_some_and(|at| at <= now) {
                again.at = None;
                due.push(again.channel.clone());
            }
        }
        for channel in due {
            if self
                .channels
                .iter()
                .any(|known| Arc::ptr_eq(known, &channel))
            {
                self.listen(channel, out);
            }
        }
        let channels = &*self.channels;
        self.again.retain(|again| {
            channels
                .iter()
                .any(|known| Arc::ptr_eq(known, &again.channel))
        });
    }
}
