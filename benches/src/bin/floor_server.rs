//! The floor: a stdio server that answers every call by copying the id and the text out of the line, and parses nothing.
//!
//! No real server can be faster on the same pipes. It is not a correct one: it takes the first `"id":` and the first
//! `"text":"` of a line for what they seem to be.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;

use memchr::{memchr, memchr2, memmem};

/// What a pipe holds.
const READ: usize = 64 * 1024;

fn main() -> io::Result<()> {
    // Files and not `Stdin` and `Stdout`: no lock, no second buffer, no search for newlines.
    let mut input = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    let mut output = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let finders = Finders::new();
    let mut buffer = vec![0; READ];
    let mut filled = 0;
    let mut answers = Vec::with_capacity(2 * READ);
    loop {
        let count = input.read(&mut buffer[filled..])?;
        if count == 0 {
            return Ok(());
        }
        filled += count;
        let mut start = 0;
        while let Some(length) = memchr(b'\n', &buffer[start..filled]) {
            finders.answer(&buffer[start..start + length], &mut answers);
            start += length + 1;
        }
        buffer.copy_within(start..filled, 0);
        filled -= start;
        if filled == buffer.len() {
            buffer.resize(2 * filled, 0);
        }
        output.write_all(&answers)?;
        answers.clear();
    }
}

struct Finders {
    id: memmem::Finder<'static>,
    text: memmem::Finder<'static>,
}

impl Finders {
    fn new() -> Self {
        Self {
            id: memmem::Finder::new("\"id\":"),
            text: memmem::Finder::new("\"text\":\""),
        }
    }

    /// Appends the answer to one line; nothing for a notification.
    fn answer(&self, line: &[u8], out: &mut Vec<u8>) {
        let Some(id) = self.id(line) else {
            return;
        };
        out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
        out.extend_from_slice(id);
        if let Some(text) = self.text(line) {
            out.extend_from_slice(b",\"result\":{\"resultType\":\"complete\",\"content\":[{\"type\":\"text\",\"text\":\"");
            out.extend_from_slice(text);
            out.extend_from_slice(b"\"}]}}\n");
        } else if memmem::find(line, b"\"initialize\"").is_some() {
            out.extend_from_slice(
                b",\"result\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{\"tools\":{}},\
                  \"serverInfo\":{\"name\":\"floor\",\"version\":\"0.1.0\"}}}\n",
            );
        } else {
            out.extend_from_slice(
                b",\"error\":{\"code\":-32601,\"message\":\"only initialize and echo\"}}\n",
            );
        }
    }

    /// The id as written, number or string.
    fn id<'l>(&self, line: &'l [u8]) -> Option<&'l [u8]> {
        let rest = &line[self.id.find(line)? + self.id.needle().len()..];
        rest.get(..memchr2(b',', b'}', rest)?)
    }

    /// The inside of the string after `"text":`, escapes and all.
    fn text<'l>(&self, line: &'l [u8]) -> Option<&'l [u8]> {
        let rest = &line[self.text.find(line)? + self.text.needle().len()..];
        let mut end = 0;
        loop {
            end += memchr2(b'"', b'\\', rest.get(end..)?)?;
            if rest[end] == b'"' {
                return rest.get(..end);
            }
            end += 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn answer(request: &Value) -> Vec<u8> {
        let mut out = Vec::new();
        Finders::new().answer(request.to_string().as_bytes(), &mut out);
        out
    }

    #[test]
    fn a_call_is_echoed_with_its_escapes() {
        for text in ["", "plain", "a \"quoted\" \\ \u{e9}\n\\", "\\\""] {
            let request = json!({"jsonrpc": "2.0", "id": 12, "method": "tools/call",
                "params": {"name": "echo", "arguments": {"text": text}}});
            let out = answer(&request);
            assert_eq!(out.last(), Some(&b'\n'));
            let answer: Value = serde_json::from_slice(&out).expect("JSON");
            assert_eq!(answer["id"], 12);
            assert_eq!(answer["result"]["content"][0]["text"], text);
        }
    }

    #[test]
    fn a_string_id_keeps_its_quotes() {
        let request = json!({"jsonrpc": "2.0", "id": "x", "method": "initialize"});
        let answer: Value = serde_json::from_slice(&answer(&request)).expect("JSON");
        assert_eq!(answer["id"], "x");
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25");
    }

    #[test]
    fn the_rest_is_refused_or_passed_over() {
        let request = json!({"jsonrpc": "2.0", "id": 3, "method": "ping"});
        let refused: Value = serde_json::from_slice(&answer(&request)).expect("JSON");
        assert_eq!(refused["error"]["code"], -32601);
        let notification = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        assert!(answer(&notification).is_empty());
        let mut out = Vec::new();
        Finders::new().answer(b"{\"id\":1,\"text\":\"cut \\", &mut out);
        assert!(out.starts_with(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"error\""));
    }
}
