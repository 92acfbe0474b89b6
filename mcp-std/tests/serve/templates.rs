//! What a client may put into the variables of a template.

use mcp_std::{ResourceTemplate, Server};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::peer::{Peer, session};

#[derive(Deserialize)]
struct At {
    name: String,
}

#[derive(Deserialize)]
struct Parts {
    parts: Vec<String>,
}

/// Reads the URI; what its handler has made of it, or the code of the error.
async fn read(peer: &mut Peer, uri: &str) -> Value {
    let params = json!({ "uri": uri });
    let answer = peer.request("1", "resources/read", &params).await;
    match answer["contents"][0].get("text") {
        Some(text) => text.clone(),
        None => answer["error"]["code"].clone(),
    }
}

fn server() -> Server {
    let name = |at: At| async move { at.name };
    let parts = |at: Parts| async move { at.parts.join("|") };
    Server::builder("templates", "1")
        .with_template(ResourceTemplate::new("files://docs/{name}", "one", name))
        .with_template(ResourceTemplate::new(
            "tree://docs/{+name}",
            "reserved",
            name,
        ))
        .with_template(ResourceTemplate::new("path://docs{/parts*}", "path", parts))
        .with_template(ResourceTemplate::new("query://docs{?name}", "query", name))
        .with_template(ResourceTemplate::new("any://docs/{name}", "any", name).any_value())
        .build()
        .expect("a server")
}

const ABSENT: i32 = -32002;

#[test]
fn co_05_a_value_that_leads_elsewhere_is_no_resource() {
    session(&server(), |mut peer| async move {
        for value in [
            "..%2F..%2Fetc%2Fpasswd",
            "..%2f",
            "%2e%2e",
            "%2E",
            "..",
            "a%2Fb",
            "%2Fetc%2Fpasswd",
            "a%00b",
            "..%5C..%5Cboot.ini",
            "C:%5Cboot.ini",
            "%252e%2F..",
        ] {
            for scheme in ["files", "path"] {
                let uri = format!("{scheme}://docs/{value}");
                assert_eq!(read(&mut peer, &uri).await, json!(ABSENT), "{uri}");
            }
            let uri = format!("query://docs?name={value}");
            assert_eq!(read(&mut peer, &uri).await, json!(ABSENT), "{uri}");
        }
        for value in [
            "../x",
            "a/../b",
            "a/%2e%2E/b",
            "a%2F..%2Fb",
            "a/..",
            "a/./b",
            "a%00",
            "a%5Cb",
        ] {
            let uri = format!("tree://docs/{value}");
            assert_eq!(read(&mut peer, &uri).await, json!(ABSENT), "{uri}");
        }
        // An element of a list is looked at as any other value is.
        for uri in [
            "path://docs/a/../b",
            "path://docs/a/%2e%2e/b",
            "path://docs/a/b%2Fc",
        ] {
            assert_eq!(read(&mut peer, uri).await, json!(ABSENT), "{uri}");
        }
    });
}

#[test]
fn co_05_values_are_decoded_once() {
    session(&server(), |mut peer| async move {
        for (uri, value) in [
            ("files://docs/a%252Fb", "a%2Fb"),
            ("files://docs/%252e%252e", "%2e%2e"),
            ("files://docs/caf%C3%A9", "café"),
            ("files://docs/...", "..."),
            ("files://docs/..a", "..a"),
            ("files://docs/a%20b.txt", "a b.txt"),
            ("tree://docs/a/b%2Fc", "a/b/c"),
            ("path://docs/a/b%252Fc", "a|b%2Fc"),
            ("query://docs?name=x%26y", "x&y"),
        ] {
            assert_eq!(read(&mut peer, uri).await, json!(value), "{uri}");
        }
    });
}

#[test]
fn co_05_a_template_may_take_any_value() {
    session(&server(), |mut peer| async move {
        for (uri, value) in [
            ("any://docs/..%2F..%2Fetc%2Fpasswd", "../../etc/passwd"),
            ("any://docs/%2e%2e", ".."),
            ("any://docs/a%00b", "a\0b"),
            ("any://docs/a%5Cb", r"a\b"),
        ] {
            assert_eq!(read(&mut peer, uri).await, json!(value), "{uri}");
        }
    });
}
