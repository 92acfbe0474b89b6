//! One HTTP request to a server, from its head to the response, against what must never be let through.

use std::net::IpAddr;
use std::sync::{Arc, LazyLock};

use mcp_core::Limits;
use mcp_core::binding::http::{
    Accepts, Head, HttpRules, Output, Refusal, Reply, Route, Verb, check_mirrors, status,
};
use mcp_core::engine::server::{Catalog, Incoming, Message, ServerEngine};
use mcp_core::frame::{SseOutcome, SseParser};
use mcp_core::json::RawJson;
use mcp_core::model::{CallToolResult, Era, Implementation, Method, Tool};
use mcp_core::rpc::write_error;
use serde_json::value::RawValue;

use crate::reference;

/// Serves one request.
///
/// The first line of the input is its method, and the query if there is one, with a blank between them. Header lines follow,
/// an empty line, and the body.
///
/// # Panics
///
/// On a finding: a `Host` or an `Origin` that is not of this machine is let through; a response that is no JSON-RPC message,
/// or has a status that is none; a request without its answer, with two, or with another's; a result for a request whose
/// headers do not say what its body does.
pub fn http_server(data: &[u8]) {
    let request = Request::new(data);
    let response = serve(&request);
    request.check(&response);
    assert_eq!(serve(&request), response, "once more");
}

/// A request, as it was written.
struct Request<'d> {
    verb: &'d str,
    query: Option<&'d str>,
    lines: Vec<(&'d str, &'d [u8])>,
    body: &'d [u8],
}

#[derive(Debug, Default, Eq, PartialEq)]
struct Response {
    status: u16,
    /// What it says, one message after the other.
    messages: Vec<String>,
    /// Its head was let through.
    admitted: bool,
    /// The body holds a request that stands for itself.
    stands_alone: bool,
}

impl<'d> Request<'d> {
    fn new(data: &'d [u8]) -> Self {
        let (head, body) = match data.windows(2).position(|two| two == b"\n\n") {
            Some(end) => (&data[..end], &data[end + 2..]),
            None => (data, &[][..]),
        };
        let mut lines = head.split(|&byte| byte == b'\n');
        let first = lines.next().and_then(|line| str::from_utf8(line).ok());
        let first = first.unwrap_or("POST");
        let (verb, query) = match first.split_once(' ') {
            Some((verb, query)) => (verb, Some(query)),
            None => (first, None),
        };
        let lines = lines.filter_map(|line| {
            let colon = line.iter().position(|&byte| byte == b':')?;
            let name = str::from_utf8(&line[..colon]).ok()?;
            Some((name, line[colon + 1..].trim_ascii()))
        });
        Self {
            verb,
            query,
            lines: lines.collect(),
            body,
        }
    }

    /// The values of a header.
    fn all(&self, name: &str) -> impl Iterator<Item = &'d [u8]> {
        let lines = self.lines.iter();
        lines
            .filter(move |(other, _)| other.eq_ignore_ascii_case(name))
            .map(|(_, value)| *value)
    }

    fn check(&self, response: &Response) {
        if response.admitted {
            let hosts: Vec<_> = self.all("host").collect();
            assert_eq!(hosts.len(), 1, "which host?");
            assert!(is_of_this_machine(hosts[0]), "{:?}", show(hosts[0]));
            for origin in self.all("origin") {
                let page = origin.splitn(2, |&byte| byte == b'/').nth(1);
                let page = page.and_then(|page| page.strip_prefix(b"/"));
                assert!(page.is_some_and(is_of_this_machine), "{}", show(origin));
            }
        }
        assert!((200..=599).contains(&response.status));
        let mut answers = 0;
        for message in &response.messages {
            let message: &RawValue = serde_json::from_str(message).expect("one JSON text");
            let members = reference::members(message);
            let member = |wanted: &str| {
                let found = members.iter().find(|(name, _)| name.get() == wanted);
                found.map(|(_, value)| value.get())
            };
            assert_eq!(member("\"jsonrpc\""), Some("\"2.0\""));
            let result = member("\"result\"").is_some();
            if !result && member("\"error\"").is_none() {
                assert!(member("\"method\"").is_some());
                assert_eq!(answers, 0, "after the answer");
                continue;
            }
            answers += 1;
            if response.stands_alone {
                let id = self.member("\"id\"").expect("an id");
                assert_eq!(member("\"id\""), Some(id.get()));
            }
            if result {
                assert!(response.stands_alone && response.status == 200);
                self.check_mirrors();
            }
        }
        assert!(answers <= 1, "{answers} answers");
        if response.stands_alone {
            assert_eq!(answers, 1, "no answer");
        }
        if response.status >= 400 {
            assert_eq!(answers, 1, "no reason");
        }
    }

    fn member(&self, wanted: &str) -> Option<&'d RawValue> {
        let body: &RawValue = serde_json::from_slice(self.body).ok()?;
        let members = reference::members(body).into_iter();
        let mut found =
            members.filter(|(name, _)| format!("\"{}\"", reference::text(name)) == wanted);
        found.next().map(|(_, value)| value)
    }

    /// What was served is what the headers say, all of them that there are.
    fn check_mirrors(&self) {
        let method = reference::text(self.member("\"method\"").expect("a method"));
        let mut said = self.all("mcp-method").peekable();
        assert!(said.peek().is_some(), "nothing says that it is {method}");
        assert!(said.all(|said| said == method.as_bytes()));
        let mut said = self.all("mcp-protocol-version").peekable();
        assert!(said.peek().is_some());
        assert!(said.all(|said| said == b"2026-07-28"));
    }
}

/// Whether this is `localhost` or a loopback address, whatever the port.
fn is_of_this_machine(authority: &[u8]) -> bool {
    let text = show(authority).to_ascii_lowercase();
    let host = match text.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => host,
        _ => &text,
    };
    let host = host.strip_suffix('.').unwrap_or(host);
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse().is_ok_and(|it: IpAddr| it.is_loopback())
}

fn show(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn serve(request: &Request<'_>) -> Response {
    let limits = limits();
    let mut head = Head::new(request.verb, request.query);
    for (name, value) in &request.lines {
        head.push(name, value);
    }
    let admission = HttpRules::new().admit(&head);
    let verb = match admission.verb {
        Ok(verb) => verb,
        Err(refusal) => return refused(refusal),
    };
    let mut response = Response {
        status: 202,
        admitted: true,
        ..Response::default()
    };
    if let Verb::Post(accepts) = verb {
        if request.body.len() > limits.max_message {
            return refused(Refusal::TOO_LARGE);
        }
        let message = Message::read(request.body, &limits);
        match head.route(&message) {
            Ok(Route::Stateless) => stateless(&head, accepts, &message, &mut response),
            Ok(_) => {}
            Err(refusal) => return refused(refusal),
        }
    } else if let Err(refusal) = head.session_id() {
        return refused(refusal);
    }
    response
}

fn refused(refusal: Refusal) -> Response {
    let mut body = Vec::new();
    refusal.write(&mut body).expect("a vector has room");
    let status = refusal.status();
    assert!(status >= 400);
    Response {
        status,
        messages: vec![String::from_utf8(body).expect("UTF-8")],
        ..Response::default()
    }
}

/// As an HTTP server does it that answers calls at once.
fn stateless(head: &Head<'_>, accepts: Accepts, message: &Message<'_>, response: &mut Response) {
    let mut engine = ServerEngine::stateless(Arc::clone(&CATALOG), limits(), 7);
    response.stands_alone = message.is_request();
    let listens = message.method().and_then(Method::parse) == Some(Method::SubscriptionsListen);
    if accepts == Accepts::Json && listens {
        *response = refused(Refusal::ONLY_EVENTS);
        return;
    }
    let mut reply = Reply::new(accepts);
    let incoming = match check_mirrors(head, message, engine.catalog()) {
        Ok(()) => engine.take(message, &mut reply),
        Err(fault) => engine.refuse(message, fault, &mut reply),
    };
    match incoming {
        Incoming::Rejected(fault) => {
            reply.set_status(status(fault, Era::Modern));
            if reply.buffered() == 0 {
                let written = write_error(&mut reply, None, fault.code(), &fault, |_| {});
                written.expect("a reply has room");
            }
        }
        Incoming::Call(call) => {
            let result = CallToolResult::new(&[]);
            let sent = engine.reply(call.token, &result, &mut reply);
            sent.expect("the call is open");
        }
        Incoming::Handled
        | Incoming::Batch(_)
        | Incoming::Cancelled(_)
        | Incoming::Answer(_)
        | Incoming::RootsChanged
        | Incoming::Blocked
        | _ => {}
    }
    if engine.subscriptions() > 0 {
        reply.begin_stream();
        engine
            .end_subscriptions(&mut reply)
            .expect("a reply has room");
    }
    assert_eq!(engine.in_flight(), 0);
    reply.end();
    let mut events = Vec::new();
    loop {
        match reply.take() {
            Output::Json { status, body, .. } => {
                assert!(accepts != Accepts::Events || status != 200);
                response.status = status;
                response
                    .messages
                    .push(String::from_utf8(body).expect("UTF-8"));
                return;
            }
            Output::Events(more) => {
                assert!(accepts != Accepts::Json && !more.is_empty());
                response.status = 200;
                events.extend(more);
            }
            Output::Accepted => return,
            Output::End => break,
            Output::Undecided | _ => panic!("it has ended"),
        }
    }
    let mut parser = SseParser::new(usize::MAX);
    let mut start = 0;
    loop {
        let step = parser.next(&events[start..]);
        start += step.consumed;
        match step.outcome {
            SseOutcome::Event(event) => response.messages.push(show(&event.data)),
            SseOutcome::NeedMore | SseOutcome::TooLong { .. } | _ => break,
        }
    }
    assert_eq!(start, events.len(), "half an event");
}

fn limits() -> Limits {
    let mut limits = Limits::DEFAULT;
    limits.max_message = 1_000;
    limits.max_depth = 8;
    limits
}

static CATALOG: LazyLock<Arc<Catalog>> = LazyLock::new(|| {
    let plain = RawJson::parse(br#"{"type":"object"}"#).expect("a valid schema");
    let mirrored = RawJson::parse(
        br#"{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#,
    );
    let mirrored = mirrored.expect("a valid schema");
    let tools = [Tool::new("now", plain), Tool::new("there", mirrored)];
    let server = Implementation::new("fuzz", "0");
    let catalog = Catalog::builder(&server).tools(&tools);
    Arc::new(catalog.build().expect("a valid catalog"))
});
