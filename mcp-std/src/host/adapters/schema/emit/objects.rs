//! Objects, and members that can be left out.

use serde_json::{Map, Value, json};

use super::super::Change;
use super::super::plan::{Absence, Member, NULL, Plan, Rest as RestPlan};
use super::super::shape::{Form, Node, Rest};
use super::{Emitter, PAIRS, Subset, about, owned};

impl<S: Subset> Emitter<'_, S> {
    /// A list of pairs, for an object whose members have any names.
    pub(super) fn pairs(&mut self, of: Node, level: usize) -> (Map<String, Value>, Plan) {
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

    pub(super) fn object(
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
}
