//! What all requests to one endpoint share.

use core::time::Duration;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Instant;

use async_io::Timer;
use mcp_core::binding::http::{
    HttpRules, Refusal, SessionLimits, Sessions, StreamLimits, session_id,
};
use mcp_core::time;

use super::exchange::{self, Lane};
use super::session::Session;
use crate::Spawner;
use crate::entropy;
use crate::server::Server;
#[cfg(feature = "auth")]
use crate::server::auth::ResourceServer;

/// So many engines wait for the next request.
const POOL: usize = 256;

pub(super) struct Endpoint {
    pub(super) server: Server,
    pub(super) rules: HttpRules,
    pub(super) stream_limits: StreamLimits,
    pub(super) keep_alive: Duration,
    pub(super) body_timeout: Duration,
    /// What clients need a token for; `None`: they need none.
    #[cfg(feature = "auth")]
    pub(super) auth: Option<ResourceServer>,
    spawner: Spawner,
    /// Engines without anything in flight.
    pool: Mutex<Vec<Lane>>,
    sessions: Mutex<Sessions<Arc<Session>>>,
    /// A task looks after the sessions that nobody uses any more.
    watched: AtomicBool,
    closing: AtomicBool,
    began: Instant,
}

impl Endpoint {
    pub(super) fn new(
        server: Server,
        rules: HttpRules,
        session_limits: SessionLimits,
        stream_limits: StreamLimits,
        keep_alive: Duration,
        body_timeout: Duration,
        spawner: Spawner,
    ) -> Self {
        Self {
            server,
            rules,
            stream_limits,
            keep_alive,
            body_timeout,
            #[cfg(feature = "auth")]
            auth: None,
            spawner,
            pool: Mutex::default(),
            sessions: Mutex::new(Sessions::new(session_limits, entropy::seed())),
            watched: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            began: Instant::now(),
        }
    }

    #[cfg(feature = "auth")]
    pub(super) fn protected_by(mut self, auth: Option<ResourceServer>) -> Self {
        self.auth = auth;
        self
    }

    /// How long an answer is waited for before the response is a stream of events, whose head can be sent.
    pub(super) fn head_after(&self) -> Duration {
        self.keep_alive.min(Duration::from_secs(1))
    }

    pub(super) fn take_lane(&self) -> Lane {
        let lane = lock(&self.pool).pop();
        lane.unwrap_or_else(|| exchange::lane(self))
    }

    pub(super) fn give_back(&self, mut lane: Lane) {
        lane.sleep();
        let mut pool = lock(&self.pool);
        if pool.len() < POOL {
            pool.push(lane);
        }
    }

    /// The session of this id, which is in use now.
    pub(super) fn session(
        &self,
        id: &str,
        principal: Option<&str>,
    ) -> Result<Arc<Session>, Refusal> {
        let now = self.now();
        lock(&self.sessions).find(now, id, principal).cloned()
    }

    /// A session that nobody knows of yet.
    pub(super) fn new_session(&self) -> Arc<Session> {
        let key = entropy::key();
        let (random, _) = key.split_first_chunk().expect("it has twice as many bytes");
        Session::new(self, session_id(*random))
    }

    /// From now on the session can be found, and its handlers run.
    pub(super) fn open_session(
        self: &Arc<Self>,
        session: &Arc<Session>,
        principal: Option<&str>,
    ) -> Result<(), Refusal> {
        let (id, now) = (session.id.clone(), self.now());
        let mut sessions = lock(&self.sessions);
        let ended = sessions.open(now, id, principal, session.clone(), |it| it.usage())?;
        drop(sessions);
        if let Some(ended) = ended {
            ended.end();
        }
        self.spawner
            .spawn(session.clone().drive(Arc::downgrade(self)));
        if !self.watched.swap(true, Ordering::AcqRel) {
            self.spawner.spawn(watch(Arc::downgrade(self)));
        }
        Ok(())
    }

    /// Ends a session on behalf of its client.
    pub(super) fn close_session(&self, id: &str, principal: Option<&str>) -> Result<(), Refusal> {
        let now = self.now();
        let closed = lock(&self.sessions).close(now, id, principal)?;
        closed.end();
        Ok(())
    }

    pub(super) fn end_session(&self, id: &str) {
        let removed = lock(&self.sessions).remove(id);
        if let Some(session) = removed {
            session.end();
        }
    }

    pub(super) fn is_closing(&self) -> bool {
        self.closing.load(Ordering::Acquire)
    }

    /// Streams that would go on for ever end, requests in flight are answered.
    pub(super) fn close(&self) {
        self.closing.store(true, Ordering::Release);
        self.server.hub.wake();
    }

    /// Ends the sessions that were not used for too long. When to look again; `None` if there are none left.
    fn expire(&self) -> Option<Duration> {
        let now = self.now();
        let mut ended = Vec::new();
        let mut sessions = lock(&self.sessions);
        let next = sessions.expire(now, |session| session.usage(), &mut ended);
        if next.is_none() {
            // Under the lock: who opens the next session finds that nobody watches.
            self.watched.store(false, Ordering::Release);
        }
        drop(sessions);
        for session in ended {
            session.end();
        }
        next.map(|at| at.since(now))
    }

    fn now(&self) -> time::Instant {
        time::Instant::from_micros(self.began.elapsed().as_micros() as u64)
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        for session in lock(&self.sessions).drain() {
            session.end();
        }
    }
}

/// Looks after the sessions of an endpoint as long as there are any.
async fn watch(endpoint: Weak<Endpoint>) {
    while let Some(wait) = endpoint.upgrade().and_then(|endpoint| endpoint.expire()) {
        Timer::after(wait.max(Duration::from_millis(10))).await;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
