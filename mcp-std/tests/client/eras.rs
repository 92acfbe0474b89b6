//! Which revision is spoken, with servers of all kinds (DET-01 to DET-05, VE-01, VE-05).

use mcp_std::ProtocolVersion;
use mcp_std::client::{CallError, ConnectError, HandshakeError, Timeouts, Unsupported};
use serde_json::json;
use std::time::Duration;

use crate::peer::{builder, connect, discovery, with};

#[test]
fn ve_01_each_legacy_revision_is_spoken_after_a_probe_that_is_refused() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        for code in [-32601, -32600, -32602, -32000, 0, -32603] {
            let script = move |peer: &mut crate::peer::Peer| {
                let probe = peer.expect("server/discover");
                peer.refuse(&probe, code, "what?");
                peer.initialize(version);
                let ping = peer.expect("ping");
                assert!(ping["params"].get("_meta").is_none(), "{ping}");
                peer.answer(&ping, &json!({}));
                peer.ends();
            };
            with(builder(), script, async |client| {
                assert_eq!(client.version().as_str(), version);
                client.ping().await.expect("it is there");
            });
        }
    }
}

#[test]
fn a_modern_server_is_spoken_to_without_a_handshake() {
    let script = |peer: &mut crate::peer::Peer| {
        peer.modern();
        let list = peer.expect("tools/list");
        let meta = &list["params"]["_meta"];
        assert_eq!(
            meta["io.modelcontextprotocol/protocolVersion"],
            "2026-07-28"
        );
        assert_eq!(meta["io.modelcontextprotocol/clientInfo"]["name"], "tests");
        assert_eq!(
            meta["io.modelcontextprotocol/clientCapabilities"],
            json!({})
        );
        peer.answer(&list, &crate::peer::complete(json!({"tools": []})));
        peer.ends();
    };
    with(builder(), script, async |client| {
        let server = client.server().expect("it is known");
        assert_eq!(server.revision, ProtocolVersion::V2026_07_28);
        assert!(client.list_tools().await.expect("it answers").is_empty());
        let error = client.set_level(mcp_std::model::LoggingLevel::Info).await;
        assert!(
            matches!(error, Err(CallError::Unsupported(Unsupported::Revision(_)))),
            "{error:?}"
        );
    });
}

#[test]
fn ve_05_only_the_answer_to_the_probe_decides() {
    let script = |peer: &mut crate::peer::Peer| {
        let probe = peer.expect("server/discover");
        peer.send(&json!({"jsonrpc": "2.0", "id": 77, "error": {"code": -32601, "message": ""}}));
        peer.notify(
            "notifications/message",
            &json!({"level": "info", "data": 1}),
        );
        peer.send_text("Example server 1.2 running on stdio");
        peer.answer(&probe, &discovery());
        peer.ends();
    };
    with(builder(), script, async |client| {
        assert_eq!(client.version(), ProtocolVersion::V2026_07_28);
    });
}

#[test]
fn a_silent_server_is_asked_in_the_old_way_and_may_answer_the_probe_late() {
    let mut timeouts = Timeouts::DEFAULT;
    timeouts.probe = Duration::from_millis(50);
    let script = |peer: &mut crate::peer::Peer| {
        let probe = peer.expect("server/discover");
        let initialize = peer.expect("initialize");
        peer.answer(&probe, &discovery());
        peer.answer(
            &initialize,
            &json!({
                "protocolVersion": "2025-06-18",
                "capabilities": {},
                "serverInfo": {"name": "slow", "version": "1"},
            }),
        );
        peer.expect("notifications/initialized");
        peer.ends();
    };
    with(builder().timeouts(timeouts), script, async |client| {
        assert_eq!(client.version(), ProtocolVersion::V2025_06_18);
    });
}

#[test]
fn a_version_that_is_pinned_is_the_only_one() {
    let script = |peer: &mut crate::peer::Peer| {
        let asked = peer.expect("initialize");
        assert_eq!(asked["params"]["protocolVersion"], "2025-03-26");
        peer.answer(
            &asked,
            &json!({
                "protocolVersion": "2025-03-26",
                "capabilities": {},
                "serverInfo": {"name": "s", "version": "1"},
            }),
        );
        peer.expect("notifications/initialized");
        peer.ends();
    };
    let pinned = builder().revision(ProtocolVersion::V2025_03_26);
    with(pinned, script, async |client| {
        assert_eq!(client.version(), ProtocolVersion::V2025_03_26);
    });
    smol::block_on(async {
        let pinned = builder().revision(ProtocolVersion::V2026_07_28);
        let (client, script) = connect(pinned, |peer| {
            let probe = peer.expect("server/discover");
            peer.refuse(&probe, -32601, "Method not found");
            peer.ends();
        })
        .await;
        let error = client.expect_err("it is none");
        assert!(
            matches!(
                error,
                ConnectError::Handshake(HandshakeError::Refused { .. })
            ),
            "{error}"
        );
        script.done();
    });
}

#[test]
fn what_ends_without_a_word_or_never_says_one_is_no_server() {
    smol::block_on(async {
        let (client, script) = connect(builder(), |peer| {
            peer.expect("server/discover");
        })
        .await;
        let error = client.expect_err("it ended");
        assert!(matches!(error, ConnectError::Closed(_)), "{error}");
        script.done();

        let patient = builder().connect_timeout(Duration::from_millis(100));
        let (client, script) = connect(patient, |peer| while peer.next().is_some() {}).await;
        let error = client.expect_err("it is silent");
        assert!(
            matches!(
                error,
                ConnectError::Handshake(HandshakeError::TimedOut { .. })
            ),
            "{error}"
        );
        assert!(error.to_string().contains("connect_timeout"), "{error}");
        script.done();
    });
}
