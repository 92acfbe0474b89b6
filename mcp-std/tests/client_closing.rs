//! Waiting for the end of all connections of a process: alone in one, since it is about all of them.
#![cfg(feature = "client")]

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

use mcp_std::Server;
use mcp_std::client::{Client, all_closed};

/// How often somebody was woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn who_waits_for_the_last_connection_is_woken_by_its_end_and_not_before() {
    let woken = Arc::new(Woken::default());
    let times = || woken.0.load(Ordering::SeqCst);
    let waker = Waker::from(woken.clone());
    let mut cx = Context::from_waker(&waker);
    smol::block_on(all_closed());
    let server = Server::builder("s", "1").build().expect("a server");
    let connect = || {
        let client = Client::builder("tests", "1").connect_in_process(&server);
        smol::block_on(client).expect("it connects")
    };
    let (one, two) = (connect(), connect());

    let mut all = pin!(all_closed());
    assert!(all.as_mut().poll(&mut cx).is_pending());
    drop(one);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(times(), 0, "another one is there");
    drop(two);
    let started = Instant::now();
    while times() == 0 {
        assert!(started.elapsed() < Duration::from_secs(10));
        std::thread::yield_now();
    }
    assert!(all.as_mut().poll(&mut cx).is_ready());
}
