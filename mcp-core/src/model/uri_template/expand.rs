//! RFC 6570, section 3.

use alloc::string::String;
use core::fmt::Write as _;

use super::{
    Expression, Modifier, Part, TemplateValue, UriTemplate, Variable, Variables, is_encoded,
    is_reserved, is_unreserved,
};

impl UriTemplate<'_> {
    /// The URI that it makes of these values; a variable without one leaves nothing behind.
    ///
    /// A length before which a value is cut ([`{var:3}`]) does not apply to lists and maps, which the RFC does not
    /// define; they are written whole.
    ///
    /// [`{var:3}`]: https://www.rfc-editor.org/rfc/rfc6570#section-2.4.1
    #[must_use]
    pub fn expand(&self, values: &Variables<'_>) -> String {
        let mut uri = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(literal) => uri.push_str(literal),
                Part::Expression(expression) => expression.expand(values, &mut uri),
            }
        }
        uri
    }
}

impl Expression {
    fn expand(&self, values: &Variables<'_>, uri: &mut String) {
        let mut separator = self.operator.first();
        for variable in &self.variables {
            let Some(value) = values.get(&variable.name) else {
                continue;
            };
            match value {
                TemplateValue::Text(text) => {
                    self.separate(&mut separator, uri);
                    let text = match variable.modifier {
                        Modifier::Prefix(length) => {
                            prefix(text, length, self.operator.keeps_reserved())
                        }
                        Modifier::None | Modifier::Explode => text,
                    };
                    self.write_name(&variable.name, text.is_empty(), uri);
                    self.encode(text, uri);
                }
                TemplateValue::List(list) if list.is_empty() => {}
                TemplateValue::Map(map) if map.is_empty() => {}
                TemplateValue::List(list) => {
                    let values = list.iter().map(|value| (None, &**value));
                    self.write_several(variable, values, &mut separator, uri);
                }
                TemplateValue::Map(map) => {
                    let values = map.iter().map(|(name, value)| (Some(name), &**value));
                    self.write_several(variable, values, &mut separator, uri);
                }
            }
        }
    }

    fn write_several<'v>(
        &self,
        variable: &Variable,
        values: impl Iterator<Item = (Option<&'v str>, &'v str)>,
        separator: &mut Option<u8>,
        uri: &mut String,
    ) {
        let explode = variable.modifier == Modifier::Explode;
        for (at, (name, value)) in values.enumerate() {
            if explode || at == 0 {
                self.separate(separator, uri);
            } else {
                uri.push(',');
            }
            match name {
                None if explode => self.write_name(&variable.name, value.is_empty(), uri),
                None if at == 0 => self.write_name(&variable.name, false, uri),
                None => {}
                Some(name) if explode => {
                    self.encode(name, uri);
                    if !self.operator.is_named() || !value.is_empty() || self.is_query() {
                        uri.push('=');
                    }
                }
                Some(name) => {
                    if at == 0 {
                        self.write_name(&variable.name, false, uri);
                    }
                    self.encode(name, uri);
                    uri.push(',');
                }
            }
            self.encode(value, uri);
        }
    }

    /// Writes what comes before a value: the first time the operator, then what it puts between values.
    fn separate(&self, separator: &mut Option<u8>, uri: &mut String) {
        if let Some(separator) = *separator {
            uri.push(char::from(separator));
        }
        *separator = Some(self.operator.separator());
    }

    /// Writes the name of a variable, where the operator wants it.
    fn write_name(&self, name: &str, empty: bool, uri: &mut String) {
        if self.operator.is_named() {
            uri.push_str(name);
            if !empty || self.is_query() {
                uri.push('=');
            }
        }
    }

    /// Whether an empty value still has its `=`.
    fn is_query(&self) -> bool {
        self.operator.first() != Some(b';')
    }

    fn encode(&self, text: &str, uri: &mut String) {
        encode(text, self.operator.keeps_reserved(), uri);
    }
}

/// The first `length` characters. An encoded byte counts as one where it stays as it is.
fn prefix(text: &str, length: usize, keeps_encoded: bool) -> &str {
    let mut at = 0;
    for _ in 0..length {
        let rest = text.get(at..).unwrap_or_default();
        at += match rest.chars().next() {
            None => break,
            Some('%') if keeps_encoded && is_encoded(rest.as_bytes()) => 3,
            Some(char) => char.len_utf8(),
        };
    }
    text.get(..at).unwrap_or(text)
}

/// Encodes what is not unreserved; if `keep` says so, what is reserved or encoded already stays (section 3.2.1).
pub(super) fn encode(text: &str, keep: bool, uri: &mut String) {
    let bytes = text.as_bytes();
    for (at, &byte) in bytes.iter().enumerate() {
        let stays = is_unreserved(byte)
            || keep && (is_reserved(byte) || is_encoded(bytes.get(at..).unwrap_or_default()));
        if stays {
            uri.push(char::from(byte));
        } else {
            // A String takes all that is written to it.
            let _ = write!(uri, "%{byte:02X}");
        }
    }
}
