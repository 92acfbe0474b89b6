//! Values of a file and where they are.

use serde_json::{Map, Value};

use super::problem::{Problem, quoted};

/// More problems than this nobody reads; a file can be made to have millions.
const MOST: usize = 100;

/// What is wrong, as it is found.
#[derive(Default)]
pub(super) struct Found {
    problems: Vec<Problem>,
}

impl Found {
    pub(super) fn add(&mut self, problem: Problem) {
        if self.problems.len() < MOST {
            self.problems.push(problem);
        }
    }

    pub(super) fn error(
        &mut self,
        node: &Node<'_>,
        fault: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Problem::error(node.path.clone(), fault, remedy));
    }

    pub(super) fn warning(
        &mut self,
        node: &Node<'_>,
        fault: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.add(Problem::warning(node.path.clone(), fault, remedy));
    }

    pub(super) fn into_problems(self) -> Vec<Problem> {
        self.problems
    }
}

/// A value and where it is.
pub(super) struct Node<'j> {
    pub(super) value: &'j Value,
    pub(super) path: String,
}

/// An object whose members are asked for.
pub(super) struct Object<'j> {
    members: &'j Map<String, Value>,
    path: String,
}

impl<'j> Node<'j> {
    pub(super) const fn root(value: &'j Value) -> Self {
        let path = String::new();
        Self { value, path }
    }

    fn wrong(&self, expected: &str, found: &mut Found) {
        let there = match self.value {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Number(_) => "a number",
            Value::String(_) => "a string",
            Value::Array(_) => "an array",
            Value::Object(_) => "an object",
        };
        found.error(
            self,
            format!("{expected} is expected, and {there} is there"),
            format!("write {expected}"),
        );
    }

    /// The object that it is to be, whose members have these names. Others are allowed; those that are misspelt are told.
    pub(super) fn object(&self, known: &[&str], found: &mut Found) -> Option<Object<'j>> {
        let object = self.any_object(found)?;
        for name in object.members.keys() {
            if let Some(meant) = misspelt(name, known) {
                let at = below(&self.path, name);
                let fault = format!("nobody knows `{name}`");
                found.add(Problem::error(at, fault, format!("call it `{meant}`")));
            }
        }
        Some(object)
    }

    /// The object that it is to be, whose members have any names.
    pub(super) fn any_object(&self, found: &mut Found) -> Option<Object<'j>> {
        let Value::Object(members) = self.value else {
            self.wrong("an object", found);
            return None;
        };
        let path = self.path.clone();
        Some(Object { members, path })
    }

    pub(super) fn elements(&self, found: &mut Found) -> Vec<Self> {
        let Value::Array(elements) = self.value else {
            self.wrong("an array", found);
            return Vec::new();
        };
        let numbered = elements.iter().enumerate().map(|(at, value)| Node {
            value,
            path: format!("{}[{at}]", self.path),
        });
        numbered.collect()
    }

    pub(super) fn string(&self, found: &mut Found) -> Option<&'j str> {
        let text = self.value.as_str();
        if text.is_none() {
            self.wrong("a string", found);
        }
        text
    }

    /// A string of so many characters.
    pub(super) fn length(&self, least: usize, most: usize, found: &mut Found) -> Option<&'j str> {
        let text = self.string(found)?;
        let length = text.chars().count();
        if length < least {
            let fault = format!("it has {length} characters");
            found.error(self, fault, format!("write at least {least}"));
        } else if length > most {
            let fault = format!("it has {length} characters, and {most} are allowed");
            found.error(self, fault, format!("leave out {}", length - most));
        }
        Some(text)
    }

    pub(super) fn boolean(&self, found: &mut Found) {
        if !self.value.is_boolean() {
            self.wrong("`true` or `false`", found);
        }
    }

    /// A string that is one of these.
    pub(super) fn one_of(&self, known: &[&str], found: &mut Found) -> Option<&'j str> {
        let text = self.string(found)?;
        if !known.contains(&text) {
            let fault = format!("it is {}", quoted(text));
            found.error(self, fault, format!("write one of {}", known.join(", ")));
        }
        Some(text)
    }
}

impl<'j> Object<'j> {
    pub(super) fn get(&self, name: &str) -> Option<Node<'j>> {
        let value = self.members.get(name)?;
        let path = below(&self.path, name);
        Some(Node { value, path })
    }

    /// A member that has to be there.
    pub(super) fn need(&self, name: &str, remedy: &str, found: &mut Found) -> Option<Node<'j>> {
        let member = self.get(name);
        if member.is_none() {
            let fault = format!("`{name}` is missing");
            found.add(Problem::error(self.path.clone(), fault, remedy));
        }
        member
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.members.contains_key(name)
    }

    pub(super) fn members(&self) -> impl Iterator<Item = (&'j String, Node<'j>)> {
        self.members.iter().map(|(name, value)| {
            let path = below(&self.path, name);
            (name, Node { value, path })
        })
    }
}

/// The path of a member.
pub(super) fn below(path: &str, name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$');
    if name.is_empty() || !name.chars().all(plain) {
        return format!("{path}[{}]", quoted(name));
    }
    if path.is_empty() {
        return name.to_owned();
    }
    format!("{path}.{name}")
}

/// The known name that is meant by another: as it was before 2025-09-16, or in other letters.
fn misspelt<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    if known.contains(&name) {
        return None;
    }
    let plain = |name: &str| name.replace('_', "").to_ascii_lowercase();
    let name = match name {
        // As it was at first.
        "version_detail" => "version".to_owned(),
        "registry_name" => "registryType".to_ascii_lowercase(),
        "transport_type" => "type".to_owned(),
        _ => plain(name),
    };
    known.iter().find(|known| plain(known) == name).copied()
}
