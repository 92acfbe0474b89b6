//! The head of a request, as far as MCP looks at it.

use alloc::vec::Vec;

use super::accept::Accept;
use crate::model::ProtocolVersion;

/// Method, query and headers of one HTTP request. Names are compared without regard to case (HDR-10); the values are
/// bytes, with the blanks around them removed, as HTTP libraries do.
///
/// ```
/// use mcp_core::binding::http::Head;
///
/// let mut head = Head::new("POST", None);
/// head.push("host", b"127.0.0.1:8000");
/// head.push("content-type", b"application/json");
/// head.push("accept", b"application/json, text/event-stream");
/// ```
#[derive(Clone, Debug)]
pub struct Head<'a> {
    pub(super) method: &'a str,
    pub(super) query: Option<&'a str>,
    pub(super) lines: [Line<'a>; Known::COUNT],
    pub(super) accept: Accept,
    /// `Mcp-Param-…`, by what follows the prefix; few requests have any.
    pub(super) params: Vec<(&'a str, &'a [u8])>,
}

/// The lines of one header.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) enum Line<'a> {
    #[default]
    Absent,
    One(&'a [u8]),
    /// Several lines that say the same.
    Same(&'a [u8]),
    /// Several lines that do not.
    Differ,
}

/// The headers that are looked at.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Known {
    Host,
    Origin,
    ContentType,
    ProtocolVersion,
    Method,
    Name,
    SessionId,
    LastEventId,
    RequestMethod,
    RequestHeaders,
}

impl Known {
    const COUNT: usize = 10;

    fn of(name: &[u8]) -> Option<Self> {
        // No two are of the same length.
        let (is, it) = match name.len() {
            4 => (is(name, b"host"), Self::Host),
            6 => (is(name, b"origin"), Self::Origin),
            8 => (is(name, b"mcp-name"), Self::Name),
            10 => (is(name, b"mcp-method"), Self::Method),
            12 => (is(name, b"content-type"), Self::ContentType),
            13 => (is(name, b"last-event-id"), Self::LastEventId),
            14 => (is(name, b"mcp-session-id"), Self::SessionId),
            20 => (is(name, b"mcp-protocol-version"), Self::ProtocolVersion),
            29 => (
                is(name, b"access-control-request-method"),
                Self::RequestMethod,
            ),
            30 => (
                is(name, b"access-control-request-headers"),
                Self::RequestHeaders,
            ),
            _ => return None,
        };
        is.then_some(it)
    }
}

/// Whether this is `known`, which is in lower case. All bytes at once, as the length is known when this is compiled: most
/// clients send capitals, and one byte after the other takes as long as reading the body.
fn is<const N: usize>(name: &[u8], known: &[u8; N]) -> bool {
    let Ok(name) = <&[u8; N]>::try_from(name) else {
        return false;
    };
    let bytes = name.iter().zip(known);
    let differ = bytes.fold(0, |differ, (byte, known)| {
        differ | (byte.to_ascii_lowercase() ^ known)
    });
    differ == 0
}

const PARAM: &str = "mcp-param-";

impl<'a> Head<'a> {
    /// A request without headers; `method` is in capitals, `query` what follows the `?` of the target.
    #[must_use]
    pub const fn new(method: &'a str, query: Option<&'a str>) -> Self {
        Self {
            method,
            query,
            lines: [Line::Absent; Known::COUNT],
            accept: Accept::new(),
            params: Vec::new(),
        }
    }

    /// Adds a header line. Those that MCP does not look at are passed over.
    pub fn push(&mut self, name: &'a str, value: &'a [u8]) {
        if let Some(known) = Known::of(name.as_bytes()) {
            let line = &mut self.lines[known as usize];
            *line = match *line {
                Line::Absent => Line::One(value),
                Line::One(before) | Line::Same(before) if before == value => Line::Same(value),
                Line::One(_) | Line::Same(_) | Line::Differ => Line::Differ,
            };
        } else if is(name.as_bytes(), b"accept") {
            self.accept.line(value);
        } else if let Some((prefix, rest)) = name.split_at_checked(PARAM.len())
            && prefix.eq_ignore_ascii_case(PARAM)
        {
            self.params.push((rest, value));
        }
    }

    pub(super) const fn line(&self, known: Known) -> Line<'a> {
        self.lines[known as usize]
    }

    /// The version that is named, if it is a known one.
    pub(super) fn version(&self) -> Option<ProtocolVersion> {
        let named = self.line(Known::ProtocolVersion).value()?;
        ProtocolVersion::parse(core::str::from_utf8(named).ok()?)
    }

    /// The lines of `Mcp-Param-name`.
    pub(super) fn param(&self, name: &str) -> Line<'a> {
        let lines = self.params.iter();
        let mut values = lines.filter(|(other, _)| other.eq_ignore_ascii_case(name));
        let Some((_, first)) = values.next() else {
            return Line::Absent;
        };
        match values.all(|(_, value)| value == first) {
            true => Line::One(first),
            false => Line::Differ,
        }
    }

    /// The value of a parameter of the query, as it stands there.
    pub(super) fn query(&self, name: &str) -> Option<&'a str> {
        let pairs = self.query?.split('&');
        pairs
            .filter_map(|pair| pair.split_once('='))
            .find(|(other, _)| *other == name)
            .map(|(_, value)| value)
    }
}

impl<'a> Line<'a> {
    /// The one value that all lines have.
    pub(super) const fn value(self) -> Option<&'a [u8]> {
        match self {
            Self::One(value) | Self::Same(value) => Some(value),
            Self::Absent | Self::Differ => None,
        }
    }

    pub(super) const fn is_absent(self) -> bool {
        matches!(self, Self::Absent)
    }
}
