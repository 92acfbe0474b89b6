//! What inputs come to: what the file fixes, what the user says, defaults, and the variables of secrets.

use std::collections::BTreeSet;

use super::configuration::Inputs;
use super::model::Input;
use super::problem::{Problem, quoted};

/// A text, and who said which of its bytes.
#[derive(Clone, Default)]
pub(super) struct Filled {
    pub(super) text: String,
    /// For each byte, whether the user said it.
    said: Vec<bool>,
}

impl Filled {
    fn new(text: &str, said: bool) -> Self {
        Self {
            text: text.to_owned(),
            said: vec![said; text.len()],
        }
    }

    pub(super) fn file(text: &str) -> Self {
        Self::new(text, false)
    }

    fn user(text: &str) -> Self {
        Self::new(text, true)
    }

    pub(super) fn push(&mut self, more: &Self) {
        self.text.push_str(&more.text);
        self.said.extend(&more.said);
    }

    /// Whether it would be taken for an option, and its file does not say so.
    pub(super) fn becomes_option(&self) -> bool {
        self.text.starts_with('-') && self.said.first() == Some(&true)
    }

    /// Whether a host would put a variable in that the user did not ask for.
    fn has_strange_variable(&self) -> bool {
        self.text.match_indices("${").any(|(at, _)| {
            let end = self.text[at..]
                .find('}')
                .map_or(self.text.len(), |it| at + it + 1);
            self.said[at..end].contains(&false)
        })
    }
}

/// Where a value is asked for.
pub(super) struct Place<'a> {
    pub(super) path: String,
    /// What the user calls it.
    pub(super) name: &'a str,
}

/// Puts values in, and keeps what was wrong with that.
pub(super) struct Filler<'a> {
    inputs: &'a Inputs,
    /// Keys of `inputs` that were of use.
    used: BTreeSet<String>,
    /// What can be said.
    asked: BTreeSet<String>,
    problems: Vec<Problem>,
}

impl<'a> Filler<'a> {
    pub(super) const fn new(inputs: &'a Inputs) -> Self {
        Self {
            inputs,
            used: BTreeSet::new(),
            asked: BTreeSet::new(),
            problems: Vec::new(),
        }
    }

    pub(super) fn error(
        &mut self,
        path: impl Into<String>,
        fault: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.problems.push(Problem::error(path, fault, remedy));
    }

    /// What was wrong in all.
    pub(super) fn finish(mut self) -> Vec<Problem> {
        for key in self.inputs.values.keys() {
            if !self.used.contains(key) {
                let all: Vec<_> = self.asked.iter().map(|it| format!("`{it}`")).collect();
                let remedy = match all.is_empty() {
                    true => "leave it out: nothing is asked".to_owned(),
                    false => format!("it asks for {}", all.join(", ")),
                };
                let fault = format!("nothing asks for the input {}", quoted(key));
                self.problems.push(Problem::error("", fault, remedy));
            }
        }
        self.problems
    }

    /// The values of an input: one, none if it is optional and nobody says it, or several if it may be repeated.
    pub(super) fn values(
        &mut self,
        place: &Place<'_>,
        input: &Input,
        repeated: bool,
    ) -> Vec<Filled> {
        if let Some(value) = &input.value {
            return self.fixed(place, input, value).into_iter().collect();
        }
        self.asked.insert(place.name.to_owned());
        let inputs = self.inputs;
        let keys = [&*place.path, place.name];
        let given = keys
            .into_iter()
            .find_map(|key| inputs.values.get_key_value(key));
        if let Some((key, given)) = given {
            self.used.insert(key.clone());
            if given.len() > 1 && !repeated {
                let fault = format!("{} values are given", given.len());
                self.error(&*place.path, fault, "give one: it is not repeated");
            }
            for text in given {
                self.check(place, input, text);
            }
            return given.iter().map(|text| Filled::user(text)).collect();
        }
        if let Some(default) = input.default.as_ref().filter(|it| !it.is_empty()) {
            let filled = Filled::file(default);
            self.check_written(&place.path, &filled);
            return vec![filled];
        }
        if !input.is_required {
            return Vec::new();
        }
        if input.is_secret {
            return vec![Filled::user(&format!(
                "${{env:{}}}",
                variable_of(place.name)
            ))];
        }
        let mut remedy = format!("give `{}=…`", place.name);
        if !input.choices.is_empty() {
            remedy = format!("{remedy}, one of {}", input.choices.join(", "));
        }
        self.error(
            &*place.path,
            "it is required, and nobody says what it is",
            remedy,
        );
        Vec::new()
    }

    /// A text of the file with its variables put in. `None`: one of them is not said, and does not have to be.
    fn fixed(&mut self, place: &Place<'_>, input: &Input, value: &str) -> Option<Filled> {
        let path = format!("{}.variables", place.path);
        let before = self.problems.len();
        let filled = self.template(value, &mut |filler: &mut Self, name| {
            let variable = input.variables.get(name)?;
            let place = Place {
                path: super::walk::below(&path, name),
                name,
            };
            Some(filler.values(&place, variable, false).pop())
        });
        if filled.is_none() && input.is_required && self.problems.len() == before {
            let fault = "a variable in it is not said";
            self.error(&*place.path, fault, "give it");
        }
        let filled = filled?;
        self.check_written(&place.path, &filled);
        Some(filled)
    }

    /// A text with what `of` says for its names; what it does not know stays as it is. `None`: something known has no value.
    pub(super) fn template(
        &mut self,
        text: &str,
        of: &mut dyn FnMut(&mut Self, &str) -> Option<Option<Filled>>,
    ) -> Option<Filled> {
        let mut filled = Filled::default();
        let mut rest = text;
        let mut whole = true;
        while let Some((before, after)) = rest.split_once('{') {
            filled.push(&Filled::file(before));
            let known = after
                .split_once('}')
                .and_then(|(name, after)| of(self, name).map(|value| (value, after)));
            match known {
                Some((value, after)) => {
                    match value {
                        Some(value) => filled.push(&value),
                        None => whole = false,
                    }
                    rest = after;
                }
                None => {
                    filled.push(&Filled::file("{"));
                    rest = after;
                }
            }
        }
        filled.push(&Filled::file(rest));
        whole.then_some(filled)
    }

    fn check(&mut self, place: &Place<'_>, input: &Input, text: &str) {
        let path = &*place.path;
        if text.contains('\0') {
            self.error(path, "there is a NUL in it", "leave it out");
        }
        let variable = text.strip_prefix("${").and_then(|it| it.strip_suffix('}'));
        if variable.is_some_and(|it| !it.contains(['{', '}'])) {
            // What it stands for is not known yet.
            return;
        }
        if input.is_secret {
            let fault = "it is a secret, and is not written into a configuration";
            let remedy = format!("give `${{env:{}}}`, and set that", variable_of(place.name));
            self.error(path, fault, remedy);
            return;
        }
        if !input.choices.is_empty() && !input.choices.iter().any(|it| it == text) {
            let fault = format!("{} cannot be chosen", quoted(text));
            self.error(
                path,
                fault,
                format!("give one of {}", input.choices.join(", ")),
            );
        }
        let fits = match input.format.as_deref() {
            Some("number") => text.parse::<f64>().is_ok_and(f64::is_finite),
            Some("boolean") => matches!(text, "true" | "false"),
            _ => true,
        };
        if !fits {
            let format = input.format.as_deref().unwrap_or_default();
            let fault = format!("{} is no {format}", quoted(text));
            self.error(path, fault, format!("give a {format}"));
        }
    }

    /// A host puts its user's variables in for `${…}`: nothing that a stranger has written may ask for one.
    pub(super) fn check_written(&mut self, path: &str, filled: &Filled) {
        if filled.has_strange_variable() {
            let fault = "`${…}` in it would be a variable of the host";
            self.error(path, fault, "ask whoever publishes it to use `{name}`");
        }
    }
}

/// The variable that a secret is found in: its name in capitals.
pub(super) fn variable_of(name: &str) -> String {
    let plain = |c: char| {
        if c.is_ascii_alphanumeric() {
            c.to_ascii_uppercase()
        } else {
            '_'
        }
    };
    let name: String = name.chars().map(plain).collect();
    let name = name.trim_start_matches('_');
    match name.starts_with(|c: char| c.is_ascii_digit()) {
        true => format!("_{name}"),
        false if name.is_empty() => "SECRET".to_owned(),
        false => name.to_owned(),
    }
}
