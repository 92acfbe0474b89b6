//! Two engines, a simulated wire between them and a simulated clock over them, driven by a seed; and clients of a server over
//! HTTP, where each exchange has its own wire: [`http_schedule`].
//!
//! Each [`schedule`] is a world in which everything that may happen does, in an order of chance: calls with short times to
//! wait, progress, answers, questions in both eras, cancellations, subscriptions, changes, delays, messages cut anywhere,
//! a side that does not read for a while, an output that is full, a peer that dies and one that takes its place. At the end all is quiet, and then the promises must have been kept:
//! every call has ended exactly once, no request was answered twice, no table has anything left in it.

mod client;
mod http;
mod random;
mod server;
mod wire;

use std::time::Duration;

use mcp_core::time::Instant;

pub use http::{HttpTally, http_schedule};

use client::Client;
use random::Random;
use server::Server;
use wire::Wire;

/// What a schedule came to, so that a test can see that it was about something.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Tally {
    /// Connections that came about.
    pub connected: u64,
    /// Calls, subscriptions included.
    pub calls: u64,
    /// Ended with a result.
    pub completed: u64,
    /// Ended with an error of the server's.
    pub failed: u64,
    /// Made once more with what the server had asked for.
    pub retried: u64,
    /// Ran out of time.
    pub timed_out: u64,
    /// Given up by the client.
    pub cancelled: u64,
    /// Lost with their peer.
    pub closed: u64,
    /// Answers that came when nobody waited for them.
    pub late: u64,
    /// Notifications that reached the client, progress included.
    pub notified: u64,
    /// Questions that the server put as requests of its own.
    pub asked: u64,
}

impl Tally {
    /// Both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            connected: self.connected + other.connected,
            calls: self.calls + other.calls,
            completed: self.completed + other.completed,
            failed: self.failed + other.failed,
            retried: self.retried + other.retried,
            timed_out: self.timed_out + other.timed_out,
            cancelled: self.cancelled + other.cancelled,
            closed: self.closed + other.closed,
            late: self.late + other.late,
            notified: self.notified + other.notified,
            asked: self.asked + other.asked,
        }
    }
}

/// Runs the schedule of this seed.
///
/// # Panics
///
/// A promise was broken; the message names the seed, which runs the same schedule again.
#[must_use]
pub fn schedule(seed: u64) -> Tally {
    let mut world = World::new(seed);
    let steps = 20 + world.random.below(180);
    for _ in 0..steps {
        world.step();
    }
    world.settle();
    world.client.tally
}

struct World {
    seed: u64,
    random: Random,
    now: Instant,
    client: Client,
    server: Server,
    to_server: Wire,
    to_client: Wire,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed);
        let client = Client::new(seed, &mut random);
        let server = Server::new(&mut random);
        let mut world = Self {
            seed,
            random,
            now: Instant::ZERO,
            client,
            server,
            to_server: Wire::default(),
            to_client: Wire::default(),
        };
        world.client.connect(world.now);
        world.exchange();
        world
    }

    /// Something happens.
    fn step(&mut self) {
        let Self { random, now, .. } = self;
        match random.below(100) {
            0..=24 => self.client.call(random, *now),
            25..=29 => self.client.cancel(random),
            30..=34 => self.client.answer(random),
            35..=54 => self.server.answer(random),
            55..=62 => self.server.progress(random),
            63..=67 => self.server.ask(random),
            68..=71 => self.server.announce(random),
            72 => self.server.end_subscriptions(),
            73 => self.lose_peer(),
            74 => self.to_server.stall(*now, random),
            75 => self.to_client.stall(*now, random),
            76 => self.jump(),
            _ => self.pass(),
        }
        self.exchange();
    }

    /// The clock is set: far ahead, as after a sleep of the machine, or back a little.
    fn jump(&mut self) {
        let far = Duration::from_secs(self.random.below(3_600));
        let back = self.random.below(3_000_000);
        self.now = match self.random.percent(50) {
            true => self.now + far,
            false => Instant::from_micros(self.now.as_micros().saturating_sub(back)),
        };
    }

    /// Time passes: a little, or until something is due.
    fn pass(&mut self) {
        let little = Duration::from_micros(1 + self.random.below(200_000));
        let due = [
            self.to_server.next(),
            self.to_client.next(),
            self.client.next_timeout(),
        ];
        let due = due.into_iter().flatten().min();
        self.now = match due.filter(|_| self.random.percent(50)) {
            Some(due) => due.max(self.now),
            None => self.now + little,
        };
    }

    /// What has arrived is taken, what is due is done, what was written is sent.
    fn exchange(&mut self) {
        loop {
            self.to_server
                .send(&self.client.take_output(), self.now, &mut self.random);
            self.to_client
                .send(&self.server.take_output(), self.now, &mut self.random);
            self.to_server.arrive(self.now);
            self.to_client.arrive(self.now);
            let room = self.room();
            let server = self.server.receive(&mut self.to_server.arrived, room);
            let room = self.room();
            let client = self
                .client
                .receive(self.now, &mut self.to_client.arrived, room);
            let timers = self.client.handle_timeout(self.now);
            if !(server || client || timers) {
                return;
            }
        }
    }

    /// How much room there is for answers: what finds none comes again, when what was written has left.
    fn room(&mut self) -> usize {
        match self.random.percent(20) {
            // Enough for the longest, so that it goes on some time.
            true => 40 + self.random.below(8_000) as usize,
            false => usize::MAX,
        }
    }

    /// The server dies, and what was on the way with it. Another one takes its place, and the client connects again.
    fn lose_peer(&mut self) {
        self.client.lose(&mut self.random);
        self.server = Server::new(&mut self.random);
        self.to_server = Wire::default();
        self.to_client = Wire::default();
        self.client.connect(self.now);
    }

    /// Nothing new is begun, and all that was begun ends.
    fn settle(&mut self) {
        self.client.end_subscriptions();
        // Time enough for the longest wait, in steps that let answers, retries and time-outs do what they do.
        for _ in 0..400 {
            self.server.answer_all(&mut self.random);
            self.client.answer_all(&mut self.random);
            self.exchange();
            self.now = self.now + Duration::from_millis(50);
        }
        self.exchange();
        let seed = self.seed;
        self.client.check(seed);
        self.server.check(seed);
    }
}
