//! The rules that the project names by short names are those of `requirements.md`.

extern crate alloc;

use alloc::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Where people write.
const PLACES: [&str; 7] = [
    "README.md",
    "mcp-core",
    "mcp-io",
    "mcp-std",
    "benches",
    "fuzz",
    "tests",
];

/// What tools put there.
const MADE: [&str; 5] = ["target", "node_modules", ".venv", "corpus", "artifacts"];

/// The names in a text: two to four capital letters, a hyphen, two digits.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|char: char| !(char.is_ascii_alphanumeric() || char == '-'));
    words.filter(|word| {
        word.split_once('-').is_some_and(|(kind, number)| {
            (2..=4).contains(&kind.len())
                && kind.bytes().all(|byte| byte.is_ascii_uppercase())
                && kind != "UTF"
                && number.len() == 2
                && number.bytes().all(|byte| byte.is_ascii_digit())
        })
    })
}

fn collect(path: &Path, found: &mut BTreeSet<String>) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    if MADE.contains(&&*name) || name == "requirements.md" {
        return;
    }
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("the folder can be read") {
            collect(&entry.expect("the folder can be read").path(), found);
        }
        return;
    }
    let ending = path.extension().unwrap_or_default().to_string_lossy();
    if ["md", "mjs", "py", "rs", "txt"].contains(&&*ending) {
        let text = fs::read(path).expect("the file can be read");
        found.extend(names(&String::from_utf8_lossy(&text)).map(str::to_owned));
    }
}

#[test]
fn every_name_is_explained_and_used() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = fs::read_to_string(tests.join("requirements.md")).expect("the list is there");
    let listed: Vec<&str> = list
        .lines()
        .filter_map(|line| line.strip_prefix("- **")?.split_once("** "))
        .map(|(name, _)| name)
        .collect();
    let explained: BTreeSet<String> = listed.iter().map(|&name| name.to_owned()).collect();
    assert_eq!(explained.len(), listed.len(), "each name once");
    let mut used = BTreeSet::new();
    for place in PLACES {
        collect(&tests.join("..").join(place), &mut used);
    }
    let unexplained: Vec<_> = used.difference(&explained).collect();
    assert!(
        unexplained.is_empty(),
        "to be explained in tests/requirements.md: {unexplained:?}"
    );
    let unused: Vec<_> = explained.difference(&used).collect();
    assert!(
        unused.is_empty(),
        "nobody names these of tests/requirements.md any more: {unused:?}"
    );
}

#[test]
fn names_are_told_from_other_words() {
    let text = "(RPC-07, ID-01) UTF-16 2025-11-25 X-01 ERR-010 VER-0a id-01 ERR-08: `TOOL-22`";
    let found: Vec<&str> = names(text).collect();
    assert_eq!(found, ["RPC-07", "ID-01", "ERR-08", "TOOL-22"]);
}
