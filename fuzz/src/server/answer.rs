//! What the server writes, read by `serde_json`.

use serde_json::value::RawValue;

use crate::reference;

/// One line of the output.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Line {
    One(Answer),
    /// The answers to a batch: an array of at least one.
    Batch(Vec<Answer>),
}

impl Line {
    /// Reads a line without its end.
    ///
    /// # Panics
    ///
    /// If it is not exactly one valid message.
    pub(super) fn read(line: &[u8]) -> Self {
        let text: &RawValue = serde_json::from_slice(line).expect("a line is one JSON text");
        assert_eq!(text.get().as_bytes(), line, "blanks around the message");
        if !text.get().starts_with('[') {
            return Self::One(Answer::read(text));
        }
        let answers: Vec<Answer> = reference::elements(text)
            .into_iter()
            .map(Answer::read)
            .collect();
        assert!(!answers.is_empty(), "an array of nothing");
        Self::Batch(answers)
    }
}

/// One message of the output.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Answer {
    /// A result; the id and the result as they are written.
    Result { id: String, result: String },
    /// An error, whose id is missing where the request's could not be read.
    Error { id: Option<String>, code: i64 },
    /// A progress notification; the token as it is written.
    Progress { token: String },
    /// A subscription begins; the id of its request as it is written.
    Acknowledged { id: String },
}

impl Answer {
    /// Reads a message.
    ///
    /// # Panics
    ///
    /// If it is not a valid one.
    fn read(message: &RawValue) -> Self {
        let mut jsonrpc = None;
        let (mut id, mut result, mut error, mut method, mut params) =
            (None, None, None, None, None);
        for (name, value) in reference::members(message) {
            let slot = match name.get() {
                r#""jsonrpc""# => &mut jsonrpc,
                r#""id""# => &mut id,
                r#""result""# => &mut result,
                r#""error""# => &mut error,
                r#""method""# => &mut method,
                r#""params""# => &mut params,
                other => panic!("an unknown member: {other}"),
            };
            let before = slot.replace(value.get().to_owned());
            assert!(before.is_none(), "a member twice");
        }
        assert_eq!(jsonrpc.as_deref(), Some(r#""2.0""#));
        match (id, result, error, method, params) {
            (Some(id), Some(result), None, None, None) => {
                assert!(result.starts_with('{'), "a result is an object");
                Self::Result { id, result }
            }
            (id, None, Some(error), None, None) => {
                let code = member(&error, "code").expect("an error has a code");
                let message = member(&error, "message").expect("an error has a message");
                assert!(message.starts_with('"') && message.len() > 2);
                Self::Error {
                    id,
                    code: code.parse().expect("a code is an integer"),
                }
            }
            (None, None, None, Some(method), Some(params)) => {
                if method == r#""notifications/subscriptions/acknowledged""# {
                    let meta = member(&params, "_meta").expect("it names the subscription");
                    let id = member(&meta, "io.modelcontextprotocol/subscriptionId");
                    let id = id.expect("it names the subscription");
                    return Self::Acknowledged { id };
                }
                assert_eq!(method, r#""notifications/progress""#);
                member(&params, "progress").expect("progress says how much");
                let token = member(&params, "progressToken").expect("progress has a token");
                Self::Progress { token }
            }
            other => panic!("neither an answer nor a notification: {other:?}"),
        }
    }
}

/// A member of an object as it is written; `None` also if it is null.
pub(super) fn member(object: &str, name: &str) -> Option<String> {
    let object: &RawValue = serde_json::from_str(object).expect("an object");
    reference::members(object)
        .into_iter()
        .rfind(|(other, _)| reference::text(other) == name)
        .map(|(_, value)| value.get().to_owned())
        .filter(|value| value != "null")
}
