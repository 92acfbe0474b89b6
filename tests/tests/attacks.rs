//! The table of attacks in `.github/SECURITY.md` is about tests that are there.

extern crate alloc;

use alloc::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// What has to be in the first column at least.
const ATTACKS: [&str; 13] = [
    "Mix-up (wrong `iss`)",
    "Audience confusion",
    "Token passthrough",
    "Confused deputy",
    "Open redirect",
    "Code injection",
    "Replayed DPoP proof",
    "Algorithm confusion",
    "JWKS flood",
    "Metadata on another origin",
    "Credentials sent across a redirect",
    "Expired and not yet valid tokens",
    "A session used by another principal",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The rows of the table, in cells.
fn rows() -> Vec<Vec<String>> {
    let text = fs::read_to_string(root().join(".github/SECURITY.md")).expect("it is there");
    let (_, after) = text.split_once("<!-- attacks -->").expect("a mark");
    let lines = after
        .trim_start()
        .lines()
        .take_while(|line| line.starts_with('|'));
    // Without the head, and the line below it.
    let cells = |line: &str| {
        line.trim_matches('|')
            .split('|')
            .map(|it| it.trim().to_owned())
            .collect()
    };
    lines.skip(2).map(cells).collect()
}

/// The tests of a file of `mcp-std/tests`, by the name that it has without its ending.
fn tests(file: &str) -> BTreeSet<String> {
    let path = root().join("mcp-std/tests").join(format!("{file}.rs"));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
    let found = text.split("#[test]\n").skip(1).filter_map(|after| {
        let name = after.lines().find_map(|line| line.strip_prefix("fn "))?;
        Some(name.split('(').next()?.to_owned())
    });
    found.collect()
}

#[test]
fn each_attack_has_tests_and_each_test_has_an_attack() {
    let rows = rows();
    let attacks: Vec<&str> = rows.iter().map(|row| &*row[0]).collect();
    for attack in ATTACKS {
        assert!(attacks.contains(&attack), "not in the table: {attack}");
    }
    let mut named = BTreeSet::new();
    for row in &rows {
        assert_eq!(row.len(), 3, "{row:?}");
        let before = named.len();
        for name in row[2].split('`').map(str::trim).filter(|it| !it.is_empty()) {
            let (file, test) = name.split_once("::").expect("a file and a test");
            assert!(tests(file).contains(test), "{}: no test {name}", row[0]);
            assert!(named.insert(name.to_owned()), "{name} is there twice");
        }
        assert!(named.len() > before, "no test of {}", row[0]);
    }
    for file in ["auth/attacks", "http_auth/attacks"] {
        for test in tests(file) {
            let name = format!("{file}::{test}");
            assert!(named.contains(&name), "not in the table: {name}");
        }
    }
}
