//! What the tests share: scripts as children, and a look at the system's table of processes.

use std::fs;
use std::future::Future;
use std::time::{Duration, Instant};

use async_io::Timer;
use futures_lite::{AsyncReadExt, AsyncWriteExt, future};
use mcp_io::child::{Child, Command, Reader, Shutdown, Writer};

/// A shell script as a child.
pub(crate) fn sh(script: &str) -> Command {
    Command::new("sh").args(["-c", script])
}

pub(crate) fn spawn(script: &str) -> Child {
    sh(script).spawn().expect("there is a shell")
}

/// Runs a test that is to end long before this does.
pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    within(Duration::from_secs(60), test)
}

pub(crate) fn within<T>(time: Duration, test: impl Future<Output = T>) -> T {
    async_io::block_on(future::or(test, async {
        Timer::after(time).await;
        panic!("still running after {time:?}")
    }))
}

pub(crate) async fn sleep(milliseconds: u64) {
    Timer::after(Duration::from_millis(milliseconds)).await;
}

pub(crate) fn quick() -> Shutdown {
    let mut how = Shutdown::default();
    how.after_close = Duration::from_millis(200);
    how.after_term = Duration::from_millis(200);
    how
}

pub(crate) async fn read_line(reader: &mut Reader) -> String {
    let mut line = Vec::new();
    let mut byte = [0];
    while reader.read(&mut byte).await.expect("it can be read") == 1 && byte != *b"\n" {
        line.push(byte[0]);
    }
    String::from_utf8(line).expect("text")
}

pub(crate) async fn read_all(reader: &mut Reader) -> String {
    let mut text = String::new();
    reader.read_to_string(&mut text).await.expect("text");
    text
}

pub(crate) async fn write(writer: &mut Writer, text: &str) {
    writer.write_all(text.as_bytes()).await.expect("it reads");
}

/// State of a process and the number of its parent; `None`: there is none.
pub(crate) fn look(id: u32) -> Option<(char, u32)> {
    let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name before it may contain anything, parentheses too.
    let (_, rest) = stat.rsplit_once(") ")?;
    let mut fields = rest.split(' ');
    let state = fields.next()?.chars().next()?;
    Some((state, fields.next()?.parse().ok()?))
}

/// Whether it runs; one that waits for somebody else's parent to be reaped does not.
pub(crate) fn runs(id: u32) -> bool {
    look(id).is_some_and(|(state, _)| state != 'Z' && state != 'X')
}

/// Waits until a child of ours is gone, reaped and all.
#[track_caller]
pub(crate) fn assert_reaped(id: u32) {
    let start = Instant::now();
    while let Some(found) = look(id) {
        assert!(start.elapsed() < Duration::from_secs(5), "{id}: {found:?}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Waits until a process that is not our child runs no more.
#[track_caller]
pub(crate) fn assert_ended(id: u32) {
    let start = Instant::now();
    while runs(id) {
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", look(id));
        std::thread::sleep(Duration::from_millis(2));
    }
}
