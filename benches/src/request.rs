//! The requests the load program sends: bytes built once, ids patched in.

use clap::ValueEnum;

/// Decimal digits of every id this program uses.
///
/// A fixed width makes patching a copy to a fixed place, and lets an answer be compared with an earlier one byte by byte.
pub const ID_DIGITS: usize = 10;

/// The smallest id: the first power of two with [`ID_DIGITS`] digits, so that an id's low bits can name its slot.
pub const FIRST_ID: u64 = 1 << 30;

/// The largest id with [`ID_DIGITS`] digits.
pub const LAST_ID: u64 = 9_999_999_999;

/// The revision spoken in [`Era::Legacy`].
pub const LEGACY_VERSION: &str = "2025-11-25";

/// The revision spoken in [`Era::Modern`].
pub const MODERN_VERSION: &str = "2026-07-28";

/// Which of the protocol's two eras a run speaks.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
#[non_exhaustive]
pub enum Era {
    /// Revision 2026-07-28: no handshake, every request carries its context.
    Modern,
    /// Revision 2025-11-25: `initialize`, then bare requests.
    Legacy,
}

impl Era {
    /// The era's name as the command line spells it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Modern => "modern",
            Self::Legacy => "legacy",
        }
    }
}

/// One `tools/call` request as a line, with two holes: its id, and the same digits at the start of the text argument.
///
/// The digits in the text tie each text to its request: a server that swaps two texts is found out.
#[derive(Clone, Debug)]
pub struct Template {
    line: Vec<u8>,
    id_at: usize,
    text_at: usize,
}

impl Template {
    /// A request in `era` for `tool` with one argument `text` of `text_len` bytes (at least [`ID_DIGITS`] are used).
    #[must_use]
    pub fn new(era: Era, tool: &str, text_len: usize) -> Self {
        let mut line = b"{\"jsonrpc\":\"2.0\",\"id\":".to_vec();
        let id_at = line.len();
        line.extend_from_slice(&digits(FIRST_ID));
        line.extend_from_slice(b",\"method\":\"tools/call\",\"params\":{\"name\":");
        line.extend_from_slice(serde_json::Value::from(tool).to_string().as_bytes());
        line.extend_from_slice(b",\"arguments\":{\"text\":\"");
        let text_at = line.len();
        line.extend_from_slice(text(FIRST_ID, text_len).as_bytes());
        line.extend_from_slice(b"\"}");
        if era == Era::Modern {
            line.extend_from_slice(b",\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"");
            line.extend_from_slice(MODERN_VERSION.as_bytes());
            line.extend_from_slice(b"\",\"io.modelcontextprotocol/clientCapabilities\":{}");
            line.extend_from_slice(b",\"io.modelcontextprotocol/clientInfo\":");
            line.extend_from_slice(CLIENT_INFO.as_bytes());
            line.push(b'}');
        }
        line.extend_from_slice(b"}}\n");
        Self {
            line,
            id_at,
            text_at,
        }
    }

    /// Appends the request with this id, newline included.
    pub fn append(&self, id: u64, out: &mut Vec<u8>) {
        let start = out.len();
        let digits = digits(id);
        out.extend_from_slice(&self.line);
        for hole in [self.id_at, self.text_at] {
            out[start + hole..start + hole + ID_DIGITS].copy_from_slice(&digits);
        }
    }
}

const CLIENT_INFO: &str = "{\"name\":\"mcp-load\",\"version\":\"0.1.0\"}";

/// The `initialize` request of [`Era::Legacy`], newline included, with id 1.
#[must_use]
pub fn initialize() -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{{\"protocolVersion\":\"{LEGACY_VERSION}\",\
         \"capabilities\":{{}},\"clientInfo\":{CLIENT_INFO}}}}}\n"
    )
}

/// The notification that ends the handshake of [`Era::Legacy`], newline included.
pub const INITIALIZED: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";

/// The text argument of the request with this id: its digits, then letters up to `len` bytes.
#[must_use]
pub fn text(id: u64, len: usize) -> String {
    let letters = (b'a'..=b'z').cycle().map(char::from);
    digits(id)
        .into_iter()
        .map(char::from)
        .chain(letters)
        .take(len.max(ID_DIGITS))
        .collect()
}

/// The last [`ID_DIGITS`] decimal digits of `id`.
#[must_use]
pub fn digits(id: u64) -> [u8; ID_DIGITS] {
    let mut rest = id;
    let mut digits = [b'0'; ID_DIGITS];
    for digit in digits.iter_mut().rev() {
        // The remainder is below ten.
        *digit += (rest % 10) as u8;
        rest /= 10;
    }
    digits
}

/// The reverse of [`digits`]; `None` if any byte is not a decimal digit.
#[must_use]
pub fn parse_digits(digits: [u8; ID_DIGITS]) -> Option<u64> {
    let mut id = 0;
    for digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        id = id * 10 + u64::from(digit - b'0');
    }
    Some(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn request(era: Era, id: u64) -> Value {
        let mut out = b"before".to_vec();
        Template::new(era, "ec\"ho", 32).append(id, &mut out);
        assert_eq!(out.pop(), Some(b'\n'));
        serde_json::from_slice(&out[6..]).expect("a request is JSON")
    }

    #[test]
    fn a_request_is_json_with_its_id_in_both_holes() {
        for era in [Era::Modern, Era::Legacy] {
            let request = request(era, 1_234_567_890);
            assert_eq!(request["id"], 1_234_567_890_u64);
            assert_eq!(request["params"]["name"], "ec\"ho");
            assert_eq!(
                request["params"]["arguments"]["text"],
                "1234567890abcdefghijklmnopqrstuv"
            );
        }
    }

    #[test]
    fn only_the_modern_era_carries_its_context() {
        let meta = &request(Era::Modern, FIRST_ID)["params"]["_meta"];
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"],
            MODERN_VERSION
        );
        assert!(meta["io.modelcontextprotocol/clientCapabilities"].is_object());
        assert_eq!(
            meta["io.modelcontextprotocol/clientInfo"]["name"],
            "mcp-load"
        );
        assert!(request(Era::Legacy, FIRST_ID)["params"]["_meta"].is_null());
    }

    #[test]
    fn the_handshake_is_json() {
        let initialize: Value = serde_json::from_str(&initialize()).expect("JSON");
        assert_eq!(initialize["params"]["protocolVersion"], LEGACY_VERSION);
        let initialized: Value = serde_json::from_str(INITIALIZED).expect("JSON");
        assert_eq!(initialized["method"], "notifications/initialized");
    }

    #[test]
    fn digits_and_back() {
        for id in [0, 7, FIRST_ID, 1_000_000_009, LAST_ID] {
            assert_eq!(parse_digits(digits(id)), Some(id));
        }
        assert_eq!(digits(FIRST_ID), *b"1073741824");
        assert_eq!(parse_digits(*b"123456789 "), None);
        assert_eq!(parse_digits(*b"-123456789"), None);
    }

    #[test]
    fn a_short_text_still_holds_the_digits() {
        assert_eq!(text(FIRST_ID, 0), "1073741824");
    }
}
