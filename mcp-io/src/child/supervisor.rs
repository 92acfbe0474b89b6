//! What runs on a child's thread: drains standard error, waits for the exit, and ends the child step by step.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::pin::{Pin, pin};
use std::process::ExitStatus;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use async_channel::{Receiver, Sender};
use async_io::Timer;
use futures_lite::Stream;

use super::group::Signal;
use super::handle::{Exit, Shared, Shutdown, Step};
use super::stderr::Drain;

/// How soon the group is asked again whether somebody is left, after its first process has ended: at first.
const TICK: Duration = Duration::from_millis(5);

/// And later on.
const MOST: Duration = Duration::from_millis(100);

/// How long whoever was killed is waited for.
pub(super) const KILLED: Duration = Duration::from_secs(2);

type Status = Pin<Box<dyn Future<Output = io::Result<ExitStatus>> + Send>>;

pub(super) struct Supervisor {
    shared: Arc<Shared>,
    /// `None`: the child has ended and was reaped.
    status: Option<Status>,
    drain: Drain,
    orders: Pin<Box<Receiver<Shutdown>>>,
    /// Dropped when the child has ended.
    gone: Option<Sender<Infallible>>,
    step: Step,
}

enum Event {
    /// The child has ended, others of its group may have not.
    Exited,
    /// Nobody is left.
    Gone,
    Ordered(Shutdown),
    /// The handle is gone, and has killed the group.
    Abandoned,
    Late,
}

impl Supervisor {
    pub(super) fn new(
        shared: Arc<Shared>,
        status: impl Future<Output = io::Result<ExitStatus>> + Send + 'static,
        drain: Drain,
        orders: Receiver<Shutdown>,
        gone: Sender<Infallible>,
    ) -> Self {
        Self {
            shared,
            status: Some(Box::pin(status)),
            drain,
            orders: Box::pin(orders),
            gone: Some(gone),
            step: Step::Itself,
        }
    }

    /// Returns when the child has been reaped, and its group is gone or was killed.
    pub(super) async fn run(mut self) {
        self.end().await;
        // Whoever was killed ends soon, and the child is to be reaped then, however long that takes.
        while self.status.is_some() {
            self.next(None).await;
        }
        self.shared.forget_group();
        self.drain.finish();
        tracing::debug!(child = self.shared.id, "done");
    }

    /// ```text
    ///  running --ends by itself----------------------> [SIGTERM] --late--> [SIGKILL]
    ///     |                                                ^
    ///     |--order--> [standard input closed] --late-------/
    ///     \--handle dropped--> [SIGKILL]       nobody left, in each state --> done
    /// ```
    async fn end(&mut self) {
        let how = loop {
            match self.next(None).await {
                Event::Gone => return,
                Event::Abandoned => return self.kill().await,
                Event::Ordered(how) => {
                    self.step = Step::Closed;
                    tracing::debug!(child = self.shared.id, "standard input closed");
                    match self.settle(how.after_close).await {
                        Event::Gone => return,
                        Event::Abandoned => return self.kill().await,
                        Event::Late | Event::Exited | Event::Ordered(_) => break how,
                    }
                }
                // Those that it has left behind talk to nobody.
                Event::Exited => break Shutdown::default(),
                Event::Late => {}
            }
        };
        // What cannot be asked need not be waited for.
        if cfg!(unix) {
            self.step = Step::Terminated;
            self.shared.signal(Signal::Terminate);
            if let Event::Gone = self.settle(how.after_term).await {
                return;
            }
        }
        self.kill().await;
    }

    async fn kill(&mut self) {
        self.step = Step::Killed;
        self.shared.signal(Signal::Kill);
        let mut timer = Timer::after(KILLED);
        // The handle may be dropped meanwhile, and has no more to say.
        while !matches!(self.next(Some(&mut timer)).await, Event::Gone | Event::Late) {}
    }

    /// Waits until nobody is left, for so long. Not `Exited`.
    async fn settle(&mut self, time: Duration) -> Event {
        let mut timer = Timer::after(time);
        loop {
            match self.next(Some(&mut timer)).await {
                Event::Exited | Event::Ordered(_) => {}
                event @ (Event::Gone | Event::Abandoned | Event::Late) => return event,
            }
        }
    }

    async fn next(&mut self, mut timer: Option<&mut Timer>) -> Event {
        let mut tick = pin!(None::<Timer>);
        let mut pause = TICK;
        poll_fn(|cx| {
            self.drain.poll(cx);
            if self.poll_exit(cx) {
                return Poll::Ready(if self.shared.is_group_gone() {
                    Event::Gone
                } else {
                    Event::Exited
                });
            }
            if self.status.is_none() {
                loop {
                    if self.shared.is_group_gone() {
                        return Poll::Ready(Event::Gone);
                    }
                    if tick.is_none() {
                        tick.set(Some(Timer::after(pause)));
                        pause = (pause * 2).min(MOST);
                    }
                    let ticked = tick.as_mut().as_pin_mut().map(|tick| tick.poll(cx));
                    if !matches!(ticked, Some(Poll::Ready(_))) {
                        break;
                    }
                    tick.set(None);
                }
            }
            if self.step != Step::Killed
                && let Poll::Ready(order) = self.orders.as_mut().poll_next(cx)
            {
                return Poll::Ready(order.map_or(Event::Abandoned, Event::Ordered));
            }
            match &mut timer {
                Some(timer) => Pin::new(&mut **timer).poll(cx).map(|_| Event::Late),
                None => Poll::Pending,
            }
        })
        .await
    }

    /// Whether the child has just ended. All of what it said on standard error has been read then.
    fn poll_exit(&mut self, cx: &mut Context<'_>) -> bool {
        let Some(Poll::Ready(status)) = self.status.as_mut().map(|status| status.as_mut().poll(cx))
        else {
            return false;
        };
        self.status = None;
        self.drain.poll(cx);
        // What was done may not have been told yet.
        let step = if self.orders.is_closed() {
            Step::Killed
        } else if self.orders.is_empty() {
            self.step
        } else {
            self.step.max(Step::Closed)
        };
        let status = status.ok();
        let exit = Exit { status, step };
        tracing::debug!(child = self.shared.id, step = ?exit.step, "{exit}");
        let _ = self.shared.exit.set(exit);
        self.gone = None;
        true
    }
}
