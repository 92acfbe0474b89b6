//! What a seal holds against.

use super::*;

const NOW: Duration = Duration::from_secs(1_800_000_000);

fn at(seconds: u64) -> SystemTime {
    UNIX_EPOCH + NOW + Duration::from_secs(seconds)
}

fn sealer(key: u8) -> Sealer {
    Sealer::new([key; 32], Duration::from_secs(600))
}

fn binding(arguments: &str) -> Binding<'_> {
    Binding {
        principal: Some("alice"),
        method: "tools/call",
        name: "book",
        arguments: Some(RawJson::parse(arguments.as_bytes()).expect("JSON")),
    }
}

const ARGUMENTS: &str = r#"{"to":"Oslo","seats":2}"#;

fn state() -> State {
    State {
        round: 2,
        own: Some("mine".into()),
        asked: vec![
            Asked {
                kind: 0,
                digest: [7; 16],
                answer: Some(r#"{"action":"accept"}"#.into()),
            },
            Asked {
                kind: 2,
                digest: [9; 16],
                answer: None,
            },
        ],
    }
}

#[test]
fn what_was_sealed_opens() {
    for state in [State::default(), state()] {
        let sealed = sealer(1).seal(binding(ARGUMENTS), &state, at(0));
        let rewritten = r#" { "seats" : 2.0, "to": "\u004fslo" }"#;
        for (arguments, now) in [(ARGUMENTS, 0), (ARGUMENTS, 600), (rewritten, 300)] {
            assert_eq!(
                sealer(1)
                    .open(binding(arguments), &sealed, at(now))
                    .as_ref(),
                Ok(&state)
            );
        }
    }
}

#[test]
fn every_byte_is_under_the_seal() {
    let sealer = sealer(1);
    let sealed = sealer.seal(binding(ARGUMENTS), &state(), at(0));
    let open = |text: &str| sealer.open(binding(ARGUMENTS), text, at(1));
    assert!(open(&sealed).is_ok());
    let bytes = URL_SAFE_NO_PAD.decode(&sealed).expect("base64url");
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut altered = bytes.clone();
            altered[at] ^= 1 << bit;
            let altered = URL_SAFE_NO_PAD.encode(altered);
            assert_eq!(open(&altered), Err(StateFault::Foreign), "byte {at}");
        }
    }
    // As text: each character replaced by each other that base64url has and some that it has not.
    for at in 0..sealed.len() {
        for other in "ABab01-_=+/ \n.".chars() {
            let mut altered = sealed.clone();
            altered.replace_range(at..=at, other.encode_utf8(&mut [0; 4]));
            if altered != sealed {
                assert_eq!(open(&altered), Err(StateFault::Foreign), "{altered}");
            }
        }
    }
    for length in 0..sealed.len() {
        assert_eq!(open(&sealed[..length]), Err(StateFault::Foreign));
        assert_eq!(open(&sealed[length..]).is_ok(), length == 0);
    }
    for longer in ["A", "=", "AAAA", "\0"] {
        assert_eq!(open(&format!("{sealed}{longer}")), Err(StateFault::Foreign));
    }
    assert_eq!(open(&"é".repeat(100)), Err(StateFault::Foreign));
}

#[test]
fn it_opens_with_its_own_call_alone() {
    let own = binding(ARGUMENTS);
    let sealed = sealer(1).seal(own, &state(), at(0));
    let others = [
        Binding {
            principal: None,
            ..own
        },
        Binding {
            principal: Some("bob"),
            ..own
        },
        Binding {
            principal: Some(""),
            ..own
        },
        Binding {
            method: "prompts/get",
            ..own
        },
        Binding {
            name: "cancel",
            ..own
        },
        Binding {
            arguments: None,
            ..own
        },
        binding(r#"{"to":"Oslo","seats":3}"#),
        binding(r#"{"to":"Oslo"}"#),
    ];
    for other in others {
        let opened = sealer(1).open(other, &sealed, at(1));
        assert_eq!(opened, Err(StateFault::Foreign));
    }
    let opened = sealer(2).open(own, &sealed, at(1));
    assert_eq!(opened, Err(StateFault::Foreign), "another key");
}

#[test]
fn it_expires() {
    let sealed = sealer(1).seal(binding(ARGUMENTS), &state(), at(0));
    let open = |now| sealer(1).open(binding(ARGUMENTS), &sealed, at(now));
    assert!(open(600).is_ok());
    assert_eq!(open(601), Err(StateFault::Expired));
}

/// No arguments and an empty object are one to the handler.
#[test]
fn absent_arguments_are_empty_ones() {
    let absent = Binding {
        arguments: None,
        ..binding("{}")
    };
    let sealed = sealer(1).seal(absent, &state(), at(0));
    assert!(sealer(1).open(binding("{}"), &sealed, at(1)).is_ok());
}
