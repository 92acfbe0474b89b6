//! Servers run on any executor, tokio's included.

use std::time::Duration;

use async_io::Timer;
use futures_lite::{AsyncRead, AsyncWrite};
use mcp_std::{Context, End, NoArguments, Progress, Server};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio_util::compat::TokioAsyncReadCompatExt;

use crate::peer::{call_with_progress, in_time};

/// Whoever spawns a server needs this; that it compiles is the proof.
fn assert_send<T: Send>(value: T) -> T {
    value
}

fn server() -> Server {
    Server::builder("runtimes", "1")
        .tool("work", "", |context: Context, _: NoArguments| async move {
            context.progress(Progress::new(1.0)).await;
            // A timer of async-io, under any executor.
            Timer::after(Duration::from_millis(10)).await;
            "worked"
        })
        .build()
        .expect("a server")
}

async fn serve(input: impl AsyncRead + Send, output: impl AsyncWrite + Send) -> End {
    let server = server();
    let end = assert_send(server.serve(input, output)).await;
    end.expect("memory does not fail")
}

async fn client(stream: DuplexStream) {
    let (read, mut write) = tokio::io::split(stream);
    let mut lines = BufReader::new(read).lines();
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"tokio","version":"1"}}}"#;
    let calls: Vec<_> = (1..=100)
        .map(|id| call_with_progress(id, "work", "{}"))
        .collect();
    let input = format!("{initialize}\n{}\n", calls.join("\n"));
    write.write_all(input.as_bytes()).await.expect("served");
    for _ in 0..1 + 2 * 100 {
        let line = lines.next_line().await.expect("UTF-8").expect("an answer");
        assert!(
            line.contains(r#""result""#) || line.contains(r#""progress":1"#),
            "{line}"
        );
    }
    write.shutdown().await.expect("served");
}

fn dialogue(runtime: &tokio::runtime::Runtime) {
    runtime.block_on(in_time(async {
        // Smaller than one message, so that every read and write is a short one.
        let (near, far) = tokio::io::duplex(64);
        let (read, write) = tokio::io::split(far);
        let served = tokio::spawn(serve(read.compat(), compat_write(write)));
        client(near).await;
        assert_eq!(served.await.expect("no panic"), End::Complete);
    }));
}

fn compat_write(write: impl tokio::io::AsyncWrite + Send) -> impl AsyncWrite + Send {
    use tokio_util::compat::TokioAsyncWriteCompatExt;
    write.compat_write()
}

#[test]
fn tokio_on_one_thread() {
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    dialogue(&runtime.expect("a runtime"));
}

#[test]
fn tokio_on_several_threads() {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .build();
    dialogue(&runtime.expect("a runtime"));
}
