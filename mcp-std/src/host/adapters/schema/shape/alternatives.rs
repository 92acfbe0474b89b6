//! `anyOf` and `oneOf`.

use serde_json::{Map, Value, json};

use super::super::merge::merge;
use super::super::{Change, MAX_LOWERED, at, inline, words};
use super::{Form, Node, Shaper, take_words};

/// What alternatives may be merged with, in bytes: each has a copy of what is asked of all of them.
const MAX_MERGED: usize = 4 * MAX_LOWERED;

impl Shaper<'_> {
    /// Alternatives: each with what is asked of all of them.
    pub(super) fn either(
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
        let weight = inline::weight(&Value::Object(base.clone()));
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
