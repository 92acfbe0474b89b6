//! Where a token is in a request: in the header `Authorization`, and nowhere else (RFC 6750, section 2.1; TOK-01). A query is
//! not looked at, for it ends up in logs.

use http::HeaderMap;
use http::header::AUTHORIZATION;

/// Longer ones are no tokens. Those of real issuers, with a user's groups in them, have a few KiB.
const LONGEST: usize = 16 * 1024;

/// What a request brings.
#[derive(Debug, Eq, PartialEq)]
pub(super) enum Bearer<'h> {
    /// Nothing, or credentials of another kind.
    None,
    Token(&'h str),
    /// AUT-03: a request that cannot be understood, and the reason.
    Malformed(&'static str),
}

impl<'h> Bearer<'h> {
    pub(super) fn of(headers: &'h HeaderMap) -> Self {
        let mut lines = headers.get_all(AUTHORIZATION).iter();
        let Some(line) = lines.next() else {
            return Self::None;
        };
        // Two readers might pick two different ones.
        if lines.next().is_some() {
            return Self::Malformed("There is more than one Authorization header");
        }
        let Ok(line) = line.to_str() else {
            return Self::Malformed("The Authorization header is not ASCII");
        };
        let (scheme, token) = line.split_once(' ').unwrap_or((line, ""));
        // RFC 9110, section 11.1: schemes are compared without regard to case.
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Self::None;
        }
        let token = token.trim_matches(' ');
        if token.len() > LONGEST {
            return Self::Malformed("The token is too long");
        }
        match is_token(token) {
            true => Self::Token(token),
            false => Self::Malformed("What follows Bearer is not one token"),
        }
    }
}

/// `b64token` of RFC 6750.
fn is_token(text: &str) -> bool {
    let bare = text.trim_end_matches('=');
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~+/".contains(&byte);
    !bare.is_empty() && bare.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bearer(lines: &[&str]) -> String {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(AUTHORIZATION, line.parse().expect("a value"));
        }
        match Bearer::of(&headers) {
            Bearer::None => "none".to_owned(),
            Bearer::Token(token) => token.to_owned(),
            Bearer::Malformed(_) => "malformed".to_owned(),
        }
    }

    #[test]
    fn one_header_has_one_token() {
        for (lines, expected) in [
            (&[][..], "none"),
            (&["Bearer abc"], "abc"),
            (&["bEARER  a.b-c_~+/=="], "a.b-c_~+/=="),
            (&["Basic abc"], "none"),
            (&["DPoP abc"], "none"),
            (&["Bearerabc"], "none"),
            (&["Bearer"], "malformed"),
            (&["Bearer "], "malformed"),
            (&["Bearer ="], "malformed"),
            (&["Bearer a b"], "malformed"),
            (&["Bearer a, Bearer b"], "malformed"),
            (&["Bearer \"a\""], "malformed"),
            (&["Bearer a=b"], "malformed"),
            (&["Bearer a", "Bearer a"], "malformed"),
            (&["Basic a", "Bearer a"], "malformed"),
        ] {
            assert_eq!(bearer(lines), expected, "{lines:?}");
        }
        let long = format!("Bearer {}", "a".repeat(LONGEST + 1));
        assert_eq!(bearer(&[&long]), "malformed");
    }
}
