//! The YAML at the beginning of a `SKILL.md`, as JSON.
//!
//! It comes from a stranger: no aliases, which can make much of little, no tags but that of a string, no key twice, and
//! bounds on length and depth. The parser's events are taken one by one, so that nesting takes no stack.

use core::fmt;

use serde_json::{Map, Value};
use yaml_rust2::Yaml;
use yaml_rust2::parser::{Event, Parser};
use yaml_rust2::scanner::TScalarStyle;

/// So long it may be, in bytes.
const LONGEST: usize = 64 * 1024;

/// And nest so deep.
const DEEPEST: usize = 64;

/// Why there is no frontmatter to be had of a text.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum FrontmatterError {
    /// The text does not begin with it, or it does not end.
    Missing,
    /// More than 64 KiB, or nested more than 64 deep.
    TooLarge,
    /// It is not YAML: where and why.
    Yaml(String),
    /// It is YAML, and has no place here: why.
    Unsupported(&'static str),
}

impl fmt::Display for FrontmatterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("it does not begin with frontmatter between `---` lines"),
            Self::TooLarge => f.write_str("its frontmatter is too long or nests too deep"),
            Self::Yaml(problem) => write!(f, "its frontmatter is not YAML: {problem}"),
            Self::Unsupported(what) => write!(f, "its frontmatter has {what}"),
        }
    }
}

impl core::error::Error for FrontmatterError {}

/// The frontmatter of a `SKILL.md`: an object of all that its author wrote.
///
/// # Errors
///
/// There is none, or it cannot be read.
pub fn frontmatter(text: &str) -> Result<Map<String, Value>, FrontmatterError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let fence = |line: &str| line.trim_end() == "---";
    if !lines.next().is_some_and(fence) {
        return Err(FrontmatterError::Missing);
    }
    let mut yaml = String::new();
    for line in lines {
        if fence(line) {
            return parse(&yaml);
        }
        if yaml.len() + line.len() > LONGEST {
            return Err(FrontmatterError::TooLarge);
        }
        yaml.push_str(line);
    }
    Err(FrontmatterError::Missing)
}

/// What is open and not ended.
enum Open {
    List(Vec<Value>),
    /// With the key whose value comes next.
    Map(Map<String, Value>, Option<String>),
}

fn parse(yaml: &str) -> Result<Map<String, Value>, FrontmatterError> {
    let mut parser = Parser::new_from_str(yaml);
    let mut open: Vec<Open> = Vec::new();
    let mut whole = None;
    loop {
        let (event, _) = parser
            .next_token()
            .map_err(|error| FrontmatterError::Yaml(error.to_string()))?;
        let value = match event {
            Event::StreamEnd => break,
            Event::Alias(_) => return Err(FrontmatterError::Unsupported("an alias")),
            Event::Scalar(text, style, _, tag) => match (tag, style) {
                (Some(tag), _) if tag.suffix == "str" => Value::String(text),
                (Some(_), _) => return Err(FrontmatterError::Unsupported("a tag")),
                (None, TScalarStyle::Plain) => plain(&text)?,
                (None, _) => Value::String(text),
            },
            Event::SequenceStart(_, Some(_)) | Event::MappingStart(_, Some(_)) => {
                return Err(FrontmatterError::Unsupported("a tag"));
            }
            Event::SequenceStart(..) | Event::MappingStart(..) => {
                if open.len() >= DEEPEST {
                    return Err(FrontmatterError::TooLarge);
                }
                open.push(if matches!(event, Event::SequenceStart(..)) {
                    Open::List(Vec::new())
                } else {
                    Open::Map(Map::new(), None)
                });
                continue;
            }
            Event::SequenceEnd | Event::MappingEnd => match open.pop() {
                Some(Open::List(list)) => Value::Array(list),
                Some(Open::Map(map, _)) => Value::Object(map),
                None => continue,
            },
            Event::Nothing | Event::StreamStart | Event::DocumentStart | Event::DocumentEnd => {
                continue;
            }
        };
        match open.last_mut() {
            None if whole.is_some() => {
                return Err(FrontmatterError::Unsupported("several documents"));
            }
            None => whole = Some(value),
            Some(Open::List(list)) => list.push(value),
            Some(Open::Map(map, key)) => match key.take() {
                Some(key) => {
                    if map.insert(key, value).is_some() {
                        return Err(FrontmatterError::Unsupported("a key twice"));
                    }
                }
                None => {
                    *key = Some(match value {
                        Value::String(key) => key,
                        Value::Bool(_) | Value::Number(_) | Value::Null => value.to_string(),
                        Value::Array(_) | Value::Object(_) => {
                            return Err(FrontmatterError::Unsupported("a key that is no text"));
                        }
                    });
                }
            },
        }
    }
    match whole {
        Some(Value::Object(map)) => Ok(map),
        _ => Err(FrontmatterError::Unsupported("no names and values")),
    }
}

/// What a text without quotes stands for, by the core schema of YAML 1.2.
fn plain(text: &str) -> Result<Value, FrontmatterError> {
    Ok(match Yaml::from_str(text) {
        Yaml::Null => Value::Null,
        Yaml::Boolean(value) => value.into(),
        Yaml::Integer(value) => value.into(),
        Yaml::Real(text) => {
            let number = text.parse().ok().and_then(serde_json::Number::from_f64);
            let none = FrontmatterError::Unsupported("a number that JSON does not have");
            number.map(Value::Number).ok_or(none)?
        }
        Yaml::String(_) | Yaml::Array(_) | Yaml::Hash(_) | Yaml::Alias(_) | Yaml::BadValue => {
            Value::String(text.to_owned())
        }
    })
}
