//! The tokenizer, the values it gives and the writer, against `serde_json`.

mod agreement;
mod drive;
mod emission;

use mcp_core::json::{DEFAULT_DEPTH, Error, ErrorKind, MAX_DEPTH, RawJson, Tokenizer};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::choice::Choice;
use crate::reference;
use agreement::agree;

/// Reads a document, compares all of it with what `serde_json` reads, takes it apart in another order, and writes it
/// again. The input is the document.
///
/// # Panics
///
/// On a finding: the two accept different texts or read them differently, a fault moves with the way it is found, or
/// what is written is not what was read.
pub fn tokenizer(data: &[u8]) {
    let mut choice = Choice::of(data);
    for depth in [DEFAULT_DEPTH, choice.below(6), MAX_DEPTH] {
        let ours = RawJson::parse_with_depth(data, depth);
        let theirs = reference::document(data, depth);
        match (ours, theirs) {
            (Ok(ours), Some(theirs)) => agree(ours, theirs),
            (Err(error), None) => check_fault(data, error),
            (ours, theirs) => panic!("depth {depth}: {ours:?}, but serde_json {theirs:?}"),
        }
        let mut tokens = Tokenizer::with_depth(data, depth);
        let driven = drive::document(&mut tokens, &mut choice);
        match (driven, ours) {
            (Ok(text), Ok(ours)) => {
                let again = RawJson::parse_with_depth(text.as_bytes(), depth);
                emission::assert_same(again.expect("pieces of a valid document"), ours);
            }
            (Err(error), _) => {
                assert_eq!(Some(error), ours.err(), "one fault, one place");
                check_stopped(&mut tokens);
            }
            (Ok(text), Err(_)) => panic!("depth {depth}: read as {text}"),
        }
    }
    let Ok(ours) = RawJson::parse(data) else {
        let value: Result<Value, serde_json::Error> = serde_json::from_slice(data);
        assert!(value.is_err(), "serde_json reads {value:?}");
        return;
    };
    let theirs = reference::document(data, DEFAULT_DEPTH).expect("compared above");
    check_value(data, theirs);
    check_prefixes(data, &mut choice);
    emission::check(ours, &mut choice);
}

/// Both readers of `serde_json` accept the document, but for what `Value` cannot hold.
fn check_value(data: &[u8], theirs: &RawValue) {
    let value: Result<Value, serde_json::Error> = serde_json::from_slice(data);
    assert_eq!(value.is_err(), reference::beyond_value(theirs), "{value:?}");
}

/// A fault lies in the input, and "unexpected end" is said only where `serde_json` too runs out of input.
fn check_fault(data: &[u8], error: Error) {
    assert!(error.offset <= data.len(), "{error:?}");
    assert_ne!(error.kind, ErrorKind::Misplaced, "the harness is in order");
    if error.is_incomplete() {
        assert_eq!(error.offset, data.len());
        let read: Result<&RawValue, serde_json::Error> = serde_json::from_slice(data);
        // A number without its digits is a bad number there, whether or not more can come.
        let number = matches!(data.last(), Some(b'-' | b'+' | b'.' | b'e' | b'E'));
        assert!(number || read.is_err_and(|error| error.is_eof()));
    }
}

/// An error is final.
fn check_stopped(tokens: &mut Tokenizer<'_>) {
    let misplaced = |error: Error| error.kind == ErrorKind::Misplaced;
    assert!(tokens.peek().is_err_and(misplaced));
    assert!(tokens.value().is_err_and(misplaced));
    assert!(tokens.begin_object().is_err_and(misplaced));
    assert!(tokens.begin_array().is_err_and(misplaced));
    assert!(tokens.next_member().is_err_and(misplaced));
    assert!(tokens.next_element().is_err_and(misplaced));
    assert!(tokens.end().is_err_and(misplaced));
}

/// The beginning of a valid document is a document or wants more: never wrong. All of them if they are few.
fn check_prefixes(data: &[u8], choice: &mut Choice) {
    let cuts: Vec<usize> = if data.len() <= 64 {
        (0..data.len()).collect()
    } else {
        (0..8).map(|_| choice.below(data.len())).collect()
    };
    for cut in cuts {
        if let Err(error) = RawJson::parse(&data[..cut]) {
            assert!(error.is_incomplete(), "{error:?} after {cut} bytes");
            assert_eq!(error.offset, cut);
        }
    }
}
