//! Arguments made of a schema: not all of them fit it, so they are checked before they are used.

use serde_json::{Map, Value, json};

/// The same numbers for the same seed.
pub(crate) struct Dice(pub(crate) u64);

impl Dice {
    fn roll(&mut self, sides: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % sides
    }

    fn pick<'v, T>(&mut self, all: &'v [T]) -> Option<&'v T> {
        let at = self.roll(all.len().max(1) as u64);
        all.get(usize::try_from(at).ok()?)
    }
}

/// A value that is likely to fit the schema.
pub(crate) fn sample(schema: &Value, root: &Value, depth: usize, dice: &mut Dice) -> Value {
    let Value::Object(keywords) = schema else {
        return anything(depth, dice);
    };
    if let Some(target) = keywords.get("$ref").and_then(Value::as_str) {
        let target = target
            .strip_prefix('#')
            .and_then(|pointer| root.pointer(pointer));
        return target.map_or(Value::Null, |target| sample(target, root, depth + 1, dice));
    }
    if let Some(constant) = keywords.get("const") {
        return constant.clone();
    }
    if let Some(values) = keywords.get("enum").and_then(Value::as_array) {
        return dice.pick(values).cloned().unwrap_or_default();
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(all) = keywords.get(keyword).and_then(Value::as_array) {
            let default_null = keywords.get("default") == Some(&Value::Null);
            // Where null is the default it says the same as leaving the member out, which is what comes back.
            let all: Vec<&Value> = all
                .iter()
                .filter(|one| !(default_null && one["type"] == "null"))
                .collect();
            let mut base = keywords.clone();
            base.shift_remove(keyword);
            let one = dice.pick(&all).map_or(json!({}), |one| (*one).clone());
            let chosen = sample(&one, root, depth + 1, dice);
            if let (Value::Object(mut chosen), true) =
                (chosen.clone(), base.contains_key("properties"))
            {
                if let Value::Object(base) = sample(&Value::Object(base), root, depth + 1, dice) {
                    for (name, value) in base {
                        chosen.entry(name).or_insert(value);
                    }
                }
                return Value::Object(chosen);
            }
            return chosen;
        }
    }
    if let Some(all) = keywords.get("allOf").and_then(Value::as_array) {
        let mut merged = Map::new();
        let mut base = keywords.clone();
        base.shift_remove("allOf");
        let base = Value::Object(base);
        let others = (base != json!({})).then_some(&base);
        for part in all.iter().chain(others) {
            // What only says when it holds is left to the check.
            let shows = ["properties", "required", "$ref", "anyOf", "oneOf", "allOf"]
                .iter()
                .any(|keyword| part.get(keyword).is_some());
            if !shows {
                continue;
            }
            if let Value::Object(members) = sample(part, root, depth + 1, dice) {
                merged.extend(members);
            }
        }
        return Value::Object(merged);
    }
    let kinds = match keywords.get("type") {
        Some(Value::Array(kinds)) => kinds.clone(),
        Some(kind) => vec![kind.clone()],
        // Where no type is said, the other keywords mean one.
        None => match of_keywords(keywords) {
            Some(kind) => vec![json!(kind)],
            None if depth == 0 => return json!({}),
            None => return anything(depth, dice),
        },
    };
    let kinds: Vec<Value> = kinds
        .into_iter()
        .filter(|kind| !(kind == "null" && keywords.get("default") == Some(&Value::Null)))
        .collect();
    match dice.pick(&kinds).and_then(Value::as_str) {
        Some("object") => object(keywords, root, depth, dice),
        Some("array") => array(keywords, root, depth, dice),
        Some("string") => text(keywords, dice),
        Some("integer") => {
            let least = keywords.get("minimum").and_then(Value::as_i64).unwrap_or(1);
            let exact = json!(9_007_199_254_740_993_i64);
            if keywords.contains_key("maximum") || dice.roll(4) > 0 {
                json!(least)
            } else {
                exact
            }
        }
        Some("number") => {
            let least = keywords
                .get("minimum")
                .and_then(Value::as_f64)
                .unwrap_or(1.0);
            json!(least + 0.5)
        }
        Some("boolean") => json!(dice.roll(2) == 0),
        _ => Value::Null,
    }
}

fn object(keywords: &Map<String, Value>, root: &Value, depth: usize, dice: &mut Dice) -> Value {
    let mut members = Map::new();
    let required = keywords
        .get("required")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    for (name, schema) in keywords
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
    {
        let is_required = required.iter().any(|known| known == name);
        if is_required || depth < 8 && dice.roll(2) == 0 {
            members.insert(name.clone(), sample(schema, root, depth + 1, dice));
        }
    }
    match keywords.get("additionalProperties") {
        Some(schema) if *schema != json!(false) && depth < 8 => {
            for at in 0..dice.roll(3) {
                members.insert(
                    format!("Some name {at}"),
                    sample(schema, root, depth + 1, dice),
                );
            }
        }
        _ => {}
    }
    Value::Object(members)
}

fn array(keywords: &Map<String, Value>, root: &Value, depth: usize, dice: &mut Dice) -> Value {
    let first = keywords
        .get("prefixItems")
        .or_else(|| keywords.get("items").filter(|items| items.is_array()));
    let first = first.and_then(Value::as_array).cloned().unwrap_or_default();
    let mut all: Vec<Value> = first
        .iter()
        .map(|schema| sample(schema, root, depth + 1, dice))
        .collect();
    let any = json!({});
    let rest = keywords
        .get("items")
        .filter(|items| !items.is_array())
        .unwrap_or(&any);
    if *rest != json!(false) && first.is_empty() {
        let least = keywords
            .get("minItems")
            .and_then(Value::as_u64)
            .unwrap_or(0);
        let more = if depth < 8 { dice.roll(3) } else { 0 };
        for _ in 0..least.min(4) + more {
            all.push(sample(rest, root, depth + 1, dice));
        }
    }
    Value::Array(all)
}

fn text(keywords: &Map<String, Value>, dice: &mut Dice) -> Value {
    let texts = [
        "text",
        "",
        "{}",
        "null",
        "\"quoted\" \\ \n \u{1F980}",
        "[1",
        "2026-01-01T00:00:00Z",
        "17",
    ];
    let least = keywords
        .get("minLength")
        .and_then(Value::as_u64)
        .unwrap_or(0);
    let text = dice.pick(&texts).copied().unwrap_or_default();
    let missing = least.saturating_sub(text.chars().count() as u64);
    json!(format!(
        "{text}{}",
        "x".repeat(usize::try_from(missing).unwrap_or(0))
    ))
}

fn anything(depth: usize, dice: &mut Dice) -> Value {
    match dice.roll(if depth > 6 { 5 } else { 7 }) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(-1.5e-7),
        3 => json!("a text"),
        4 => json!("{\"not\": \"parsed\"}"),
        5 => json!([1, [null], {"key": "k", "value": "v"}]),
        _ => json!({"key": 1, "additional_members": {"x": null}}),
    }
}

fn of_keywords(keywords: &Map<String, Value>) -> Option<&'static str> {
    let has = |all: &[&str]| all.iter().any(|keyword| keywords.contains_key(*keyword));
    if has(&["properties", "required"]) {
        Some("object")
    } else if has(&["items", "prefixItems"]) {
        Some("array")
    } else if has(&["minLength", "maxLength", "pattern", "format"]) {
        Some("string")
    } else if has(&["minimum", "maximum"]) {
        Some("number")
    } else {
        None
    }
}
