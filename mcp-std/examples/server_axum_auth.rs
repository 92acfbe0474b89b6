//! A server with access tokens, at one path of an axum application. Tokens that are known beforehand stand for those of an
//! authorization server here: `server_auth` has one.

use axum::Router;
use axum::routing::get;
use mcp_std::http::auth::{Claims, Issuer, ResourceServer, StaticTokens};
use mcp_std::{Context, Server, Spawner};
use tokio::net::TcpListener;

async fn who(context: Context) -> String {
    let principal = context.principal();
    let subject = principal.and_then(|it| it.subject());
    subject.unwrap_or("somebody").to_owned()
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = std::env::args().nth(1);
    let address = address.as_deref().unwrap_or("127.0.0.1:8000");
    let listener = TcpListener::bind(address).await?;
    let resource = format!("http://{}/api/mcp", listener.local_addr()?);

    let alice = Claims::new("alice").with("aud", resource.as_str());
    let tokens = StaticTokens::new().token("token-of-alice", alice);
    let auth = ResourceServer::builder(&resource)
        .issuer(Issuer::verified_by("https://as.example.com", tokens))
        .build()?;
    let mcp = Server::builder("who", "1.0.0")
        .tool("who", "Says who asks", who)
        .build()?
        .http()
        .spawner(Spawner::new(|task| drop(tokio::spawn(task))))
        .auth(auth.clone())
        .service();

    let mut application = Router::new()
        .route("/health", get(|| async { "well" }))
        .route_service("/api/mcp", mcp.clone());
    // Clients without a token are sent there, to find out where tokens come from: it is not below `/api`.
    for path in auth.metadata_paths() {
        application = application.route_service(path, mcp.clone());
    }
    eprintln!("{resource}");
    axum::serve(listener, application).await?;
    Ok(())
}
