//! A document written again, into sinks with room and without.

use mcp_core::json::{DEFAULT_DEPTH, Full, Kind, RawJson, Sink, Writer};

use super::agreement::agree;
use crate::choice::Choice;
use crate::reference;

/// What the sink holds before the document.
const BEFORE: &[u8] = b"before";

/// Takes a limited number of bytes.
struct Bounded {
    bytes: Vec<u8>,
    room: usize,
}

impl Sink for Bounded {
    fn append(&mut self, bytes: &[u8]) -> Result<(), Full> {
        if bytes.len() > self.room - self.bytes.len() {
            return Err(Full);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(())
    }

    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn truncate(&mut self, len: usize) {
        self.bytes.truncate(len);
    }
}

/// Writes the document as it is and piece by piece, and reads it back.
///
/// # Panics
///
/// If that is another document, is more than one line, or a sink without room is not as it was before.
pub(super) fn check(ours: RawJson<'_>, choice: &mut Choice) {
    let mut copied = Vec::new();
    let mut json = Writer::new(&mut copied);
    json.raw(ours);
    assert_eq!(json.finish(), Ok(copied.len()));
    assert_one_line(&copied);
    let copy = reference::document(&copied, DEFAULT_DEPTH).expect("a valid copy");
    agree(RawJson::parse(&copied).expect("a valid copy"), copy);
    assert_same(RawJson::parse(&copied).expect("a valid copy"), ours);

    let seed = choice.below(usize::MAX) as u64;
    let mut written = BEFORE.to_vec();
    let mut json = Writer::new(&mut written);
    emit(ours, &mut json, &mut Choice::of(&seed.to_le_bytes()));
    let length = written.len() - BEFORE.len();
    let text = written.strip_prefix(BEFORE).expect("not touched");
    assert_one_line(text);
    assert!(reference::document(text, DEFAULT_DEPTH).is_some());
    assert_same(RawJson::parse(text).expect("serde_json reads it"), ours);

    let room = choice.below(length + 2);
    let mut bounded = Bounded {
        bytes: BEFORE.to_vec(),
        room: BEFORE.len() + room,
    };
    let mut json = Writer::new(&mut bounded);
    emit(ours, &mut json, &mut Choice::of(&seed.to_le_bytes()));
    if room >= length {
        assert_eq!(json.finish(), Ok(length));
        assert_eq!(bounded.bytes, written);
    } else {
        assert_eq!(json.finish(), Err(Full));
        assert_eq!(bounded.bytes, BEFORE);
    }
}

fn assert_one_line(text: &[u8]) {
    assert!(!text.contains(&b'\n') && !text.contains(&b'\r'));
}

/// Writes a value with the method made for each of its parts, where there are several with any of them.
fn emit<S: Sink>(value: RawJson<'_>, json: &mut Writer<'_, S>, choice: &mut Choice) {
    if choice.below(8) == 0 {
        let mark = json.mark();
        json.string("taken back, which also takes back that there was no room for it");
        json.rollback(mark);
    }
    match value.kind() {
        Kind::Null => json.null(),
        Kind::Bool => json.boolean(value.as_bool().expect("its kind")),
        Kind::String => {
            let text = value.as_string().expect("its kind").decode();
            if choice.flip() {
                json.string(&text);
            } else {
                json.display(&text);
            }
        }
        Kind::Number => {
            let number = value.as_number().expect("its kind");
            let (signed, unsigned, double) = (number.as_i64(), number.as_u64(), number.as_f64());
            match (choice.below(3), signed, unsigned, double) {
                (0, Some(signed), ..) => json.integer(signed),
                (1, _, Some(unsigned), _) => json.unsigned(unsigned),
                (2, None, None, Some(double)) => json.float(double),
                _ => json.raw(value),
            }
        }
        Kind::Array => {
            json.begin_array();
            for element in value.as_array().expect("its kind") {
                emit(element, json, choice);
            }
            json.end_array();
        }
        Kind::Object => {
            json.begin_object();
            for (name, value) in value.as_object().expect("its kind") {
                json.key(&name.decode());
                emit(value, json, choice);
            }
            json.end_object();
        }
    }
}

/// Compares what two values mean, not how they are written.
pub(super) fn assert_same(one: RawJson<'_>, other: RawJson<'_>) {
    assert_eq!(one.kind(), other.kind());
    match one.kind() {
        Kind::Null => {}
        Kind::Bool => assert_eq!(one.as_bool(), other.as_bool()),
        Kind::String => assert_eq!(one.as_string(), other.as_string()),
        Kind::Number => {
            let (one, other) = (one.as_number(), other.as_number());
            let (one, other) = (one.expect("its kind"), other.expect("its kind"));
            // As a double, 1 and a little more may have become 1, which is an integer.
            assert!(
                one.as_i64().is_none() || other.as_i64().is_none_or(|it| Some(it) == one.as_i64())
            );
            assert!(
                one.as_u64().is_none() || other.as_u64().is_none_or(|it| Some(it) == one.as_u64())
            );
            assert_eq!(one.as_f64(), other.as_f64());
        }
        Kind::Array => {
            let one: Vec<_> = one.as_array().expect("its kind").collect();
            let other: Vec<_> = other.as_array().expect("its kind").collect();
            assert_eq!(one.len(), other.len());
            for (one, other) in one.into_iter().zip(other) {
                assert_same(one, other);
            }
        }
        Kind::Object => {
            let one: Vec<_> = one.as_object().expect("its kind").collect();
            let other: Vec<_> = other.as_object().expect("its kind").collect();
            assert_eq!(one.len(), other.len());
            for ((name, one), (other_name, other)) in one.into_iter().zip(other) {
                assert_eq!(name, other_name);
                assert_same(one, other);
            }
        }
    }
}
