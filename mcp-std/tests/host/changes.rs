//! What changes while a model is at work.

use std::time::{Duration, Instant};

use mcp_std::host::{ServerConfig, Session, ToolCall};
use mcp_std::{ProtocolVersion, Server, Tool};
use serde_json::json;

use crate::{built, host, names};

async fn until(session: &Session, wanted: &[&str]) {
    let late = Instant::now() + Duration::from_secs(20);
    while names(session) != wanted {
        assert!(Instant::now() < late, "{:?}", names(session));
        smol::Timer::after(Duration::from_millis(5)).await;
    }
}

#[test]
fn the_next_round_has_what_changed_in_either_era() {
    for version in [ProtocolVersion::V2025_06_18, ProtocolVersion::V2026_07_28] {
        smol::block_on(async {
            let one = Tool::new("one", "", || async { "1" });
            let server = built(Server::builder("a", "1").with_tool(one).list_changes());
            let host = host([ServerConfig::in_process("a", &server)])
                .configure(move |_, builder| builder.revision(version))
                .start();
            host.settled().await;
            let session = host.session();
            let before = session.snapshot();
            assert_eq!(names(&session), ["a__one"]);
            server
                .add_tool(Tool::new("two", "", || async { "2" }))
                .expect("it is new");
            until(&session, &["a__one", "a__two"]).await;
            server.remove_tool("one").expect("it is there");
            until(&session, &["a__two"]).await;
            assert_eq!(before.tools().len(), 1);
            // Offered in that round, and gone meanwhile: the server says so.
            let gone = session
                .call(&before, ToolCall::new("1", "a__one", json!({})))
                .await;
            assert!(gone.is_error() && !gone.text().is_empty());
            host.close().await;
        });
    }
}
