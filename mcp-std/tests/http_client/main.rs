//! The client over HTTP, against servers by hand.

mod legacy;
mod modern;
mod ours;
mod peer;
mod robustness;

use mcp_std::client::{Client, ClientBuilder, Proxy};
use serde_json::{Value, json};

fn builder() -> ClientBuilder {
    Client::builder("c", "1").proxy(Proxy::None)
}

fn discovered() -> Value {
    json!({"resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0,
           "capabilities": {"tools": {"listChanged": true}, "resources": {}, "prompts": {}},
           "cacheScope": "private",
           "_meta": {"io.modelcontextprotocol/serverInfo": {"name": "s", "version": "1"}}})
}

fn initialized(version: &str) -> Value {
    json!({"protocolVersion": version, "serverInfo": {"name": "s", "version": "1"},
           "capabilities": {"tools": {"listChanged": true}, "resources": {"subscribe": true}}})
}

fn text(text: &str) -> Value {
    json!({"resultType": "complete", "content": [{"type": "text", "text": text}]})
}

fn tools(header: &str) -> Value {
    json!({"resultType": "complete", "ttlMs": 0, "cacheScope": "private", "tools": [
        {"name": "t", "inputSchema": {"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": header}}}},
        {"name": "bad", "inputSchema": {"type": "object", "properties": {
            "region": {"type": "string", "x-mcp-header": "no name"}}}}]})
}
