//! `#[tool]`: functions as tools, seen by a client and by their own program.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use futures_lite::io::Cursor;
use mcp_std as mcp;
use mcp_std::{Context, Progress, Server, Sharing, Structured, Tool};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const CALLS: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
"#;

/// What the server answers to the calls, in the order of their numbers.
fn answers<S: Sharing>(
    tools: impl IntoIterator<Item = Tool<S>>,
    server: mcp::ServerBuilder<S>,
    calls: &[Value],
) -> Vec<Value> {
    let server = tools
        .into_iter()
        .fold(server, |server, tool| server.with_tool(tool));
    let server = server.build().expect("a server");
    let mut input = CALLS.to_owned();
    for (id, call) in calls.iter().enumerate() {
        let mut call = call.clone();
        call["jsonrpc"] = json!("2.0");
        call["id"] = json!(id + 1);
        input += &format!("{call}\n");
    }
    let mut output = Vec::new();
    async_io::block_on(server.serve(input.as_bytes(), Cursor::new(&mut output))).expect("served");
    let lines = String::from_utf8(output).expect("UTF-8");
    let mut answers: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .filter(|message: &Value| message["id"].as_u64().is_some_and(|id| id > 0))
        .collect();
    answers.sort_by_key(|answer| answer["id"].as_u64());
    answers
        .into_iter()
        .map(|answer| answer["result"].clone())
        .collect()
}

fn list() -> Value {
    json!({"method": "tools/list"})
}

fn call(tool: &str, arguments: &Value) -> Value {
    json!({"method": "tools/call", "params": {"name": tool, "arguments": arguments}})
}

/// The listing of one tool.
fn listed(tool: Tool) -> Value {
    answers([tool], Server::builder("test", "1"), &[list()])[0]["tools"][0].clone()
}

#[derive(Clone, Copy, Deserialize, JsonSchema, Serialize)]
#[serde(rename_all = "lowercase")]
enum Unit {
    /// Degrees, as most of the world has them.
    Celsius,
    Fahrenheit,
}

#[derive(Serialize, JsonSchema)]
struct Weather {
    city: String,
    days: u8,
    unit: Unit,
    note: Option<String>,
}

/// What the weather will be.
///
/// In a town that it knows:
/// - any.
#[mcp::tool(
    read_only,
    destructive = false,
    idempotent = true,
    open_world,
    title = "Weather"
)]
async fn forecast(
    /// The town.
    /// Its country follows after a comma.
    city: String,
    /// How many days.
    #[default(3)]
    #[schemars(range(min = 1, max = 14))]
    days: u8,
    #[default(Unit::Celsius)] unit: Unit,
    note: Option<String>,
    /// How it is called in the language of the town.
    #[serde(rename = "localName")]
    #[default("none")]
    _local_name: String,
    #[default] r#type: Vec<String>,
) -> Result<Structured<Weather>, String> {
    if !r#type.is_empty() {
        return Err("no such type".to_owned());
    }
    Ok(Structured(Weather {
        city,
        days,
        unit,
        note,
    }))
}

mod by_builder {
    use super::*;

    #[derive(Deserialize, JsonSchema)]
    pub(super) struct Forecast {
        /// The town.
        /// Its country follows after a comma.
        city: String,
        /// How many days.
        #[serde(default = "three")]
        #[schemars(range(min = 1, max = 14))]
        days: u8,
        #[serde(default = "celsius")]
        unit: Unit,
        note: Option<String>,
        /// How it is called in the language of the town.
        #[serde(rename = "localName", default = "none")]
        _local_name: String,
        #[serde(default)]
        r#type: Vec<String>,
    }

    fn three() -> u8 {
        3
    }

    fn celsius() -> Unit {
        Unit::Celsius
    }

    fn none() -> String {
        "none".to_owned()
    }

    pub(super) fn forecast() -> Tool {
        let description = "What the weather will be.\n\nIn a town that it knows:\n- any.";
        Tool::new("forecast", description, |args: Forecast| async move {
            if !args.r#type.is_empty() {
                return Err("no such type".to_owned());
            }
            let Forecast {
                city,
                days,
                unit,
                note,
                ..
            } = args;
            Ok(Structured(Weather {
                city,
                days,
                unit,
                note,
            }))
        })
        .title("Weather")
        .read_only(true)
        .destructive(false)
        .idempotent(true)
        .open_world(true)
    }
}

#[test]
fn it_is_the_tool_that_the_builder_makes() {
    let macros = listed(forecast::tool());
    assert_eq!(macros, listed(by_builder::forecast()));
    // Neither is empty.
    assert_eq!(macros["inputSchema"]["properties"]["days"]["default"], 3);
    assert_eq!(macros["inputSchema"]["required"], json!(["city"]));
    assert_eq!(macros["annotations"]["openWorldHint"], true);

    let calls = [
        call("forecast", &json!({"city": "Oslo"})),
        call(
            "forecast",
            &json!({"city": "Oslo", "days": 5, "unit": "fahrenheit", "note": "x", "unknown": 1}),
        ),
        call("forecast", &json!({"city": "Oslo", "type": ["a"]})),
        call("forecast", &json!({"days": 5})),
        call("forecast", &json!({"city": "Oslo", "days": "5"})),
    ];
    let server = || Server::builder("test", "1");
    let answered = answers([forecast::tool()], server(), &calls);
    assert_eq!(
        answered,
        answers([by_builder::forecast()], server(), &calls)
    );
    assert_eq!(
        answered[0]["structuredContent"],
        json!({"city": "Oslo", "days": 3, "unit": "celsius", "note": null})
    );
    assert_eq!(answered[2]["content"][0]["text"], "no such type");
    assert!(
        answered[3]["content"][0]["text"]
            .as_str()
            .expect("text")
            .contains("`city`")
    );
}

#[test]
fn it_stays_a_function() {
    let weather = async_io::block_on(forecast(
        "Oslo".into(),
        1,
        Unit::Celsius,
        None,
        String::new(),
        vec![],
    ));
    assert_eq!(weather.expect("no type").0.days, 1);
    assert_eq!(shout("hello".into()), "HELLO");
}

/// Without a word about its arguments, and not asynchronous.
#[mcp_std::tool(name = "say.loud", description = "Says it loud.", crate = mcp)]
fn shout(mut text: String) -> String {
    text.make_ascii_uppercase();
    text
}

#[mcp::tool(crate = "crate::mcp")]
fn nothing() {}

/** A block,
of several lines.
*/
#[mcp::tool]
async fn steps(context: Context, count: u8) -> String {
    context.progress(Progress::new(f64::from(count))).await;
    context.version().as_str().to_owned()
}

#[mcp::tool]
async fn version(context: &mcp::Context) -> &'static str {
    futures_lite::future::yield_now().await;
    context.version().as_str()
}

#[test]
fn names_contexts_and_functions_without_arguments() {
    let tools = [
        shout::tool(),
        nothing::tool(),
        steps::tool(),
        version::tool(),
    ];
    let answered = answers(
        tools,
        Server::builder("test", "1"),
        &[
            list(),
            call("say.loud", &json!({"text": "hello"})),
            call("nothing", &json!({})),
            call("steps", &json!({"count": 3})),
            call("version", &json!({})),
        ],
    );
    let tools = &answered[0]["tools"];
    assert_eq!(tools[0]["name"], "say.loud");
    assert_eq!(tools[0]["description"], "Says it loud.");
    assert_eq!(
        tools[1]["inputSchema"],
        json!({"type": "object", "properties": {}})
    );
    assert_eq!(tools[2]["description"], "A block,\nof several lines.");
    assert_eq!(tools[2]["inputSchema"]["required"], json!(["count"]));
    assert_eq!(answered[1]["content"][0]["text"], "HELLO");
    assert_eq!(answered[2]["content"], json!([]));
    assert_eq!(answered[3]["content"][0]["text"], "2025-11-25");
    assert_eq!(answered[4]["content"][0]["text"], "2025-11-25");
}

#[derive(Default)]
struct Counter(AtomicUsize);

#[mcp::tool]
async fn count(#[state] counter: &Counter, #[default(1)] by: usize) -> String {
    futures_lite::future::yield_now().await;
    (counter.0.fetch_add(by, Relaxed) + by).to_string()
}

#[mcp::tool]
fn told(context: &Context, #[state] counter: Arc<Counter>, #[state] unit: &'static str) -> String {
    format!(
        "{} {unit} {}",
        counter.0.load(Relaxed),
        context.wants_progress()
    )
}

#[test]
fn calls_share_state() {
    let counter = Arc::new(Counter::default());
    let tools = [
        count::tool(counter.clone()),
        told::tool(counter.clone(), "sheep"),
    ];
    let calls = [call("count", &json!({})), call("count", &json!({"by": 2}))];
    answers(tools, Server::builder("test", "1"), &calls);
    assert_eq!(counter.0.load(Relaxed), 3);
    let told = told::tool(counter, "sheep");
    let answered = answers(
        [told],
        Server::builder("test", "1"),
        &[call("told", &json!({}))],
    );
    assert_eq!(answered[0]["content"][0]["text"], "3 sheep false");
    // Without an `Arc` of one's own.
    let answered = answers(
        [count::tool(Counter::default())],
        Server::builder("test", "1"),
        &[call("count", &json!({"by": 5})), list()],
    );
    assert_eq!(answered[0]["content"][0]["text"], "5");
    let schema = &answered[1]["tools"][0]["inputSchema"];
    assert_eq!(
        schema["properties"].as_object().expect("an object").len(),
        1,
        "no state in {schema}"
    );
}

/// Its future is not `Send`.
#[mcp::tool(local)]
async fn stays(#[state] text: &std::cell::RefCell<String>) -> String {
    let text = std::rc::Rc::new(text.borrow().clone());
    futures_lite::future::yield_now().await;
    (*text).clone()
}

#[test]
fn tools_of_one_thread() {
    let text = std::cell::RefCell::new("here".to_owned());
    let answered = answers(
        [stays::tool(text)],
        Server::local("test", "1"),
        &[call("stays", &json!({}))],
    );
    assert_eq!(answered[0]["content"][0]["text"], "here");
}

/// A model reads them in the order that their author chose.
#[test]
fn arguments_are_listed_in_their_order() {
    #[derive(Serialize, JsonSchema)]
    struct Made {
        whole: u8,
        half: u8,
    }
    #[mcp::tool]
    fn make(water: u8, coffee: Option<u8>, cup: u8, #[default(1)] beans: u8) -> Structured<Made> {
        let whole = water + coffee.unwrap_or(0) + cup + beans;
        let half = whole / 2;
        Structured(Made { whole, half })
    }
    let tool = listed(make::tool());
    for (schema, names) in [
        ("inputSchema", &["water", "coffee", "cup", "beans"][..]),
        ("outputSchema", &["whole", "half"]),
    ] {
        let properties = tool[schema]["properties"].as_object().expect("an object");
        assert_eq!(properties.keys().collect::<Vec<_>>(), names, "{schema}");
    }
}
