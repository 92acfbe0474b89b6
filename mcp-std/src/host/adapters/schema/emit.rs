//! Shapes as schemas of a subset of JSON Schema, and the way back for arguments.
//!
//! What a subset cannot say of a value is encoded, so that no argument is lost: any value is a text with its JSON, an
//! object of any members a list of pairs.

mod alternatives;
mod lists;
mod objects;

use serde_json::{Map, Value, json};

use super::plan::Plan;
use super::shape::{Form, Node, Rest};
use super::{Change, Report, words};

/// What a provider has of JSON Schema.
pub(super) trait Subset {
    /// All members are required and no others may be there: those that can be left out are nullable.
    const CLOSED: bool;
    /// So deep may objects and lists be inside each other.
    const LEVELS: usize;
    /// Whether the keyword can be asked of a value of this type. It may be changed.
    fn keeps(&self, kind: &str, keyword: &mut String, value: &mut Value) -> bool;
    /// Whether these can be the only values.
    fn enumerates(&mut self, kind: &str, values: &[Value]) -> bool;
    /// Allows null as well.
    fn nullable(&self, schema: &mut Map<String, Value>);
    /// One of these; `about` is what is said of all of them.
    fn either(&self, alternatives: Vec<Value>, about: Map<String, Value>) -> Map<String, Value>;
}

pub(super) struct Emitter<'r, S> {
    pub(super) subset: S,
    pub(super) report: &'r mut Report,
}

/// What describes a value whose JSON is in a text.
const AS_TEXT: &str = "Any JSON value, written as JSON text.";
const OBJECT_AS_TEXT: &str = "A JSON object, written as JSON text.";
const PAIRS: &str = "Members as a list of `key` and `value`.";

impl<S: Subset> Emitter<'_, S> {
    pub(super) fn root(&mut self, mut node: Node) -> (Value, Plan) {
        let form = core::mem::replace(&mut node.form, Form::Any);
        match form {
            Form::Object {
                members,
                rest,
                keywords,
            } => self.object(&mut node, members, rest, keywords, 0),
            // Flattened roots are objects.
            Form::Any | Form::Never | Form::Scalar { .. } | Form::List { .. } | Form::Either(_) => {
                self.object(&mut node, Vec::new(), Rest::Unsaid, Map::new(), 0)
            }
        }
    }

    /// Recursion is as deep as the shapes.
    fn node(&mut self, mut node: Node, level: usize) -> (Value, Plan) {
        let form = core::mem::replace(&mut node.form, Form::Any);
        let container = matches!(form, Form::List { .. } | Form::Object { .. });
        if container && level >= S::LEVELS {
            self.report.add(
                &node.path,
                "type",
                Change::Rewritten,
                "it is deeper than the provider takes",
            );
            return text(node, AS_TEXT);
        }
        let (mut schema, plan) = match form {
            Form::Any | Form::Never => return text(node, AS_TEXT),
            Form::Scalar {
                kind,
                keywords,
                values,
            } => (self.scalar(&mut node, kind, keywords, values), Plan::Same),
            Form::List {
                first,
                rest,
                keywords,
            } => self.list(&mut node, first, rest.map(|rest| *rest), keywords, level),
            Form::Object {
                members,
                rest,
                keywords,
            } => match rest {
                Rest::Unsaid if members.is_empty() => {
                    self.as_text(&node.path, "type");
                    self.tell(&mut node, keywords);
                    return text(node, OBJECT_AS_TEXT);
                }
                Rest::Of(of) if members.is_empty() && matches!(of.form, Form::Any) => {
                    self.as_text(&node.path, "additionalProperties");
                    self.tell(&mut node, keywords);
                    return text(node, OBJECT_AS_TEXT);
                }
                Rest::Closed if members.is_empty() && !S::CLOSED => {
                    self.as_text(&node.path, "additionalProperties");
                    self.tell(&mut node, keywords);
                    return text(node, OBJECT_AS_TEXT);
                }
                Rest::Of(of) if members.is_empty() => {
                    self.report.add(
                        &node.path,
                        "additionalProperties",
                        Change::Rewritten,
                        "the provider has no objects of any members: it is a list of pairs",
                    );
                    self.tell(&mut node, keywords);
                    node.notes.push(PAIRS.to_owned());
                    let (pairs, plan) = self.pairs(*of, level);
                    (pairs, Plan::Pairs(Box::new(plan)))
                }
                rest @ (Rest::Unsaid | Rest::Closed | Rest::Of(_)) => {
                    let (schema, plan) = self.object(&mut node, members, rest, keywords, level);
                    (owned(schema), plan)
                }
            },
            Form::Either(alternatives) => match self.either(&mut node, alternatives, level) {
                Some(either) => either,
                None => return text(node, AS_TEXT),
            },
        };
        about(&mut node, &mut schema);
        if node.nullable {
            self.subset.nullable(&mut schema);
        }
        (Value::Object(schema), plan)
    }

    /// Those of the keywords that the provider has; the others are told in words.
    fn keywords(
        &mut self,
        node: &mut Node,
        kind: &str,
        keywords: Map<String, Value>,
    ) -> Map<String, Value> {
        let mut kept = Map::new();
        for (keyword, mut value) in keywords {
            let mut name = keyword.clone();
            if self.subset.keeps(kind, &mut name, &mut value) {
                if name != keyword {
                    self.report.add(
                        &node.path,
                        &keyword,
                        Change::Rewritten,
                        "the provider has another keyword for it",
                    );
                }
                kept.insert(name, value);
            } else {
                self.report.add(
                    &node.path,
                    &keyword,
                    Change::Described,
                    "the provider does not have it",
                );
                node.notes.push(format!("({keyword}: {})", words(&value)));
            }
        }
        kept
    }

    fn as_text(&mut self, path: &str, keyword: &str) {
        self.report.add(
            path,
            keyword,
            Change::Rewritten,
            "the provider has no objects of any members: it is a text with JSON",
        );
    }

    /// Keywords of an object that is encoded.
    fn tell(&mut self, node: &mut Node, keywords: Map<String, Value>) {
        for (keyword, value) in keywords {
            self.report.add(
                &node.path,
                &keyword,
                Change::Described,
                "it is asked of what is encoded",
            );
            node.notes.push(format!("({keyword}: {})", words(&value)));
        }
    }

    fn scalar(
        &mut self,
        node: &mut Node,
        kind: &'static str,
        keywords: Map<String, Value>,
        values: Option<Vec<Value>>,
    ) -> Map<String, Value> {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!(kind));
        if let Some(values) = values {
            if self.subset.enumerates(kind, &values) {
                schema.insert("enum".to_owned(), Value::Array(values));
            } else {
                self.report.add(
                    &node.path,
                    "enum",
                    Change::Described,
                    "the provider does not have it for such values, or so many",
                );
                node.notes
                    .push(format!("(one of: {})", words(&Value::Array(values))));
            }
        }
        schema.extend(self.keywords(node, kind, keywords));
        if kind == "null" && !S::CLOSED {
            schema.insert("type".to_owned(), json!("string"));
            node.notes.push("(null)".to_owned());
            node.nullable = true;
        } else if kind == "null" {
            node.nullable = false;
        }
        schema
    }
}

/// A value as a text with its JSON.
fn text(mut node: Node, kind: &str) -> (Value, Plan) {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), json!("string"));
    node.notes.push(kind.to_owned());
    about(&mut node, &mut schema);
    (Value::Object(schema), Plan::Text)
}

/// Moves title and description into the schema, once.
fn about(node: &mut Node, schema: &mut Map<String, Value>) {
    if let Some(title) = node.title.take() {
        schema.insert("title".to_owned(), json!(title));
    }
    let words = node
        .description
        .take()
        .into_iter()
        .chain(node.notes.drain(..));
    let words = words
        .filter(|words| !words.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    if !words.is_empty() {
        super::describe(schema, &words);
    }
}

fn owned(schema: Value) -> Map<String, Value> {
    if let Value::Object(schema) = schema {
        schema
    } else {
        Map::new()
    }
}
