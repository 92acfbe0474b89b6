use std::cell::RefCell;
use std::future::ready;

use futures_lite::future::block_on;
use mcp_core::model::{ElicitAction, ElicitResult};

use super::*;
use crate::client::error::Timeout;
use crate::client::handlers::{Declined, elicitation};

fn json(text: &str) -> Json<'static> {
    Json::owned(text.to_owned()).expect("it is JSON")
}

fn required(text: &str) -> Reply {
    Ok(Outcome::InputRequired(json(text)))
}

/// The responses and the state that a call was made with.
type Asked = (Option<String>, Option<String>);

/// Runs the rounds of a server that answers so; returns what it was called with as well.
fn run(
    handlers: &Handlers,
    limit: usize,
    answers: impl IntoIterator<Item = Reply>,
) -> (Result<Done, CallError>, Vec<Asked>) {
    run_within(Duration::MAX, handlers, limit, answers)
}

/// The same for a call that may take so long altogether.
fn run_within(
    total: Duration,
    handlers: &Handlers,
    limit: usize,
    answers: impl IntoIterator<Item = Reply>,
) -> (Result<Done, CallError>, Vec<Asked>) {
    let rounds = Rounds {
        method: "tools/call".into(),
        ceiling: Ceiling::new(total),
        handlers,
        server: None,
        version: ProtocolVersion::LATEST_MODERN,
        limit,
        knows_tasks: false,
    };
    let mut answers = answers.into_iter();
    let asked = RefCell::new(Vec::new());
    let done = block_on(rounds.run(|input| {
        let text = |json: Option<Json<'static>>| json.map(|json| json.as_str().to_owned());
        asked
            .borrow_mut()
            .push((text(input.responses), text(input.state)));
        ready(answers.next().expect("it is not called once more"))
    }));
    (done, asked.into_inner())
}

fn accepting() -> Handlers {
    let mut handlers = Handlers::default();
    handlers.set_form(elicitation(|_| async {
        let mut result = ElicitResult::new(ElicitAction::Accept);
        result.content = Some(json("{\"name\":\"é\"}"));
        result
    }));
    handlers
}

const ASK: &str = r#"{"method":"elicitation/create","params":{"message":"?","requestedSchema":{"type":"object","properties":{}}}}"#;

#[test]
fn rt_01_the_state_goes_back_as_it_came_or_not_at_all() {
    let state = r#"" {\"b\":1 , \"a\":\"\u00e9\u0000\"}== ""#;
    let answers = [
        required(&format!(
            r#"{{"inputRequests":{{"k":{ASK}}},"requestState":{state}}}"#
        )),
        required(&format!(
            r#"{{"inputRequests":{{"l":{ASK}}},"requestState":""}}"#
        )),
        required(&format!(r#"{{"inputRequests":{{"\u006d":{ASK}}}}}"#)),
        Ok(Outcome::Complete(json("{}"))),
    ];
    let (done, asked) = run(&accepting(), 10, answers);
    assert_eq!(done.expect("it ends").rounds, 3);
    let answer = |key: &str| {
        Some(format!(
            r#"{{"{key}":{{"action":"accept","content":{{"name":"é"}}}}}}"#
        ))
    };
    let expected = [
        (None, None),
        (answer("k"), Some(state.to_owned())),
        (answer("l"), Some("\"\"".to_owned())),
        (answer("m"), None),
    ];
    assert_eq!(asked, expected);
}

#[test]
fn rt_02_a_server_that_never_has_enough_is_given_up() {
    let endless =
        core::iter::repeat_with(|| required(&format!(r#"{{"inputRequests":{{"k":{ASK}}}}}"#)));
    let (done, asked) = run(&accepting(), 3, endless);
    let error = done.expect_err("it does not end");
    assert!(
        matches!(error, CallError::TooManyRounds { limit: 3 }),
        "{error}"
    );
    assert_eq!(asked.len(), 4);
}

#[test]
fn rt_02_a_server_that_wants_time_gets_it_and_another_call() {
    let answers = [
        required(r#"{"requestState":"later"}"#),
        required(r#"{"inputRequests":{},"requestState":"later still"}"#),
        Ok(Outcome::Complete(json("{}"))),
    ];
    let before = std::time::Instant::now();
    let (done, asked) = run(&Handlers::default(), 10, answers);
    assert!(done.is_ok());
    assert!(before.elapsed() >= 3 * PAUSE, "100 ms, then 200 ms");
    assert_eq!(asked[2], (None, Some("\"later still\"".to_owned())));
}

#[test]
fn rt_02_what_is_declined_ends_the_call() {
    let mut handlers = accepting();
    handlers.set_sampling(|_| async { Err(Declined::by_user("not today")) });
    let sample = r#"{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}"#;
    for (asked, expected) in [
        (sample, "not today"),
        (r#"{"method":"roots/list"}"#, "no handler"),
        (r#"{"method":"x/y","params":{}}"#, "no handler"),
    ] {
        let required = required(&format!(r#"{{"inputRequests":{{"a":{ASK},"b":{asked}}}}}"#));
        let (done, calls) = run(&handlers, 10, [required]);
        let error = done.expect_err("it is declined");
        let CallError::Declined { reason, .. } = &error else {
            panic!("{error}");
        };
        assert!(reason.contains(expected), "{reason}");
        assert_eq!(calls.len(), 1);
    }
}

#[test]
fn a_handler_that_panics_declines() {
    let mut handlers = Handlers::default();
    handlers.set_form(elicitation(|_| async { panic!("on purpose") }));
    let required = required(&format!(r#"{{"inputRequests":{{"k":{ASK}}}}}"#));
    let (done, _) = run(&handlers, 10, [required]);
    assert!(matches!(done, Err(CallError::Declined { .. })));
}

#[test]
fn what_is_no_input_required_result_is_said_so() {
    for text in [
        "{}",
        r#"{"inputRequests":null,"requestState":null}"#,
        r#"{"inputRequests":[]}"#,
        r#"{"requestState":1}"#,
        "[]",
    ] {
        let (done, _) = run(&accepting(), 10, [required(text)]);
        let error = done.expect_err(text);
        assert!(matches!(error, CallError::Answer { .. }), "{text}: {error}");
    }
}

#[test]
fn rt_02_the_whole_call_has_one_limit_of_time_whatever_it_waits_for() {
    const TOTAL: Duration = Duration::from_millis(150);
    let is_over = |error: &CallError| {
        assert!(
            matches!(error, CallError::Timeout(Timeout::Total(TOTAL))),
            "{error}"
        );
    };
    let later = || required(r#"{"requestState":"later"}"#);
    let started = std::time::Instant::now();
    let (done, asked) = run_within(TOTAL, &accepting(), 10, core::iter::repeat_with(later));
    is_over(&done.expect_err("it takes too long"));
    assert_eq!(asked.len(), 2, "100 ms, then 50 of 200 ms");

    let mut handlers = Handlers::default();
    handlers.set_form(elicitation(|_| core::future::pending()));
    let asks = required(&format!(r#"{{"inputRequests":{{"k":{ASK}}}}}"#));
    let (done, _) = run_within(TOTAL, &handlers, 10, [asks]);
    is_over(&done.expect_err("the user has gone to lunch"));
    assert!(started.elapsed() < 20 * TOTAL);
}
