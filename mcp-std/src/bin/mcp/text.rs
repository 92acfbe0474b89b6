//! Text for one line of a terminal: JSON and times made short, and nothing in it that a terminal would obey.

use core::time::Duration;

use mcp_core::json::RawJson;

/// What is left out of a JSON text.
#[derive(Clone, Copy)]
struct Style {
    /// Objects and arrays deeper than this are `{…}` and `[…]`.
    depth: usize,
    /// Whether `_meta` is shown where it is not alone.
    meta: bool,
    /// Strings are cut after so many characters.
    string: usize,
    /// Arrays are cut after so many elements.
    elements: usize,
    /// Objects in arrays are cut after so many members.
    members: usize,
}

const FULL: Style = Style {
    depth: usize::MAX,
    meta: true,
    string: usize::MAX,
    elements: usize::MAX,
    members: usize::MAX,
};
const NO_META: Style = Style {
    meta: false,
    ..FULL
};
const STRINGS: Style = Style {
    string: 28,
    ..NO_META
};

/// From everything to little. The first that fits is taken.
const STYLES: [Style; 6] = [
    FULL,
    NO_META,
    Style {
        string: 56,
        ..NO_META
    },
    STRINGS,
    Style {
        members: 1,
        ..STRINGS
    },
    Style {
        depth: 2,
        ..STRINGS
    },
];

/// If nothing fits, this is cut.
const LAST: Style = Style {
    elements: 1,
    ..STRINGS
};

/// The value in at most `width` characters.
pub(crate) fn shorten(value: RawJson<'_>, width: usize) -> String {
    let fits = |text: &String| text.chars().nth(width).is_none();
    let text = STYLES
        .into_iter()
        .map(|style| rendered(value, style))
        .find(fits);
    text.unwrap_or_else(|| cut(&rendered(value, LAST), width))
}

fn rendered(value: RawJson<'_>, style: Style) -> String {
    let mut text = String::new();
    render(value, style, 1, usize::MAX, &mut text);
    text
}

/// The first `width` characters; the last of them is `…` if there are more.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if text.chars().nth(width).is_none() {
        return text.to_owned();
    }
    let mut cut: String = text.chars().take(width.saturating_sub(1)).collect();
    cut.push('…');
    cut
}

/// The words in lines of at most `width` characters; a word that is longer has a line to itself.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The text without the characters that move a cursor, change a terminal's state, or the order in which text is read.
pub(crate) fn printable(text: &str) -> String {
    text.chars().map(|char| visible(char, "")).collect()
}

/// The same, and what makes lines and columns stays.
pub(crate) fn printable_lines(text: &str) -> String {
    text.chars().map(|char| visible(char, "\n\t")).collect()
}

fn visible(char: char, allowed: &str) -> char {
    // With these, text can be made to look like another text.
    let reorders = matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if (char.is_control() || reorders) && !allowed.contains(char) {
        char::REPLACEMENT_CHARACTER
    } else {
        char
    }
}

/// Whether it was meant as the URL of a server.
pub(crate) fn is_url(text: &str) -> bool {
    text.starts_with("http://") || text.starts_with("https://")
}

/// A URL without the user, and the password, before its host.
pub(crate) fn without_user(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else {
        return url.to_owned();
    };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = rest[..end].rfind('@').map_or(0, |at| at + 1);
    format!("{scheme}://{}", &rest[host..])
}

/// Three digits and a unit.
pub(crate) fn duration(duration: Duration) -> String {
    let micros = duration.as_micros();
    let seconds = duration.as_secs_f64();
    match micros {
        ..1_000 => format!("{micros} µs"),
        1_000..10_000 => format!("{:.2} ms", seconds * 1e3),
        10_000..100_000 => format!("{:.1} ms", seconds * 1e3),
        100_000..1_000_000 => format!("{:.0} ms", seconds * 1e3),
        _ => format!("{seconds:.2} s"),
    }
}

/// Writes the value, of objects at most so many `members`. It recurses as deep as the value, which was read with a limit.
fn render(value: RawJson<'_>, style: Style, depth: usize, members: usize, out: &mut String) {
    if let Some(object) = value.as_object() {
        let alone = object.clone().nth(1).is_none();
        if depth > style.depth && object.clone().next().is_some() {
            return out.push_str("{…}");
        }
        out.push('{');
        for (at, (name, value)) in object.enumerate() {
            if at > 0 {
                out.push(',');
            }
            if at == members {
                out.push('…');
                break;
            }
            out.push('"');
            // The namespace says nothing new.
            match name.raw().strip_prefix("io.modelcontextprotocol/") {
                Some(name) => out.extend(["…", name]),
                None => out.push_str(name.raw()),
            }
            out.push_str("\":");
            if name == "_meta" && !style.meta && !alone {
                out.push_str("{…}");
            } else {
                render(value, style, depth + 1, usize::MAX, out);
            }
        }
        out.push('}');
    } else if let Some(array) = value.as_array() {
        if depth > style.depth && array.clone().next().is_some() {
            return out.push_str("[…]");
        }
        out.push('[');
        for (at, element) in array.enumerate() {
            if at > 0 {
                out.push(',');
            }
            if at == style.elements {
                out.push('…');
                break;
            }
            render(element, style, depth + 1, style.members, out);
        }
        out.push(']');
    } else if let Some(string) = value.as_string() {
        out.push('"');
        out.push_str(&cut(string.raw(), style.string));
        out.push('"');
    } else {
        out.push_str(value.as_str());
    }
}
