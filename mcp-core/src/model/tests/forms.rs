//! What is read or written differently from one revision to the next, or told by its members.

use alloc::string::ToString;

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{oldest_first, raw};
use crate::json::Json;
use crate::model::codec::{Target, Write};
use crate::model::*;

use ProtocolVersion::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

fn at(value: &impl Encode, version: ProtocolVersion) -> Value {
    let json = value.to_json(version);
    serde_json::from_str(json.as_str()).expect("the writer writes JSON")
}

/// TYP-05, TYP-08.
#[test]
fn co_01_blocks_that_a_revision_does_not_have_are_told_in_text() {
    let link = r#"{"type":"resource_link","uri":"x:y","name":"n"}"#;
    let call = r#"{"type":"tool_use","id":"1","name":"t","input":{}}"#;
    let result = r#"{"type":"tool_result","toolUseId":"1","content":[{"type":"text","text":"r"}]}"#;
    let audio = r#"{"type":"audio","data":"","mimeType":"a/b"}"#;
    for (text, since, told) in [
        (link, V2025_06_18, "x:y"),
        (call, V2025_11_25, "t"),
        (result, V2025_11_25, "r"),
        (audio, V2025_03_26, "audio"),
        (r#"{"type":"text","text":""}"#, V2024_11_05, ""),
        (r#"{"type":"hologram","x":[1.0]}"#, V2024_11_05, ""),
    ] {
        let block = ContentBlock::decode(raw(text)).expect(text);
        for version in oldest_first() {
            let written = at(&block, version);
            if version >= since {
                assert_eq!(written, serde_json::from_str::<Value>(text).expect(text));
            } else {
                assert_eq!(written["type"], "text");
                let text = written["text"].as_str().expect("a text block");
                assert!(text.contains(told), "{text}");
            }
        }
    }
    for wrong in [
        "{}",
        "[]",
        r#"{"type":1}"#,
        r#"{"type":"text","type":"text","text":""}"#,
    ] {
        let error = ContentBlock::decode(raw(wrong)).expect_err(wrong);
        assert_eq!(error.record, "ContentBlock");
    }
    let error = ContentBlock::decode(raw(r#"{"type":"image","data":""}"#)).expect_err("no type");
    assert_eq!(
        error.to_string(),
        "ImageContent.mimeType: expected a string"
    );
}

/// SMP-13: an array of blocks is of 2025-11-25 and later.
#[test]
fn conversations_of_several_blocks_are_split_for_older_revisions() {
    let one = json!({"type": "text", "text": "1"});
    let two = json!({"type": "text", "text": "2"});
    let blocks = [ContentBlock::text("1"), ContentBlock::text("2")];
    let message = SamplingMessage::new(Role::User, &blocks);
    let request = CreateMessageRequestParams::new([message], 10);
    let answer = CreateMessageResult::new(Role::Assistant, &blocks, "m");
    for version in oldest_first() {
        let messages = &at(&request, version)["messages"];
        let content = &at(&answer, version)["content"];
        if version >= V2025_11_25 {
            assert_eq!(*messages, json!([{"role": "user", "content": [one, two]}]));
            assert_eq!(*content, json!([one, two]));
        } else {
            let split = json!([{"role": "user", "content": one}, {"role": "user", "content": two}]);
            assert_eq!(*messages, split);
            assert_eq!(*content, one);
        }
    }
    let single = SamplingMessage::new(Role::User, ContentBlock::text("1"));
    assert_eq!(at(&single, V2026_07_28)["content"], one);
    let none = SamplingMessage::new(Role::User, List::EMPTY);
    assert_eq!(at(&none, V2024_11_05)["content"]["type"], "text");
}

/// ELI-09.
#[test]
fn forms_know_what_they_hold_at_first() {
    let form = raw(r#"{"type": "object", "properties": {
        "name": {"type": "string", "default": "Jo\n"},
        "none": {"type": "string"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "sure": {"type": "boolean", "default": false},
        "one": {"type": "string", "enum": ["a", "b"], "default": "b"},
        "many": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "default": ["a", "b"]},
        "empty": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "default": []},
        "odd": {"type": "tree", "default": {"root": 1}},
        "odder": true
    }}"#);
    let form = RequestedSchema::decode(form).expect("a form");
    let defaults: Value = serde_json::from_str(form.defaults().as_str()).expect("JSON");
    assert_eq!(
        defaults,
        json!({
            "name": "Jo\n", "age": 30, "score": 95.5, "sure": false, "one": "b", "many": ["a", "b"], "empty": [],
            "odd": {"root": 1}
        })
    );
}

/// ELI-07, ELI-08, TYP-13.
#[test]
fn choices_have_a_form_for_each_revision() {
    let titled = [EnumOption::titled("a", "A"), EnumOption::titled("b", "B")];
    let plain = [EnumOption::new("a"), EnumOption::new("b")];
    let consts = json!([{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]);
    let mut several = EnumSchema::new(&titled);
    several.several = Some(Several::default());
    several.default = Some([("a").into()].into());
    let mut many = EnumSchema::new(&plain);
    many.several = Some(Several {
        min_items: Some(1),
        max_items: Some(2),
    });
    for (schema, old, new) in [
        (
            EnumSchema::new(&plain),
            json!({"type": "string", "enum": ["a", "b"]}),
            json!({"type": "string", "enum": ["a", "b"]}),
        ),
        (
            EnumSchema::new(&titled),
            json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]}),
            json!({"type": "string", "oneOf": consts}),
        ),
        (
            several,
            json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]}),
            json!({"type": "array", "items": {"anyOf": consts}, "default": ["a"]}),
        ),
        (
            many,
            json!({"type": "string", "enum": ["a", "b"]}),
            json!({"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string", "enum": ["a", "b"]}}),
        ),
    ] {
        let schema = PrimitiveSchema::Enum(schema);
        assert_eq!(at(&schema, V2025_06_18), old);
        assert_eq!(at(&schema, V2025_11_25), new);
        assert_eq!(at(&schema, V2026_07_28), new);
        for version in [V2025_11_25, V2026_07_28] {
            let written = schema.to_json(version);
            assert_eq!(PrimitiveSchema::decode(written.raw()).as_ref(), Ok(&schema));
        }
    }
    // Names beside the values stay there, in revisions with a better form too; only a choice of one has them.
    let beside = json!({"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"]});
    let mut old = EnumSchema::new(&titled);
    old.enum_names = true;
    for version in [V2025_06_18, V2025_11_25, V2026_07_28] {
        let written = PrimitiveSchema::Enum(old.clone()).to_json(version);
        assert_eq!(at(&PrimitiveSchema::Enum(old.clone()), version), beside);
        let read = PrimitiveSchema::decode(written.raw());
        assert_eq!(read, Ok(PrimitiveSchema::Enum(old.clone())));
    }
    old.several = Some(Several::default());
    assert_eq!(
        at(&PrimitiveSchema::Enum(old), V2025_11_25),
        json!({"type": "array", "items": {"anyOf": consts}})
    );
    // A draft's `oneOf` of a choice of several, and names that are not one for each value.
    let decode = |text| PrimitiveSchema::decode(raw(text)).expect(text);
    let draft = decode(r#"{"type":"array","items":{"oneOf":[{"const":"a","title":"A"}]}}"#);
    assert!(matches!(draft, PrimitiveSchema::Enum(choice) if choice.options[0] == titled[0]));
    let odd = decode(r#"{"type":"string","enum":["a","b"],"enumNames":["A"]}"#);
    assert!(matches!(odd, PrimitiveSchema::Enum(choice) if choice.options[..] == plain));
    for unknown in [
        "{}",
        "true",
        r#"{"type":"array"}"#,
        r#"{"type":["string"]}"#,
        r#"{"type":"null"}"#,
    ] {
        assert_eq!(
            decode(unknown),
            PrimitiveSchema::Unknown(raw(unknown).into())
        );
    }
    for wrong in [
        r#"{"type":"string","enum":[1]}"#,
        r#"{"type":"array","items":{}}"#,
    ] {
        let error = PrimitiveSchema::decode(raw(wrong)).expect_err(wrong);
        assert_eq!((error.record, error.field), ("EnumSchema", "enum"));
    }
}

/// ELI-03, MRTR-04.
#[test]
fn input_is_asked_for_by_its_method() {
    let form = r#"{"method":"elicitation/create","params":{"message":"m","requestedSchema":{"type":"object","properties":{}}}}"#;
    let url = r#"{"method":"elicitation/create","params":{"mode":"url","message":"m","url":"u"}}"#;
    let odd = r#"{"method":"elicitation/create","params":{"mode":"song"}}"#;
    let roots = r#"{"method":"roots/list"}"#;
    let other = r#"{"method":"x/y","params":[1.0]}"#;
    let sample = r#"{"method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}"#;
    for text in [form, url, odd, roots, other, sample] {
        let request = InputRequest::decode(raw(text)).expect(text);
        assert_eq!(
            at(&request, V2026_07_28),
            serde_json::from_str::<Value>(text).expect(text)
        );
        assert_eq!(request.clone().into_owned(), request);
        assert!(text.contains(request.method()));
    }
    let decode = |text| InputRequest::decode(raw(text)).expect(text);
    assert!(matches!(
        decode(form),
        InputRequest::Elicit(ElicitRequestParams::Form(_))
    ));
    let said = form.replace("\"message\"", "\"mode\":\"form\",\"message\"");
    assert_eq!(decode(&said), decode(form));
    assert!(matches!(
        decode(url),
        InputRequest::Elicit(ElicitRequestParams::Url(_))
    ));
    assert_eq!(
        decode(r#"{"method":"roots/list","params":{"_meta":{}}}"#),
        InputRequest::ListRoots
    );
    for wrong in [
        "{}",
        r#"{"method":"elicitation/create"}"#,
        r#"{"method":"roots/list","params":{},"params":{}}"#,
    ] {
        InputRequest::decode(raw(wrong)).expect_err(wrong);
    }
    let answer = |method: &str, text| InputResponse::of(method, raw(text));
    let accepted = answer(
        "elicitation/create",
        r#"{"action":"accept","content":{"a":1}}"#,
    );
    assert!(
        matches!(accepted, Ok(InputResponse::Elicit(result)) if result.action == ElicitAction::Accept)
    );
    assert!(matches!(
        answer("roots/list", r#"{"roots":[]}"#),
        Ok(InputResponse::Roots(_))
    ));
    answer("sampling/createMessage", r#"{"roots":[]}"#).expect_err("told by the method");
}

/// TOOL-13, and the same inside a conversation.
#[test]
fn sc_07_null_is_a_structured_result() {
    let decode = |text| CallToolResult::decode(raw(text)).expect(text);
    let null = decode(r#"{"content":[],"structuredContent":null}"#);
    assert_eq!(null.structured_content, Some(Json::NULL));
    assert_eq!(decode(r#"{"content":[]}"#).structured_content, None);
    assert_eq!(
        at(&null, V2026_07_28),
        json!({"content": [], "structuredContent": null})
    );
    assert_eq!(at(&null, V2025_11_25), json!({"content": []}));
    #[cfg(feature = "serde")]
    {
        let text = serde_json::to_string(&null).expect("it is JSON");
        assert_eq!(text, r#"{"content":[],"structuredContent":null}"#);
        assert_eq!(
            serde_json::from_str::<CallToolResult<'_>>(&text).expect(&text),
            null
        );
    }
}

/// What clients say they can do, by revision.
#[test]
fn client_capabilities_by_revision() {
    let all = ClientCapabilities::ROOTS_LIST_CHANGED
        | ClientCapabilities::SAMPLING_TOOLS
        | ClientCapabilities::SAMPLING_CONTEXT
        | ClientCapabilities::ELICITATION
        | ClientCapabilities::ELICITATION_URL;
    let mut all = ClientCapabilitiesObject::from(all);
    all.tasks = Some(raw(r#"{"list":{}}"#).into());
    all.extensions = Some(raw(r#"{"a/b":{}}"#).into());
    all.experimental = Some(raw(r#"{"c":{}}"#).into());
    let roots = json!({"listChanged": true});
    let sampling = json!({"tools": {}, "context": {}});
    let elicitation = json!({"form": {}, "url": {}});
    let a = json!({"roots": roots, "sampling": {}, "extensions": {"a/b": {}}, "experimental": {"c": {}}});
    let mut c = a.clone();
    c["elicitation"] = json!({});
    let d = json!({"roots": roots, "sampling": sampling, "elicitation": elicitation, "tasks": {"list": {}}, "extensions": {"a/b": {}}, "experimental": {"c": {}}});
    let e = json!({"roots": {}, "sampling": sampling, "elicitation": elicitation, "extensions": {"a/b": {}}, "experimental": {"c": {}}});
    for (version, expected) in oldest_first().zip([a.clone(), a, c, d, e]) {
        assert_eq!(at(&all, version), expected, "{version:?}");
    }
    let whole = Json::written(|json| all.write(Target::ANY, json));
    assert_eq!(ClientCapabilitiesObject::decode(whole.raw()), Ok(all));
    // ELI-02: only a page is no form.
    let url = ClientCapabilities::ELICITATION_URL;
    assert_eq!(at(&url, V2025_11_25), json!({"elicitation": {"url": {}}}));
    assert_eq!(at(&url, V2025_06_18), json!({}));
}

/// CAC-05, CAC-09.
#[test]
fn what_is_not_said_about_caching_is_taken_safely() {
    let hint = |text: &str| {
        let text = text.replace('{', r#"{"contents":[]"#);
        ReadResourceResult::decode(raw(&text)).expect(&text).cache()
    };
    assert_eq!(hint("{}"), None);
    let of = |ttl, scope| Some(CacheHint::new(ttl, scope));
    assert_eq!(
        hint(r#"{,"ttlMs":5,"cacheScope":"public"}"#),
        of(5, CacheScope::Public)
    );
    assert_eq!(
        hint(r#"{,"ttlMs":-5,"cacheScope":"public"}"#),
        of(0, CacheScope::Public)
    );
    assert_eq!(hint(r#"{,"ttlMs":5}"#), of(5, CacheScope::Private));
    assert_eq!(
        hint(r#"{,"ttlMs":5,"cacheScope":"world"}"#),
        of(5, CacheScope::Private)
    );
}

/// MRTR-05: as the names of questions are.
#[test]
fn maps_refuse_a_name_that_stands_there_twice() {
    let text = r#"{"name":"p","arguments":{"a":"1","\u0061":"2"}}"#;
    let error = GetPromptRequestParams::decode(raw(text)).expect_err(text);
    assert_eq!(
        (error.record, error.field),
        ("GetPromptRequestParams", "arguments")
    );
    let map: Map<'_, i64> = [("a", 1), ("b", 2), ("a", 3)].into_iter().collect();
    assert_eq!(
        map.iter().collect::<alloc::vec::Vec<_>>(),
        [("b", &2), ("a", &3)]
    );
}

/// Every method, its direction and its revisions.
#[test]
fn methods_belong_to_revisions_and_roles() {
    for method in Method::ALL {
        assert_eq!(Method::from_name(method.as_str()), Some(method));
        let notification = method.as_str().starts_with("notifications/");
        assert_eq!(method.kind() == MethodKind::Notification, notification);
        for version in oldest_first() {
            let sent = method.is_of_client(version) || method.is_of_server(version);
            assert!(!sent || method.is_in(version), "{method:?}");
            // Only the requests of a server are inside results in the modern era.
            let embedded = method.is_in(version) && !sent;
            let asks = matches!(
                method,
                Method::ElicitationCreate | Method::SamplingCreateMessage | Method::RootsList
            );
            assert_eq!(
                embedded,
                asks && version == V2026_07_28,
                "{method:?} {version:?}"
            );
        }
    }
    assert!(!Method::ElicitationCreate.is_in(V2025_03_26));
    assert!(!Method::Progress.is_of_client(V2026_07_28), "PRG-08");
    assert!(Method::Progress.is_of_client(V2025_11_25));
    assert!(!Method::Ping.is_in(V2026_07_28));
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        // `serde_json` reads others only nearly.
        (-1000_i32..1000).prop_map(|eighths| Value::from(f64::from(eighths) / 8.0)),
        "\\PC{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::btree_map("\\PC{0,4}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn block() -> impl Strategy<Value = ContentBlock<'static>> {
    let text = || "\\PC{0,12}";
    let leaf = prop_oneof![
        (text(), proptest::option::of(json_value())).prop_map(|(text, meta)| {
            let mut content = TextContent::new(text);
            content.meta = meta
                .filter(|meta| !meta.is_null())
                .map(|meta| Json::owned(meta.to_string()).expect("JSON"));
            ContentBlock::Text(content)
        }),
        (text(), text()).prop_map(|(data, kind)| ContentBlock::image(data, kind)),
        (text(), text()).prop_map(|(data, kind)| ContentBlock::audio(data, kind)),
        (text(), text(), any::<Option<u64>>()).prop_map(|(uri, name, size)| {
            let mut resource = Resource::new(uri, name);
            resource.size = size;
            ContentBlock::resource_link(resource)
        }),
        (text(), text()).prop_map(|(uri, text)| {
            ContentBlock::resource(ResourceContents::text(uri, text).of_type("a/b"))
        }),
        (text(), json_value()).prop_map(|(name, input)| {
            let input = Json::owned(input.to_string()).expect("JSON");
            ContentBlock::tool_use(ToolUseContent::new("1", name, input))
        }),
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        (proptest::collection::vec(inner, 0..3), any::<bool>()).prop_map(|(content, failed)| {
            let mut result = ToolResultContent::new("1", content);
            result.is_error = failed;
            ContentBlock::tool_result(result)
        })
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_again(
        blocks in proptest::collection::vec(block(), 0..4),
        structured in proptest::option::of(json_value()),
        failed in any::<bool>(),
    ) {
        let mut result = CallToolResult::new(blocks).failed(failed);
        result.structured_content =
            structured.map(|value| Json::owned(value.to_string()).expect("JSON"));
        let written = result.to_json(V2026_07_28);
        prop_assert_eq!(CallToolResult::decode(written.raw()), Ok(result.clone()));
        #[cfg(feature = "serde")]
        {
            let text = serde_json::to_string(&result).expect("it is JSON");
            let again: CallToolResult<'_> = serde_json::from_str(&text).expect("as before");
            prop_assert_eq!(serde_json::to_string(&again).expect("as before"), text);
        }
        for version in oldest_first() {
            let written = result.to_json(version);
            prop_assert!(CallToolResult::decode(written.raw()).is_ok());
        }
    }

    /// What anyone sends is read or refused, and what is read can be written.
    #[test]
    fn anything_can_be_tried(value in json_value()) {
        let text = value.to_string();
        let text = raw(&text);
        let _ = Tool::decode(text);
        let _ = InputRequest::decode(text);
        if let Ok(schema) = PrimitiveSchema::decode(text) {
            prop_assert!(PrimitiveSchema::decode(schema.to_json(V2026_07_28).raw()).is_ok());
        }
        if let Ok(capabilities) = ServerCapabilities::decode(text) {
            let written = Json::written(|json| capabilities.write(Target::ANY, json));
            prop_assert_eq!(ServerCapabilities::decode(written.raw()), Ok(capabilities));
        }
    }
}
