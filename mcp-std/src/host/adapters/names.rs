//! Names of tools, as a provider takes them.

use std::collections::HashSet;

use sha2::{Digest as _, Sha256};

use super::Provider;

/// The longest name that every provider takes, in bytes.
const LONGEST: usize = 64;

/// A name for each of these, in their order: the same wherever the provider takes it, else one that is made of it and of
/// its digest, which no other tool has.
pub(super) fn assign(provider: Provider, names: &[&str]) -> Vec<String> {
    let mut taken: HashSet<String> = HashSet::new();
    let mut assigned: Vec<Option<String>> = names
        .iter()
        .map(|name| {
            (fits(provider, name) && taken.insert((*name).to_owned())).then(|| (*name).to_owned())
        })
        .collect();
    for (name, place) in names.iter().zip(&mut assigned) {
        if place.is_some() {
            continue;
        }
        let mut round = 0_u32;
        let made = loop {
            let made = make(name, round);
            if taken.insert(made.clone()) {
                break made;
            }
            round += 1;
        };
        *place = Some(made);
    }
    assigned.into_iter().flatten().collect()
}

/// OpenAI: `[a-zA-Z0-9_-]{1,64}`. Anthropic: the same. Gemini also asks that it begins with a letter or an underscore.
fn fits(provider: Provider, name: &str) -> bool {
    let first = name.bytes().next();
    let begins = first.is_some_and(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    (1..=LONGEST).contains(&name.len())
        && name.bytes().all(is_allowed)
        && (begins || provider != Provider::Gemini)
}

const fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

fn make(name: &str, round: u32) -> String {
    let digest = Sha256::new()
        .chain_update(round.to_le_bytes())
        .chain_update(name)
        .finalize();
    let digest: String = digest[..4]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let mut made = String::from("t_");
    let known = name.bytes().map(|byte| {
        if is_allowed(byte) {
            char::from(byte)
        } else {
            '_'
        }
    });
    made.extend(known.take(LONGEST - made.len() - 1 - digest.len()));
    made.push('_');
    made.push_str(&digest);
    made
}
