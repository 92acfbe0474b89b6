//! From an `inputSchema` to its annotations.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::{AnnotationFault, PREFIX, ParamHeader, ParamKind, Step};
use crate::json::{self, JsonStr, Kind, MAX_DEPTH, RawJson, Tokenizer};

const ANNOTATION: &str = "x-mcp-header";

/// The most arguments of one tool that can be mirrored: HTTP libraries refuse messages with more than about a hundred
/// headers.
pub const MAX_PARAM_HEADERS: usize = 64;

/// The annotated arguments of a tool, in the order of its schema. Without annotations this is one or two searches through
/// the text, and nothing is allocated; else it is linear in the text.
///
/// # Errors
///
/// Why the tool is invalid: over HTTP a client leaves it out of its list (XH-07), other transports do not care (XH-08).
pub fn param_headers(input_schema: RawJson<'_>) -> Result<Vec<ParamHeader>, AnnotationFault> {
    let text = input_schema.as_bytes();
    let has = |needle: &str| memchr::memmem::find(text, needle.as_bytes()).is_some();
    // Of all escape sequences only these stand for a character of the name.
    if !has(ANNOTATION) && !has("\\u00") {
        return Ok(Vec::new());
    }
    let mut walk = Walk {
        tokens: Tokenizer::with_depth(text, MAX_DEPTH),
        open: Vec::new(),
        found: Vec::new(),
    };
    walk.run()?;
    Ok(walk.found)
}

/// Through every place where a schema can have another, and nowhere else: plain data may say `x-mcp-header` (XH-09).
struct Walk<'b> {
    tokens: Tokenizer<'b>,
    /// The containers around the place, at most [`MAX_DEPTH`].
    open: Vec<Open<'b>>,
    found: Vec<ParamHeader>,
}

enum Open<'b> {
    Schema {
        place: Place,
        annotation: Option<RawJson<'b>>,
        kind: Option<RawJson<'b>>,
    },
    /// The value of a keyword such as `properties`: names to schemas. `Some`: the `properties` of this place.
    Named(Option<Place>),
    /// The value of a keyword such as `allOf`.
    Listed,
}

/// Where a schema is.
#[derive(Clone)]
enum Place {
    /// That of all arguments.
    Root,
    /// Reached through `properties` alone (XH-06).
    Property(Arc<Step>),
    Elsewhere,
}

impl<'b> Walk<'b> {
    fn run(&mut self) -> Result<(), AnnotationFault> {
        self.value_of(Place::Root)?;
        while let Some(innermost) = self.open.last_mut() {
            match innermost {
                Open::Schema {
                    place,
                    annotation,
                    kind,
                } => {
                    let Some(keyword) = self.tokens.next_member()? else {
                        if let Some(annotation) = *annotation {
                            let found = annotated(place, annotation, *kind)?;
                            self.keep(found)?;
                        }
                        self.open.pop();
                        continue;
                    };
                    match &*keyword.decode() {
                        ANNOTATION => {
                            let value = self.tokens.value()?;
                            if annotation.replace(value).is_some() {
                                return Err(AnnotationFault::Repeated);
                            }
                        }
                        "type" => *kind = Some(self.tokens.value()?),
                        "properties" => {
                            let place = match place {
                                Place::Elsewhere => None,
                                Place::Root | Place::Property(_) => Some(place.clone()),
                            };
                            self.names(place)?;
                        }
                        "$defs" | "definitions" | "dependencies" | "dependentSchemas"
                        | "patternProperties" => self.names(None)?,
                        "additionalItems"
                        | "additionalProperties"
                        | "allOf"
                        | "anyOf"
                        | "contains"
                        | "contentSchema"
                        | "else"
                        | "if"
                        | "items"
                        | "not"
                        | "oneOf"
                        | "prefixItems"
                        | "propertyNames"
                        | "then"
                        | "unevaluatedItems"
                        | "unevaluatedProperties" => {
                            self.value_of(Place::Elsewhere)?;
                        }
                        _ => {
                            self.tokens.value()?;
                        }
                    }
                }
                Open::Named(within) => {
                    let Some(name) = self.tokens.next_member()? else {
                        self.open.pop();
                        continue;
                    };
                    let place = match within {
                        None => Place::Elsewhere,
                        Some(within) => within.property(name),
                    };
                    self.value_of(place)?;
                }
                Open::Listed => {
                    if self.tokens.next_element()? {
                        self.value_of(Place::Elsewhere)?;
                    } else {
                        self.open.pop();
                    }
                }
            }
        }
        Ok(())
    }

    /// Enters a schema, or a list of them; passes over what is neither.
    fn value_of(&mut self, place: Place) -> Result<(), json::Error> {
        match self.tokens.peek()? {
            Kind::Object => {
                self.tokens.begin_object()?;
                self.open.push(Open::Schema {
                    place,
                    annotation: None,
                    kind: None,
                });
            }
            Kind::Array => {
                self.tokens.begin_array()?;
                self.open.push(Open::Listed);
            }
            Kind::Null | Kind::Bool | Kind::Number | Kind::String => {
                self.tokens.value()?;
            }
        }
        Ok(())
    }

    fn names(&mut self, within: Option<Place>) -> Result<(), json::Error> {
        if self.tokens.peek()? == Kind::Object {
            self.tokens.begin_object()?;
            self.open.push(Open::Named(within));
        } else {
            self.tokens.value()?;
        }
        Ok(())
    }

    fn keep(&mut self, header: ParamHeader) -> Result<(), AnnotationFault> {
        if self.found.len() == MAX_PARAM_HEADERS {
            return Err(AnnotationFault::TooMany);
        }
        let name = &header.header;
        if (self.found.iter()).any(|other| other.header.eq_ignore_ascii_case(name)) {
            return Err(AnnotationFault::Repeated);
        }
        self.found.push(header);
        Ok(())
    }
}

impl Place {
    /// The member `name` of the arguments in this place.
    fn property(&self, name: JsonStr<'_>) -> Self {
        let within = match self {
            Self::Root => None,
            Self::Property(step) => Some(step.clone()),
            Self::Elsewhere => return Self::Elsewhere,
        };
        let name = name.decode().into();
        Self::Property(Arc::new(Step { name, within }))
    }
}

fn annotated(
    place: &Place,
    annotation: RawJson<'_>,
    kind: Option<RawJson<'_>>,
) -> Result<ParamHeader, AnnotationFault> {
    let Place::Property(path) = place else {
        return Err(AnnotationFault::Misplaced);
    };
    // A token has no character that needs an escape, but may be written with some.
    let name = annotation
        .as_string()
        .ok_or(AnnotationFault::Name)?
        .decode();
    if name.is_empty() || !name.bytes().all(is_tchar) {
        return Err(AnnotationFault::Name);
    }
    Ok(ParamHeader {
        header: [PREFIX, &*name].concat(),
        path: path.clone(),
        kind: kind.and_then(ParamKind::of).ok_or(AnnotationFault::Type)?,
    })
}

/// RFC 9110, section 5.6.2 (XH-03).
const fn is_tchar(byte: u8) -> bool {
    matches!(byte,
        b'!' | b'#' | b'$' | b'%' | b'&' | b'\'' | b'*' | b'+' | b'-' | b'.' | b'^' | b'_' | b'`' | b'|' | b'~'
        | b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z')
}
