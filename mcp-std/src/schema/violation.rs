//! What does not fit, in words that a model can act on.

use core::fmt::{self, Write};

use jsonschema::ValidationError;
use jsonschema::error::ValidationErrorKind;
use serde_json::Value;

use super::MAX_VIOLATIONS;

/// The text of one violation, in bytes.
const MAX_TEXT: usize = 300;
/// Alternatives that are gone through, of those that none fits.
const MAX_ALTERNATIVES: usize = 4;

/// What does not fit a schema: the first few violations, so that hostile values do not become long messages.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Violations {
    told: Vec<Violation>,
    more: bool,
}

/// One of them.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Violation {
    path: String,
    text: String,
}

impl Violation {
    /// `name` is what the whole value is called.
    pub(super) fn new(error: &ValidationError<'_>, name: &str) -> Self {
        let path = error.instance_path().as_str();
        let subject = if path.is_empty() {
            name.to_owned()
        } else {
            format!("`{}`", shorten(path.to_owned()))
        };
        Self {
            text: shorten(sentence(error, &subject)),
            path: shorten(path.to_owned()),
        }
    }

    /// Where: a JSON Pointer, empty for the whole value. It is shortened if it is very long.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Violations {
    pub(super) fn new<'e>(
        errors: impl IntoIterator<Item = ValidationError<'e>>,
        name: &str,
    ) -> Self {
        let mut errors = errors.into_iter();
        let told = errors
            .by_ref()
            .take(MAX_VIOLATIONS)
            .map(|error| Violation::new(&error, name))
            .collect();
        Self {
            told,
            more: errors.next().is_some(),
        }
    }

    /// One, about the whole value.
    pub(super) fn of(text: impl Into<String>) -> Self {
        Self {
            told: vec![Violation {
                path: String::new(),
                text: shorten(text.into()),
            }],
            more: false,
        }
    }

    /// Those that are told, at most [`MAX_VIOLATIONS`].
    pub fn iter(&self) -> impl Iterator<Item = &Violation> {
        self.told.iter()
    }

    /// Whether there are more than are told.
    #[must_use]
    pub const fn more(&self) -> bool {
        self.more
    }
}

/// All of them in one line.
impl fmt::Display for Violations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, violation) in self.told.iter().enumerate() {
            let between = if at == 0 { "" } else { "; " };
            write!(f, "{between}{violation}")?;
        }
        f.write_str(if self.more { "; and more" } else { "" })
    }
}

impl core::error::Error for Violations {}

/// Never says what the value is: its author knows, and others who read this need not.
fn sentence(error: &ValidationError<'_>, subject: &str) -> String {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what jsonschema says about the other kinds is clear"
    )]
    match error.kind() {
        ValidationErrorKind::Required { property } => {
            format!("{subject} lacks the required member {}", name(property))
        }
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let mut text = format!("{subject} has members that it must not have:");
            for (at, name) in unexpected.iter().take(MAX_VIOLATIONS).enumerate() {
                let between = if at == 0 { "" } else { "," };
                let _ = write!(text, "{between} `{}`", shorten(name.clone()));
            }
            text
        }
        ValidationErrorKind::AnyOf { context } | ValidationErrorKind::OneOfNotValid { context } => {
            let mut text = format!("{subject} fits none of {} alternatives", context.len());
            let problems = context.iter().filter_map(|errors| errors.first());
            for (at, problem) in problems.take(MAX_ALTERNATIVES).enumerate() {
                let between = if at == 0 { ": " } else { ", or " };
                // The errors of alternatives count their paths from the root as well.
                let path = problem.instance_path().as_str();
                let member = if path == error.instance_path().as_str() {
                    "it".to_owned()
                } else {
                    format!("`{}`", shorten(path.to_owned()))
                };
                let _ = write!(text, "{between}{}", simple(problem, &member));
            }
            text
        }
        ValidationErrorKind::OneOfMultipleValid { .. } => {
            format!("{subject} fits more than one of the alternatives, of which it must fit one")
        }
        // Formats are only checked in schemas: a schema's patterns have this one.
        ValidationErrorKind::Format { format } if format == "regex" => format!(
            "{subject} is no regular expression, or one that takes more than 64 KiB, or more than time in proportion to a text (look-around, back-references)"
        ),
        ValidationErrorKind::FalseSchema => format!("{subject} must not be there"),
        _ => simple(error, subject),
    }
}

/// Without going through alternatives of alternatives.
fn simple(error: &ValidationError<'_>, subject: &str) -> String {
    if let ValidationErrorKind::Required { property } = error.kind() {
        return format!("{subject} lacks the required member {}", name(property));
    }
    error.masked_with(subject).to_string()
}

fn name(property: &Value) -> String {
    format!("`{}`", property.as_str().unwrap_or_default())
}

/// At most [`MAX_TEXT`] bytes, and an ellipsis.
pub(super) fn shorten(mut text: String) -> String {
    if text.len() > MAX_TEXT {
        let mut end = MAX_TEXT;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text.push('…');
    }
    text
}
