//! The header and the library say the same; what they mean, `lamp.c` shows.

use std::collections::BTreeSet;

const HEADER: &str = include_str!("../mcp.h");
const LIBRARY: &str = include_str!("../src/lib.rs");

/// The names before a parenthesis that begin like those of this library, and how many parameters come after it.
fn functions<'t>(text: &'t str, before: &str) -> BTreeSet<(&'t str, usize)> {
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices(before) {
        let rest = &text[at + before.len() - "mcp_".len()..];
        let Some((name, rest)) = rest.split_once('(') else {
            continue;
        };
        let is_name = name
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        let (parameters, _) = rest.split_once(')').expect("it ends");
        let parameters = parameters.split(',').filter(|it| !it.trim().is_empty());
        if is_name {
            found.insert((name, parameters.count()));
        }
    }
    found
}

#[test]
fn the_header_has_the_functions_of_the_library() {
    let library = functions(LIBRARY, "extern \"C\" fn mcp_");
    assert_eq!(library.len(), 7);
    assert_eq!(functions(HEADER, "mcp_"), library);
}

#[test]
fn the_header_has_the_values_of_the_library() {
    for (name, value) in [
        ("MCP_OK", "Ok"),
        ("MCP_MISUSE", "Misuse"),
        ("MCP_STALE", "Stale"),
        ("MCP_BROKEN", "Broken"),
        ("MCP_MORE", "More"),
        ("MCP_HANDLED", "Handled"),
        ("MCP_CALL", "Call"),
        ("MCP_CANCELLED", "Cancelled"),
    ] {
        let of = |text: &str, name: &str| {
            let (_, rest) = text
                .split_once(&format!("    {name} = "))
                .expect("it is there");
            rest.bytes().next()
        };
        assert_eq!(of(HEADER, name), of(LIBRARY, value), "{name}");
    }
}
