//! A document taken apart with the tokenizer: some values whole, some entered.

use std::fmt::Write as _;

use mcp_core::json::{Error, ErrorKind, Kind, Tokenizer};

use crate::choice::Choice;

/// Reads the document, and returns it put together again from the pieces, or the fault.
pub(super) fn document(tokens: &mut Tokenizer<'_>, choice: &mut Choice) -> Result<String, Error> {
    let mut text = String::new();
    value(tokens, choice, &mut text)?;
    assert_misplaced(tokens.clone().value());
    tokens.end()?;
    tokens.end().expect("it has ended well");
    Ok(text)
}

fn value(tokens: &mut Tokenizer<'_>, choice: &mut Choice, text: &mut String) -> Result<(), Error> {
    let before = tokens.offset();
    let entered = choice.flip();
    let kind = if entered { Some(tokens.peek()?) } else { None };
    match kind {
        Some(Kind::Object) => object(tokens, choice, text)?,
        Some(Kind::Array) => array(tokens, choice, text)?,
        Some(Kind::Null | Kind::Bool | Kind::Number | Kind::String) | None => {
            let raw = tokens.value()?;
            assert!(kind.is_none_or(|kind| kind == raw.kind()));
            text.push_str(raw.as_str());
        }
    }
    assert!(tokens.offset() > before, "nothing was read");
    Ok(())
}

fn object(tokens: &mut Tokenizer<'_>, choice: &mut Choice, text: &mut String) -> Result<(), Error> {
    let wrong = tokens.begin_array().expect_err("it is an object");
    assert_eq!(wrong.kind, ErrorKind::ExpectedArray);
    tokens.begin_object()?;
    assert_misplaced(tokens.clone().next_element());
    text.push('{');
    let mut comma = "";
    while let Some(name) = tokens.next_member()? {
        write!(text, "{comma}\"{}\":", name.raw()).expect("a String takes all");
        comma = ",";
        assert_misplaced(tokens.clone().next_member());
        value(tokens, choice, text)?;
        assert_misplaced(tokens.clone().value());
    }
    text.push('}');
    Ok(())
}

fn array(tokens: &mut Tokenizer<'_>, choice: &mut Choice, text: &mut String) -> Result<(), Error> {
    let wrong = tokens.begin_object().expect_err("it is an array");
    assert_eq!(wrong.kind, ErrorKind::ExpectedObject);
    tokens.begin_array()?;
    assert_misplaced(tokens.clone().next_member());
    text.push('[');
    let mut comma = "";
    while tokens.next_element()? {
        text.push_str(comma);
        comma = ",";
        assert_misplaced(tokens.clone().next_element());
        value(tokens, choice, text)?;
        assert_misplaced(tokens.clone().value());
    }
    text.push(']');
    Ok(())
}

fn assert_misplaced<T>(result: Result<T, Error>) {
    let error = result.err().expect("this call does not fit here");
    assert_eq!(error.kind, ErrorKind::Misplaced);
}
