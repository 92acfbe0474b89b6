//! The examples do what they show.

use std::io::Write;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::child::{INITIALIZE, INITIALIZED, Serve, call, example, text};

/// Calls a tool as clients of 2026-07-28 do, and returns the text it answers with.
fn modern(serve: &mut Serve, tool: &str, arguments: &Value) -> Value {
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": tool,
        "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }});
    serve.send(&call.to_string());
    let answer: Value = serde_json::from_str(&serve.line()).expect("JSON");
    assert_eq!(answer["result"]["resultType"], "complete", "{answer}");
    answer["result"]["content"][0]["text"].clone()
}

#[test]
fn server_stdio() {
    let mut serve = Serve::spawn(example("server_stdio"));
    let said = modern(&mut serve, "echo", &json!({"text": "hello"}));
    assert_eq!(said, "hello");
    assert_eq!(serve.end().clean(), [""; 0]);
}

#[test]
fn server_macro() {
    let mut serve = Serve::spawn(example("server_macro"));
    assert_eq!(modern(&mut serve, "add", &json!({"a": 2, "b": 3})), "5");
    assert_eq!(modern(&mut serve, "add", &json!({"a": 2})), "3");
    assert_eq!(serve.end().clean(), [""; 0]);
}

#[test]
fn server_tokio() {
    let mut serve = Serve::spawn(example("server_tokio"));
    let said = modern(&mut serve, "nap", &json!({"ms": 5}));
    assert_eq!(said, "slept for 5 ms");
    assert_eq!(serve.end().clean(), [""; 0]);
}

#[test]
fn tools() {
    let mut serve = Serve::spawn(example("tools"));
    serve.send(INITIALIZE);
    let hello = serve.line();
    assert!(hello.contains(r#""instructions":"Remember "#), "{hello}");
    serve.send(INITIALIZED);

    serve.send(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    let list: Value = serde_json::from_str(&serve.line()).expect("JSON");
    let remember = &list["result"]["tools"][0];
    let topic = &remember["inputSchema"]["properties"]["topic"];
    assert_eq!(
        topic["description"],
        "What the note is about, in a word or two."
    );
    assert_eq!(remember["outputSchema"]["required"], json!(["notes"]));

    serve.send(&call("2", "recall", "{}"));
    assert_eq!(serve.line(), text("2", ""));
    for (id, topic) in [(3, "tea"), (4, "milk")] {
        let note = json!({"topic": topic, "text": "buy some"});
        serve.send(&call(&id.to_string(), "remember", &note.to_string()));
        let count = id - 2;
        assert_eq!(
            serve.line(),
            format!(
                r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{{\"notes\":{count}}}"}}],"structuredContent":{{"notes":{count}}}}}}}"#
            )
        );
    }
    serve.send(&call("5", "recall", "{}"));
    assert_eq!(serve.line(), text("5", "tea: buy some\nmilk: buy some"));

    serve.send(
        r#"{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"study","_meta":{"progressToken":"p"}}}"#,
    );
    for (round, saying) in [
        (1, "reading"),
        (2, "reading again"),
        (3, "learning by heart"),
    ] {
        assert_eq!(
            serve.line(),
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":"p","progress":{round},"total":3,"message":"{saying}"}}}}"#
            )
        );
    }
    assert_eq!(serve.line(), text("6", "learned"));

    serve.send(&call("7", "publish", "{}"));
    let failed = serve.line();
    assert!(
        failed.contains("this notebook is private") && failed.contains(r#""isError":true"#),
        "{failed}"
    );

    let long = json!({"topic": "long", "text": "x".repeat(64 * 1024)});
    serve.send(&call("8", "remember", &long.to_string()));
    let refused = serve.line();
    assert!(refused.contains(r#""error":{"code":-32"#), "{refused}");
    assert_eq!(serve.end().clean(), [""; 0]);
}

/// A modern client that is asked, and one that is asked in its session.
#[test]
fn server_elicit() {
    let table = json!({"action": "accept", "content": {"people": 4, "place": "Outside"}});
    let capabilities = json!({"elicitation": {}});
    let mut serve = Serve::spawn(example("server_elicit"));
    let mut params = json!({"name": "reserve", "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
    }});
    let mut call = |id: u64, params: &Value| {
        let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
        serve.send(&call.to_string());
        serde_json::from_str::<Value>(&serve.line()).expect("JSON")
    };
    let asked = call(1, &params);
    let asked = &asked["result"];
    assert_eq!(asked["resultType"], "input_required", "{asked}");
    let question = &asked["inputRequests"]["0"]["params"];
    assert_eq!(question["message"], "What table would you like?");
    params["requestState"] = asked["requestState"].clone();
    params["inputResponses"] = json!({"0": table});
    let reserved = call(2, &params);
    let said = "reserved for 4: Outside";
    assert_eq!(reserved["result"]["content"][0]["text"], said, "{reserved}");

    let hello = json!({"jsonrpc": "2.0", "id": 3, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": capabilities,
        "clientInfo": {"name": "test", "version": "1"},
    }});
    serve.send(&hello.to_string());
    serve.line();
    serve.send(INITIALIZED);
    serve.send(r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"reserve"}}"#);
    let asked: Value = serde_json::from_str(&serve.line()).expect("JSON");
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": table});
    serve.send(&answer.to_string());
    assert_eq!(serve.line(), self::text("4", said));
    assert_eq!(serve.end().clean(), [""; 0]);
}

#[test]
fn server_wiki() {
    let mut serve = Serve::spawn(example("server_wiki"));
    serve.send(INITIALIZE);
    serve.line();
    serve.send(INITIALIZED);
    let mut request = |method: &str, params: Value| {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        serve.send(&request.to_string());
        serde_json::from_str::<Value>(&serve.line()).expect("JSON")
    };
    let home = json!({"uri": "wiki://page/Home"});
    let read = request("resources/read", home.clone());
    let contents = &read["result"]["contents"][0];
    assert_eq!(contents["text"], "Welcome to the wiki!", "{read}");
    assert_eq!(contents["mimeType"], "text/markdown");
    let missing = request("resources/read", json!({"uri": "wiki://page/Away"}));
    assert_eq!(missing["error"]["code"], -32002, "{missing}");
    let subscribed = request("resources/subscribe", home);
    assert_eq!(subscribed["result"], json!({}), "{subscribed}");

    serve.send(&call("2", "edit", r#"{"title":"Home","text":"New"}"#));
    let (one, other) = (serve.line(), serve.line());
    let updated = r#"{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"wiki://page/Home"}}"#;
    assert!(one == updated || other == updated, "{one} {other}");

    let complete = json!({"ref": {"type": "ref/prompt", "name": "summarise"}, "argument": {"name": "title", "value": "H"}});
    let complete =
        json!({"jsonrpc": "2.0", "id": 3, "method": "completion/complete", "params": complete});
    serve.send(&complete.to_string());
    let completed: Value = serde_json::from_str(&serve.line()).expect("JSON");
    assert_eq!(
        completed["result"]["completion"]["values"],
        json!(["Home"]),
        "{completed}"
    );
    assert_eq!(serve.end().clean(), [""; 0]);
}

/// What a client's example prints that is given these lines.
fn client(name: &str, arguments: &[&str], server: &str, lines: &str) -> String {
    let mut client = example(name);
    client.args(arguments).arg(example(server).get_program());
    let mut client = client
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it is there");
    let mut input = client.stdin.take().expect("it is a pipe");
    input.write_all(lines.as_bytes()).expect("there is room");
    drop(input);
    let output = client.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[test]
fn client_elicit() {
    for (lines, said) in [
        ("4\nInside\n", "reserved for 4: Inside"),
        ("4\n", "nothing reserved"),
    ] {
        let printed = client("client_elicit", &["reserve"], "server_elicit", lines);
        let asked = "restaurant asks: What table would you like?\npeople?\nplace?\n";
        assert_eq!(printed, format!("{asked}{said}\n"));
    }
}

#[test]
fn client_subscribe() {
    let printed = client("client_subscribe", &[], "server_wiki", "");
    let changed = "changed: Resource(\"wiki://page/Home\")\n";
    assert!(printed.starts_with(changed), "{printed}");
    assert!(printed.contains("\"New\""), "{printed}");
}
