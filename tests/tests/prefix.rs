//! The beginning of a message is never a message, and always known to be only a beginning.

use mcp_core::json::{RawJson, Tokenizer};
use mcp_core::model::Params;
use mcp_core::rpc::Envelope;
use mcp_core::{Limits, PeerFault};
use mcp_tests::dialogues;

/// Every proper prefix that begins the value: after the leading space, and before the trailing one.
fn prefixes(text: &str) -> impl Iterator<Item = &[u8]> {
    let end = text.trim_end().len();
    (0..end).map(|cut| &text.as_bytes()[..cut])
}

#[test]
fn a_prefix_of_a_message_is_incomplete() {
    let mut seen = 0;
    for dialogue in &dialogues() {
        for message in dialogue.messages() {
            if Envelope::parse(message.as_bytes(), &Limits::DEFAULT).is_err() {
                continue;
            }
            for prefix in prefixes(message) {
                let found = Envelope::parse(prefix, &Limits::DEFAULT).expect_err("a prefix");
                let PeerFault::Json(error) = found.fault else {
                    panic!("{message} at {}: {:?}", prefix.len(), found.fault);
                };
                assert!(error.is_incomplete(), "{message}: {error}");
                assert_eq!(error.offset, prefix.len(), "{message}: it ends there");
                assert!(found.id.is_none(), "what was read so far proves nothing");
                assert!(found.answer_due);
            }
            seen += 1;
        }
    }
    assert!(seen > 100, "the vectors are there");
}

/// Params read on the way are those read afterwards, and reading them changes nothing of what is found wrong.
#[test]
fn params_are_the_same_on_the_way() {
    for dialogue in &dialogues() {
        for message in dialogue.messages() {
            for end in 0..=message.len() {
                let bytes = &message.as_bytes()[..end];
                let mut params = Params::default();
                let with = Envelope::parse_with(bytes, &Limits::DEFAULT, &mut params);
                let without = Envelope::parse(bytes, &Limits::DEFAULT);
                assert_eq!(format!("{with:?}"), format!("{without:?}"));
                let found = match with {
                    Ok(Envelope::Request(request)) => request.params,
                    Ok(Envelope::Notification(notification)) => notification.params,
                    Ok(_) | Err(_) => continue,
                };
                let after = found.map(Params::read).unwrap_or_default();
                assert_eq!(format!("{params:?}"), format!("{after:?}"), "{message}");
            }
        }
    }
}

/// Documents of every kind but numbers, of which each digit may be the last one.
const DOCUMENTS: [&str; 8] = [
    r#""""#,
    r#""plain, \"\\\/\b\f\n\r\t, \u0041\ud83e\udd80\ud800, é—🦀, and long enough for a vector or two""#,
    "true",
    "false",
    "null",
    "[-0, 1.5e+10, [[], {}], \"é\" ,true\t,\r\nnull ]",
    r#"{"":{"a":[{"b":-1E-2}],"\u0063":""},"🦀":false}"#,
    r#"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[{"a":[0]}]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]"#,
];

#[test]
fn a_prefix_of_a_document_is_incomplete() {
    for text in DOCUMENTS {
        assert!(RawJson::parse(text.as_bytes()).is_ok(), "{text}");
        for prefix in prefixes(text) {
            let error = RawJson::parse(prefix).expect_err("a prefix");
            assert!(error.is_incomplete(), "{text} at {}: {error}", prefix.len());
            assert_eq!(error.offset, prefix.len());
        }
    }
}

/// Walks into everything, as far as the text goes.
fn walk(tokens: &mut Tokenizer<'_>) -> Result<(), mcp_core::json::Error> {
    use mcp_core::json::Kind;
    match tokens.peek()? {
        Kind::Object => {
            tokens.begin_object()?;
            while tokens.next_member()?.is_some() {
                walk(tokens)?;
            }
        }
        Kind::Array => {
            tokens.begin_array()?;
            while tokens.next_element()? {
                walk(tokens)?;
            }
        }
        Kind::Null | Kind::Bool | Kind::Number | Kind::String => {
            tokens.value()?;
        }
    }
    Ok(())
}

/// Entering each container finds what taking the document whole does.
#[test]
fn a_prefix_is_incomplete_however_it_is_read() {
    for text in DOCUMENTS {
        for prefix in prefixes(text).chain([text.as_bytes()]) {
            let mut tokens = Tokenizer::new(prefix);
            let walked = walk(&mut tokens).and_then(|()| tokens.end());
            assert_eq!(walked, RawJson::parse(prefix).map(drop), "{text}");
        }
    }
}
