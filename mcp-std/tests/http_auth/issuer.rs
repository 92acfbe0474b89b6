//! An authorization server in this process, as far as a resource server sees it.

use std::collections::HashMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll};
use std::thread::JoinHandle;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body, Frame};
use mcp_io::http::server::{Listener, Options, collect, serve};
use serde_json::{Value, json};

use crate::keys::{self, Signer};

/// What tokens are for.
pub(crate) const RESOURCE: &str = "https://mcp.example.com/mcp";

pub(crate) struct Issuer {
    pub(crate) url: String,
    state: Arc<Mutex<State>>,
    shutdown: async_channel::Sender<()>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
pub(crate) struct State {
    /// Status and body, by path.
    pages: HashMap<String, (u16, String)>,
    /// What introspection says, by token.
    tokens: HashMap<String, Value>,
    /// What was asked, in order: path, credentials, body.
    pub(crate) asked: Vec<(String, String, String)>,
    delay: Duration,
}

impl Issuer {
    /// With metadata at the first place, and these keys.
    pub(crate) fn new(keys: &[&Signer]) -> Self {
        let issuer = Self::empty();
        let url = &issuer.url;
        let metadata = json!({ "issuer": url, "jwks_uri": format!("{url}/keys") });
        issuer.page("/.well-known/oauth-authorization-server", 200, &metadata);
        issuer.set_keys(keys);
        issuer
    }

    /// Without anything.
    pub(crate) fn empty() -> Self {
        let listener = Listener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("of TCP");
        let state = Arc::<Mutex<State>>::default();
        let service = Service(state.clone());
        let (shutdown, told) = async_channel::bounded::<()>(1);
        let mut options = Options::default();
        options.grace = Duration::ZERO;
        let thread = std::thread::spawn(move || {
            let shutdown = async move {
                let _ = told.recv().await;
            };
            let served = serve(listener, service, options, shutdown);
            async_io::block_on(served).expect("it serves");
        });
        Self {
            url: format!("http://{address}"),
            state,
            shutdown,
            thread: Some(thread),
        }
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nobody panicked")
    }

    pub(crate) fn page(&self, path: &str, status: u16, body: &Value) {
        let page = (status, body.to_string());
        self.state().pages.insert(path.to_owned(), page);
    }

    pub(crate) fn set_keys(&self, keys: &[&Signer]) {
        self.page("/keys", 200, &keys::set(keys));
    }

    /// What it says of a token when it is asked.
    pub(crate) fn knows(&self, token: &str, answer: &Value) {
        let tokens = &mut self.state().tokens;
        tokens.insert(token.to_owned(), answer.clone());
    }

    pub(crate) fn delay(&self, delay: Duration) {
        self.state().delay = delay;
    }

    /// How often this was asked for.
    pub(crate) fn hits(&self, path: &str) -> usize {
        let state = self.state();
        state.asked.iter().filter(|it| it.0 == path).count()
    }

    /// Claims of a good token.
    pub(crate) fn claims(&self) -> Value {
        json!({
            "iss": self.url,
            "sub": "alice",
            "aud": RESOURCE,
            "client_id": "app",
            "iat": now(),
            "exp": now() + 300,
            "scope": "read",
        })
    }

    /// The same with something else in them; `null` is left out.
    pub(crate) fn claims_with(&self, change: &Value) -> Value {
        let mut claims = self.claims();
        let members = claims.as_object_mut().expect("an object");
        for (name, value) in change.as_object().expect("an object") {
            members.insert(name.clone(), value.clone());
        }
        members.retain(|_, value| !value.is_null());
        claims
    }
}

impl Drop for Issuer {
    fn drop(&mut self) {
        self.shutdown.close();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

pub(crate) fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.expect("after 1970").as_secs()
}

#[derive(Clone)]
struct Service(Arc<Mutex<State>>);

impl<B> tower_service::Service<Request<B>> for Service
where
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = Response<Page>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Page>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let state = self.0.clone();
        Box::pin(async move {
            let (parts, body) = request.into_parts();
            let body = collect(body, 64 * 1024, Duration::from_secs(5)).await;
            let body = String::from_utf8(body.expect("a body").to_vec()).expect("UTF-8");
            let path = parts.uri.path().to_owned();
            let credentials = parts.headers.get("authorization");
            let credentials = credentials.map_or("", |it| it.to_str().expect("ASCII"));
            let (delay, (status, text)) = {
                let mut state = state.lock().expect("nobody panicked");
                let asked = (path.clone(), credentials.to_owned(), body.clone());
                state.asked.push(asked);
                let page = match path.as_str() {
                    "/introspect" => (200, state.introspect(&body).to_string()),
                    _ => state.pages.get(&path).cloned().unwrap_or_default(),
                };
                (state.delay, page)
            };
            async_io::Timer::after(delay).await;
            let mut response = Response::new(Page(Some(text.into())));
            let status = http::StatusCode::from_u16(status);
            *response.status_mut() = status.unwrap_or(http::StatusCode::NOT_FOUND);
            Ok(response)
        })
    }
}

impl State {
    fn introspect(&self, form: &str) -> Value {
        let token = form.split('&').find_map(|pair| pair.strip_prefix("token="));
        let token = token.expect("a token");
        let known = self.tokens.get(token).cloned();
        known.unwrap_or_else(|| json!({ "active": false }))
    }
}

struct Page(Option<Bytes>);

impl Body for Page {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }
}
