//! What becomes of a request: connections, redirects, bodies.

use core::time::Duration;
use std::thread::sleep;

use bytes::Bytes;
use futures_lite::future::block_on;
use http::Request;
use mcp_io::http::client::{Client, Error, Proxy};

use super::peer::{Does, Peer, reply};
use super::{client, post, send, text};

#[test]
fn hc_05_dx_03_one_connection_serves_one_request_after_the_other() {
    let peer = Peer::new(|count, _| Does::Says(reply("200 OK", "", &format!("{count}"))));
    let client = client();
    for count in 0..3 {
        let answer = send(&client, &peer.url("/mcp?tenant=a"), "{}").expect("an answer");
        assert_eq!(answer, (200, count.to_string()));
    }
    let asked = peer.asked();
    assert!(asked.iter().all(|asked| asked.connection == 0));
    // HC-05: the query stays.
    assert_eq!(asked[0].line, "POST /mcp?tenant=a HTTP/1.1");
    let host = format!("127.0.0.1:{}", peer.port);
    assert_eq!(asked[0].field("host"), Some(&*host));
    assert_eq!(asked[0].body, "{}");
    assert_eq!(asked[0].field("accept-encoding"), None);
}

#[test]
fn hc_01_a_head_without_a_body_leaves_the_connection_usable() {
    // HC-01.
    let peer = Peer::new(|count, _| {
        Does::Says(if count == 0 {
            b"HTTP/1.1 204 No Content\r\n\r\n".to_vec()
        } else {
            reply("200 OK", "", "x")
        })
    });
    let client = client();
    assert_eq!(
        send(&client, &peer.url("/"), "n").expect("accepted"),
        (204, String::new())
    );
    assert_eq!(send(&client, &peer.url("/"), "r").expect("answered").1, "x");
    assert_eq!(peer.asked()[1].connection, 0);
}

#[test]
fn hc_09_a_connection_closed_while_idle_is_opened_again() {
    // HC-09, first run: also for what must not be sent twice.
    let peer = Peer::new(|_, _| Does::SaysAndCloses(reply("200 OK", "", "x")));
    let client = client();
    for _ in 0..3 {
        assert_eq!(send(&client, &peer.url("/"), "call").expect("x").1, "x");
        sleep(Duration::from_millis(30));
    }
    let connections: Vec<_> = peer.asked().iter().map(|asked| asked.connection).collect();
    assert_eq!(connections, [0, 1, 2]);
}

#[test]
fn hc_09_what_was_sent_and_not_answered_goes_again_only_if_it_may() {
    // HC-09, second run: the connection of an earlier answer breaks under the next request.
    let answer = |count: usize, _: &super::peer::Asked| match count {
        0 | 2 => Does::Says(reply("200 OK", "", "x")),
        _ => Does::Closes,
    };
    let peer = Peer::new(answer);
    let client = client();
    send(&client, &peer.url("/"), "first").expect("x");
    let error = send(&client, &peer.url("/"), "call").expect_err("it broke");
    assert!(!error.is_unsent(), "{error:?}");
    assert!(error.to_string().contains("unknown"), "{error}");
    assert_eq!(peer.asked().len(), 2);

    let peer = Peer::new(answer);
    let client = self::client();
    send(&client, &peer.url("/"), "first").expect("x");
    let again = block_on(client.send(post(&peer.url("/"), "list"), true)).expect("again");
    assert_eq!(block_on(text(again)), "x");
    assert_eq!(peer.asked().len(), 3);
}

#[test]
fn nobody_there_is_an_error_that_says_so() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.local_addr().expect("an address").port()
    };
    let error = send(&client(), &format!("http://localhost:{port}/mcp"), "{}").expect_err("none");
    assert!(matches!(error, Error::Connect { .. }), "{error:?}");
    assert!(error.is_unsent() && error.to_string().contains(&format!("localhost:{port}")));
    for url in ["ftp://h/", "http://u:p@h/", "/mcp"] {
        let error = send(&client(), url, "{}").expect_err("no URL to send to");
        assert!(matches!(error, Error::Url { .. }), "{error:?}");
        assert!(!error.to_string().contains("u:p"), "{error}");
    }
}

#[test]
fn hc_03_a_redirect_within_the_origin_keeps_everything() {
    // HC-03.
    let peer = Peer::new(|_, asked| {
        Does::Says(if asked.line.contains("/docs") {
            reply("200 OK", "", "there")
        } else {
            reply(
                "308 Permanent Redirect",
                "Location: /mcp/docs/42\r\n",
                "moved",
            )
        })
    });
    let client = client();
    for _ in 0..2 {
        assert_eq!(
            send(&client, &peer.url("/mcp"), "{}").expect("there").1,
            "there"
        );
    }
    let asked = peer.asked();
    // Each call starts at the URL it was given.
    let lines: Vec<_> = asked.iter().map(|asked| &*asked.line).collect();
    let (first, then) = ("POST /mcp HTTP/1.1", "POST /mcp/docs/42 HTTP/1.1");
    assert_eq!(lines, [first, then, first, then]);
    assert_eq!(asked[1].body, "{}");
    assert_eq!(asked[1].field("authorization"), Some("Bearer t"));

    let circle = Peer::new(|_, _| Does::Says(reply("307 Temporary", "Location: /a\r\n", "")));
    let error = send(&client, &circle.url("/a"), "{}").expect_err("a circle");
    assert!(matches!(error, Error::Redirect { .. }), "{error:?}");
    assert_eq!(circle.asked().len(), 6);
}

#[test]
fn hc_04_other_redirects_are_not_followed() {
    // HC-04; and nothing of ours goes to another origin.
    let elsewhere = Peer::new(|_, _| Does::Says(reply("200 OK", "", "stolen")));
    let target = elsewhere.url("/mcp");
    let shown = target.clone();
    let peer = Peer::new(move |count, _| {
        let (status, location) = match count {
            0 => ("301 Moved", "/mcp/".to_owned()),
            1 => ("303 See Other", "/mcp/".to_owned()),
            _ => ("307 Temporary", target.clone()),
        };
        Does::Says(reply(status, &format!("Location: {location}\r\n"), ""))
    });
    for expected in ["/mcp/", "/mcp/", &*shown] {
        let error = send(&client(), &peer.url("/mcp"), "{}").expect_err("not followed");
        assert!(error.to_string().contains(expected), "{error}");
    }
    assert_eq!(peer.asked().len(), 3);
    assert!(elsewhere.asked().is_empty());
}

#[test]
fn hc_06_a_body_comes_as_it_is_sent_and_a_broken_one_is_an_error() {
    // HC-06, second run.
    let peer = Peer::new(|_, _| {
        let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
        Does::SaysAndCloses(format!("{head}3\r\none\r\n").into_bytes())
    });
    block_on(async {
        let mut response = client()
            .send(post(&peer.url("/"), "{}"), false)
            .await
            .expect("a head");
        let first = response.body.chunk().await.expect("a chunk");
        assert_eq!(first.expect("bytes"), "one");
        let error = response.body.chunk().await.expect("an error");
        assert!(matches!(error, Err(Error::Broken(_))), "{error:?}");
        assert!(response.body.chunk().await.is_none());
    });
}

#[test]
fn waiting_has_the_bounds_it_was_given() {
    let peer = Peer::new(|_, _| {
        sleep(Duration::from_secs(20));
        Does::Closes
    });
    let client = Client::builder()
        .proxy(Proxy::None)
        .head_timeout(Some(Duration::from_millis(50)))
        .max_connections(1)
        .build()
        .expect("a client");
    let error = send(&client, &peer.url("/"), "{}").expect_err("too late");
    assert!(matches!(error, Error::TimedOut { .. }) && !error.is_unsent());
    // The one connection there may be is free again.
    let error = send(&client, &peer.url("/"), "{}").expect_err("too late again");
    assert!(matches!(error, Error::TimedOut { .. }), "{error:?}");
}

#[test]
fn what_is_sent_aside_does_not_wait_for_connections_that_are_held() {
    // The first waits for what the second says.
    let (say, said) = std::sync::mpsc::channel();
    let (say, said) = (std::sync::Mutex::new(say), std::sync::Mutex::new(said));
    let peer = Peer::new(move |_, asked| {
        if asked.body == "wait" {
            let said = said.lock().expect("no panic");
            let heard = said.recv_timeout(Duration::from_secs(10));
            return Does::Says(reply("200 OK", "", heard.unwrap_or("nothing came")));
        }
        say.lock()
            .expect("no panic")
            .send("it came")
            .expect("heard");
        Does::Says(reply("202 Accepted", "", ""))
    });
    let client = Client::builder()
        .proxy(Proxy::None)
        .max_connections(1)
        .build()
        .expect("a client");
    let aside = client.aside(1);
    let url = peer.url("/");
    let waiting = {
        let url = url.clone();
        std::thread::spawn(move || send(&client, &url, "wait"))
    };
    while peer.asked().is_empty() {
        sleep(Duration::from_millis(5));
    }
    assert_eq!(send(&aside, &url, "say").expect("accepted").0, 202);
    let answer = waiting.join().expect("no panic").expect("an answer");
    assert_eq!(answer.1, "it came");
}

#[test]
fn an_empty_field_is_sent() {
    // ENC-06.
    let peer = Peer::new(|_, _| Does::Says(reply("200 OK", "", "")));
    let request = Request::post(peer.url("/"))
        .header("mcp-param-region", "")
        .body(Bytes::from_static(b"{}"))
        .expect("a request");
    block_on(client().send(request, false)).expect("an answer");
    assert_eq!(peer.asked()[0].field("mcp-param-region"), Some(""));
}

#[cfg(unix)]
#[test]
fn a_socket_of_the_machine_does_as_well() {
    use std::os::unix::net::UnixListener;
    use std::sync::Mutex;

    let path = std::env::temp_dir().join(format!("mcp-io-http-{}.sock", std::process::id()));
    let _ = std::fs::remove_file(&path);
    let listener = UnixListener::bind(&path).expect("a socket");
    std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("a connection");
        let reading = stream.try_clone().expect("a clone");
        let seen = Mutex::default();
        super::peer::serve(0, reading, stream, &seen, &|_, asked| {
            Does::Says(reply("200 OK", "", asked.field("host").unwrap_or_default()))
        });
    });
    let client = Client::builder().socket(&path).build().expect("a client");
    let answer = send(&client, "http://localhost/mcp", "{}").expect("an answer");
    assert_eq!(answer.1, "localhost");
    let _ = std::fs::remove_file(&path);
}
