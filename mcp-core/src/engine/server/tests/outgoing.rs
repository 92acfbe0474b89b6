//! Requests of the server's own, where a dialogue cannot show them.

use super::*;
use crate::model::InputRequest;
use crate::rpc::Outcome;

/// A session of a revision with batches, ready, whose client has roots.
fn session() -> ServerEngine {
    let mut engine = engine();
    for message in [
        r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    ] {
        assert!(!engine.is_ready());
        let incoming = engine.receive(message.as_bytes(), &mut Vec::new());
        assert!(matches!(incoming, Incoming::Handled));
    }
    assert!(engine.is_ready());
    engine
}

/// BAT-01: an array of responses, or of all sorts of things, is taken as well.
#[test]
fn answers_come_in_a_batch() {
    let mut engine = session();
    let mut out = Vec::new();
    let one = engine.ping(&mut out).expect("room");
    let other = engine
        .request(None, &InputRequest::ListRoots, &mut out)
        .expect("declared");
    assert_eq!(engine.pending(), 2);
    let batch = br#"[{"jsonrpc":"2.0","id":1,"result":{"roots":[]}},{"jsonrpc":"2.0","id":5,"result":{}},{"jsonrpc":"2.0","id":0,"error":{"code":7,"message":"m"}},{"jsonrpc":"2.0","id":0,"result":{}}]"#;
    let mut out = Vec::new();
    let Incoming::Batch(mut batch) = engine.receive(batch, &mut out) else {
        panic!("a batch of 2025-03-26");
    };
    let mut answers = Vec::new();
    while let Some(incoming) = engine.next_in_batch(&mut batch, &mut out) {
        answers.push(match incoming {
            Incoming::Answer(Answer { key, outcome }) => {
                Some((key, matches!(outcome, Outcome::Result(_))))
            }
            Incoming::Rejected(PeerFault::UnexpectedResponse) => None,
            other @ (Incoming::Handled | _) => panic!("{other:?}"),
        });
    }
    assert_eq!(
        answers,
        [Some((other, true)), None, Some((one, false)), None]
    );
    assert!(out.is_empty(), "nothing is answered to answers");
    assert_eq!(engine.pending(), 0);
}

/// Whoever asked is told, instead of waiting for an answer that has come already.
#[test]
fn an_answer_that_is_none_ends_its_request() {
    for answer in [
        r#""error":{"code":"x"}"#,
        r#""error":{}"#,
        r#""error":5"#,
        r#""result":{},"error":{"code":1,"message":"m"}"#,
        r#""result":null"#,
    ] {
        let mut engine = session();
        let asked = engine
            .request(None, &InputRequest::ListRoots, &mut Vec::new())
            .expect("declared");
        let answer = format!(r#"{{"jsonrpc":"2.0","id":0,{answer}}}"#);
        let mut out = Vec::new();
        let incoming = engine.receive(answer.as_bytes(), &mut out);
        let Incoming::Answer(Answer { key, outcome }) = incoming else {
            panic!("{answer}: {incoming:?}");
        };
        assert_eq!(key, asked);
        assert!(matches!(outcome, Outcome::Error { .. }), "{answer}");
        assert!(out.is_empty(), "nothing is answered to answers");
        assert_eq!(engine.pending(), 0);
    }
}

#[test]
fn a_request_that_did_not_fit_was_not_made() {
    let (mut free, mut bounded) = (session(), session());
    let expected = whole(|out| {
        free.request(None, &InputRequest::ListRoots, out)
            .expect("room");
    });
    let key = at_every_room(&expected, Err(RequestError::Full), |out| {
        bounded.request(None, &InputRequest::ListRoots, out)
    });
    let key = key.expect("room");
    assert_eq!(bounded.pending(), 1);
    let expected = whole(|out| {
        let key = free.requests.first_from(0).expect("pending");
        free.cancel_request(key, Some("why"), out).expect("room");
    });
    let sent = at_every_room(&expected, Err(SendError::Full(())), |out| {
        bounded.cancel_request(key, Some("why"), out)
    });
    assert_eq!((sent, bounded.pending()), (Ok(()), 0));
}
