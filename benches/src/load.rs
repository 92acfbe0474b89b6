//! One run: a server started, driven at a fixed window, checked and measured.

use core::fmt;
use core::time::Duration;
use std::io;
use std::time::Instant;

use memchr::memchr;

use crate::answer::{Checker, Line, Wrong, check_initialize, excerpt};
use crate::latency::Histogram;
use crate::request::{Era, INITIALIZED, Template, initialize};
use crate::server::{Ready, Server};
use crate::slots::Slots;
use crate::usage::{CpuTime, peak_rss_kib};

/// When the measured part of a run ends.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Until {
    /// After this time.
    Elapsed(Duration),
    /// After this many answers.
    Messages(u64),
}

/// What to run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Plan {
    /// The server's program and arguments.
    pub command: Vec<String>,
    /// The era to speak. Default: modern.
    pub era: Era,
    /// Calls kept in flight. Default: 64.
    pub window: u32,
    /// The end of the measured part. Default: 5 s.
    pub until: Until,
    /// Driven like the measured part, before it, and not counted. Default: 500 ms.
    pub warm_up: Duration,
    /// Bytes of the text argument, at least [`ID_DIGITS`](crate::request::ID_DIGITS). Default: 32.
    pub text: usize,
    /// The tool to call: one that returns its argument `text` as its only content. Default: `echo`.
    pub tool: String,
    /// What a run that ends by time may take beyond that time: for the handshake, and for the last answers. Default: 10 s.
    pub grace: Duration,
    /// What a run that ends by messages may take in all. Default: 10 min.
    pub limit: Duration,
}

impl Plan {
    /// The defaults, for this server.
    #[must_use]
    pub fn new(command: Vec<String>) -> Self {
        Self {
            command,
            era: Era::Modern,
            window: 64,
            until: Until::Elapsed(Duration::from_secs(5)),
            warm_up: Duration::from_millis(500),
            text: 32,
            tool: "echo".to_owned(),
            grace: Duration::from_secs(10),
            limit: Duration::from_secs(600),
        }
    }
}

/// Why a run has no result. A single wrong answer is enough.
#[derive(Debug)]
#[non_exhaustive]
pub enum Failure {
    /// The server could not be started, or its pipes failed.
    Io(io::Error),
    /// A line that is no correct answer.
    Wrong(Wrong),
    /// A correct answer to a call that is not outstanding: answered before, or never made.
    NotOutstanding(u64),
    /// The server closed its output while it owed this many answers.
    Closed {
        /// Calls without an answer.
        owed: usize,
    },
    /// Time was up while the server owed this many answers.
    Late {
        /// Calls without an answer.
        owed: usize,
    },
    /// A line longer than any correct answer, with its beginning.
    LongLine(String),
    /// The program has run out of ids with ten digits.
    OutOfIds,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the server or its pipes: {error}"),
            Self::Wrong(wrong) => write!(f, "a wrong answer: {wrong}"),
            Self::NotOutstanding(id) => {
                write!(f, "an answer to {id}, which is not outstanding")
            }
            Self::Closed { owed } => {
                write!(f, "the server closed its output and owes {owed} answers")
            }
            Self::Late { owed } => write!(f, "time is up and the server owes {owed} answers"),
            Self::LongLine(start) => write!(f, "a line without an end: {start}"),
            Self::OutOfIds => f.write_str("out of ids"),
        }
    }
}

impl core::error::Error for Failure {}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl From<Wrong> for Failure {
    fn from(wrong: Wrong) -> Self {
        Self::Wrong(wrong)
    }
}

/// What was measured between the end of the warm-up and the end of the run.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Report {
    /// Answers received and checked.
    pub messages: u64,
    /// The time they took.
    pub elapsed: Duration,
    /// Processor time of the server process; `None` where there is no `/proc`.
    pub server_cpu: Option<Duration>,
    /// Processor time of this process: near `elapsed`, it is the load program that limits the rate.
    pub own_cpu: Option<Duration>,
    /// From the write of a request to the read of its answer.
    pub latency: Histogram,
    /// The server's peak resident memory, in KiB.
    pub peak_rss_kib: Option<u64>,
    /// Answers that had to be parsed, warm-up included: 1 for a server that writes all of them alike.
    pub parsed: u64,
    /// Notifications the server sent, warm-up included.
    pub notifications: u64,
}

impl Report {
    /// Messages per second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.messages as f64 / self.elapsed.as_secs_f64()
    }

    /// Microseconds of server processor time per message.
    #[must_use]
    pub fn server_cpu_micros(&self) -> Option<f64> {
        Some(micros(self.server_cpu?) / self.messages as f64)
    }

    /// Microseconds of our own processor time per message.
    #[must_use]
    pub fn own_cpu_micros(&self) -> Option<f64> {
        Some(micros(self.own_cpu?) / self.messages as f64)
    }

    /// The latency that `percent` of the messages do not exceed, in microseconds.
    #[must_use]
    pub fn percentile_micros(&self, percent: f64) -> f64 {
        micros(self.latency.percentile(percent))
    }
}

pub(crate) fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

/// Runs the plan. Returns in bounded time, and the server is gone by then.
///
/// # Errors
///
/// The server did anything but answer every call correctly and once.
pub fn run(plan: &Plan) -> Result<Report, Failure> {
    let mut driver = Driver::start(plan)?;
    if plan.era == Era::Legacy {
        driver.handshake()?;
    }
    driver.drive()
}

/// Where a run is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Phase {
    WarmUp,
    Measured,
    /// No new calls; the outstanding ones are still to be answered.
    Draining,
}

struct Driver<'p> {
    plan: &'p Plan,
    server: Server,
    template: Template,
    checker: Checker,
    slots: Slots,
    /// Slots whose request is in `out` and not stamped yet.
    fresh: Vec<usize>,
    out: Vec<u8>,
    written: usize,
    input: Vec<u8>,
    filled: usize,
    start: Instant,
    /// When the run is given up. The server's own limit is the same, and ends a read; this one ends a loop of reads.
    limit: Instant,
    notifications: u64,
}

/// A reading of the clocks.
#[derive(Clone)]
struct Moment {
    at: Instant,
    server: Option<CpuTime>,
    own: Option<CpuTime>,
}

impl Moment {
    fn of(server: &Server) -> Self {
        Self {
            at: Instant::now(),
            server: CpuTime::of(server.pid()),
            own: CpuTime::of(std::process::id()),
        }
    }
}

/// A read of this many bytes empties a pipe of the usual size.
const INPUT: usize = 64 * 1024;

impl<'p> Driver<'p> {
    fn start(plan: &'p Plan) -> Result<Self, Failure> {
        let start = Instant::now();
        let limit = match plan.until {
            Until::Elapsed(time) => plan.warm_up + time + plan.grace,
            Until::Messages(_) => plan.limit,
        };
        Ok(Self {
            plan,
            server: Server::start(&plan.command, limit)?,
            template: Template::new(plan.era, &plan.tool, plan.text),
            checker: Checker::new(plan.era, plan.text),
            slots: Slots::new(plan.window),
            fresh: Vec::new(),
            out: Vec::new(),
            written: 0,
            input: vec![0; INPUT],
            filled: 0,
            start,
            limit: start + limit,
            notifications: 0,
        })
    }

    fn handshake(&mut self) -> Result<(), Failure> {
        self.out.extend_from_slice(initialize().as_bytes());
        let end = loop {
            self.exchange()?;
            if let Some(end) = memchr(b'\n', &self.input[..self.filled]) {
                break end;
            }
        };
        check_initialize(&self.input[..end])?;
        self.consume(end + 1);
        self.out.extend_from_slice(INITIALIZED.as_bytes());
        Ok(())
    }

    fn drive(mut self) -> Result<Report, Failure> {
        for slot in 0..self.slots.window() {
            self.call(slot)?;
        }
        let mut phase = Phase::WarmUp;
        let mut latency = Histogram::new();
        let mut began = Moment::of(&self.server);
        let mut ended = began.clone();
        while self.slots.open_count() > 0 {
            self.exchange()?;
            self.answers(phase, &mut latency)?;
            let now = Instant::now();
            match phase {
                Phase::WarmUp if now - self.start >= self.plan.warm_up => {
                    phase = Phase::Measured;
                    began = Moment::of(&self.server);
                }
                Phase::Measured => {
                    let done = match self.plan.until {
                        Until::Elapsed(time) => now - began.at >= time && latency.count() > 0,
                        Until::Messages(count) => latency.count() >= count,
                    };
                    if done {
                        phase = Phase::Draining;
                        ended = Moment::of(&self.server);
                    }
                }
                Phase::WarmUp | Phase::Draining => {}
            }
        }
        let peak = peak_rss_kib(self.server.pid());
        self.end()?;
        Ok(Report {
            messages: latency.count(),
            elapsed: ended.at - began.at,
            server_cpu: CpuTime::between(began.server.as_ref(), ended.server.as_ref()),
            own_cpu: CpuTime::between(began.own.as_ref(), ended.own.as_ref()),
            latency,
            peak_rss_kib: peak,
            parsed: self.checker.parsed(),
            notifications: self.notifications,
        })
    }

    /// Queues a new call in a closed slot.
    fn call(&mut self, slot: usize) -> Result<(), Failure> {
        let id = self.slots.open(slot).ok_or(Failure::OutOfIds)?;
        self.template.append(id, &mut self.out);
        self.fresh.push(slot);
        Ok(())
    }

    /// Writes what is queued, as far as the pipe takes it, and reads at least one byte.
    fn exchange(&mut self) -> Result<(), Failure> {
        if self.filled == self.input.len() {
            self.widen()?;
        }
        if Instant::now() >= self.limit {
            return Err(Failure::Late { owed: self.owed() });
        }
        loop {
            if self.written < self.out.len() {
                let now = self.now();
                for slot in self.fresh.drain(..) {
                    self.slots.sent(slot, now);
                }
                self.written += match self.server.write(&self.out[self.written..]) {
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                        return Err(Failure::Closed { owed: self.owed() });
                    }
                    other => other?,
                };
                if self.written == self.out.len() {
                    self.out.clear();
                    self.written = 0;
                }
            }
            if self.written < self.out.len() {
                // Waiting for the server to read alone would be for ever if it waits for us to read.
                match self.server.wait(true, self.limit)? {
                    Ready::Read => {}
                    Ready::Write => continue,
                    Ready::Late => return Err(Failure::Late { owed: self.owed() }),
                }
            }
            return match self.server.read(&mut self.input[self.filled..]) {
                Ok(0) => Err(Failure::Closed { owed: self.owed() }),
                Ok(count) => {
                    self.filled += count;
                    Ok(())
                }
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {
                    Err(Failure::Late { owed: self.owed() })
                }
                Err(error) => Err(error.into()),
            };
        }
    }

    /// Checks every complete line, and makes a new call for each answer.
    fn answers(&mut self, phase: Phase, latency: &mut Histogram) -> Result<(), Failure> {
        let arrived = self.now();
        let mut start = 0;
        while let Some(length) = memchr(b'\n', &self.input[start..self.filled]) {
            let line = &self.input[start..start + length];
            start += length + 1;
            match self.checker.check(line)? {
                Line::Notification => self.notifications += 1,
                Line::Answer(id) => {
                    let (slot, sent) = self.slots.close(id).ok_or(Failure::NotOutstanding(id))?;
                    if phase == Phase::Measured {
                        latency.record(arrived.saturating_sub(sent));
                    }
                    if phase != Phase::Draining {
                        self.call(slot)?;
                    }
                }
            }
        }
        self.consume(start);
        Ok(())
    }

    /// Closes the server's input and reads to the end: after the last answer nothing but notifications may come.
    fn end(&mut self) -> Result<(), Failure> {
        /// A server that does not end by itself has answered everything all the same: it is killed, not reported.
        const PATIENCE: Duration = Duration::from_secs(1);
        self.server.close_input();
        let deadline = Instant::now() + PATIENCE;
        while self.server.wait(false, deadline)? != Ready::Late {
            match self.exchange() {
                Ok(()) => self.answers(Phase::Draining, &mut Histogram::new())?,
                Err(Failure::Closed { .. } | Failure::Late { .. }) => break,
                Err(other) => return Err(other),
            }
        }
        if self.filled > 0 {
            let rest = &self.input[..self.filled];
            return Err(Wrong::new("a line without an end", rest).into());
        }
        Ok(())
    }

    /// Drops the first bytes of the input and moves the rest, part of a line, to the front.
    fn consume(&mut self, count: usize) {
        self.input.copy_within(count..self.filled, 0);
        self.filled -= count;
    }

    /// Makes room for a long line, within reason.
    fn widen(&mut self) -> Result<(), Failure> {
        let most = INPUT + 8 * self.plan.text;
        if self.input.len() >= most {
            return Err(Failure::LongLine(excerpt(&self.input)));
        }
        self.input.resize((2 * self.input.len()).min(most), 0);
        Ok(())
    }

    fn owed(&self) -> usize {
        self.slots.open_count()
    }

    fn now(&self) -> u64 {
        // 584 years fit.
        self.start.elapsed().as_nanos() as u64
    }
}
