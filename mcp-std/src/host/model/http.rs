//! Models behind the HTTP interfaces of providers.

mod builder;

use core::fmt;
use core::future::pending;
use core::time::Duration;

use async_io::Timer;
use bytes::Bytes;
use futures_lite::future::or;
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderMap, Method, Request, Uri};
use mcp_io::http::client as io;

use super::super::adapters::{Delta, MAX_REPLY, Options, Prompt, Provider, Reply, ReplyFault};
use super::sse::Events;
use super::{ApiKey, Model, ModelError, Replying};

pub use builder::HttpModelBuilder;

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
