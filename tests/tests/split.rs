//! A message cut in two is two texts that are no messages, and neither does any harm.
//!
//! Finding whole messages in a stream is the framing's part; this is what the engine makes of a part of one.

use mcp_core::engine::server::{Incoming, ServerEngine};
use mcp_core::rpc::Envelope;
use mcp_core::{Limits, PeerFault};
use mcp_tests::{Dialogue, dialogues};

/// The messages of all dialogues that are whole.
fn messages(dialogues: &[Dialogue]) -> impl Iterator<Item = (&Dialogue, &str)> {
    let all = dialogues
        .iter()
        .flat_map(|dialogue| dialogue.messages().map(move |message| (dialogue, message)));
    all.filter(|(_, message)| Envelope::parse(message.as_bytes(), &Limits::DEFAULT).is_ok())
}

/// Offers a part of a message, and sees it refused.
fn refused(engine: &mut ServerEngine, part: &[u8]) {
    let mut out = Vec::new();
    let incoming = engine.receive(part, &mut out);
    assert!(
        matches!(
            incoming,
            Incoming::Rejected(PeerFault::Json(_) | PeerFault::TooLong { .. })
        ),
        "{}: {incoming:?}",
        String::from_utf8_lossy(part)
    );
    assert!(!out.is_empty(), "it is answered, without an id");
    assert!(engine.session_version().is_none() && engine.in_flight() == 0);
}

#[test]
fn two_halves_are_refused_and_change_nothing() {
    let dialogues = dialogues();
    let mut seen = 0;
    for (dialogue, message) in messages(&dialogues) {
        let mut engine = dialogue.engine().expect("the settings are known");
        for cut in 1..message.len() {
            let (head, tail) = message.as_bytes().split_at(cut);
            // Space around it takes nothing from the message.
            if head.trim_ascii().is_empty() || tail.trim_ascii().is_empty() {
                continue;
            }
            refused(&mut engine, head);
            refused(&mut engine, tail);
        }
        let mut fresh = dialogue.engine().expect("the settings are known");
        let (mut out, mut expected) = (Vec::new(), Vec::new());
        let after = engine.receive(message.as_bytes(), &mut out);
        let before = fresh.receive(message.as_bytes(), &mut expected);
        assert_eq!(out, expected, "{message}");
        assert_eq!(format!("{after:?}"), format!("{before:?}"), "{message}");
        seen += 1;
    }
    assert!(seen > 100, "the vectors are there");
}

#[test]
fn two_messages_at_once_are_none() {
    let dialogues = dialogues();
    for (dialogue, message) in messages(&dialogues) {
        let mut engine = dialogue.engine().expect("the settings are known");
        for between in ["", " ", "\r", "\n", ",", "\0"] {
            refused(
                &mut engine,
                format!("{message}{between}{message}").as_bytes(),
            );
        }
        // FR-01: taking away a byte order mark is the framing's part too.
        refused(&mut engine, format!("\u{feff}{message}").as_bytes());
    }
}
