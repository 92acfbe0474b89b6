//! The fields of a form: flat schemas (client, "Elicitation", "Requested Schema").

use crate::Cow;

use super::List;
#[cfg(feature = "alloc")]
use super::codec::Own;
use super::codec::{D, Target, Write, names, own_as_is, record, value_impls};
use super::codec::{Decode, DecodeError, optional};
use crate::json::{Json, RawJson, Sink, Writer};

/// One field of a form.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PrimitiveSchema<'a> {
    /// Text.
    String(StringSchema<'a>),
    /// A number.
    Number(NumberSchema<'a>),
    /// Yes or no.
    Boolean(BooleanSchema<'a>),
    /// A choice.
    Enum(EnumSchema<'a>),
    /// Anything else, as it is.
    Unknown(Json<'a>),
}

record! {
    /// Text.
    #[derive(Default)]
    pub struct StringSchema<'a> tag "type" = "string" {
        /// What to call it, for people.
        title: opt Cow<'a, str> = "title";
        /// What it is for.
        description: opt Cow<'a, str> = "description";
        /// How long it has to be, in characters.
        min_length: opt u64 = "minLength";
        /// How long it may be, in characters.
        max_length: opt u64 = "maxLength";
        /// What it is written like.
        format: opt StringFormat<'a> = "format";
        /// What stands there at first. From 2025-11-25 on.
        default: opt Cow<'a, str> = "default" [D E];
    }
}

names! {
    /// What a text is written like.
    pub enum StringFormat {
        /// An address for mail.
        Email = "email",
        /// A URI.
        Uri = "uri",
        /// A date.
        Date = "date",
        /// A date and a time.
        DateTime = "date-time",
    }
}

record! {
    /// A number.
    pub struct NumberSchema<'a> {
        /// `number`, or `integer` for whole ones only: `type` on the wire.
        kind: req NumberKind<'a> = "type";
        /// What to call it, for people.
        title: opt Cow<'a, str> = "title";
        /// What it is for.
        description: opt Cow<'a, str> = "description";
        /// The least.
        minimum: opt f64 = "minimum";
        /// The most.
        maximum: opt f64 = "maximum";
        /// What stands there at first. From 2025-11-25 on.
        default: opt f64 = "default" [D E];
    }
}

names! {
    /// Which numbers.
    pub enum NumberKind {
        /// All.
        Number = "number",
        /// Whole ones.
        Integer = "integer",
    }
}

record! {
    /// Yes or no.
    #[derive(Default)]
    pub struct BooleanSchema<'a> tag "type" = "boolean" {
        /// What to call it, for people.
        title: opt Cow<'a, str> = "title";
        /// What it is for.
        description: opt Cow<'a, str> = "description";
        /// What is chosen at first.
        default: opt bool = "default";
    }
}

/// A choice, in any of the forms that the revisions have for it (ELI-07).
///
/// 2025-06-18 has no choice of several: it is written there as one of a single value.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct EnumSchema<'a> {
    /// What to call it, for people.
    pub title: Option<Cow<'a, str>>,
    /// What it is for.
    pub description: Option<Cow<'a, str>>,
    /// What can be chosen.
    pub options: List<'a, EnumOption<'a>>,
    /// How many may be chosen; `None` is one, and the answer then no array.
    pub several: Option<Several>,
    /// Whether the titles of a choice of one stand beside the values, as `enumNames`, where the revision has a better form:
    /// for clients that know no other. A choice that was read in this form is written in it again. 2025-06-18 has no other.
    pub enum_names: bool,
    /// What is chosen at first. From 2025-11-25 on.
    pub default: Option<List<'a, Cow<'a, str>>>,
}

/// One value that can be chosen. Either all of a choice have titles or none.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EnumOption<'a> {
    /// For programs.
    pub value: Cow<'a, str>,
    /// For people.
    pub title: Option<Cow<'a, str>>,
}

/// How many may be chosen.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct Several {
    /// At least so many.
    pub min_items: Option<u64>,
    /// At most so many.
    pub max_items: Option<u64>,
}

impl<'a> EnumOption<'a> {
    /// A value without a title.
    pub fn new(value: impl Into<Cow<'a, str>>) -> Self {
        Self {
            value: value.into(),
            title: None,
        }
    }

    /// A value and what to call it.
    pub fn titled(value: impl Into<Cow<'a, str>>, title: impl Into<Cow<'a, str>>) -> Self {
        Self {
            value: value.into(),
            title: Some(title.into()),
        }
    }
}

impl<'a> EnumSchema<'a> {
    /// A choice of one.
    pub fn new(options: impl Into<List<'a, EnumOption<'a>>>) -> Self {
        Self {
            options: options.into(),
            ..Self::default()
        }
    }
}

/// The first of the named members that is there, null or not.
fn member<'b>(object: RawJson<'b>, names: &[&str]) -> Option<RawJson<'b>> {
    names.iter().find_map(|name| object.member(name))
}

fn member_as<'b, T: Decode<'b>>(
    object: RawJson<'b>,
    name: &'static str,
) -> Result<Option<T>, DecodeError> {
    optional(member(object, &[name])).map_err(|error| error.at("EnumSchema", name))
}

#[cfg(feature = "alloc")]
impl<'b> Decode<'b> for EnumSchema<'b> {
    fn decode(value: RawJson<'b>) -> Result<Self, DecodeError> {
        let items = member(value, &["items"]);
        let several = match items {
            None => None,
            Some(_) => Some(Several {
                min_items: member_as(value, "minItems")?,
                max_items: member_as(value, "maxItems")?,
            }),
        };
        let default = match member(value, &["default"]) {
            // One value stands alone.
            Some(one) if one.as_string().is_some() => Some([Cow::decode(one)?].into()),
            other => optional(other).map_err(|error| error.at("EnumSchema", "default"))?,
        };
        let options = options(items.unwrap_or(value))?;
        let titled = options.iter().any(|option| option.title.is_some());
        Ok(Self {
            title: member_as(value, "title")?,
            description: member_as(value, "description")?,
            options,
            several,
            enum_names: titled && member(value, &["enumNames"]).is_some(),
            default,
        })
    }
}

/// What can be chosen, from titled constants or from values with or without names beside them. An early draft says
/// `oneOf` where `anyOf` came to stand (ELI-08).
#[cfg(feature = "alloc")]
fn options<'b>(value: RawJson<'b>) -> Result<List<'b, EnumOption<'b>>, DecodeError> {
    let at = |error: DecodeError| error.at("EnumSchema", "enum");
    if let Some(titled) = member(value, &["oneOf", "anyOf"]) {
        return List::decode(titled).map_err(at);
    }
    let values: List<'_, Cow<'_, str>> =
        super::codec::required(member(value, &["enum"])).map_err(at)?;
    let names: Option<List<'_, Cow<'_, str>>> = member_as(value, "enumNames")?;
    let mut names = names.map(List::into_vec).unwrap_or_default().into_iter();
    let named = names.len() == values.len();
    Ok(values
        .into_vec()
        .into_iter()
        .map(|value| EnumOption {
            value,
            title: names.next().filter(|_| named),
        })
        .collect())
}

#[cfg(feature = "alloc")]
impl<'b> Decode<'b> for EnumOption<'b> {
    fn decode(value: RawJson<'b>) -> Result<Self, DecodeError> {
        let required = |name| {
            super::codec::required(member(value, &[name]))
                .map_err(|error: DecodeError| error.at("EnumOption", name))
        };
        Ok(Self {
            value: required("const")?,
            title: Some(required("title")?),
        })
    }
}

impl Write for EnumSchema<'_> {
    fn write<S: Sink + ?Sized>(&self, target: Target, json: &mut Writer<'_, S>) {
        let several = self.several.filter(|_| target.since(D));
        json.begin_object();
        json.key("type");
        json.string(if several.is_some() { "array" } else { "string" });
        for (name, text) in [("title", &self.title), ("description", &self.description)] {
            if let Some(text) = text {
                json.key(name);
                json.string(text);
            }
        }
        match several {
            None => self.write_options("oneOf", target, json),
            Some(several) => {
                for (name, limit) in [
                    ("minItems", several.min_items),
                    ("maxItems", several.max_items),
                ] {
                    if let Some(limit) = limit {
                        json.key(name);
                        json.unsigned(limit);
                    }
                }
                json.key("items");
                json.begin_object();
                if !self.is_titled() {
                    json.key("type");
                    json.string("string");
                }
                self.write_options("anyOf", target, json);
                json.end_object();
            }
        }
        if let Some(default) = self.default.as_ref().filter(|_| target.since(D)) {
            match (several, default.first()) {
                (Some(_), _) => {
                    json.key("default");
                    default.write(target, json);
                }
                (None, Some(first)) => {
                    json.key("default");
                    json.string(first);
                }
                (None, None) => {}
            }
        }
        json.end_object();
    }
}

impl EnumSchema<'_> {
    fn is_titled(&self) -> bool {
        self.options.iter().any(|option| option.title.is_some())
    }

    fn write_options<S: Sink + ?Sized>(
        &self,
        titled: &str,
        target: Target,
        json: &mut Writer<'_, S>,
    ) {
        let strings = |json: &mut Writer<'_, S>,
                       name: &str,
                       of: for<'o> fn(&'o EnumOption<'_>) -> &'o str| {
            json.key(name);
            json.begin_array();
            for option in &self.options {
                json.string(of(option));
            }
            json.end_array();
        };
        let apart = self.enum_names && self.several.is_none();
        if self.is_titled() && target.since(D) && !apart {
            json.key(titled);
            json.begin_array();
            for option in &self.options {
                json.begin_object();
                json.key("const");
                json.string(&option.value);
                json.key("title");
                json.string(option.shown());
                json.end_object();
            }
            json.end_array();
            return;
        }
        strings(json, "enum", |option| &option.value);
        if self.is_titled() {
            strings(json, "enumNames", |option| option.shown());
        }
    }
}

impl EnumOption<'_> {
    /// What to call it, for people.
    #[must_use]
    pub fn shown(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.value)
    }
}

#[cfg(feature = "alloc")]
impl Own for EnumOption<'_> {
    type Owned = EnumOption<'static>;

    fn own(self) -> Self::Owned {
        EnumOption {
            value: self.value.own(),
            title: self.title.own(),
        }
    }
}

own_as_is!(Several);

#[cfg(feature = "alloc")]
impl Own for EnumSchema<'_> {
    type Owned = EnumSchema<'static>;

    fn own(self) -> Self::Owned {
        EnumSchema {
            title: self.title.own(),
            description: self.description.own(),
            options: self.options.own(),
            several: self.several,
            enum_names: self.enum_names,
            default: self.default.own(),
        }
    }
}

value_impls!(EnumSchema<'_>);

impl PrimitiveSchema<'_> {
    /// What stands in the field at first, if anything does: an array for a choice of several.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn default_value(&self) -> Option<Json<'static>> {
        match self {
            Self::String(it) => it.default.as_deref().map(Json::string),
            Self::Number(it) => it
                .default
                .map(|number| Json::written_unchecked(|json| json.float(number))),
            Self::Boolean(it) => it
                .default
                .map(|yes| Json::written_unchecked(|json| json.boolean(yes))),
            Self::Enum(it) if it.several.is_none() => {
                Some(Json::string(it.default.as_ref()?.first()?))
            }
            Self::Enum(it) => {
                let values = it.default.as_ref()?;
                Some(Json::written_unchecked(|json| {
                    json.begin_array();
                    for value in values {
                        json.string(value);
                    }
                    json.end_array();
                }))
            }
            Self::Unknown(it) => {
                member(it.raw(), &["default"]).map(|it| Json::from(it).into_owned())
            }
        }
    }
}

#[cfg(feature = "alloc")]
impl<'b> Decode<'b> for PrimitiveSchema<'b> {
    /// By the members that are there (TYP-13); what fits no form is kept as it is.
    fn decode(value: RawJson<'b>) -> Result<Self, DecodeError> {
        let kind = super::content::tag(value, "type");
        Ok(match kind.as_deref() {
            Some("string") if member(value, &["oneOf", "enum"]).is_some() => {
                Self::Enum(EnumSchema::decode(value)?)
            }
            Some("array") if member(value, &["items"]).is_some() => {
                Self::Enum(EnumSchema::decode(value)?)
            }
            Some("string") => Self::String(StringSchema::decode(value)?),
            Some("number" | "integer") => Self::Number(NumberSchema::decode(value)?),
            Some("boolean") => Self::Boolean(BooleanSchema::decode(value)?),
            Some(_) | None => Self::Unknown(value.into()),
        })
    }
}

impl Write for PrimitiveSchema<'_> {
    fn write<S: Sink + ?Sized>(&self, target: Target, json: &mut Writer<'_, S>) {
        match self {
            Self::String(schema) => schema.write(target, json),
            Self::Number(schema) => schema.write(target, json),
            Self::Boolean(schema) => schema.write(target, json),
            Self::Enum(schema) => schema.write(target, json),
            Self::Unknown(schema) => json.raw(schema.raw()),
        }
    }
}

#[cfg(feature = "alloc")]
impl Own for PrimitiveSchema<'_> {
    type Owned = PrimitiveSchema<'static>;

    fn own(self) -> Self::Owned {
        match self {
            Self::String(schema) => PrimitiveSchema::String(schema.own()),
            Self::Number(schema) => PrimitiveSchema::Number(schema.own()),
            Self::Boolean(schema) => PrimitiveSchema::Boolean(schema.own()),
            Self::Enum(schema) => PrimitiveSchema::Enum(schema.own()),
            Self::Unknown(schema) => PrimitiveSchema::Unknown(schema.own()),
        }
    }
}

value_impls!(PrimitiveSchema<'_>);
