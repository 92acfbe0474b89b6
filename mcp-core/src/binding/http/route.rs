//! What a POST belongs to: both eras are served at one URL (DET-12).

use super::Refusal;
use super::head::{Head, Known, Line};
use crate::engine::server::Message;
use crate::model::{Era, Method};

/// What the message of a POST belongs to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Route<'a> {
    /// It stands for itself: its headers are to be [checked](super::check_mirrors), and a
    /// [stateless](crate::engine::server::ServerEngine::stateless) engine takes it.
    Stateless,
    /// It opens a session.
    Initialize,
    /// It belongs to the session of this id.
    Session(&'a str),
    /// It belongs to the session of this id, which is one of 2024-11-05: what is to be answered goes into its stream.
    OldSession(&'a str),
}

/// The query parameter that names a session of 2024-11-05.
pub const SESSION_PARAMETER: &str = "sessionId";

impl<'a> Head<'a> {
    /// What the message of a POST belongs to.
    ///
    /// A message whose `_meta` has a modern key, or whose version header names a modern version, is modern whatever else
    /// it carries (HDR-11). Every other belongs to the session that it names, or is `initialize`.
    ///
    /// # Errors
    ///
    /// It names a session in a way that none has (HS-08), or a version that is none (LH-31), or no session (LH-24).
    pub fn route(&self, message: &Message<'_>) -> Result<Route<'a>, Refusal> {
        if message.params().meta.is_modern() {
            return Ok(Route::Stateless);
        }
        let version = self.line(Known::ProtocolVersion);
        let named = self.version();
        if named.is_some_and(|version| version.era() == Era::Modern) {
            return Ok(Route::Stateless);
        }
        let method = message.method().map(|it| Method::parse(it));
        if let Some(id) = self.session_id()? {
            if named.is_none() && !version.is_absent() {
                return Err(Refusal::new(
                    400,
                    "`MCP-Protocol-Version` is not a known one",
                ));
            }
            return Ok(Route::Session(id));
        }
        if let Some(id) = self.query(SESSION_PARAMETER) {
            return check_id(id).map(Route::OldSession);
        }
        match method {
            Some(Some(Method::Initialize)) if message.is_request() => Ok(Route::Initialize),
            Some(Some(Method::Discover | Method::SubscriptionsListen)) => Ok(Route::Stateless),
            // What is wrong with it is told by an engine. A batch needs a session.
            None if message.envelope().is_err() => Ok(Route::Stateless),
            Some(_) | None if named.is_none() && !version.is_absent() => Ok(Route::Stateless),
            Some(_) | None => Err(Refusal::new(
                400,
                "`Mcp-Session-Id` is missing: begin with `initialize`, or send modern requests with their `_meta`",
            )),
        }
    }

    /// `Mcp-Session-Id`, if there is one.
    ///
    /// # Errors
    ///
    /// It cannot be the id of a session (HS-08).
    pub fn session_id(&self) -> Result<Option<&'a str>, Refusal> {
        match self.line(Known::SessionId) {
            Line::Absent => Ok(None),
            Line::One(id) | Line::Same(id) => {
                let id = core::str::from_utf8(id).unwrap_or_default();
                check_id(id).map(Some)
            }
            Line::Differ => check_id("").map(Some),
        }
    }

    /// `Last-Event-ID`: the last event of a stream that was interrupted (LH-15).
    #[must_use]
    pub fn last_event_id(&self) -> Option<&'a str> {
        core::str::from_utf8(self.line(Known::LastEventId).value()?).ok()
    }

    /// What a page's script wants to send, of a request that asks beforehand: a list of header names, if it is one.
    #[must_use]
    pub fn requested_headers(&self) -> Option<&'a str> {
        let names = core::str::from_utf8(self.line(Known::RequestHeaders).value()?).ok()?;
        let plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b',' | b' ');
        (names.len() <= 1024 && names.bytes().all(plain)).then_some(names)
    }

    /// Whether a browser asks beforehand what it may send.
    #[must_use]
    pub const fn is_preflight(&self) -> bool {
        !self.line(Known::RequestMethod).is_absent() && !self.line(Known::Origin).is_absent()
    }
}

/// HS-08, LH-22: what can be the id of a session.
fn check_id(id: &str) -> Result<&str, Refusal> {
    let visible = id.bytes().all(|byte| (0x21..=0x7e).contains(&byte));
    match visible && !id.is_empty() && id.len() <= 128 {
        true => Ok(id),
        false => Err(Refusal::new(
            400,
            "`Mcp-Session-Id` is not the id of a session",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Limits;

    const ID: &str = "0123456789abcdef0123456789abcdef";
    const MODERN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
    const LIST: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize"}"#;
    const NOTIFICATION: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    const RESPONSE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

    fn head<'a>(query: Option<&'a str>, headers: &[(&'a str, &'a str)]) -> Head<'a> {
        let mut head = Head::new("POST", query);
        for (name, value) in headers {
            head.push(name, value.as_bytes());
        }
        head
    }

    fn route<'a>(body: &str, head: &Head<'a>) -> Result<Route<'a>, u16> {
        let message = Message::read(body.as_bytes(), &Limits::DEFAULT);
        head.route(&message).map_err(Refusal::status)
    }

    /// DET-12, HDR-11: whatever else it carries.
    #[test]
    fn what_is_modern_stands_for_itself() {
        let version = ("mcp-protocol-version", "2026-07-28");
        for headers in [
            &[][..],
            &[("mcp-session-id", ID)],
            &[("mcp-session-id", "a b")],
            &[("mcp-protocol-version", "2025-11-25")],
        ] {
            let head = head(Some("sessionId=x"), headers);
            assert_eq!(route(MODERN, &head), Ok(Route::Stateless), "{headers:?}");
        }
        for body in [LIST, INITIALIZE, NOTIFICATION, RESPONSE, "[]", "{"] {
            let head = head(None, &[version, ("mcp-session-id", ID)]);
            assert_eq!(route(body, &head), Ok(Route::Stateless), "{body}");
        }
        for method in ["server/discover", "subscriptions/listen"] {
            let body = LIST.replace("tools/list", method);
            assert_eq!(route(&body, &head(None, &[])), Ok(Route::Stateless));
        }
    }

    #[test]
    fn everything_else_is_of_a_session() {
        for body in [LIST, INITIALIZE, NOTIFICATION, RESPONSE, "[]", "{"] {
            for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
                let version = ("mcp-protocol-version", version);
                let head = head(None, &[("mcp-session-id", ID), version]);
                assert_eq!(route(body, &head), Ok(Route::Session(ID)), "{body}");
            }
            let head = head(Some("a=b&sessionId=0f"), &[]);
            assert_eq!(route(body, &head), Ok(Route::OldSession("0f")), "{body}");
        }
        // LH-31.
        for version in ["2025-11-26", "", "\u{e9}"] {
            let headers = [("mcp-session-id", ID), ("mcp-protocol-version", version)];
            assert_eq!(route(LIST, &head(None, &headers)), Err(400));
        }
        let headers = [
            ("mcp-session-id", ID),
            ("mcp-protocol-version", "2025-11-25"),
            ("mcp-protocol-version", "2025-06-18"),
        ];
        assert_eq!(route(LIST, &head(None, &headers)), Err(400));
    }

    /// LH-24: only `initialize` begins one, and only as a request.
    #[test]
    fn who_names_no_session() {
        assert_eq!(route(INITIALIZE, &head(None, &[])), Ok(Route::Initialize));
        let legacy = [("mcp-protocol-version", "2025-06-18")];
        assert_eq!(
            route(INITIALIZE, &head(None, &legacy)),
            Ok(Route::Initialize)
        );
        let notified = INITIALIZE.replace(r#""id":1,"#, "");
        for body in [LIST, NOTIFICATION, RESPONSE, &notified] {
            assert_eq!(route(body, &head(None, &[])), Err(400), "{body}");
            assert_eq!(route(body, &head(None, &legacy)), Err(400), "{body}");
        }
        // An engine tells what is wrong.
        for body in ["", "{", "1", "[]", "{}"] {
            assert_eq!(
                route(body, &head(None, &[])),
                Ok(Route::Stateless),
                "{body}"
            );
        }
        let unknown = [("mcp-protocol-version", "2099-01-01")];
        assert_eq!(route(LIST, &head(None, &unknown)), Ok(Route::Stateless));
    }

    /// HS-08.
    #[test]
    fn hs_08_ids_that_are_none() {
        let longest = "a".repeat(128);
        let head_of = |id| {
            head(None, &[("mcp-session-id", id)])
                .session_id()
                .map(|id| id.is_some())
        };
        assert_eq!(head_of(&longest), Ok(true));
        let longer = "a".repeat(129);
        for id in ["", "a b", "a\t", "\u{e9}", "a\u{7f}", &longer] {
            assert_eq!(head_of(id).map_err(Refusal::status), Err(400), "{id:?}");
            let query = alloc::format!("sessionId={id}");
            assert_eq!(route(LIST, &head(Some(&query), &[])), Err(400), "{id:?}");
        }
        let mut twice = head(None, &[("mcp-session-id", "a"), ("mcp-session-id", "a")]);
        assert_eq!(twice.session_id(), Ok(Some("a")));
        twice.push("mcp-session-id", b"b");
        assert!(twice.session_id().is_err());
        assert_eq!(head(None, &[]).session_id(), Ok(None));
    }
}
