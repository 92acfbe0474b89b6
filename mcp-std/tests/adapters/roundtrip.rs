//! Arguments that fit the schema are the same when they come back, and fit the lowered schema on their way.

use mcp_std::RawJson;
use mcp_std::host::adapters::schema::{Dialect, Lowered, lower};
use mcp_std::schema::Validator;
use serde_json::{Value, json};

use crate::corpus::{DIALECTS, tools};
use crate::sample::{Dice, sample};

const SEEDS: u64 = 24;

#[test]
fn arguments_survive_the_way_there_and_back() {
    let (mut written, mut made) = (0, 0);
    let mut problems = Vec::new();
    for tool in tools() {
        let validator = checked(&tool.schema);
        // What JSON Schema cannot check, such as draft-04, has only the samples that were written for it.
        let fits = |arguments: &Value| {
            let validator = validator.as_ref();
            validator.map(|it| it.validate_value(arguments).is_ok())
        };
        for dialect in DIALECTS {
            let lowered = lower(&tool.schema, dialect).expect("the corpus can be lowered");
            let checker = checker(&lowered, dialect);
            for arguments in &tool.samples {
                assert!(
                    fits(arguments) != Some(false),
                    "{}: a sample that does not fit: {arguments}",
                    tool.name
                );
                problems.extend(survives(
                    &tool.name,
                    dialect,
                    &lowered,
                    &checker,
                    &arguments.to_string(),
                ));
                written += 1;
            }
            for seed in 0..SEEDS {
                let arguments = sample(&tool.schema, &tool.schema, 0, &mut Dice(seed));
                if arguments.is_object() && fits(&arguments) == Some(true) {
                    problems.extend(survives(
                        &tool.name,
                        dialect,
                        &lowered,
                        &checker,
                        &arguments.to_string(),
                    ));
                    made += 1;
                }
            }
        }
    }
    let some = &problems[..problems.len().min(12)];
    assert!(
        problems.is_empty(),
        "{} problems: {some:#?}",
        problems.len()
    );
    // Else the generator has lost its way, and nothing is tested.
    assert!(
        written >= 1000 && made >= 10_000,
        "{written} written, {made} made"
    );
}

#[test]
fn numbers_keep_their_digits() {
    let schema = json!({"type": "object", "properties": {
        "id": {"type": "integer"}, "d": {"type": "number"}, "any": {}, "free": {"type": "object"},
        "map": {"type": "object", "additionalProperties": {"type": "number"}}, "optional": {"type": "string"}
    }});
    let given = r#"{"id":18446744073709551616,"d":0.10,"any":[1E400,-0.0],"free":{"n":123456789012345678901234567890},"map":{"a":1e3}}"#;
    for dialect in DIALECTS {
        let lowered = lower(&schema, dialect).expect("a schema");
        let there = lowered.lower(RawJson::parse(given.as_bytes()).expect("JSON"));
        assert_eq!(lowered.raise(there.raw()).as_str(), given, "{dialect:?}");
    }
}

/// `None`: it is of draft-04, or has mistakes.
fn checked(schema: &Value) -> Option<Validator> {
    if schema.get("$schema").is_some_and(|dialect| {
        dialect
            .as_str()
            .is_some_and(|dialect| dialect.contains("draft-04"))
    }) {
        return None;
    }
    Validator::new(&schema.to_string()).ok()
}

fn survives(
    tool: &str,
    dialect: Dialect,
    lowered: &Lowered,
    checker: &Validator,
    arguments: &str,
) -> Option<String> {
    let raw = RawJson::parse(arguments.as_bytes()).expect("JSON");
    let there = lowered.lower(raw);
    if let Err(violations) = checker.validate(there.raw()) {
        return Some(format!(
            "{tool} for {dialect:?}: {violations}\n{arguments}\n{there}"
        ));
    }
    let back = lowered.raise(there.raw());
    (canonical(back.raw()) != canonical(raw))
        .then(|| format!("{tool} for {dialect:?}: {arguments} is {back} by {there}"))
}

/// Members by name, all else as it is written.
fn canonical(value: RawJson<'_>) -> String {
    if let Some(members) = value.as_object() {
        let mut members: Vec<String> = members
            .map(|(name, value)| format!("{:?}:{}", name.decode(), canonical(value)))
            .collect();
        members.sort();
        format!("{{{}}}", members.join(","))
    } else if let Some(elements) = value.as_array() {
        format!(
            "[{}]",
            elements.map(canonical).collect::<Vec<_>>().join(",")
        )
    } else if let Some(text) = value.as_string() {
        format!("{:?}", text.decode())
    } else {
        value.as_str().to_owned()
    }
}

/// Checks that arguments fit the lowered schema.
fn checker(lowered: &Lowered, dialect: Dialect) -> Validator {
    let mut schema = lowered.schema().clone();
    if dialect == Dialect::Gemini {
        json_schema(&mut schema);
    }
    Validator::new(&schema.to_string()).expect("the lowered schema is one")
}

/// `nullable` is no keyword of JSON Schema.
fn json_schema(schema: &mut Value) {
    match schema {
        Value::Object(keywords) => {
            keywords.values_mut().for_each(json_schema);
            if keywords.shift_remove("nullable") == Some(json!(true)) {
                let kind = keywords.get("type").cloned().expect("a type");
                keywords.insert("type".to_owned(), json!([kind, "null"]));
                if let Some(Value::Array(values)) = keywords.get_mut("enum") {
                    values.push(Value::Null);
                }
            }
        }
        Value::Array(all) => all.iter_mut().for_each(json_schema),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
