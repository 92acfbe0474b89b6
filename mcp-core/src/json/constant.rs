//! JSON that is checked when the program is compiled.

/// Where nothing valid ends.
const NOWHERE: usize = usize::MAX;

/// How many arrays and objects may be open at once: a bit for each.
const DEPTH: u32 = u128::BITS;

/// Whether `text` is one JSON value with nothing around it.
pub(super) const fn is_value(text: &[u8]) -> bool {
    if text.is_empty() || is_blank(text[0]) || is_blank(text[text.len() - 1]) {
        return false;
    }
    let (mut at, mut depth) = (0, 0);
    // One bit for each that is open, the innermost last: set for an object.
    let mut objects = 0_u128;
    loop {
        at = skip_blanks(text, at);
        if at >= text.len() {
            return false;
        }
        let first = text[at];
        if first == b'{' || first == b'[' {
            if depth == DEPTH {
                return false;
            }
            let is_object = first == b'{';
            objects = objects << 1 | is_object as u128;
            depth += 1;
            at = skip_blanks(text, at + 1);
            let is_empty = at < text.len() && text[at] == first + 2;
            if !is_empty {
                if is_object {
                    at = name(text, at);
                }
                continue;
            }
        } else {
            at = scalar(text, at);
        }
        // A value has ended, or is about to.
        loop {
            at = skip_blanks(text, at);
            if depth == 0 {
                return at == text.len();
            }
            if at >= text.len() {
                return false;
            }
            let is_object = objects & 1 == 1;
            match text[at] {
                b',' => {
                    at = match is_object {
                        true => name(text, skip_blanks(text, at + 1)),
                        false => at + 1,
                    };
                    break;
                }
                b'}' if is_object => {}
                b']' if !is_object => {}
                _ => return false,
            }
            at += 1;
            depth -= 1;
            objects >>= 1;
        }
    }
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\n' | b'\r' | b'\t')
}

const fn skip_blanks(text: &[u8], mut at: usize) -> usize {
    while at < text.len() && is_blank(text[at]) {
        at += 1;
    }
    at
}

/// The place after a name and its colon.
const fn name(text: &[u8], at: usize) -> usize {
    if at >= text.len() || text[at] != b'"' {
        return NOWHERE;
    }
    let colon = skip_blanks(text, string(text, at));
    if colon >= text.len() || text[colon] != b':' {
        return NOWHERE;
    }
    colon + 1
}

/// The place after a string, a number or a word.
const fn scalar(text: &[u8], at: usize) -> usize {
    match text[at] {
        b'"' => string(text, at),
        b't' => word(text, at, b"true"),
        b'f' => word(text, at, b"false"),
        b'n' => word(text, at, b"null"),
        _ => number(text, at),
    }
}

const fn word(text: &[u8], at: usize, word: &[u8]) -> usize {
    let mut nth = 0;
    while nth < word.len() {
        if at + nth >= text.len() || text[at + nth] != word[nth] {
            return NOWHERE;
        }
        nth += 1;
    }
    at + nth
}

const fn string(text: &[u8], quote: usize) -> usize {
    let mut at = quote + 1;
    while at < text.len() {
        match text[at] {
            b'"' => return at + 1,
            0..b' ' => return NOWHERE,
            b'\\' if at + 1 < text.len() => match text[at + 1] {
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => at += 2,
                b'u' => {
                    let end = at + 6;
                    at += 2;
                    while at < end {
                        if at >= text.len() || !text[at].is_ascii_hexdigit() {
                            return NOWHERE;
                        }
                        at += 1;
                    }
                }
                _ => return NOWHERE,
            },
            _ => at += 1,
        }
    }
    NOWHERE
}

const fn number(text: &[u8], mut at: usize) -> usize {
    if text[at] == b'-' {
        at += 1;
    }
    let whole = digits(text, at);
    if whole == NOWHERE || (text[at] == b'0' && whole > at + 1) {
        return NOWHERE;
    }
    at = whole;
    if at < text.len() && text[at] == b'.' {
        at = digits(text, at + 1);
    }
    if at < text.len() && matches!(text[at], b'e' | b'E') {
        at += 1;
        if at < text.len() && matches!(text[at], b'+' | b'-') {
            at += 1;
        }
        at = digits(text, at);
    }
    at
}

/// The place after one digit or more.
const fn digits(text: &[u8], mut at: usize) -> usize {
    let start = at;
    while at < text.len() && text[at].is_ascii_digit() {
        at += 1;
    }
    if at == start { NOWHERE } else { at }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::is_value;
    use crate::json::RawJson;

    fn agrees(text: &str) {
        let checked = RawJson::parse(text.as_bytes());
        let bare = checked.is_ok_and(|value| value.as_str().len() == text.len());
        assert_eq!(is_value(text.as_bytes()), bare, "{text:?}");
    }

    #[test]
    fn agrees_with_the_reader_on_every_cut_and_every_change_of_a_byte() {
        let text =
            r#"{"a":[1,-0.5e+3,"\u00e9\n",{}],"b" : [ ],"c":{"d":true,"e":null , "f":false}}"#;
        agrees(text);
        for at in 0..text.len() {
            agrees(&text[..at]);
            agrees(&text[at..]);
            for byte in 0..0x80_u8 {
                let mut changed = text.as_bytes().to_vec();
                changed[at] = byte;
                agrees(core::str::from_utf8(&changed).expect("ASCII"));
            }
        }
    }

    proptest! {
        #[test]
        fn agrees_with_the_reader(text in r#"[\[\]{}:,"\\ue+\-.0-9 tfnrlas]{0,12}"#) {
            agrees(&text);
        }
    }
}
