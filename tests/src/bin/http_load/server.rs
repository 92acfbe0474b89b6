//! The server: it ends with its standard input.

use std::io::Read as _;
use std::sync::OnceLock;
use std::thread;

use mcp_std::http::{Listener, Options};
use mcp_std::{Context, Progress, Server, Tool};

static ITSELF: OnceLock<Server> = OnceLock::new();

pub(crate) fn run() {
    let server = Server::builder("load", "1")
        .list_changes()
        .tool("now", "", || async { "now" })
        .tool("much", "", |context: Context| async move {
            let text = "x".repeat(16 * 1024);
            for step in 1.. {
                let progress = Progress::new(f64::from(step)).saying(text.as_str());
                context.progress(progress).await;
            }
        })
        .tool("change", "", || async {
            let server = ITSELF.get().expect("it is served");
            if !server.remove_tool("dummy").expect("it can change") {
                let dummy = Tool::new("dummy", "", || async { "" });
                server.add_tool(dummy).expect("there is none");
            }
        })
        .build()
        .expect("a server");
    ITSELF.get_or_init(|| server.clone());
    thread::spawn(|| {
        let _ = std::io::stdin().read(&mut [0]);
        std::process::exit(0);
    });
    let mut options = Options::default();
    options.max_connections = 100_000;
    options.threads = 1;
    let listener = Listener::bind("127.0.0.1:0").expect("a free port");
    println!("{}", listener.local_addr().expect("of TCP"));
    let served = server
        .http()
        .options(options)
        .serve_on(listener, core::future::pending());
    async_io::block_on(served).expect("threads start");
}
