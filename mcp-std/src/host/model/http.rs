//! Models behind the HTTP interfaces of providers.

use core::fmt;
use core::future::pending;
use core::time::Duration;

use async_io::Timer;
use bytes::Bytes;
use futures_lite::future::or;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use mcp_io::http::client as io;

use super::super::adapters::{Delta, MAX_REPLY, Options, Prompt, Provider, Reply, ReplyFault};
use super::sse::Events;
use super::{ApiKey, Model, ModelError, Replying};

/// Of an answer that is an error so much is read, in bytes.
const MAX_ERROR: usize = 64 * 1024;

/// So long the end of a body is waited for when its answer is whole.
const LINGER: Duration = Duration::from_millis(300);

/// A model behind the interface of a provider.
///
/// A request that the provider was too busy for (408, 429, 500, 502, 503, 504, 529), or that broke before its answer
/// began, is sent again: twice by default, after what `Retry-After` says, or half a second and twice as long each time. Once
/// an answer has begun nothing is sent again.
#[derive(Clone)]
pub struct HttpModel {
    provider: Provider,
    model: String,
    uri: Uri,
    headers: HeaderMap,
    key: Option<ApiKey>,
    client: io::Client,
    stream: bool,
    options: Options,
    retries: u32,
    max_wait: Duration,
    timeout: Duration,
}

/// Makes an [`HttpModel`].
#[derive(Clone, Debug)]
#[must_use = "nothing happens before `build`"]
pub struct HttpModelBuilder {
    provider: Provider,
    model: String,
    base_url: Option<String>,
    key: Option<ApiKey>,
    headers: Vec<(String, ApiKey)>,
    stream: bool,
    options: Options,
    retries: u32,
    max_wait: Duration,
    timeout: Duration,
    plain: bool,
    client: Option<io::Client>,
}

impl HttpModel {
    /// A model by OpenAI's Chat Completions, or what offers the same. The key is that in `OPENAI_API_KEY`, the base URL that
    /// in `OPENAI_BASE_URL`, else `https://api.openai.com/v1`.
    pub fn openai(model: impl Into<String>) -> HttpModelBuilder {
        HttpModelBuilder::new(Provider::OpenAiChat, model.into())
    }

    /// A model by OpenAI's Responses. Key and base URL are as for [`openai`](Self::openai).
    pub fn openai_responses(model: impl Into<String>) -> HttpModelBuilder {
        HttpModelBuilder::new(Provider::OpenAiResponses, model.into())
    }

    /// A model of Anthropic. The key is that in `ANTHROPIC_API_KEY`, the base URL that in `ANTHROPIC_BASE_URL`, else
    /// `https://api.anthropic.com`.
    pub fn anthropic(model: impl Into<String>) -> HttpModelBuilder {
        HttpModelBuilder::new(Provider::Anthropic, model.into())
    }

    /// A model of Google. The key is that in `GEMINI_API_KEY`, the base URL that in `GEMINI_BASE_URL`, else
    /// `https://generativelanguage.googleapis.com/v1beta`.
    pub fn gemini(model: impl Into<String>) -> HttpModelBuilder {
        HttpModelBuilder::new(Provider::Gemini, model.into())
    }
}

impl HttpModelBuilder {
    fn new(provider: Provider, model: String) -> Self {
        Self {
            provider,
            model,
            base_url: None,
            key: None,
            headers: Vec::new(),
            stream: true,
            options: Options::default(),
            retries: 2,
            max_wait: Duration::from_secs(30),
            timeout: Duration::from_secs(600),
            plain: false,
            client: None,
        }
    }

    /// Where the interface is. Default: what the environment says, or the provider's own.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// The key. Default: what the environment says; none where the base URL was set and nothing is said there.
    pub fn api_key(mut self, key: ApiKey) -> Self {
        self.key = Some(key);
        self
    }

    /// One more header of each request.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), ApiKey::new(value)));
        self
    }

    /// Whether answers come in pieces. Default: yes.
    pub const fn stream(mut self, stream: bool) -> Self {
        self.stream = stream;
        self
    }

    /// How tools are shown.
    pub const fn options(mut self, options: Options) -> Self {
        self.options = options;
        self
    }

    /// How often a request is sent again. Default: 2.
    pub const fn retries(mut self, times: u32) -> Self {
        self.retries = times;
        self
    }

    /// The longest pause before a request is sent again. Where the provider asks for a longer one, the request has failed.
    /// Default: 30 seconds.
    pub const fn max_wait(mut self, time: Duration) -> Self {
        self.max_wait = time;
        self
    }

    /// How long an answer may take altogether, pauses included. Default: 10 minutes.
    pub const fn timeout(mut self, time: Duration) -> Self {
        self.timeout = time;
        self
    }

    /// Allows that a key is sent without TLS to another machine. Default: no; to this machine it always is allowed.
    pub const fn plain_http(mut self, allow: bool) -> Self {
        self.plain = allow;
        self
    }

    /// The client that sends. Default: one of its own, which follows no redirects.
    pub fn client(mut self, client: io::Client) -> Self {
        self.client = Some(client);
        self
    }

    /// The model.
    ///
    /// # Errors
    ///
    /// There is no key, or the URL, a header or the key cannot be used.
    pub fn build(self) -> Result<HttpModel, ModelError> {
        let config = |problem: &str| ModelError::Config(problem.to_owned());
        let (key_variable, url_variable, standard) = match self.provider {
            Provider::OpenAiChat | Provider::OpenAiResponses => (
                "OPENAI_API_KEY",
                "OPENAI_BASE_URL",
                "https://api.openai.com/v1",
            ),
            Provider::Anthropic => (
                "ANTHROPIC_API_KEY",
                "ANTHROPIC_BASE_URL",
                "https://api.anthropic.com",
            ),
            Provider::Gemini => (
                "GEMINI_API_KEY",
                "GEMINI_BASE_URL",
                "https://generativelanguage.googleapis.com/v1beta",
            ),
        };
        let chosen = self.base_url.is_some();
        let from_env = || {
            std::env::var(url_variable)
                .ok()
                .filter(|url| !url.trim().is_empty())
        };
        let base = self
            .base_url
            .or_else(from_env)
            .unwrap_or_else(|| standard.to_owned());
        // A key of the environment is for the provider's own URL, or for that of the environment.
        let key = self.key.or_else(|| {
            if chosen {
                None
            } else {
                ApiKey::from_env(key_variable)
            }
        });
        if key.is_none() && !chosen && base == standard {
            return Err(ModelError::Config(format!(
                "there is no API key: set {key_variable}"
            )));
        }
        let base = base.trim().trim_end_matches('/');
        let url = match self.provider {
            Provider::OpenAiChat => format!("{base}/chat/completions"),
            Provider::OpenAiResponses => format!("{base}/responses"),
            Provider::Anthropic => {
                format!("{}/v1/messages", base.strip_suffix("/v1").unwrap_or(base))
            }
            Provider::Gemini if self.stream => {
                format!("{base}/models/{}:streamGenerateContent?alt=sse", self.model)
            }
            Provider::Gemini => format!("{base}/models/{}:generateContent", self.model),
        };
        let uri: Uri = url
            .parse()
            .map_err(|_| config("the base URL, or the model in it, is none"))?;
        let is_secure = uri.scheme_str() == Some("https");
        if key.is_some()
            && !is_secure
            && !self.plain
            && !is_this_machine(uri.host().unwrap_or_default())
        {
            return Err(config(
                "the key would be sent without TLS: use `https://`, or allow it with `plain_http`",
            ));
        }
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.provider == Provider::Anthropic {
            headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        }
        if let Some(key) = &key {
            let (name, value) = match self.provider {
                Provider::OpenAiChat | Provider::OpenAiResponses => {
                    ("authorization", format!("Bearer {}", key.expose()))
                }
                Provider::Anthropic => ("x-api-key", key.expose().to_owned()),
                Provider::Gemini => ("x-goog-api-key", key.expose().to_owned()),
            };
            let mut value = HeaderValue::from_str(&value)
                .map_err(|_| config("the API key has characters that no header can hold"))?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(name), value);
        }
        for (name, value) in &self.headers {
            let known = (
                HeaderName::try_from(name),
                HeaderValue::from_str(value.expose()),
            );
            let (Ok(name), Ok(mut value)) = known else {
                return Err(ModelError::Config(format!(
                    "`{name}` is no header, or has a value that none can hold"
                )));
            };
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        let client = match self.client {
            Some(client) => client,
            None => io::Client::builder()
                .redirects(false)
                .build()
                .map_err(|error| ModelError::Config(error.to_string()))?,
        };
        Ok(HttpModel {
            provider: self.provider,
            model: self.model,
            uri,
            headers,
            key,
            client,
            stream: self.stream,
            options: self.options,
            retries: self.retries,
            max_wait: self.max_wait,
            timeout: self.timeout,
        })
    }
}

fn is_this_machine(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|ip| ip.is_loopback())
}

/// An attempt that did not bring an answer.
struct Failed {
    error: ModelError,
    /// Another one may.
    again: bool,
}

impl HttpModel {
    async fn ask(
        &self,
        prompt: Prompt<'_>,
        each: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<Reply, ModelError> {
        let body = prompt.tools.request(&self.model, &prompt, self.stream);
        let body = Bytes::from(body.as_str().to_owned());
        let mut pause = Duration::from_millis(500);
        let mut attempt = 0;
        loop {
            let failed = match self.attempt(&body, prompt, each).await {
                Ok(reply) => return Ok(reply),
                Err(failed) => failed,
            };
            let asked = if let ModelError::Status { retry_after, .. } = &failed.error {
                *retry_after
            } else {
                None
            };
            let wait = asked.unwrap_or(pause);
            if !failed.again || attempt >= self.retries || wait > self.max_wait {
                return Err(failed.error);
            }
            tracing::debug!(error = %failed.error, ?wait, "the model is asked again");
            // So that those who were refused together do not come back together.
            let jitter = crate::entropy::seed() % 100;
            Timer::after(wait + wait.mul_f64(jitter as f64 / 400.0)).await;
            pause = pause.saturating_mul(2);
            attempt += 1;
        }
    }

    async fn attempt(
        &self,
        body: &Bytes,
        prompt: Prompt<'_>,
        each: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<Reply, Failed> {
        let mut request = Request::new(body.clone());
        *request.method_mut() = Method::POST;
        *request.uri_mut() = self.uri.clone();
        *request.headers_mut() = self.headers.clone();
        // An answer of a model changes nothing in the world: it can be asked for again.
        let response = self.client.send(request, true).await;
        let mut response = response.map_err(|error| Failed {
            error: ModelError::Transport(self.redact(&error.to_string())),
            again: true,
        })?;
        let status = response.status.as_u16();
        if !response.status.is_success() {
            let body = read(&mut response.body, MAX_ERROR)
                .await
                .unwrap_or_default();
            return Err(Failed {
                error: ModelError::Status {
                    status,
                    message: self.redact(&message(&body)),
                    retry_after: retry_after(&response.headers),
                },
                again: matches!(status, 408 | 429 | 500 | 502 | 503 | 504 | 529),
            });
        }
        let kind = response
            .headers
            .get(CONTENT_TYPE)
            .and_then(|kind| kind.to_str().ok());
        let events = kind.is_some_and(|kind| {
            kind.trim_start()
                .to_ascii_lowercase()
                .starts_with("text/event-stream")
        });
        let reply = if events {
            self.events(&mut response.body, prompt, each).await
        } else {
            self.whole(&mut response.body, prompt, each).await
        };
        reply.map_err(|error| Failed {
            error,
            again: false,
        })
    }

    /// An answer as a whole: some give one even if pieces were asked for.
    async fn whole(
        &self,
        body: &mut io::Body,
        prompt: Prompt<'_>,
        each: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<Reply, ModelError> {
        let body = read(body, MAX_REPLY).await?;
        let reply = prompt.tools.read(&body)?;
        if !reply.text.is_empty() {
            each(Delta::Text(reply.text.clone()));
        }
        Ok(reply)
    }

    async fn events(
        &self,
        body: &mut io::Body,
        prompt: Prompt<'_>,
        each: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<Reply, ModelError> {
        let mut events = Events::new(prompt.tools.stream());
        let mut whole = false;
        loop {
            // So that the connection can be used again; some leave it open after the last event.
            let late = async {
                if whole {
                    Timer::after(LINGER).await;
                } else {
                    pending::<()>().await;
                }
                None
            };
            let Some(chunk) = or(body.chunk(), late).await else {
                break;
            };
            match chunk {
                Ok(chunk) if !whole => {
                    whole = events
                        .add(&chunk, each)
                        .map_err(|fault| self.fault(fault))?
                }
                Ok(_) => {}
                Err(_) if whole => break,
                Err(error) => return Err(ModelError::Transport(self.redact(&error.to_string()))),
            }
        }
        let stream = events.end(each).map_err(|fault| self.fault(fault))?;
        Ok(stream.finish()?)
    }

    fn fault(&self, fault: ReplyFault) -> ModelError {
        ModelError::Reply(match fault {
            ReplyFault::Provider { kind, message } => ReplyFault::Provider {
                kind,
                message: self.redact(&message),
            },
            other @ (ReplyFault::Malformed(_) | ReplyFault::Cut | ReplyFault::TooLarge(_)) => other,
        })
    }

    fn redact(&self, text: &str) -> String {
        self.key
            .as_ref()
            .map_or_else(|| text.to_owned(), |key| key.redact(text))
    }
}

impl Model for HttpModel {
    fn provider(&self) -> Provider {
        self.provider
    }

    fn options(&self) -> Options {
        self.options
    }

    fn reply<'a>(
        &'a self,
        prompt: Prompt<'a>,
        each: &'a mut (dyn FnMut(Delta) + Send),
    ) -> Replying<'a> {
        let late = async {
            Timer::after(self.timeout).await;
            Err(ModelError::TimedOut(self.timeout))
        };
        Box::pin(or(self.ask(prompt, each), late))
    }
}

impl fmt::Debug for HttpModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpModel")
            .field("provider", &self.provider)
            .field("model", &self.model)
            .field("host", &self.uri.host().unwrap_or_default())
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

async fn read(body: &mut io::Body, most: usize) -> Result<Vec<u8>, ModelError> {
    let mut bytes = Vec::new();
    while let Some(chunk) = body.chunk().await {
        let chunk = chunk.map_err(|error| ModelError::Transport(error.to_string()))?;
        if bytes.len() + chunk.len() > most {
            return Err(ModelError::Reply(ReplyFault::TooLarge(
                "it has more than 16 MiB",
            )));
        }
        bytes.extend_from_slice(&chunk);
    }
    Ok(bytes)
}

/// What an error says, in the providers' form or in any.
fn message(body: &[u8]) -> String {
    let text = String::from_utf8_lossy(body);
    let known = serde_json::from_slice::<serde_json::Value>(body)
        .ok()
        .and_then(|value| {
            let error = value.get("error").unwrap_or(&value);
            let message = error.get("message").unwrap_or(error);
            message.as_str().map(str::to_owned)
        });
    let text = known.unwrap_or_else(|| text.trim().to_owned());
    text.chars()
        .filter(|letter| !letter.is_control())
        .take(500)
        .collect()
}

/// Seconds, or milliseconds where OpenAI says it so. Dates are not read: those who send them send seconds too.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let milliseconds = number("retry-after-ms").map(|number| number / 1000.0);
    let seconds = milliseconds.or_else(|| number(RETRY_AFTER.as_str()))?;
    Duration::try_from_secs_f64(seconds).ok()
}
