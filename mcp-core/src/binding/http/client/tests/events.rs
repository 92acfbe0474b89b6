//! Streams in pieces.

use super::*;

#[test]
fn se_01_se_06_a_stream_means_the_same_however_it_is_cut() {
    // SE-01, SE-06.
    let text = |call: &HttpRequest| {
        let log = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"é世"}}"#;
        format!(
            "\u{feff}: hi\r\nid: 1\r\ndata:\r\n\r\nevent: ping\ndata: x\n\nevent: message\ndata: {log}\n\nretry: 5\n\ndata: {}\ndata: }}\n\n",
            call.result("{}").strip_suffix('}').expect("an object")
        )
    };
    let mut stage = Stage::modern();
    stage.call("tools/call", r#"{"name":"t"}"#);
    let length = text(&stage.fresh[0]).len();
    for cut in 0..=length {
        let call = stage.next();
        let text = text(&call).into_bytes();
        stage.head(&call, 200, &[EVENTS]);
        for piece in [&text[..cut.min(text.len())], &text[cut.min(text.len())..]] {
            stage.http.data(stage.now, call.key, piece);
            stage.turn();
        }
        stage.tells(&["Message", "result {}"]);
        stage.end(&call);
        stage.call("tools/call", r#"{"name":"t"}"#);
    }
    assert!(stage.faults.is_empty());
}

#[test]
fn a_last_event_without_its_end_counts() {
    let mut stage = Stage::modern();
    stage.call("tools/call", r#"{"name":"t"}"#);
    let call = stage.next();
    stage.answer(
        &call,
        200,
        &[EVENTS],
        &format!("data: {}", call.result("{}")),
    );
    stage.tells(&["result {}"]);
    // But not where the connection broke.
    stage.call("tools/call", r#"{"name":"t"}"#);
    let call = stage.next();
    stage.head(&call, 200, &[EVENTS]);
    stage.data(&call, &format!("data: {}", call.result("{}")));
    stage.breaks(&call, false);
    stage.tells(&["unanswered"]);
}
