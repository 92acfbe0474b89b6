//! `anyOf`.

use serde_json::{Map, Value};

use super::super::Change;
use super::super::plan::{Alternative, Plan};
use super::super::shape::{Form, Node, Rest};
use super::{Emitter, Subset, about, owned};

impl<S: Subset> Emitter<'_, S> {
    /// `None`: arguments could not be told apart on their way back.
    pub(super) fn either(
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
