//! URI templates (RFC 6570, all four levels), written out and matched.

mod expand;
mod matching;
mod parse;
#[cfg(test)]
mod tests;

use crate::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use super::{List, Map};

/// A URI template: [`parse`](Self::parse) it once, then [`expand`](Self::expand) it and ask whether it
/// [`matches`](Self::matches).
///
/// ```
/// use mcp_core::model::{UriTemplate, Variables};
///
/// let template = UriTemplate::parse("repo://{owner}/{name}{?ref}")?;
/// let found = template.matches("repo://me/my%20code?ref=main").expect("it has this form");
/// assert_eq!(found.get("name").and_then(|name| name.as_text()), Some("my code"));
/// assert!(template.matches("repo://me").is_none());
///
/// let values = Variables::from([("owner", "me".into()), ("name", "my code".into())]);
/// assert_eq!(template.expand(&values), "repo://me/my%20code");
/// # Ok::<(), mcp_core::model::TemplateError>(())
/// ```
#[derive(Clone, Debug)]
pub struct UriTemplate<'a> {
    text: Cow<'a, str>,
    parts: Vec<Part>,
    steps: Vec<matching::Step>,
}

/// The values of a template's variables, by their names.
pub type Variables<'a> = Map<'a, TemplateValue<'a>>;

/// The value of a variable. Lists and maps without elements count as no value.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_enums, reason = "the set is closed by RFC 6570")]
pub enum TemplateValue<'a> {
    /// One text.
    Text(Cow<'a, str>),
    /// Several.
    List(List<'a, Cow<'a, str>>),
    /// Several, each with a name.
    Map(Map<'a, Cow<'a, str>>),
}

impl TemplateValue<'_> {
    /// The text, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self {
            Some(text)
        } else {
            None
        }
    }
}

impl<'a, T: Into<Cow<'a, str>>> From<T> for TemplateValue<'a> {
    fn from(text: T) -> Self {
        Self::Text(text.into())
    }
}

/// Why a text is no template.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct TemplateError {
    /// What is wrong.
    pub kind: TemplateErrorKind,
    /// Where, in bytes.
    pub offset: usize,
}

/// What can be wrong with a template.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum TemplateErrorKind {
    /// A brace without its other half.
    Brace,
    /// A character that can stand in no URI, nor be encoded there: a control character, a space, a bare `%`, one of
    /// ``"<>\^`|``.
    Literal,
    /// An operator that the RFC keeps for later: one of `=,!@|`.
    Operator,
    /// Not the name of a variable.
    Name,
    /// A length that is not 1 to 9999.
    Prefix,
    /// More than some thirty expressions.
    TooComplex,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self.kind {
            TemplateErrorKind::Brace => "a brace without its other half",
            TemplateErrorKind::Literal => "a character that cannot stand in a URI",
            TemplateErrorKind::Operator => "an operator that is not in use",
            TemplateErrorKind::Name => "not the name of a variable",
            TemplateErrorKind::Prefix => "a length that is not 1 to 9999",
            TemplateErrorKind::TooComplex => "too many expressions",
        };
        write!(f, "{what} at byte {}", self.offset)
    }
}

impl core::error::Error for TemplateError {}

#[derive(Clone, Debug)]
enum Part {
    /// What stands in the URI, encoded.
    Literal(Box<str>),
    Expression(Expression),
}

#[derive(Clone, Debug)]
struct Expression {
    operator: Operator,
    variables: Vec<Variable>,
}

#[derive(Clone, Debug)]
struct Variable {
    name: Box<str>,
    modifier: Modifier,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Modifier {
    None,
    /// So many characters at most.
    Prefix(usize),
    Explode,
}

/// The operators (RFC 6570, section 2.2), and how each is written (appendix A).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Operator {
    Simple,
    Reserved,
    Fragment,
    Label,
    Path,
    Parameter,
    Query,
    QueryMore,
}

impl Operator {
    /// What comes first, if anything is defined.
    const fn first(self) -> Option<u8> {
        match self {
            Self::Simple | Self::Reserved => None,
            Self::Fragment => Some(b'#'),
            Self::Label => Some(b'.'),
            Self::Path => Some(b'/'),
            Self::Parameter => Some(b';'),
            Self::Query => Some(b'?'),
            Self::QueryMore => Some(b'&'),
        }
    }

    /// What comes between two values.
    const fn separator(self) -> u8 {
        match self {
            Self::Simple | Self::Reserved | Self::Fragment => b',',
            Self::Label => b'.',
            Self::Path => b'/',
            Self::Parameter => b';',
            Self::Query | Self::QueryMore => b'&',
        }
    }

    /// Whether values come with their names.
    const fn is_named(self) -> bool {
        matches!(self, Self::Parameter | Self::Query | Self::QueryMore)
    }

    /// Whether reserved characters stay as they are.
    const fn keeps_reserved(self) -> bool {
        matches!(self, Self::Reserved | Self::Fragment)
    }
}

impl UriTemplate<'_> {
    /// The template as it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether a variable may hold slashes and other reserved characters as they are: `{+path}` and `{#path}`, wherever it
    /// stands.
    #[must_use]
    pub fn keeps_reserved(&self, variable: &str) -> bool {
        self.parts.iter().all(|part| match part {
            Part::Expression(it) if it.variables.iter().any(|known| *known.name == *variable) => {
                it.operator.keeps_reserved()
            }
            Part::Expression(_) | Part::Literal(_) => true,
        })
    }

    /// The same, kept for as long as wanted.
    #[must_use]
    pub fn into_owned(self) -> UriTemplate<'static> {
        UriTemplate {
            text: Cow::Owned(self.text.into_owned()),
            parts: self.parts,
            steps: self.steps,
        }
    }

    /// The names of its variables, in order; one that stands there twice comes twice.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().flat_map(|part| {
            let variables = match part {
                Part::Literal(_) => &[][..],
                Part::Expression(expression) => &expression.variables,
            };
            variables.iter().map(|variable| &*variable.name)
        })
    }
}

impl PartialEq for UriTemplate<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for UriTemplate<'_> {}

/// RFC 3986, section 2.3.
const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// RFC 3986, section 2.2.
const fn is_reserved(byte: u8) -> bool {
    matches!(
        byte,
        b':' | b'/'
            | b'?'
            | b'#'
            | b'['
            | b']'
            | b'@'
            | b'!'
            | b'$'
            | b'&'
            | b'\''
            | b'('
            | b')'
            | b'*'
            | b'+'
            | b','
            | b';'
            | b'='
    )
}

/// Whether an encoded byte, `%` and two hexadecimal digits, begins here.
fn is_encoded(text: &[u8]) -> bool {
    matches!(text, [b'%', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}
