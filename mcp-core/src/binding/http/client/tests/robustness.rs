//! What is in a body, and is not the answer that it was to be: no call hangs for it, and none gets what is another's.

use super::*;

const COMPLETE: &str = r#"{"resultType":"complete"}"#;

/// With our id, and no answer: what another program left there, and requests of the server's, whose ids are its own.
fn noise(id: u64) -> Vec<String> {
    [
        r#"{"id":N,"result":{}}"#,
        r#"{"jsonrpc":"1.0","id":N,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":N,"method":"ping","params":[]}"#,
        r#"{"jsonrpc":"2.0","id":N,"method":7}"#,
        r#"{"jsonrpc":"2.0","id":N,"id":N,"result":{}}"#,
        r#"{"status":200,"message":"Success","results":[]}"#,
        "42",
        "null",
        r#""hello""#,
        "{",
    ]
    .iter()
    .map(|text| text.replace('N', &id.to_string()))
    .collect()
}

fn stages() -> [Stage; 2] {
    [Stage::modern(), Stage::legacy()]
}

#[test]
fn fr_04_noise_on_a_stream_does_not_take_the_place_of_the_answer() {
    for mut stage in stages() {
        for at in 0..noise(0).len() {
            stage.call("tools/call", r#"{"name":"t"}"#);
            let call = stage.next();
            stage.head(&call, 200, &[EVENTS]);
            stage.data(&call, &event(&noise(call.id())[at]));
            let answered = |told: &String| told.starts_with("result") || told == "unanswered";
            assert!(!stage.told.iter().any(answered), "{:?}", stage.told);
            stage.told.clear();
            stage.fresh.clear();
            stage.data(&call, &event(&call.result(COMPLETE)));
            stage.tells(&[r#"result {"resultType":"complete"}"#]);
            stage.end(&call);
        }
    }
}

#[test]
fn hc_06_a_body_that_is_no_answer_ends_its_call_at_once() {
    for mut stage in stages() {
        stage.call("tools/list", "{}");
        let waiting = stage.next();
        for events in [false, true] {
            for at in 0..noise(0).len() {
                stage.call("tools/call", r#"{"name":"t"}"#);
                let call = stage.next();
                let noise = &noise(call.id())[at];
                match events {
                    false => stage.json(&call, 200, noise),
                    true => stage.answer(&call, 200, &[EVENTS], &event(noise)),
                }
                assert_eq!(stage.told.pop().as_deref(), Some("unanswered"), "{noise}");
                stage.told.clear();
                stage.fresh.clear();
                assert!(matches!(
                    stage.faults.pop(),
                    Some(HttpFault::Truncated { .. })
                ));
            }
        }
        stage.json(&waiting, 200, &waiting.result(COMPLETE));
        stage.tells(&[r#"result {"resultType":"complete"}"#]);
    }
}

#[test]
fn id_08_an_answer_that_is_none_fails_its_call_at_once() {
    for mut stage in stages() {
        for outcome in [
            r#""result":{},"error":{"code":1,"message":"both"}"#,
            r#""result":null,"error":null"#,
            r#""error":7"#,
            r#""other":1"#,
        ] {
            for quotes in ["", "\""] {
                stage.call("tools/call", r#"{"name":"t"}"#);
                let call = stage.next();
                let id = call.id();
                let body = format!(r#"{{"jsonrpc":"2.0","id":{quotes}{id}{quotes},{outcome}}}"#);
                stage.json(&call, 200, &body);
                let told = core::mem::take(&mut stage.told);
                assert!(
                    matches!(&*told, [told] if told.starts_with("Invalid")),
                    "{body}: {told:?}"
                );
            }
        }
        assert!(stage.faults.is_empty());
    }
}

#[test]
fn id_02_only_the_number_as_we_write_it_is_our_id() {
    for mut stage in stages() {
        for (before, after) in [("0", ""), ("+", ""), (" ", ""), ("", " "), ("", ".0")] {
            stage.call("tools/call", r#"{"name":"t"}"#);
            let call = stage.next();
            let id = call.id();
            let body =
                format!(r#"{{"jsonrpc":"2.0","id":"{before}{id}{after}","result":{COMPLETE}}}"#);
            stage.json(&call, 200, &body);
            // It is no answer to anything that was asked: the call is told at once.
            assert_eq!(stage.told.pop().as_deref(), Some("unanswered"), "{body}");
            stage.told.clear();
            stage.faults.clear();
        }
        stage.call("tools/call", r#"{"name":"t"}"#);
        let call = stage.next();
        let body = format!(
            r#"{{"jsonrpc":"2.0","id":"{}","result":{COMPLETE}}}"#,
            call.id()
        );
        stage.json(&call, 200, &body);
        stage.tells(&[r#"result {"resultType":"complete"}"#]);
    }
}

#[test]
fn sn_03_a_refusal_is_of_the_request_that_it_answers() {
    for mut stage in stages() {
        for status in [400, 404, 409, 422, 500, 503] {
            stage.call("tools/list", "{}");
            let waiting = stage.next();
            let other = waiting.id();
            // Of none, of one that is over, of another that is pending, and of nothing that was ever asked.
            for id in [
                "null",
                "0",
                "\"0\"",
                &other.to_string(),
                "99999",
                "\"server-error\"",
                "-1",
            ] {
                if status == 404 && stage.http.leave().is_some() {
                    continue;
                }
                stage.call("tools/call", r#"{"name":"t"}"#);
                let call = stage.next();
                let body = format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32000,"message":"Bad Request"}}}}"#
                );
                stage.json(&call, status, &body);
                stage.tells(&["error -32000"]);
            }
            // Nobody else was told.
            stage.json(&waiting, 200, &waiting.result(COMPLETE));
            stage.tells(&[r#"result {"resultType":"complete"}"#]);
        }
        assert!(stage.faults.is_empty());
    }
}

#[test]
fn dx_03_a_coding_that_nobody_offered_is_refused() {
    for mut stage in stages() {
        for coding in ["gzip", "br", "GZIP", "deflate, gzip", "x"] {
            let coded = ("Content-Encoding", coding);
            for status in [200, 400, 500] {
                for form in [JSON, EVENTS] {
                    stage.call("tools/call", r#"{"name":"t"}"#);
                    let call = stage.next();
                    stage.answer(&call, status, &[form, coded], "\u{1f}\u{8b}\u{8}\0");
                    stage.tells(&["unanswered"]);
                    match stage.faults.pop().expect("a fault") {
                        HttpFault::ContentCoding { found } => assert_eq!(found, coding),
                        HttpFault::Status {
                            status: told, body, ..
                        } => {
                            assert_eq!((told, &*body), (status, ""));
                        }
                        other => panic!("{other}"),
                    }
                }
            }
        }
        stage.call("tools/call", r#"{"name":"t"}"#);
        let call = stage.next();
        let fields = [JSON, ("Content-Encoding", "identity")];
        stage.answer(&call, 200, &fields, &call.result(COMPLETE));
        stage.tells(&[r#"result {"resultType":"complete"}"#]);
    }
    let mut stage = Stage::begun();
    let get = stage.next();
    stage.head(&get, 200, &[EVENTS, ("Content-Encoding", "gzip")]);
    stage.tells(&["unheard"]);
    assert_eq!(
        stage.faults.pop().expect("a fault").to_string(),
        "the answer has the content coding `gzip`, which was not offered"
    );
    // Calls go on.
    stage.call("tools/call", r#"{"name":"t"}"#);
    let call = stage.next();
    stage.json(&call, 200, &call.result(COMPLETE));
    stage.tells(&[r#"result {"resultType":"complete"}"#]);
}
