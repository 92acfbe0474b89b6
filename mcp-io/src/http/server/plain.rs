//! Requests that are there whole, read where they are.

use std::mem::MaybeUninit;

use httparse::{Header, Status};

/// How many headers are looked at here; requests with more are hyper's.
const HEADERS: usize = 32;

/// A `POST` of HTTP/1.1 that came whole, with its length told, after which the connection is used on.
#[derive(Debug)]
pub struct Plain<'a> {
    query: Option<&'a str>,
    headers: &'a [Header<'a>],
    body: &'a [u8],
}

/// How large the head of a request may be to be read here.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) head: usize,
    pub(super) headers: usize,
}

impl Plain<'_> {
    /// What follows the `?` of the target.
    #[must_use]
    pub const fn query(&self) -> Option<&str> {
        self.query
    }

    /// Names, spelled as they came, and values without the blanks around them, in their order.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.headers.iter().map(|it| (it.name, it.value))
    }

    /// The body: not empty.
    #[must_use]
    pub const fn body(&self) -> &[u8] {
        self.body
    }

    /// Shows `look` the request that these bytes are, no more and no less. `None`: they are not, or there is something to
    /// it that hyper knows better, be it an error. Whatever is taken here hyper reads in the same way.
    pub(super) fn read<T>(
        bytes: &[u8],
        bounds: Bounds,
        look: impl FnOnce(&Plain<'_>) -> T,
    ) -> Option<T> {
        let mut headers = [const { MaybeUninit::uninit() }; HEADERS];
        let mut request = httparse::Request::new(&mut []);
        let parsed = request.parse_with_uninit_headers(bytes, &mut headers);
        let Ok(Status::Complete(end)) = parsed else {
            return None;
        };
        let (head, body) = bytes.split_at_checked(end)?;
        let headers = &*request.headers;
        let fits = head.len() <= bounds.head && headers.len() <= bounds.headers;
        if request.method != Some("POST") || request.version != Some(1) || !fits {
            return None;
        }
        let target = request.path.filter(|it| is_plain_target(it))?;
        if body.is_empty() || body_length(headers)? != body.len() {
            return None;
        }
        let query = target.split_once('?').map(|(_, query)| query);
        Some(look(&Plain {
            query,
            headers,
            body,
        }))
    }
}

/// A path and perhaps a query, of bytes that mean the same to everybody.
fn is_plain_target(target: &str) -> bool {
    target.starts_with('/')
        && target
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"/-_.~?=&%+:,@".contains(&byte))
}

/// The length of the body, if it is told once and nothing else decides about it, nor about the connection.
fn body_length(headers: &[Header<'_>]) -> Option<usize> {
    let mut length = None;
    for Header { name, value } in headers {
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        let first = name.bytes().next()?.to_ascii_lowercase();
        match (name.len(), first) {
            (14, b'c') if is("content-length") => {
                let digits = (1..=9).contains(&value.len()) && value.iter().all(u8::is_ascii_digit);
                if !digits || length.is_some() {
                    return None;
                }
                let number = |sum, digit: &u8| sum * 10 + usize::from(digit - b'0');
                length = Some(value.iter().fold(0, number));
            }
            (10, b'c') if is("connection") && !value.eq_ignore_ascii_case(b"keep-alive") => {
                return None;
            }
            (2, b't') if is("te") => return None,
            (6, b'e') if is("expect") => return None,
            (7, b'u' | b't') if is("upgrade") || is("trailer") => return None,
            (17, b't') if is("transfer-encoding") => return None,
            _ => {}
        }
    }
    length
}
#[cfg(all(test, not(mcp_loom)))]
mod tests;
