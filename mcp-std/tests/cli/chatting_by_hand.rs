//! `mcp host chat` at a terminal: approvals, Ctrl-C, and the end of input.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::chatting::{Config, calls, says};
use crate::provider::{Canned, Provider};
use crate::terminal::Session;

fn echo(text: &str) -> Canned {
    calls(&[("small__echo", json!({"text": text}))])
}

#[test]
fn tools_are_asked_about_once_or_for_good() {
    let config = Config::new("asking");
    let provider = Provider::new(vec![
        echo("one"),
        says("First."),
        echo("two"),
        echo("three"),
        says("Second."),
    ]);
    let mut session = Session::start(config.chat(&["--base-url", &provider.url]));
    session.until("> ");
    session.types("go\n");
    session.until("echo of small is to be called with {\"text\":\"one\"}");
    session.until("[a]lways: ");
    session.types("n\n");
    session.until("<- small__echo failed");
    session.until("> ");
    session.types("go on\n");
    session.until("{\"text\":\"two\"}");
    session.until("[a]lways: ");
    session.types("a\n");
    session.until("<- small__echo done");
    // It is not asked about again.
    let shown = session.until("<- small__echo done");
    assert!(!shown.contains("[a]lways"), "{shown}");
    session.until("> ");
    session.types("\u{4}");
    let (code, said) = session.end();
    let all = "Let me see.\nFirst.\nLet me see.\nLet me see.\nSecond.\n";
    assert_eq!((code, &*said), (Some(0), all));
    let asked = provider.asked();
    let denied = asked[1].body["messages"].to_string();
    assert!(denied.contains("the user said no"), "{denied}");
    let last = asked[4].body["messages"].to_string();
    assert!(
        last.contains("go on") && last.contains("First."),
        "one conversation: {last}"
    );
}

#[test]
fn ctrl_c_ends_a_turn_and_what_was_being_asked() {
    let config = Config::new("stopping");
    let provider = Provider::new(vec![Canned::Silence, echo("never"), says("Still here.")]);
    let mut session = Session::start(config.chat(&["--base-url", &provider.url]));
    let program = Pid::from_child(&session.child);
    session.until("> ");
    session.types("first\n");
    while provider.asked().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    kill_process(program, Signal::INT).expect("it runs");
    session.until("Stopped.");
    session.until("> ");
    session.types("second\n");
    session.until("[a]lways: ");
    kill_process(program, Signal::INT).expect("it runs");
    session.until("Stopped.");
    session.until("> ");
    // A prompt, and not the answer to what was asked before.
    session.types("yes\n");
    session.until("> ");
    session.types("\u{4}");
    let (code, said) = session.end();
    assert_eq!((code, &*said), (Some(0), "Let me see.\nStill here.\n"));
    let asked = provider.asked();
    assert!(
        !asked[1].body["messages"].to_string().contains("first"),
        "nothing had been answered"
    );
    let last = asked[2].body["messages"].to_string();
    assert!(
        last.contains("\"yes\"") && last.contains("cancelled"),
        "{last}"
    );
}
