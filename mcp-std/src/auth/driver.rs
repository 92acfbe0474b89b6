//! Runs a [`Flow`]: sends its requests and sends the user to pages.

use core::time::Duration;

use async_io::Timer;
use bytes::Bytes;
use futures_lite::future::or;
use http::{HeaderName, HeaderValue, Method, Request};
use mcp_io::http::client as io;

use super::error::AuthError;
use super::flow::{Flow, Step};
use super::loopback::Loopback;
use super::registration::Registration;
use super::session::Session;
use super::token::{Ask, Reply, Tokens};
use super::{Secret, Way};

/// So long one request may take, its body included.
const PATIENCE: Duration = Duration::from_secs(30);

/// The longest body that is read, in bytes.
const LONGEST: usize = 256 * 1024;

/// Where the user comes back to, once that is known.
enum Visit {
    Loopback(Loopback),
    Redirect,
}

/// Runs the flow to its end.
pub(super) async fn run(session: &Session, flow: &mut Flow) -> Result<Tokens, AuthError> {
    let mut visit = None;
    while let Some(step) = flow.poll() {
        match step {
            Step::Fetch(ask) => {
                tracing::debug!(?ask, "authorization");
                let reply = match fetch(&session.http, &ask).await {
                    Ok(reply) => reply,
                    Err(reason) => return Err(flow.unreachable(&ask.url, reason)),
                };
                flow.fetched(&reply)?;
            }
            Step::Prepare { issuer } => {
                let kept: Option<Registration> = session.load(&client(&issuer)).await?;
                let uri = match &session.auth.way {
                    Way::Nobody => return Err(AuthError::Visit("nobody is there".to_owned())),
                    Way::Redirect { uri, .. } => {
                        visit = Some(Visit::Redirect);
                        uri.clone()
                    }
                    Way::Loopback(_) => {
                        let last = kept.as_ref().map(|kept| kept.redirect_uri.as_str());
                        let loopback = Loopback::bind(last)?;
                        let uri = loopback.redirect_uri.clone();
                        visit = Some(Visit::Loopback(loopback));
                        uri
                    }
                };
                flow.prepared(&uri, kept)?;
            }
            Step::Forget { issuer, client } => session.unlearn(&issuer, &client).await,
            Step::Reload => {
                let kept = session.reload(flow.held()).await?;
                flow.reloaded(kept)?;
            }
            Step::Keep {
                issuer,
                registration,
            } => session.save(&client(&issuer), Some(&registration)).await?,
            Step::Visit(page) => {
                let _held = session.pause.begin();
                let back = match (visit.take(), &session.auth.way) {
                    (Some(Visit::Loopback(loopback)), Way::Loopback(show)) => {
                        show(&page);
                        loopback.back(&page).await?
                    }
                    (_, Way::Redirect { visit, .. }) => visit(page).await?,
                    (_, Way::Loopback(_) | Way::Nobody) => return Err(AuthError::TimedOut),
                };
                flow.visited(&back)?;
            }
            Step::Done(tokens) => return Ok(*tokens),
        }
    }
    // A flow says what is next for as long as it is not done.
    Err(AuthError::TimedOut)
}

/// The name that the registration at an authorization server is kept under (REG-09).
pub(super) fn client(issuer: &str) -> String {
    format!("client {issuer}")
}

/// One request. What it says is a secret, so neither is a redirect followed nor a part of it told.
pub(super) async fn fetch(client: &io::Client, ask: &Ask) -> Result<Reply, String> {
    let late = async {
        Timer::after(PATIENCE).await;
        Err(format!("it takes more than {} s", PATIENCE.as_secs()))
    };
    or(exchange(client, ask), late).await
}

async fn exchange(client: &io::Client, ask: &Ask) -> Result<Reply, String> {
    let body = Bytes::from(ask.body.expose().to_owned());
    let mut request = Request::new(body);
    if ask.post {
        *request.method_mut() = Method::POST;
    }
    let uri = ask.url.parse();
    *request.uri_mut() = uri.map_err(|_| "the URL is none".to_owned())?;
    for (name, value) in &ask.fields {
        let value = header(value).ok_or("a value that no header can hold")?;
        request
            .headers_mut()
            .append(HeaderName::from_static(name), value);
    }
    // What is asked for once is answered once: codes and assertions are not to be sent again by themselves.
    let response = client.send(request, !ask.post).await;
    let mut response = response.map_err(|error| error.to_string())?;
    let nonce = response.headers.get("dpop-nonce");
    let nonce = nonce
        .and_then(|nonce| nonce.to_str().ok())
        .map(str::to_owned);
    let mut body = Vec::new();
    while let Some(chunk) = response.body.chunk().await {
        let chunk = chunk.map_err(|error| error.to_string())?;
        if body.len() + chunk.len() > LONGEST {
            return Err(format!("it answers with more than {LONGEST} bytes"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Reply {
        status: response.status.as_u16(),
        nonce,
        body,
    })
}

pub(super) fn header(value: &Secret) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value.expose()).ok()?;
    value.set_sensitive(true);
    Some(value)
}
