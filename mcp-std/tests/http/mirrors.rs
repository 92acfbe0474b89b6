//! Headers that repeat what the body says.

use mcp_std::{Resource, Server};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::site::{Request, Response, Site, said};

#[derive(Deserialize, JsonSchema)]
struct Query {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: Option<String>,
    #[schemars(extend("x-mcp-header" = "Count"))]
    count: Option<i64>,
    #[schemars(extend("x-mcp-header" = "Dry-Run"))]
    dry: Option<bool>,
    #[serde(default)]
    nested: Nested,
}

#[derive(Default, Deserialize, JsonSchema)]
#[schemars(inline)]
struct Nested {
    #[schemars(extend("x-mcp-header" = "Deep"))]
    deep: Option<String>,
}

fn server() -> Server {
    Server::builder("mirrors", "1")
        .tool("now", "", || async { "now" })
        .tool("a b", "", || async { "blank" })
        .tool("query", "", |query: Query| async move {
            let Query {
                region,
                count,
                dry,
                nested,
            } = query;
            format!("{region:?} {count:?} {dry:?} {:?}", nested.deep)
        })
        .with_resource(Resource::new("note://caf\u{e9}", "cafe", || async {
            "coffee"
        }))
        .build()
        .expect("a server")
}

#[track_caller]
fn assert_mismatch(response: &Response, why: &str) {
    let found = (response.status, response.code());
    assert_eq!(found, (400, Some(-32020)), "{why}: {response:?}");
}

/// HM-01, ENC-04, ENC-05.
#[test]
fn hm_01_values_are_decoded_before_they_are_compared() {
    let site = Site::new(&server());
    let read = Request::modern(1, "resources/read", &json!({ "uri": "note://caf\u{e9}" }));
    let call = Request::modern(1, "tools/call", &json!({ "name": "now" }));
    for (request, name) in [
        (&read, "=?base64?bm90ZTovL2NhZsOp?="),
        (&call, "=?base64?bm93?="),
        (&call, "now"),
    ] {
        let response = site.ask(&request.clone().set("mcp-name", name));
        assert_eq!(response.status, 200, "{name}: {response:?}");
    }
    for name in [
        "=?base64?bm90ZTovL2NhZsOp",
        "=?BASE64?bm90ZTovL2NhZsOp?=",
        "=?base64?bm90ZTovL2NhZs!p?=",
        "=?base64?bm90ZTovL2NhZv8=?=",
        "=?base64?bm93?=",
        "",
    ] {
        let response = site.ask(&read.clone().set("mcp-name", name));
        assert_mismatch(&response, name);
    }
    // Nobody looks at it where it belongs to nothing (HDR-12).
    let list = Request::modern(1, "tools/list", &json!({})).with("mcp-name", "=?base64?!?=");
    assert_eq!(site.ask(&list).status, 200);
}

/// HM-02.
#[test]
fn hm_02_raw_bytes_outside_visible_ascii_are_refused() {
    let site = Site::new(&server());
    let read = Request::modern(1, "resources/read", &json!({ "uri": "note://caf\u{e9}" }));
    assert_mismatch(&site.ask(&read), "UTF-8");
    let head = read.without("mcp-name").head();
    let body = Request::modern(1, "resources/read", &json!({ "uri": "note://caf\u{e9}" })).body;
    let mut client = site.connect();
    client.write(head.as_bytes());
    client.write(b"mcp-name: note://caf\xe9\r\n");
    client.write(format!("content-length: {}\r\n\r\n", body.len()).as_bytes());
    client.write(&body);
    assert_mismatch(&client.response(), "Latin-1");
    let blank = Request::modern(1, "tools/call", &json!({ "name": "a b" }));
    let response = site.ask(&blank);
    assert_eq!(said(&response.message()), "blank");
    assert_mismatch(&site.ask(&blank.clone().set("mcp-name", "a\tb")), "a tab");
    let twice = blank.clone().with("mcp-name", "now");
    assert_mismatch(&site.ask(&twice), "two that differ");
    let twice = blank.with("mcp-name", "a b");
    assert_eq!(site.ask(&twice).status, 200, "two that agree");
}

fn query(arguments: &Value, headers: &[(&str, &str)]) -> Request {
    let params = json!({ "name": "query", "arguments": arguments });
    let request = Request::modern(1, "tools/call", &params);
    let headers = headers.iter();
    headers.fold(request, |request, (name, value)| {
        request.with(&format!("mcp-param-{name}"), value)
    })
}

/// HM-04, XH-12, VAL-02, VAL-03, VAL-04.
#[test]
fn arguments_are_repeated_where_the_schema_says_so() {
    let site = Site::new(&server());
    for (arguments, headers, expected) in [
        (json!({}), &[][..], "None None None None"),
        (
            json!({ "region": null, "count": null }),
            &[],
            "None None None None",
        ),
        (
            json!({ "region": "eu", "count": -7, "dry": true }),
            &[("region", "eu"), ("count", "-7"), ("dry-run", "true")],
            r#"Some("eu") Some(-7) Some(true) None"#,
        ),
        (
            json!({ "count": 42 }),
            &[("Count", "42.0")],
            "None Some(42) None None",
        ),
        (
            json!({ "nested": { "deep": " x" } }),
            &[("DEEP", "=?base64?IHg=?=")],
            r#"None None None Some(" x")"#,
        ),
        (
            json!({ "region": "" }),
            &[("region", ""), ("unknown", "=?base64?!?=")],
            r#"Some("") None None None"#,
        ),
    ] {
        let response = site.ask(&query(&arguments, headers));
        assert_eq!(response.status, 200, "{arguments}: {response:?}");
        assert_eq!(said(&response.message()), expected, "{arguments}");
    }
    for (arguments, headers) in [
        (json!({ "region": "eu" }), &[][..]),
        (json!({ "region": "eu" }), &[("region", "us")]),
        (json!({ "region": "eu" }), &[("region", "=?base64?ZXU?=")]),
        (json!({ "dry": true }), &[("dry-run", "True")]),
        (json!({ "count": -7 }), &[("count", "-7x")]),
        (json!({}), &[("region", "eu")]),
        (json!({ "region": null }), &[("region", "null")]),
        (
            json!({ "region": "eu" }),
            &[("region", "eu"), ("region", "us")],
        ),
        (json!({ "nested": { "deep": "x" } }), &[]),
    ] {
        let response = site.ask(&query(&arguments, headers));
        assert_mismatch(&response, &format!("{arguments} {headers:?}"));
        let message = response.message()["error"]["message"].clone();
        let message = message.as_str().expect("a message");
        assert!(message.contains("Mcp-Param-"), "{message}");
    }
}
