//! Lists.

use serde_json::{Map, Value, json};

use super::super::plan::Plan;
use super::super::shape::{Form, Node};
use super::super::{Change, at};
use super::{Emitter, Subset};

impl<S: Subset> Emitter<'_, S> {
    pub(super) fn list(
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
        if closed {
            let reason = "the provider has no `items` that nothing fits: there are at most so many";
            self.report
                .add(&node.path, "items", Change::Rewritten, reason);
        }
        let path = at(&node.path, "items", None);
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
        if closed && !schema.contains_key("maxItems") {
            schema.insert("maxItems".to_owned(), json!(count));
        }
        let plan = if others == Plan::Same && plans.iter().all(|plan| *plan == Plan::Same) {
            Plan::Same
        } else {
            Plan::List(plans, Box::new(others))
        };
        (schema, plan)
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
