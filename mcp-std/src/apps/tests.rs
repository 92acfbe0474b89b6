//! What is declared of apps, and what is made of it.

use mcp_core::json::Json;
use serde_json::{Value, json};

use super::*;

fn read(meta: &Value) -> (AppMeta, Vec<OriginFault>) {
    AppMeta::read(Some(Json::from(meta.clone()).raw()))
}

/// "Restrictive default": each directive of the specification, and those that it wants besides of a sandbox.
#[test]
fn nothing_declared_is_nothing_allowed() {
    for meta in [
        json!({}),
        json!({ "ui": {} }),
        json!({ "ui": 1 }),
        json!({ "ui": { "csp": 1 } }),
    ] {
        let (meta, faults) = read(&meta);
        let policy = meta.content_security_policy();
        let directives: Vec<_> = policy.split("; ").collect();
        for directive in [
            "default-src 'none'",
            "script-src 'self' 'unsafe-inline'",
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data:",
            "media-src 'self' data:",
            "connect-src 'none'",
            "frame-src 'none'",
            "base-uri 'self'",
            "object-src 'none'",
        ] {
            assert!(directives.contains(&directive), "{directive} in {policy}");
        }
        assert!(faults.is_empty());
    }
    assert_eq!(AppMeta::read(None).0, AppMeta::default());
}

/// "CSP construction from metadata": which list goes to which directives.
#[test]
fn what_is_declared_is_allowed_and_nothing_else() {
    let (meta, faults) = read(&json!({ "ui": { "csp": {
        "connectDomains": ["https://api.example.com", "wss://live.example.com:8443"],
        "resourceDomains": ["https://*.example.net/"],
        "frameDomains": ["https://www.example.org"],
        "baseUriDomains": ["https://base.example.org"],
    } } }));
    assert_eq!(faults, []);
    assert_eq!(
        meta.content_security_policy(),
        "default-src 'none'; \
         script-src 'self' 'unsafe-inline' https://*.example.net; \
         style-src 'self' 'unsafe-inline' https://*.example.net; \
         connect-src 'self' https://api.example.com wss://live.example.com:8443; \
         img-src 'self' data: https://*.example.net; \
         font-src 'self' https://*.example.net; \
         media-src 'self' data: https://*.example.net; \
         frame-src https://www.example.org; \
         object-src 'none'; \
         base-uri https://base.example.org; \
         form-action 'none'"
    );
    let csp = meta.csp.expect("it is declared");
    assert!(csp.is_external() && !Csp::new().is_external());
    let header = Csp::new().header();
    assert!(
        header.contains("frame-src 'none'; object-src 'none'; base-uri 'self'"),
        "{header}"
    );
    // A host's own list makes it less, never more.
    let less = csp
        .clone()
        .restricted(|origin| origin.ends_with(".com"))
        .header();
    assert!(
        less.contains("connect-src 'self' https://api.example.com;"),
        "{less}"
    );
    assert!(
        less.contains("frame-src 'none'") && !less.contains("example.net"),
        "{less}"
    );
}

/// "No loosening": what would say more than an origin is left out, whatever the list.
#[test]
fn a_policy_cannot_be_made_to_say_more() {
    for origin in [
        "",
        "*",
        "https:",
        "https://",
        "https://*",
        "https://*.com",
        "https://a.example; script-src *",
        "https://a.example script-src",
        "https://a.example,https://b.example",
        "https://a.example\nx: y",
        "https://a.example\r\nx: y",
        "https://a.example'unsafe-eval'",
        "'unsafe-eval'",
        "'self'",
        "data:",
        "blob:",
        "data://x",
        "javascript://x",
        "file://host",
        "HTTPS://a.example",
        "https://user@a.example",
        "https://a.example/path",
        "https://a.example?q",
        "https://a.example#f",
        "https://a.example:0",
        "https://a.example:",
        "https://a.example:65536",
        "https://a.example:+1",
        "https://a.example:*",
        "https://[::1]",
        "https://a..example",
        "https://-a.example",
        "https://a.*.example",
        "https://ex\u{e4}mple.com",
        "https://a\u{3b}b",
        " https://a.example",
    ] {
        let all = json!([origin]);
        let (meta, faults) = read(&json!({ "ui": { "csp": {
            "connectDomains": all, "resourceDomains": all, "frameDomains": all, "baseUriDomains": all,
        } } }));
        assert_eq!(faults.len(), 4, "{origin}");
        let csp = meta.csp.expect("it is declared");
        assert_eq!(csp, Csp::new(), "{origin}");
        assert_eq!(csp.header(), Csp::new().header());
        for declared in [Csp::new().connect(origin), Csp::new().frame(origin)] {
            let fault = declared.expect_err(origin);
            assert!(fault.to_string().starts_with('`'), "{fault}");
        }
    }
    // WebSockets are connections, and nothing else is had by them.
    assert!(Csp::new().connect("wss://a.example").is_ok());
    assert!(Csp::new().resource("wss://a.example").is_err());
    assert!(Csp::new().connect("http://localhost:8080").is_ok());
    assert!(Csp::new().connect("http://127.0.0.1:8080").is_ok());
}

/// A list is as long as it may be, however long the server's is, and so is that of what was left out.
#[test]
fn what_a_server_declares_is_bounded() {
    let many: Vec<_> = (0..100_000)
        .map(|n| format!("https://h{n}.example"))
        .collect();
    let none = vec![json!(7); 100_000];
    let (meta, faults) =
        read(&json!({ "ui": { "csp": { "connectDomains": many, "frameDomains": none } } }));
    assert_eq!(faults.len(), 64);
    let header = meta.content_security_policy();
    assert_eq!(header.matches("https://").count(), 64);
    let long = format!("https://{}", "a.".repeat(1000));
    let fault = Csp::new().connect(long).expect_err("it is long");
    assert!(fault.origin.len() <= 128, "{fault}");
}

/// "Permissions map to Permission Policy features": only those that are asked for, and given.
#[test]
fn permissions_are_features() {
    let (meta, _) = read(&json!({ "ui": {
        "permissions": { "camera": {}, "clipboardWrite": {}, "microphone": true, "usb; geolocation": {} },
        "domain": "a904794854a047f6.example.com",
        "prefersBorder": false,
    } }));
    assert_eq!(meta.permissions.allow(), "camera; clipboard-write");
    assert_eq!(meta.domain.as_deref(), Some("a904794854a047f6.example.com"));
    assert_eq!(meta.prefers_border, Some(false));
    let granted = meta
        .permissions
        .and(Permissions::NONE.camera().geolocation());
    assert_eq!(granted.allow(), "camera");
    assert_eq!(Permissions::NONE.allow(), "");
    let (meta, _) = read(&json!({ "ui": { "domain": "a.example; x", "prefersBorder": "yes" } }));
    assert_eq!((meta.domain, meta.prefers_border), (None, None));
}

/// "`visibility` defaults to `[\"model\", \"app\"]` if omitted."
#[test]
fn who_may_call_a_tool() {
    let read = |ui: &Value| ToolUi::read(Some(Json::from(json!({ "ui": ui })).raw()));
    assert_eq!(ToolUi::read(None).visibility, Visibility::BOTH);
    for (said, visibility) in [
        (json!(null), Visibility::BOTH),
        (json!("app"), Visibility::BOTH),
        (json!(["model", "app"]), Visibility::BOTH),
        (json!(["app"]), Visibility::APP),
        (json!(["model"]), Visibility::MODEL),
        (json!(["model", "robot"]), Visibility::MODEL),
        (
            json!([]),
            Visibility {
                model: false,
                app: false,
            },
        ),
    ] {
        assert_eq!(
            read(&json!({ "visibility": said })).visibility,
            visibility,
            "{said}"
        );
    }
    for (uri, is_one) in [
        ("ui://weather/map", true),
        ("ui://", false),
        ("https://a.example", false),
        ("ui://a b", false),
        ("UI://a", false),
    ] {
        let ui = read(&json!({ "resourceUri": uri }));
        assert_eq!(ui.resource_uri.is_some(), is_one, "{uri}");
    }
}
