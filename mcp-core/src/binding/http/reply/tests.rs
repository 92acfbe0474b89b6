use alloc::string::String;
use alloc::vec::Vec;

use super::*;

fn write(reply: &mut Reply, message: &str) {
    for part in message.as_bytes().chunks(3) {
        assert_eq!(reply.append(part), Ok(()));
    }
    assert_eq!(reply.end_message(), Ok(()));
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).expect("UTF-8")
}

/// What is ready of a stream.
fn events(reply: &mut Reply) -> String {
    let output = reply.take();
    let Output::Events(bytes) = output else {
        panic!("no events: {output:?}");
    };
    text(bytes)
}

fn json(reply: &mut Reply) -> (u16, String) {
    let output = reply.take();
    let Output::Json { status, body } = output else {
        panic!("no JSON: {output:?}");
    };
    (status, text(body))
}

fn logged(primes: bool, most: usize) -> Reply {
    Reply::new(Accepts::Both).logged(Some(Log::new(7, primes)), most)
}

#[test]
fn an_answer_alone_is_json() {
    for accepts in [Accepts::Both, Accepts::Json] {
        let mut reply = Reply::new(accepts);
        assert_eq!(reply.take(), Output::Undecided);
        write(&mut reply, "{1}");
        assert!(reply.has_more_than_answer());
        assert_eq!(reply.take(), Output::Undecided, "it may not be the answer");
        reply.end();
        assert!(!reply.has_more_than_answer());
        assert_eq!(json(&mut reply), (200, "{1}".into()));
    }
    let mut reply = Reply::new(Accepts::Events);
    write(&mut reply, "{1}");
    reply.end();
    assert_eq!(events(&mut reply), "data: {1}\n\n");
    assert_eq!(reply.take(), Output::End);
}

/// HTTP-21: a status goes before what is liked best, until a stream has begun.
#[test]
fn a_status_is_of_json() {
    for accepts in [Accepts::Both, Accepts::Json, Accepts::Events] {
        let mut reply = Reply::new(accepts);
        reply.set_status(404);
        write(&mut reply, "{1}");
        reply.end();
        assert_eq!(json(&mut reply), (404, "{1}".into()));
    }
    let mut reply = Reply::new(Accepts::Both);
    reply.begin_stream();
    reply.set_status(404);
    write(&mut reply, "{1}");
    reply.end();
    assert_eq!(events(&mut reply), "data: {1}\n\n");
}

#[test]
fn nothing_is_accepted() {
    for accepts in [Accepts::Both, Accepts::Json, Accepts::Events] {
        let mut reply = Reply::new(accepts);
        reply.end();
        assert_eq!(reply.take(), Output::Accepted);
    }
}

/// HTTP-13, HTTP-15.
#[test]
fn a_message_before_the_answer_begins_a_stream() {
    for accepts in [Accepts::Both, Accepts::Events] {
        let mut reply = Reply::new(accepts);
        write(&mut reply, "{1}");
        reply.begin_stream();
        assert!(reply.is_stream());
        assert_eq!(events(&mut reply), "data: {1}\n\n");
        assert_eq!(events(&mut reply), "");
        write(&mut reply, "{2}");
        write(&mut reply, "{3}");
        assert!(!reply.is_ended());
        reply.end();
        assert_eq!(events(&mut reply), "data: {2}\n\ndata: {3}\n\n");
        assert_eq!(reply.take(), Output::End);
        // Though nobody said that it was not the answer.
        let mut reply = Reply::new(accepts);
        write(&mut reply, "{1}");
        write(&mut reply, "{2}");
        reply.end();
        assert_eq!(events(&mut reply), "data: {1}\n\ndata: {2}\n\n");
    }
}

#[test]
fn without_events_the_last_message_is_the_answer() {
    let mut reply = Reply::new(Accepts::Json);
    assert!(!reply.takes_messages());
    write(&mut reply, "{1}");
    reply.begin_stream();
    assert!(!reply.is_stream());
    reply.keep_alive();
    write(&mut reply, "{2}");
    write(&mut reply, "{3}");
    reply.end();
    assert_eq!(json(&mut reply), (200, "{3}".into()));
}

/// HTTP-18: between events, and not after the last.
#[test]
fn comments_keep_a_stream_alive() {
    let mut reply = Reply::new(Accepts::Both);
    reply.keep_alive();
    assert_eq!(reply.take(), Output::Undecided);
    reply.begin_stream();
    reply.keep_alive();
    write(&mut reply, "{1}");
    reply.keep_alive();
    assert_eq!(events(&mut reply), ":\n\ndata: {1}\n\n:\n\n");
    reply.end();
    reply.keep_alive();
    assert_eq!(reply.take(), Output::End);
}

/// A sink that was written to half is as it was before.
#[test]
fn what_is_rolled_back_leaves_nothing() {
    for stream in [false, true] {
        let mut reply = logged(false, 1000);
        if stream {
            reply.begin_stream();
        }
        for message in ["{1}", "{2}"] {
            let before = reply.len();
            assert_eq!(reply.append(b"{half"), Ok(()));
            reply.truncate(before);
            assert_eq!(reply.len(), before);
            write(&mut reply, message);
            reply.begin_stream();
        }
        let expected = "id: 7-0\ndata: {1}\n\nid: 7-1\ndata: {2}\n\n";
        assert_eq!(events(&mut reply), expected);
    }
}

/// LH-10.
#[test]
fn a_primed_stream_begins_with_an_id() {
    let mut reply = logged(true, 1000);
    write(&mut reply, "{1}");
    reply.begin_stream();
    let expected = "id: 7-0\ndata: \n\nid: 7-1\ndata: {1}\n\n";
    assert_eq!(events(&mut reply), expected);
    // No stream, no events.
    let mut reply = logged(true, 1000);
    write(&mut reply, "{1}");
    reply.end();
    assert_eq!(json(&mut reply), (200, "{1}".into()));
    assert_eq!(reply.log_size(), 0);
    assert!(!reply.knows(0));
}

/// LH-15, LH-17.
#[test]
fn what_comes_after_the_reader_has_left_is_kept() {
    let mut reply = logged(false, 1000);
    reply.begin_stream();
    write(&mut reply, "{1}");
    reply.detach();
    assert_eq!(reply.buffered(), 0);
    write(&mut reply, "{2}");
    write(&mut reply, "{3}");
    assert_eq!(reply.buffered(), 0);
    assert!(reply.knows(0) && reply.knows(2));
    assert!(!reply.knows(3) && !reply.knows(u64::MAX));
    reply.resume(0);
    let rest = "id: 7-1\ndata: {2}\n\nid: 7-2\ndata: {3}\n\n";
    assert_eq!(events(&mut reply), rest);
    write(&mut reply, "{4}");
    reply.end();
    assert_eq!(events(&mut reply), "id: 7-3\ndata: {4}\n\n");
    assert_eq!(reply.take(), Output::End);
    // Again, as often as anybody asks, for what is still there.
    assert!(reply.forget_oldest() && reply.forget_oldest());
    assert!(!reply.knows(0) && reply.knows(1));
    reply.resume(1);
    assert!(events(&mut reply).starts_with("id: 7-2\n"));
    let size = "id: 7-2\ndata: {3}\n\n".len() * 2;
    assert_eq!(reply.log_size(), size);
    assert!(reply.forget_oldest() && reply.forget_oldest() && !reply.forget_oldest());
    assert_eq!(reply.log_size(), 0);
    assert!(!reply.knows(2) && reply.knows(3));
}

/// A reader that is too slow gets what waits for it and then the end; nothing is left out in between.
#[test]
fn a_slow_reader_is_cut_off_behind_what_waits_for_it() {
    let mut reply = logged(true, 30);
    reply.begin_stream();
    // One message more than the bound is never too much, whatever its length.
    let long = "x".repeat(100);
    write(&mut reply, &long);
    write(&mut reply, "{2}");
    assert!(!reply.is_open());
    write(&mut reply, "{3}");
    reply.keep_alive();
    let waiting = events(&mut reply);
    assert!(waiting.starts_with("id: 7-0\ndata: \n\nid: 7-1\ndata: xxx"));
    assert!(waiting.ends_with("xxx\n\n"));
    assert_eq!(reply.take(), Output::End);
    reply.detach();
    reply.resume(1);
    assert!(reply.is_open());
    let rest = "id: 7-2\ndata: {2}\n\nid: 7-3\ndata: {3}\n\n";
    assert_eq!(events(&mut reply), rest);
    // Who reads in time gets all of it.
    for _ in 0..100 {
        write(&mut reply, &long);
        assert!(events(&mut reply).contains(&long));
    }
}

/// LH-12: only where it is known, and the rest comes later.
#[test]
fn a_client_that_is_let_go() {
    let second = Duration::from_secs(1);
    for (mut reply, can) in [
        (logged(true, 1000), true),
        (logged(false, 1000), false),
        (Reply::new(Accepts::Both), false),
    ] {
        assert_eq!(reply.disconnect(second), can);
        write(&mut reply, "{1}");
        if can {
            assert_eq!(events(&mut reply), "id: 7-0\ndata: \n\nretry: 1000\n\n");
            assert_eq!(reply.take(), Output::End);
            reply.detach();
            reply.resume(0);
            assert_eq!(events(&mut reply), "id: 7-1\ndata: {1}\n\n");
        }
        reply.end();
        assert!(!reply.disconnect(second), "it is over");
    }
    let mut reply = logged(true, 1000);
    reply.accepts = Accepts::Json;
    assert!(!reply.disconnect(second));
    let mut reply = logged(true, 1000);
    assert!(reply.disconnect(Duration::MAX));
    assert!(events(&mut reply).contains(&alloc::format!(
        "retry: {}\n",
        Duration::MAX.as_millis() as u64
    )));
}

/// SSE-02, SSE-04.
#[test]
fn events_with_names() {
    let mut reply = Reply::events(Some("message"), None, 1000);
    reply.announce("endpoint", "?a=b");
    write(&mut reply, "{1}");
    let expected = "event: endpoint\ndata: ?a=b\n\nevent: message\ndata: {1}\n\n";
    assert_eq!(events(&mut reply), expected);
}
