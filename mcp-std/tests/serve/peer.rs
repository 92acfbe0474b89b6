//! A client in the same process, on a pair of sockets. No wait is longer than [`PATIENCE`].

use std::future::Future;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use async_io::{Async, Timer};
use futures_lite::io::BufReader;
use futures_lite::{AsyncBufReadExt, AsyncWriteExt, FutureExt};
use mcp_std::{End, Error, Server, Sharing};
use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(10);

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":"init","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;

pub(crate) struct Peer {
    stream: BufReader<Async<UnixStream>>,
}

/// Serves `client` until the server is done.
pub(crate) fn serve<S, C>(server: &Server<S>, client: impl FnOnce(Peer) -> C) -> Result<End, Error>
where
    S: Sharing,
    C: Future<Output = ()>,
{
    let (near, far) = Async::<UnixStream>::pair().expect("a pair of sockets");
    let peer = Peer {
        stream: BufReader::new(near),
    };
    let served = async move {
        let end = server.serve(&far, &far).await;
        // Told to the client as the end of what it reads.
        drop(far);
        end
    };
    let both = futures_lite::future::zip(served, client(peer));
    async_io::block_on(in_time(both)).0
}

/// [`serve`] after the handshake of 2025-11-25, to the end of a client that does nothing wrong.
pub(crate) fn session<S, C>(server: &Server<S>, client: impl FnOnce(Peer) -> C)
where
    S: Sharing,
    C: Future<Output = ()>,
{
    let end = serve(server, |mut peer| async move {
        peer.initialize().await;
        client(peer).await;
    });
    assert_eq!(end.expect("sockets do not fail"), End::Complete);
}

/// Panics if the future takes too long.
pub(crate) async fn in_time<F: Future>(future: F) -> F::Output {
    let late = async {
        Timer::after(PATIENCE).await;
        panic!("not done after {PATIENCE:?}");
    };
    future.or(late).await
}

impl Peer {
    pub(crate) async fn initialize(&mut self) {
        self.send(INITIALIZE).await;
        let answer = self.line().await;
        assert!(
            answer.starts_with(r#"{"jsonrpc":"2.0","id":"init","result":{"#),
            "{answer}"
        );
    }

    /// The handshake of a revision, to its end, with these capabilities. Returns the result of `initialize`.
    pub(crate) async fn handshake(&mut self, version: &str, capabilities: &Value) -> Value {
        let params = json!({
            "protocolVersion": version,
            "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" },
        });
        let result = self.request("init", "initialize", &params).await;
        assert_eq!(result["protocolVersion"], version, "{result}");
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        result
    }

    /// Sends a request, whose answer has to be the next message, and is returned without its envelope: the result, or the
    /// whole message if it is an error.
    pub(crate) async fn request(&mut self, id: &str, method: &str, params: &Value) -> Value {
        self.send(&request(id, method, params)).await;
        let message = self.message().await;
        assert_eq!(message["id"], id, "{message}");
        message.get("result").cloned().unwrap_or(message)
    }

    /// The same as a client of 2026-07-28 with these capabilities.
    pub(crate) async fn modern(
        &mut self,
        id: &str,
        method: &str,
        params: &Value,
        capabilities: &Value,
    ) -> Value {
        self.request(id, method, &modern(params, capabilities))
            .await
    }

    /// Answers a request of the server.
    pub(crate) async fn reply(&mut self, request: &Value, result: &Value) {
        let message = json!({ "jsonrpc": "2.0", "id": request["id"], "result": result });
        self.send(&message.to_string()).await;
    }

    /// One message, or several with line ends between them.
    pub(crate) async fn send(&mut self, lines: &str) {
        let bytes = format!("{lines}\n");
        let written = self.stream.get_mut().write_all(bytes.as_bytes()).await;
        written.expect("the server is there");
    }

    pub(crate) async fn call(&mut self, id: u64, tool: &str, arguments: &str) {
        self.send(&call(id, tool, arguments)).await;
    }

    pub(crate) async fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).await.expect("UTF-8");
        assert_eq!(line.pop(), Some('\n'), "a whole line, not {line:?}");
        line
    }

    pub(crate) async fn message(&mut self) -> Value {
        let line = self.line().await;
        serde_json::from_str(&line).expect("JSON")
    }

    /// Calls a tool, whose answer has to be the next message, and is returned without its envelope.
    pub(crate) async fn answer(&mut self, id: u64, tool: &str, arguments: &str) -> Value {
        self.call(id, tool, arguments).await;
        let message = self.message().await;
        assert_eq!(message["id"], id, "{message}");
        message.get("result").cloned().unwrap_or(message)
    }

    pub(crate) async fn ping(&mut self) {
        self.send(r#"{"jsonrpc":"2.0","id":"ping","method":"ping"}"#)
            .await;
        let line = self.line().await;
        assert_eq!(line, r#"{"jsonrpc":"2.0","id":"ping","result":{}}"#);
    }

    /// Ends the input of the server.
    pub(crate) fn close(&self) {
        let stream = self.stream.get_ref().get_ref();
        stream.shutdown(Shutdown::Write).expect("it is connected");
    }

    /// Ends the input and reads to the end.
    pub(crate) async fn rest(mut self) -> Vec<Value> {
        self.close();
        let mut messages = Vec::new();
        let mut line = String::new();
        while self.stream.read_line(&mut line).await.expect("UTF-8") > 0 {
            messages.push(serde_json::from_str(&line).expect("JSON"));
            line.clear();
        }
        messages
    }
}

pub(crate) fn request(id: &str, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// The same params, as a client of 2026-07-28 with these capabilities sends them.
pub(crate) fn modern(params: &Value, capabilities: &Value) -> Value {
    let mut params = params.clone();
    params["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
    params["_meta"]["io.modelcontextprotocol/clientCapabilities"] = capabilities.clone();
    params
}

pub(crate) fn call(id: u64, tool: &str, arguments: &str) -> String {
    let tool = Value::from(tool);
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":{tool},"arguments":{arguments}}}}}"#
    )
}

/// A call whose progress token is its id.
pub(crate) fn call_with_progress(id: u64, tool: &str, arguments: &str) -> String {
    call(id, tool, arguments).replace(
        r#""params":{"#,
        &format!(r#""params":{{"_meta":{{"progressToken":{id}}},"#),
    )
}

pub(crate) fn cancel(id: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    )
}

/// The text of a result, which is no failure.
pub(crate) fn text(result: &Value) -> &str {
    assert_eq!(result.get("isError"), None, "{result}");
    result["content"][0]["text"].as_str().expect("a text")
}

/// The text of a result that is a failure.
pub(crate) fn failure(result: &Value) -> &str {
    assert_eq!(result["isError"], true, "{result}");
    result["content"][0]["text"].as_str().expect("a text")
}

pub(crate) fn ids(messages: &[Value]) -> Vec<u64> {
    messages
        .iter()
        .map(|message| message["id"].as_u64().expect("an answer to a call"))
        .collect()
}
