mod client;

use super::*;

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Wake, Waker};

/// Echoes lines. Three of them are special: `later` is answered by a handler that is woken a few times before,
/// `hang` is never answered, and after `talk` there is always something to say.
#[derive(Default)]
struct Lines {
    later: Vec<u32>,
    hanging: bool,
    talking: bool,
}

const TALK: &[u8] = b"talk\n";

impl Lines {
    fn take(&mut self, line: &[u8], out: &mut Vec<u8>) {
        match line {
            b"later" => self.later.push(3),
            b"hang" => self.hanging = true,
            b"talk" => self.talking = true,
            _ => {
                out.extend_from_slice(line);
                out.push(b'\n');
            }
        }
    }
}

impl Protocol for Lines {
    fn window(&self) -> usize {
        1024
    }

    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let end = input.iter().position(|byte| *byte == b'\n')?;
        self.take(&input[..end], out);
        Some(end + 1)
    }

    fn finish(&mut self, rest: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        if rest.is_empty() {
            return None;
        }
        self.receive(rest, out).or_else(|| {
            self.take(rest, out);
            Some(rest.len())
        })
    }

    fn poll(&mut self, cx: &mut Context<'_>, out: &mut Vec<u8>, room: usize) -> Poll<()> {
        let full = out.len() + room;
        if self.talking {
            while out.len() < full {
                out.extend_from_slice(TALK);
            }
        }
        self.later.retain_mut(|turns| {
            *turns -= 1;
            if *turns == 0 {
                out.extend_from_slice(b"at last\n");
            }
            *turns > 0
        });
        if !self.later.is_empty() {
            cx.waker().wake_by_ref();
        }
        if self.later.is_empty() && !self.hanging && !self.talking {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    }
}

/// What a stream does next.
#[derive(Clone, Copy)]
enum Does {
    /// Moves so many bytes at most.
    Move(usize),
    /// Is not ready, and wakes.
    Wait,
    /// Is not ready, ever.
    Sleep,
    Fail(io::ErrorKind),
}

struct Reader {
    data: Vec<u8>,
    read: usize,
    script: VecDeque<Does>,
    /// When the script is over.
    then: Does,
}

impl Reader {
    fn new(data: impl Into<Vec<u8>>, script: &[Does], then: Does) -> Self {
        Self {
            data: data.into(),
            read: 0,
            script: script.iter().copied().collect(),
            then,
        }
    }

    /// All at once, and then its end.
    fn whole(data: &str) -> Self {
        Self::new(data, &[], Does::Move(usize::MAX))
    }

    /// All at once, and then nothing.
    fn open(data: &str) -> Self {
        Self::new(data, &[Does::Move(usize::MAX)], Does::Sleep)
    }
}

impl AsyncRead for &mut Reader {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let then = self.then;
        match self.script.pop_front().unwrap_or(then) {
            Does::Move(most) => {
                let count = most.min(buf.len()).min(self.data.len() - self.read);
                buf[..count].copy_from_slice(&self.data[self.read..][..count]);
                self.read += count;
                Poll::Ready(Ok(count))
            }
            Does::Wait => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Does::Sleep => Poll::Pending,
            Does::Fail(kind) => Poll::Ready(Err(kind.into())),
        }
    }
}

struct Writer {
    data: Vec<u8>,
    /// So much of it was flushed.
    flushed: usize,
    script: VecDeque<Does>,
    then: Does,
    flush: Does,
}

impl Writer {
    fn new(script: &[Does], then: Does) -> Self {
        Self {
            data: Vec::new(),
            flushed: 0,
            script: script.iter().copied().collect(),
            then,
            flush: Does::Move(0),
        }
    }

    fn whole() -> Self {
        Self::new(&[], Does::Move(usize::MAX))
    }

    fn text(&self) -> &str {
        assert_eq!(self.flushed, self.data.len(), "all of it was flushed");
        std::str::from_utf8(&self.data).expect("whole lines")
    }
}

impl AsyncWrite for &mut Writer {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        assert!(!buf.is_empty());
        let then = self.then;
        match self.script.pop_front().unwrap_or(then) {
            Does::Move(most) => {
                let count = most.min(buf.len());
                self.data.extend_from_slice(&buf[..count]);
                Poll::Ready(Ok(count))
            }
            Does::Wait => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Does::Sleep => Poll::Pending,
            Does::Fail(kind) => Poll::Ready(Err(kind.into())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.flush {
            Does::Move(_) => {
                self.flushed = self.data.len();
                Poll::Ready(Ok(()))
            }
            Does::Wait | Does::Sleep => Poll::Pending,
            Does::Fail(kind) => Poll::Ready(Err(kind.into())),
        }
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Polls for as long as it is woken. `None`: it sleeps.
fn run(reader: &mut Reader, writer: &mut Writer, options: Options) -> Option<Result<End, Error>> {
    let flag = Arc::new(Flag(AtomicBool::new(true)));
    let waker = Waker::from(flag.clone());
    let mut protocol = Lines::default();
    let mut driving = Box::pin(drive(&mut protocol, reader, writer, options));
    while flag.0.swap(false, Ordering::SeqCst) {
        if let Poll::Ready(end) = driving.as_mut().poll(&mut Context::from_waker(&waker)) {
            return Some(end);
        }
    }
    None
}

/// The same where time is to pass.
fn run_in_time(reader: &mut Reader, writer: &mut Writer, options: Options) -> Result<End, Error> {
    let mut protocol = Lines::default();
    async_io::block_on(drive(&mut protocol, reader, writer, options))
}

fn complete(reader: &mut Reader, writer: &mut Writer) {
    let end = run(reader, writer, Options::default());
    assert!(matches!(end, Some(Ok(End::Complete))), "{end:?}");
}

#[test]
fn reads_and_writes_of_every_size() {
    let lines: String = (0..60).map(|n| format!("{}\n", "ab".repeat(n))).collect();
    for read in (1..70).chain([1000, 5000]) {
        for write in (1..70).chain([1000, 5000]) {
            let mut reader = Reader::new(lines.clone(), &[], Does::Move(read));
            let mut writer = Writer::new(&[], Does::Move(write));
            complete(&mut reader, &mut writer);
            assert_eq!(writer.text(), lines, "{read} {write}");
        }
    }
}

#[test]
fn not_ready_at_any_point() {
    let input = "one\nlater\ntwo\nlater\nthree";
    for reads in 0..input.len() {
        for writes in 0..40 {
            let read = [vec![Does::Move(1); reads], vec![Does::Wait; 2]].concat();
            let write = [vec![Does::Move(1); writes], vec![Does::Wait; 2]].concat();
            let mut reader = Reader::new(input, &read, Does::Move(7));
            let mut writer = Writer::new(&write, Does::Move(5));
            complete(&mut reader, &mut writer);
            let mut said: Vec<_> = writer.text().lines().collect();
            said.sort_unstable();
            assert_eq!(said, ["at last", "at last", "one", "three", "two"]);
        }
    }
    let mut reader = Reader::new(
        input,
        &[Does::Wait, Does::Move(1)].repeat(30),
        Does::Move(1),
    );
    let mut writer = Writer::new(&[Does::Wait, Does::Move(1)].repeat(30), Does::Move(1));
    complete(&mut reader, &mut writer);
    assert_eq!(
        writer.text().len(),
        "one\ntwo\nthree\nat last\nat last\n".len()
    );
}

/// A signal at each byte of each direction changes nothing.
#[test]
fn interrupted_at_any_point() {
    const SIGNAL: Does = Does::Fail(io::ErrorKind::Interrupted);
    let input = "one\nlater\ntwo\nlater\nthree";
    let mut reader = Reader::new(
        input,
        &[SIGNAL, Does::Move(1), SIGNAL, Does::Wait].repeat(40),
        Does::Move(1),
    );
    let mut writer = Writer::new(
        &[SIGNAL, Does::Move(1), SIGNAL, Does::Wait].repeat(40),
        Does::Move(1),
    );
    complete(&mut reader, &mut writer);
    let mut said: Vec<_> = writer.text().lines().collect();
    said.sort_unstable();
    assert_eq!(said, ["at last", "at last", "one", "three", "two"]);
    for at in 0..input.len() {
        let script = [vec![Does::Move(1); at], vec![SIGNAL; 3]].concat();
        let mut reader = Reader::new(input, &script, Does::Move(7));
        let mut writer = Writer::new(&script, Does::Move(5));
        complete(&mut reader, &mut writer);
        assert_eq!(writer.text().lines().count(), 5, "{at}");
    }
}

/// The connection ends at each byte of each direction, and that is its end.
#[test]
fn reset_at_any_point() {
    use io::ErrorKind::{BrokenPipe, ConnectionReset};
    let input = "one\nlater\ntwo\n";
    for kind in [BrokenPipe, ConnectionReset] {
        for at in 0..input.len() {
            let script = vec![Does::Move(1); at];
            let mut reader = Reader::new(input, &script, Does::Fail(kind));
            let end = run_in_time(&mut reader, &mut Writer::whole(), Options::default());
            assert!(matches!(end, Ok(End::Closed)), "{kind} {at}: {end:?}");
            let mut writer = Writer::new(&script, Does::Fail(kind));
            let end = run_in_time(&mut Reader::whole(input), &mut writer, Options::default());
            assert!(matches!(end, Ok(End::Closed)), "{kind} {at}: {end:?}");
            assert_eq!(writer.data.len(), at);
        }
    }
}

/// More than a turn takes, in one read; the reader does not wake for what it has given already.
#[test]
fn what_came_is_taken_even_if_nothing_follows() {
    for count in [BUDGET - 1, BUDGET, BUDGET + 1, 2 * BUDGET, 3 * BUDGET + 7] {
        let lines = "a\n".repeat(count);
        let mut writer = Writer::whole();
        let end = run(&mut Reader::open(&lines), &mut writer, Options::default());
        assert!(end.is_none(), "the input is open: {end:?}");
        assert_eq!(writer.text().len(), lines.len());
    }
}

#[test]
fn answers_are_out_while_the_input_is_open() {
    let mut writer = Writer::new(&[Does::Move(1), Does::Wait], Does::Move(3));
    let end = run(
        &mut Reader::open("one\ntwo\nhal"),
        &mut writer,
        Options::default(),
    );
    assert!(end.is_none(), "{end:?}");
    assert_eq!(writer.text(), "one\ntwo\n");
}

/// A handler that always fills the output, and a peer that reads all of it at once: the input is read all the same.
#[test]
fn a_talker_does_not_keep_the_input_waiting() {
    let options = Options {
        high_water: 1000,
        ..Options::default()
    };
    let mut reader = Reader::new("talk\nheard\n", &[Does::Move(5)], Does::Move(6));
    // It ends by itself, should the line never be heard.
    let script = vec![Does::Move(usize::MAX); 1000];
    let mut writer = Writer::new(&script, Does::Fail(io::ErrorKind::BrokenPipe));
    let end = run(&mut reader, &mut writer, options);
    assert!(matches!(end, Some(Ok(End::Closed))), "{end:?}");
    assert!(
        writer.data.windows(6).any(|window| window == b"heard\n"),
        "in {} bytes",
        writer.data.len()
    );
}

/// A peer that does not read is not read from: the output is bounded, and so is the input.
#[test]
fn a_peer_that_does_not_read_is_not_served() {
    let options = Options {
        high_water: 1000,
        ..Options::default()
    };
    let mut reader = Reader::whole(&format!("{}\n", "x".repeat(99)).repeat(100_000));
    let mut writer = Writer::new(&[], Does::Sleep);
    let end = run(&mut reader, &mut writer, options);
    assert!(end.is_none(), "{end:?}");
    assert!(reader.read <= 2 * 64 * 1024, "{} were read", reader.read);
    // And goes on when it reads.
    let mut reader = Reader::whole(&format!("{}\n", "x".repeat(99)).repeat(10_000));
    let mut writer = Writer::new(&[Does::Wait; 100], Does::Move(333));
    let end = run(&mut reader, &mut writer, options);
    assert!(matches!(end, Some(Ok(End::Complete))), "{end:?}");
    assert_eq!(writer.text().len(), 1_000_000);
}

#[test]
fn the_end_waits_for_what_is_in_flight() {
    let mut writer = Writer::whole();
    complete(&mut Reader::whole("later\nlater"), &mut writer);
    assert_eq!(writer.text(), "at last\nat last\n");
}

#[test]
fn the_grace_period_bounds_handlers_writes_and_flushes() {
    let options = Options {
        grace: Duration::from_millis(20),
        ..Options::default()
    };
    let mut flush = Writer::whole();
    flush.flush = Does::Sleep;
    for (input, mut writer) in [
        ("hang\nheard", Writer::whole()),
        ("unheard", Writer::new(&[Does::Move(2)], Does::Sleep)),
        ("unflushed", flush),
    ] {
        let end = run_in_time(&mut Reader::whole(input), &mut writer, options);
        assert!(matches!(end, Ok(End::GraceExpired)), "{input}: {end:?}");
    }
}

/// STD-14: the end is noticed behind an output that nobody reads, and what came before it is still taken.
#[test]
fn the_end_of_the_input_is_noticed_while_the_output_is_full() {
    let options = Options {
        high_water: 10,
        grace: Duration::from_millis(20),
        ..Options::default()
    };
    let lines = "0123456789\n".repeat(5);
    let end = run_in_time(
        &mut Reader::whole(&lines),
        &mut Writer::new(&[], Does::Sleep),
        options,
    );
    assert!(matches!(end, Ok(End::GraceExpired)), "{end:?}");
    let mut writer = Writer::new(&[Does::Wait; 10], Does::Move(3));
    let end = run_in_time(&mut Reader::whole(&lines), &mut writer, options);
    assert!(matches!(end, Ok(End::Complete)), "{end:?}");
    assert_eq!(writer.text(), lines);
}

/// A peer that reads slowly is not a peer that has left: the grace period counts from what it read last.
#[test]
fn a_slow_peer_gets_all_its_answers() {
    let options = Options {
        grace: Duration::from_millis(60),
        ..Options::default()
    };
    struct Slow(Vec<u8>, Option<Timer>);
    impl AsyncWrite for Slow {
        fn poll_write(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buf: &[u8],
        ) -> Poll<io::Result<usize>> {
            let timer = self
                .1
                .get_or_insert_with(|| Timer::after(Duration::from_millis(20)));
            std::task::ready!(Pin::new(timer).poll(cx));
            self.1 = None;
            self.0.push(buf[0]);
            Poll::Ready(Ok(1))
        }
        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
        fn poll_close(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }
    let mut writer = Slow(Vec::new(), None);
    let mut reader = Reader::whole("0123456789\n");
    let mut lines = Lines::default();
    let end = async_io::block_on(drive(&mut lines, &mut reader, &mut writer, options));
    assert!(matches!(end, Ok(End::Complete)), "{end:?}");
    assert_eq!(writer.0, b"0123456789\n");
}

#[test]
fn errors_say_what_failed() {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, Other, StorageFull};
    for kind in [BrokenPipe, ConnectionAborted, ConnectionReset] {
        let end = run_in_time(
            &mut Reader::new("", &[], Does::Fail(kind)),
            &mut Writer::whole(),
            Options::default(),
        );
        assert!(matches!(end, Ok(End::Closed)), "{kind}: {end:?}");
        let mut writer = Writer::new(&[Does::Move(1)], Does::Fail(kind));
        let end = run_in_time(&mut Reader::whole("a\n"), &mut writer, Options::default());
        assert!(matches!(end, Ok(End::Closed)), "{kind}: {end:?}");
    }
    let end = run_in_time(
        &mut Reader::new("", &[Does::Wait], Does::Fail(Other)),
        &mut Writer::whole(),
        Options::default(),
    );
    assert!(matches!(end, Err(Error::Read(_))), "{end:?}");
    let mut writer = Writer::new(&[Does::Move(1)], Does::Fail(StorageFull));
    let end = run_in_time(&mut Reader::whole("a\n"), &mut writer, Options::default());
    assert!(matches!(end, Err(Error::Write(_))), "{end:?}");
    // A writer that takes nothing will never take anything.
    let mut writer = Writer::new(&[Does::Move(1)], Does::Move(0));
    let end = run_in_time(&mut Reader::whole("a\n"), &mut writer, Options::default());
    assert!(matches!(end, Ok(End::Closed)), "{end:?}");
    let mut writer = Writer::whole();
    writer.flush = Does::Fail(StorageFull);
    let end = run_in_time(&mut Reader::whole("a\n"), &mut writer, Options::default());
    assert!(matches!(end, Err(Error::Write(_))), "{end:?}");
}
