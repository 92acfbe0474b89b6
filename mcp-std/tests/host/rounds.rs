//! What a model is shown.

use mcp_std::host::{Disclosure, Naming, ServerConfig, ToolCall};
use mcp_std::{Server, Tool};
use serde_json::json;

use crate::{built, host, names, parrots};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Search {
    /// Where.
    repo: String,
    /// What.
    query: String,
}

fn searcher() -> Server {
    let search = |args: Search| async move { format!("{} in {}", args.query, args.repo) };
    built(Server::builder("git", "1").tool("search", "Searches", search))
}

#[test]
fn names_filters_and_pages() {
    smol::block_on(async {
        let many: Vec<&'static str> = (0..57)
            .map(|at| &*Box::leak(format!("tool_{at:02}").into_boxed_str()))
            .collect();
        let mut paged = Server::builder("paged", "1").page_size(10.try_into().expect("ten"));
        for &tool in &many {
            paged = paged.tool(tool, "", move || async move { tool });
        }
        let host = host([
            ServerConfig::in_process("files", &parrots("files", &["read", "write", "delete"]))
                .allow(["read", "delete"])
                .deny(["del*"]),
            ServerConfig::in_process("paged", &built(paged)),
        ])
        .naming(Naming::MCP)
        .start();
        host.settled().await;
        let session = host.session();
        let names = names(&session);
        assert_eq!(names.len(), 58);
        assert_eq!(names[0], "mcp__files__read");
        let snapshot = session.snapshot();
        assert_eq!(
            snapshot.resolve("mcp__paged__tool_56"),
            Some(("paged", "tool_56"))
        );
        assert_eq!(snapshot.resolve("mcp__files__write"), None);
        let reply = session.call(
            &snapshot,
            ToolCall::new("1", "mcp__paged__tool_33", json!({})),
        );
        assert_eq!(reply.await.text(), "tool_33");
        host.close().await;
    });
}

#[test]
fn preset_arguments_are_hidden_and_cannot_be_changed() {
    smol::block_on(async {
        let server = ServerConfig::in_process("git", &searcher())
            .preset("*", "repo", "wrong")
            .preset("search", "repo", "mcp")
            .preset("search", "nothing", 1);
        let host = host([server]).start();
        host.settled().await;
        let session = host.session();
        let snapshot = session.snapshot();
        let schema = &snapshot.tools()[0].input_schema;
        assert_eq!(schema["required"], json!(["query"]));
        assert!(schema["properties"].get("repo").is_none(), "{schema}");
        let tried = json!({"query": "x", "repo": "another"});
        let reply = session
            .call(&snapshot, ToolCall::new("1", "git__search", tried))
            .await;
        assert_eq!(reply.text(), "x in mcp");
        host.close().await;
    });
}

#[test]
fn groups_are_shown_once_they_are_active() {
    smol::block_on(async {
        let host = host([
            ServerConfig::in_process("a", &parrots("a", &["one"])),
            ServerConfig::in_process("b", &parrots("b", &["two"])).group("more"),
        ])
        .start();
        host.settled().await;
        let (session, other) = (host.session(), host.session());
        let before = session.snapshot();
        session.activate_group("more");
        assert_eq!(names(&session), ["a__one", "b__two"]);
        // The round that goes on, and other conversations, have what they had.
        assert_eq!(before.tools().len(), 1);
        let early = session
            .call(&before, ToolCall::new("1", "b__two", json!({})))
            .await;
        assert!(early.is_error());
        assert_eq!(names(&other), ["a__one"]);
        session.deactivate_group("more");
        assert_eq!(names(&session), ["a__one"]);
        host.close().await;
    });
}

#[test]
fn a_model_finds_tools_that_it_is_not_shown() {
    smol::block_on(async {
        let mut builder = Server::builder("big", "1");
        for at in 0..300 {
            let name = format!("tool_{at}");
            builder = builder.tool(name, "Does nothing of interest", || async { "nothing" });
        }
        let forecast = Tool::new("forecast", "Tomorrow's weather at a place", || async {
            "rain"
        });
        let server = built(builder.with_tool(forecast));
        let host = host([ServerConfig::in_process("big", &server)])
            .disclosure(Disclosure::search_above(100))
            .start();
        host.settled().await;
        let session = host.session();
        let snapshot = session.snapshot();
        assert_eq!(names(&session), ["search_tools"]);
        assert_eq!(snapshot.deferred(), 301);
        let query = json!({"query": "weather forecast", "limit": 1});
        let found = session
            .call(&snapshot, ToolCall::new("1", "search_tools", query))
            .await;
        assert!(found.text().contains("big__forecast"), "{}", found.text());
        assert!(!found.untrusted || !found.is_error());
        // In this round it is not to be had yet.
        let call = ToolCall::new("2", "big__forecast", json!({}));
        assert!(session.call(&snapshot, call.clone()).await.is_error());
        let next = session.snapshot();
        assert_eq!(names(&session), ["search_tools", "big__forecast"]);
        assert_eq!(session.call(&next, call).await.text(), "rain");
        let wrong = session
            .call(&next, ToolCall::new("3", "search_tools", json!({})))
            .await;
        assert!(wrong.is_error());
        host.close().await;
    });
}
