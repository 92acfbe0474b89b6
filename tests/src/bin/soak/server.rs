//! What is served.

use std::time::Duration;

use async_io::Timer;
use mcp_io::http::server::Listener;
use mcp_std::http::SessionLimits;
use mcp_std::{Context, Progress, Prompt, Resource, Server};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Echo {
    text: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nap {
    ms: u64,
}

fn server() -> Server {
    Server::builder("soak", "1")
        .tool(
            "echo",
            "Says it again",
            |echo: Echo| async move { echo.text },
        )
        .tool(
            "nap",
            "Takes its time",
            |context: Context, nap: Nap| async move {
                for step in 0..3 {
                    context.progress(Progress::new(f64::from(step) + 1.0)).await;
                    Timer::after(Duration::from_millis(nap.ms)).await;
                }
                "rested"
            },
        )
        .tool("fail", "Fails", || async {
            Err::<String, _>("out of order")
        })
        .with_resource(Resource::new("mem://text", "text", || async { "text" }))
        .with_prompt(Prompt::new("hello", "Says hello", || async { "hello" }))
        .build()
        .expect("a server")
}

/// Over HTTP, until somebody kills it. Says where.
pub(crate) fn http() {
    let listener = Listener::bind("127.0.0.1:0").expect("a port");
    println!("{}", listener.local_addr().expect("an address"));
    // Clients that are killed do not say goodbye: their sessions are in use for so long, and then no more.
    let mut limits = SessionLimits::default();
    limits.idle = Duration::from_secs(5);
    let served = server()
        .http()
        .session_limits(limits)
        .serve_on(listener, std::future::pending());
    smol::block_on(served).expect("it is served");
}

/// Over standard input and output.
pub(crate) fn stdio() {
    let served = smol::block_on(server().serve_stdio());
    served.expect("it is served");
}
