//! Shapes as schemas of a subset of JSON Schema, and the way back for arguments.
//!
//! What a subset cannot say of a value is encoded, so that no argument is lost: any value is a text with its JSON, an
//! object of any members a list of pairs.

use serde_json::{Map, Value, json};

use super::plan::{Absence, Alternative, Member, NULL, Plan, Rest as RestPlan};
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
                    self.tell(&mut node, keywords);
                    return text(node, OBJECT_AS_TEXT);
                }
                Rest::Of(of) if members.is_empty() && matches!(of.form, Form::Any) => {
                    self.report.add(
                        &node.path,
                        "additionalProperties",
                        Change::Rewritten,
                        "the provider has no objects of any members: it is a text with JSON",
                    );
                    self.tell(&mut node, keywords);
                    return text(node, OBJECT_AS_TEXT);
                }
                Rest::Closed if members.is_empty() && !S::CLOSED => {
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

    fn list(
        &mut self,
        node: &mut Node,
        first: Vec<Node>,
        rest: Option<Node>,
        keywords: Map<String, Value>,
        level: usize,
    ) -> (Map<String, Value>, Plan) {
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("array"));
        let tuple = !first.is_empty();
        let count = first.len();
        let closed = rest
            .as_ref()
            .is_some_and(|rest| matches!(rest.form, Form::Never));
        let path = super::at(&node.path, "items", None);
        let rest = rest
            .filter(|_| !closed)
            .or_else(|| (!tuple).then(|| any(path)));
        let mut all = Vec::new();
        let mut plans = Vec::new();
        for element in first {
            let (element, plan) = self.node(element, level + 1);
            if !all.contains(&element) {
                all.push(element);
            }
            plans.push(plan);
        }
        let mut others = Plan::Same;
        if let Some(rest) = rest {
            let (element, plan) = self.node(rest, level + 1);
            if !all.contains(&element) {
                all.push(element);
            }
            others = plan;
        }
        if tuple {
            self.report.add(
                &node.path,
                "prefixItems",
                Change::Rewritten,
                "the provider has one schema for all elements",
            );
            node.notes.push(format!(
                "(the first {count} elements: in the order of the alternatives)"
            ));
        }
        let items = match all.len() {
            1 => all.swap_remove(0),
            _ => Value::Object(self.subset.either(all, Map::new())),
        };
        schema.insert("items".to_owned(), items);
        schema.extend(self.keywords(node, "array", keywords));
        if closed && tuple && !schema.contains_key("maxItems") {
            schema.insert("maxItems".to_owned(), json!(count));
        }
        let plan = if others == Plan::Same && plans.iter().all(|plan| *plan == Plan::Same) {
            Plan::Same
        } else {
            Plan::List(plans, Box::new(others))
        };
        (schema, plan)
    }

    /// A list of pairs, for an object whose members have any names.
    fn pairs(&mut self, of: Node, level: usize) -> (Map<String, Value>, Plan) {
        let (value, plan) = self.node(of, level + 2);
        let mut pair = Map::new();
        pair.insert("type".to_owned(), json!("object"));
        pair.insert(
            "properties".to_owned(),
            json!({"key": {"type": "string"}, "value": value}),
        );
        pair.insert("required".to_owned(), json!(["key", "value"]));
        if S::CLOSED {
            pair.insert("additionalProperties".to_owned(), json!(false));
        }
        let mut list = Map::new();
        list.insert("type".to_owned(), json!("array"));
        list.insert("items".to_owned(), Value::Object(pair));
        (list, plan)
    }

    fn object(
        &mut self,
        node: &mut Node,
        members: Vec<(String, Node, bool)>,
        rest: Rest,
        keywords: Map<String, Value>,
        level: usize,
    ) -> (Value, Plan) {
        let mut named = Map::new();
        let mut required = Vec::new();
        let mut plans = Vec::new();
        for (name, member, is_required) in members {
            let (member, plan, absence) = self.member(member, is_required, level);
            if is_required || S::CLOSED {
                required.push(json!(name));
            }
            named.insert(name.clone(), member);
            plans.push(Member {
                name,
                plan,
                absence,
            });
        }
        let rest = match rest {
            Rest::Of(of) => {
                self.report.add(&node.path, "additionalProperties", Change::Rewritten, "the provider has no members of any name: they are a list of pairs in one more member");
                let mut name = "additional_members".to_owned();
                while named.contains_key(&name) {
                    name.push('_');
                }
                let (mut pairs, plan) = self.pairs(*of, level + 1);
                pairs.insert(
                    "description".to_owned(),
                    json!(format!("All other members. {PAIRS}")),
                );
                if S::CLOSED {
                    self.subset.nullable(&mut pairs);
                    required.push(json!(name));
                }
                named.insert(name.clone(), Value::Object(pairs));
                Some(RestPlan {
                    name,
                    plan: Box::new(plan),
                    nullable: S::CLOSED,
                })
            }
            Rest::Closed if !S::CLOSED => {
                self.report.add(
                    &node.path,
                    "additionalProperties",
                    Change::Dropped,
                    "the provider does not have it; the server refuses other members",
                );
                None
            }
            Rest::Closed | Rest::Unsaid => None,
        };
        let mut schema = Map::new();
        schema.insert("type".to_owned(), json!("object"));
        let kept = self.keywords(node, "object", keywords);
        if level == 0 {
            about(node, &mut schema);
        }
        schema.insert("properties".to_owned(), Value::Object(named));
        if S::CLOSED || !required.is_empty() {
            schema.insert("required".to_owned(), Value::Array(required));
        }
        if S::CLOSED {
            schema.insert("additionalProperties".to_owned(), json!(false));
        }
        schema.extend(kept);
        let same = |member: &Member| member.plan == Plan::Same && member.absence == Absence::Absent;
        let plan = if rest.is_none() && plans.iter().all(same) {
            Plan::Same
        } else {
            Plan::Object(plans, rest)
        };
        (Value::Object(schema), plan)
    }

    fn member(&mut self, member: Node, is_required: bool, level: usize) -> (Value, Plan, Absence) {
        let null_is_a_value = member.nullable && !member.default_null;
        let is_null = matches!(member.form, Form::Scalar { kind: "null", .. });
        let path = member.path.clone();
        let (schema, plan) = self.node(member, level + 1);
        if !S::CLOSED || is_required {
            return (schema, plan, Absence::Absent);
        }
        let mut schema = owned(schema);
        // A text says null itself.
        if !(null_is_a_value || is_null) || plan == Plan::Text {
            self.subset.nullable(&mut schema);
            return (Value::Object(schema), plan, Absence::Null);
        }
        self.report.add(
            &path,
            "type",
            Change::Rewritten,
            "null leaves the member out: null itself is a text",
        );
        let words = schema.shift_remove("description");
        let mut about = Map::new();
        let words = words.as_ref().and_then(Value::as_str).unwrap_or_default();
        let sentence = format!("{words} null leaves it out, \"{NULL}\" sets it to null.");
        about.insert("description".to_owned(), json!(sentence.trim_start()));
        let null = json!({"type": "string", "enum": [NULL]});
        let mut alternatives = match schema.shift_remove("anyOf") {
            Some(Value::Array(all)) => all,
            _ => vec![Value::Object(schema)],
        };
        alternatives.push(null);
        let mut schema = self.subset.either(alternatives, about);
        if is_null {
            self.subset.nullable(&mut schema);
        }
        (Value::Object(schema), plan, Absence::NullEscaped)
    }

    /// `None`: arguments could not be told apart on their way back.
    fn either(
        &mut self,
        node: &mut Node,
        alternatives: Vec<Node>,
        level: usize,
    ) -> Option<(Map<String, Value>, Plan)> {
        let lists = alternatives
            .iter()
            .any(|it| matches!(it.form, Form::List { .. }));
        let mut all = Vec::new();
        let mut schemas: Vec<Value> = Vec::new();
        for mut alternative in alternatives {
            let pairs = matches!(&alternative.form, Form::Object { members, rest: Rest::Of(_), .. } if members.is_empty());
            if lists && pairs {
                // An empty list of pairs would be taken for the list.
                self.report.add(
                    &alternative.path,
                    "additionalProperties",
                    Change::Rewritten,
                    "beside a list it is a text with JSON",
                );
                if let Form::Object { rest, .. } = &mut alternative.form {
                    *rest = Rest::Unsaid;
                }
            }
            let schema = core::mem::take(&mut alternative.source);
            let (lowered, plan) = self.node(alternative, level);
            if !schemas.contains(&lowered) {
                schemas.push(lowered.clone());
            }
            all.push(Alternative {
                schema,
                lowered,
                plan,
            });
        }
        let texts = all.iter().filter(|it| says(&it.lowered, "string")).count();
        let encoded = all.iter().any(|it| it.plan == Plan::Text);
        if texts > 1 && encoded {
            self.report.add(
                &node.path,
                "anyOf",
                Change::Rewritten,
                "one alternative is a text with JSON, another one a text",
            );
            return None;
        }
        let plan = if all.iter().all(|it| it.plan == Plan::Same) {
            Plan::Same
        } else {
            Plan::Either(all)
        };
        let schema = match schemas.len() {
            1 => owned(schemas.swap_remove(0)),
            _ => {
                let mut words = Map::new();
                about(node, &mut words);
                self.subset.either(schemas, words)
            }
        };
        Some((schema, plan))
    }
}

/// Whether a schema allows this type, anywhere in its alternatives.
fn says(schema: &Value, kind: &str) -> bool {
    let own = match schema.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(|known| known == kind),
        Some(known) => known == kind,
        None => false,
    };
    let alternatives = schema.get("anyOf").and_then(Value::as_array);
    own || alternatives.is_some_and(|all| all.iter().any(|it| says(it, kind)))
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

fn any(path: String) -> Node {
    Node {
        path,
        title: None,
        description: None,
        notes: Vec::new(),
        nullable: false,
        default_null: false,
        form: Form::Any,
        source: Value::Null,
    }
}
