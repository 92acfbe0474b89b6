//! `WWW-Authenticate`: what a server wants to see (RFC 9110, section 11.6.1; DSC-01).

use core::fmt;

/// So many challenges of one response are read.
const MOST: usize = 16;

/// So many parameters of one challenge are.
const PARAMETERS: usize = 32;

/// One challenge: a scheme, and what it says.
#[derive(Clone, Eq, PartialEq)]
#[non_exhaustive]
pub struct Challenge {
    /// The scheme, such as `Bearer`, as the server writes it.
    pub scheme: String,
    parameters: Vec<(String, String)>,
}

impl Challenge {
    /// The challenges of a response, from all of its `WWW-Authenticate` fields in order. What is malformed ends the field
    /// it stands in; what was read before that counts. At most 16 challenges with 32 parameters each are read.
    pub fn parse_all<'f>(fields: impl IntoIterator<Item = &'f [u8]>) -> Vec<Self> {
        let mut challenges = Vec::new();
        for field in fields {
            let mut reader = Reader {
                field,
                challenges: &mut challenges,
            };
            // The grammar has nothing to resume at.
            let _ = reader.read();
        }
        challenges
    }

    /// The value of a parameter, whose name may be in any case; the first one, if it stands there twice.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let mut parameters = self.parameters.iter();
        parameters
            .find(|(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// All values of a parameter, in order: some servers send one twice (OA-09).
    pub(super) fn all(&self, name: &'static str) -> impl Iterator<Item = &str> {
        let parameters = self.parameters.iter();
        parameters
            .filter(move |(known, _)| known.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// Whether it is of this scheme.
    #[must_use]
    pub fn is(&self, scheme: &str) -> bool {
        self.scheme.eq_ignore_ascii_case(scheme)
    }
}

/// Nonces are not secret, but what servers put here is theirs.
impl fmt::Debug for Challenge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.parameters.iter().map(|(name, _)| name).collect();
        f.debug_struct("Challenge")
            .field("scheme", &self.scheme)
            .field("parameters", &names)
            .finish()
    }
}

struct Reader<'r> {
    field: &'r [u8],
    challenges: &'r mut Vec<Challenge>,
}

impl Reader<'_> {
    fn read(&mut self) -> Option<()> {
        // Whether the next token may be a parameter of the last challenge.
        let mut open = false;
        loop {
            self.skip_commas();
            if self.field.is_empty() {
                return Some(());
            }
            let name = self.token()?;
            let spaced = self.skip_blanks();
            if open && self.take(b'=') {
                self.skip_blanks();
                self.add(name)?;
                continue;
            }
            self.begin(name)?;
            open = true;
            // One blank at least stands between a scheme and what follows.
            if spaced && !self.field.is_empty() && self.field[0] != b',' {
                self.first()?;
            }
        }
    }

    /// What follows the scheme: a parameter, a token68, or a comma.
    fn first(&mut self) -> Option<()> {
        let before = self.field;
        let name = self.token68();
        let padded = name.ends_with('=');
        self.skip_blanks();
        let ends = self.field.is_empty() || self.field[0] == b',';
        if ends && !name.is_empty() && (padded || !name.contains('=')) {
            // A token68 (Basic's credentials, Negotiate's): no scheme of ours has one.
            return Some(());
        }
        self.field = before;
        let name = self.token()?;
        self.skip_blanks();
        if !self.take(b'=') {
            return None;
        }
        self.skip_blanks();
        self.add(name)
    }

    fn begin(&mut self, scheme: String) -> Option<()> {
        if self.challenges.len() == MOST {
            return None;
        }
        self.challenges.push(Challenge {
            scheme,
            parameters: Vec::new(),
        });
        Some(())
    }

    fn add(&mut self, name: String) -> Option<()> {
        let value = if self.field.first() == Some(&b'"') {
            self.quoted()?
        } else {
            self.token()?
        };
        let parameters = &mut self.challenges.last_mut()?.parameters;
        if parameters.len() == PARAMETERS {
            return None;
        }
        parameters.push((name, value));
        Some(())
    }

    fn token(&mut self) -> Option<String> {
        let is_token =
            |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
        let end = self.field.iter().take_while(|byte| is_token(byte)).count();
        self.cut(end)
    }

    /// A run of what a token68 consists of, with its padding.
    fn token68(&mut self) -> String {
        let is_one = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~+/=".contains(byte);
        let end = self.field.iter().take_while(|byte| is_one(byte)).count();
        self.cut(end).unwrap_or_default()
    }

    fn cut(&mut self, end: usize) -> Option<String> {
        let (text, rest) = self.field.split_at(end);
        self.field = rest;
        let text = core::str::from_utf8(text).ok()?;
        (!text.is_empty()).then(|| text.to_owned())
    }

    fn quoted(&mut self) -> Option<String> {
        let mut text = Vec::new();
        let mut at = 1;
        loop {
            match *self.field.get(at)? {
                b'"' => break,
                b'\\' => {
                    at += 1;
                    text.push(*self.field.get(at)?);
                }
                byte => text.push(byte),
            }
            at += 1;
        }
        self.field = &self.field[at + 1..];
        String::from_utf8(text).ok()
    }

    fn take(&mut self, byte: u8) -> bool {
        let there = self.field.first() == Some(&byte);
        if there {
            self.field = &self.field[1..];
        }
        there
    }

    /// Whether there were any. Line ends count as such: old servers fold fields.
    fn skip_blanks(&mut self) -> bool {
        let blanks = self
            .field
            .iter()
            .take_while(|byte| b" \t\r\n".contains(byte));
        let count = blanks.count();
        self.field = &self.field[count..];
        count > 0
    }

    fn skip_commas(&mut self) {
        while self.skip_blanks() || self.take(b',') {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &[&str]) -> Vec<String> {
        let challenges = Challenge::parse_all(fields.iter().map(|field| field.as_bytes()));
        let one = |challenge: &Challenge| {
            let parameters = challenge.parameters.iter();
            let parameters: Vec<_> = parameters.map(|(a, b)| format!("{a}:{b}")).collect();
            format!("{}[{}]", challenge.scheme, parameters.join(";"))
        };
        challenges.iter().map(one).collect()
    }

    #[test]
    fn challenges_of_any_form() {
        for (fields, expected) in [
            (&["Bearer"][..], &["Bearer[]"][..]),
            (&["Bearer realm=x"], &["Bearer[realm:x]"]),
            (
                &[r#"Bearer resource_metadata="https://h/x?a=1,b", scope="a b""#],
                &["Bearer[resource_metadata:https://h/x?a=1,b;scope:a b]"],
            ),
            (
                &[r#"Basic realm="a \"b\", Bearer c", Bearer error = "invalid_token" , scope=x"#],
                &[
                    r#"Basic[realm:a "b", Bearer c]"#,
                    "Bearer[error:invalid_token;scope:x]",
                ],
            ),
            (
                &["Negotiate abc/+==, Bearer scope=y"],
                &["Negotiate[]", "Bearer[scope:y]"],
            ),
            (
                &["Basic, , Bearer", "DPoP algs=\"ES256\""],
                &["Basic[]", "Bearer[]", "DPoP[algs:ES256]"],
            ),
            (
                &["Bearer scope=\"a\",\r\n  error=\"b\""],
                &["Bearer[scope:a;error:b]"],
            ),
            (&["bearer SCOPE=a,scope=b"], &["bearer[SCOPE:a;scope:b]"]),
            (&["NTLM dG9rZW4, Bearer"], &["NTLM[]", "Bearer[]"]),
            // Malformed: what can be read counts.
            (&["Bearer scope=\"a"], &["Bearer[]"]),
            (&["=x", "Bearer a=b"], &["Bearer[a:b]"]),
            (&["Bearer a=b c=d"], &["Bearer[a:b;c:d]"]),
            (&["Bearer a=b ="], &["Bearer[a:b]"]),
            (&[""], &[]),
        ] {
            assert_eq!(read(fields), expected, "{fields:?}");
        }
    }

    #[test]
    fn no_prefix_panics_and_nothing_is_unbounded() {
        let whole = br#"Basic realm="a\"b", Bearer scope="x y", DPoP abc==, "#;
        for end in 0..whole.len() {
            Challenge::parse_all([&whole[..end]]);
        }
        let many = "Bearer a=b, ".repeat(1000);
        assert_eq!(Challenge::parse_all([many.as_bytes()]).len(), MOST);
        let parameters = format!("Bearer {}", "a=b, ".repeat(1000));
        let read = Challenge::parse_all([parameters.as_bytes()]);
        assert_eq!(read[0].parameters.len(), PARAMETERS);
        assert_eq!(read[0].parameter("A"), Some("b"));
    }
}
