//! What is done to arguments on their way to the server, and undone on the way to the model.

use std::borrow::Cow;
use std::collections::HashSet;

use mcp_core::json::{Json, Kind, RawJson, Writer};
use serde_json::Value;

/// Stands for null where null itself means that a member is left out.
pub(super) const NULL: &str = "<null>";

type Out<'w> = Writer<'w, Vec<u8>>;

/// How a value of the lowered schema becomes one of the schema.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Plan {
    /// It is one.
    Same,
    /// Members have other names, at any depth: those of the schema, and those of the provider.
    Renamed(Vec<(String, String)>),
    Object(Vec<Member>, Option<Rest>),
    /// An object, as a list of `key` and `value`.
    Pairs(Box<Self>),
    /// Any value, as a text that is its JSON.
    Text,
    /// A list: its first elements, and all others.
    List(Vec<Self>, Box<Self>),
    /// The first alternative that fits.
    Either(Vec<Alternative>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Member {
    pub(super) name: String,
    pub(super) plan: Plan,
    pub(super) absence: Absence,
}

/// How the model leaves a member out.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Absence {
    /// By leaving it out, or it cannot.
    Absent,
    /// By null.
    Null,
    /// By null, and null is [`NULL`].
    NullEscaped,
}

/// Members that are not named, as one more member: a list of `key` and `value`.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rest {
    pub(super) name: String,
    pub(super) plan: Box<Plan>,
    pub(super) nullable: bool,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Alternative {
    pub(super) schema: Value,
    pub(super) lowered: Value,
    pub(super) plan: Plan,
}

impl Plan {
    pub(super) fn raise(&self, value: RawJson<'_>) -> Json<'static> {
        Json::written(|json| self.raised(value, json))
    }

    pub(super) fn lower(&self, value: RawJson<'_>) -> Json<'static> {
        Json::written(|json| self.lowered(value, json))
    }

    /// Recursion is as deep as the value, which was checked to be bounded, and where texts hold JSON as deep as they and the plan together.
    fn raised(&self, value: RawJson<'_>, json: &mut Out<'_>) {
        match (self, value.kind()) {
            (Self::Renamed(names), Kind::Object | Kind::Array) => {
                rename(value, json, &|name| {
                    names
                        .iter()
                        .find(|(_, lowered)| lowered == name)
                        .map(|(name, _)| name.as_str())
                });
            }
            (Self::Object(members, rest), Kind::Object) => {
                json.begin_object();
                for (name, value) in value.as_object().into_iter().flatten() {
                    let name = name.decode();
                    if let Some(rest) = rest.as_ref().filter(|rest| rest.name == name) {
                        pairs(value, |key, value| {
                            // What has a member of its own has it once.
                            if members.iter().all(|member| member.name != key) {
                                json.key(&key);
                                rest.plan.raised(value, json);
                            }
                        });
                        continue;
                    }
                    let Some(member) = members.iter().find(|member| member.name == name) else {
                        json.key(&name);
                        json.raw(value);
                        continue;
                    };
                    if member.absence != Absence::Absent && value.is_null() {
                        continue;
                    }
                    json.key(&member.name);
                    let is_null = value.as_string().is_some_and(|text| text == NULL);
                    if member.absence == Absence::NullEscaped && is_null {
                        json.null();
                    } else {
                        member.plan.raised(value, json);
                    }
                }
                json.end_object();
            }
            (Self::Pairs(plan), Kind::Array) => {
                json.begin_object();
                pairs(value, |key, value| {
                    json.key(&key);
                    plan.raised(value, json);
                });
                json.end_object();
            }
            // A model that knows better.
            (Self::Pairs(plan), Kind::Object) => {
                json.begin_object();
                for (name, value) in value.as_object().into_iter().flatten() {
                    json.key(&name.decode());
                    plan.raised(value, json);
                }
                json.end_object();
            }
            (Self::Text, Kind::String) => {
                let text = value
                    .as_string()
                    .map(|text| text.decode())
                    .unwrap_or_default();
                match RawJson::parse(text.as_bytes()) {
                    Ok(parsed) => json.raw(parsed),
                    // It was to be JSON: the model meant the text itself.
                    Err(_) => json.raw(value),
                }
            }
            (Self::List(first, rest), Kind::Array) => {
                json.begin_array();
                for (at, element) in value.as_array().into_iter().flatten().enumerate() {
                    first.get(at).unwrap_or(rest).raised(element, json);
                }
                json.end_array();
            }
            (Self::Either(alternatives), _) => {
                let fitting = alternatives.iter().find(|it| fits(&it.lowered, value));
                match fitting {
                    Some(fitting) => fitting.plan.raised(value, json),
                    None => json.raw(value),
                }
            }
            (
                Self::Same
                | Self::Renamed(_)
                | Self::Object(..)
                | Self::Pairs(_)
                | Self::Text
                | Self::List(..),
                Kind::Null | Kind::Bool | Kind::Number | Kind::String | Kind::Array | Kind::Object,
            ) => json.raw(value),
        }
    }

    fn lowered(&self, value: RawJson<'_>, json: &mut Out<'_>) {
        match (self, value.kind()) {
            (Self::Renamed(names), Kind::Object | Kind::Array) => {
                rename(value, json, &|name| {
                    names
                        .iter()
                        .find(|(known, _)| known == name)
                        .map(|(_, lowered)| lowered.as_str())
                });
            }
            (Self::Object(members, rest), Kind::Object) => {
                json.begin_object();
                let mut others = Vec::new();
                for (name, value) in value.as_object().into_iter().flatten() {
                    let name = name.decode();
                    let Some(member) = members.iter().find(|member| member.name == name) else {
                        others.push((name, value));
                        continue;
                    };
                    json.key(&member.name);
                    if member.absence == Absence::NullEscaped && value.is_null() {
                        json.string(NULL);
                    } else {
                        member.plan.lowered(value, json);
                    }
                }
                for member in members
                    .iter()
                    .filter(|member| member.absence != Absence::Absent)
                {
                    if value.member(&member.name).is_none() {
                        json.key(&member.name);
                        json.null();
                    }
                }
                match rest {
                    Some(rest) if !others.is_empty() => {
                        json.key(&rest.name);
                        write_pairs(others.into_iter(), &rest.plan, json);
                    }
                    Some(rest) if rest.nullable => {
                        json.key(&rest.name);
                        json.null();
                    }
                    Some(_) | None => {
                        for (name, value) in others {
                            json.key(&name);
                            json.raw(value);
                        }
                    }
                }
                json.end_object();
            }
            (Self::Pairs(plan), Kind::Object) => {
                let members = value.as_object().into_iter().flatten();
                write_pairs(
                    members.map(|(name, value)| (name.decode(), value)),
                    plan,
                    json,
                );
            }
            (Self::Text, _) => json.string(value.as_str()),
            (Self::List(first, rest), Kind::Array) => {
                json.begin_array();
                for (at, element) in value.as_array().into_iter().flatten().enumerate() {
                    first.get(at).unwrap_or(rest).lowered(element, json);
                }
                json.end_array();
            }
            (Self::Either(alternatives), _) => {
                let fitting = alternatives.iter().find(|it| fits(&it.schema, value));
                match fitting {
                    Some(fitting) => fitting.plan.lowered(value, json),
                    None => json.raw(value),
                }
            }
            (
                Self::Same | Self::Renamed(_) | Self::Object(..) | Self::Pairs(_) | Self::List(..),
                Kind::Null | Kind::Bool | Kind::Number | Kind::String | Kind::Array | Kind::Object,
            ) => json.raw(value),
        }
    }
}

fn rename<'n>(value: RawJson<'_>, json: &mut Out<'_>, name_of: &impl Fn(&str) -> Option<&'n str>) {
    if let Some(members) = value.as_object() {
        json.begin_object();
        for (name, value) in members {
            let name = name.decode();
            json.key(name_of(&name).unwrap_or(&name));
            rename(value, json, name_of);
        }
        json.end_object();
    } else if let Some(elements) = value.as_array() {
        json.begin_array();
        elements.for_each(|element| rename(element, json, name_of));
        json.end_array();
    } else {
        json.raw(value);
    }
}

/// The pairs of a list, each name once: the last one counts. What is no pair is passed over.
fn pairs<'b>(list: RawJson<'b>, mut each: impl FnMut(Cow<'b, str>, RawJson<'b>)) {
    let mut all: Vec<(Cow<'b, str>, RawJson<'b>)> = Vec::new();
    for pair in list.as_array().into_iter().flatten() {
        let (Some(key), Some(value)) = (pair.member("key"), pair.member("value")) else {
            continue;
        };
        let Some(key) = key.as_string() else {
            continue;
        };
        all.push((key.decode(), value));
    }
    let mut seen = HashSet::new();
    let mut last: Vec<bool> = all
        .iter()
        .rev()
        .map(|(key, _)| seen.insert(key.clone()))
        .collect();
    last.reverse();
    for ((key, value), _) in all.into_iter().zip(last).filter(|(_, last)| *last) {
        each(key, value);
    }
}

fn write_pairs<'b>(
    members: impl Iterator<Item = (Cow<'b, str>, RawJson<'b>)>,
    plan: &Plan,
    json: &mut Out<'_>,
) {
    json.begin_array();
    for (name, value) in members {
        json.begin_object();
        json.key("key");
        json.string(&name);
        json.key("value");
        plan.lowered(value, json);
        json.end_object();
    }
    json.end_array();
}

/// Whether a value is of this alternative, as far as types, constants and names of members tell alternatives apart.
pub(super) fn fits(schema: &Value, value: RawJson<'_>) -> bool {
    let Value::Object(schema) = schema else {
        return *schema != Value::Bool(false);
    };
    let kind = match value.kind() {
        Kind::Null => "null",
        Kind::Bool => "boolean",
        Kind::Number => "number",
        Kind::String => "string",
        Kind::Array => "array",
        Kind::Object => "object",
    };
    let is = |name: &Value| {
        name == kind
            || name == "integer"
                && kind == "number"
                && value
                    .as_number()
                    .and_then(|number| number.as_f64())
                    .is_some_and(|number| number.fract() == 0.0)
    };
    let nullable = schema.get("nullable") == Some(&Value::Bool(true)) && value.is_null();
    let typed = match schema.get("type") {
        None => true,
        Some(Value::Array(kinds)) => kinds.iter().any(is),
        Some(name) => is(name),
    };
    if !typed {
        return nullable;
    }
    let equals = |constant: &Value| {
        serde_json::from_str::<Value>(value.as_str()).is_ok_and(|value| value == *constant)
    };
    let constant = schema.get("const").is_none_or(equals)
        && schema
            .get("enum")
            .and_then(Value::as_array)
            .is_none_or(|all| all.iter().any(equals));
    let any = |keyword| {
        schema
            .get(keyword)
            .and_then(Value::as_array)
            .is_none_or(|all| all.iter().any(|it| fits(it, value)))
    };
    let all = schema
        .get("allOf")
        .and_then(Value::as_array)
        .is_none_or(|all| all.iter().all(|it| fits(it, value)));
    constant
        && any("anyOf")
        && any("oneOf")
        && all
        && members_fit(schema, value)
        && elements_fit(schema, value)
}

fn members_fit(schema: &serde_json::Map<String, Value>, value: RawJson<'_>) -> bool {
    let Some(mut members) = value.as_object() else {
        return true;
    };
    let required = schema.get("required").and_then(Value::as_array);
    let named = schema.get("properties").and_then(Value::as_object);
    let rest = schema.get("additionalProperties");
    let there = required.is_none_or(|names| {
        names
            .iter()
            .filter_map(Value::as_str)
            .all(|name| value.member(name).is_some())
    });
    there
        && members.all(|(name, value)| {
            let name = name.decode();
            match named.and_then(|named| named.get(&*name)) {
                Some(schema) => fits(schema, value),
                None => rest.is_none_or(|rest| {
                    schema.contains_key("patternProperties") || fits(rest, value)
                }),
            }
        })
}

fn elements_fit(schema: &serde_json::Map<String, Value>, value: RawJson<'_>) -> bool {
    let Some(elements) = value.as_array() else {
        return true;
    };
    let first = schema.get("prefixItems").and_then(Value::as_array);
    let rest = schema.get("items");
    elements.enumerate().all(|(at, element)| {
        let schema = first.and_then(|first| first.get(at)).or(rest);
        schema.is_none_or(|schema| fits(schema, element))
    })
}
