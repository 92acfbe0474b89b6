//! `robustness.md` says of each requirement which tests show it. The names of the tests say so: those of `fr_01_` are of
//! FR-01, and a test of several requirements begins with all of them.
//!
//! After tests have come, gone or changed their names: `ROBUSTNESS=write cargo test -p mcp-tests --test robustness`

extern crate alloc;

use alloc::collections::{BTreeMap, BTreeSet};
use core::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// How many there are of each family, and what it is about.
const FAMILIES: [(&str, usize, &str); 17] = [
    ("FR", 14, "Framing and JSON"),
    ("ID", 10, "Ids and envelopes"),
    ("OR", 10, "Order, cancellation, time, endings"),
    ("HS", 10, "HTTP: servers"),
    ("HC", 9, "HTTP: clients"),
    ("SE", 7, "Event streams"),
    ("SN", 8, "Sessions"),
    ("HM", 6, "Mirrored headers"),
    ("OA", 16, "Authorization"),
    ("SC", 10, "Schemas, names and numbers"),
    ("CO", 8, "Contents, templates and capabilities"),
    ("PR", 5, "Child processes"),
    ("LI", 6, "Lists, changes and subscriptions"),
    ("VE", 5, "Versions and eras"),
    ("GW", 5, "Gateways"),
    ("RT", 3, "Rounds of input"),
    ("DX", 8, "Others"),
];

/// Requirements without a test, and why.
const MISSING: [(&str, &str); 7] = [
    ("FR-11", HOST),
    ("SC-08", HOST),
    ("GW-01", GATEWAY),
    ("GW-02", GATEWAY),
    ("GW-03", GATEWAY),
    ("GW-04", GATEWAY),
    ("GW-05", GATEWAY),
];

const HOST: &str = "of hosts, whose tests do not name it yet";
const GATEWAY: &str = "of gateways, whose tests do not name it yet";

/// Where tests are.
const PLACES: [&str; 5] = ["benches", "mcp-core", "mcp-io", "mcp-std", "tests"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn requirements() -> impl Iterator<Item = String> {
    let families = FAMILIES.into_iter();
    families.flat_map(|(family, count, _)| (1..=count).map(move |at| format!("{family}-{at:02}")))
}

/// The requirements that a test's name begins with.
fn named(mut name: &str) -> Vec<String> {
    let mut ids = Vec::new();
    while let Some((kind, rest)) = name.split_once('_')
        && let Some((number, rest)) = rest.split_once('_')
        && let id = format!("{}-{number}", kind.to_uppercase())
        && requirements().any(|known| known == id)
    {
        ids.push(id);
        name = rest;
    }
    ids
}

/// The names of the tests in a source.
fn tests(source: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut test = false;
    for line in source.lines().map(str::trim) {
        if line == "#[test]" {
            test = true;
        } else if let Some(rest) = line.strip_prefix("fn ") {
            let end = rest.find(['(', '<']).unwrap_or(rest.len());
            if test {
                found.push(&rest[..end]);
            }
            test = false;
        } else if !(line.starts_with("#[") || line.starts_with("//")) && line.ends_with(['}', ';'])
        {
            test = false;
        }
    }
    found
}

/// Requirement to its tests, as `path::name`.
type Covered = BTreeMap<String, BTreeSet<String>>;

fn collect(root: &Path, folder: &Path, covered: &mut Covered) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the folder can be read").path();
        let name = path.file_name().unwrap_or_default();
        if path.is_dir() {
            if !["target", "node_modules", ".venv"]
                .map(AsRef::as_ref)
                .contains(&name)
            {
                collect(root, &path, covered);
            }
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let source = fs::read_to_string(&path).expect("sources are UTF-8");
            let path = path.strip_prefix(root).expect("below the root");
            for test in tests(&source) {
                for id in named(test) {
                    let entry = format!("{}::{test}", path.display()).replace('\\', "/");
                    covered.entry(id).or_default().insert(entry);
                }
            }
        }
    }
}

/// What each requirement asks for, as `requirements.md` says it.
fn explained() -> BTreeMap<String, String> {
    let path = root().join("tests/requirements.md");
    let text = fs::read_to_string(path).expect("the list is there");
    let mut found = BTreeMap::new();
    let mut last = None;
    for line in text.lines() {
        if let Some((id, words)) = line
            .strip_prefix("- **")
            .and_then(|it| it.split_once("** "))
        {
            found.insert(id.to_owned(), words.to_owned());
            last = Some(id.to_owned());
        } else if let Some(more) = line.strip_prefix("  ")
            && let Some(words) = last.as_ref().and_then(|id| found.get_mut(id))
        {
            words.push(' ');
            words.push_str(more);
        } else {
            last = None;
        }
    }
    found
}

fn table(covered: &Covered) -> String {
    let explained = explained();
    let total = requirements().count();
    let mut table = String::from(
        "# Robustness\n\n\
         What has hurt the users of other implementations, and the tests that show that it does not happen here. The names of\n\
         the tests say what they are of; this list is made of them, and `tests/tests/robustness.rs` sees to it that it is\n\
         whole and true.\n\n",
    );
    let tests: BTreeSet<&String> = covered.values().flatten().collect();
    let _ = writeln!(
        table,
        "{} of {total} requirements have tests, {} of them.",
        covered.len(),
        tests.len()
    );
    for (family, count, about) in FAMILIES {
        let _ = writeln!(table, "\n## {about}\n");
        for at in 1..=count {
            let id = format!("{family}-{at:02}");
            let what = explained.get(&id).map_or("", String::as_str);
            let what = what.trim_end_matches(" (our choice)");
            let _ = writeln!(table, "- **{id}** {what}");
            for test in covered.get(&id).into_iter().flatten() {
                let _ = writeln!(table, "  - `{test}`");
            }
            if let Some((_, why)) = MISSING.iter().find(|(missing, _)| *missing == id) {
                let _ = writeln!(table, "  - no test: {why}");
            }
        }
    }
    table
}

#[test]
fn every_requirement_has_its_tests_and_the_list_says_which() {
    assert_eq!(requirements().count(), 140);
    let root = root();
    let mut covered = Covered::new();
    for place in PLACES {
        collect(&root, &root.join(place), &mut covered);
    }
    let explained = explained();
    let unexplained: Vec<_> = requirements()
        .filter(|id| !explained.contains_key(id))
        .collect();
    assert!(
        unexplained.is_empty(),
        "to be explained in tests/requirements.md: {unexplained:?}"
    );
    let missing = |id: &String| MISSING.iter().any(|(missing, _)| missing == id);
    let uncovered: Vec<_> = requirements()
        .filter(|id| !missing(id) && !covered.contains_key(id))
        .collect();
    assert!(uncovered.is_empty(), "without a test: {uncovered:?}");
    let excused: Vec<_> = covered.keys().filter(|id| missing(id)).collect();
    assert!(
        excused.is_empty(),
        "have tests now, and need no excuse here: {excused:?}"
    );
    let path = root.join("tests/robustness.md");
    let table = table(&covered);
    if env::var_os("ROBUSTNESS").is_some_and(|what| what == "write") {
        fs::write(&path, &table).expect("the list can be written");
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    let lines = || written.lines().zip(table.lines());
    let first = lines().find(|(written, table)| written != table);
    assert!(
        written == table,
        "tests/robustness.md is not what the names of the tests say, first at {first:?}: write it anew with \
         ROBUSTNESS=write"
    );
}

#[test]
fn names_begin_with_what_they_are_of() {
    assert_eq!(named("fr_01_or_10_a_name"), ["FR-01", "OR-10"]);
    assert_eq!(named("fr_15_a_name"), [""; 0]);
    assert_eq!(named("or_else_a_name"), [""; 0]);
    assert_eq!(named("fr_01"), [""; 0]);
    let source = "#[test]\nfn a() {\n}\nfn b() {}\n#[test]\n#[cfg(unix)]\n// c\nfn d<T>() {}\n";
    assert_eq!(tests(source), ["a", "d"]);
}
