//! A schema as shapes: what a subset of JSON Schema can be written from.

use serde_json::{Map, Value, json};

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

/// What alternatives may be merged with, in bytes: each has a copy of what is asked of all of them.
const MAX_MERGED: usize = 4 * super::MAX_LOWERED;

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

    /// Alternatives: each with what is asked of all of them.
    fn either(
        &mut self,
        mut node: Node,
        mut base: Map<String, Value>,
        alternatives: Vec<Value>,
        keyword: &str,
    ) -> Node {
        let path = node.path.clone();
        take_words(&mut node, &mut base);
        for keyword in ["default", "examples"] {
            if let Some(value) = base.shift_remove(keyword) {
                self.describe(&mut node, keyword, &value);
            }
        }
        let weight = super::inline::weight(&Value::Object(base.clone()));
        self.bytes = self
            .bytes
            .saturating_add(weight.saturating_mul(alternatives.len()));
        if self.bytes > MAX_MERGED {
            self.report.add(
                &path,
                keyword,
                Change::Dropped,
                "with its alternatives the schema is beyond a bound",
            );
            return node;
        }
        let mut nodes = Vec::new();
        for (step, alternative) in alternatives.into_iter().enumerate() {
            let path = at(&path, keyword, Some(&step.to_string()));
            let merged = if base.is_empty() {
                alternative
            } else {
                merge(Value::Object(base.clone()), alternative, &path, self.report)
            };
            if merged.get("type") == Some(&json!("null"))
                || merged.get("const") == Some(&Value::Null)
                || merged.get("enum") == Some(&json!([null]))
            {
                node.nullable = true;
                continue;
            }
            let mut shaped = Node {
                source: merged.clone(),
                ..self.shape(merged, &path)
            };
            node.nullable |= core::mem::take(&mut shaped.nullable);
            match shaped.form {
                Form::Never => {}
                // Flat: no provider needs the levels.
                Form::Either(inner) if shaped.notes.is_empty() && shaped.description.is_none() => {
                    nodes.extend(inner)
                }
                Form::Any
                | Form::Scalar { .. }
                | Form::List { .. }
                | Form::Object { .. }
                | Form::Either(_) => nodes.push(shaped),
            }
        }
        let constants = nodes.iter().all(|one| {
            matches!(
                one.form,
                Form::Scalar {
                    values: Some(_),
                    ..
                }
            )
        });
        if keyword == "anyOf" && (nodes.len() < 2 || constants) {
            self.report.add(
                &path,
                keyword,
                Change::Rewritten,
                "one schema says the same",
            );
        }
        if let Some(values) = enumerated(&mut nodes, &mut node) {
            node.form = values;
            return node;
        }
        match nodes.len() {
            0 if node.nullable => {
                node.form = Form::Scalar {
                    kind: "null",
                    keywords: Map::new(),
                    values: None,
                };
            }
            0 => node.form = Form::Never,
            1 => {
                let only = nodes.swap_remove(0);
                node.form = only.form;
                node.title = node.title.or(only.title);
                node.description = match (node.description, only.description) {
                    (Some(ours), Some(theirs)) if ours != theirs => {
                        Some(format!("{ours} {theirs}"))
                    }
                    (ours, theirs) => ours.or(theirs),
                };
                node.notes.extend(only.notes);
            }
            _ => node.form = Form::Either(nodes),
        }
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
            self.report.add(
                &node.path,
                &keyword,
                Change::Dropped,
                "it asks nothing of a value of this type",
            );
        }
        let values = schema.shift_remove("enum");
        let values = values.and_then(|values| values.as_array().cloned());
        match kind {
            "object" | "array" if values.is_some() => {
                // Constants that are no scalars: rare enough to be told in words.
                self.describe(node, "enum", &Value::Array(values.unwrap_or_default()));
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
        let additional = schema.shift_remove("additionalProperties").or(unevaluated);
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
                _ => Rest::Of(Box::new(
                    self.shape(json!({}), &at(path, "additionalProperties", None)),
                )),
            };
        }
        Form::Object {
            members,
            rest,
            keywords: schema,
        }
    }
}

/// The keywords of each type.
const KEYWORDS: [(&str, &[&str]); 6] = [
    (
        "object",
        &[
            "properties",
            "required",
            "additionalProperties",
            "patternProperties",
            "unevaluatedProperties",
            "minProperties",
            "maxProperties",
        ],
    ),
    (
        "array",
        &[
            "items",
            "prefixItems",
            "minItems",
            "maxItems",
            "uniqueItems",
        ],
    ),
    ("string", &["minLength", "maxLength", "pattern", "format"]),
    (
        "integer",
        &[
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "format",
        ],
    ),
    (
        "number",
        &[
            "minimum",
            "maximum",
            "exclusiveMinimum",
            "exclusiveMaximum",
            "multipleOf",
            "format",
        ],
    ),
    ("boolean", &[]),
];

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Leaves the keywords and values of one type.
fn keep_of(schema: &mut Map<String, Value>, kind: &str) {
    let own = KEYWORDS
        .iter()
        .find(|(known, _)| *known == kind)
        .map_or(&[][..], |(_, all)| *all);
    schema.retain(|keyword, _| {
        own.contains(&keyword.as_str()) || matches!(keyword.as_str(), "type" | "enum")
    });
    if let Some(Value::Array(values)) = schema.get_mut("enum") {
        values.retain(|value| {
            let of = kind_of(value);
            of == kind || of == "integer" && kind == "number"
        });
    }
}

/// Alternatives that are constants of one type, as one `enum`, their descriptions as words.
fn enumerated(nodes: &mut Vec<Node>, node: &mut Node) -> Option<Form> {
    let mut all: Vec<Value> = Vec::new();
    let mut kinds = Vec::new();
    let mut told = Vec::new();
    for alternative in nodes.iter() {
        let Form::Scalar {
            kind,
            values: Some(values),
            ..
        } = &alternative.form
        else {
            return None;
        };
        kinds.push(*kind);
        for value in values {
            if !all.contains(value) {
                all.push(value.clone());
            }
        }
        if let (Some(text), [value]) = (
            alternative
                .description
                .as_ref()
                .or(alternative.title.as_ref()),
            &values[..],
        ) {
            told.push(format!("{}: {text}", words(value)));
        }
    }
    let kind = *kinds.first()?;
    if kinds.iter().any(|known| *known != kind) {
        return None;
    }
    if !told.is_empty() {
        node.notes.push(format!("({})", told.join("; ")));
    }
    nodes.clear();
    Some(Form::Scalar {
        kind,
        keywords: Map::new(),
        values: Some(all),
    })
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
