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
                self.null(&mut node, &merged, &path);
                continue;
            }
            let mut shaped = Node {
                source: merged.clone(),
                ..self.shape(merged, &path)
            };
            node.nullable |= core::mem::take(&mut shaped.nullable);
            match shaped.form {
                Form::Never => self.report.add(
                    &path,
                    "",
                    Change::Dropped,
                    "an alternative that nothing fits is not shown",
                ),
                // Flat: no provider needs the levels.
                Form::Either(inner)
                    if shaped.notes.is_empty()
                        && shaped.description.is_none()
                        && shaped.title.is_none() =>
                {
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
        if let Some(values) = self.enumerated(&mut nodes, &mut node) {
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
                if node.title.is_some() && only.title.is_some() {
                    self.outdone(&only.path, "title");
                }
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

    /// What is said of null, which is no alternative any more: words go into the description.
    fn null(&mut self, node: &mut Node, schema: &Value, path: &str) {
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            match keyword.as_str() {
                "type" | "const" | "enum" => {}
                "description" | "title" => {
                    self.report
                        .add(path, keyword, Change::Described, "null is no alternative");
                    node.notes.push(format!("(null: {})", words(value)));
                }
                _ => self.report.add(
                    path,
                    keyword,
                    Change::Dropped,
                    "it asks nothing of a value of this type",
                ),
            }
        }
    }

    fn outdone(&mut self, path: &str, keyword: &str) {
        self.report.add(
            path,
            keyword,
            Change::Dropped,
            "that of the schema around it goes before it",
        );
    }

    /// Alternatives that are constants of one type, as one `enum`, what is said of each as words.
    fn enumerated(&mut self, nodes: &mut Vec<Node>, node: &mut Node) -> Option<Form> {
        let mut kind = None;
        for alternative in nodes.iter() {
            match &alternative.form {
                Form::Scalar {
                    kind: this,
                    values: Some(_),
                    ..
                } if kind.is_none_or(|known| known == *this) => kind = Some(*this),
                Form::Any
                | Form::Never
                | Form::Scalar { .. }
                | Form::List { .. }
                | Form::Object { .. }
                | Form::Either(_) => return None,
            }
        }
        let kind = kind?;
        let mut all: Vec<Value> = Vec::new();
        let mut told = Vec::new();
        for alternative in nodes.drain(..) {
            let Form::Scalar {
                keywords,
                values: Some(values),
                ..
            } = alternative.form
            else {
                continue;
            };
            for keyword in keywords.keys() {
                self.report.add(
                    &alternative.path,
                    keyword,
                    Change::Dropped,
                    "its values are all told, and it asks nothing more of them",
                );
            }
            let mut sentences: Vec<String> = Vec::new();
            for (keyword, said) in [
                ("title", alternative.title),
                ("description", alternative.description),
            ] {
                if let Some(said) = said.filter(|said| !said.is_empty()) {
                    self.report.add(
                        &alternative.path,
                        keyword,
                        Change::Described,
                        "the alternatives are one `enum`",
                    );
                    sentences.push(said);
                }
            }
            sentences.extend(alternative.notes);
            if !sentences.is_empty() {
                let names: Vec<String> = values.iter().map(words).collect();
                told.push(format!("{}: {}", names.join(", "), sentences.join(" ")));
            }
            for value in values {
                if !all.contains(&value) {
                    all.push(value);
                }
            }
        }
        if !told.is_empty() {
            node.notes.push(format!("({})", told.join("; ")));
        }
        Some(Form::Scalar {
            kind,
            keywords: Map::new(),
            values: Some(all),
        })
    }
}
