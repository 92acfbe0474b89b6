use std::future::poll_fn;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::thread::sleep;
use std::time::Duration;

use async_io::{Async, Timer};

use super::unix::Output;

/// Where the pipe cannot be opened a second time its description is in blocking mode, and a write of more than fits would
/// stop the whole thread.
#[test]
fn a_shared_pipe_is_written_without_stopping_the_thread() {
    const SIZE: usize = 300_000;
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let read = std::thread::spawn(move || {
        sleep(Duration::from_millis(200));
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).expect("reads");
        bytes
    });
    let pipe = Async::new_nonblocking(OwnedFd::from(writer)).expect("it can be polled");
    let mut output = Output::SharedPipe(pipe);
    let bytes: Vec<u8> = (0..=u8::MAX).cycle().take(SIZE).collect();
    let write = async {
        let mut written = 0;
        while written < SIZE {
            written += poll_fn(|cx| output.poll_write(cx, &bytes[written..]))
                .await
                .expect("somebody reads");
        }
        drop(output);
    };
    let mut ticks = 0;
    let tick = async {
        loop {
            Timer::after(Duration::from_millis(5)).await;
            ticks += 1;
        }
    };
    async_io::block_on(futures_lite::future::or(write, tick));
    assert!(ticks >= 10, "{ticks} ticks in 200 ms");
    assert_eq!(read.join().expect("reads"), bytes);
}
