//! Dialects, references, bounds, and what a model is told.

use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::*;

fn validator(schema: &Value) -> Validator {
    Validator::new(&schema.to_string()).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(schema: &Value) -> SchemaError {
    Validator::new(&schema.to_string()).expect_err("a schema that is refused")
}

#[track_caller]
fn told(schema: &Value, value: &Value, expected: &str) {
    let validator = validator(schema);
    let violations = validator
        .validate_value(value)
        .expect_err("it does not fit");
    assert_eq!(violations.to_string(), expected);
    // As text it is the same.
    let text = value.to_string();
    let raw = RawJson::parse(text.as_bytes()).expect("JSON");
    assert_eq!(validator.validate(raw), Err(violations));
}

/// SC-06.
#[test]
fn sc_06_dialects() {
    let pair = json!({"prefixItems": [{"type": "string"}]});
    assert!(validator(&pair).validate_value(&json!([1])).is_err());
    let mut older = json!({"$schema": "http://json-schema.org/draft-07/schema#",
        "definitions": {"s": {"type": "string"}}, "items": [{"$ref": "#/definitions/s"}]});
    assert!(validator(&older).validate_value(&json!([1])).is_err());
    assert!(validator(&older).validate_value(&json!(["a", 1])).is_ok());
    for known in [
        "http://json-schema.org/draft-06/schema",
        "https://json-schema.org/draft/2019-09/schema",
    ] {
        older["$schema"] = json!(known);
        assert!(
            validator(&older).validate_value(&json!([1])).is_err(),
            "{known}"
        );
    }
    // In 2020-12 `items` is no list.
    older["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    assert!(matches!(refusal(&older), SchemaError::Invalid(_)));
    for unknown in [
        json!("http://json-schema.org/draft-04/schema#"),
        json!("urn:mine"),
        json!(7),
    ] {
        let error = refusal(&json!({"$schema": unknown}));
        assert!(matches!(error, SchemaError::Dialect(_)), "{error}");
        assert!(error.to_string().contains("is not supported"), "{error}");
    }
    let inner =
        json!({"$defs": {"a": {"$id": "a", "$schema": "http://json-schema.org/draft-07/schema#"}}});
    assert!(matches!(refusal(&inner), SchemaError::Dialect(_)));
}

/// JSC-06, JSC-08, SC-05.
#[test]
fn sc_05_nothing_outside_is_referred_to() {
    for outside in [
        "http://127.0.0.1:1/s.json",
        "file:///etc/hosts",
        "https://json-schema.org/draft/2020-12/schema",
        "other.json#/a",
        "#/$defs/missing",
        "#missing",
        "#/%zz",
    ] {
        for keyword in ["$ref", "$dynamicRef"] {
            let error = refusal(&json!({"properties": {"a": {keyword: outside}}}));
            assert_eq!(error, SchemaError::Reference(outside.into()));
        }
    }
    assert_eq!(
        refusal(&json!({"$dynamicRef": "#x"})),
        SchemaError::Reference("#x".into())
    );
}

#[test]
fn sc_05_what_is_inside_can_be_referred_to() {
    for schema in [
        json!({"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}}),
        json!({"$ref": "#/$defs/a%20b~1c", "$defs": {"a b/c": {"type": "object"}}}),
        json!({"$ref": "#x", "$defs": {"a": {"$anchor": "x", "type": "object"}}}),
        json!({"$dynamicRef": "#x", "$defs": {"a": {"$dynamicAnchor": "x", "type": "object"}}}),
        json!({"$ref": "urn:b", "$defs": {"a": {"$id": "urn:b", "$ref": "#/$defs/c", "$defs": {"c": {"type": "object"}}}}}),
        json!({"$id": "http://a.example/root", "$ref": "http://a.example/root#/$defs/a", "$defs": {"a": {"type": "object"}}}),
        // Where no schema was to be expected.
        json!({"$ref": "#/components/schemas/a", "components": {"schemas": {"a": {"type": "object"}}}}),
    ] {
        assert!(
            validator(&schema).validate_value(&json!({})).is_ok(),
            "{schema}"
        );
        assert!(
            validator(&schema).validate_value(&json!(1)).is_err(),
            "{schema}"
        );
    }
}

/// JSC-05.
#[test]
fn schemas_are_valid_themselves() {
    for (schema, told) in [
        (
            json!({"properties": {"a": {"type": "strin"}}}),
            "`/properties/a/type`",
        ),
        (
            json!({"pattern": "("}),
            "`/pattern` is no regular expression",
        ),
        (json!({"required": "a"}), "`/required`"),
        (json!(3), "the schema"),
    ] {
        let error = refusal(&schema);
        assert!(matches!(error, SchemaError::Invalid(_)), "{error}");
        assert!(error.to_string().contains(told), "{error}");
    }
    assert!(matches!(Validator::new("{"), Err(SchemaError::Json(_))));
    assert!(validator(&json!(true)).validate_value(&json!(1)).is_ok());
    assert!(validator(&json!(false)).validate_value(&json!(1)).is_err());
}

/// SC-01, SC-02, SC-07, SC-10.
#[test]
fn sc_01_sc_02_sc_07_schemas_of_the_field() {
    let nullable = json!({"type": "object", "properties": {
        "size": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": null},
        "c": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]},
    }});
    assert!(
        validator(&nullable)
            .validate_value(&json!({"size": null, "c": ["a"]}))
            .is_ok()
    );
    let either = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
        "anyOf": [{"required": ["a"]}, {"required": ["b"]}]});
    assert!(
        validator(&either)
            .validate_value(&json!({"a": "x"}))
            .is_ok()
    );
    told(
        &either,
        &json!({}),
        "the value fits none of 2 alternatives: it lacks the required member `a`, or it lacks the required member `b`",
    );
    for (schema, value) in [
        ("null", json!(null)),
        ("integer", json!(0)),
        ("array", json!([])),
    ] {
        let schema = validator(&json!({"type": schema}));
        let text = value.to_string();
        let content = RawJson::parse(text.as_bytes()).expect("JSON");
        assert_eq!(schema.validate_result(Some(content), false), Ok(()));
        assert!(schema.validate_result(None, false).is_err());
        assert_eq!(schema.validate_result(None, true), Ok(()));
    }
    let integer = validator(&json!({"type": "integer"}));
    for (number, fits) in [
        ("120000.0", true),
        ("1e3", true),
        ("1.5", false),
        ("18446744073709551616", true),
    ] {
        let number = RawJson::parse(number.as_bytes()).expect("JSON");
        assert_eq!(integer.validate(number).is_ok(), fits, "{number:?}");
    }
}

#[test]
fn a_model_is_told_where_and_what() {
    let schema = json!({
        "type": "object",
        "properties": {
            "days": {"type": "integer", "minimum": 1, "maximum": 14},
            "unit": {"enum": ["C", "F"]},
            "name": {"type": "string", "minLength": 2, "pattern": "^[a-z]+$"},
            "list": {"type": "array", "maxItems": 2, "items": {"anyOf": [{"type": "object", "properties": {"x": {"type": "null"}}}, {"const": 3}]}},
        },
        "required": ["days"],
        "additionalProperties": false,
    });
    for (value, expected) in [
        (json!([]), "the value is not of type \"object\""),
        (json!({}), "the value lacks the required member `days`"),
        (json!({"days": "3"}), "`/days` is not of type \"integer\""),
        (
            json!({"days": 15}),
            "`/days` is greater than the maximum of 14",
        ),
        (
            json!({"days": 1, "unit": "K"}),
            "`/unit` is not one of \"C\" or \"F\"",
        ),
        (
            json!({"days": 1, "name": "aB"}),
            "`/name` does not match \"^[a-z]+$\"",
        ),
        (
            json!({"days": 1, "zeit": 1, "z": 2}),
            "the value has members that it must not have: `zeit`, `z`",
        ),
        (
            json!({"days": 1, "list": [{"x": 1}]}),
            "`/list/0` fits none of 2 alternatives: `/list/0/x` is not of type \"null\", or 3 was expected",
        ),
        (
            json!({"days": 0, "unit": 1}),
            "`/days` is less than the minimum of 1; `/unit` is not one of \"C\" or \"F\"",
        ),
    ] {
        told(&schema, &value, expected);
    }
    assert_eq!(
        validator(&schema)
            .validate_value(&json!({"days": 0}))
            .expect_err("too few")
            .iter()
            .next()
            .expect("one")
            .path(),
        "/days"
    );
}

#[test]
fn messages_are_short_whatever_the_value() {
    let items = validator(&json!({"items": {"type": "string"}}));
    let violations = items
        .validate_value(&json!(vec![1; 100]))
        .expect_err("numbers");
    assert!(violations.more());
    assert_eq!(violations.iter().count(), MAX_VIOLATIONS);

    let long = "ä".repeat(20_000);
    let schema = json!({"properties": {long.as_str(): {"type": "null"}}, "additionalProperties": false, "enum": [long.as_str()]});
    let violations = validator(&schema)
        .validate_value(&json!({long.as_str(): 1, "x".repeat(1000): 2}))
        .expect_err("long");
    assert!(violations.to_string().len() < 2000, "{violations}");
    let error = refusal(&json!({"$ref": long}));
    assert!(error.to_string().len() < 500, "{error}");

    // Where there is much to tell, nothing is collected.
    let many = items
        .validate_value(&json!(vec![1; 100_000]))
        .expect_err("numbers");
    assert_eq!(
        many.to_string(),
        "the value does not fit the schema, and is too large to say where"
    );
    assert!(items.validate_value(&json!(vec!["a"; 100_000])).is_ok());
}

#[test]
fn dx_01_schemas_are_bounded() {
    let long = json!({"description": "x".repeat(MAX_SCHEMA)});
    assert!(matches!(refusal(&long), SchemaError::TooLarge(_)));
    let many = json!({"allOf": vec![json!(true); MAX_SUBSCHEMAS]});
    assert!(matches!(refusal(&many), SchemaError::TooLarge(_)));
    let patterns: Vec<_> = (0..=MAX_PATTERNS)
        .map(|n| json!({"pattern": n.to_string()}))
        .collect();
    assert!(matches!(
        refusal(&json!({"allOf": patterns})),
        SchemaError::TooLarge(_)
    ));
    let deep = format!("{}{}", r#"{"not":"#.repeat(200), "true") + &"}".repeat(200);
    assert!(matches!(Validator::new(&deep), Err(SchemaError::Json(_))));
    for (composed, fits) in [(MAX_COMPOSED, true), (MAX_COMPOSED + 1, false)] {
        assert_eq!(
            Validator::new(&chained(composed, &json!({})).to_string()).is_ok(),
            fits,
            "{composed}"
        );
    }
    for endless in [
        json!({"$ref": "#"}),
        json!({"allOf": [{"$ref": "#"}]}),
        json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"not": {"$ref": "#/$defs/a"}}}, "$ref": "#/$defs/a"}),
    ] {
        assert_eq!(refusal(&endless), SchemaError::Endless, "{endless}");
    }
    // Large, slow and possibly catastrophic patterns.
    for pattern in ["^([a-z][0-9]){1,9999}$", "^(?!a)b", r"(a)\1"] {
        assert!(
            matches!(
                refusal(&json!({"pattern": pattern})),
                SchemaError::Invalid(_)
            ),
            "{pattern}"
        );
    }
    let started = Instant::now();
    let catastrophic = validator(&json!({"pattern": "^(a+)+$"}));
    assert!(
        catastrophic
            .validate_value(&json!("a".repeat(100_000) + "b"))
            .is_err()
    );
    assert!(started.elapsed() < Duration::from_secs(5));
}

/// `links` schemas, each of which refers to the next and is `other` besides; the root refers to the first.
fn chained(links: usize, other: &Value) -> Value {
    let mut definitions = Map::new();
    for link in 1..=links {
        let mut schema = other.clone();
        if link < links {
            schema["$ref"] = json!(format!("#/$defs/{}", link + 1));
        }
        definitions.insert(link.to_string(), schema);
    }
    json!({"$ref": "#/$defs/1", "$defs": definitions})
}

/// JSC-09: each of 16 schemas composes the next one three times.
#[test]
fn composition_does_not_explode() {
    let mut definitions = Map::new();
    for link in 0..16 {
        let next = json!({"$ref": format!("#/$defs/{}", link + 1)});
        let schema = json!({"anyOf": [next, {"allOf": [next, next]}]});
        definitions.insert(link.to_string(), schema);
    }
    definitions.insert("16".into(), json!({"type": "string", "minLength": 3}));
    let schema = json!({"$ref": "#/$defs/0", "$defs": definitions});
    let started = Instant::now();
    let violations = validator(&schema)
        .validate_value(&json!("x"))
        .expect_err("too much");
    assert!(
        violations.to_string().contains("too many steps"),
        "{violations}"
    );
    assert!(started.elapsed() < Duration::from_secs(5));
}

/// Each level of the value doubles the work.
#[test]
fn dx_01_recursion_does_not_explode() {
    let again = json!({"properties": {"x": {"$ref": "#/$defs/n"}}});
    let schema = json!({"$ref": "#/$defs/n", "$defs": {"n": {"allOf": [again, again], "unevaluatedProperties": {"$ref": "#/$defs/n"}}}});
    let schema = validator(&schema);
    let nested = |levels| (0..levels).fold(json!({}), |value, _| json!({"x": value}));
    assert!(schema.validate_value(&nested(3)).is_ok());
    let started = Instant::now();
    let violations = schema.validate_value(&nested(60)).expect_err("too much");
    assert!(
        violations.to_string().contains("too many steps"),
        "{violations}"
    );
    assert!(started.elapsed() < Duration::from_secs(5));
}

/// On the stack that threads have by default, without optimisation.
#[test]
fn dx_01_nesting_is_bounded_before_the_stack_is() {
    // A list of lists, each of which goes through 3 schemas.
    let schema = json!({"$ref": "#/$defs/n", "$defs": {"n": {"anyOf": [{"items": {"$ref": "#/$defs/n"}, "type": "array"}, false]}}});
    let schema = validator(&schema);
    let nested = |levels| (0..levels).fold(json!([]), |value, _| json!([value]));
    assert!(schema.validate_value(&nested(100)).is_ok());
    let violations = schema.validate_value(&nested(400)).expect_err("too deep");
    assert!(
        violations.to_string().contains("nests too deep"),
        "{violations}"
    );
    // Just below the bound, where violations are collected as well.
    let almost = (0..125).fold(json!(1), |value, _| json!([value]));
    assert!(schema.validate_value(&almost).is_err());
    // Through members, without a cycle, as deep as a schema may go.
    let mut chain = Map::new();
    for link in 0..2000 {
        let next = json!({"$ref": format!("#/$defs/{}", link + 1)});
        chain.insert(link.to_string(), json!({"properties": {"a": next}}));
    }
    chain.insert("2000".into(), json!({}));
    let chain = validator(&json!({"$ref": "#/$defs/0", "$defs": chain}));
    let value = (0..400).fold(json!(1), |value, _| json!({"a": value}));
    assert!(
        chain
            .validate_value(&value)
            .expect_err("too deep")
            .to_string()
            .contains("nests too deep")
    );
}

mod decoding {
    use schemars::JsonSchema;
    use serde::Deserialize;

    use super::super::checks::{Checks, decoding_proves};
    use crate::server::schema_of;

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Plain {
        /// Documented.
        text: String,
        number: Option<u8>,
        float: f64,
        long: u64,
        signed: i8,
        list: Vec<Inner>,
        map: std::collections::BTreeMap<String, bool>,
        inner: Option<Inner>,
        anything: Option<serde_json::Value>,
        #[serde(default)]
        count: i16,
    }

    #[derive(Deserialize, JsonSchema)]
    #[expect(dead_code, reason = "only its schema is looked at")]
    struct Inner {
        more: Vec<Self>,
    }

    #[test]
    fn proves_what_a_type_says_and_no_more() {
        assert!(
            decoding_proves(&schema_of::<Plain>()),
            "{}",
            schema_of::<Plain>()
        );
        let checks = Checks::new(&schema_of::<Plain>().to_string(), true, None).expect("a schema");
        assert!(format!("{checks:?}").contains("input: None"));

        macro_rules! not_proven {
            ($($(#[$attribute:meta])* $ty:ty;)*) => {$({
                #[derive(JsonSchema)]
                #[expect(dead_code, reason = "only its schema is looked at")]
                struct Constrained {
                    $(#[$attribute])*
                    member: $ty,
                }
                let schema = schema_of::<Constrained>();
                assert!(!decoding_proves(&schema), "{schema}");
                let checks = Checks::new(&schema.to_string(), true, None).expect("a schema");
                assert!(format!("{checks:?}").contains("input: Some"));
            })*};
        }
        not_proven! {
            #[schemars(range(min = 1))] u32;
            #[schemars(range(max = 14))] u8;
            #[schemars(range(min = 0))] i32;
            #[schemars(length(min = 1))] String;
            #[schemars(regex(pattern = "^a"))] String;
            #[schemars(extend("enum" = ["a", "b"]))] String;
            #[schemars(extend("anyOf" = [{"minLength": 1}, {"type": "null"}]))] String;
            #[schemars(length(max = 3))] Vec<String>;
            #[schemars(inner(length(max = 3)))] Vec<String>;
        }
    }
}
