//! Sockets that become ready, and the threads that wait for them.
//!
//! `async-io` asks the system anew for each event of each socket, and sets its timer and its alarm bell anew for each time
//! it waits: six system calls around a request that takes two. Here a socket is registered once, and what became of it is
//! kept beside it (mio's edge-triggered events). Timers stay with `async-io`, whose thread wakes those of this one.

use std::fmt;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use mio::event::{self, Event};
use mio::{Events, Interest, Registry, Token};
use slab::Slab;

use super::sleeper::{Rouse, Sleeper};

/// How many events are taken from the system at a time.
const EVENTS: usize = 256;

/// Of [`Reactor::bell`]. Sockets count up from 0, and never come this far.
const BELL: Token = Token(usize::MAX);

pub(super) struct Reactor {
    registry: Registry,
    /// Ends the wait of the thread that waits in the system.
    bell: mio::Waker,
    sockets: Mutex<Slab<Arc<Readiness>>>,
    /// Keys of sockets that are gone. They are given away again when the events at hand, which may name them, are told:
    /// else the next one in the place of one that has closed would be taken for closed.
    gone: Mutex<Vec<usize>>,
    /// Of the thread that waits in the system, or is about to.
    turn: Mutex<Turn>,
    /// Threads with nothing to do while another one waits in the system.
    idle: Mutex<Vec<Arc<Worker>>>,
}

struct Turn {
    poll: mio::Poll,
    events: Events,
}

struct Worker(Sleeper<Rousing>);

struct Rousing {
    reactor: Arc<Reactor>,
    thread: Thread,
}

impl Reactor {
    pub(super) fn new() -> io::Result<Self> {
        let poll = mio::Poll::new()?;
        Ok(Self {
            registry: poll.registry().try_clone()?,
            bell: mio::Waker::new(poll.registry(), BELL)?,
            sockets: Mutex::default(),
            gone: Mutex::default(),
            turn: Mutex::new(Turn {
                poll,
                events: Events::with_capacity(EVENTS),
            }),
            idle: Mutex::default(),
        })
    }

    /// Registers a socket for both directions.
    pub(super) fn register<S: event::Source>(
        self: &Arc<Self>,
        mut socket: S,
    ) -> io::Result<Registered<S>> {
        let readiness = Arc::new(Readiness::default());
        let key = lock(&self.sockets).insert(readiness.clone());
        let interest = Interest::READABLE | Interest::WRITABLE;
        if let Err(error) = self.registry.register(&mut socket, Token(key), interest) {
            lock(&self.sockets).remove(key);
            return Err(error);
        }
        Ok(Registered {
            socket,
            key,
            readiness,
            reactor: self.clone(),
        })
    }

    /// Polls a future to its end, which is woken by sockets or by whoever has its waker. Any number of threads may do so.
    pub(super) fn block_on<T>(self: &Arc<Self>, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let worker = Arc::new(Worker(Sleeper::new(Rousing {
            reactor: self.clone(),
            thread: thread::current(),
        })));
        let waker = Waker::from(worker.clone());
        let mut cx = Context::from_waker(&waker);
        let mut wakers = Vec::new();
        loop {
            worker.0.begin();
            let polled = future.as_mut().poll(&mut cx);
            if let Poll::Ready(output) = polled {
                // It may have been this thread's turn to wait.
                self.hand_over();
                return output;
            }
            while !self.wait(&worker, &mut wakers) {
                self.idle(&worker);
                if worker.0.is_woken() {
                    break;
                }
            }
            // Whatever they do, another thread can have the turn meanwhile.
            for waker in wakers.drain(..) {
                waker.wake();
            }
            self.hand_over();
        }
    }

    /// Waits in the system until something happens, or not at all if there is something to do already. `false`: another
    /// thread does. `wakers` gets those who waited for what has happened.
    fn wait(&self, worker: &Worker, wakers: &mut Vec<Waker>) -> bool {
        let mut turn = match self.turn.try_lock() {
            Ok(turn) => turn,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        let turn = &mut *turn;
        let waited = worker.0.poll(|may_sleep| {
            let at_most = (!may_sleep).then_some(Duration::ZERO);
            turn.poll.poll(&mut turn.events, at_most)
        });
        if let Err(error) = waited
            && error.kind() != io::ErrorKind::Interrupted
        {
            // Nothing a server could do about it. It is not to burn time, at least.
            tracing::debug!(%error, "cannot wait for sockets");
            thread::sleep(Duration::from_millis(10));
        }
        let mut sockets = lock(&self.sockets);
        for event in &turn.events {
            // Not the bell.
            if let Some(readiness) = sockets.get(event.token().0) {
                readiness.heard(event, wakers);
            }
        }
        // Deregistered before they came here, so no later event names them.
        for key in lock(&self.gone).drain(..) {
            sockets.remove(key);
        }
        drop(sockets);
        turn.events.clear();
        true
    }

    /// Waits beside the system, until this thread has something to do or gets the turn.
    fn idle(&self, worker: &Arc<Worker>) {
        lock(&self.idle).push(worker.clone());
        // Whoever had the turn may have handed it over before it could see this one.
        if let Err(TryLockError::WouldBlock) = self.turn.try_lock() {
            worker.0.park(thread::park);
        }
        lock(&self.idle).retain(|idle| !Arc::ptr_eq(idle, worker));
    }

    /// Somebody else is to wait in the system while this thread does what there is to do.
    fn hand_over(&self) {
        let idle = lock(&self.idle).pop();
        if let Some(worker) = idle {
            worker.0.rouse().unpark();
        }
    }
}

impl Rouse for Rousing {
    fn interrupt(&self) {
        if let Err(error) = self.reactor.bell.wake() {
            tracing::debug!(%error, "a thread could not be woken");
        }
    }

    fn unpark(&self) {
        self.thread.unpark();
    }
}

impl Wake for Worker {
    fn wake(self: Arc<Self>) {
        self.0.wake();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.0.wake();
    }
}

impl fmt::Debug for Reactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reactor").finish_non_exhaustive()
    }
}

/// What is known of a socket.
#[derive(Debug, Default)]
struct Readiness(Mutex<[Direction; 2]>);

const READ: usize = 0;
const WRITE: usize = 1;

#[derive(Debug, Default)]
struct Direction {
    /// Something has happened since it was last asked for.
    ready: bool,
    /// The peer has closed it, or it is broken: it stays ready.
    closed: bool,
    waker: Option<Waker>,
}

impl Readiness {
    fn heard(&self, event: &Event, wakers: &mut Vec<Waker>) {
        let mut directions = lock(&self.0);
        let broken = event.is_error();
        for (direction, ready, closed) in [
            (READ, event.is_readable(), event.is_read_closed()),
            (WRITE, event.is_writable(), event.is_write_closed()),
        ] {
            let direction = &mut directions[direction];
            direction.closed |= closed || broken;
            if ready || closed || broken {
                direction.ready = true;
                wakers.extend(direction.waker.take());
            }
        }
    }

    fn poll(&self, direction: usize, cx: &Context<'_>) -> Poll<()> {
        let direction = &mut lock(&self.0)[direction];
        if core::mem::take(&mut direction.ready) || direction.closed {
            return Poll::Ready(());
        }
        direction.wait(cx);
        Poll::Pending
    }
}

impl Direction {
    fn wait(&mut self, cx: &Context<'_>) {
        match &mut self.waker {
            Some(waker) => waker.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
    }
}

/// The other end of a socket, for those who only want to know whether it is there.
#[derive(Clone, Debug)]
pub(super) struct Peer(Arc<Readiness>);

impl Peer {
    /// Ready when it has closed its half, or the socket is broken; whatever it has sent before.
    pub(super) fn poll_left(&self, cx: &Context<'_>) -> Poll<()> {
        let direction = &mut lock(&self.0.0)[READ];
        if direction.closed {
            return Poll::Ready(());
        }
        direction.wait(cx);
        Poll::Pending
    }
}

/// A socket that a [`Reactor`] looks after.
#[derive(Debug)]
pub(super) struct Registered<S: event::Source> {
    socket: S,
    key: usize,
    readiness: Arc<Readiness>,
    reactor: Arc<Reactor>,
}

impl<S: event::Source> Registered<S> {
    pub(super) const fn get(&self) -> &S {
        &self.socket
    }

    pub(super) fn peer(&self) -> Peer {
        Peer(self.readiness.clone())
    }

    pub(super) const fn reactor(&self) -> &Arc<Reactor> {
        &self.reactor
    }

    /// Ready once for whatever has happened since the last time it was: to be followed by reads until one would block, or
    /// one that did not fill its buffer.
    pub(super) fn poll_readable(&self, cx: &Context<'_>) -> Poll<()> {
        self.readiness.poll(READ, cx)
    }

    /// To be polled after a write that would have blocked. The next one may do so as well.
    pub(super) fn poll_writable(&self, cx: &Context<'_>) -> Poll<()> {
        self.readiness.poll(WRITE, cx)
    }
}

impl<S: event::Source> Drop for Registered<S> {
    fn drop(&mut self) {
        // The system does so as well when the socket is closed.
        let _ = self.reactor.registry.deregister(&mut self.socket);
        lock(&self.reactor.gone).push(self.key);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(all(test, not(mcp_loom)))]
mod tests {
    use mio::net::UdpSocket;

    use super::*;

    fn socket() -> UdpSocket {
        let address = "127.0.0.1:0".parse().expect("an address");
        UdpSocket::bind(address).expect("loopback")
    }

    /// The events at hand may be about the one that had it before.
    #[test]
    fn a_key_is_not_given_away_before_the_next_events() {
        let reactor = Arc::new(Reactor::new().expect("the system can"));
        let first = reactor.register(socket()).expect("it can be registered");
        let key = first.key;
        drop(first);
        let second = reactor.register(socket()).expect("it can be registered");
        assert_ne!(second.key, key);
        // An event that is there at once: a socket that nobody has written to can be written to.
        reactor.block_on(std::future::poll_fn(|cx| second.poll_writable(cx)));
        let third = reactor.register(socket()).expect("it can be registered");
        assert_eq!(third.key, key);
    }
}
