//! The floor of HTTP: hyper on smol, one thread, one reply that is always the same, and nothing read of what is asked.

use std::convert::Infallible;
use std::future::ready;
use std::net::{Ipv4Addr, TcpListener};

use async_executor::LocalExecutor;
use async_io::{Async, block_on};
use bytes::Bytes;
use clap::Parser;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use smol_hyper::rt::FuturesIo;

/// What the servers that it is compared with answer.
const REPLY: &str = r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcp-serve","title":"mcp serve","version":"0.1.0"}},"content":[{"type":"text","text":"hello, hello, hello, hello, hello"}]}}"#;

/// Answer every HTTP request with the same text.
#[derive(Parser)]
#[command(name = "http_floor")]
struct Arguments {
    /// The port to listen at, of this machine.
    port: u16,
}

fn main() -> Result<(), Box<dyn core::error::Error>> {
    let arguments = Arguments::parse();
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, arguments.port))?;
    let listener = Async::new(listener)?;
    let executor = LocalExecutor::new();
    block_on(executor.run(async {
        loop {
            let (socket, _) = listener.accept().await?;
            socket.get_ref().set_nodelay(true)?;
            let connection =
                http1::Builder::new().serve_connection(FuturesIo::new(socket), service_fn(reply));
            executor
                .spawn(async {
                    // A client that leaves is none of its business.
                    let _ = connection.await;
                })
                .detach();
        }
    }))
}

fn reply(_: Request<Incoming>) -> core::future::Ready<Result<Response<Full<Bytes>>, Infallible>> {
    let mut response = Response::new(Full::new(Bytes::from_static(REPLY.as_bytes())));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    ready(Ok(response))
}
