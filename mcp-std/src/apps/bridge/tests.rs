//! The rules of the messages between an app and its host, each in the words of the specification.

use mcp_core::json::Json;
use mcp_core::model::{CallToolResult, ContentBlock, ReadResourceResult, ResourceContents, Tool};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::{AppMeta, Csp, Permissions};
use super::*;

fn all() -> HostCapabilities {
    HostCapabilities::new()
        .open_links()
        .server_tools()
        .server_resources()
        .logging()
}

fn options() -> BridgeOptions {
    BridgeOptions::new("host", "1").capabilities(all())
}

fn tools() -> Vec<Tool<'static>> {
    let tool = |name: &'static str, meta: Option<Value>| {
        let mut tool = Tool::new(name, Json::EMPTY_OBJECT);
        tool.meta = meta.map(Json::from);
        tool
    };
    vec![
        tool("both", None),
        tool("app", Some(json!({ "ui": { "visibility": ["app"] } }))),
        tool("model", Some(json!({ "ui": { "visibility": ["model"] } }))),
        tool("nobody", Some(json!({ "ui": { "visibility": [] } }))),
    ]
}

fn bridge() -> AppBridge {
    let mut bridge = AppBridge::new(options());
    bridge.tools(&tools());
    bridge
}

/// What comes of a message: what is posted, and the event.
fn say(bridge: &mut AppBridge, message: &Value) -> (Vec<Value>, Option<AppEvent>) {
    let mut out = Vec::new();
    let event = bridge.receive(message.to_string().as_bytes(), &mut out);
    (parsed(&out), event)
}

fn parsed(out: &[String]) -> Vec<Value> {
    let all = out.iter().map(|it| serde_json::from_str(it).expect("JSON"));
    let all: Vec<Value> = all.collect();
    assert!(all.iter().all(|it| it["jsonrpc"] == "2.0"), "{all:?}");
    all
}

fn ask(bridge: &mut AppBridge, method: &str, params: &Value) -> (Vec<Value>, Option<AppEvent>) {
    say(bridge, &request(7, method, params))
}

fn request(id: impl Into<Value>, method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id.into(), "method": method, "params": params })
}

fn tell(bridge: &mut AppBridge, method: &str, params: &Value) -> (Vec<Value>, Option<AppEvent>) {
    say(
        bridge,
        &json!({ "jsonrpc": "2.0", "method": method, "params": params }),
    )
}

fn initialize(capabilities: &Value) -> Value {
    json!({
        "protocolVersion": "2026-01-26",
        "appInfo": { "name": "app", "version": "2" },
        "appCapabilities": capabilities,
    })
}

fn greet(bridge: &mut AppBridge) -> Value {
    let (posted, event) = say(
        bridge,
        &request(1, "ui/initialize", &initialize(&json!({}))),
    );
    assert!(event.is_none(), "{event:?}");
    posted[0]["result"].clone()
}

fn ready(mut bridge: AppBridge) -> AppBridge {
    greet(&mut bridge);
    let (_, event) = tell(&mut bridge, "ui/notifications/initialized", &json!({}));
    assert!(matches!(event, Some(AppEvent::Initialized(_))), "{event:?}");
    bridge
}

/// The code that a request is refused with; it is a fault, too.
fn refused((posted, event): (Vec<Value>, Option<AppEvent>)) -> i64 {
    assert!(
        matches!(event, Some(AppEvent::Fault(_))),
        "{event:?} {posted:?}"
    );
    assert_eq!(posted.len(), 1, "{posted:?}");
    posted[0]["error"]["code"].as_i64().expect("an error")
}

fn wanted(event: Option<AppEvent>) -> (AppRequest, AppAsk) {
    match event {
        Some(AppEvent::Wants(request, ask)) => (request, ask),
        other => panic!("{other:?}"),
    }
}

/// "The Host SHOULD include UI-specific context", with what it is and can.
#[test]
fn the_handshake_says_what_the_host_is() {
    let granted = AppMeta {
        csp: Some(Csp::new().connect("https://a.example").expect("an origin")),
        permissions: Permissions::NONE.camera(),
        ..AppMeta::default()
    };
    let options = BridgeOptions::new("host", "1")
        .capabilities(
            HostCapabilities::new()
                .open_links()
                .logging()
                .sandbox(&granted),
        )
        .context("theme", "dark")
        .display_modes(
            DisplayMode::Inline,
            &[DisplayMode::Inline, DisplayMode::Fullscreen],
        );
    let mut bridge = AppBridge::new(options);
    let expected = json!({
        "protocolVersion": "2026-01-26",
        "hostInfo": { "name": "host", "version": "1" },
        "hostCapabilities": {
            "openLinks": {},
            "logging": {},
            "sandbox": {
                "csp": { "connectDomains": ["https://a.example"] },
                "permissions": { "camera": {} },
            },
        },
        "hostContext": {
            "theme": "dark",
            "displayMode": "inline",
            "availableDisplayModes": ["inline", "fullscreen"],
        },
    });
    assert_eq!(greet(&mut bridge), expected);
    assert!(!bridge.is_ready());
    let (posted, event) = tell(&mut bridge, "ui/notifications/initialized", &json!({}));
    assert_eq!(posted, Vec::<Value>::new());
    let Some(AppEvent::Initialized(info)) = event else {
        panic!("{event:?}")
    };
    assert_eq!(
        (&*info.name, &*info.version, info.display_modes),
        ("app", "2", None)
    );
    assert!(bridge.is_ready() && bridge.info().is_some());
}

/// "MUST include its capabilities in the `appCapabilities` field", and what else the request has.
#[test]
fn a_handshake_without_something_is_none() {
    for lacks in ["protocolVersion", "appInfo", "appCapabilities"] {
        let mut bridge = bridge();
        let mut params = initialize(&json!({}));
        params.as_object_mut().expect("an object").remove(lacks);
        assert_eq!(
            refused(ask(&mut bridge, "ui/initialize", &params)),
            -32602,
            "{lacks}"
        );
        // It can try again.
        ready(bridge);
    }
    // Another revision is answered with ours.
    let mut bridge = bridge();
    let mut params = initialize(&json!({}));
    params["protocolVersion"] = "2099-01-01".into();
    let (posted, _) = ask(&mut bridge, "ui/initialize", &params);
    assert_eq!(posted[0]["result"]["protocolVersion"], "2026-01-26");
}

/// "The Host MUST NOT send any request or notification to the View before it receives an `initialized` notification."
#[test]
fn nothing_is_sent_before_the_app_is_there() {
    let mut bridge = bridge();
    let mut out = Vec::new();
    bridge
        .tool_input_partial(&json!({ "a": 1 }), &mut out)
        .expect("it is early");
    bridge
        .tool_input_partial(&json!({ "a": 12 }), &mut out)
        .expect("it is early");
    bridge
        .host_context_changed(&json!({ "theme": "dark" }), &mut out)
        .expect("an object");
    let told = greet(&mut bridge);
    assert_eq!(
        told["hostContext"]["theme"], "dark",
        "in the answer, not after it"
    );
    bridge
        .host_context_changed(&json!({ "theme": "light" }), &mut out)
        .expect("an object");
    bridge
        .host_context_changed(&json!({ "locale": "de" }), &mut out)
        .expect("an object");
    assert_eq!(out, Vec::<String>::new());
    let (posted, _) = tell(&mut bridge, "ui/notifications/initialized", &json!({}));
    assert_eq!(posted.len(), 2, "the last of each: {posted:?}");
    assert_eq!(posted[0]["method"], "ui/notifications/host-context-changed");
    assert_eq!(
        posted[0]["params"],
        json!({ "theme": "light", "locale": "de" })
    );
    assert_eq!(posted[1]["method"], "ui/notifications/tool-input-partial");
    assert_eq!(posted[1]["params"], json!({ "arguments": { "a": 12 } }));
}

/// "At most once and is required before sending tool-result"; partial input stops with it.
#[test]
fn input_comes_before_the_result_and_once() {
    for is_there in [false, true] {
        let mut bridge = if is_there { ready(bridge()) } else { bridge() };
        let mut out = Vec::new();
        let result = CallToolResult::new(vec![ContentBlock::text("42")]);
        assert_eq!(
            bridge.tool_result(&result, &mut out),
            Err(BridgeError::NoInput)
        );
        let input = json!({ "city": "Rome" });
        assert_eq!(
            bridge.tool_input(&json!([]), &mut out),
            Err(BridgeError::NotAnObject)
        );
        bridge
            .tool_input_partial(&json!({ "city": "R" }), &mut out)
            .expect("the input is not there yet");
        bridge
            .tool_input(&input, &mut out)
            .expect("it is the first");
        assert_eq!(
            bridge.tool_input(&input, &mut out),
            Err(BridgeError::InputIsComplete)
        );
        assert_eq!(
            bridge.tool_input_partial(&input, &mut out),
            Err(BridgeError::InputIsComplete)
        );
        bridge
            .tool_result(&result, &mut out)
            .expect("it has the input");
        assert_eq!(
            bridge.tool_result(&result, &mut out),
            Err(BridgeError::HasEnded)
        );
        assert_eq!(
            bridge.tool_cancelled(None, &mut out),
            Err(BridgeError::HasEnded)
        );
        let mut posted = parsed(&out);
        if !is_there {
            assert_eq!(posted, Vec::<Value>::new());
            greet(&mut bridge);
            posted = tell(&mut bridge, "ui/notifications/initialized", &json!({})).0;
        }
        let methods: Vec<_> = posted.iter().map(|it| it["method"].clone()).collect();
        let last = [
            "ui/notifications/tool-input",
            "ui/notifications/tool-result",
        ];
        assert_eq!(methods[methods.len() - 2..], last);
        assert_eq!(methods.len(), if is_there { 3 } else { 2 }, "{methods:?}");
        assert_eq!(posted[methods.len() - 2]["params"]["arguments"], input);
        let content = json!([{ "type": "text", "text": "42" }]);
        assert_eq!(posted[methods.len() - 1]["params"]["content"], content);
    }
}

/// "MUST send this notification if the tool execution was cancelled, for any reason", the input known or not.
#[test]
fn a_cancelled_call_is_told() {
    let mut bridge = ready(bridge());
    let mut out = Vec::new();
    bridge
        .tool_cancelled(Some("by the user"), &mut out)
        .expect("it had not ended");
    let posted = parsed(&out);
    assert_eq!(posted[0]["method"], "ui/notifications/tool-cancelled");
    assert_eq!(posted[0]["params"], json!({ "reason": "by the user" }));
    assert_eq!(
        bridge.tool_input(&json!({}), &mut out),
        Err(BridgeError::HasEnded)
    );
}

/// Only what is alive and what begins is asked before the end of the handshake.
#[test]
fn requests_wait_for_the_handshake() {
    let mut bridge = bridge();
    let call = json!({ "name": "both" });
    for _ in 0..2 {
        assert_eq!(refused(ask(&mut bridge, "tools/call", &call)), -32600);
        let (posted, event) = ask(&mut bridge, "ping", &json!({}));
        assert_eq!(posted[0]["result"], json!({}));
        assert!(event.is_none());
        if bridge.info().is_none() {
            greet(&mut bridge);
        }
    }
    for method in ["ui/notifications/size-changed", "notifications/message"] {
        let (posted, event) = tell(&mut bridge, method, &json!({ "level": "info", "width": 1 }));
        assert!(posted.is_empty());
        assert!(
            matches!(event, Some(AppEvent::Fault(BridgeFault::OutOfOrder { .. }))),
            "{event:?}"
        );
    }
    // And the handshake is one.
    let hello = initialize(&json!({}));
    assert_eq!(refused(ask(&mut bridge, "ui/initialize", &hello)), -32600);
    tell(&mut bridge, "ui/notifications/initialized", &json!({}));
    let (_, again) = tell(&mut bridge, "ui/notifications/initialized", &json!({}));
    assert!(matches!(again, Some(AppEvent::Fault(_))), "{again:?}");
    assert_eq!(refused(ask(&mut bridge, "ui/initialize", &hello)), -32600);
}

/// "Host MUST reject `tools/call` requests from apps for tools that don't include \"app\" in visibility", and "cross-server
/// tool calls are always blocked": what is not of this server's tools is unknown.
#[test]
fn an_app_calls_the_tools_for_apps_of_its_server() {
    let mut bridge = ready(bridge());
    for name in ["both", "app"] {
        let arguments =
            json!({ "name": name, "arguments": { "a": 1 }, "_meta": { "progressToken": 1 } });
        let (posted, event) = ask(&mut bridge, "tools/call", &arguments);
        assert!(posted.is_empty());
        let (request, ask) = wanted(event);
        let AppAsk::CallTool {
            name: asked,
            arguments,
        } = ask
        else {
            panic!("{ask:?}")
        };
        assert_eq!(
            (&*asked, Value::Object(arguments)),
            (name, json!({ "a": 1 }))
        );
        let mut out = Vec::new();
        let mut result = CallToolResult::new(vec![ContentBlock::text("done")]);
        result.structured_content = Some(Json::from(json!({ "n": 1 })));
        result.meta = Some(Json::from(json!({ "at": 2 })));
        bridge
            .answer(request, AppReply::Tool(Box::new(result)), &mut out)
            .expect("it waits");
        let posted = parsed(&out);
        assert_eq!(posted[0]["id"], 7);
        let expected = json!({
            "content": [{ "type": "text", "text": "done" }],
            "structuredContent": { "n": 1 },
            "_meta": { "at": 2 },
        });
        assert_eq!(posted[0]["result"], expected);
    }
    for name in ["model", "nobody", "of another server", ""] {
        let call = json!({ "name": name });
        let (_, event) = ask(&mut bridge, "tools/call", &call);
        let Some(AppEvent::Fault(BridgeFault::ToolRefused { tool })) = event else {
            panic!("{event:?}")
        };
        assert_eq!(tool, name);
        assert_eq!(refused(ask(&mut bridge, "tools/call", &call)), -32602);
    }
    for malformed in [
        json!({}),
        json!({ "name": 1 }),
        json!({ "name": "both", "arguments": [] }),
    ] {
        assert_eq!(refused(ask(&mut bridge, "tools/call", &malformed)), -32602);
    }
    // What the server has changes.
    bridge.tools(&tools()[2..]);
    assert_eq!(
        refused(ask(&mut bridge, "tools/call", &json!({ "name": "both" }))),
        -32602
    );
}

/// What the host does not offer is as unknown as what does not exist.
#[test]
fn what_is_not_offered_does_not_exist() {
    let mut bridge = ready(AppBridge::new(BridgeOptions::new("host", "1")));
    bridge.tools(&tools());
    for (method, params) in [
        ("tools/call", json!({ "name": "both" })),
        ("resources/read", json!({ "uri": "x://y" })),
        ("ui/open-link", json!({ "url": "https://example.com" })),
        ("tools/list", json!({})),
        ("sampling/createMessage", json!({})),
        ("ui/resource-teardown", json!({})),
        (
            "ui/notifications/sandbox-resource-ready",
            json!({ "html": "" }),
        ),
        ("", json!({})),
    ] {
        assert_eq!(
            refused(ask(&mut bridge, method, &params)),
            -32601,
            "{method}"
        );
    }
    let (posted, event) = tell(
        &mut bridge,
        "notifications/message",
        &json!({ "level": "info" }),
    );
    assert!(
        posted.is_empty() && matches!(event, Some(AppEvent::Fault(_))),
        "{event:?}"
    );
}

#[test]
fn resources_are_read_for_an_app() {
    let mut bridge = ready(bridge());
    let (_, event) = ask(&mut bridge, "resources/read", &json!({ "uri": "x://y" }));
    let (request, ask_) = wanted(event);
    assert_eq!(
        ask_,
        AppAsk::ReadResource {
            uri: "x://y".to_owned()
        }
    );
    let mut out = Vec::new();
    let contents = ReadResourceResult::new([ResourceContents::text("x://y", "z")]);
    bridge
        .answer(request, AppReply::Resource(contents), &mut out)
        .expect("it waits");
    let expected = json!([{ "uri": "x://y", "text": "z" }]);
    assert_eq!(parsed(&out)[0]["result"]["contents"], expected);
    // The server's error comes to the app.
    let (request, _) = wanted(ask(&mut bridge, "resources/read", &json!({ "uri": "x://y" })).1);
    let mut out = Vec::new();
    bridge
        .answer(
            request,
            AppReply::failed(-32002, "Resource not found"),
            &mut out,
        )
        .expect("it waits");
    assert_eq!(
        parsed(&out)[0]["error"],
        json!({ "code": -32002, "message": "Resource not found" })
    );
    assert_eq!(
        refused(ask(&mut bridge, "resources/read", &json!({}))),
        -32602
    );
}

/// "Link opening denied by user", "Invalid URL", "Policy violation": -32000; what may be opened is asked.
#[test]
fn links_lead_where_they_say() {
    let mut bridge = ready(bridge());
    for url in [
        "https://example.com",
        "HTTP://example.com:80/a?b=c#d",
        "https://ex\u{e4}mple.com/\u{fc}",
    ] {
        let (request, ask_) = wanted(ask(&mut bridge, "ui/open-link", &json!({ "url": url })).1);
        assert_eq!(
            ask_,
            AppAsk::OpenLink {
                url: url.to_owned()
            }
        );
        let mut out = Vec::new();
        bridge
            .answer(request, AppReply::Done, &mut out)
            .expect("it waits");
        assert_eq!(parsed(&out)[0]["result"], json!({}));
    }
    let (request, _) = wanted(
        ask(
            &mut bridge,
            "ui/open-link",
            &json!({ "url": "https://example.com" }),
        )
        .1,
    );
    let mut out = Vec::new();
    let denied = AppReply::Denied("Link opening denied by user".to_owned());
    bridge.answer(request, denied, &mut out).expect("it waits");
    assert_eq!(parsed(&out)[0]["error"]["code"], -32000);
    for url in [
        "",
        "example.com",
        "javascript:alert(1)",
        "javascript://example.com/%0aalert(1)",
        "data:text/html,x",
        "file:///etc/passwd",
        "vscode://x",
        "https://",
        "https:///path",
        "https://:80",
        "https://bank.example@evil.example",
        "https://example.com\\@evil.example",
        "https://example.com/a b",
        "https://example.com/\n",
        " https://example.com",
        "https://example.com/\u{202e}moc",
        "https://exa\u{200b}mple.com",
    ] {
        assert_eq!(
            refused(ask(&mut bridge, "ui/open-link", &json!({ "url": url }))),
            -32000,
            "{url:?}"
        );
    }
    let long = format!("https://example.com/{}", "a".repeat(9000));
    assert_eq!(
        refused(ask(&mut bridge, "ui/open-link", &json!({ "url": long }))),
        -32000
    );
    assert_eq!(
        refused(ask(&mut bridge, "ui/open-link", &json!({ "url": 1 }))),
        -32602
    );
}

/// "Invalid message format": a message is the user's, and has something to say, in one block or several.
#[test]
fn messages_are_of_the_user() {
    let mut bridge = ready(bridge());
    let block = json!({ "type": "text", "text": "hi" });
    for content in [block.clone(), json!([block])] {
        let message = json!({ "role": "user", "content": content });
        let (request, ask_) = wanted(ask(&mut bridge, "ui/message", &message).1);
        assert_eq!(
            ask_,
            AppAsk::Message {
                content: vec![ContentBlock::text("hi")]
            }
        );
        bridge
            .answer(request, AppReply::Done, &mut Vec::new())
            .expect("it waits");
    }
    for message in [
        json!({ "role": "assistant", "content": block }),
        json!({ "content": block }),
        json!({ "role": "user" }),
        json!({ "role": "user", "content": [] }),
        json!({ "role": "user", "content": "hi" }),
        json!({ "role": "user", "content": [{ "type": "text" }] }),
        json!({ "role": "user", "content": [7] }),
    ] {
        assert_eq!(
            refused(ask(&mut bridge, "ui/message", &message)),
            -32602,
            "{message}"
        );
    }
}

/// "Each request overwrites the previous context": what is in it may be nothing.
#[test]
fn the_context_of_the_model_is_updated() {
    let mut bridge = ready(bridge());
    for (params, count, has_data) in [
        (json!({}), 0, false),
        (
            json!({ "content": [{ "type": "text", "text": "a" }], "structuredContent": {} }),
            1,
            true,
        ),
    ] {
        let (request, ask_) = wanted(ask(&mut bridge, "ui/update-model-context", &params).1);
        let AppAsk::UpdateModelContext {
            content,
            structured_content,
        } = ask_
        else {
            panic!("{ask_:?}")
        };
        assert_eq!(
            (content.len(), structured_content.is_some()),
            (count, has_data)
        );
        bridge
            .answer(request, AppReply::Done, &mut Vec::new())
            .expect("it waits");
    }
    for params in [
        json!({ "content": {} }),
        json!({ "structuredContent": [] }),
        json!([]),
    ] {
        assert_eq!(
            refused(ask(&mut bridge, "ui/update-model-context", &params)),
            -32602
        );
    }
}

/// "Host MUST NOT switch the View to a display mode that does not appear in its `availableDisplayModes`, if set", and "MUST
/// return the resulting mode".
#[test]
fn display_modes_are_those_of_both() {
    use DisplayMode::{Fullscreen, Inline, Pip};
    let options = options().display_modes(Inline, &[Inline, Pip]);
    let mut bridge = AppBridge::new(options);
    let says = json!({ "availableDisplayModes": ["inline", "fullscreen", "pip", "hologram"] });
    ask(&mut bridge, "ui/initialize", &initialize(&says));
    tell(&mut bridge, "ui/notifications/initialized", &json!({}));
    let modes = bridge.info().and_then(|info| info.display_modes.clone());
    assert_eq!(modes, Some(vec![Inline, Fullscreen, Pip]));
    let now = |posted: &[Value]| posted[0]["result"]["mode"].clone();
    // The host has none: how it is, at once.
    let (posted, event) = ask(
        &mut bridge,
        "ui/request-display-mode",
        &json!({ "mode": "fullscreen" }),
    );
    assert!(event.is_none() && now(&posted) == "inline", "{posted:?}");
    let (request, ask_) = wanted(
        ask(
            &mut bridge,
            "ui/request-display-mode",
            &json!({ "mode": "pip" }),
        )
        .1,
    );
    assert_eq!(ask_, AppAsk::RequestDisplayMode { mode: Pip });
    let mut out = Vec::new();
    bridge
        .answer(request, AppReply::Displayed(Pip), &mut out)
        .expect("it waits");
    assert_eq!(now(&parsed(&out)), "pip");
    assert_eq!(bridge.display_mode(), Pip);
    assert_eq!(
        refused(ask(
            &mut bridge,
            "ui/request-display-mode",
            &json!({ "mode": "hologram" })
        )),
        -32602
    );
    // The host's own wish.
    let mut out = Vec::new();
    bridge.display(Inline, &mut out).expect("the app has it");
    assert_eq!(
        parsed(&out)[0]["params"],
        json!({ "displayMode": "inline" })
    );
    let mut shy = AppBridge::new(self::options().display_modes(Inline, &[Inline, Pip]));
    ask(
        &mut shy,
        "ui/initialize",
        &initialize(&json!({ "availableDisplayModes": ["inline"] })),
    );
    tell(&mut shy, "ui/notifications/initialized", &json!({}));
    let mut out = Vec::new();
    assert_eq!(shy.display(Pip, &mut out), Err(BridgeError::DisplayMode));
    let changed = json!({ "displayMode": "pip" });
    assert_eq!(
        shy.host_context_changed(&changed, &mut out),
        Err(BridgeError::DisplayMode)
    );
    let (posted, _) = ask(
        &mut shy,
        "ui/request-display-mode",
        &json!({ "mode": "pip" }),
    );
    assert_eq!(now(&posted), "inline");
    let (request, _) = wanted(
        ask(
            &mut shy,
            "ui/request-display-mode",
            &json!({ "mode": "inline" }),
        )
        .1,
    );
    assert_eq!(
        shy.answer(request, AppReply::Displayed(Pip), &mut out),
        Err(BridgeError::DisplayMode)
    );
    assert_eq!(
        now(&parsed(&out)),
        "inline",
        "it is answered, and not switched"
    );
}

/// "Update the iframe dimensions accordingly", as far as the container is not fixed.
#[test]
fn sizes_are_within_the_container() {
    let sized = |container: Value, told: Value| {
        let mut bridge = ready(AppBridge::new(
            options().context("containerDimensions", container),
        ));
        let (posted, event) = tell(&mut bridge, "ui/notifications/size-changed", &told);
        assert!(posted.is_empty());
        match event {
            Some(AppEvent::SizeChanged { width, height }) => Ok((width, height)),
            Some(AppEvent::Fault(_)) => Err(()),
            None => Ok((None, None)),
            other => panic!("{other:?}"),
        }
    };
    let told = json!({ "width": 300, "height": 1000.5 });
    assert_eq!(
        sized(json!({}), told.clone()),
        Ok((Some(300.0), Some(1000.5)))
    );
    assert_eq!(
        sized(json!({ "width": 400, "maxHeight": 600 }), told.clone()),
        Ok((None, Some(600.0)))
    );
    assert_eq!(
        sized(json!({ "width": 400, "height": 6 }), told),
        Ok((None, None))
    );
    assert_eq!(sized(json!({}), json!({ "height": -1 })), Err(()));
    assert_eq!(sized(json!({}), json!({ "height": "1" })), Err(()));
}

#[test]
fn logs_come_to_the_host() {
    let mut bridge = ready(bridge());
    let line = json!({ "level": "warning", "logger": "map", "data": { "n": 1 } });
    let (_, event) = tell(&mut bridge, "notifications/message", &line);
    let Some(AppEvent::Log {
        level,
        logger,
        data,
    }) = event
    else {
        panic!("{event:?}")
    };
    assert_eq!(
        (level.as_str(), logger.as_deref(), data),
        ("warning", Some("map"), json!({ "n": 1 }))
    );
    let (_, event) = tell(
        &mut bridge,
        "notifications/message",
        &json!({ "level": "loud" }),
    );
    assert!(
        matches!(event, Some(AppEvent::Fault(BridgeFault::Invalid { .. }))),
        "{event:?}"
    );
}

/// "Host MUST send this notification before tearing down", and "SHOULD wait for a response".
#[test]
fn an_app_ends_before_it_is_taken_away() {
    for (answer, well) in [
        (json!({ "result": {} }), true),
        (
            json!({ "error": { "code": -32000, "message": "Teardown error" } }),
            false,
        ),
    ] {
        let mut bridge = ready(bridge());
        let (request, _) = wanted(ask(&mut bridge, "tools/call", &json!({ "name": "both" })).1);
        let mut out = Vec::new();
        assert!(bridge.teardown(Some("the end"), &mut out));
        assert!(bridge.teardown(None, &mut out), "it is waited for");
        let posted = parsed(&out);
        assert_eq!(posted.len(), 1, "once");
        assert_eq!(
            (&posted[0]["method"], &posted[0]["params"]),
            (
                &"ui/resource-teardown".into(),
                &json!({ "reason": "the end" })
            )
        );
        assert_eq!(
            bridge.tool_input(&json!({}), &mut out),
            Err(BridgeError::Closed)
        );
        // What it still wants to save.
        let (saving, _) = wanted(say(&mut bridge, &request_("save")).1);
        bridge
            .answer(saving, AppReply::Denied("no".to_owned()), &mut out)
            .expect("it waits");
        let (_, event) = say(
            &mut bridge,
            &json!({ "jsonrpc": "2.0", "id": "other", "result": {} }),
        );
        assert!(
            matches!(event, Some(AppEvent::Fault(BridgeFault::UnexpectedAnswer))),
            "{event:?}"
        );
        let mut message = json!({ "jsonrpc": "2.0", "id": posted[0]["id"] });
        message
            .as_object_mut()
            .expect("an object")
            .extend(answer.as_object().expect("an object").clone());
        let (_, event) = say(&mut bridge, &message);
        let Some(AppEvent::TornDown(end)) = event else {
            panic!("{event:?}")
        };
        assert_eq!(end.is_ok(), well);
        assert!(bridge.is_closed());
        assert_eq!(
            bridge.answer(request, AppReply::Denied(String::new()), &mut out),
            Err(BridgeError::Closed)
        );
        let (posted, event) = ask(&mut bridge, "ping", &json!({}));
        assert!(posted.is_empty() && event.is_none(), "it is gone");
    }
    // "Cleanup may be triggered at any point in the lifecycle following View initialization": before, nobody is told.
    let mut early = bridge();
    let mut out = Vec::new();
    assert!(!early.teardown(None, &mut out) && out.is_empty() && early.is_closed());
}

fn request_(id: &str) -> Value {
    request(id, "tools/call", &json!({ "name": "app" }))
}

/// "Once the Sandbox is ready, the Host MUST send the raw HTML resource", with what is granted, and nothing before.
#[test]
fn a_sandbox_is_given_the_page_when_it_is_ready() {
    let meta = AppMeta {
        csp: Some(Csp::new().resource("https://a.example").expect("an origin")),
        permissions: Permissions::NONE.clipboard_write(),
        ..AppMeta::default()
    };
    let page = AppPage::new("<!DOCTYPE html>\"</script>", meta);
    let mut bridge = AppBridge::sandboxed(options(), page);
    let hello = initialize(&json!({}));
    assert_eq!(
        refused(ask(&mut bridge, "ui/initialize", &hello)),
        -32600,
        "who is that?"
    );
    let (posted, event) = tell(
        &mut bridge,
        "ui/notifications/sandbox-proxy-ready",
        &json!({}),
    );
    assert!(matches!(event, Some(AppEvent::SandboxReady)), "{event:?}");
    assert_eq!(
        posted[0]["method"],
        "ui/notifications/sandbox-resource-ready"
    );
    let expected = json!({
        "html": "<!DOCTYPE html>\"</script>",
        "csp": { "resourceDomains": ["https://a.example"] },
        "permissions": { "clipboardWrite": {} },
    });
    assert_eq!(posted[0]["params"], expected);
    let (posted, event) = tell(
        &mut bridge,
        "ui/notifications/sandbox-proxy-ready",
        &json!({}),
    );
    assert!(
        posted.is_empty() && matches!(event, Some(AppEvent::Fault(_))),
        "once: {event:?}"
    );
    ready(bridge);
    // Without a sandbox there is nothing to give.
    let (posted, event) = tell(
        &mut self::bridge(),
        "ui/notifications/sandbox-proxy-ready",
        &json!({}),
    );
    assert!(
        posted.is_empty() && matches!(event, Some(AppEvent::Fault(_))),
        "{event:?}"
    );
}

/// "Reject malformed message types": nothing is answered that is no request, and nothing is done.
#[test]
fn what_is_no_message_is_a_fault() {
    let mut bridge = ready(bridge());
    for message in [
        &b""[..],
        b"null",
        b"[]",
        b"{",
        b"\xff",
        br#"{"id":1,"method":"ping"}"#,
        br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
        br#"{"jsonrpc":"2.0"}"#,
        br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
        br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
        br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
        br#"{"jsonrpc":"2.0","id":1,"method":7}"#,
        br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
    ] {
        let mut out = Vec::new();
        let event = bridge.receive(message, &mut out);
        let text = String::from_utf8_lossy(message);
        assert!(
            matches!(event, Some(AppEvent::Fault(BridgeFault::Malformed(_)))),
            "{text} {event:?}"
        );
        assert!(out.is_empty(), "{text}");
    }
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{}1{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let event = bridge.receive(deep.as_bytes(), &mut Vec::new());
    assert!(
        matches!(event, Some(AppEvent::Fault(BridgeFault::Malformed(_)))),
        "{event:?}"
    );
}

/// "Hosts should implement resource limits."
#[test]
fn an_app_cannot_ask_without_end() {
    let limits = BridgeLimits::DEFAULT.max_pending(2).max_message(1000);
    let mut bridge = ready(AppBridge::new(options().limits(limits)));
    bridge.tools(&tools());
    let call = |id: Value| request(id, "tools/call", &json!({ "name": "both" }));
    let (first, _) = wanted(say(&mut bridge, &call(1.into())).1);
    assert_eq!(
        refused(say(&mut bridge, &call(1.into()))),
        -32600,
        "one id, twice"
    );
    let _second = wanted(say(&mut bridge, &call("1".into())).1);
    assert_eq!(refused(say(&mut bridge, &call(3.into()))), -32000);
    bridge
        .answer(first, AppReply::Denied("no".to_owned()), &mut Vec::new())
        .expect("it waits");
    let _third = wanted(say(&mut bridge, &call(3.into())).1);
    let large = call("x".repeat(1000).into());
    let (posted, event) = say(&mut bridge, &large);
    assert!(
        matches!(event, Some(AppEvent::Fault(BridgeFault::TooLarge))),
        "{event:?}"
    );
    assert!(posted.is_empty());
    let (_, event) = say(&mut bridge, &call("x".repeat(257).into()));
    assert!(
        matches!(event, Some(AppEvent::Fault(BridgeFault::Malformed(_)))),
        "{event:?}"
    );
}

/// An answer of another kind is told to both: the host as an error, the app as one of the host's.
#[test]
fn an_answer_is_of_the_kind_of_its_request() {
    let mut bridge = ready(bridge());
    let (request, _) = wanted(ask(&mut bridge, "tools/call", &json!({ "name": "both" })).1);
    let mut out = Vec::new();
    assert_eq!(
        bridge.answer(request, AppReply::Done, &mut out),
        Err(BridgeError::WrongAnswer)
    );
    assert_eq!(parsed(&out)[0]["error"]["code"], -32603);
    let mut out = Vec::new();
    let strange = bridge.answer(AppRequest(99), AppReply::Done, &mut out);
    assert_eq!((strange, out.len()), (Err(BridgeError::NotPending), 0));
}

/// Anything of what apps send, near enough to it to come far.
fn any_message() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "[a-z:/ ]{0,12}".prop_map(Value::from),
        prop::sample::select(vec![
            "both",
            "model",
            "user",
            "pip",
            "inline",
            "https://a.example",
            "teardown",
            "info",
            "text"
        ])
        .prop_map(Value::from),
    ];
    let names = vec![
        "name",
        "arguments",
        "uri",
        "url",
        "role",
        "content",
        "type",
        "text",
        "mode",
        "width",
        "height",
        "level",
        "data",
        "protocolVersion",
        "appInfo",
        "version",
        "appCapabilities",
        "availableDisplayModes",
        "structuredContent",
        "reason",
    ];
    let value = leaf.prop_recursive(3, 24, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(
                prop::sample::select(names.clone()).prop_map(str::to_owned),
                inner,
                0..6
            )
            .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    });
    let methods = prop::sample::select(vec![
        "ui/initialize",
        "ui/notifications/initialized",
        "ui/open-link",
        "ui/message",
        "ui/update-model-context",
        "ui/request-display-mode",
        "ui/notifications/size-changed",
        "ui/notifications/sandbox-proxy-ready",
        "tools/call",
        "resources/read",
        "notifications/message",
        "ping",
        "ui/resource-teardown",
        "x",
    ]);
    let valid = Just(request(
        1,
        "ui/initialize",
        &initialize(&json!({ "availableDisplayModes": ["pip"] })),
    ));
    let shaped = (
        methods,
        prop::option::of(value.clone()),
        prop::option::of(value.clone()),
        any::<bool>(),
    )
        .prop_map(|(method, id, params, well)| {
            let mut message = json!({ "jsonrpc": "2.0", "method": method });
            if let Some(id) = id {
                message["id"] = if well { 5.into() } else { id };
            }
            if let Some(params) = params {
                message["params"] = params;
            }
            message
        });
    let answer = value
        .clone()
        .prop_map(|it| json!({ "jsonrpc": "2.0", "id": "teardown", "result": it }));
    prop_oneof![1 => value, 8 => shaped, 1 => answer, 2 => valid]
}

proptest! {
    /// Whatever comes in whatever order: nothing panics, a message is answered once at most, and what is kept has an end.
    #[test]
    fn anything_in_any_order(
        messages in prop::collection::vec((any_message(), 0..8_u8), 0..80),
        sandboxed in any::<bool>(),
    ) {
        let limits = BridgeLimits::DEFAULT.max_pending(4);
        let options = options().limits(limits).display_modes(DisplayMode::Inline, &[DisplayMode::Pip]);
        let mut bridge = match sandboxed {
            true => AppBridge::sandboxed(options, AppPage::new("<!DOCTYPE html>", AppMeta::default())),
            false => AppBridge::new(options),
        };
        bridge.tools(&tools());
        let mut waiting = Vec::new();
        for (message, host) in messages {
            let was_ready = bridge.is_ready();
            let mut out = Vec::new();
            let event = bridge.receive(message.to_string().as_bytes(), &mut out);
            let posted = parsed(&out);
            let released = matches!(event, Some(AppEvent::Initialized(_)));
            prop_assert!(posted.len() <= 1 || released && posted.len() <= 4, "{posted:?}");
            for it in &posted {
                // Before the handshake there are answers, and the page for the sandbox; nothing else.
                let is_answer = it.get("method").is_none();
                let is_page = it["method"] == "ui/notifications/sandbox-resource-ready";
                prop_assert!(is_answer || is_page || released || was_ready, "{it}");
                prop_assert!(is_answer == it.get("id").is_some(), "{it}");
            }
            if let Some(AppEvent::Wants(request, ask)) = event {
                prop_assert!(was_ready, "{ask:?}");
                prop_assert!(posted.is_empty());
                if let AppAsk::CallTool { name, .. } = &ask {
                    prop_assert!(["both", "app"].contains(&&**name), "{name}");
                }
                waiting.push(request);
            }
            prop_assert!(bridge.pending.len() <= 4);
            let mut out = Vec::new();
            let result = CallToolResult::new(vec![ContentBlock::text("x")]);
            match host {
                0 => { let _ = bridge.tool_input_partial(&json!({}), &mut out); }
                1 => { let _ = bridge.tool_input(&json!({}), &mut out); }
                2 => { let _ = bridge.tool_result(&result, &mut out); }
                3 => { let _ = bridge.tool_cancelled(None, &mut out); }
                4 => { let _ = bridge.host_context_changed(&json!({ "theme": "dark" }), &mut out); }
                5 => if let Some(request) = waiting.pop() {
                    let _ = bridge.answer(request, AppReply::Tool(Box::new(result)), &mut out);
                },
                _ => {}
            }
            let told = parsed(&out);
            let early = told.iter().any(|it| it.get("method").is_some());
            prop_assert!(!early || bridge.is_ready(), "{told:?}");
        }
        let mut out = Vec::new();
        bridge.teardown(None, &mut out);
        prop_assert!(out.len() <= 1);
    }

    /// And what is not even JSON.
    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let mut bridge = ready(bridge());
        let _ = bridge.receive(&bytes, &mut Vec::new());
    }
}
