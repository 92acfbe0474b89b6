//! Lists in pages (PAG-02, PAG-03, LI-01, CO-03).

use futures_lite::StreamExt;
use mcp_std::client::{CallError, PagingFault};
use serde_json::{Value, json};

use crate::peer::{Peer, builder, complete, with};

fn tool(name: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object"}})
}

#[test]
fn co_03_pages_are_followed_to_the_end_whatever_the_cursors_look_like() {
    let script = |peer: &mut Peer| {
        peer.modern();
        let first = peer.expect("tools/list");
        assert!(first["params"].get("cursor").is_none());
        peer.answer(
            &first,
            &complete(json!({"tools": [tool("a"), tool("b")], "nextCursor": ""})),
        );
        let second = peer.expect("tools/list");
        assert_eq!(second["params"]["cursor"], "");
        peer.answer(
            &second,
            &complete(json!({"tools": [], "nextCursor": "\u{0}\"é"})),
        );
        let third = peer.expect("tools/list");
        assert_eq!(third["params"]["cursor"], "\u{0}\"é");
        let last = json!({"name": "c", "inputSchema": {"type": "object"}, "description": null,
            "title": null, "annotations": null, "_meta": null, "unknown": {"y": []}});
        peer.answer(
            &third,
            &complete(json!({"tools": [last], "nextCursor": null})),
        );
        peer.ends();
    };
    with(builder(), script, async |client| {
        let tools = client.list_tools().await.expect("it ends");
        let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["a", "b", "c"]);
    });
}

#[test]
fn a_page_is_asked_for_when_the_last_one_is_read() {
    let script = |peer: &mut Peer| {
        peer.legacy("2025-06-18");
        peer.serve(
            "resources/templates/list",
            &json!({"resourceTemplates": [{"uriTemplate": "a:{b}", "name": "a"}], "nextCursor": "n"}),
        );
        peer.silence();
        peer.ends();
    };
    with(builder(), script, async |client| {
        let mut templates = client.resource_templates();
        let first = templates.next().await.expect("there is one");
        assert_eq!(first.expect("it answers").name, "a");
        smol::Timer::after(2 * crate::peer::MOMENT).await;
    });
}

#[test]
fn li_01_a_server_that_goes_in_a_circle_is_found_out_and_one_that_does_not_end_is_cut_off() {
    let script = |peer: &mut Peer| {
        peer.modern();
        while let Some(request) = peer.next() {
            let page = if request["method"] == "prompts/list" {
                json!({"prompts": [{"name": "p"}], "nextCursor": "same"})
            } else {
                json!({"resources": [{"uri": format!("a:{}", request["id"]), "name": "r"}], "nextCursor": "same"})
            };
            peer.answer(&request, &complete(page));
        }
    };
    with(builder(), script, async |client| {
        let error = client.list_prompts().await.expect_err("it never ends");
        assert!(
            matches!(error, CallError::Paging(PagingFault::Circle { .. })),
            "{error}"
        );
        let resources = client.resources().max_pages(20);
        let resources: Vec<_> = resources.collect().await;
        assert_eq!(resources.len(), 20);
        let error = resources.last().expect("there are some");
        assert!(
            matches!(
                error,
                Err(CallError::Paging(PagingFault::TooLong { limit: 20, .. }))
            ),
            "{error:?}"
        );
    });
}

#[test]
fn a_page_that_is_refused_ends_the_list_with_its_error() {
    let script = |peer: &mut Peer| {
        peer.modern();
        peer.serve(
            "tools/list",
            &complete(json!({"tools": [tool("a")], "nextCursor": "n"})),
        );
        let second = peer.expect("tools/list");
        peer.refuse(&second, -32602, "Invalid cursor");
        peer.ends();
    };
    with(builder(), script, async |client| {
        let all: Vec<_> = client.tools().collect().await;
        assert_eq!(all.len(), 2);
        assert!(matches!(all[1], Err(CallError::Protocol(_))));
    });
}
