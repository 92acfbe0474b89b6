//! `application/x-www-form-urlencoded`, both ways.

/// Appends `text` with everything but unreserved characters (RFC 3986, section 2.3) in percent.
pub(super) fn escape(out: &mut String, text: &str) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push('%');
            out.push(char::from(DIGITS[usize::from(byte >> 4)]));
            out.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
    }
}

/// The same, by itself.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    escape(&mut out, text);
    out
}

/// Parameters as they stand in a query or a body.
#[derive(Default)]
pub(super) struct Form(String);

impl Form {
    pub(super) fn add(&mut self, name: &str, value: &str) {
        if !self.0.is_empty() {
            self.0.push('&');
        }
        escape(&mut self.0, name);
        self.0.push('=');
        escape(&mut self.0, value);
    }

    pub(super) fn add_some(&mut self, name: &str, value: Option<&str>) {
        if let Some(value) = value {
            self.add(name, value);
        }
    }

    pub(super) fn into_string(self) -> String {
        self.0
    }
}

/// The parameters of a query. `None` if one of those named in `single` stands there twice (RFC 6749, section 3.1), or if
/// something is not text.
pub(super) fn parse(query: &str, single: &[&str]) -> Option<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        let (name, value) = (unescape(name)?, unescape(value)?);
        if single.contains(&name.as_str()) && pairs.iter().any(|(known, _)| *known == name) {
            return None;
        }
        pairs.push((name, value));
    }
    Some(pairs)
}

fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                u8::try_from(digit()? * 16 + digit()?).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let mut form = Form::default();
        form.add("a b", "x&y=z+%ü~");
        form.add_some("none", None);
        form.add("state", "");
        let text = form.into_string();
        assert_eq!(text, "a%20b=x%26y%3Dz%2B%25%C3%BC~&state=");
        let read = parse(&text, &["state"]).expect("a form");
        let expected = [("a b", "x&y=z+%ü~"), ("state", "")];
        assert_eq!(read, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    }

    #[test]
    fn doubled_or_broken_parameters_are_none() {
        assert_eq!(parse("code=1&code=2", &["code"]), None);
        assert!(parse("other=1&other=2", &["code"]).is_some());
        for broken in ["a=%", "a=%4", "a=%zz", "a=%ff", "%+1=2"] {
            assert_eq!(parse(broken, &[]), None, "{broken}");
        }
    }
}
