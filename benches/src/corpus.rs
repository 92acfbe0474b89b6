//! Messages of real shapes, made up: the same bytes in every run, on every machine, with every set of features.

use core::fmt::Write;

use crate::request::Era;

/// One message of the corpus.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Message {
    /// What it is, for a report.
    pub name: &'static str,
    /// The method it calls; `None` if it is a response.
    pub method: Option<&'static str>,
    /// Its text: compact JSON without a line end.
    pub json: String,
}

/// All shapes, from the smallest to the one with the longest string.
#[must_use]
pub fn all() -> Vec<Message> {
    vec![
        ping(),
        echo_call(Era::Modern),
        structured_arguments(),
        structured_result(),
        escaped_text(),
        non_ascii_text(),
        long_text(),
    ]
}

/// `ping` without params: legacy, the modern era has none.
#[must_use]
pub fn ping() -> Message {
    Message {
        name: "ping",
        method: Some("ping"),
        json: r#"{"jsonrpc":"2.0","id":42,"method":"ping"}"#.into(),
    }
}

/// `tools/list` without a cursor.
#[must_use]
pub fn list(era: Era) -> Message {
    let params = match era {
        Era::Modern => format!(r#","params":{{"_meta":{META}}}"#),
        Era::Legacy => String::new(),
    };
    Message {
        name: "list",
        method: Some("tools/list"),
        json: format!(r#"{{"jsonrpc":"2.0","id":42,"method":"tools/list"{params}}}"#),
    }
}

/// The call that most figures are about: the tool `echo` with a short text, [`CALL_LEN`] bytes in the modern era. The
/// legacy one is the same without `_meta`.
#[must_use]
pub fn echo_call(era: Era) -> Message {
    let call = |era, text: &str| {
        let arguments = format!(r#"{{"text":"{text}"}}"#);
        tool_call("echo_call", era, "echo", &arguments)
    };
    let empty = call(Era::Modern, "");
    call(era, &prose(CALL_LEN - empty.json.len()))
}

/// The length of the modern [`echo_call`], in bytes.
pub const CALL_LEN: usize = 355;

/// A call of about 4 KB with nested objects, arrays and numbers of all kinds.
#[must_use]
pub fn structured_arguments() -> Message {
    let arguments = format!(
        r#"{{"dry_run":false,"rows":[{}]}}"#,
        rows(4 * 1024 - CALL_LEN)
    );
    tool_call("arguments_4k", Era::Modern, "import_rows", &arguments)
}

/// The result of a call, about 34 KB of structured content.
#[must_use]
pub fn structured_result() -> Message {
    Message {
        name: "result_34k",
        method: None,
        json: format!(
            r#"{{"jsonrpc":"2.0","id":42,"result":{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/serverInfo":{{"name":"example-server","version":"3.0.1"}}}},"content":[{{"type":"text","text":"rows found"}}],"structuredContent":{{"rows":[{}],"next":null}}}}}}"#,
            rows(34 * 1024 - CALL_LEN)
        ),
    }
}

/// A call with one text argument of about 8 KB: source code, with an escape every 15 bytes or so.
#[must_use]
pub fn escaped_text() -> Message {
    let mut code = String::new();
    for n in 0.. {
        let [first, second] = words(n);
        let function = format!(
            "fn {first}_{n}(path: &str) -> bool {{\n    // Where the {second} of {first} is.\n    \
             path == \"C:\\{second}\" || path.is_empty()\n}}\n"
        );
        if code.len() + function.len() > TEXT_LEN {
            break;
        }
        code.push_str(&function);
    }
    text_call("escaped_8k", &code)
}

/// A call with one text argument of about 8 KB in several scripts, not escaped.
#[must_use]
pub fn non_ascii_text() -> Message {
    let phrases = [
        "Größe geprüft, ",
        "données trouvées – ",
        "проверка каталога, ",
        "検索結果を表示します。",
        "αποτελέσματα, ",
        "🙂 hecho. ",
    ];
    let mut text = String::new();
    for phrase in phrases.into_iter().cycle() {
        if text.len() + phrase.len() > TEXT_LEN {
            break;
        }
        text.push_str(phrase);
    }
    text_call("non_ascii_8k", &text)
}

/// A call with one text argument of 70 KB without an escape.
#[must_use]
pub fn long_text() -> Message {
    text_call("text_70k", &prose(70 * 1024))
}

/// The shapes that are too long to be mixed with the others: a call of 1 MB of structured arguments, and the result of
/// `resources/read` with a blob of 16 MiB in base64.
#[must_use]
pub fn large() -> Vec<Message> {
    vec![structured_megabyte(), blob()]
}

/// A call like [`structured_arguments`], of about 1 MB.
#[must_use]
pub fn structured_megabyte() -> Message {
    let arguments = format!(
        r#"{{"dry_run":false,"rows":[{}]}}"#,
        rows(1024 * 1024 - CALL_LEN)
    );
    tool_call("arguments_1m", Era::Modern, "import_rows", &arguments)
}

/// The result of `resources/read`: 12 MiB of binary data, as 16 MiB of base64.
#[must_use]
pub fn blob() -> Message {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut data = String::with_capacity(BLOB_LEN);
    for n in 0.. {
        let roll = mix(n);
        if data.len() == BLOB_LEN {
            break;
        }
        data.extend((0..8).map(|at| char::from(ALPHABET[(roll >> (8 * at)) as usize & 63])));
    }
    Message {
        name: "blob_16m",
        method: None,
        json: format!(
            r#"{{"jsonrpc":"2.0","id":42,"result":{{"resultType":"complete","ttlMs":0,"cacheScope":"private","contents":[{{"uri":"file:///scan.tiff","mimeType":"image/tiff","blob":"{data}"}}]}}}}"#
        ),
    }
}

/// A modern call of the tool `echo`, `len` bytes long.
///
/// # Panics
///
/// If it would be shorter than one with an empty text, some 300 bytes.
#[must_use]
pub fn echo_call_of(len: usize) -> Message {
    let empty = tool_call("sized", Era::Modern, "echo", r#"{"text":""}"#)
        .json
        .len();
    let text = prose(len.checked_sub(empty).expect("room for the envelope"));
    tool_call(
        "sized",
        Era::Modern,
        "echo",
        &format!(r#"{{"text":"{text}"}}"#),
    )
}

/// The arguments of a call, or the result of a response, as they stand in it.
///
/// # Panics
///
/// If it has neither.
#[must_use]
pub fn payload(message: &Message) -> &str {
    let name = match message.method {
        Some(_) => r#","arguments":"#,
        None => r#","result":"#,
    };
    let ends = if message.method.is_some() { 2 } else { 1 };
    let (_, payload) = message.json.split_once(name).expect("a payload");
    &payload[..payload.len() - ends]
}

/// Messages in turn, each on a line with its line end, up to `max` bytes.
#[must_use]
pub fn block(messages: &[Message], max: usize) -> Vec<u8> {
    let mut block = Vec::with_capacity(max);
    for message in messages.iter().cycle() {
        if block.len() + message.json.len() >= max {
            break;
        }
        block.extend_from_slice(message.json.as_bytes());
        block.push(b'\n');
    }
    block
}

/// The `_meta` that every modern request carries.
const META: &str = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"io.modelcontextprotocol/clientInfo":{"name":"client","version":"1.4.2"}}"#;

/// The length of the blob, in base64.
const BLOB_LEN: usize = 16 * 1024 * 1024;

/// The length of the text of 8 KB calls, at most.
const TEXT_LEN: usize = 8 * 1024;

fn text_call(name: &'static str, text: &str) -> Message {
    let text = serde_json::Value::from(text);
    tool_call(name, Era::Modern, "echo", &format!(r#"{{"text":{text}}}"#))
}

fn tool_call(name: &'static str, era: Era, tool: &str, arguments: &str) -> Message {
    let meta = match era {
        Era::Modern => format!(r#""_meta":{META},"#),
        Era::Legacy => String::new(),
    };
    Message {
        name,
        method: Some("tools/call"),
        json: format!(
            r#"{{"jsonrpc":"2.0","id":42,"method":"tools/call","params":{{{meta}"name":"{tool}","arguments":{arguments}}}}}"#
        ),
    }
}

/// Objects separated by commas, at least one and up to `max` bytes of them.
fn rows(max: usize) -> String {
    let mut rows = String::new();
    for n in 0.. {
        let before = rows.len();
        if before > 0 {
            rows.push(',');
        }
        write_row(n, &mut rows).expect("a String takes anything");
        if before > 0 && rows.len() > max {
            rows.truncate(before);
            break;
        }
    }
    rows
}

fn write_row(n: u64, out: &mut String) -> core::fmt::Result {
    let [first, second] = words(n);
    let roll = mix(n);
    write!(
        out,
        r#"{{"id":{id},"sku":"{sku:08X}","name":"{first} {second}","price":{price}.{cents:02},"stock":{stock},"active":{active},"weight":{kilos}.{grams:03},"replaces":null,"tags":["{second}","{first}"],"size":{{"width":{width},"height":{height},"unit":"mm"}}}}"#,
        id = 100_000 + n,
        sku = roll >> 32,
        price = roll % 1_000,
        cents = roll % 97,
        stock = roll % 5_000,
        active = roll.is_multiple_of(3),
        kilos = roll % 41,
        grams = roll % 1_000,
        width = roll % 900,
        height = roll % 700,
    )
}

/// `len` bytes of words without a letter that JSON escapes.
fn prose(len: usize) -> String {
    let words = (0..).flat_map(words).flat_map(|word| [word, " "]);
    words.flat_map(str::chars).take(len).collect()
}

fn words(n: u64) -> [&'static str; 2] {
    const WORDS: [&str; 16] = [
        "a",
        "as",
        "the",
        "copper",
        "report",
        "of",
        "search",
        "result",
        "index",
        "is",
        "ready",
        "window",
        "which",
        "agent",
        "configuration",
        "north",
    ];
    let roll = mix(n);
    // Four bits each.
    [roll, roll >> 4].map(|roll| WORDS[(roll & 15) as usize])
}

/// Numbers without a visible pattern: the finaliser of SplitMix64.
const fn mix(n: u64) -> u64 {
    let n = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let n = (n ^ (n >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let n = (n ^ (n >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    n ^ (n >> 31)
}

#[cfg(test)]
mod tests {
    use core::iter;

    use super::*;
    use serde_json::Value;

    fn value(message: &Message) -> Value {
        serde_json::from_str(&message.json).expect(message.name)
    }

    fn text(message: &Message) -> String {
        let value = value(message);
        let text = value["params"]["arguments"]["text"].as_str();
        text.expect(message.name).into()
    }

    #[test]
    fn each_message_is_what_it_says() {
        for message in all() {
            let value = value(&message);
            assert_eq!(value["jsonrpc"], "2.0", "{}", message.name);
            assert_eq!(value["id"], 42, "{}", message.name);
            assert_eq!(value["method"].as_str(), message.method, "{}", message.name);
            assert_eq!(
                value["result"].is_object(),
                message.method.is_none(),
                "{}",
                message.name
            );
            assert!(!message.json.contains('\n'), "{}", message.name);
        }
    }

    #[test]
    fn sizes_are_those_of_the_names() {
        let sizes = all().into_iter().map(|message| message.json.len());
        let bounds = [
            40..=42,
            CALL_LEN..=CALL_LEN,
            3_800..=4_200,
            34_000..=35_000,
            8_000..=9_500,
            8_000..=9_000,
            71_600..=72_000,
        ];
        for (size, bounds) in iter::zip(sizes, bounds) {
            assert!(bounds.contains(&size), "{size} is not in {bounds:?}");
        }
    }

    #[test]
    fn texts_have_the_bytes_they_are_there_for() {
        let escaped = escaped_text();
        assert!(escaped.json.len() - text(&escaped).len() > 500, "escapes");
        assert!(text(&escaped).is_ascii());
        let non_ascii = non_ascii_text();
        assert!(!non_ascii.json.contains('\\'));
        assert!(text(&non_ascii).chars().count() < text(&non_ascii).len() * 3 / 4);
        let long = long_text();
        assert!(!long.json.contains('\\'));
        assert_eq!(text(&long).len(), 70 * 1024);
    }

    #[test]
    fn large_ones_are_as_long_as_their_names() {
        for (message, bounds) in
            iter::zip(large(), [1_040_000..=1_050_000, BLOB_LEN..=BLOB_LEN + 300])
        {
            let value = value(&message);
            assert_eq!(value["id"], 42, "{}", message.name);
            assert!(bounds.contains(&message.json.len()), "{}", message.name);
            let payload: Value = serde_json::from_str(payload(&message)).expect(message.name);
            let whole = if message.method.is_some() {
                &value["params"]["arguments"]
            } else {
                &value["result"]
            };
            assert_eq!(*whole, payload, "{}", message.name);
        }
    }

    #[test]
    fn a_call_is_as_long_as_was_asked_for() {
        for len in [CALL_LEN, 1_000, 70_000] {
            let message = echo_call_of(len);
            assert_eq!(message.json.len(), len);
            assert_eq!(value(&message)["method"], "tools/call");
        }
    }

    #[test]
    fn eras_differ_in_meta_only() {
        for make in [echo_call, list] {
            let mut modern = value(&make(Era::Modern));
            let legacy = value(&make(Era::Legacy));
            let meta = modern["params"]["_meta"].take();
            assert_eq!(
                meta["io.modelcontextprotocol/protocolVersion"],
                "2026-07-28"
            );
            assert!(legacy["params"]["_meta"].is_null());
            assert_eq!(modern["params"]["arguments"], legacy["params"]["arguments"]);
        }
    }

    #[test]
    fn a_block_is_whole_lines() {
        let messages = all();
        let block = block(&messages, 1 << 20);
        assert!(block.len() <= 1 << 20 && block.len() > 900_000);
        let lines: Vec<_> = core::str::from_utf8(&block)
            .expect("text")
            .lines()
            .collect();
        for (line, message) in iter::zip(&lines, messages.iter().cycle()) {
            assert_eq!(*line, message.json);
        }
        assert_eq!(
            lines.iter().map(|line| line.len() + 1).sum::<usize>(),
            block.len()
        );
    }

    /// Figures of two runs are about the same bytes.
    #[test]
    fn the_bytes_are_pinned() {
        let block = block(&all(), 1 << 20);
        let digest = block
            .iter()
            .fold(0xcbf2_9ce4_8422_2325, |hash: u64, &byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        assert_eq!(digest, 0x1f84_79a4_d430_44f5);
    }
}
