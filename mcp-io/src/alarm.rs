//! The driver's clock: one timer for whatever deadline the protocol has.

use std::future::Future;
use std::pin::Pin;
use std::task::Context;
use std::time::Instant;

use async_io::Timer;

/// A timer that follows a deadline. Deadlines mostly move on: that of a request is over before it passes, and the next
/// one's is later. Moving the timer each time would wake the reactor's thread for each request, so it is left where it is
/// and moved when it goes off too early; only a deadline before it moves it at once.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    timer: Option<Timer>,
    /// When the timer goes off: not after the deadline of the last call.
    at: Option<Instant>,
}

impl Alarm {
    /// Whether `deadline` has passed. If not, the task of `cx` is woken then.
    pub(crate) fn is_due(&mut self, deadline: Instant, cx: &mut Context<'_>) -> bool {
        loop {
            let timer = match (&mut self.timer, self.at) {
                (Some(timer), Some(at)) if at <= deadline => timer,
                (Some(timer), _) => {
                    timer.set_at(deadline);
                    self.at = Some(deadline);
                    timer
                }
                (none, _) => {
                    self.at = Some(deadline);
                    none.insert(Timer::at(deadline))
                }
            };
            if Pin::new(timer).poll(cx).is_pending() {
                return false;
            }
            // It has gone off, and has to be set before it is polled again.
            self.at = None;
            if Instant::now() >= deadline {
                return true;
            }
        }
    }
}
