//! What servers give, as text for people.

use core::fmt::Write as _;

use mcp_core::json::RawJson;
use mcp_std::ContentBlock;
use mcp_std::model::{Resource, ResourceContents};

use crate::connect::is_read_by_a_person;
use crate::text::{printable, printable_lines};

/// Text as it is, or, on a terminal, without what the terminal would obey.
pub(crate) fn plain(text: &str) -> String {
    if is_read_by_a_person() {
        printable_lines(text)
    } else {
        text.to_owned()
    }
}

/// The same for what is to stay in its line.
pub(crate) fn word(text: &str) -> String {
    printable(text)
}

/// Each block with the end of its line.
pub(crate) fn blocks(blocks: &[ContentBlock<'_>], out: &mut String) {
    for block in blocks {
        self::block(block, out);
    }
}

pub(crate) fn block(block: &ContentBlock<'_>, out: &mut String) {
    match block {
        ContentBlock::Text(text) => line(&text.text, out),
        ContentBlock::Image(image) => bytes("image", Some(&image.mime_type), &image.data, out),
        ContentBlock::Audio(audio) => bytes("audio", Some(&audio.mime_type), &audio.data, out),
        ContentBlock::Resource(embedded) => contents(&embedded.resource, out),
        ContentBlock::ResourceLink(link) => self::link(link, out),
        ContentBlock::ToolUse(call) => {
            let _ = writeln!(
                out,
                "[wants {} called with {}]",
                word(&call.name),
                word(call.input.as_str())
            );
        }
        ContentBlock::ToolResult(result) => blocks(&result.content, out),
        ContentBlock::Unknown(json) => line(&pretty(json.raw()), out),
        _ => {}
    }
}

/// A resource that came with its text or its bytes.
pub(crate) fn contents(contents: &ResourceContents<'_>, out: &mut String) {
    match contents {
        ResourceContents::Text(text) => line(&text.text, out),
        ResourceContents::Blob(blob) => {
            let what = format!("{}:", word(&blob.uri));
            bytes(&what, blob.mime_type.as_deref(), &blob.blob, out);
        }
        _ => out.push_str("[contents of a kind that is not known]\n"),
    }
}

fn link(link: &Resource<'_>, out: &mut String) {
    let _ = write!(out, "[resource {}", word(&link.uri));
    let title = link.title.as_deref().unwrap_or(&link.name);
    let _ = write!(out, ", {}", word(title));
    if let Some(kind) = &link.mime_type {
        let _ = write!(out, ", {}", word(kind));
    }
    if let Some(size) = link.size {
        let _ = write!(out, ", {}", amount(size));
    }
    out.push_str("]\n");
}

fn line(text: &str, out: &mut String) {
    out.push_str(&plain(text));
    if !text.ends_with('\n') {
        out.push('\n');
    }
}

/// Says what is there, which cannot be shown.
fn bytes(what: &str, kind: Option<&str>, base64: &str, out: &mut String) {
    let kind = kind
        .map(|kind| format!(" {},", word(kind)))
        .unwrap_or_default();
    let padding = base64
        .bytes()
        .rev()
        .take_while(|&byte| byte == b'=')
        .count();
    let size = (base64.len() / 4 * 3).saturating_sub(padding);
    let size = amount(size.try_into().unwrap_or(u64::MAX));
    let _ = writeln!(out, "[{what}{kind} {size}]");
}

/// A size with its unit.
fn amount(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = UNITS.into_iter().find(|&(unit, _)| bytes >= unit);
    match unit {
        // Tenths, for people: whole numbers are exact enough for that.
        Some((unit, name)) => format!("{}.{} {name}", bytes / unit, bytes % unit * 10 / unit),
        None => format!("{bytes} bytes"),
    }
}

/// JSON over several lines. Numbers and strings stay as they are. It recurses as deep as the value, which was read with a
/// limit.
pub(crate) fn pretty(value: RawJson<'_>) -> String {
    let mut text = String::new();
    write_pretty(value, 0, &mut text);
    text
}

fn write_pretty(value: RawJson<'_>, depth: usize, out: &mut String) {
    let begin = |out: &mut String, first: bool, depth: usize| {
        if !first {
            out.push(',');
        }
        out.push('\n');
        out.push_str(&"  ".repeat(depth));
    };
    let mut empty = true;
    if let Some(object) = value.as_object() {
        out.push('{');
        for (name, value) in object {
            begin(out, empty, depth + 1);
            empty = false;
            let _ = write!(out, "\"{}\": ", name.raw());
            write_pretty(value, depth + 1, out);
        }
        if !empty {
            begin(out, true, depth);
        }
        out.push('}');
    } else if let Some(array) = value.as_array() {
        out.push('[');
        for value in array {
            begin(out, empty, depth + 1);
            empty = false;
            write_pretty(value, depth + 1, out);
        }
        if !empty {
            begin(out, true, depth);
        }
        out.push(']');
    } else {
        out.push_str(value.as_str());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_laid_out_and_not_changed() {
        let value = RawJson::parse(br#"{"a":[1.0,{}],"b":[],"c":{"d":"\u0041"}}"#).expect("JSON");
        let expected = "{\n  \"a\": [\n    1.0,\n    {}\n  ],\n  \"b\": [],\n  \"c\": {\n    \"d\": \"\\u0041\"\n  }\n}";
        assert_eq!(pretty(value), expected);
    }

    #[test]
    fn co_02_bytes_are_counted_before_base64() {
        for (base64, expected) in [("", "0 bytes"), ("QQ==", "1 bytes"), ("QUJD", "3 bytes")] {
            let mut out = String::new();
            bytes("image", Some("image/png"), base64, &mut out);
            assert_eq!(out, format!("[image image/png, {expected}]\n"));
        }
        assert_eq!(amount(1536), "1.5 KiB");
        assert_eq!(amount(u64::MAX), "17179869183.9 GiB");
    }
}
