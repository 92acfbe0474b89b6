//! What is asked of issuers, over HTTP.

use core::time::Duration;

use async_io::Timer;
use bytes::Bytes;
use futures_lite::future::or;
use http::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Request, Uri};
use mcp_io::http::client::Client;

/// More is not read of any answer.
const LONGEST: usize = 256 * 1024;

/// Asks issuers. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Fetcher {
    client: Client,
    /// For a whole exchange.
    timeout: Duration,
}

impl Fetcher {
    pub(super) const fn new(client: Client, timeout: Duration) -> Self {
        Self { client, timeout }
    }

    /// The body of what is there. The error is for the log.
    pub(super) async fn get(&self, url: &str) -> Result<Vec<u8>, String> {
        let request = Request::get(uri(url)?)
            .header(ACCEPT, "application/json")
            .body(Bytes::new());
        self.send(request.map_err(|error| error.to_string())?, true)
            .await
    }

    /// What a form is answered with, that is sent with a secret.
    pub(super) async fn post(
        &self,
        url: &str,
        authorization: &HeaderValue,
        form: String,
    ) -> Result<Vec<u8>, String> {
        let request = Request::post(uri(url)?)
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .header(AUTHORIZATION, authorization)
            .body(Bytes::from(form));
        // RFC 7662, section 2: to ask twice changes nothing.
        self.send(request.map_err(|error| error.to_string())?, true)
            .await
    }

    async fn send(&self, request: Request<Bytes>, repeatable: bool) -> Result<Vec<u8>, String> {
        let exchange = async {
            let response = self.client.send(request, repeatable).await;
            let mut response = response.map_err(|error| error.to_string())?;
            if response.status != http::StatusCode::OK {
                return Err(format!("answered with {}", response.status));
            }
            let mut body = Vec::new();
            while let Some(chunk) = response.body.chunk().await {
                let chunk = chunk.map_err(|error| error.to_string())?;
                if body.len() + chunk.len() > LONGEST {
                    return Err(format!("the answer is longer than {LONGEST} bytes"));
                }
                body.extend_from_slice(&chunk);
            }
            Ok(body)
        };
        let late = async {
            Timer::after(self.timeout).await;
            Err(format!("no answer within {:?}", self.timeout))
        };
        or(exchange, late).await
    }
}

fn uri(url: &str) -> Result<Uri, String> {
    url.parse().map_err(|_| "it is no URL".to_owned())
}
