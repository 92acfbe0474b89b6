use crate::Cow;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::{
    Just, Strategy as _, prop, prop_assert, prop_assert_eq, prop_oneof, proptest,
};
use serde_json::{Value, json};

use super::{
    AnnotationFault, ArgumentFault, MAX_PARAM_HEADERS, ParamFault, ParamHeader, ParamKind,
    param_headers,
};
use crate::json::{MAX_DEPTH, RawJson};
use crate::model::header::ValueFault;

fn raw(text: &str) -> RawJson<'_> {
    RawJson::parse_with_depth(text.as_bytes(), MAX_DEPTH).expect("the test's JSON is valid")
}

fn headers(schema: &str) -> Result<Vec<ParamHeader>, AnnotationFault> {
    param_headers(raw(schema))
}

/// Of a schema with one annotation.
fn header(schema: &str) -> ParamHeader {
    let mut found = headers(schema).expect("the schema is valid");
    assert_eq!(found.len(), 1, "{schema}");
    found.remove(0)
}

fn fault(schema: &str) -> AnnotationFault {
    headers(schema).expect_err(schema)
}

/// The argument `a` of this type.
fn typed(kind: &str) -> String {
    format!(r#"{{"type":"object","properties":{{"a":{{"type":{kind},"x-mcp-header":"A"}}}}}}"#)
}

#[test]
fn annotations_are_found_with_their_ways() {
    let found = headers(
        r#"{"type":"object","required":["region"],"properties":{
            "region":{"type":"string","description":"x","x-mcp-header":"Region"},
            "query":{"type":"string"},
            "page":{"x-mcp-header":"Page-2.a|b~","type":"integer"},
            "options":{"type":"object","properties":{
                "deep":{"properties":{"dry":{"type":"boolean","x-mcp-header":"Method"}}}}}}}"#,
    )
    .expect("it is valid");
    let seen: Vec<_> = found
        .iter()
        .map(|header| {
            (
                header.name(),
                header.header_name(),
                header.path(),
                header.kind(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            (
                "Region",
                "Mcp-Param-Region",
                vec!["region"],
                ParamKind::String
            ),
            (
                "Page-2.a|b~",
                "Mcp-Param-Page-2.a|b~",
                vec!["page"],
                ParamKind::Integer
            ),
            (
                "Method",
                "Mcp-Param-Method",
                vec!["options", "deep", "dry"],
                ParamKind::Boolean
            ),
        ]
    );
}

/// XH-09.
#[test]
fn what_only_looks_like_an_annotation_is_none() {
    for schema in [
        "{}",
        "true",
        "[]",
        r#"{"properties":{"a":{"type":"string"}}}"#,
        r#"{"properties":{"x-mcp-header":{"type":"string"}}}"#,
        r#"{"properties":{"x-mcp-header":"A"}}"#,
        r#"{"$defs":{"x-mcp-header":{}},"patternProperties":{"x-mcp-header":{}}}"#,
        r#"{"required":["x-mcp-header"],"description":"x-mcp-header"}"#,
        r#"{"properties":{"a":{"default":{"x-mcp-header":"A"},"const":{"x-mcp-header":"A"},
            "enum":[{"x-mcp-header":"A"}],"examples":[{"x-mcp-header":"A"}]}}}"#,
        r#"{"default":{"properties":{"a":{"x-mcp-header":1}}},"x-other":{"x-mcp-header":1}}"#,
        r#"{"properties":{"a":{"type":"string","X-Mcp-Header":"A","x-mcp-header ":"A"}}}"#,
        r#"{"description":"x\\u002dmcp-header \u00e9"}"#,
    ] {
        assert!(headers(schema).expect(schema).is_empty(), "{schema}");
    }
}

#[test]
fn an_annotation_is_found_however_it_is_escaped() {
    for name in [
        "x\\u002dmcp-header",
        "\\u0078-mcp-header",
        "x-mcp-heade\\u0072",
    ] {
        let schema =
            format!(r#"{{"propertie\u0073":{{"a":{{"typ\u0065":"string","{name}":"\u0041"}}}}}}"#);
        assert_eq!(header(&schema).name(), "A");
        let schema = format!(r#"{{"items":{{"{name}":"A"}}}}"#);
        assert_eq!(fault(&schema), AnnotationFault::Misplaced);
    }
    // No other escape sequence stands for a character of the name.
    for byte in "x-mcp-header".bytes() {
        assert!(!b"\"\\/\x08\x0C\n\r\t".contains(&byte));
    }
}

/// XH-03, HM-03.
#[test]
fn hm_03_a_name_is_a_token() {
    let named = |name: &str| {
        let schema =
            format!(r#"{{"properties":{{"a":{{"type":"string","x-mcp-header":{name}}}}}}}"#);
        headers(&schema)
    };
    for name in ["\"Region\"", "\"!#$%&'*+-.^_`|~\"", "\"0\""] {
        assert!(named(name).is_ok(), "{name}");
    }
    for name in [
        "\"\"",
        "\"Bad Name\"",
        "\"X\\r\\nEvil: 1\"",
        "\"a:b\"",
        "\"a\\tb\"",
        "\"é\"",
        "\"a\\u0000\"",
        "\"\\u007f\"",
        "\"a(b)\"",
        "\"a/b\"",
        "\"a,b\"",
        "1",
        "null",
        "true",
        "[\"A\"]",
        "{}",
    ] {
        assert_eq!(named(name).err(), Some(AnnotationFault::Name), "{name}");
    }
}

/// XH-04, HM-03.
#[test]
fn hm_03_names_are_unique_but_for_case() {
    assert_eq!(
        fault(
            r#"{"properties":{"a":{"type":"string","x-mcp-header":"region"},
                "b":{"properties":{"c":{"type":"string","x-mcp-header":"REGION"}}}}}"#
        ),
        AnnotationFault::Repeated
    );
    assert_eq!(
        fault(r#"{"properties":{"a":{"type":"string","x-mcp-header":"A","x-mcp-header":"B"}}}"#),
        AnnotationFault::Repeated
    );
}

/// XH-05, XH-09, HM-04.
#[test]
fn hm_04_types_are_those_that_have_a_text() {
    for (kind, expected) in [
        (r#""string""#, ParamKind::String),
        (r#""integer""#, ParamKind::Integer),
        (r#""boolean""#, ParamKind::Boolean),
        (r#"["string"]"#, ParamKind::String),
        (r#"["string","null"]"#, ParamKind::String),
        (r#"["null","integer"]"#, ParamKind::Integer),
        (r#"["boolean","null"]"#, ParamKind::Boolean),
    ] {
        assert_eq!(header(&typed(kind)).kind(), expected, "{kind}");
    }
    for kind in [
        r#""number""#,
        r#""array""#,
        r#""object""#,
        r#""null""#,
        r#""String""#,
        r#"["null"]"#,
        "[]",
        r#"["string","integer"]"#,
        r#"["string","number"]"#,
        r#"["string",1]"#,
        "null",
        "{}",
    ] {
        assert_eq!(fault(&typed(kind)), AnnotationFault::Type, "{kind}");
    }
    assert_eq!(
        fault(r#"{"properties":{"a":{"x-mcp-header":"A"}}}"#),
        AnnotationFault::Type
    );
}

/// XH-06, HM-04.
#[test]
fn hm_04_an_annotation_elsewhere_is_misplaced() {
    let annotated = r#"{"type":"string","x-mcp-header":"A"}"#;
    let object = format!(r#"{{"properties":{{"a":{annotated}}}}}"#);
    for schema in [annotated, &object] {
        let mut around = Vec::new();
        for keyword in [
            "items",
            "additionalItems",
            "contains",
            "unevaluatedItems",
            "additionalProperties",
            "unevaluatedProperties",
            "propertyNames",
            "not",
            "if",
            "then",
            "else",
            "contentSchema",
        ] {
            around.push(format!(r#"{{"{keyword}":{schema}}}"#));
        }
        for keyword in ["oneOf", "anyOf", "allOf", "prefixItems", "items"] {
            around.push(format!(r#"{{"{keyword}":[true,{{}},{schema}]}}"#));
        }
        for keyword in [
            "$defs",
            "definitions",
            "patternProperties",
            "dependentSchemas",
            "dependencies",
        ] {
            around.push(format!(r#"{{"{keyword}":{{"x":["y"],"z":{schema}}}}}"#));
        }
        for schema in around {
            let nested = format!(r#"{{"properties":{{"p":{schema}}}}}"#);
            let buried = format!(r#"{{"items":{{"oneOf":[{nested}]}}}}"#);
            for schema in [schema, nested, buried] {
                assert_eq!(fault(&schema), AnnotationFault::Misplaced, "{schema}");
            }
        }
    }
    assert_eq!(fault(annotated), AnnotationFault::Misplaced);
    assert_eq!(
        fault(&format!(
            r##"{{"$ref":"#/$defs/a","$defs":{{"a":{object}}}}}"##
        )),
        AnnotationFault::Misplaced
    );
}

#[test]
fn there_are_not_more_than_a_request_can_hold() {
    let many = |count: usize| {
        let members: Vec<_> = (0..count)
            .map(|n| format!(r#""p{n}":{{"type":"string","x-mcp-header":"H{n}"}}"#))
            .collect();
        headers(&format!(r#"{{"properties":{{{}}}}}"#, members.join(",")))
    };
    assert_eq!(many(MAX_PARAM_HEADERS).map(|found| found.len()), Ok(64));
    assert_eq!(
        many(MAX_PARAM_HEADERS + 1).err(),
        Some(AnnotationFault::TooMany)
    );
}

/// The deepest there can be, and what walks it does not recurse; the way back does, once for two levels.
#[test]
fn a_schema_as_deep_as_can_be_is_walked() {
    let levels = MAX_DEPTH / 2 - 1;
    let schema = format!(
        r#"{}{{"type":"integer","x-mcp-header":"A"}}{}"#,
        r#"{"properties":{"p":"#.repeat(levels),
        "}}".repeat(levels)
    );
    let header = header(&schema);
    assert_eq!(header.path().len(), levels);
    let arguments = format!("{}7{}", r#"{"p":"#.repeat(levels), "}".repeat(levels));
    assert_eq!(
        header.header_value(Some(raw(&arguments))),
        Ok(Some(Cow::Borrowed("7")))
    );
    let schema = format!(
        r#"{}{{"x-mcp-header":"A"}}{}"#,
        r#"{"items":"#.repeat(MAX_DEPTH - 1),
        "}".repeat(MAX_DEPTH - 1)
    );
    assert_eq!(fault(&schema), AnnotationFault::Misplaced);
}

/// A way of 100 long names and 60 arguments at its end: were each to keep its own, this would be 60 times the schema.
#[test]
fn arguments_of_one_object_share_their_way() {
    let names: String = (0..60)
        .map(|n| format!(r#","q{n}":{{"type":"string","x-mcp-header":"H{n}"}}"#))
        .collect();
    let step = format!(r#"{{"properties":{{"{}":"#, "n".repeat(1000));
    let schema = format!(
        r#"{}{{"properties":{{"q":{{}}{names}}}}}{}"#,
        step.repeat(100),
        "}}".repeat(100)
    );
    let found = headers(&schema).expect("it is valid");
    let within = |header: &ParamHeader| header.path.within.clone().expect("it is nested");
    let first = within(&found[0]);
    assert_eq!(found.len(), 60);
    assert!(
        found
            .iter()
            .all(|header| alloc::sync::Arc::ptr_eq(&first, &within(header)))
    );
}

#[test]
fn hm_04_a_client_mirrors_what_is_there() {
    let value = |kind: &str, argument: &str| {
        let arguments = format!(r#"{{"b":1,"a":{argument}}}"#);
        let header = header(&typed(kind));
        header
            .header_value(Some(raw(&arguments)))
            .map(|value| value.map(Cow::into_owned))
    };
    for (kind, argument, expected) in [
        (r#""string""#, r#""us-west1""#, "us-west1"),
        (r#""string""#, r#""""#, ""),
        (r#""string""#, r#"" x""#, "=?base64?IHg=?="),
        (r#""string""#, r#""\u0020x""#, "=?base64?IHg=?="),
        (r#""string""#, r#""a\"b\u0041""#, "a\"bA"),
        (r#""string""#, r#""日本語""#, "=?base64?5pel5pys6Kqe?="),
        (
            r#""string""#,
            r#""=?base64?literal?=""#,
            "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
        ),
        (r#""string""#, r#""\ud83e\udd80""#, "=?base64?8J+mgA==?="),
        (r#""integer""#, "42", "42"),
        (r#""integer""#, "-7", "-7"),
        (r#""integer""#, "42.0", "42"),
        (r#""integer""#, "1e3", "1000"),
        (r#""integer""#, "-0", "0"),
        (r#""integer""#, "9007199254740991", "9007199254740991"),
        (r#""integer""#, "-9007199254740991", "-9007199254740991"),
        (r#""boolean""#, "true", "true"),
        (r#""boolean""#, "false", "false"),
    ] {
        assert_eq!(
            value(kind, argument),
            Ok(Some(expected.into())),
            "{argument}"
        );
    }
    for (kind, argument, fault) in [
        (r#""string""#, "42", ArgumentFault::Type),
        (r#""string""#, "{}", ArgumentFault::Type),
        (r#""string""#, r#""\ud800""#, ArgumentFault::Unicode),
        (r#""integer""#, r#""42""#, ArgumentFault::Type),
        (r#""integer""#, "42.5", ArgumentFault::Type),
        (r#""integer""#, "true", ArgumentFault::Type),
        (r#""integer""#, "9007199254740992", ArgumentFault::Range),
        (r#""integer""#, "-9007199254740992", ArgumentFault::Range),
        (r#""integer""#, "18446744073709551616", ArgumentFault::Range),
        (r#""integer""#, "1e999", ArgumentFault::Range),
        (r#""boolean""#, "1", ArgumentFault::Type),
        (r#""boolean""#, r#""true""#, ArgumentFault::Type),
        (r#""boolean""#, "[true]", ArgumentFault::Type),
        (r#""string""#, r#""x","a":"y""#, ArgumentFault::Repeated),
        (
            r#""string""#,
            r#""x","\u0061":"y""#,
            ArgumentFault::Repeated,
        ),
    ] {
        assert_eq!(value(kind, argument), Err(fault), "{argument}");
    }
}

/// XH-10, XH-12: for the client no header, for the server none expected and none trusted (XH-17).
#[test]
fn hm_04_without_an_argument_there_is_no_header() {
    let header = header(
        r#"{"properties":{"o":{"properties":{"a":{"type":["string","null"],"x-mcp-header":"A"}}}}}"#,
    );
    for arguments in [
        None,
        Some("{}"),
        Some(r#"{"a":"x"}"#),
        Some(r#"{"o":{}}"#),
        Some(r#"{"o":{"b":1,"A":"x"}}"#),
        Some(r#"{"o":{"a":null}}"#),
        Some(r#"{"o":null}"#),
        Some(r#"{"o":"a"}"#),
        Some(r#"{"o":[{"a":"x"}]}"#),
        Some("[]"),
        Some("null"),
    ] {
        let raw = arguments.map(raw);
        assert_eq!(header.header_value(raw), Ok(None), "{arguments:?}");
        assert_eq!(header.agrees(raw, None), Ok(()), "{arguments:?}");
        for said in [&b""[..], b"null", b"x", b"\xFF"] {
            let agrees = header.agrees(raw, Some(said));
            assert_eq!(agrees, Err(ParamFault::Unexpected), "{arguments:?}");
        }
    }
    let twice = Some(raw(r#"{"o":{"a":"x"},"o":{}}"#));
    assert_eq!(
        header.agrees(twice, Some(b"x")),
        Err(ParamFault::Argument(ArgumentFault::Repeated))
    );
}

#[test]
fn a_server_compares_what_is_said() {
    let agrees = |argument: &str, said: &str| {
        let arguments = format!(r#"{{"a":{argument}}}"#);
        header(&typed(r#""string""#)).agrees(Some(raw(&arguments)), Some(said.as_bytes()))
    };
    for (argument, said) in [
        (r#""us-west1""#, "us-west1"),
        (r#""us-west1""#, " us-west1\t"),
        (r#""us-west1""#, "=?base64?dXMtd2VzdDE=?="),
        (r#""caf\u00e9""#, "=?base64?Y2Fmw6k=?="),
        (r#""""#, ""),
        (r#""a\tb""#, "a\tb"),
        (r#""42""#, "42"),
        ("42", "42"),
        ("42", "42.0"),
        ("42.0", "42"),
        ("4.2e1", "=?base64?NDI=?="),
        ("-7", "-7"),
        ("true", "true"),
        ("false", "false"),
    ] {
        assert_eq!(agrees(argument, said), Ok(()), "{argument} {said}");
    }
    for (argument, said) in [
        (r#""us-west1""#, "US-west1"),
        (r#""us-west1""#, "\"us-west1\""),
        (r#""a""#, ""),
        (r#""42""#, "42.0"),
        ("42", "43"),
        ("42", "\"42\""),
        ("42", "42x"),
        ("42", "+42"),
        ("42", "042"),
        ("42", "0x2A"),
        ("42", "42.5"),
        ("42", ""),
        ("true", "True"),
        ("true", "1"),
        ("true", "false"),
    ] {
        assert_eq!(
            agrees(argument, said),
            Err(ParamFault::Mismatch),
            "{argument} {said}"
        );
    }
    for (argument, said, fault) in [
        (
            r#""Hello""#,
            "=?base64?SGVsbG8?=",
            ParamFault::Value(ValueFault::Base64),
        ),
        (r#""é""#, "é", ParamFault::Value(ValueFault::Character)),
        ("[1]", "[1]", ParamFault::Argument(ArgumentFault::Type)),
        ("{}", "{}", ParamFault::Argument(ArgumentFault::Type)),
        ("1.5", "1.5", ParamFault::Argument(ArgumentFault::Type)),
        (
            "9007199254740992",
            "9007199254740992",
            ParamFault::Argument(ArgumentFault::Range),
        ),
        (
            r#""\ud800""#,
            "=?base64?77+9?=",
            ParamFault::Argument(ArgumentFault::Unicode),
        ),
    ] {
        assert_eq!(agrees(argument, said), Err(fault), "{argument} {said}");
    }
    let missing = header(&typed(r#""string""#)).agrees(Some(raw(r#"{"a":""}"#)), None);
    assert_eq!(missing, Err(ParamFault::Missing));
}

/// What is sent is accepted, for any text and any integer.
#[test]
fn client_and_server_agree() {
    proptest!(|(text: String, number in -9_007_199_254_740_991_i64..=9_007_199_254_740_991)| {
        for (kind, argument) in [("string", json!(text)), ("integer", json!(number))] {
            let arguments = json!({ "a": argument }).to_string();
            let header = header(&typed(&format!("\"{kind}\"")));
            let sent = header.header_value(Some(raw(&arguments))).expect("it can be mirrored");
            let sent = sent.expect("it is there");
            prop_assert_eq!(header.agrees(Some(raw(&arguments)), Some(sent.as_bytes())), Ok(()));
            prop_assert!(header.agrees(Some(raw(&arguments)), Some(b"another")).is_err() || text == "another");
        }
    });
}

/// The rules once more, on a tree: `None` if the tool is invalid. `way`: that of a property.
fn oracle(schema: &Value, way: Option<&[&str]>, found: &mut Vec<(String, String)>) -> Option<()> {
    let Some(schema) = schema.as_object() else {
        return Some(());
    };
    for (keyword, value) in schema {
        match (keyword.as_str(), value) {
            ("x-mcp-header", name) => {
                let way = way.filter(|way| !way.is_empty())?;
                let name = name
                    .as_str()
                    .filter(|name| *name == "A" || *name == "a" || *name == "B")?;
                schema.get("type").filter(|kind| **kind == "string")?;
                if found
                    .iter()
                    .any(|(other, _)| other.eq_ignore_ascii_case(name))
                {
                    return None;
                }
                found.push((name.into(), way.join("/")));
            }
            ("properties", Value::Object(members)) => {
                for (name, member) in members {
                    let longer = way.map(|way| [way, &[name.as_str()]].concat());
                    oracle(member, longer.as_deref(), found)?;
                }
            }
            ("$defs", Value::Object(members)) => {
                for member in members.values() {
                    oracle(member, None, found)?;
                }
            }
            ("items", schema) => oracle(schema, None, found)?,
            ("oneOf", Value::Array(schemas)) => {
                for schema in schemas {
                    oracle(schema, None, found)?;
                }
            }
            _ => {}
        }
    }
    Some(())
}

#[test]
fn any_schema_agrees_with_the_oracle() {
    let leaf = prop_oneof![
        4 => Just(json!({"type": "string"})),
        4 => prop::sample::select(vec!["A", "a", "B", "B", "", "-(-"])
            .prop_map(|name| json!({"type": "string", "x-mcp-header": name})),
        1 => Just(json!({"type": "number", "x-mcp-header": "A"})),
        1 => Just(json!(true)),
    ];
    let schemas = leaf.prop_recursive(4, 12, 3, |inner| {
        let names = prop::sample::select(vec!["p", "q", "x-mcp-header", "properties", "items"]);
        prop_oneof![
            8 => prop::collection::btree_map(names, inner.clone(), 1..3)
                .prop_map(|members| json!({"type": "object", "properties": members})),
            1 => inner.clone().prop_map(|schema| json!({"items": schema})),
            1 => inner.clone().prop_map(|schema| json!({"oneOf": [schema]})),
            1 => inner.clone().prop_map(|schema| json!({"$defs": {"properties": schema}})),
            1 => inner.prop_map(|schema| json!({"default": schema})),
        ]
    });
    proptest!(|(schema in schemas)| {
        let mut expected = Vec::new();
        let valid = oracle(&schema, Some(&[]), &mut expected).is_some();
        let found = headers(&serde_json::to_string(&schema).expect("it is JSON"));
        prop_assert_eq!(found.is_ok(), valid);
        if let Ok(found) = found {
            let mut found: Vec<_> = found
                .iter()
                .map(|header| (String::from(header.name()), header.path().join("/")))
                .collect();
            found.sort();
            expected.sort();
            prop_assert_eq!(found, expected);
        }
    });
}
