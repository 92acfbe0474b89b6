//! Hosts that show apps: what the model is not offered, and what an app may call.

use mcp_std::apps::App;
use mcp_std::host::{
    AskAbout, CallHooks, Decision, Disclosure, ExecuteError, ServerConfig, ToolCall,
};
use mcp_std::{Context, Json, Server, Tool};
use serde_json::json;

use crate::{built, host, names};

fn weather() -> Server {
    let forecast = Tool::new(
        "forecast",
        "Tomorrow's weather",
        async |context: Context| {
            if context.shows_apps() {
                "see the map"
            } else {
                "rain"
            }
        },
    );
    let refresh = Tool::new("refresh", "The weather now", || async { "12 °C" });
    let explain = Tool::new("explain", "Why the weather is so", || async { "wind" });
    let app = App::new("ui://weather/map", "map", "<!DOCTYPE html>")
        .tool(forecast)
        .tool_for_app(refresh)
        .tool_for_model(explain);
    built(
        Server::builder("weather", "1")
            .with_app(app)
            .expect("an app"),
    )
}

/// A server that lists what is for apps to everybody, as others do.
fn careless() -> Server {
    let meta = Json::from(json!({ "ui": { "visibility": ["app"] } }));
    let tool = Tool::new("sweep", "For apps", || async { "swept" }).meta(meta);
    built(Server::builder("careless", "1").with_tool(tool))
}

/// "Host MUST NOT include tools in the agent's tool list when their visibility does not include `model`."
#[test]
fn the_model_is_not_offered_what_is_for_apps() {
    smol::block_on(async {
        for disclosure in [Disclosure::All, Disclosure::search_above(0)] {
            let host = host([
                ServerConfig::in_process("weather", &weather()),
                ServerConfig::in_process("careless", &careless()),
            ])
            .disclosure(disclosure)
            .apps()
            .start();
            host.settled().await;
            let session = host.session();
            if disclosure == Disclosure::All {
                assert_eq!(names(&session), ["weather__forecast", "weather__explain"]);
            }
            let snapshot = session.snapshot();
            for query in ["refresh weather now", "sweep for apps"] {
                let found = snapshot.search(query, 10);
                assert!(found.iter().all(|it| it.ui.visibility.model), "{found:?}");
            }
            let call = ToolCall::new("1", "weather__refresh", json!({}));
            let reply = session.call(&snapshot, call).await;
            let outcome = reply.outcome.expect_err("it is not offered");
            assert!(
                matches!(outcome, ExecuteError::UnknownTool { .. }),
                "{outcome}"
            );
            if let Some(forecast) = snapshot.get("weather__forecast") {
                assert_eq!(
                    forecast.ui.resource_uri.as_deref(),
                    Some("ui://weather/map")
                );
                let call = ToolCall::new("2", "weather__forecast", json!({}));
                assert_eq!(session.call(&snapshot, call).await.text(), "see the map");
            }
            host.close().await;
        }
    });
}

/// A host that shows none does not say so, and is told of none.
#[test]
fn a_host_without_apps_is_told_of_none() {
    smol::block_on(async {
        let host = host([ServerConfig::in_process("weather", &weather())]).start();
        host.settled().await;
        let session = host.session();
        assert_eq!(names(&session), ["weather__forecast", "weather__explain"]);
        let snapshot = session.snapshot();
        assert_eq!(snapshot.tools()[0].ui.resource_uri, None);
        let call = ToolCall::new("1", "weather__forecast", json!({}));
        assert_eq!(session.call(&snapshot, call).await.text(), "rain");
        host.close().await;
    });
}

/// "Tool is callable by the app from the same server connection only", and asked about like any other.
#[test]
fn an_app_calls_through_the_host() {
    smol::block_on(async {
        let host = host([
            ServerConfig::in_process("weather", &weather()),
            ServerConfig::in_process("careless", &careless()),
        ])
        .approval(AskAbout::All, |asked| async move {
            match asked.tool.tool.as_str() {
                "forecast" => Decision::Deny("no".to_owned()),
                _ => Decision::Once,
            }
        })
        .apps()
        .start();
        host.settled().await;
        let session = host.session();
        let hooks = CallHooks::new();
        let call = |tool: &'static str| session.call_for_app("weather", tool, json!({}), &hooks);
        assert_eq!(call("refresh").await.text(), "12 °C");
        let refused = call("forecast")
            .await
            .outcome
            .expect_err("it was asked about");
        assert!(matches!(refused, ExecuteError::NotApproved(_)), "{refused}");
        for tool in ["explain", "sweep", "search_tools", "weather__refresh"] {
            let refused = call(tool).await.outcome.expect_err(tool);
            assert!(
                matches!(refused, ExecuteError::UnknownTool { .. }),
                "{refused}"
            );
        }
        host.close().await;
    });
}
