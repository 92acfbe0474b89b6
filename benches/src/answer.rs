//! The check that every answer passes: the right id, the right text, nothing else.

use core::fmt;

use memchr::memmem;
use serde::Deserialize;

use crate::request::{Era, ID_DIGITS, digits, parse_digits, text};

/// What one line from the server turned out to be.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Line {
    /// A correct answer to the call with this id. Whether that call is outstanding is for the caller to know.
    Answer(u64),
    /// A notification: allowed, counted, not looked at.
    Notification,
}

/// Why a line is not a correct answer, with the line's first bytes.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Wrong {
    why: String,
    line: String,
}

impl Wrong {
    pub(crate) fn new(why: impl Into<String>, line: &[u8]) -> Self {
        Self {
            why: why.into(),
            line: excerpt(line),
        }
    }
}

impl fmt::Display for Wrong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.why, self.line)
    }
}

impl core::error::Error for Wrong {}

/// At most 300 bytes of a line, for a message to a person.
pub(crate) fn excerpt(line: &[u8]) -> String {
    const MOST: usize = 300;
    let shown = String::from_utf8_lossy(&line[..line.len().min(MOST)]);
    if line.len() > MOST {
        format!("{shown}... ({} bytes)", line.len())
    } else {
        shown.into_owned()
    }
}

/// Checks answers, most of them without parsing.
///
/// A server writes all its answers to one tool alike. The first is parsed and checked in full; wherever the id's ten digits occur
/// in it is a hole. Every later line must equal that line, byte by byte, with its own id in all the holes. A line that
/// does not is parsed in its turn and becomes the new pattern, so a server that varies its output is measured correctly,
/// only with more work on this side ([`Checker::parsed`] counts it).
#[derive(Debug)]
pub struct Checker {
    era: Era,
    text_len: usize,
    pattern: Vec<u8>,
    holes: Vec<usize>,
    parsed: u64,
}

impl Checker {
    /// A checker for answers to [`Template`](crate::request::Template) requests of the same era and text length.
    #[must_use]
    pub const fn new(era: Era, text_len: usize) -> Self {
        Self {
            era,
            text_len,
            pattern: Vec::new(),
            holes: Vec::new(),
            parsed: 0,
        }
    }

    /// How many lines had to be parsed because they did not follow the pattern.
    #[must_use]
    pub const fn parsed(&self) -> u64 {
        self.parsed
    }

    /// Checks one line, without its newline.
    ///
    /// # Errors
    ///
    /// The line is neither a correct answer nor a notification.
    pub fn check(&mut self, line: &[u8]) -> Result<Line, Wrong> {
        if let Some(id) = self.follow(line) {
            return Ok(Line::Answer(id));
        }
        self.parse(line)
    }

    /// The id of a line that equals the pattern in everything but the id.
    fn follow(&mut self, line: &[u8]) -> Option<u64> {
        if line.len() != self.pattern.len() {
            return None;
        }
        let first = *self.holes.first()?;
        let id: [u8; ID_DIGITS] = line.get(first..first + ID_DIGITS)?.try_into().ok()?;
        for &hole in &self.holes {
            self.pattern[hole..hole + ID_DIGITS].copy_from_slice(&id);
        }
        if self.pattern == line {
            parse_digits(id)
        } else {
            None
        }
    }

    fn parse(&mut self, line: &[u8]) -> Result<Line, Wrong> {
        self.parsed += 1;
        let message: Message = serde_json::from_slice(line)
            .map_err(|error| Wrong::new(format!("not a JSON-RPC message ({error})"), line))?;
        if message.jsonrpc != "2.0" {
            return Err(Wrong::new("jsonrpc is not \"2.0\"", line));
        }
        if message.method.is_some() {
            if message.id.is_none() {
                return Ok(Line::Notification);
            }
            return Err(Wrong::new(
                "a request from the server, which this program does not answer",
                line,
            ));
        }
        if message.error.is_some() {
            return Err(Wrong::new("an error answer", line));
        }
        let Some(id) = message.id.as_ref().and_then(serde_json::Value::as_u64) else {
            return Err(Wrong::new("an answer without the id of a call", line));
        };
        let Some(result) = message.result else {
            return Err(Wrong::new("an answer without a result", line));
        };
        if result.is_error == Some(true) {
            return Err(Wrong::new("the tool failed", line));
        }
        if self.era == Era::Modern && result.result_type.as_deref() != Some("complete") {
            return Err(Wrong::new("a modern result that is not complete", line));
        }
        match result.content.as_slice() {
            [only] if only.kind == "text" && only.text == text(id, self.text_len) => {}
            _ => return Err(Wrong::new("the text is not the one sent", line)),
        }
        self.learn(id, line);
        Ok(Line::Answer(id))
    }

    fn learn(&mut self, id: u64, line: &[u8]) {
        self.pattern.clear();
        self.pattern.extend_from_slice(line);
        self.holes = memmem::find_iter(line, &digits(id)).collect();
    }
}

#[derive(Deserialize)]
struct Message {
    jsonrpc: String,
    id: Option<serde_json::Value>,
    method: Option<String>,
    result: Option<CallResult>,
    error: Option<serde_json::Value>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult {
    content: Vec<Content>,
    is_error: Option<bool>,
    result_type: Option<String>,
}

#[derive(Deserialize)]
struct Content {
    #[serde(rename = "type")]
    kind: String,
    text: String,
}

/// Checks the answer to [`initialize`](crate::request::initialize): id 1 and the revision asked for.
///
/// # Errors
///
/// The line is anything else than that, a notification included.
pub fn check_initialize(line: &[u8]) -> Result<(), Wrong> {
    let answer: serde_json::Value = serde_json::from_slice(line)
        .map_err(|error| Wrong::new(format!("not JSON ({error})"), line))?;
    if answer["id"] != 1
        || answer["result"]["protocolVersion"] != crate::request::LEGACY_VERSION
        || !answer["result"]["capabilities"].is_object()
    {
        return Err(Wrong::new(
            "not an answer to initialize in this revision",
            line,
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::FIRST_ID;

    const LEN: usize = 16;

    fn answer(id: u64, text: &str) -> Vec<u8> {
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"resultType\":\"complete\",\
             \"content\":[{{\"type\":\"text\",\"text\":\"{text}\"}}]}}}}"
        )
        .into_bytes()
    }

    fn correct(id: u64) -> Vec<u8> {
        answer(id, &text(id, LEN))
    }

    fn taught() -> Checker {
        let mut checker = Checker::new(Era::Modern, LEN);
        let line = checker.check(&correct(FIRST_ID)).expect("correct");
        assert_eq!(line, Line::Answer(FIRST_ID));
        checker
    }

    #[test]
    fn later_answers_are_not_parsed() {
        let mut checker = taught();
        for id in FIRST_ID + 1..FIRST_ID + 100 {
            assert_eq!(checker.check(&correct(id)), Ok(Line::Answer(id)));
        }
        assert_eq!(checker.parsed(), 1);
    }

    #[test]
    fn another_layout_is_parsed_and_learnt() {
        let mut checker = taught();
        for id in [FIRST_ID + 1, FIRST_ID + 2] {
            let line = format!(
                "{{\"result\": {{\"content\": [{{\"text\":\"{}\",\"type\":\"text\"}}],\
                 \"resultType\":\"complete\",\"isError\":false}}, \"id\":{id}, \"jsonrpc\":\"2.0\"}}",
                text(id, LEN)
            );
            assert_eq!(checker.check(line.as_bytes()), Ok(Line::Answer(id)));
        }
        assert_eq!(checker.parsed(), 2);
    }

    #[test]
    fn a_text_of_another_call_is_wrong() {
        let swapped = answer(FIRST_ID + 1, &text(FIRST_ID + 2, LEN));
        assert!(taught().check(&swapped).is_err());
        assert!(Checker::new(Era::Modern, LEN).check(&swapped).is_err());
    }

    #[test]
    fn every_single_changed_byte_is_noticed() {
        let good = correct(FIRST_ID + 1);
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            // A change of the id's digits makes another call's id with the wrong text.
            assert!(
                taught().check(&bad).is_err(),
                "{}",
                String::from_utf8_lossy(&bad)
            );
        }
    }

    #[test]
    fn a_cut_or_longer_line_is_wrong() {
        let good = correct(FIRST_ID + 1);
        assert!(taught().check(&good[..good.len() - 1]).is_err());
        let twice = [good.as_slice(), good.as_slice()].concat();
        assert!(taught().check(&twice).is_err());
        assert!(taught().check(b"").is_err());
    }

    #[test]
    fn errors_and_requests_are_wrong_and_notifications_are_not() {
        let id = FIRST_ID;
        for bad in [
            format!(
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":1,\"message\":\"\"}}}}"
            ),
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}"),
            format!("{{\"jsonrpc\":\"2.0\",\"id\":{id}}}"),
        ] {
            assert!(taught().check(bad.as_bytes()).is_err(), "{bad}");
        }
        let notification = b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}";
        assert_eq!(taught().check(notification), Ok(Line::Notification));
    }

    #[test]
    fn a_string_id_is_not_the_number() {
        let line = String::from_utf8(correct(FIRST_ID)).expect("UTF-8");
        let line = line.replace("1073741824,", "\"1073741824\",");
        assert!(taught().check(line.as_bytes()).is_err());
    }

    #[test]
    fn only_the_modern_era_wants_a_result_type() {
        let line = String::from_utf8(correct(FIRST_ID)).expect("UTF-8");
        let line = line.replace("\"resultType\":\"complete\",", "");
        assert!(
            Checker::new(Era::Modern, LEN)
                .check(line.as_bytes())
                .is_err()
        );
        assert!(
            Checker::new(Era::Legacy, LEN)
                .check(line.as_bytes())
                .is_ok()
        );
    }

    #[test]
    fn initialize_must_settle_the_revision() {
        let good = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}"#;
        assert_eq!(check_initialize(good.as_bytes()), Ok(()));
        let older = good.replace("2025-11-25", "2025-06-18");
        assert!(check_initialize(older.as_bytes()).is_err());
        assert!(check_initialize(b"{").is_err());
    }
}
