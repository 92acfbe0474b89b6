//! Replays the committed corpora: every input through its target.

use std::fs;
use std::panic::catch_unwind;
use std::path::{Path, PathBuf};

use mcp_fuzz::TARGETS;

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("a readable folder").file_name())
        .map(|name| name.into_string().expect("names are plain text"))
        .collect();
    names.sort();
    names
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn replay(target: &str) {
    let (_, run) = TARGETS
        .into_iter()
        .find(|(name, _)| *name == target)
        .expect("a target");
    let corpus = folder("corpus").join(target);
    let inputs = names(&corpus);
    assert!(!inputs.is_empty(), "{corpus:?} is empty");
    let failed: Vec<&String> = inputs
        .iter()
        .filter(|name| {
            let input = fs::read(corpus.join(name)).expect("a readable input");
            catch_unwind(|| run(&input)).is_err()
        })
        .collect();
    assert!(failed.is_empty(), "findings, see above: {failed:?}");
}

#[test]
fn line() {
    replay("line");
}

#[test]
fn tokenizer() {
    replay("tokenizer");
}

#[test]
fn envelope() {
    replay("envelope");
}

#[test]
fn server() {
    replay("server");
}

#[test]
fn http_server() {
    replay("http_server");
}

#[test]
fn http_sessions() {
    replay("http_sessions");
}

#[test]
fn http_client() {
    replay("http_client");
}

/// Each target has its program and its corpus, and there are no others.
#[test]
fn nothing_is_left_out() {
    let mut targets: Vec<&str> = TARGETS.iter().map(|(name, _)| *name).collect();
    targets.sort_unstable();
    assert_eq!(names(&folder("corpus")), targets);
    let programs: Vec<String> = targets.iter().map(|name| format!("{name}.rs")).collect();
    assert_eq!(names(&folder("fuzz_targets")), programs);
}
