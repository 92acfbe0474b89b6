//! What validating will cost, known before it runs from how the subschemas of a schema lead to each other. jsonschema
//! itself knows no bounds.

use serde_json::Value;

use super::subschemas::{self, Subschema};
use super::{MAX_COMPOSED, MAX_NESTING, MAX_STEPS, SchemaError};

/// Texts are gone through once per check that is about their characters: so many bytes cost as much as one check.
const TEXT_PER_STEP: usize = 64;

/// The root is the first.
pub(super) struct Graph {
    subschemas: Vec<Subschema>,
    /// The most steps that one value inside of the instance can cost, or `None` if that depends on the instance: a schema
    /// that contains itself, or nests very deep.
    per_value: Option<u64>,
}

impl Graph {
    pub(super) fn new(schema: &Value) -> Result<Self, SchemaError> {
        let subschemas = subschemas::read(schema)?;
        check_composition(&subschemas)?;
        let per_value = tree_size(&subschemas);
        Ok(Self {
            subschemas,
            per_value,
        })
    }

    /// The most steps that an instance can cost whose text has so many bytes.
    pub(super) fn at_most(&self, length: usize) -> u64 {
        // `[0,0]`: a value takes two bytes; and a step for so many bytes of text, which are no values then.
        let values = (length as u64).saturating_add(1);
        self.per_value
            .map_or(u64::MAX, |per_value| per_value.saturating_mul(values))
    }

    /// The steps that `value` costs at most, found by going the way of the validation without validating.
    ///
    /// # Errors
    ///
    /// What it is too much of: more than [`MAX_STEPS`], or deeper than [`MAX_NESTING`].
    pub(super) fn steps(&self, value: &Value) -> Result<u64, &'static str> {
        let mut steps = 0;
        self.walk(0, value, 0, &mut steps)?;
        Ok(steps)
    }

    fn walk(
        &self,
        at: usize,
        value: &Value,
        depth: usize,
        steps: &mut u64,
    ) -> Result<(), &'static str> {
        let subschema = &self.subschemas[at];
        let compared = if subschema.compares {
            count(value).saturating_add(subschema.weight)
        } else {
            subschema.weight
        };
        *steps = steps
            .saturating_add(compared)
            .saturating_add(subschema.text(value));
        if *steps > MAX_STEPS {
            return Err("takes too many steps to check against the schema");
        }
        if depth == MAX_NESTING {
            return Err("nests too deep to be checked against the schema");
        }
        let depth = depth + 1;
        for _ in 0..=usize::from(subschema.again) {
            for here in &subschema.here {
                self.walk(*here, value, depth, steps)?;
            }
        }
        match value {
            Value::Object(members) => {
                for (name, at) in &subschema.properties {
                    *steps += 1;
                    if let Some(member) = members.get(name) {
                        self.walk(*at, member, depth, steps)?;
                    }
                }
                for (name, member) in members {
                    for at in &subschema.members {
                        *steps += (name.len() / TEXT_PER_STEP) as u64;
                        self.walk(*at, member, depth, steps)?;
                    }
                    if !subschema.names.is_empty() {
                        let name = Value::String(name.clone());
                        for at in &subschema.names {
                            self.walk(*at, &name, depth, steps)?;
                        }
                    }
                }
            }
            Value::Array(elements) => {
                for (at, element) in subschema.prefix.iter().zip(elements) {
                    self.walk(*at, element, depth, steps)?;
                }
                for element in elements {
                    for at in &subschema.items {
                        self.walk(*at, element, depth, steps)?;
                    }
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        Ok(())
    }
}

impl Subschema {
    /// What the characters of a text cost.
    fn text(&self, value: &Value) -> u64 {
        let Value::String(text) = value else { return 0 };
        let steps = if self.pattern {
            text.len()
        } else {
            text.len() / TEXT_PER_STEP
        };
        steps as u64
    }

    fn children(&self) -> impl Iterator<Item = usize> {
        let properties = self.properties.iter().map(|(_, at)| at);
        let lists = [&self.members, &self.names, &self.prefix, &self.items];
        properties.chain(lists.into_iter().flatten()).copied()
    }
}

pub(super) fn count(value: &Value) -> u64 {
    // The depth is that of JSON that serde_json reads: at most 128.
    1 + match value {
        Value::Array(elements) => elements.iter().map(count).sum(),
        Value::Object(members) => members.values().map(count).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// Refuses those that apply to one value in an endless or very long chain.
fn check_composition(subschemas: &[Subschema]) -> Result<(), SchemaError> {
    let mut longest = vec![None; subschemas.len()];
    for at in 0..subschemas.len() {
        chain(subschemas, at, 0, &mut longest)?;
    }
    Ok(())
}

/// How many apply to the same value one after the other, from this one on.
fn chain(
    subschemas: &[Subschema],
    at: usize,
    depth: usize,
    longest: &mut [Option<usize>],
) -> Result<usize, SchemaError> {
    if let Some(longest) = longest[at] {
        return Ok(longest);
    }
    if depth > MAX_COMPOSED {
        let mut seen = vec![false; subschemas.len()];
        let endless = leads_to(subschemas, at, at, &mut seen);
        return Err(if endless {
            SchemaError::Endless
        } else {
            SchemaError::TooLarge("more than 64 of its parts apply to one value in a chain")
        });
    }
    let mut length = 0;
    for here in &subschemas[at].here {
        length = length.max(1 + chain(subschemas, *here, depth + 1, longest)?);
    }
    if length > MAX_COMPOSED {
        return Err(SchemaError::TooLarge(
            "more than 64 of its parts apply to one value in a chain",
        ));
    }
    longest[at] = Some(length);
    Ok(length)
}

/// Whether `target` comes after `at` in some chain.
fn leads_to(subschemas: &[Subschema], at: usize, target: usize, seen: &mut [bool]) -> bool {
    let mut next = subschemas[at].here.clone();
    while let Some(at) = next.pop() {
        if at == target {
            return true;
        }
        if !core::mem::replace(&mut seen[at], true) {
            next.extend(&subschemas[at].here);
        }
    }
    false
}

/// The size of the tree that the graph is when each way to a subschema is one of its own; `None` if it is endless, or
/// deeper than may be.
fn tree_size(subschemas: &[Subschema]) -> Option<u64> {
    let mut known = vec![None; subschemas.len()];
    tree(subschemas, 0, 0, &mut known).map(|tree| tree.size)
}

#[derive(Clone, Copy)]
struct Tree {
    size: u64,
    height: usize,
}

/// The tree below one subschema. A cycle runs into the bound of the depth.
fn tree(
    subschemas: &[Subschema],
    at: usize,
    depth: usize,
    known: &mut [Option<Tree>],
) -> Option<Tree> {
    if let Some(tree) = known[at] {
        return (depth + tree.height < MAX_NESTING).then_some(tree);
    }
    if depth >= MAX_NESTING {
        return None;
    }
    let subschema = &subschemas[at];
    // What compares and what matches goes through all of a value: whatever is inside of it counts once more.
    let all = u64::from(subschema.compares) + u64::from(subschema.pattern);
    let mut size = subschema.weight.saturating_add(all);
    let mut height = 0;
    let times = if subschema.again { 2 } else { 1 };
    let here = subschema.here.iter().map(|at| (*at, times));
    for (child, times) in here.chain(subschema.children().map(|at| (at, 1))) {
        let child = tree(subschemas, child, depth + 1, known)?;
        size = size
            .saturating_add(child.size.saturating_mul(times))
            .saturating_add(1);
        height = height.max(child.height + 1);
    }
    let tree = Tree { size, height };
    known[at] = Some(tree);
    Some(tree)
}
