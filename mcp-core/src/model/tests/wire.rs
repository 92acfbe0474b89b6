//! Every type: read, written for each revision, read again; and what is refused.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Map, Value};

use super::{oldest_first, raw};
use crate::json::Json;
use crate::model::codec::{Target, Write};
use crate::model::request::*;
use crate::model::*;

/// The value with everything that any revision has.
fn whole(value: &impl Write) -> Json<'static> {
    Json::written(|json| value.write(Target::ANY, json))
}

fn parsed(json: &Json<'_>) -> Value {
    serde_json::from_str(json.as_str()).expect("the writer writes JSON")
}

fn object(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).expect(text)
}

/// The members of an object whose member `name` is `replaced`.
fn with(object: &Map<String, Value>, name: &str, replaced: impl Fn(&Value) -> String) -> String {
    let members: Vec<String> = object
        .iter()
        .map(|(key, value)| match key == name {
            true => replaced(value),
            false => format!("{}:{value}", Value::from(key.as_str())),
        })
        .filter(|member| !member.is_empty())
        .collect();
    format!("{{{}}}", members.join(","))
}

/// Checks types against an example that has all their members, and in which revisions those are; in all, if a member is
/// not named. The letters are the revisions from the oldest to the newest. `tag` is the member that is read by who holds
/// the value.
macro_rules! check {
    ($($ty:ident $(tag $tag:literal)?: $example:expr, [$($member:literal $revisions:literal),*];)*) => {$({
        let example = $example;
        let name = stringify!($ty);
        let value = $ty::decode(raw(example)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let members = object(example);

        // Nothing is lost, and nothing added.
        assert_eq!(parsed(&whole(&value)), Value::Object(members.clone()), "{name}");
        assert_eq!(value.clone().into_owned(), value, "{name}");

        // Members of the future, spaces, and names written with escapes change nothing.
        let first = members.keys().next().expect("a member");
        let escaped: String = first.chars().map(|char| format!("\\u{:04X}", u32::from(char))).collect();
        let rest = with(&members, first, |_| String::new());
        let odd = format!(
            " {{ \"x-future\" : [ {{}} ] ,\n\"{escaped}\" : {} {} {} ",
            members[first],
            if rest.len() > 2 { "," } else { "" },
            &rest[1..]
        );
        assert_eq!($ty::decode(raw(&odd)).as_ref(), Ok(&value), "{odd}");

        // Each revision has what it has.
        let expected: &[(&str, &str)] = &[$(($member, $revisions)),*];
        for (version, letter) in oldest_first().zip('A'..) {
            let written = value.to_json(version);
            let has = parsed(&written);
            for member in members.keys() {
                let revisions = expected.iter().find(|(name, _)| name == member);
                let expected = revisions.is_none_or(|(_, revisions)| revisions.contains(letter));
                assert_eq!(has.get(member).is_some(), expected, "{name}.{member} in {letter}");
            }
            assert!(has.as_object().expect("an object").len() <= members.len());
            if let Ok(again) = $ty::decode(written.raw()) {
                assert_eq!(again.to_json(version), written, "{name} in {letter}");
            } else {
                let hidden = expected.iter().any(|(_, revisions)| !revisions.contains(letter));
                assert!(hidden, "{name} in {letter}: {written}");
            }
        }
        for (member, _) in expected {
            assert!(members.contains_key(*member), "{name} has no {member}");
        }

        // What is wrong is named.
        let tags: &[&str] = &[$($tag)?];
        for member in members.keys().filter(|member| !tags.contains(&member.as_str())) {
            let twice = with(&members, member, |value| format!("{0:?}:{value},{0:?}:{value}", member));
            let error = $ty::decode(raw(&twice)).expect_err(&twice);
            assert_eq!((error.record, error.field), (name, member.as_str()), "{twice}");
            assert!(error.to_string().starts_with(&format!("{name}.{member}: expected ")));
            for replaced in ["", "null", "[[0]]", "{\"\":0}", "1.5"] {
                let text = with(&members, member, |_| match replaced {
                    "" => String::new(),
                    _ => format!("{member:?}:{replaced}"),
                });
                match $ty::decode(raw(&text)) {
                    Ok(value) => assert_eq!($ty::decode(whole(&value).raw()), Ok(value), "{text}"),
                    // Or of what is inside.
                    Err(error) if error.record == name => assert_eq!(error.field, member, "{text}"),
                    Err(error) => assert!(!error.field.is_empty() || !error.record.is_empty()),
                }
            }
        }
        for wrong in ["[]", "null", "0", "\"\""] {
            let error = $ty::decode(raw(wrong)).expect_err(wrong);
            assert_eq!((error.record, error.field), (name, ""), "{wrong}");
        }

        #[cfg(feature = "serde")]
        {
            let text = serde_json::to_string(&value).expect("it is JSON");
            assert_eq!(serde_json::from_str::<$ty<'static>>(&text).expect(&text), value);
            let tree = serde_json::to_value(&value).expect("it is JSON");
            assert_eq!(tree, Value::Object(members.clone()));
            assert_eq!(serde_json::from_value::<$ty<'static>>(tree).expect(&text), value);
        }
    })*};
}

const ICON: &str =
    r#"{"src":"https://x/i.png","mimeType":"image/png","sizes":["48x48","any"],"theme":"dark"}"#;
const ANNOTATIONS: &str =
    r#"{"audience":["user","narrator"],"priority":0.5,"lastModified":"2025-01-12T15:00:58Z"}"#;

/// TYP-03, META-17.
#[test]
fn co_03_co_04_what_is_offered() {
    let icons = &format!("[{ICON}]");
    check! {
        Icon: ICON, [];
        Annotations: ANNOTATIONS, ["lastModified" "CDE"];
        Implementation: &format!(r#"{{"name":"n","title":"N","version":"1","description":"d","icons":{icons},"websiteUrl":"https://x"}}"#),
            ["title" "CDE", "description" "DE", "icons" "DE", "websiteUrl" "DE"];
        Tool: &format!(r#"{{"name":"t","title":"T","description":"d\u0000\"","inputSchema":{{"type":"object"}},
            "outputSchema":{{"type":"object"}},"annotations":{{"readOnlyHint":true}},"execution":{{"taskSupport":"optional"}},
            "icons":{icons},"_meta":{{"k":null}}}}"#),
            ["title" "CDE", "outputSchema" "CDE", "annotations" "BCDE", "execution" "D", "icons" "DE", "_meta" "CDE"];
        ToolAnnotations: r#"{"title":"T","readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}"#, [];
        ToolExecution: r#"{"taskSupport":"required"}"#, [];
        Resource: &format!(r#"{{"uri":"file:///a","name":"a","title":"A","description":"d","mimeType":"text/plain",
            "annotations":{ANNOTATIONS},"size":18446744073709551615,"icons":{icons},"_meta":{{}}}}"#),
            ["title" "CDE", "icons" "DE", "_meta" "CDE"];
        ResourceTemplate: &format!(r#"{{"uriTemplate":"file:///{{+a}}","name":"a","title":"A","description":"d","mimeType":"text/plain",
            "annotations":{ANNOTATIONS},"icons":{icons},"_meta":{{}}}}"#),
            ["title" "CDE", "icons" "DE", "_meta" "CDE"];
        Prompt: &format!(r#"{{"name":"p","title":"P","description":"d","arguments":[{{"name":"a"}}],"icons":{icons},"_meta":{{}}}}"#),
            ["title" "CDE", "icons" "DE", "_meta" "CDE"];
        PromptArgument: r#"{"name":"a","title":"A","description":"d","required":true}"#, ["title" "CDE"];
        ServerCapabilities: r#"{"tools":{"listChanged":true},"resources":{"subscribe":true,"listChanged":true},"prompts":{},
            "completions":{},"logging":{},"tasks":{"list":{},"requests":{"tools":{"call":{}}}},
            "extensions":{"io.modelcontextprotocol/ui":{}},"experimental":{"x":{"y":1}}}"#,
            ["completions" "BCDE", "tasks" "D", "extensions" "E"];
        Root: r#"{"uri":"file:///","name":"r","_meta":{}}"#, ["_meta" "CDE"];
    }
}

/// TYP-06, PMT-04, META-17.
#[test]
fn co_02_what_is_said() {
    check! {
        TextContent tag "type": &format!(r#"{{"type":"text","text":"a\nb","annotations":{ANNOTATIONS},"_meta":{{}}}}"#), ["_meta" "CDE"];
        ImageContent tag "type": &format!(r#"{{"type":"image","data":"AA==","mimeType":"image/png","annotations":{ANNOTATIONS},"_meta":{{}}}}"#), ["_meta" "CDE"];
        AudioContent tag "type": &format!(r#"{{"type":"audio","data":"AA==","mimeType":"audio/wav","annotations":{ANNOTATIONS},"_meta":{{}}}}"#), ["_meta" "CDE"];
        EmbeddedResource tag "type": &format!(r#"{{"type":"resource","resource":{{"uri":"x:y","text":""}},"annotations":{ANNOTATIONS},"_meta":{{}}}}"#), ["_meta" "CDE"];
        ToolUseContent tag "type": r#"{"type":"tool_use","id":"1","name":"t","input":{"a":1},"_meta":{}}"#, [];
        ToolResultContent tag "type": r#"{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"x"}],
            "structuredContent":{},"isError":true,"_meta":{}}"#, ["structuredContent" "CDE"];
        TextResourceContents: r#"{"uri":"x:y","mimeType":"text/plain","text":"t","_meta":{}}"#, ["_meta" "CDE"];
        BlobResourceContents: r#"{"uri":"x:y","mimeType":"text/plain","blob":"AA==","_meta":{}}"#, ["_meta" "CDE"];
        PromptMessage: r#"{"role":"assistant","content":{"type":"text","text":"x"}}"#, [];
        LoggingMessage: r#"{"level":"critical","logger":"l","data":{"a":[null]},"_meta":{}}"#, [];
        SamplingMessage: r#"{"role":"user","content":[{"type":"text","text":"x"},{"type":"text","text":"y"}],"_meta":{}}"#, ["_meta" "DE"];
        Progress: r#"{"progress":0.5,"total":2.5,"message":"m"}"#, ["message" "BCDE"];
        ProgressParams: r#"{"progressToken":"t","progress":0.5,"total":2.5,"message":"m","_meta":{}}"#, ["message" "BCDE"];
        CancelledParams: r#"{"requestId":7,"reason":"r","_meta":{}}"#, [];
    }
}

/// SMP-02, ELI-05, ELI-06, META-17.
#[test]
fn what_is_asked() {
    check! {
        InitializeRequestParams: r#"{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"},"_meta":{}}"#, [];
        PaginatedRequestParams: r#"{"cursor":"","_meta":{}}"#, [];
        EmptyParams: r#"{"_meta":{}}"#, [];
        CallToolRequestParams: r#"{"name":"t","arguments":{"a":[1,2.0]},"inputResponses":{"1":{"action":"accept"}},"requestState":"s",
            "task":{"ttl":60000},"_meta":{"progressToken":1}}"#, ["inputResponses" "E", "requestState" "E", "task" "D"];
        ReadResourceRequestParams: r#"{"uri":"x:y","inputResponses":{},"requestState":"s","_meta":{}}"#, ["inputResponses" "E", "requestState" "E"];
        GetPromptRequestParams: r#"{"name":"p","arguments":{"a":"b"},"inputResponses":{},"requestState":"s","_meta":{}}"#,
            ["inputResponses" "E", "requestState" "E"];
        SubscribeRequestParams: r#"{"uri":"x:y","_meta":{}}"#, [];
        UnsubscribeRequestParams: r#"{"uri":"x:y","_meta":{}}"#, [];
        ResourceUpdatedParams: r#"{"uri":"x:y","_meta":{}}"#, [];
        SetLevelRequestParams: r#"{"level":"debug","_meta":{}}"#, [];
        CompleteRequestParams: r#"{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""},"context":{"arguments":{"b":"c"}},"_meta":{}}"#,
            ["context" "CDE"];
        PromptReference tag "type": r#"{"type":"ref/prompt","name":"p","title":"P"}"#, ["title" "CDE"];
        ResourceTemplateReference tag "type": r#"{"type":"ref/resource","uri":"x:{y}"}"#, [];
        CompletionArgument: r#"{"name":"a","value":"b"}"#, [];
        CompletionContext: r#"{"arguments":{"a":"b"}}"#, [];
        SubscriptionFilter: r#"{"toolsListChanged":true,"promptsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["x:y"]}"#, [];
        SubscriptionsListenRequestParams: r#"{"notifications":{},"_meta":{}}"#, [];
        SubscriptionsAcknowledgedParams: r#"{"notifications":{"toolsListChanged":true},"_meta":{}}"#, [];
        CreateMessageRequestParams: r#"{"messages":[{"role":"user","content":{"type":"text","text":"x"}}],"modelPreferences":{"hints":[{"name":"m"}]},
            "systemPrompt":"s","includeContext":"thisServer","temperature":0.5,"maxTokens":100,"stopSequences":["."],"metadata":{"a":1},
            "tools":[{"name":"t","inputSchema":{"type":"object"}}],"toolChoice":{"mode":"required"},"task":{},"_meta":{}}"#,
            ["tools" "DE", "toolChoice" "DE", "task" "D", "_meta" "ABCD"];
        ModelPreferences: r#"{"hints":[{"name":"m"}],"costPriority":0.1,"speedPriority":0.25,"intelligencePriority":0.5}"#, [];
        ModelHint: r#"{"name":"m"}"#, [];
        ToolChoice: r#"{"mode":"none"}"#, [];
        ElicitRequestFormParams: r#"{"message":"m","requestedSchema":{"type":"object","properties":{"a":{"type":"boolean"}}},"task":{},"_meta":{}}"#,
            ["task" "D", "_meta" "ABCD"];
        ElicitRequestUrlParams tag "mode": r#"{"mode":"url","message":"m","url":"https://x","elicitationId":"e","task":{},"_meta":{}}"#,
            ["elicitationId" "D", "task" "D", "_meta" "ABCD"];
        RequestedSchema tag "type": r#"{"type":"object","$schema":"s","properties":{"a":{"type":"string"}},"required":["a"]}"#, ["$schema" "DE"];
        StringSchema tag "type": r#"{"type":"string","title":"T","description":"d","minLength":1,"maxLength":2,"format":"date-time","default":"x"}"#, ["default" "DE"];
        NumberSchema: r#"{"type":"integer","title":"T","description":"d","minimum":1.5,"maximum":2.5,"default":2.25}"#, ["default" "DE"];
        BooleanSchema tag "type": r#"{"type":"boolean","title":"T","description":"d","default":false}"#, [];
        ElicitationCompleteParams: r#"{"elicitationId":"e","_meta":{}}"#, [];
        TaskRequestParams: r#"{"taskId":"t","_meta":{}}"#, [];
    }
}

const TASK: &str = r#"{"taskId":"t","status":"working","statusMessage":"m","createdAt":"c","lastUpdatedAt":"l","ttl":null,"pollInterval":5}"#;

/// SMP-03, META-17.
#[test]
fn what_is_answered() {
    let cache = r#""ttlMs":5000,"cacheScope":"public","_meta":{}"#;
    let task = &format!(
        "{},\"_meta\":{{}}}}",
        TASK.strip_suffix('}').expect("an object")
    );
    check! {
        InitializeResult: r#"{"protocolVersion":"v","capabilities":{},"serverInfo":{"name":"s","version":"1"},"instructions":"i","_meta":{}}"#, [];
        DiscoverResult: &format!(r#"{{"supportedVersions":["v"],"capabilities":{{}},"instructions":"i",{cache}}}"#), ["ttlMs" "E", "cacheScope" "E"];
        ListToolsResult: r#"{"tools":[],"nextCursor":"","ttlMs":-1,"cacheScope":"private","_meta":{}}"#, ["ttlMs" "E", "cacheScope" "E"];
        ListResourcesResult: &format!(r#"{{"resources":[],"nextCursor":"c",{cache}}}"#), ["ttlMs" "E", "cacheScope" "E"];
        ListResourceTemplatesResult: &format!(r#"{{"resourceTemplates":[],"nextCursor":"c",{cache}}}"#), ["ttlMs" "E", "cacheScope" "E"];
        ListPromptsResult: &format!(r#"{{"prompts":[{{"name":"p"}}],"nextCursor":"c",{cache}}}"#), ["ttlMs" "E", "cacheScope" "E"];
        ReadResourceResult: &format!(r#"{{"contents":[{{"uri":"x:y","text":""}},{{"uri":"x:z","blob":""}}],{cache}}}"#), ["ttlMs" "E", "cacheScope" "E"];
        CallToolResult: r#"{"content":[{"type":"text","text":"x"}],"structuredContent":{"a":1},"isError":true,"_meta":{}}"#, ["structuredContent" "CDE"];
        GetPromptResult: r#"{"description":"d","messages":[{"role":"user","content":{"type":"text","text":"x"}}],"_meta":{}}"#, [];
        CompleteResult: r#"{"completion":{"values":["a"]},"_meta":{}}"#, [];
        Completion: r#"{"values":["a"],"total":2,"hasMore":false}"#, [];
        EmptyResult: r#"{"_meta":{}}"#, [];
        SubscriptionsListenResult: r#"{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}"#, [];
        InputRequiredResult: r#"{"inputRequests":{"1":{"method":"roots/list"}},"requestState":"s","_meta":{}}"#, [];
        CreateMessageResult: r#"{"role":"assistant","content":{"type":"text","text":"x"},"model":"m","stopReason":"endTurn","_meta":{}}"#, [];
        ListRootsResult: r#"{"roots":[{"uri":"file:///"}],"_meta":{}}"#, ["_meta" "ABCD"];
        ElicitResult: r#"{"action":"accept","content":{"a":"b","c":[1]},"_meta":{}}"#, ["_meta" "ABCD"];
        Task: task, [];
        CreateTaskResult: &format!(r#"{{"task":{TASK},"_meta":{{}}}}"#), [];
        ListTasksResult: &format!(r#"{{"tasks":[{TASK}],"nextCursor":"c","_meta":{{}}}}"#), [];
    }
}

/// RES-02, RES-03, RES-04, MRTR-02.
#[test]
fn a_result_is_told_by_its_type() {
    use ProtocolVersion::{V2025_11_25, V2026_07_28};
    let call = |version, text| RequestOutcome::<CallTool>::decode(version, raw(text));
    let complete = |outcome| matches!(outcome, Ok(RequestOutcome::Complete(_)));
    assert!(complete(call(V2026_07_28, r#"{"content":[]}"#)));
    assert!(complete(call(
        V2026_07_28,
        r#"{"resultType":null,"content":[]}"#
    )));
    assert!(complete(call(
        V2026_07_28,
        r#"{"resultType":"complete","content":[]}"#
    )));
    assert!(complete(call(
        V2025_11_25,
        r#"{"resultType":"task","content":[]}"#
    )));
    let asked = r#"{"resultType":"input_required","requestState":"s"}"#;
    let outcome = call(V2026_07_28, asked).expect(asked);
    assert!(
        matches!(outcome, RequestOutcome::InputRequired(result) if result.request_state.as_deref() == Some("s"))
    );
    for wrong in [
        r#"{"resultType":"task","content":[]}"#,
        r#"{"resultType":"","content":[]}"#,
        r#"{"resultType":1,"content":[]}"#,
        r#"{"resultType":"complete","resultType":"complete","content":[]}"#,
    ] {
        let error = call(V2026_07_28, wrong).expect_err(wrong);
        assert_eq!((error.record, error.field), ("Result", "resultType"));
    }
    let list = RequestOutcome::<ListTools>::decode(V2026_07_28, raw(asked));
    assert_eq!(list.expect_err("not of lists").field, "resultType");
}
