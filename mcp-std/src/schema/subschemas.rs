//! The subschemas of a schema and how they lead to each other: what refers to the outside is refused here.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value};

use super::graph::count;
use super::violation::shorten;
use super::{MAX_PATTERNS, MAX_SUBSCHEMAS, SchemaError, members};

/// Indices of the subschemas that apply to …
#[derive(Default)]
pub(super) struct Subschema {
    /// … the same value.
    pub(super) here: Vec<usize>,
    /// … the member of this name.
    pub(super) properties: Vec<(String, usize)>,
    /// … any member.
    pub(super) members: Vec<usize>,
    /// … the names of members.
    pub(super) names: Vec<usize>,
    /// … the element at this place.
    pub(super) prefix: Vec<usize>,
    /// … any element.
    pub(super) items: Vec<usize>,
    /// The values of its other keywords, to which a value may be compared.
    pub(super) weight: u64,
    /// It has `unevaluated…`, which looks at what applies to the same value a second time.
    pub(super) again: bool,
    pub(super) pattern: bool,
    /// It compares a value with others: `uniqueItems`, `const`, `enum`.
    pub(super) compares: bool,
}

/// All of them, the root first.
///
/// # Errors
///
/// One refers to something outside, is of another dialect, or there are too many.
pub(super) fn read(schema: &Value) -> Result<Vec<Subschema>, SchemaError> {
    let mut reader = Reader {
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
    reader.add(schema, 0)?;
    // What is referred to may be at a place where no schema was found, and refer further.
    while let Some(reference) = reader.references.pop_front() {
        reader.resolve(&reference)?;
    }
    Ok(reader.subschemas)
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

struct Reader<'s> {
    root: &'s Value,
    subschemas: Vec<Subschema>,
    /// By their place in memory, which is their identity.
    found: HashMap<*const Value, usize>,
    resources: Vec<Resource<'s>>,
    anchors: Vec<Anchor<'s>>,
    references: VecDeque<Reference<'s>>,
    patterns: usize,
}

impl<'s> Reader<'s> {
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
            let id = id.strip_suffix('#').unwrap_or(id);
            if at == 0 {
                self.resources[0].id = Some(id);
            } else {
                // A reference to it would be one to either.
                if self.resources.iter().any(|known| known.id == Some(id)) {
                    return Err(SchemaError::Reference(shorten(id.to_owned())));
                }
                resource = self.resources.len();
                self.resources.push(Resource {
                    root: schema,
                    id: Some(id),
                });
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
