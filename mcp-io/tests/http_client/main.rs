//! The HTTP client over real sockets, against servers that say what the test wants.

mod exchange;
mod peer;
mod secure;

use futures_lite::future::block_on;
use http::Request;
use mcp_io::http::client::{Client, Error, Proxy, Response};

fn client() -> Client {
    Client::builder()
        .proxy(Proxy::None)
        .build()
        .expect("a client")
}

fn post(url: &str, body: &str) -> Request<bytes::Bytes> {
    Request::post(url)
        .header("content-type", "application/json")
        .header("authorization", "Bearer t")
        .body(body.to_owned().into())
        .expect("a request")
}

async fn text(mut response: Response) -> String {
    let mut all = Vec::new();
    while let Some(chunk) = response.body.chunk().await {
        all.extend_from_slice(&chunk.expect("the body"));
    }
    String::from_utf8(all).expect("UTF-8")
}

fn send(client: &Client, url: &str, body: &str) -> Result<(u16, String), Error> {
    block_on(async {
        let response = client.send(post(url, body), false).await?;
        let status = response.status.as_u16();
        Ok((status, text(response).await))
    })
}
