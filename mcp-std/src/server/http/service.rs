//! One HTTP request to one HTTP response.

use core::convert::Infallible;
use core::fmt;
use core::future::poll_fn;
use core::pin::{Pin, pin};
use core::task::{Context, Poll};
use std::error::Error as StdError;
use std::sync::Arc;

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ALLOW, CACHE_CONTROL, CONTENT_TYPE,
    HOST, HeaderName, HeaderValue, ORIGIN, VARY,
};
use http::request::Parts;
use http::{Request, Response, StatusCode};
use http_body::Body;
use mcp_core::binding::http::{Accepts, Admission, Head, Output, Refusal, Route, Verb};
use mcp_core::engine::server::Message;
use mcp_core::model::Method;
use mcp_io::http::server::{BodyError, Parkable, collect};

use super::body::{HttpBody, Kind};
use super::endpoint::Endpoint;
use super::exchange::{Begun, Exchange};
use super::session::Reader;
use crate::server::principal::Principal;

const SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");
const ACCEL_BUFFERING: HeaderName = HeaderName::from_static("x-accel-buffering");
const JSON: HeaderValue = HeaderValue::from_static("application/json");
const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");

/// A server as a [`tower_service::Service`], to be mounted wherever there are HTTP requests: with `route_service` of
/// axum, for instance. All requests to one endpoint have to come to clones of one service. It looks at no path but those of
/// the metadata of a server with [`auth`](super::Http::auth), where it has to be mounted as well. Made by
/// [`Http::service`](super::Http::service).
#[derive(Clone)]
pub struct HttpService(pub(super) Arc<Endpoint>);

pub(super) type ServiceFuture =
    Pin<Box<dyn Future<Output = Result<Response<HttpBody>, Infallible>> + Send>>;

impl HttpService {
    /// The server shuts down: streams that would go on for ever end, and nothing else does.
    pub fn close(&self) {
        self.0.close();
    }
}

impl fmt::Debug for HttpService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpService")
            .field("server", &self.0.server)
            .finish_non_exhaustive()
    }
}

impl<B> tower_service::Service<Request<B>> for HttpService
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    type Response = Response<HttpBody>;
    type Error = Infallible;
    type Future = ServiceFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let endpoint = self.0.clone();
        let (parts, body) = request.into_parts();
        Box::pin(async move { Ok(respond(&endpoint, &parts, pin!(body)).await) })
    }
}

/// What is rare here and below is in boxes of its own: the smaller this future is, the less there is to allocate and move
/// for each request.
async fn respond<B>(
    endpoint: &Arc<Endpoint>,
    parts: &Parts,
    body: Pin<&mut B>,
) -> Response<HttpBody>
where
    B: Body,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    #[cfg(feature = "auth")]
    if let Some(page) = endpoint.auth.as_ref().and_then(|auth| auth.page(parts)) {
        return page;
    }
    let head = head(parts);
    tell_source(endpoint, &head, parts);
    let admission = endpoint.rules.admit(&head);
    let mut response = match principal(endpoint, parts, &admission).await {
        Ok(principal) => {
            let served = served(endpoint, &head, admission.verb, principal.as_ref(), body).await;
            served.unwrap_or_else(|refusal| {
                tracing::debug!(%refusal, "an HTTP request was refused");
                refuse(refusal)
            })
        }
        Err(challenge) => challenge,
    };
    if let Some(origin) = admission.origin {
        permit(&mut response, origin);
    }
    response
}

async fn served<B>(
    endpoint: &Arc<Endpoint>,
    head: &Head<'_>,
    verb: Result<Verb, Refusal>,
    principal: Option<&Principal>,
    body: Pin<&mut B>,
) -> Result<Response<HttpBody>, Refusal>
where
    B: Body,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let name = principal.map(Principal::name);
    match verb? {
        Verb::Post(accepts) => post(endpoint, head, principal, accepts, body).await,
        Verb::Get => {
            let response = Box::pin(get(endpoint, head, name)).await?;
            Ok(limited(response, principal))
        }
        Verb::Open => {
            let response = Box::pin(open(endpoint, name)).await?;
            Ok(limited(response, principal))
        }
        Verb::Delete => delete(endpoint, head, name),
        Verb::Preflight => Ok(preflight(endpoint, head)),
        _ => Err(Refusal::BROKEN),
    }
}

/// Who sends a request, or the response that it gets instead: after `Host` and `Origin`, and before anything else (VAL-07).
#[cfg(feature = "auth")]
async fn principal(
    endpoint: &Endpoint,
    parts: &Parts,
    admission: &Admission<'_>,
) -> Result<Option<Principal>, Response<HttpBody>> {
    let Some(auth) = &endpoint.auth else {
        return Ok(parts.extensions.get().cloned());
    };
    match admission.verb {
        // Browsers send no token with it.
        Ok(Verb::Preflight) => Ok(None),
        // The wrong host or origin; a method that nobody may use, whoever it is (HS-06).
        Err(refusal) if matches!(refusal.status(), 400 | 403 | 405) => Ok(None),
        // On the heap, so that servers without it do not carry it along with each request.
        Ok(_) | Err(_) => Box::pin(auth.authenticate(parts)).await.map(Some),
    }
}

#[cfg(not(feature = "auth"))]
async fn principal(
    _: &Endpoint,
    parts: &Parts,
    _: &Admission<'_>,
) -> Result<Option<Principal>, Response<HttpBody>> {
    Ok(parts.extensions.get().cloned())
}

/// A stream of what comes some day: not longer than its client is who it is.
#[cfg(feature = "auth")]
fn limited(mut response: Response<HttpBody>, principal: Option<&Principal>) -> Response<HttpBody> {
    if let Some(end) = principal.and_then(Principal::end) {
        response.body_mut().end_at(end);
    }
    response
}

#[cfg(not(feature = "auth"))]
fn limited(response: Response<HttpBody>, _: Option<&Principal>) -> Response<HttpBody> {
    response
}

/// A wrong `Host` or `Origin` is most often a mistake of whoever runs the server, who has to know what came.
fn tell_source(endpoint: &Endpoint, head: &Head<'_>, parts: &Parts) {
    if !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    let refused = endpoint.rules.admit(head).verb.err();
    if refused.is_some_and(|refusal| refusal.status() == 403) {
        let authority = parts.uri.authority().map(http::uri::Authority::as_str);
        tracing::debug!(
            host = ?parts.headers.get(HOST),
            authority,
            origin = ?parts.headers.get(ORIGIN),
            "not permitted; `HttpRules::host` and `HttpRules::origin` are for that"
        );
    }
}

/// What MCP looks at of a request's head.
fn head(parts: &Parts) -> Head<'_> {
    let mut head = Head::new(parts.method.as_str(), parts.uri.query());
    for (name, value) in &parts.headers {
        head.push(name.as_str(), value.as_bytes());
    }
    // HTTP/2 has it elsewhere.
    if !parts.headers.contains_key(http::header::HOST)
        && let Some(authority) = parts.uri.authority()
    {
        head.push("host", authority.as_str().as_bytes());
    }
    head
}

async fn post<B>(
    endpoint: &Arc<Endpoint>,
    head: &Head<'_>,
    principal: Option<&Principal>,
    accepts: Accepts,
    body: Pin<&mut B>,
) -> Result<Response<HttpBody>, Refusal>
where
    B: Body,
    B::Error: Into<Box<dyn StdError + Send + Sync>>,
{
    let most = endpoint.server.limits().max_message;
    let body = collect(body, most, endpoint.body_timeout).await;
    let body = body.map_err(|error| match error {
        BodyError::TooLarge => Refusal::TOO_LARGE,
        BodyError::TimedOut => Refusal::TOO_SLOW,
        BodyError::Failed(error) if is_limit(&*error) => Refusal::TOO_LARGE,
        BodyError::Failed(_) | _ => Refusal::BROKEN,
    })?;
    match begin(endpoint, head, principal, accepts, &body)? {
        Taken::Alone(Begun::Ended(output)) | Taken::Listening(Begun::Ended(output)) => {
            Ok(ended(output))
        }
        Taken::Alone(Begun::Going(exchange)) => Ok(exchange_response(exchange).await),
        Taken::Listening(Begun::Going(exchange)) => {
            Ok(limited(exchange_response(exchange).await, principal))
        }
        #[cfg(feature = "auth")]
        Taken::Refused(challenge) => Ok(*challenge),
        Taken::InSession(response) => response.await,
    }
}

/// Whether a layer in front has a limit of its own. It is known by its words, which are those of `http_body_util`: to know
/// the type of one version of that crate would be to know no other.
fn is_limit(error: &(dyn StdError + 'static)) -> bool {
    let mut next = Some(error);
    while let Some(error) = next {
        if error.to_string() == "length limit exceeded" {
            return true;
        }
        next = error.source();
    }
    false
}

/// A message on its way to a response.
enum Taken<'a> {
    Alone(Begun),
    /// Whatever comes of it is a stream without an end.
    Listening(Begun),
    #[cfg(feature = "auth")]
    Refused(Box<Response<HttpBody>>),
    InSession(Pin<Box<dyn Future<Output = Result<Response<HttpBody>, Refusal>> + Send + 'a>>),
}

fn begin<'a>(
    endpoint: &'a Arc<Endpoint>,
    head: &Head<'a>,
    principal: Option<&Principal>,
    accepts: Accepts,
    body: &'a [u8],
) -> Result<Taken<'a>, Refusal> {
    let limits = endpoint.server.limits();
    let message = Message::read(body, &limits);
    #[cfg(feature = "auth")]
    if let (Some(auth), Some(principal)) = (&endpoint.auth, principal)
        && let Some(challenge) = auth.refuse(principal, &message, body, &limits)
    {
        return Ok(Taken::Refused(Box::new(challenge)));
    }
    let principal = principal.cloned();
    let route = head.route(&message)?;
    let alone = route == Route::Stateless;
    let listens = alone && listens(&message);
    if listens && accepts == Accepts::Json {
        return Err(Refusal::ONLY_EVENTS);
    }
    // Without sessions a legacy client is told what to do by the same engine that tells everybody else.
    if alone || !endpoint.rules.has_sessions() {
        let begun = Exchange::begin(endpoint, principal, head, accepts, &message);
        return Ok(match listens {
            true => Taken::Listening(begun),
            false => Taken::Alone(begun),
        });
    }
    let response = in_session(endpoint, route, principal, accepts, message);
    Ok(Taken::InSession(Box::pin(response)))
}

async fn in_session(
    endpoint: &Arc<Endpoint>,
    route: Route<'_>,
    principal: Option<Principal>,
    accepts: Accepts,
    message: Message<'_>,
) -> Result<Response<HttpBody>, Refusal> {
    let name = principal.as_ref().map(Principal::name);
    match route {
        Route::Initialize => {
            let session = endpoint.new_session();
            let reader = session.post(principal.clone(), accepts, &message).await?;
            if !session.is_initialized().await {
                return Ok(session_response(endpoint, reader).await);
            }
            endpoint.open_session(&session, name)?;
            let mut response = session_response(endpoint, reader).await;
            if let Ok(id) = HeaderValue::from_str(&session.id) {
                response.headers_mut().insert(SESSION_ID, id);
            }
            Ok(response)
        }
        Route::Session(id) => {
            let session = endpoint.session(id, name)?;
            let reader = session.post(principal.clone(), accepts, &message).await?;
            Ok(session_response(endpoint, reader).await)
        }
        Route::OldSession(id) => {
            let session = endpoint.session(id, name)?;
            session.post_old(principal.clone(), &message).await?;
            Ok(accepted())
        }
        Route::Stateless | _ => Err(Refusal::BROKEN),
    }
}

/// Whether the answer to a message is a stream whatever comes of it.
pub(super) fn listens(message: &Message<'_>) -> bool {
    let method = message.method().and_then(Method::parse);
    message.is_request() && method == Some(Method::SubscriptionsListen)
}

async fn get(
    endpoint: &Arc<Endpoint>,
    head: &Head<'_>,
    principal: Option<&str>,
) -> Result<Response<HttpBody>, Refusal> {
    let id = head.session_id()?.ok_or(Refusal::MISSING_SESSION)?;
    let session = endpoint.session(id, principal)?;
    let reader = session.get(head.last_event_id()).await?;
    let mut response = session_response(endpoint, reader).await;
    if response.body().is_nothing() {
        // LH-19: a stream that is taken up at its end is one all the same.
        response = events(HttpBody::EMPTY);
    }
    Ok(response)
}

async fn open(
    endpoint: &Arc<Endpoint>,
    principal: Option<&str>,
) -> Result<Response<HttpBody>, Refusal> {
    let session = endpoint.new_session();
    let reader = session.open(endpoint).await?;
    endpoint.open_session(&session, principal)?;
    Ok(session_response(endpoint, reader).await)
}

fn delete(
    endpoint: &Endpoint,
    head: &Head<'_>,
    principal: Option<&str>,
) -> Result<Response<HttpBody>, Refusal> {
    let id = head.session_id()?.ok_or(Refusal::MISSING_SESSION)?;
    endpoint.close_session(id, principal)?;
    Ok(empty(StatusCode::NO_CONTENT))
}

/// What a browser's page may send (the Fetch standard, "CORS protocol").
fn preflight(endpoint: &Endpoint, head: &Head<'_>) -> Response<HttpBody> {
    let mut response = empty(StatusCode::NO_CONTENT);
    let methods = HeaderValue::from_static(endpoint.rules.allow());
    let headers = response.headers_mut();
    headers.insert(ALLOW, methods.clone());
    if head.is_preflight() {
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
        let asked = head.requested_headers().map(HeaderValue::from_str);
        if let Some(Ok(asked)) = asked {
            headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, asked);
        }
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("600"));
    }
    response
}

/// The page of this origin may read the response.
fn permit(response: &mut Response<HttpBody>, origin: &str) {
    let Ok(origin) = HeaderValue::from_str(origin) else {
        return;
    };
    let headers = response.headers_mut();
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(
        ACCESS_CONTROL_EXPOSE_HEADERS,
        HeaderValue::from_static("Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate"),
    );
    headers.append(VARY, HeaderValue::from_static("Origin"));
}

pub(super) async fn exchange_response(mut exchange: Box<Exchange>) -> Response<HttpBody> {
    let output = poll_fn(|cx| exchange.poll_output(cx)).await;
    let Output::Events(first) = output else {
        return ended(output);
    };
    events(HttpBody::stream(first, Kind::Exchange(exchange)))
}

/// What is no stream is all there is.
pub(super) fn ended(output: Output) -> Response<HttpBody> {
    match output {
        Output::Json { status, body, .. } => json(status, body),
        Output::Accepted | Output::End | Output::Undecided | Output::Events(_) | _ => accepted(),
    }
}

async fn session_response(endpoint: &Endpoint, mut reader: Reader) -> Response<HttpBody> {
    let keep_alive = endpoint.keep_alive;
    let head_after = endpoint.head_after();
    match poll_fn(|cx| reader.poll_output(cx, head_after)).await {
        Output::Json { status, body, .. } => json(status, body),
        Output::Events(first) => {
            let reader = Kind::Session(Box::new(reader), keep_alive);
            events(HttpBody::stream(first, reader))
        }
        // LH-25: a call that was not answered before its session ended.
        Output::Accepted | Output::End if reader.is_over() => refuse(Refusal::NO_SESSION),
        Output::Accepted | Output::End | Output::Undecided | _ => accepted(),
    }
}

fn refuse(refusal: Refusal) -> Response<HttpBody> {
    let mut body = Vec::new();
    // A `Vec` is never full.
    let _ = refusal.write(&mut body);
    let mut response = json(refusal.status(), body);
    if let Some(allow) = refusal.allow() {
        let allow = HeaderValue::from_static(allow);
        response.headers_mut().insert(ALLOW, allow);
    }
    response
}

fn json(status: u16, body: Vec<u8>) -> Response<HttpBody> {
    let mut response = Response::new(HttpBody::whole(body));
    *response.status_mut() =
        StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response
}

/// HTTP-17: proxies are asked not to hold events back.
fn events(body: HttpBody) -> Response<HttpBody> {
    let mut response = Response::new(body);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, EVENTS);
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    headers.insert(ACCEL_BUFFERING, HeaderValue::from_static("no"));
    // The body of the request was read: while nothing happens, the connection needs no buffers.
    response.extensions_mut().insert(Parkable::new());
    response
}

/// HTTP-09.
fn accepted() -> Response<HttpBody> {
    empty(StatusCode::ACCEPTED)
}

fn empty(status: StatusCode) -> Response<HttpBody> {
    let mut response = Response::new(HttpBody::EMPTY);
    *response.status_mut() = status;
    response
}
