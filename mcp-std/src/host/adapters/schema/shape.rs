//! A schema as shapes: what a subset of JSON Schema can be written from.

mod alternatives;
mod keywords;

use serde_json::{Map, Value, json};

use self::keywords::{KEYWORDS, is_of, keep_of, kind_of};
use super::flatten::show_conditional;
use super::merge::merge;
use super::{Change, MAX_NODES, Report, at, words};

/// One value.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// Where it is in the schema.
    pub(super) path: String,
    pub(super) title: Option<String>,
    pub(super) description: Option<String>,
    /// What the form cannot say: sentences for the description.
    pub(super) notes: Vec<String>,
    pub(super) nullable: bool,
    /// Null says the same as leaving it out.
    pub(super) default_null: bool,
    pub(super) form: Form,
    /// The schema, by which alternatives are told apart.
    pub(super) source: Value,
}

#[derive(Clone, Debug)]
pub(super) enum Form {
    Any,
    /// Nothing fits.
    Never,
    Scalar {
        kind: &'static str,
        /// Those that are asked of it.
        keywords: Map<String, Value>,
        /// Those it may be.
        values: Option<Vec<Value>>,
    },
    List {
        first: Vec<Node>,
        rest: Option<Box<Node>>,
        keywords: Map<String, Value>,
    },
    Object {
        members: Vec<(String, Node, bool)>,
        rest: Rest,
        keywords: Map<String, Value>,
    },
    Either(Vec<Node>),
}

/// Members that are not named.
#[derive(Clone, Debug)]
pub(super) enum Rest {
    /// Nothing was said of them.
    Unsaid,
    Closed,
    Of(Box<Node>),
}

/// The shape of a root that was flattened.
pub(super) fn shape(root: Map<String, Value>, report: &mut Report) -> Node {
    let mut shaper = Shaper {
        nodes: 0,
        bytes: 0,
        report,
    };
    shaper.shape(Value::Object(root), "")
}

struct Shaper<'r> {
    nodes: usize,
    /// What alternatives were merged with, each time again.
    bytes: usize,
    report: &'r mut Report,
}

/// What no subset has: told in words, each with its value.
const DESCRIBED: [&str; 15] = [
    "default",
    "examples",
    "not",
    "if",
    "then",
    "else",
    "dependentRequired",
    "dependentSchemas",
    "contains",
    "minContains",
    "maxContains",
    "propertyNames",
    "unevaluatedItems",
    "contentEncoding",
    "contentMediaType",
];

const OF_NO_TYPE: &str = "it asks nothing of a value of this type";

impl Shaper<'_> {
    fn shape(&mut self, schema: Value, path: &str) -> Node {
        self.nodes += 1;
        let mut node = Node {
            path: path.to_owned(),
            title: None,
            description: None,
            notes: Vec::new(),
            nullable: false,
            default_null: false,
            form: Form::Any,
            source: Value::Null,
        };
        let mut schema = match schema {
            Value::Object(schema) => schema,
            Value::Bool(false) => {
                node.form = Form::Never;
                return node;
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_) => {
                return node;
            }
        };
        if self.nodes > MAX_NODES {
            self.report.add(
                path,
                "",
                Change::Dropped,
                "with its alternatives the schema is beyond a bound",
            );
            return node;
        }
        if let Some(Value::Array(parts)) = schema.shift_remove("allOf") {
            self.report
                .add(path, "allOf", Change::Rewritten, "its parts are merged");
            let mut all = Value::Object(schema);
            for part in parts {
                all = merge(all, part, path, self.report);
            }
            return self.shape(all, path);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(alternatives)) = schema.shift_remove(keyword) {
                if keyword == "oneOf" {
                    self.report.add(
                        path,
                        keyword,
                        Change::Rewritten,
                        "the provider has `anyOf` only",
                    );
                }
                return self.either(node, schema, alternatives, keyword);
            }
        }
        take_words(&mut node, &mut schema);
        show_conditional(&mut schema, path, self.report);
        self.notes(&mut node, &mut schema);
        let mut kinds = self.kinds(&mut node, &mut schema);
        node.form = match kinds.len() {
            0 => Form::Any,
            1 => self.form(kinds.swap_remove(0), &mut node, schema),
            _ => {
                self.report.add(
                    path,
                    "type",
                    Change::Rewritten,
                    "one alternative for each type",
                );
                for keyword in schema.keys() {
                    let of = |kind: &&str| is_of(keyword, kind);
                    if !kinds.iter().any(of) {
                        self.report.add(path, keyword, Change::Dropped, OF_NO_TYPE);
                    }
                }
                let alternatives = kinds.into_iter().map(|kind| {
                    let mut one = schema.clone();
                    one.insert("type".to_owned(), json!(kind));
                    keep_of(&mut one, kind);
                    let source = Value::Object(one);
                    Node {
                        source: source.clone(),
                        ..self.shape(source, path)
                    }
                });
                Form::Either(alternatives.collect())
            }
        };
        node
    }

    fn notes(&mut self, node: &mut Node, schema: &mut Map<String, Value>) {
        for keyword in DESCRIBED {
            if let Some(value) = schema.shift_remove(keyword) {
                self.describe(node, keyword, &value);
            }
        }
        let known = |keyword: &str| {
            KEYWORDS.iter().any(|(_, all)| all.contains(&keyword))
                || matches!(keyword, "type" | "enum" | "const")
        };
        let unknown: Vec<String> = schema
            .keys()
            .filter(|keyword| !known(keyword))
            .cloned()
            .collect();
        for keyword in unknown {
            schema.shift_remove(&keyword);
            self.report.add(
                &node.path,
                &keyword,
                Change::Dropped,
                "the provider does not have it, and models need not know",
            );
        }
    }

    fn describe(&mut self, node: &mut Node, keyword: &str, value: &Value) {
        self.report.add(
            &node.path,
            keyword,
            Change::Described,
            "the provider does not have it",
        );
        node.notes.push(format!("({keyword}: {})", words(value)));
    }

    /// The types it may have, without null.
    fn kinds(&mut self, node: &mut Node, schema: &mut Map<String, Value>) -> Vec<&'static str> {
        if let Some(value) = schema.shift_remove("const") {
            self.report.add(
                &node.path,
                "const",
                Change::Rewritten,
                "it is an `enum` of one",
            );
            schema.insert("enum".to_owned(), json!([value]));
        }
        let values = schema.get("enum").and_then(Value::as_array);
        let declared: Vec<&str> = match schema.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let mut kinds: Vec<&'static str> = Vec::new();
        for (kind, keywords) in KEYWORDS {
            let has = match values {
                Some(values) => {
                    let of = |value: &&Value| {
                        kind_of(value) == kind
                            && (declared.is_empty()
                                || declared.contains(&kind)
                                || kind == "integer" && declared.contains(&"number"))
                    };
                    values.iter().any(|value| of(&value))
                }
                None if declared.is_empty() => {
                    // Formats are of texts, most of the time, and what may be any number may be an integer.
                    let says = |keyword: &str| {
                        schema.contains_key(keyword) && (kind == "string" || keyword != "format")
                    };
                    kind != "integer" && keywords.iter().any(|keyword| says(keyword))
                }
                None => declared.contains(&kind),
            };
            if has {
                kinds.push(kind);
            }
        }
        if kinds.contains(&"number") {
            kinds.retain(|kind| *kind != "integer");
        }
        node.nullable |= declared.contains(&"null")
            && values.is_none_or(|values| values.contains(&Value::Null))
            || declared.is_empty() && values.is_some_and(|values| values.contains(&Value::Null));
        if kinds.is_empty() && node.nullable {
            kinds.push("null");
        }
        if declared.is_empty() && !kinds.is_empty() {
            self.report.add(
                &node.path,
                "type",
                Change::Rewritten,
                "it was not said, other keywords tell it",
            );
        }
        kinds
    }

    fn form(
        &mut self,
        kind: &'static str,
        node: &mut Node,
        mut schema: Map<String, Value>,
    ) -> Form {
        schema.shift_remove("type");
        let others: Vec<String> = {
            let own = KEYWORDS
                .iter()
                .find(|(known, _)| *known == kind)
                .map_or(&[][..], |(_, all)| *all);
            schema
                .keys()
                .filter(|keyword| !own.contains(&keyword.as_str()) && *keyword != "enum")
                .cloned()
                .collect()
        };
        for keyword in others {
            schema.shift_remove(&keyword);
            self.report
                .add(&node.path, &keyword, Change::Dropped, OF_NO_TYPE);
        }
        let values = schema.shift_remove("enum");
        let values = values.and_then(|values| values.as_array().cloned());
        match kind {
            "object" | "array" if values.is_some() => {
                // Constants that are no scalars: rare enough to be told in words.
                self.describe(node, "enum", &Value::Array(values.unwrap_or_default()));
                for keyword in schema.keys() {
                    let reason = "its values are all told";
                    self.report
                        .add(&node.path, keyword, Change::Dropped, reason);
                }
                Form::Any
            }
            "object" => self.object(&node.path.clone(), node, schema),
            "array" => {
                let first = match schema.shift_remove("prefixItems") {
                    Some(Value::Array(first)) => first,
                    _ => Vec::new(),
                };
                let first = first.into_iter().enumerate().map(|(step, schema)| {
                    self.shape(
                        schema,
                        &at(&node.path, "prefixItems", Some(&step.to_string())),
                    )
                });
                let first: Vec<Node> = first.collect();
                let rest = schema
                    .shift_remove("items")
                    .map(|items| self.shape(items, &at(&node.path, "items", None)));
                Form::List {
                    first,
                    rest: rest.map(Box::new),
                    keywords: schema,
                }
            }
            _ => Form::Scalar {
                kind,
                keywords: schema,
                values: values.map(|values| {
                    values
                        .into_iter()
                        .filter(|value| !value.is_null())
                        .collect()
                }),
            },
        }
    }

    fn object(&mut self, path: &str, node: &mut Node, mut schema: Map<String, Value>) -> Form {
        let named = match schema.shift_remove("properties") {
            Some(Value::Object(named)) => named,
            _ => Map::new(),
        };
        let required = match schema.shift_remove("required") {
            Some(Value::Array(names)) => names,
            _ => Vec::new(),
        };
        let mut members: Vec<(String, Node, bool)> = Vec::new();
        for (name, member) in named {
            let is_required = required.iter().any(|known| *known == name);
            let member = self.shape(member, &at(path, "properties", Some(&name)));
            if matches!(member.form, Form::Never) && !member.nullable {
                self.report.add(
                    path,
                    "properties",
                    Change::Dropped,
                    "a member that nothing fits is not shown",
                );
            } else {
                members.push((name, member, is_required));
            }
        }
        for name in required {
            let Value::String(name) = name else {
                continue;
            };
            if !members.iter().any(|(known, ..)| *known == name) {
                self.report.add(
                    path,
                    "required",
                    Change::Rewritten,
                    "a member that is only required is shown as any value",
                );
                let any = self.shape(json!({}), &at(path, "properties", Some(&name)));
                members.push((name, any, true));
            }
        }
        let unevaluated = schema.shift_remove("unevaluatedProperties");
        let patterns = schema.shift_remove("patternProperties");
        let additional = schema.shift_remove("additionalProperties");
        if additional.is_some() && unevaluated.is_some() {
            let reason = "`additionalProperties` says which others there may be";
            self.report
                .add(path, "unevaluatedProperties", Change::Dropped, reason);
        }
        let additional = additional.or(unevaluated);
        let mut rest = match additional {
            None => Rest::Unsaid,
            Some(Value::Bool(false)) => Rest::Closed,
            Some(schema) => Rest::Of(Box::new(
                self.shape(schema, &at(path, "additionalProperties", None)),
            )),
        };
        if let Some(Value::Object(patterns)) = patterns {
            let names: Vec<Value> = patterns.keys().map(|name| json!(name)).collect();
            self.describe(node, "patternProperties", &Value::Array(names));
            let mut schemas = patterns.into_iter();
            // One pattern and nothing else: that is what the values are.
            rest = match (rest, schemas.next(), schemas.next()) {
                (Rest::Closed, Some((name, schema)), None) => Rest::Of(Box::new(
                    self.shape(schema, &at(path, "patternProperties", Some(&name))),
                )),
                (rest, ..) => {
                    if !matches!(rest, Rest::Unsaid) {
                        let reason = "beside patterns, members may be anything";
                        self.report
                            .add(path, "additionalProperties", Change::Dropped, reason);
                    }
                    Rest::Of(Box::new(
                        self.shape(json!({}), &at(path, "additionalProperties", None)),
                    ))
                }
            };
        }
        Form::Object {
            members,
            rest,
            keywords: schema,
        }
    }
}

/// Title and description.
fn take_words(node: &mut Node, schema: &mut Map<String, Value>) {
    let mut text = |keyword| match schema.shift_remove(keyword) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    };
    node.title = text("title");
    node.description = text("description");
    node.default_null = schema.get("default") == Some(&Value::Null);
}
