use super::*;

use futures_io::AsyncRead;

use std::io;
use std::task::Waker;

/// Gives as much as there is room for, of bytes that count up.
struct Counting {
    next: u8,
    most: usize,
}

impl AsyncRead for Counting {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        assert!(!buf.is_empty(), "a read into nothing looks like the end");
        let count = buf.len().min(self.most);
        for byte in &mut buf[..count] {
            *byte = self.next;
            self.next = self.next.wrapping_add(1);
        }
        Poll::Ready(Ok(count))
    }
}

fn read(input: &mut Input, reader: &mut Counting) -> usize {
    let cx = &mut Context::from_waker(Waker::noop());
    let Poll::Ready(Ok(count)) = input.poll_fill(Pin::new(reader), cx, false) else {
        panic!("it is always ready");
    };
    count
}

fn counting(most: usize) -> Counting {
    Counting { next: 0, most }
}

#[test]
fn the_unconsumed_bytes_survive_every_move() {
    let mut input = Input::new(200_000);
    let mut reader = counting(7001);
    // A sequence without a pattern: how much is taken each time.
    let mut random: usize = 1;
    let mut first: u8 = 0;
    for _ in 0..2000 {
        read(&mut input, &mut reader);
        let held = input.unconsumed();
        for (at, byte) in held.iter().enumerate() {
            assert_eq!(*byte, first.wrapping_add(at as u8));
        }
        random = random.wrapping_mul(1_103_515_245).wrapping_add(12_345) % (1 << 31);
        let count = if held.len() > 150_000 {
            held.len()
        } else {
            (random % 13_000).min(held.len())
        };
        first = first.wrapping_add(count as u8);
        input.consume(count);
    }
}

#[test]
fn it_grows_to_the_window_and_no_further() {
    for window in [1, 1000, READ, READ + 3, 100_000, 4 * READ, 4 * READ + 3] {
        let mut input = Input::new(window);
        let mut reader = counting(usize::MAX);
        // A protocol leaves fewer than `window` bytes, so there is always room for one more.
        while input.unconsumed().len() < window {
            read(&mut input, &mut reader);
        }
        assert_eq!(input.bytes.len(), window.max(READ), "window {window}");
        input.consume(input.unconsumed().len());
    }
}

/// Room is made by moving before it is made by growing.
#[test]
fn a_buffer_with_room_in_front_does_not_grow() {
    let mut input = Input::new(1_000_000);
    let mut reader = counting(usize::MAX);
    for _ in 0..100 {
        read(&mut input, &mut reader);
        input.consume(input.unconsumed().len() - 10);
    }
    assert_eq!(input.bytes.len(), READ);
}

#[test]
fn a_large_message_leaves_no_large_buffer_behind() {
    let window = 4 * 1024 * 1024 + 3;
    let mut input = Input::new(window);
    let mut reader = counting(usize::MAX);
    while input.unconsumed().len() < window {
        read(&mut input, &mut reader);
    }
    input.consume(window - 1);
    assert_eq!(input.bytes.len(), window, "a byte of it is still needed");
    input.consume(1);
    assert_eq!(input.bytes.len(), READ);
}

/// Takes a few bytes, and then none for now.
struct Short {
    taken: Vec<u8>,
    most: usize,
}

impl AsyncWrite for Short {
    fn poll_write(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.most == 0 {
            return Poll::Pending;
        }
        let count = self.most.min(buf.len());
        self.taken.extend_from_slice(&buf[..count]);
        self.most -= count;
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

#[test]
fn what_a_short_write_leaves_goes_out_next_and_keeps_no_head() {
    let cx = &mut Context::from_waker(Waker::noop());
    let whole: Vec<u8> = (0..=u8::MAX).cycle().take(10 * READ).collect();
    let mut output = Output::default();
    output.bytes.extend_from_slice(&whole);
    let mut writer = Short {
        taken: Vec::new(),
        most: 6 * READ,
    };
    assert!(output.poll_write(Pin::new(&mut writer), cx).is_pending());
    assert_eq!(output.len(), 4 * READ);
    output.compact();
    assert_eq!(output.bytes.len(), 4 * READ, "the head is forgotten");
    assert_eq!(output.len(), 4 * READ);
    // More is said meanwhile.
    output.bytes.extend_from_slice(b"more");
    writer.most = usize::MAX;
    assert!(output.poll_write(Pin::new(&mut writer), cx).is_ready());
    assert_eq!(output.len(), 0);
    assert_eq!(writer.taken, [&whole[..], b"more"].concat());
}

#[test]
fn a_large_output_leaves_no_large_buffer_behind() {
    let cx = &mut Context::from_waker(Waker::noop());
    let mut output = Output::default();
    output.bytes.resize(2 * KEEP, 0);
    let mut writer = Short {
        taken: Vec::new(),
        most: usize::MAX,
    };
    assert!(output.poll_write(Pin::new(&mut writer), cx).is_ready());
    assert!(
        output.bytes.capacity() <= KEEP,
        "{}",
        output.bytes.capacity()
    );
}
