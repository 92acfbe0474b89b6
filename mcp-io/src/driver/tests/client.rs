//! What the side that asks needs: deadlines, an end of its own, and not to wait for a peer that waits for it.

use super::*;

use std::time::Instant;

/// Has a question in flight from the beginning, until it is answered or time is up.
struct Asker {
    /// Still to be said.
    says: Vec<u8>,
    pending: bool,
    deadline: Option<Instant>,
    timeouts: usize,
    heard: Vec<String>,
    /// How often it was told that no more will come.
    told: usize,
    /// What it wants then.
    then: Wants,
    wants: Wants,
}

impl Asker {
    fn new(says: &str) -> Self {
        Self {
            says: says.into(),
            pending: true,
            deadline: None,
            timeouts: 0,
            heard: Vec::new(),
            told: 0,
            then: Wants::More,
            wants: Wants::More,
        }
    }

    fn due(mut self, milliseconds: u64) -> Self {
        self.deadline = Some(Instant::now() + Duration::from_millis(milliseconds));
        self
    }
}

impl Protocol for Asker {
    fn window(&self) -> usize {
        1024
    }

    fn receive(&mut self, input: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        assert_eq!(self.wants, Wants::More, "no more input is taken");
        let end = input.iter().position(|byte| *byte == b'\n')?;
        let line = String::from_utf8_lossy(&input[..end]).into_owned();
        match line.as_str() {
            "bye" => {
                out.extend_from_slice(b"goodbye\n");
                self.wants = Wants::Flush;
            }
            "stop" => {
                out.extend_from_slice(b"unsaid\n");
                self.wants = Wants::Stop;
            }
            "ping" => out.extend_from_slice(b"pong\n"),
            _ => {}
        }
        self.heard.push(line);
        Some(end + 1)
    }

    fn finish(&mut self, rest: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        let taken = self.receive(rest, out);
        if taken.is_none() {
            self.told += 1;
            self.pending = false;
            self.wants = self.then;
        }
        taken
    }

    fn poll(&mut self, _: &mut Context<'_>, out: &mut Vec<u8>, room: usize) -> Poll<()> {
        if room > 0 {
            out.append(&mut self.says);
        }
        if self.pending {
            Poll::Pending
        } else {
            Poll::Ready(())
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    fn handle_timeout(&mut self, now: Instant, out: &mut Vec<u8>) {
        assert!(self.deadline.is_some_and(|deadline| now >= deadline));
        self.timeouts += 1;
        self.deadline = None;
        out.extend_from_slice(b"late\n");
        self.wants = Wants::Flush;
    }

    fn wants(&self) -> Wants {
        self.wants
    }
}

fn hour() -> Options {
    Options {
        grace: Duration::from_secs(3600),
        ..Options::client()
    }
}

fn ask(
    asker: &mut Asker,
    reader: &mut Reader,
    writer: &mut Writer,
    options: Options,
) -> Result<End, Error> {
    let late = async {
        Timer::after(Duration::from_secs(20)).await;
        panic!("it hangs");
    };
    async_io::block_on(futures_lite::future::or(
        drive(asker, reader, writer, options),
        late,
    ))
}

/// What is in flight fails when the peer is gone: nothing is waited for.
#[test]
fn the_end_of_the_input_ends_what_is_in_flight() {
    for then in [Wants::More, Wants::Stop] {
        let mut asker = Asker::new("question\n");
        asker.then = then;
        let mut reader = Reader::new("a\nb", &[Does::Move(4), Does::Wait], Does::Move(9));
        let end = ask(&mut asker, &mut reader, &mut Writer::whole(), hour());
        let expected = if then == Wants::More {
            End::Complete
        } else {
            End::Finished
        };
        assert_eq!(end.expect("no failure"), expected);
        assert_eq!((asker.heard.len(), asker.told > 0), (1, true));
    }
    // Nor is a peer that does not read.
    let mut asker = Asker::new("question\n");
    asker.then = Wants::Stop;
    let mut writer = Writer::new(&[Does::Move(1)], Does::Sleep);
    let end = ask(&mut asker, &mut Reader::whole("a\n"), &mut writer, hour());
    assert!(matches!(end, Ok(End::Finished)), "{end:?}");
}

#[test]
fn a_protocol_ends_its_stream_when_its_output_is_written() {
    let mut asker = Asker::new("question\n");
    let mut writer = Writer::new(&[Does::Move(3), Does::Wait], Does::Move(2));
    let end = ask(
        &mut asker,
        &mut Reader::open("a\nbye\nunheard\n"),
        &mut writer,
        hour(),
    );
    assert!(matches!(end, Ok(End::Finished)), "{end:?}");
    assert_eq!(asker.heard, ["a", "bye"]);
    assert_eq!(writer.text(), "question\ngoodbye\n");
    // Unless nobody reads it.
    let mut options = hour();
    options.grace = Duration::from_millis(20);
    let end = ask(
        &mut Asker::new(""),
        &mut Reader::open("bye\n"),
        &mut Writer::new(&[Does::Move(1)], Does::Sleep),
        options,
    );
    assert!(matches!(end, Ok(End::GraceExpired)), "{end:?}");
}

#[test]
fn a_protocol_may_stop_without_a_word() {
    let mut asker = Asker::new("");
    let mut writer = Writer::new(&[], Does::Sleep);
    let end = ask(&mut asker, &mut Reader::open("stop\n"), &mut writer, hour());
    assert!(matches!(end, Ok(End::Finished)), "{end:?}");
    assert_eq!(writer.text(), "");
}

#[test]
fn deadlines_are_kept_whether_the_peer_reads_or_not() {
    let start = Instant::now();
    let mut asker = Asker::new("question\n").due(30);
    let mut writer = Writer::whole();
    let end = ask(
        &mut asker,
        &mut Reader::new("", &[], Does::Sleep),
        &mut writer,
        hour(),
    );
    assert!(matches!(end, Ok(End::Finished)), "{end:?}");
    assert!(start.elapsed() >= Duration::from_millis(30));
    assert_eq!((asker.timeouts, writer.text()), (1, "question\nlate\n"));
    let mut options = hour();
    (options.high_water, options.grace) = (4, Duration::from_millis(20));
    let mut asker = Asker::new("question\n").due(30);
    let mut writer = Writer::new(&[], Does::Sleep);
    let end = ask(
        &mut asker,
        &mut Reader::new("", &[], Does::Sleep),
        &mut writer,
        options,
    );
    assert!(matches!(end, Ok(End::GraceExpired)), "{end:?}");
    assert_eq!(asker.timeouts, 1);
}

#[test]
fn a_timer_follows_its_deadline() {
    let flag = Arc::new(Flag(AtomicBool::new(false)));
    let waker = Waker::from(flag.clone());
    let cx = &mut Context::from_waker(&waker);
    let start = Instant::now();
    let after = |milliseconds| start + Duration::from_millis(milliseconds);
    let mut alarm = Alarm::default();
    assert!(!alarm.is_due(after(3_600_000), cx));
    // Earlier, later, earlier: it is due when the last one is.
    assert!(!alarm.is_due(after(40), cx));
    assert!(!alarm.is_due(after(3_600_000), cx));
    assert!(!alarm.is_due(after(80), cx));
    let mut wakes = 0;
    while !alarm.is_due(after(80), cx) {
        assert!(Instant::now() < after(10_000), "it is woken");
        std::thread::sleep(Duration::from_millis(1));
        if flag.0.swap(false, Ordering::SeqCst) {
            wakes += 1;
        }
    }
    assert!(Instant::now() >= after(80));
    assert!(wakes <= 2, "{wakes}");
    // And again.
    assert!(alarm.is_due(after(81).max(start), cx) || Instant::now() < after(81));
    assert!(!alarm.is_due(Instant::now() + Duration::from_secs(3600), cx));
}

/// Answers are taken while questions wait to be read, or both would wait for ever: a server with its output full does not
/// read.
#[test]
fn answers_are_heard_while_the_output_is_full() {
    let mut options = hour();
    options.high_water = 4;
    let mut asker = Asker::new("a long question\n");
    let end = ask(
        &mut asker,
        &mut Reader::open("a\nb\nc\nstop\n"),
        &mut Writer::new(&[], Does::Sleep),
        options,
    );
    assert!(matches!(end, Ok(End::Finished)), "{end:?}");
    assert_eq!(asker.heard.len(), 4);
    // But not for ever, if they have to be answered.
    options.reserve = 12;
    let mut asker = Asker::new("a long question\n").due(30);
    options.grace = Duration::from_millis(20);
    let end = ask(
        &mut asker,
        &mut Reader::open(&"ping\n".repeat(100)),
        &mut Writer::new(&[], Does::Sleep),
        options,
    );
    assert!(matches!(end, Ok(End::GraceExpired)), "{end:?}");
    assert_eq!(asker.heard.len(), 3);
}

/// The last words of a peer that has died are heard, though nothing can be written to it.
#[test]
fn who_reads_no_more_is_heard_out() {
    let broken = || Writer::new(&[Does::Move(2)], Does::Fail(io::ErrorKind::BrokenPipe));
    let mut asker = Asker::new("question\n");
    asker.then = Wants::Stop;
    let waits = [vec![Does::Wait; 5], vec![Does::Move(2)]].concat();
    let mut reader = Reader::new("a\nping\nlast\n", &waits, Does::Move(9));
    let end = ask(&mut asker, &mut reader, &mut broken(), hour());
    assert!(matches!(end, Ok(End::Finished)), "{end:?}");
    assert_eq!(asker.heard, ["a", "ping", "last"]);
    assert!(asker.told > 0);
    // For so long; and only if that is wanted.
    for (grace, hear_out) in [(20, true), (3_600_000, false)] {
        let mut options = hour();
        options.hear_out = hear_out;
        options.grace = Duration::from_millis(grace);
        let mut asker = Asker::new("question\n");
        let end = ask(&mut asker, &mut Reader::open("a\n"), &mut broken(), options);
        assert!(matches!(end, Ok(End::Closed)), "{end:?}");
        assert_eq!((asker.heard.len(), asker.told), (usize::from(hear_out), 0));
    }
}

/// A source that has the thread to itself would sleep through the deadline.
#[test]
fn a_source_does_not_block_before_a_deadline() {
    struct Asked(Vec<bool>);
    impl Source for &mut Asked {
        fn poll_fill(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
            _: &mut [u8],
            idle: bool,
        ) -> Poll<io::Result<usize>> {
            self.0.push(idle);
            Poll::Pending
        }
    }
    for (due, idle) in [(None, true), (Some(20), false)] {
        let mut asker = Asker::new("");
        asker.pending = false;
        if let Some(due) = due {
            asker = asker.due(due);
        }
        let mut asked = Asked(Vec::new());
        let mut writer = Writer::whole();
        let driving = drive(&mut asker, &mut asked, &mut writer, hour());
        let mut driving = Box::pin(driving);
        let cx = &mut Context::from_waker(Waker::noop());
        assert!(driving.as_mut().poll(cx).is_pending());
        drop(driving);
        assert_eq!(asked.0, [idle]);
    }
}
