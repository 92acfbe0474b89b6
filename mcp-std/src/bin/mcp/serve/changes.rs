//! Tools that change what the server offers, for clients that want to hear of it.

use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use mcp_std::{BuildError, Prompt, Resource, Server, ServerBuilder, Tool};

const WATCHED: &str = "test://watched-resource";

/// The server, for the handlers that change it. It is there once it is built.
pub(super) type Itself = Arc<OnceLock<Server>>;

pub(super) fn add(builder: ServerBuilder, itself: &Itself) -> ServerBuilder {
    let version = Arc::new(AtomicU64::new(1));
    let read = version.clone();
    let watched = Resource::new(WATCHED, "watched", move || {
        let now = read.load(Ordering::Relaxed);
        async move { format!("version {now}") }
    });
    let server = itself.clone();
    builder
        .list_changes()
        .subscriptions()
        .with_resource(
            watched
                .description("Can be subscribed to")
                .mime_type("text/plain"),
        )
        .tool(
            "test_update_resource",
            "Changes the watched resource",
            move || {
                let now = version.fetch_add(1, Ordering::Relaxed) + 1;
                if let Some(server) = server.get() {
                    server.resource_updated(WATCHED);
                }
                async move { format!("version {now}") }
            },
        )
        .with_tool(toggle(itself, "tool", |server, there| {
            if there {
                server.add_tool(Tool::new("test_dummy_tool", "Comes and goes", || async {
                    "here"
                }))
            } else {
                server.remove_tool("test_dummy_tool").map(drop)
            }
        }))
        .with_tool(toggle(itself, "prompt", |server, there| {
            if there {
                server.add_prompt(Prompt::new(
                    "test_dummy_prompt",
                    "Comes and goes",
                    || async { "here" },
                ))
            } else {
                server.remove_prompt("test_dummy_prompt").map(drop)
            }
        }))
        .with_tool(toggle(itself, "resource", |server, there| {
            if there {
                let dummy = Resource::new("test://dummy-resource", "dummy", || async { "here" });
                server.add_resource(dummy.description("Comes and goes"))
            } else {
                server.remove_resource("test://dummy-resource").map(drop)
            }
        }))
}

/// A tool that adds something and, the next time, removes it.
fn toggle(
    itself: &Itself,
    kind: &str,
    change: impl Fn(&Server, bool) -> Result<(), BuildError> + Send + Sync + 'static,
) -> Tool {
    let server = itself.clone();
    let there = AtomicBool::new(false);
    Tool::new(
        format!("test_trigger_{kind}_change"),
        format!("Adds or removes a {kind}"),
        move || {
            let now = !there.fetch_xor(true, Ordering::Relaxed);
            let changed = server.get().map_or(Ok(()), |server| change(server, now));
            async move { changed.map(|()| if now { "added" } else { "removed" }) }
        },
    )
}
