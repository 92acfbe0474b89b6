//! Who may ask, and in which way: what is decided before a body is read.

use alloc::borrow::ToOwned as _;
use alloc::string::String;
use alloc::vec::Vec;

use super::head::{Head, Known, Line};
use super::{Accepts, Refusal};
use crate::model::Era;

/// Which hosts and origins an endpoint is served to, and how.
///
/// Without these checks any page in a browser could talk to a server on its user's machine, by a name that it lets resolve
/// to it ("DNS rebinding"). So unless more is permitted, `Host` has to name this machine: `localhost`, `127.0.0.0/8` or
/// `[::1]`, with any port (HTTP-04). `Origin`, which browsers send, may be absent, of this machine, of a permitted host, or
/// permitted itself (HTTP-02).
///
/// ```
/// use mcp_core::binding::http::HttpRules;
///
/// let rules = HttpRules::new()
///     .host("mcp.example.com")
///     .origin("https://app.example.com");
/// ```
#[derive(Clone, Debug)]
pub struct HttpRules {
    hosts: Vec<String>,
    any_host: bool,
    origins: Vec<String>,
    any_origin: bool,
    sessions: bool,
    old_transport: bool,
}

/// What a request wants, as far as its head says.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Verb {
    /// A message is in the body.
    Post(Accepts),
    /// A stream of what is about no request, or the rest of one that was interrupted: legacy sessions only.
    Get,
    /// The stream of a session of 2024-11-05 (SSE-01).
    Open,
    /// The session is over (LH-27).
    Delete,
    /// A browser asks what it may do.
    Preflight,
}

/// What is decided about the head of a request.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Admission<'a> {
    /// What the request wants.
    pub verb: Result<Verb, Refusal>,
    /// The origin to be named in `Access-Control-Allow-Origin`, so that the browser lets its page read the response.
    pub origin: Option<&'a str>,
}

impl Default for HttpRules {
    fn default() -> Self {
        Self::new()
    }
}

impl HttpRules {
    /// For clients on this machine.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            hosts: Vec::new(),
            any_host: false,
            origins: Vec::new(),
            any_origin: false,
            sessions: true,
            old_transport: true,
        }
    }

    /// Permits a name that this server has, such as `mcp.example.com` or `mcp.example.com:8443`; without a port, with
    /// any. Of a URL it is the host that is permitted. Pages of that host may use it as well.
    #[must_use]
    pub fn host(mut self, host: impl Into<String>) -> Self {
        let host = host.into().to_ascii_lowercase();
        let authority = host.split_once("://").map_or(&*host, |(_, rest)| rest);
        self.hosts.push(before_path(authority).to_owned());
        self
    }

    /// Permits any `Host`: for servers that cannot be reached by a browser, or that check who asks.
    #[must_use]
    pub const fn any_host(mut self) -> Self {
        self.any_host = true;
        self
    }

    /// Permits the pages of an origin, such as `https://app.example.com`: its scheme, its host, and its port if that is
    /// not the scheme's own. Of a URL it is the origin that is permitted. That is CORS, preflights included.
    #[must_use]
    pub fn origin(mut self, origin: impl Into<String>) -> Self {
        let origin = origin.into().to_ascii_lowercase();
        let end = match origin.split_once("://") {
            Some((scheme, rest)) => scheme.len() + "://".len() + before_path(rest).len(),
            None => origin.len(),
        };
        self.origins.push(origin[..end].to_owned());
        self
    }

    /// What was permitted and cannot be a `Host`, or an `Origin`: nothing will ever come by that name. A mistake, to be
    /// told to whoever runs the server.
    pub fn unusable(&self) -> impl Iterator<Item = &str> {
        let hosts = self.hosts.iter();
        let hosts = hosts.filter(|host| Authority::parse(host).is_none());
        let origins = self.origins.iter();
        // Opaque ones are all called `null`; other schemes than those of HTTP are those of browsers' extensions.
        let origins = origins.filter(|it| *it != "null" && !it.contains("://"));
        hosts.chain(origins).map(|it| &**it)
    }

    /// Permits all pages: for servers that check who asks by something other than cookies and addresses.
    #[must_use]
    pub const fn any_origin(mut self) -> Self {
        self.any_origin = true;
        self
    }

    /// Whether legacy clients are served, which need sessions. Default: yes.
    #[must_use]
    pub const fn sessions(mut self, served: bool) -> Self {
        self.sessions = served;
        self
    }

    /// Whether the transport of 2024-11-05 is served at the same URL: a GET without session opens its stream. It is
    /// deprecated, and used by clients that know no other. Default: yes.
    #[must_use]
    pub const fn http_sse(mut self, served: bool) -> Self {
        self.old_transport = served;
        self
    }

    /// Whether legacy clients are served.
    #[must_use]
    pub const fn has_sessions(&self) -> bool {
        self.sessions
    }

    /// Decides about the head of a request: to be asked before its body is read.
    #[must_use]
    pub fn admit<'a>(&self, head: &Head<'a>) -> Admission<'a> {
        match self.check_source(head) {
            Ok(origin) => Admission {
                verb: self.verb(head),
                origin,
            },
            Err(refusal) => Admission {
                verb: Err(refusal),
                origin: None,
            },
        }
    }

    /// The methods that are served, as in the header `Allow`.
    #[must_use]
    pub const fn allow(&self) -> &'static str {
        match self.sessions {
            true => "POST, GET, DELETE, OPTIONS",
            false => "POST, OPTIONS",
        }
    }

    fn verb(&self, head: &Head<'_>) -> Result<Verb, Refusal> {
        let not_served = || Refusal::new(405, "Method not allowed").allowing(self.allow());
        match head.method {
            "POST" => {
                check_content_type(head)?;
                let accepts = head.accept.accepts().ok_or_else(|| {
                    Refusal::new(
                        406,
                        "`Accept` has to list application/json and text/event-stream",
                    )
                })?;
                Ok(Verb::Post(accepts))
            }
            "GET" if self.sessions => {
                if matches!(head.accept.accepts(), None | Some(Accepts::Json)) {
                    return Err(Refusal::ONLY_EVENTS);
                }
                let version = head.line(Known::ProtocolVersion);
                match head.line(Known::SessionId) {
                    Line::Absent if is_modern(head) => Err(not_served()),
                    Line::Absent if self.old_transport && version.is_absent() => Ok(Verb::Open),
                    Line::Absent | Line::One(_) | Line::Same(_) | Line::Differ => Ok(Verb::Get),
                }
            }
            "DELETE" if self.sessions => match head.line(Known::SessionId) {
                // DET-13: it ends sessions, and there are none.
                Line::Absent if is_modern(head) => Err(not_served()),
                Line::Absent | Line::One(_) | Line::Same(_) | Line::Differ => Ok(Verb::Delete),
            },
            "OPTIONS" => Ok(Verb::Preflight),
            _ => Err(not_served()),
        }
    }

    /// `Host` and `Origin`, each for itself (HS-03, HS-04 are what is tried). The origin, if there is one.
    fn check_source<'a>(&self, head: &Head<'a>) -> Result<Option<&'a str>, Refusal> {
        let host = match head.line(Known::Host) {
            Line::One(host) if is_local(host) && head.line(Known::Origin).is_absent() => {
                return Ok(None);
            }
            Line::One(host) => core::str::from_utf8(host).ok().and_then(Authority::parse),
            Line::Absent | Line::Same(_) | Line::Differ => None,
        };
        let host = host.ok_or_else(|| Refusal::new(400, "`Host` is missing or malformed"))?;
        let named = self.hosts.iter().any(|permitted| host.is(permitted));
        if !self.any_host && !named && !host.is_loopback() {
            return Err(Refusal::new(
                403,
                "Forbidden: this server does not go by that `Host`",
            ));
        }
        let forbidden = || Refusal::new(403, "Forbidden: `Origin` is not permitted");
        let origin = match head.line(Known::Origin) {
            Line::Absent => return Ok(None),
            Line::One(origin) => core::str::from_utf8(origin).map_err(|_| forbidden())?,
            Line::Same(_) | Line::Differ => return Err(forbidden()),
        };
        let permitted = self.any_origin
            || self
                .origins
                .iter()
                .any(|permitted| permitted.eq_ignore_ascii_case(origin))
            || page_of(origin)
                .is_some_and(|page| page.is_loopback() || (named && page.is_same(host)));
        match permitted {
            true => Ok(Some(origin)),
            false => Err(forbidden()),
        }
    }
}

/// Whether a `Host` is what nearly all clients on this machine send, letter by letter. To read an address takes longer.
fn is_local(host: &[u8]) -> bool {
    let port = host
        .strip_prefix(b"127.0.0.1")
        .or_else(|| host.strip_prefix(b"localhost"));
    match port {
        Some([]) => true,
        Some([b':', port @ ..]) => {
            port.iter().all(u8::is_ascii_digit)
                && (port.len() < 5 || port.len() == 5 && port <= b"65535")
        }
        Some(_) | None => false,
    }
}

/// HS-02: one media type, `application/json`, with any parameters.
fn check_content_type(head: &Head<'_>) -> Result<(), Refusal> {
    let media_type = match head.line(Known::ContentType) {
        // As most clients write it.
        Line::One(b"application/json") => return Ok(()),
        Line::One(value) => core::str::from_utf8(value).ok(),
        Line::Absent | Line::Same(_) | Line::Differ => None,
    };
    let media_type = media_type.and_then(|value| value.split(';').next());
    if media_type.is_some_and(|it| it.trim().eq_ignore_ascii_case("application/json")) {
        return Ok(());
    }
    Err(Refusal::new(
        415,
        "`Content-Type` has to be application/json",
    ))
}

fn is_modern(head: &Head<'_>) -> bool {
    head.version()
        .is_some_and(|version| version.era() == Era::Modern)
}

/// What is left of a URL without its path, query and fragment.
fn before_path(text: &str) -> &str {
    text.split(['/', '?', '#']).next().unwrap_or_default()
}

/// The host and port that an origin's pages are of; `None` also for `null`.
fn page_of(origin: &str) -> Option<Authority<'_>> {
    let (scheme, rest) = origin.split_once("://")?;
    let scheme = scheme.eq_ignore_ascii_case("http") || scheme.eq_ignore_ascii_case("https");
    Authority::parse(rest).filter(|_| scheme)
}

/// `host` or `host:port`.
#[derive(Clone, Copy, Debug)]
struct Authority<'a> {
    /// IPv6 addresses in their brackets.
    host: &'a str,
    port: Option<u16>,
}

impl<'a> Authority<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
        let end = match text.strip_prefix('[') {
            Some(rest) => {
                let end = rest.find(']')?;
                rest[..end].parse::<core::net::Ipv6Addr>().ok()?;
                end + 2
            }
            None => text.bytes().take_while(|&byte| plain(byte)).count(),
        };
        let (host, rest) = text.split_at(end);
        if host.is_empty() {
            return None;
        }
        let port = match rest.strip_prefix(':') {
            None if !rest.is_empty() => return None,
            None | Some("") => None,
            Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(port.parse().ok()?)
            }
            Some(_) => return None,
        };
        Some(Self { host, port })
    }

    fn is_loopback(self) -> bool {
        let host = self.host.strip_suffix('.').unwrap_or(self.host);
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        host.eq_ignore_ascii_case("localhost")
            || bare
                .parse()
                .is_ok_and(|address: core::net::IpAddr| address.is_loopback())
    }

    /// Whether it is what a user has permitted: that host, and that port if one was named.
    fn is(self, permitted: &str) -> bool {
        Authority::parse(permitted).is_some_and(|it| {
            it.host.eq_ignore_ascii_case(self.host) && (it.port.is_none() || it.port == self.port)
        })
    }

    fn is_same(self, other: Self) -> bool {
        self.host.eq_ignore_ascii_case(other.host) && self.port == other.port
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post<'a>(headers: &[(&'a str, &'a str)]) -> Head<'a> {
        let mut head = Head::new("POST", None);
        head.push("content-type", b"application/json");
        for (name, value) in headers {
            head.push(name, value.as_bytes());
        }
        head
    }

    fn status(rules: &HttpRules, head: &Head<'_>) -> u16 {
        match rules.admit(head).verb {
            Ok(_) => 200,
            Err(refusal) => refusal.status(),
        }
    }

    #[test]
    fn a_host_taken_for_local_is_a_loopback_address() {
        for (host, expected) in [
            ("localhost", true),
            ("localhost:", true),
            ("127.0.0.1", true),
            ("127.0.0.1:8000", true),
            ("127.0.0.1:65535", true),
            ("127.0.0.1:65536", false),
            ("127.0.0.1:00080", true),
            ("127.0.0.1:000080", false),
            ("127.0.0.1:80x", false),
            ("127.0.0.1.", false),
            ("127.0.0.10", false),
            ("localhost.evil.example", false),
            ("LOCALHOST", false),
            ("[::1]", false),
            ("", false),
        ] {
            assert_eq!(is_local(host.as_bytes()), expected, "{host}");
            if expected {
                let read = Authority::parse(host).expect("well-formed");
                assert!(read.is_loopback(), "{host}");
            }
        }
    }

    /// HS-03, HTTP-04.
    #[test]
    fn hs_03_hosts_are_of_this_machine_or_permitted() {
        let rules = HttpRules::new();
        for (host, expected) in [
            ("localhost", 200),
            ("LOCALHOST:1", 200),
            ("localhost.:3000", 200),
            ("127.0.0.1", 200),
            ("127.8.9.1:80", 200),
            ("[::1]:3000", 200),
            ("[0:0:0:0:0:0:0:1]", 200),
            ("[::1]x", 400),
            ("[::1", 400),
            ("[::g]", 400),
            ("::1", 400),
            ("localhost:99x", 400),
            ("localhost:99999", 400),
            ("localhost/x", 400),
            ("a@localhost", 400),
            ("", 400),
            ("evil.example", 403),
            ("evil.example:3000", 403),
            ("127.0.0.1.evil.example", 403),
            ("localhost.evil.example", 403),
            ("192.168.0.1", 403),
            ("[::2]", 403),
        ] {
            assert_eq!(status(&rules, &post(&[("host", host)])), expected, "{host}");
        }
        assert_eq!(status(&rules, &post(&[])), 400);
        for twice in ["localhost", "evil.example"] {
            let head = post(&[("host", "localhost"), ("host", twice)]);
            assert_eq!(status(&rules, &head), 400);
        }
        let rules = HttpRules::new().host("MCP.example").host("b.example:81");
        for (host, expected) in [
            ("mcp.EXAMPLE:9", 200),
            ("b.example:81", 200),
            ("b.example", 403),
            ("b.example:82", 403),
            ("localhost", 200),
        ] {
            assert_eq!(status(&rules, &post(&[("host", host)])), expected, "{host}");
        }
        assert_eq!(
            status(&rules.any_host(), &post(&[("host", "c.example")])),
            200
        );
    }

    #[test]
    fn what_is_permitted_may_be_written_as_a_url() {
        let rules = HttpRules::new()
            .host("https://Mcp.example.com/mcp")
            .host("b.example:81/")
            .origin("https://App.example.com/page?x");
        assert_eq!(rules.unusable().count(), 0);
        for host in ["mcp.example.com", "mcp.example.com:8443", "b.example:81"] {
            assert_eq!(status(&rules, &post(&[("host", host)])), 200, "{host}");
        }
        let from = |origin| post(&[("host", "localhost"), ("origin", origin)]);
        assert_eq!(status(&rules, &from("https://app.example.com")), 200);
        assert_eq!(status(&rules, &from("http://app.example.com")), 403);
        let rules = HttpRules::new()
            .host("")
            .host("two words")
            .origin("app2.example.com")
            .origin("null")
            .origin("chrome-extension://abc");
        let unusable: Vec<_> = rules.unusable().collect();
        assert_eq!(unusable, ["", "two words", "app2.example.com"]);
    }

    /// HS-04, HTTP-02, for each method.
    #[test]
    fn hs_04_origins_are_of_this_machine_or_permitted() {
        let rules = HttpRules::new()
            .host("mcp.example:81")
            .origin("https://App.example/");
        for (origin, expected) in [
            ("http://localhost:5173", 200),
            ("https://localhost", 200),
            ("http://[::1]:3000", 200),
            ("http://127.0.0.1", 200),
            ("https://app.example", 200),
            ("https://app.example:444", 403),
            ("http://app.example", 403),
            ("null", 403),
            ("", 403),
            ("https://evil.example", 403),
            ("http://localhost.evil.example", 403),
            ("http://mcp.example:81", 403),
            ("file://localhost", 403),
            ("http://localhost:1/path", 403),
        ] {
            for method in ["POST", "GET", "DELETE", "OPTIONS"] {
                let mut head = post(&[("host", "localhost:1"), ("origin", origin)]);
                head.method = method;
                assert_eq!(status(&rules, &head), expected, "{method} {origin}");
            }
        }
        // Its own pages, where its name is one that was permitted.
        let own = [
            ("host", "mcp.example:81"),
            ("origin", "http://mcp.example:81"),
        ];
        assert_eq!(status(&rules, &post(&own)), 200);
        assert_eq!(
            rules.admit(&post(&own)).origin,
            Some("http://mcp.example:81")
        );
        let own = [("host", "x.example"), ("origin", "http://x.example")];
        assert_eq!(status(&HttpRules::new().any_host(), &post(&own)), 403);
        let twice = [
            ("host", "localhost"),
            ("origin", "http://localhost"),
            ("origin", "http://localhost"),
        ];
        assert_eq!(status(&rules, &post(&twice)), 403);
    }

    /// HS-02.
    #[test]
    fn bodies_are_json() {
        let rules = HttpRules::new();
        for (types, expected) in [
            (&["application/json; charset=utf-8"][..], 200),
            (&["Application/JSON"], 200),
            (&["application/json;"], 200),
            (&["text/plain; a=application/json"], 415),
            (&["application/json-patch+json"], 415),
            (&[], 415),
            (&["application/json", "application/json"], 415),
            (&["application/json", "text/plain"], 415),
        ] {
            let mut head = Head::new("POST", None);
            head.push("Host", b"localhost");
            for value in types {
                head.push("Content-Type", value.as_bytes());
            }
            assert_eq!(status(&rules, &head), expected, "{types:?}");
        }
    }

    /// HS-05, HS-06, HDR-11, DET-13.
    #[test]
    fn methods_are_those_that_are_served() {
        let verb = |rules: &HttpRules, method, headers: &[(&'static str, &'static str)]| {
            let mut head = Head::new(method, None);
            head.push("host", b"localhost");
            for (name, value) in headers {
                head.push(name, value.as_bytes());
            }
            let verb = rules.admit(&head).verb;
            verb.map_err(|refusal| (refusal.status(), refusal.allow()))
        };
        let both = HttpRules::new();
        let all = Some("POST, GET, DELETE, OPTIONS");
        let session = ("mcp-session-id", "a");
        let modern = ("mcp-protocol-version", "2026-07-28");
        let legacy = ("mcp-protocol-version", "2025-11-25");
        for method in ["HEAD", "PUT", "PATCH", "post"] {
            assert_eq!(verb(&both, method, &[session]), Err((405, all)));
        }
        for (method, verb_of_session) in [("GET", Verb::Get), ("DELETE", Verb::Delete)] {
            assert_eq!(verb(&both, method, &[modern]), Err((405, all)));
            assert_eq!(verb(&both, method, &[session]), Ok(verb_of_session));
            assert_eq!(verb(&both, method, &[legacy]), Ok(verb_of_session));
            let alone = both.clone().sessions(false);
            let allow = Some("POST, OPTIONS");
            assert_eq!(verb(&alone, method, &[session]), Err((405, allow)));
        }
        assert_eq!(verb(&both, "GET", &[]), Ok(Verb::Open));
        assert_eq!(
            verb(&both.clone().http_sse(false), "GET", &[]),
            Ok(Verb::Get)
        );
        let json = ("accept", "application/json");
        assert_eq!(verb(&both, "GET", &[json]), Err((406, None)));
        assert_eq!(verb(&both, "OPTIONS", &[]), Ok(Verb::Preflight));
    }
}
