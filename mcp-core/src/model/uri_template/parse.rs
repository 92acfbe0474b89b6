//! RFC 6570, section 2.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use super::expand::encode;
use super::{
    Expression, Modifier, Operator, Part, TemplateError, TemplateErrorKind, UriTemplate, Variable,
    is_encoded,
};

impl<'a> UriTemplate<'a> {
    /// Reads a template. Linear in its length.
    ///
    /// # Errors
    ///
    /// What is wrong, and where.
    pub fn parse(text: &'a str) -> Result<Self, TemplateError> {
        let mut parts = Vec::new();
        let mut at = 0;
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            if let Some(inside) = rest.strip_prefix('{') {
                let end = inside
                    .find(['{', '}'])
                    .filter(|&end| inside.as_bytes().get(end) == Some(&b'}'));
                let end = end.ok_or(error(TemplateErrorKind::Brace, at))?;
                let expression = inside.get(..end).unwrap_or_default();
                parts.push(Part::Expression(parse_expression(expression, at + 1)?));
                at += end + 2;
            } else {
                let end = rest.find('{').unwrap_or(rest.len());
                let literal = rest.get(..end).unwrap_or_default();
                parts.push(Part::Literal(parse_literal(literal, at)?));
                at += end;
            }
        }
        let steps = super::matching::steps(&parts)
            .ok_or(error(TemplateErrorKind::TooComplex, text.len()))?;
        Ok(Self {
            text: text.into(),
            parts,
            steps,
        })
    }
}

const fn error(kind: TemplateErrorKind, offset: usize) -> TemplateError {
    TemplateError { kind, offset }
}

fn parse_literal(literal: &str, offset: usize) -> Result<Box<str>, TemplateError> {
    for (at, char) in literal.char_indices() {
        let bytes = literal.as_bytes().get(at..).unwrap_or_default();
        let kind = match char {
            '}' => TemplateErrorKind::Brace,
            '%' if is_encoded(bytes) => continue,
            '%' | '\0'..=' ' | '"' | '<' | '>' | '\\' | '^' | '`' | '|' | '\x7f'..='\u{9f}' => {
                TemplateErrorKind::Literal
            }
            _ => continue,
        };
        return Err(error(kind, offset + at));
    }
    let mut encoded = String::new();
    encode(literal, true, &mut encoded);
    Ok(encoded.into())
}

fn parse_expression(text: &str, offset: usize) -> Result<Expression, TemplateError> {
    let operator = match text.bytes().next() {
        Some(b'+') => Operator::Reserved,
        Some(b'#') => Operator::Fragment,
        Some(b'.') => Operator::Label,
        Some(b'/') => Operator::Path,
        Some(b';') => Operator::Parameter,
        Some(b'?') => Operator::Query,
        Some(b'&') => Operator::QueryMore,
        Some(b'=' | b',' | b'!' | b'@' | b'|') => {
            return Err(error(TemplateErrorKind::Operator, offset));
        }
        Some(_) | None => Operator::Simple,
    };
    let skipped = usize::from(operator != Operator::Simple);
    let mut at = offset + skipped;
    let mut variables = Vec::new();
    for variable in text.get(skipped..).unwrap_or_default().split(',') {
        variables.push(parse_variable(variable, at)?);
        at += variable.len() + 1;
    }
    Ok(Expression {
        operator,
        variables,
    })
}

fn parse_variable(text: &str, offset: usize) -> Result<Variable, TemplateError> {
    let (name, modifier) = if let Some(name) = text.strip_suffix('*') {
        (name, Modifier::Explode)
    } else if let Some((name, length)) = text.split_once(':') {
        let digits = length.bytes().all(|byte| byte.is_ascii_digit()) && !length.starts_with('0');
        let length = length.parse().ok().filter(|_| digits);
        let length = length.filter(|length| (1..=9_999).contains(length));
        let at = offset + name.len() + 1;
        let length = length.ok_or(error(TemplateErrorKind::Prefix, at))?;
        (name, Modifier::Prefix(length))
    } else {
        (text, Modifier::None)
    };
    if !is_name(name.as_bytes()) {
        return Err(error(TemplateErrorKind::Name, offset));
    }
    Ok(Variable {
        name: name.into(),
        modifier,
    })
}

/// `varchar *( ["."] varchar )`
fn is_name(mut rest: &[u8]) -> bool {
    let mut dot = true;
    while let Some((&byte, after)) = rest.split_first() {
        if byte == b'.' {
            if dot {
                return false;
            }
            dot = true;
            rest = after;
            continue;
        }
        dot = false;
        rest = if is_encoded(rest) {
            rest.get(3..).unwrap_or_default()
        } else if byte.is_ascii_alphanumeric() || byte == b'_' {
            after
        } else {
            return false;
        };
    }
    !dot
}
