//! Questions of servers, asked in a terminal, and declined where there is none.

use crate::program::{EVERYTHING, command, run};
use crate::terminal::Session;

const ERAS: [&str; 2] = ["legacy", "modern"];

/// A call at a terminal.
fn start(arguments: &[&str]) -> Session {
    Session::start(command(arguments, EVERYTHING))
}

#[test]
fn a_form_is_filled_in_checked_and_shown_before_it_is_sent() {
    for era in ERAS {
        let mut session = start(&["call", "test_elicitation", "message=Who?", "--era", era]);
        let who = session.until("Who?");
        assert!(
            who.contains("mcp serve (") && who.contains(" --everything) asks:"),
            "{who}"
        );
        session.until("Answer? [Y/n] ");
        session.types("\n");
        session.until("What to call you");
        session.until("> ");
        session.types("\n");
        session.until("it is required");
        session.until("> ");
        session.types("ann \"x\"\n");
        session.until("Where to write to you");
        session.until("> ");
        session.types("ann@example.com\n");
        session.until(r#"To be sent: {"username":"ann \"x\"","email":"ann@example.com"}"#);
        session.until("[e]dit: ");
        session.types("y\n");
        let content = r#"{"username":"ann \"x\"","email":"ann@example.com"}"#;
        let said = format!("User response: action=accept, content={content}\n");
        assert_eq!(session.end(), (Some(0), said), "{era}");
    }
}

#[test]
fn a_form_of_many_kinds_with_defaults_and_choices() {
    let mut session = start(&["call", "test_elicitation_sep1034_defaults"]);
    session.until("Answer? [Y/n] ");
    session.types("y\n");
    for (shown, typed) in [
        ("name: text", ""),
        ("[\"John Doe\"] > ", "\n"),
        ("age: a whole number", ""),
        ("[30] > ", "x\n"),
        ("it is not a whole number", ""),
        ("[30] > ", "31\n"),
        ("[95.5] > ", "\n"),
        ("  1  active", ""),
        ("  3  pending", ""),
        ("[\"active\"] > ", "3\n"),
        ("verified: yes or no", ""),
        ("[true] > ", "no\n"),
        ("[e]dit: ", "y\n"),
    ] {
        session.until(shown);
        session.types(typed);
    }
    let content =
        r#"{"name":"John Doe","age":31,"score":95.5,"status":"pending","verified":false}"#;
    let said = format!("Elicitation completed: action=accept, content={content}\n");
    assert_eq!(session.end(), (Some(0), said));
}

#[test]
fn saying_no_and_saying_nothing() {
    for era in ERAS {
        let again = || start(&["call", "test_elicitation", "message=m", "--era", era]);
        let mut session = again();
        session.until("Answer? [Y/n] ");
        session.types("n\n");
        let said = "User response: action=decline\n".to_owned();
        assert_eq!(session.end(), (Some(0), said));
        // Ctrl-D in the middle.
        let mut session = again();
        session.until("Answer? [Y/n] ");
        session.types("y\n");
        session.until("> ");
        session.types("\u{4}");
        let said = "User response: action=cancel\n".to_owned();
        assert_eq!(session.end(), (Some(0), said));
    }
}

#[test]
fn a_page_is_shown_whole_and_consent_is_not_the_default() {
    for (typed, action) in [("\n", "decline"), ("y\n", "accept")] {
        let mut session = start(&["call", "test_elicitation_url", "--revision", "2025-11-25"]);
        session.until("  https://example.com/authorize?state=1\r\n  host: example.com\r\n");
        session.until("Nothing is opened from here");
        session.until("[y/N] ");
        session.types(typed);
        let said = format!("URL response: action={action}\n");
        assert_eq!(session.end(), (Some(0), said));
    }
}

#[test]
fn questions_come_one_after_the_other() {
    let mut session = start(&["call", "test_two_rounds"]);
    for (shown, typed) in [
        ("Who are you?", ""),
        ("Answer? [Y/n] ", "\n"),
        ("> ", "Ann\n"),
        ("[e]dit: ", "\n"),
        ("Which colour, Ann?", ""),
        ("Answer? [Y/n] ", "\n"),
        ("> ", "read\n"),
        ("[e]dit: ", "e\n"),
        ("> ", "red\n"),
        ("[e]dit: ", "\n"),
    ] {
        session.until(shown);
        session.types(typed);
    }
    assert_eq!(session.end(), (Some(0), "Ann likes red\n".to_owned()));
}

#[test]
fn progress_is_a_bar_that_goes_away() {
    let mut session = start(&["call", "slow", "steps=2", "delay_ms=50"]);
    session.until("\r\u{1b}[2K[############------------] 1 of 2");
    session.until("\r\u{1b}[2K[########################] 2 of 2");
    session.until("\r\u{1b}[2K");
    assert_eq!(session.end(), (Some(0), "done after 2 steps\n".to_owned()));
}

#[test]
fn without_a_terminal_the_answer_is_no_and_that_is_said() {
    for era in ERAS {
        let ran = run(
            &["call", "test_elicitation", "message=m", "--era", era],
            EVERYTHING,
        );
        assert_eq!(
            (ran.code, &*ran.stdout),
            (Some(0), "User response: action=decline\n")
        );
        assert!(
            ran.stderr.contains("no terminal to ask it in: declined"),
            "{}",
            ran.stderr
        );
    }
}
