//! What is said of a model behind HTTP before it is asked.

use core::time::Duration;

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use mcp_io::http::client as io;

use super::super::super::adapters::{Options, Provider};
use super::super::{ApiKey, ModelError};
use super::HttpModel;

/// Makes an [`HttpModel`].
#[derive(Clone, Debug)]
#[must_use = "nothing happens before `build`"]
pub struct HttpModelBuilder {
    provider: Provider,
    model: String,
    base_url: Option<String>,
    key: Option<ApiKey>,
    key_header: Option<String>,
    headers: Vec<(String, ApiKey)>,
    stream: bool,
    options: Options,
    retries: u32,
    max_wait: Duration,
    timeout: Duration,
    plain: bool,
    client: Option<io::Client>,
}

impl HttpModelBuilder {
    pub(super) fn new(provider: Provider, model: String) -> Self {
        Self {
            provider,
            model,
            base_url: None,
            key: None,
            key_header: None,
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

    /// Where the interface is. Default: what the environment says, or the provider's own. A query stays at the end, as in
    /// `https://NAME.openai.azure.com/openai/deployments/gpt?api-version=2024-10-21`.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = Some(url.into());
        self
    }

    /// The key. Default: what the environment says; none where the base URL was set and nothing is said there.
    pub fn api_key(mut self, key: ApiKey) -> Self {
        self.key = Some(key);
        self
    }

    /// The header that holds the key, as it is. Default: the provider's own; Azure has `api-key`.
    pub fn key_header(mut self, name: impl Into<String>) -> Self {
        self.key_header = Some(name.into());
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
        let url = endpoint(self.provider, &base, &self.model, self.stream);
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
        let key_header = self.key_header.as_deref();
        let headers = headers(self.provider, key.as_ref(), key_header, &self.headers)?;
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

/// The URL of the interface: its path is after that of the base URL, and before the query of it.
fn endpoint(provider: Provider, base: &str, model: &str, stream: bool) -> String {
    let (base, query) = base.trim().split_once('?').unwrap_or((base.trim(), ""));
    let base = base.trim_end_matches('/');
    let mut parts: Vec<&str> = query.split('&').filter(|part| !part.is_empty()).collect();
    let path = match provider {
        Provider::OpenAiChat => format!("{base}/chat/completions"),
        Provider::OpenAiResponses => format!("{base}/responses"),
        Provider::Anthropic => format!("{}/v1/messages", base.strip_suffix("/v1").unwrap_or(base)),
        Provider::Gemini if stream => {
            parts.push("alt=sse");
            format!("{base}/models/{model}:streamGenerateContent")
        }
        Provider::Gemini => format!("{base}/models/{model}:generateContent"),
    };
    if parts.is_empty() {
        path
    } else {
        format!("{path}?{}", parts.join("&"))
    }
}

/// The headers of each request; those that hold something secret are marked so.
fn headers(
    provider: Provider,
    key: Option<&ApiKey>,
    key_header: Option<&str>,
    more: &[(String, ApiKey)],
) -> Result<HeaderMap, ModelError> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if provider == Provider::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    if let Some(key) = key {
        let key = key.expose();
        let (name, value) = match (key_header, provider) {
            (Some(name), _) => (name, key.to_owned()),
            (None, Provider::OpenAiChat | Provider::OpenAiResponses) => {
                ("authorization", format!("Bearer {key}"))
            }
            (None, Provider::Anthropic) => ("x-api-key", key.to_owned()),
            (None, Provider::Gemini) => ("x-goog-api-key", key.to_owned()),
        };
        insert(&mut headers, name, &value)?;
    }
    for (name, value) in more {
        insert(&mut headers, name, value.expose())?;
    }
    Ok(headers)
}

fn insert(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), ModelError> {
    let known = (HeaderName::try_from(name), HeaderValue::from_str(value));
    let (Ok(known), Ok(mut value)) = known else {
        return Err(ModelError::Config(format!(
            "`{name}` is no header, or has a value (the API key?) that none can hold"
        )));
    };
    value.set_sensitive(true);
    headers.insert(known, value);
    Ok(())
}

fn is_this_machine(host: &str) -> bool {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<std::net::IpAddr>()
            .is_ok_and(|ip| ip.is_loopback())
}
