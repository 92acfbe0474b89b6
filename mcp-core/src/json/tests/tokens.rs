//! Reading piece by piece.

use alloc::vec;

use super::super::*;
use super::{VALID, string};

/// Reads a document by entering every container, and ends as [`RawJson::parse`] does.
pub(super) fn walk(bytes: &[u8]) -> Result<(), Error> {
    let mut tokens = Tokenizer::new(bytes);
    let mut open = vec![];
    loop {
        match tokens.peek()? {
            Kind::Object => {
                tokens.begin_object()?;
                open.push(Kind::Object);
            }
            Kind::Array => {
                tokens.begin_array()?;
                open.push(Kind::Array);
            }
            Kind::Null | Kind::Bool | Kind::Number | Kind::String => {
                tokens.value()?;
            }
        }
        loop {
            let more = match open.last() {
                Some(Kind::Object) => tokens.next_member()?.is_some(),
                Some(_) => tokens.next_element()?,
                None => return tokens.end(),
            };
            if more {
                break;
            }
            open.pop();
        }
    }
}

#[test]
fn entering_containers_finds_what_taking_them_whole_finds() {
    for text in VALID {
        assert_eq!(walk(text.as_bytes()), Ok(()), "{text}");
        for end in 0..text.len() {
            let prefix = &text.as_bytes()[..end];
            assert_eq!(
                walk(prefix),
                RawJson::parse(prefix).map(drop),
                "{text} up to {end}"
            );
        }
    }
    assert_eq!(
        walk(&[b'['; 1000]),
        Err(Error::new(ErrorKind::TooDeep, DEFAULT_DEPTH))
    );
}

#[test]
fn a_tokenizer_gives_names_values_and_offsets() {
    let text = br#" {"a":1 , "b\u0063" :[2,{"x":3}], "d":"e" } "#;
    let mut tokens = Tokenizer::new(text);
    tokens.begin_object().expect("an object");
    assert_eq!(tokens.offset(), 2);
    assert_eq!(
        tokens.next_member().expect("valid").expect("a member"),
        string("\"a\"")
    );
    assert_eq!(tokens.offset(), 6);
    assert_eq!(tokens.value().expect("valid").as_str(), "1");
    let name = tokens.next_member().expect("valid").expect("a member");
    assert!(name == "bc" && name.has_escapes());
    assert_eq!(
        tokens.begin_object().map_err(|error| error.kind),
        Err(ErrorKind::ExpectedObject)
    );
    tokens.begin_array().expect("still there to be read");
    assert_eq!(tokens.next_element(), Ok(true));
    assert_eq!(tokens.value().expect("valid").as_str(), "2");
    assert_eq!(tokens.next_element(), Ok(true));
    assert_eq!(
        tokens.begin_array().map_err(|error| error.kind),
        Err(ErrorKind::ExpectedArray)
    );
    assert_eq!(tokens.peek(), Ok(Kind::Object));
    assert_eq!(tokens.value().expect("valid").as_str(), r#"{"x":3}"#);
    assert_eq!(tokens.next_element(), Ok(false));
    assert!(tokens.next_member().expect("valid").expect("a member") == "d");
    assert_eq!(tokens.value().expect("valid").as_str(), "\"e\"");
    assert!(tokens.next_member().expect("valid").is_none());
    tokens.end().expect("only whitespace");
    tokens.end().expect("asking again changes nothing");
    assert_eq!(tokens.offset(), text.len());
}

#[test]
fn calls_out_of_place_are_refused() {
    type Call = fn(&mut Tokenizer<'_>) -> Result<(), Error>;
    let member: Call = |tokens| tokens.next_member().map(drop);
    let element: Call = |tokens| tokens.next_element().map(drop);
    let value: Call = |tokens| tokens.value().map(drop);
    let object: Call = |tokens| tokens.begin_object();
    let array: Call = |tokens| tokens.begin_array();
    let end: Call = |tokens| tokens.end();
    let peek: Call = |tokens| tokens.peek().map(drop);
    let cases: &[(&str, &[Call])] = &[
        ("{}", &[member]),
        ("[]", &[element]),
        ("1", &[value, value]),
        ("1", &[value, peek]),
        ("[1]", &[array, value]),
        ("[1]", &[array, member]),
        ("[1]", &[array, element, element]),
        ("[1,2]", &[array, element, value, value]),
        ("[]", &[array, element, element]),
        ("{\"a\":1}", &[object, element]),
        ("{\"a\":1}", &[object, value]),
        ("{\"a\":1}", &[object, member, member]),
        (
            "{\"a\":[1]}",
            &[object, member, array, element, value, element, element],
        ),
        ("{\"a\":1}", &[object, end]),
        ("1", &[end]),
    ];
    for (text, calls) in cases {
        let mut tokens = Tokenizer::new(text.as_bytes());
        let (last, before) = calls.split_last().expect("a call");
        for call in before {
            call(&mut tokens).expect(text);
        }
        assert_eq!(
            last(&mut tokens).map_err(|error| error.kind),
            Err(ErrorKind::Misplaced),
            "{text}"
        );
        for call in [member, element, value, object, array, end, peek] {
            assert_eq!(
                call(&mut tokens).map_err(|error| error.kind),
                Err(ErrorKind::Misplaced),
                "{text}, after that"
            );
        }
    }
    let mut tokens = Tokenizer::new(b"[");
    tokens.begin_array().expect("an array");
    assert_eq!(tokens.end(), Err(Error::new(ErrorKind::UnexpectedEnd, 1)));
}
