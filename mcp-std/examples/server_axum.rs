//! A server in an axum application, behind a check of who asks. Tokens stand for users here; a real application looks
//! them up, or checks their signatures.

use axum::Router;
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::get;
use mcp_std::http::Principal;
use mcp_std::{Server, Spawner};
use tokio::net::TcpListener;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nap {
    /// How long, in milliseconds.
    ms: u16,
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let server = Server::builder("napper", "1.0.0")
        .tool("nap", "Sleeps for a while", |args: Nap| async move {
            tokio::time::sleep(std::time::Duration::from_millis(args.ms.into())).await;
            format!("slept for {} ms", args.ms)
        })
        .build()?;
    // Handlers of sessions outlive the responses they began with: they run on tokio as well.
    let spawner = Spawner::new(|task| {
        tokio::spawn(task);
    });
    let mcp = server.http().spawner(spawner).service();
    let application = Router::new()
        .route_service("/mcp", mcp)
        .layer(middleware::from_fn(identify))
        .route("/health", get(|| async { "well" }));

    let address = std::env::args().nth(1);
    let address = address.as_deref().unwrap_or("127.0.0.1:8000");
    let listener = TcpListener::bind(address).await?;
    eprintln!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, application).await?;
    Ok(())
}

/// Sessions belong to who began them. To anybody else they do not exist, not even with their ids.
async fn identify(mut request: Request, next: Next) -> Result<Response, StatusCode> {
    let token = request.headers().get(header::AUTHORIZATION);
    let token = token.and_then(|value| value.to_str().ok()?.strip_prefix("Bearer "));
    let user = match token {
        Some("token-of-alice") => "alice",
        Some("token-of-bob") => "bob",
        Some(_) | None => return Err(StatusCode::UNAUTHORIZED),
    };
    request.extensions_mut().insert(Principal::new(user));
    Ok(next.run(request).await)
}
