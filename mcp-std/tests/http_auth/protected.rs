//! A server that is protected.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_std::http::auth::{ResourceServer, ResourceServerBuilder};
use mcp_std::{AskError, Context, Elicited, Server};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::issuer::{Issuer, RESOURCE};
use crate::site::{Request, Response, Site, initialize};

/// Served with a token only.
pub(crate) struct Protected {
    pub(crate) site: Site,
    /// How many handlers have run.
    pub(crate) runs: Arc<AtomicUsize>,
}

#[derive(Deserialize, JsonSchema)]
struct Seat {
    row: u8,
}

pub(crate) fn builder(issuer: &Issuer) -> ResourceServerBuilder {
    ResourceServer::builder(RESOURCE).issuer(issuer.url.as_str())
}

impl Protected {
    /// By this issuer, without anything else.
    pub(crate) fn by(issuer: &Issuer) -> Self {
        Self::new(builder(issuer))
    }

    pub(crate) fn new(builder: ResourceServerBuilder) -> Self {
        let runs = Arc::<AtomicUsize>::default();
        let counted = runs.clone();
        let who = move |context: Context| {
            counted.fetch_add(1, Ordering::SeqCst);
            async move { describe(&context) }
        };
        let server = Server::builder("protected", "1")
            .tool("who", "", who.clone())
            .tool("deploy", "", who)
            .tool("book", "", |context: Context| async move {
                Ok::<_, AskError>(match context.elicit_form::<Seat>("Where?").await? {
                    Elicited::Accepted(seat) => format!("row {}", seat.row),
                    Elicited::Declined | Elicited::Cancelled => "none".to_owned(),
                })
            })
            .build()
            .expect("a server");
        let auth = builder.build().expect("a resource server");
        Self {
            site: Site::with(&server, |http| http.auth(auth)),
            runs,
        }
    }

    pub(crate) fn runs(&self) -> usize {
        self.runs.load(Ordering::SeqCst)
    }

    /// `who` is called with a token.
    pub(crate) fn who(&self, token: &str) -> Response {
        self.site.ask(&bearing(call("who"), token))
    }

    /// The status of the same, and the reason if there is one.
    pub(crate) fn status(&self, token: &str) -> (u16, String) {
        let response = self.who(token);
        let reason = parameter(&response, "error_description");
        (response.status, reason.unwrap_or_default())
    }

    /// A session that begins with a token.
    pub(crate) fn session(&self, version: &str, token: &str) -> String {
        let begin = bearing(initialize(version, &json!({})), token);
        let response = self.site.ask(&begin);
        assert_eq!(response.status, 200, "{response:?}");
        let id = response.header("mcp-session-id").expect("a session");
        id.to_owned()
    }

    /// A request in it.
    pub(crate) fn in_session(
        &self,
        id: &str,
        version: &str,
        token: &str,
        message: &Value,
    ) -> Response {
        let request = Request::post(message).with("mcp-session-id", id);
        let request = match version {
            "2025-03-26" => request,
            version => request.with("mcp-protocol-version", version),
        };
        self.site.ask(&bearing(request, token))
    }
}

fn describe(context: &Context) -> String {
    let Some(principal) = context.principal() else {
        return "nobody".to_owned();
    };
    let mut scopes: Vec<&str> = principal.scopes().collect();
    scopes.sort_unstable();
    format!(
        "{} {} {} [{}] {} {}",
        principal.issuer().is_some(),
        principal.subject().unwrap_or("-"),
        principal.client_id().unwrap_or("-"),
        scopes.join(" "),
        principal.claim("tenant").unwrap_or(&Value::Null),
        principal.claim("secret").unwrap_or(&Value::Null),
    )
}

/// A modern call.
pub(crate) fn call(tool: &str) -> Request {
    Request::modern(1, "tools/call", &json!({ "name": tool }))
}

pub(crate) fn bearing(request: Request, token: &str) -> Request {
    request.with("authorization", &format!("Bearer {token}"))
}

/// A parameter of the challenge.
pub(crate) fn parameter(response: &Response, name: &str) -> Option<String> {
    let header = response.header("www-authenticate")?;
    let at = header.find(&format!("{name}=\""))? + name.len() + 2;
    let end = header[at..].find('"')?;
    Some(header[at..at + end].to_owned())
}
