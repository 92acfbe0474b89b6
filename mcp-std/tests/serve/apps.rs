//! Apps as servers have them: who is told of them, and what.

use mcp_std::apps::{App, AppError, Csp, MIME_TYPE, Permissions, UI};
use mcp_std::{Context, Json, Server, Tool};
use serde_json::{Value, json};

use crate::peer::{serve, session};

const PAGE: &str = "<!DOCTYPE html><title>Weather</title>";

fn server() -> Server {
    let forecast = Tool::new("forecast", "Tomorrow", async |context: Context| {
        if context.shows_apps() {
            "see the map"
        } else {
            "rain"
        }
    })
    .meta(Json::from(json!({ "com.example/kept": 1 })));
    let refresh = Tool::new("refresh", "Now", || async { "12 °C" });
    let secret = Tool::new("explain", "Why", || async { "wind" });
    let csp = Csp::new()
        .connect("https://api.example.com")
        .expect("an origin");
    let map = App::new("ui://weather/map", "map", PAGE)
        .title("Map")
        .description("A map")
        .csp(csp)
        .permissions(Permissions::NONE.geolocation())
        .border(true)
        .tool(forecast)
        .tool_for_model(secret)
        .tool_for_app(refresh);
    let chart = App::new("ui://weather/chart", "chart", PAGE);
    Server::builder("weather", "1")
        .tool("plain", "No app", || async { "plain" })
        .resource("weather://raw", "raw", || async { "raw" })
        .with_app(map)
        .expect("an app")
        .with_app(chart)
        .expect("an app")
        .build()
        .expect("it can be built")
}

fn able(types: &Value) -> Value {
    json!({ "extensions": { UI: { "mimeTypes": types } } })
}

fn names(list: &Value) -> Vec<&str> {
    let all = list.as_array().expect("a list").iter();
    all.map(|it| it["name"].as_str().expect("a name")).collect()
}

/// "Servers SHOULD check client capabilities": a client that shows apps sees them, per request in 2026-07-28.
#[test]
fn a_client_that_shows_apps_is_told_of_them() {
    let end = serve(&server(), |mut peer| async move {
        let able = able(&json!(["text/html", MIME_TYPE]));
        let found = peer.modern("d", "server/discover", &json!({}), &able).await;
        assert_eq!(found["capabilities"]["extensions"], json!({ UI: {} }));
        let list = peer.modern("t", "tools/list", &json!({}), &able).await;
        assert_eq!(
            names(&list["tools"]),
            ["plain", "forecast", "explain", "refresh"]
        );
        assert_eq!(list["tools"][0].get("_meta"), None);
        let uri = "ui://weather/map";
        let forecast = json!({ "com.example/kept": 1, "ui": { "resourceUri": uri } });
        assert_eq!(list["tools"][1]["_meta"], forecast);
        let explain = json!({ "ui": { "resourceUri": uri, "visibility": ["model"] } });
        assert_eq!(list["tools"][2]["_meta"], explain);
        let refresh = json!({ "ui": { "resourceUri": uri, "visibility": ["app"] } });
        assert_eq!(list["tools"][3]["_meta"], refresh);
        let list = peer.modern("r", "resources/list", &json!({}), &able).await;
        assert_eq!(names(&list["resources"]), ["raw", "map", "chart"]);
        assert_eq!(list["resources"][1]["mimeType"], MIME_TYPE);
        let read = json!({ "uri": uri });
        let read = peer.modern("m", "resources/read", &read, &able).await;
        let expected = json!([{
            "uri": uri,
            "mimeType": "text/html;profile=mcp-app",
            "text": PAGE,
            "_meta": { "ui": {
                "csp": { "connectDomains": ["https://api.example.com"] },
                "permissions": { "geolocation": {} },
                "prefersBorder": true,
            } },
        }]);
        assert_eq!(read["contents"], expected);
        let call = json!({ "name": "forecast", "arguments": {} });
        let called = peer.modern("c", "tools/call", &call, &able).await;
        assert_eq!(called["content"][0]["text"], "see the map");
        peer.close();
    });
    end.expect("sockets do not fail");
}

/// "If host does not support MCP Apps, tool behaves as standard tool (text-only fallback)."
#[test]
fn another_client_has_tools_as_if_there_were_no_app() {
    let end = serve(&server(), |mut peer| async move {
        for declared in [
            json!({}),
            able(&json!([])),
            able(&json!("text/html;profile=mcp-app")),
            able(&json!(["text/html"])),
        ] {
            let list = peer.modern("t", "tools/list", &json!({}), &declared).await;
            assert_eq!(
                names(&list["tools"]),
                ["plain", "forecast", "explain"],
                "{declared}"
            );
            assert_eq!(list["tools"][1]["_meta"], json!({ "com.example/kept": 1 }));
            assert_eq!(list["tools"][2].get("_meta"), None);
            let list = peer
                .modern("r", "resources/list", &json!({}), &declared)
                .await;
            assert_eq!(names(&list["resources"]), ["raw"], "{declared}");
            let call = json!({ "name": "forecast", "arguments": {} });
            let called = peer.modern("c", "tools/call", &call, &declared).await;
            assert_eq!(called["content"][0]["text"], "rain");
        }
        peer.close();
    });
    end.expect("sockets do not fail");
    session(&server(), |mut peer| async move {
        let list = peer.request("t", "tools/list", &json!({})).await;
        assert_eq!(names(&list["tools"]), ["plain", "forecast", "explain"]);
        peer.close();
    });
}

/// As the specification's own example has it: in the capabilities of `initialize`, whatever the revision.
#[test]
fn a_session_declares_it_at_its_beginning() {
    for version in ["2024-11-05", "2025-06-18", "2025-11-25"] {
        let end = serve(&server(), |mut peer| async move {
            let able = able(&json!([MIME_TYPE]));
            let told = peer.handshake(version, &able).await;
            assert_eq!(
                told["capabilities"]["extensions"],
                json!({ UI: {} }),
                "{version}"
            );
            let list = peer.request("t", "tools/list", &json!({})).await;
            assert_eq!(names(&list["tools"]).len(), 4, "{version}");
            let called = peer.answer(1, "forecast", "{}").await;
            assert_eq!(called["content"][0]["text"], "see the map", "{version}");
            peer.close();
        });
        end.expect("sockets do not fail");
    }
}

/// "URI MUST start with `ui://`", "Content MUST be valid HTML5 document": found before anything is served.
#[test]
fn what_is_no_app_is_refused() {
    let refused = |app: App| {
        let built = Server::builder("s", "1").with_app(app);
        built.map(|_| ()).expect_err("it is none")
    };
    for uri in [
        "",
        "ui:",
        "ui://",
        "https://a.example",
        "ui://a b",
        "ui://a\n",
    ] {
        assert_eq!(
            refused(App::new(uri, "a", PAGE)),
            AppError::Uri(uri.to_owned())
        );
    }
    for html in ["", "<p>", "<html>", "é<!doctype html>", "<!DOCTYPE"] {
        let error = refused(App::new("ui://a", "a", html));
        assert_eq!(error, AppError::Html("ui://a".to_owned()), "{html}");
    }
    let error = refused(App::new("ui://a", "a", PAGE).domain("a b"));
    assert!(matches!(error, AppError::Domain { .. }), "{error}");
    let tool = Tool::new("t", "t", || async { "t" }).meta(Json::from(json!([])));
    let error = refused(App::new("ui://a", "a", PAGE).tool(tool));
    assert_eq!(error, AppError::ToolMeta("t".to_owned()));
    let html = "\u{feff}\n<!doctype HTML><p>";
    let app = App::new("ui://a", "a", html).domain("a.example");
    let _builder = Server::builder("s", "1")
        .with_app(app)
        .expect("this is one");
    // Two of one URI are found as two resources of one are.
    let twice = Server::builder("s", "1")
        .with_app(App::new("ui://a", "a", PAGE))
        .and_then(|it| it.with_app(App::new("ui://a", "b", PAGE)))
        .expect("each is one");
    let error = twice.build().expect_err("there are two").to_string();
    assert_eq!(error, "two resources have the URI `ui://a`");
}
