//! The user comes back to this machine.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use std::thread;

use mcp_std::auth::Auth;

use crate::site::{field, get};
use crate::world::{World, call};

#[test]
fn the_user_comes_back_and_nobody_else_does() {
    let world = World::new();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    let auth = Auth::code().on_page(move |page| {
        let (page, log) = (page.to_owned(), log.clone());
        thread::spawn(move || {
            let back = field(&get(&page, None), "location").expect("a way back");
            let authority = back["http://".len()..]
                .split('/')
                .next()
                .expect("an authority");
            // Browsers open connections that they do not use.
            let idle = TcpStream::connect(authority).expect("somebody is there");
            let mut broken = TcpStream::connect(authority).expect("somebody is there");
            broken.write_all(b"\x16\x03\x01\r\n\r\n").expect("written");
            let state = back.split("state=").nth(1).expect("a state");
            let state = state.split('&').next().expect("a state");
            let strangers = [
                get(&back.replace(state, "guessed"), None),
                get(&back.replace("/callback", "/favicon.ico"), None),
                get(&back.replace("/callback?", "/callback?state=x&"), None),
                // DNS rebinding.
                get(&back, Some("evil.example")),
            ];
            let mine = get(&back, None);
            drop(idle);
            log.lock().expect("no panic").extend(strangers);
            log.lock().expect("no panic").push(mine);
        });
    });
    let client = world.connect(auth).expect("a connection");
    assert_eq!(call(&client, "read").expect("an answer"), "read");
    while seen.lock().expect("no panic").len() < 5 {
        thread::yield_now();
    }
    let seen = seen.lock().expect("no panic");
    for stranger in &seen[..4] {
        assert!(stranger.starts_with("HTTP/1.1 404 "), "{stranger}");
    }
    assert!(seen[4].starts_with("HTTP/1.1 200 "), "{}", seen[4]);
    assert!(seen[4].contains("You can close this page"));
    for (name, value) in [
        ("cache-control", "no-store"),
        ("referrer-policy", "no-referrer"),
    ] {
        assert_eq!(field(&seen[4], name).as_deref(), Some(value));
    }
    // Nothing of the query is on the page.
    assert!(!seen[4].contains("code-"));
    let registered = world.issuer.asked("/register")[0].json();
    let uri = registered["redirect_uris"][0]
        .as_str()
        .expect("a URI")
        .to_owned();
    assert!(
        uri.starts_with("http://127.0.0.1:") && uri.ends_with("/callback"),
        "{uri}"
    );
}

#[test]
fn a_user_who_says_no_is_told_so() {
    let world = World::new();
    let auth = Auth::code().on_page(|page| {
        let page = page.to_owned();
        thread::spawn(move || {
            let back = field(&get(&page, None), "location").expect("a way back");
            let told = get(&back.replace("code=", "error=access_denied&x="), None);
            assert!(told.contains("did not succeed"), "{told}");
        });
    });
    let told = world.connect(auth).expect_err("no token").to_string();
    assert!(told.contains("access_denied"), "{told}");
    assert_eq!(world.visits(), 1);
}
