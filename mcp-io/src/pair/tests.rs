use super::*;

use std::rc::Rc;
use std::time::{Duration, Instant};

use async_io::Timer;
use futures_lite::future;

/// Asks for echoes of numbers, as many at a time as may be, and ends when it has all of them.
struct Asker<T> {
    asked: usize,
    heard: usize,
    all: usize,
    /// Longest output seen.
    most: usize,
    padding: String,
    /// What it says to end.
    last: Wants,
    wants: Wants,
    told: bool,
    deadline: Option<Instant>,
    /// To be, or not to be, `Send`.
    _kind: T,
}

impl<T> Asker<T> {
    fn new(all: usize, kind: T) -> Self {
        Self {
            asked: 0,
            heard: 0,
            all,
            most: 0,
            padding: String::new(),
            last: Wants::Flush,
            wants: Wants::More,
            told: false,
            deadline: None,
            _kind: kind,
        }
    }
}

fn line(input: &[u8]) -> Option<&str> {
    let end = input.iter().position(|byte| *byte == b'\n')?;
    std::str::from_utf8(&input[..end]).ok()
}

impl<T> Protocol for Asker<T> {
    fn window(&self) -> usize {
        1024
    }

    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let line = line(input)?;
        let (number, padding) = line.split_once(' ').expect("an echo");
        assert_eq!(number.parse(), Ok(self.heard));
        assert_eq!(padding, self.padding);
        self.heard += 1;
        if self.heard == self.all {
            out.extend_from_slice(b"bye\n");
            self.wants = self.last;
        }
        Some(line.len() + 1)
    }

    fn finish(&mut self, rest: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        self.told = true;
        self.receive(rest, out)
    }

    fn poll(&mut self, _: &mut Context<'_>, out: &mut Vec<u8>, room: usize) -> Poll<()> {
        let full = out.len() + room;
        while self.asked < self.all && out.len() < full {
            let line = format!("{} {}\n", self.asked, self.padding);
            out.extend_from_slice(line.as_bytes());
            self.asked += 1;
        }
        self.most = self.most.max(out.len());
        Poll::Pending
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn handle_timeout(&mut self, now: Instant, out: &mut Vec<u8>) {
        assert!(self.deadline.is_some_and(|deadline| now >= deadline));
        self.deadline = None;
        out.extend_from_slice(b"late\n");
        self.wants = Wants::Flush;
    }

    fn wants(&self) -> Wants {
        self.wants
    }
}

/// Echoes lines.
#[derive(Default)]
struct Echo {
    heard: usize,
    /// Longest output seen.
    most: usize,
    last: String,
    /// Answers nothing.
    silent: bool,
    /// Ends after so many lines.
    leaves: Option<usize>,
    told: bool,
}

impl Protocol for Echo {
    fn window(&self) -> usize {
        1024
    }

    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let line = line(input)?;
        assert!(!self.told, "it was told that no more will come");
        self.heard += 1;
        line.clone_into(&mut self.last);
        if !self.silent {
            out.extend_from_slice(&input[..=line.len()]);
        }
        self.most = self.most.max(out.len());
        Some(line.len() + 1)
    }

    fn finish(&mut self, rest: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let taken = self.receive(rest, out);
        self.told |= taken.is_none();
        taken
    }

    fn poll(&mut self, _: &mut Context<'_>, _: &mut Vec<u8>, _: usize) -> Poll<()> {
        Poll::Ready(())
    }

    fn wants(&self) -> Wants {
        if self.leaves.is_some_and(|after| self.heard >= after) {
            Wants::Flush
        } else {
            Wants::More
        }
    }
}

fn options(high_water: usize) -> Options {
    Options {
        high_water,
        reserve: high_water,
        ..Options::default()
    }
}

fn run(pairing: impl Future<Output = ()>) {
    let late = async {
        Timer::after(Duration::from_secs(30)).await;
        panic!("it hangs");
    };
    async_io::block_on(future::or(pairing, late));
}

#[test]
fn all_that_is_asked_is_answered_however_little_room_there_is() {
    for high_water in [1, 2, 10, 100, 1000, 1024 * 1024] {
        for padding in [0, 1, 500] {
            let (mut asker, mut echo) = (Asker::new(5000, ()), Echo::default());
            asker.padding = "x".repeat(padding);
            run(pair(&mut asker, &mut echo, options(high_water)));
            assert_eq!((asker.heard, echo.heard), (5000, 5001));
            assert_eq!(echo.last, "bye", "it was flushed");
            assert!(echo.told && !asker.told);
            // Full, and what was added to the last free byte; and for the one that answers, the reserve as well.
            // Nothing is dropped of what is heard until half of it is, and no less than a read's worth.
            let line = padding + 6;
            let kept = 64 * 1024 + high_water;
            assert!(asker.most <= high_water + line + kept, "{}", asker.most);
            assert!(
                echo.most <= 2 * high_water + 2 * line + kept,
                "{}",
                echo.most
            );
        }
    }
}

#[test]
fn a_side_that_stops_is_not_heard_any_more() {
    let (mut asker, mut echo) = (Asker::new(10, ()), Echo::default());
    asker.last = Wants::Stop;
    run(pair(&mut asker, &mut echo, options(1000)));
    assert_eq!((asker.heard, echo.heard), (10, 10));
    assert!(echo.told);
}

/// Either side may be the first to go, and what it has said is heard.
#[test]
fn the_other_side_may_end_it() {
    for swapped in [false, true] {
        let (mut asker, mut echo) = (Asker::new(10, ()), Echo::default());
        echo.leaves = Some(4);
        if swapped {
            run(pair(&mut echo, &mut asker, options(1000)));
        } else {
            run(pair(&mut asker, &mut echo, options(1000)));
        }
        assert_eq!((asker.heard, asker.told, echo.told), (4, true, false));
    }
}

#[test]
fn deadlines_are_kept() {
    let (mut asker, mut echo) = (Asker::new(1, ()), Echo::default());
    echo.silent = true;
    let start = Instant::now();
    asker.deadline = Some(start + Duration::from_millis(30));
    run(pair(&mut echo, &mut asker, options(1000)));
    assert!(start.elapsed() >= Duration::from_millis(30));
    assert_eq!(echo.last, "late");
}

/// A pair that never ends leaves the executor to others.
#[test]
fn it_shares_its_thread() {
    let (mut asker, mut echo) = (Asker::new(usize::MAX, ()), Echo::default());
    let end = async {
        Timer::after(Duration::from_millis(20)).await;
    };
    run(future::or(end, pair(&mut asker, &mut echo, options(1000))));
    assert!(asker.heard > BUDGET);
}

#[test]
fn it_is_send_if_both_are() {
    fn send<T: Send>(value: T) -> T {
        value
    }
    let (mut asker, mut echo) = (Asker::new(3, ()), Echo::default());
    run(send(pair(&mut asker, &mut echo, options(1000))));
    assert_eq!(asker.heard, 3);
    let (mut asker, mut echo) = (Asker::new(3, Rc::new(())), Echo::default());
    run(pair(&mut asker, &mut echo, options(1000)));
    assert_eq!(asker.heard, 3);
}
