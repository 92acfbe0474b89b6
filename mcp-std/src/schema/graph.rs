//! The subschemas of a schema and how they lead to each other: what is needed to refuse references to the outside, and
//! to know what a validation will cost before it runs. jsonschema itself knows no bounds.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value};

use super::violation::shorten;
use super::{MAX_COMPOSED, MAX_NESTING, MAX_PATTERNS, MAX_STEPS, MAX_SUBSCHEMAS, SchemaError};

/// Texts are gone through once per check that is about their characters: so many bytes cost as much as one check.
const TEXT_PER_STEP: usize = 64;

/// The root is the first.
pub(super) struct Graph {
    subschemas: Vec<Subschema>,
    /// The most steps that one value inside of the instance can cost, or `None` if that depends on the instance: a schema
    /// that contains itself, or nests very deep.
    per_value: Option<u64>,
}

/// Indices of the subschemas that apply to …
#[derive(Default)]
struct Subschema {
    /// … the same value.
    here: Vec<usize>,
    /// … the member of this name.
    properties: Vec<(String, usize)>,
    /// … any member.
    members: Vec<usize>,
    /// … the names of members.
    names: Vec<usize>,
    /// … the element at this place.
    prefix: Vec<usize>,
    /// … any element.
    items: Vec<usize>,
    /// The values of its other keywords, to which a value may be compared.
    weight: u64,
    /// It has `unevaluated…`, which looks at what applies to the same value a second time.
    again: bool,
    pattern: bool,
    /// It compares a value with others: `uniqueItems`, `const`, `enum`.
    compares: bool,
}

impl Graph {
    pub(super) fn new(schema: &Value) -> Result<Self, SchemaError> {
        let mut builder = Builder {
            root: schema,
            subschemas: Vec::new(),
            found: HashMap::new(),
            resources: vec![Resource {
                root: schema,
                id: None,
            }],
            anchors: Vec::new(),
            references: VecDeque::new(),
            patterns: 0,
        };
        builder.add(schema, 0)?;
        // What is referred to may be at a place where no schema was found, and refer further.
        while let Some(reference) = builder.references.pop_front() {
            builder.resolve(&reference)?;
        }
        let subschemas = builder.subschemas;
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

fn count(value: &Value) -> u64 {
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

/// A schema with an identity of its own: `#` inside of it is its root.
struct Resource<'s> {
    root: &'s Value,
    id: Option<&'s str>,
}

struct Anchor<'s> {
    resource: usize,
    name: &'s str,
    dynamic: bool,
    subschema: usize,
}

/// Is looked up when everything that can be referred to is known.
struct Reference<'s> {
    from: usize,
    resource: usize,
    target: &'s str,
    dynamic: bool,
}

struct Builder<'s> {
    root: &'s Value,
    subschemas: Vec<Subschema>,
    /// By their place in memory, which is their identity.
    found: HashMap<*const Value, usize>,
    resources: Vec<Resource<'s>>,
    anchors: Vec<Anchor<'s>>,
    references: VecDeque<Reference<'s>>,
    patterns: usize,
}

impl<'s> Builder<'s> {
    /// Recursion is as deep as the JSON of the schema: at most 128.
    fn add(&mut self, schema: &'s Value, mut resource: usize) -> Result<usize, SchemaError> {
        let address: *const Value = schema;
        if let Some(at) = self.found.get(&address) {
            return Ok(*at);
        }
        let at = self.subschemas.len();
        if at == MAX_SUBSCHEMAS {
            return Err(SchemaError::TooLarge("it has more than 4096 subschemas"));
        }
        self.found.insert(address, at);
        self.subschemas.push(Subschema {
            weight: 1,
            ..Subschema::default()
        });
        let Value::Object(keywords) = schema else {
            return Ok(at);
        };
        if let Some(id) = text(keywords, "$id").filter(|id| !id.starts_with('#')) {
            let id = Some(id.strip_suffix('#').unwrap_or(id));
            if at == 0 {
                self.resources[0].id = id;
            } else {
                if self.resources.iter().any(|resource| resource.id == id) {
                    return Err(SchemaError::Reference(shorten(
                        id.unwrap_or_default().into(),
                    )));
                }
                resource = self.resources.len();
                self.resources.push(Resource { root: schema, id });
            }
        }
        // One dialect for the whole schema: parts of another would be bounded by the wrong keywords.
        if let Some(dialect) = text(keywords, "$schema")
            && self.root.get("$schema").and_then(Value::as_str) != Some(dialect)
        {
            return Err(SchemaError::Dialect(shorten(dialect.to_owned())));
        }
        self.add_anchors(keywords, at, resource);
        self.add_keywords(keywords, at, resource)?;
        Ok(at)
    }

    fn add_anchors(&mut self, keywords: &'s Map<String, Value>, at: usize, resource: usize) {
        // draft-07 and before have anchors as `$id`.
        let older = text(keywords, "$id").and_then(|id| id.strip_prefix('#'));
        let recursive = keywords.get("$recursiveAnchor") == Some(&Value::Bool(true));
        let anchors = [
            (older, false),
            (text(keywords, "$anchor"), false),
            (text(keywords, "$dynamicAnchor"), true),
            (recursive.then_some(""), true),
        ];
        for (name, dynamic) in anchors {
            self.anchors.extend(name.map(|name| Anchor {
                resource,
                name,
                dynamic,
                subschema: at,
            }));
        }
    }

    fn add_keywords(
        &mut self,
        keywords: &'s Map<String, Value>,
        at: usize,
        resource: usize,
    ) -> Result<(), SchemaError> {
        for (keyword, value) in keywords {
            match keyword.as_str() {
                "$ref" | "$dynamicRef" | "$recursiveRef" => {
                    self.references
                        .extend(value.as_str().map(|target| Reference {
                            from: at,
                            resource,
                            target,
                            dynamic: keyword != "$ref",
                        }));
                }
                "not" | "if" | "then" | "else" => {
                    let added = self.add(value, resource)?;
                    self.subschemas[at].here.push(added);
                }
                "allOf" | "anyOf" | "oneOf" => {
                    let added = self.add_all(value.as_array().into_iter().flatten(), resource)?;
                    self.subschemas[at].here.extend(added);
                }
                "dependentSchemas" | "dependencies" => {
                    // The older keyword has lists of names as well.
                    let schemas = members(value).filter(|value| !value.is_array());
                    let added = self.add_all(schemas, resource)?;
                    self.subschemas[at].here.extend(added);
                }
                "properties" => {
                    for (name, value) in value.as_object().into_iter().flatten() {
                        let added = self.add(value, resource)?;
                        self.subschemas[at].properties.push((name.clone(), added));
                    }
                }
                "patternProperties" => {
                    let patterns = value.as_object().map_or(0, Map::len);
                    self.add_patterns(patterns)?;
                    let added = self.add_all(members(value), resource)?;
                    self.subschemas[at].members.extend(added);
                }
                "additionalProperties" | "unevaluatedProperties" => {
                    let added = self.add(value, resource)?;
                    let subschema = &mut self.subschemas[at];
                    subschema.members.push(added);
                    subschema.again |= keyword == "unevaluatedProperties";
                }
                "propertyNames" => {
                    let added = self.add(value, resource)?;
                    self.subschemas[at].names.push(added);
                }
                "prefixItems" => {
                    let added = self.add_all(value.as_array().into_iter().flatten(), resource)?;
                    self.subschemas[at].prefix = added;
                }
                "items" if value.is_array() => {
                    let added = self.add_all(value.as_array().into_iter().flatten(), resource)?;
                    self.subschemas[at].prefix = added;
                }
                "items" | "additionalItems" | "contains" | "unevaluatedItems" => {
                    let added = self.add(value, resource)?;
                    let subschema = &mut self.subschemas[at];
                    subschema.items.push(added);
                    subschema.again |= keyword == "unevaluatedItems";
                }
                "$defs" | "definitions" => {
                    self.add_all(members(value), resource)?;
                }
                "pattern" => {
                    self.add_patterns(1)?;
                    self.subschemas[at].pattern = true;
                }
                _ => {
                    let subschema = &mut self.subschemas[at];
                    subschema.compares |= matches!(keyword.as_str(), "const" | "enum")
                        || (keyword == "uniqueItems" && value == &Value::Bool(true));
                    // `required` and the like; what is only said about the schema is not looked at.
                    if !matches!(keyword.as_str(), "default" | "examples" | "description") {
                        subschema.weight += count(value) / 8;
                    }
                }
            }
        }
        Ok(())
    }

    fn add_all(
        &mut self,
        schemas: impl Iterator<Item = &'s Value>,
        resource: usize,
    ) -> Result<Vec<usize>, SchemaError> {
        schemas.map(|schema| self.add(schema, resource)).collect()
    }

    fn add_patterns(&mut self, patterns: usize) -> Result<(), SchemaError> {
        self.patterns += patterns;
        if self.patterns > MAX_PATTERNS {
            return Err(SchemaError::TooLarge("it has more than 128 patterns"));
        }
        Ok(())
    }

    fn resolve(&mut self, reference: &Reference<'s>) -> Result<(), SchemaError> {
        let outside = || SchemaError::Reference(shorten(reference.target.to_owned()));
        let (uri, fragment) = reference
            .target
            .split_once('#')
            .unwrap_or((reference.target, ""));
        let resource = if uri.is_empty() {
            reference.resource
        } else {
            let known = |resource: &Resource<'_>| resource.id == Some(uri);
            self.resources.iter().position(known).ok_or_else(outside)?
        };
        let mut targets = Vec::new();
        if reference.dynamic {
            let dynamic = |anchor: &&Anchor<'_>| anchor.dynamic && anchor.name == fragment;
            targets.extend(
                self.anchors
                    .iter()
                    .filter(dynamic)
                    .map(|anchor| anchor.subschema),
            );
        }
        if fragment.is_empty() || fragment.starts_with('/') {
            let pointer = percent_decoded(fragment).ok_or_else(outside)?;
            let root = self.resources[resource].root;
            let target = root.pointer(&pointer).ok_or_else(outside)?;
            targets.push(self.add(target, resource)?);
        } else {
            let named =
                |anchor: &&Anchor<'_>| anchor.resource == resource && anchor.name == fragment;
            targets.extend(
                self.anchors
                    .iter()
                    .filter(named)
                    .map(|anchor| anchor.subschema),
            );
        }
        if targets.is_empty() {
            return Err(outside());
        }
        targets.sort_unstable();
        targets.dedup();
        self.subschemas[reference.from].here.extend(targets);
        Ok(())
    }
}

fn text<'s>(keywords: &'s Map<String, Value>, keyword: &str) -> Option<&'s str> {
    keywords.get(keyword).and_then(Value::as_str)
}

fn members(value: &Value) -> impl Iterator<Item = &Value> {
    value
        .as_object()
        .into_iter()
        .flatten()
        .map(|(_, value)| value)
}

/// `None`: it is not UTF-8, or an escape is not one.
fn percent_decoded(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(if byte == b'%' {
            let digits = [rest.next()?, rest.next()?];
            let digit = |byte: u8| char::from(byte).to_digit(16);
            u8::try_from(digit(digits[0])? * 16 + digit(digits[1])?).ok()?
        } else {
            byte
        });
    }
    String::from_utf8(bytes).ok()
}
