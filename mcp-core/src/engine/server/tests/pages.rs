//! Lists in pages.

use core::num::NonZeroUsize;

use super::*;
use crate::model::{List, ListToolsResult};
use crate::rpc::{Envelope, Outcome};

fn offer(names: &[&str], size: usize) -> Arc<Catalog> {
    let server = Implementation::new("test", "1");
    let schema = raw(r#"{"type":"object"}"#);
    let tools: Vec<Tool<'_>> = names.iter().map(|name| Tool::new(*name, schema)).collect();
    let catalog = Catalog::builder(&server).tools(&tools);
    let catalog = match NonZeroUsize::new(size) {
        Some(size) => catalog.page_size(size),
        None => catalog,
    };
    Arc::new(catalog.build().expect("valid"))
}

fn serving(catalog: Arc<Catalog>) -> ServerEngine {
    ServerEngine::new(catalog, Limits::DEFAULT, SEED)
}

/// The names on a page, and the cursor of the next; `None`: the cursor was refused, with invalid params (PAG-04).
fn page(engine: &mut ServerEngine, cursor: Option<&str>) -> Option<(Vec<String>, Option<String>)> {
    let cursor = cursor.map_or(String::new(), |cursor| format!(r#""cursor":"{cursor}","#));
    let text = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{cursor}{MODERN}}}}}"#
    );
    let mut out = Vec::new();
    let _ = engine.receive(text.as_bytes(), &mut out);
    let answer = Envelope::parse(&out, &Limits::DEFAULT).expect("an answer");
    let Envelope::Response(answer) = answer else {
        panic!("{answer:?}");
    };
    let result = match answer.outcome {
        Outcome::Result(result) => ListToolsResult::decode(result).expect("a page"),
        Outcome::Error { code, .. } => {
            assert_eq!(code, ErrorCode::INVALID_PARAMS);
            return None;
        }
    };
    // PAG-03.
    assert!(!String::from_utf8_lossy(&out).contains("null"));
    let ListToolsResult {
        tools, next_cursor, ..
    } = result;
    let names = List::into_vec(tools);
    let names = names.iter().map(|tool| tool.name.to_string()).collect();
    Some((names, next_cursor.map(String::from)))
}

fn walk(engine: &mut ServerEngine) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut cursor = None;
    loop {
        let (names, next) = page(engine, cursor.as_deref()).expect("one of its own cursors");
        pages.push(names);
        match next {
            Some(next) => cursor = Some(next),
            None => return pages,
        }
    }
}

#[test]
fn pages_are_of_the_size_that_was_said() {
    let names = ["a", "b", "c", "d", "e"];
    for size in 0..7 {
        let pages = walk(&mut serving(offer(&names, size)));
        let expected: Vec<Vec<&str>> = match size {
            0 => vec![names.to_vec()],
            size => names.chunks(size).map(<[_]>::to_vec).collect(),
        };
        assert_eq!(pages, expected, "{size}");
    }
}

/// CAP-02: a list that may change is served while there is nothing in it.
#[test]
fn a_list_of_nothing_is_one_page() {
    let server = Implementation::new("test", "1");
    let catalog = Catalog::builder(&server)
        .tools_list_changed(true)
        .page_size(NonZeroUsize::MIN)
        .build()
        .expect("valid");
    let mut engine = serving(Arc::new(catalog));
    assert_eq!(page(&mut engine, None), Some((vec![], None)));
}

/// PAG-04: foreign, outdated, changed; PAG-02: empty.
#[test]
fn a_cursor_is_of_one_list_in_one_state() {
    let mut engine = serving(offer(&["a", "b", "c"], 1));
    let (_, second) = page(&mut engine, None).expect("the first page");
    let second = second.expect("there are more");
    let (_, third) = page(&mut engine, Some(&second)).expect("its own");
    let third = third.expect("there are more");
    assert_ne!(second, third);
    let other_case = second.to_uppercase();
    let (start, end) = second.split_at(16);
    for bad in [
        "",
        "1",
        start,
        &format!("{start}0"),
        &format!("{start}+{end}"),
        &format!("{start}0{end}"),
        &format!("{start}3"),
        &format!("{start}ffffffffffffffff"),
        &format!("{start}fffffffffffffffff"),
        &format!("{second} "),
        &format!("0000000000000000{end}"),
        "ééééééééé",
    ] {
        assert_eq!(page(&mut engine, Some(bad)), None, "{bad}");
    }
    assert!(other_case == second || page(&mut engine, Some(&other_case)).is_none());
    // The same list elsewhere takes it; a list of another content, or cut in another way, does not.
    assert!(page(&mut serving(offer(&["a", "b", "c"], 1)), Some(&second)).is_some());
    for other in [
        offer(&["a", "b", "d"], 1),
        offer(&["a", "b", "c", "d"], 1),
        offer(&["a", "b", "c"], 2),
        offer(&["a", "b", "c"], 0),
    ] {
        assert_eq!(page(&mut serving(other), Some(&second)), None);
    }
    engine.set_catalog(offer(&["a", "b"], 1));
    assert_eq!(page(&mut engine, Some(&second)), None, "outdated");
}

/// Two lists of the same text have cursors of their own.
#[test]
fn a_cursor_of_another_list_is_none() {
    use crate::model::{Prompt, Resource};
    let server = Implementation::new("test", "1");
    let prompts = [Prompt::new("a"), Prompt::new("b")];
    let resources = [Resource::new("a://a", "a"), Resource::new("a://b", "b")];
    let catalog = Catalog::builder(&server)
        .prompts(&prompts)
        .resources(&resources)
        .tools_list_changed(true)
        .page_size(NonZeroUsize::MIN)
        .build()
        .expect("valid");
    let mut engine = serving(Arc::new(catalog));
    let mut list = |method: &str, cursor: &str| {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{cursor}{MODERN}}}}}"#
        );
        let mut out = Vec::new();
        let _ = engine.receive(text.as_bytes(), &mut out);
        String::from_utf8(out).expect("UTF-8")
    };
    let first = list("prompts/list", "");
    let (_, cursor) = first.split_once(r#""nextCursor":""#).expect("more pages");
    let (cursor, _) = cursor.split_once('"').expect("a string");
    let cursor = format!(r#""cursor":"{cursor}","#);
    assert!(list("prompts/list", &cursor).contains(r#""name":"b""#));
    for other in ["resources/list", "resources/templates/list", "tools/list"] {
        assert!(list(other, &cursor).contains("-32602"), "{other}");
    }
}
