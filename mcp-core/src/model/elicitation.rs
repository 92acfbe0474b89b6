//! Elicitation: a server asks the client's user (client, "Elicitation").

use crate::Cow;

#[cfg(feature = "alloc")]
use super::codec::Own;
use super::codec::{Decode, DecodeError};
use super::codec::{Target, Write, names, record, result_impls, value_impls};
use super::content::tag;
use super::{List, Map, PrimitiveSchema, TaskMetadata};
use crate::json::{Json, RawJson, Sink, Writer};

/// The params of `elicitation/create`. From 2025-06-18 on.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitRequestParams<'a> {
    /// A form to fill in.
    Form(ElicitRequestFormParams<'a>),
    /// A page to go to. From 2025-11-25 on.
    Url(ElicitRequestUrlParams<'a>),
    /// Another mode: an object, as it is.
    Unknown(Json<'a>),
}

record! {
    /// A form to fill in. Never for secrets (ELI-15).
    pub struct ElicitRequestFormParams<'a> {
        /// What is asked, for the user.
        message: req Cow<'a, str> = "message";
        /// The fields.
        requested_schema: req RequestedSchema<'a> = "requestedSchema";
        /// Asks that it be run as a task. Only 2025-11-25.
        task: opt TaskMetadata = "task" [D D];
        /// `_meta`. Up to 2025-11-25.
        meta: opt Json<'a> = "_meta" [A D];
    }
}

record! {
    /// A page to go to, with the user's consent (ELI-17).
    pub struct ElicitRequestUrlParams<'a> tag "mode" = "url" {
        /// Why, for the user.
        message: req Cow<'a, str> = "message";
        /// The page.
        url: req Cow<'a, str> = "url";
        /// Names the elicitation. Required in 2025-11-25, in no other revision.
        elicitation_id: opt Cow<'a, str> = "elicitationId" [D D];
        /// Asks that it be run as a task. Only 2025-11-25.
        task: opt TaskMetadata = "task" [D D];
        /// `_meta`. Up to 2025-11-25.
        meta: opt Json<'a> = "_meta" [A D];
    }
}

record! {
    /// The fields of a form: an object's schema, one level deep.
    pub struct RequestedSchema<'a> tag "type" = "object" {
        /// The dialect: `$schema`. From 2025-11-25 on.
        dialect: opt Cow<'a, str> = "$schema" [D E];
        /// The fields by their names.
        properties: req Map<'a, PrimitiveSchema<'a>> = "properties";
        /// Which of them have to be filled in.
        required: opt List<'a, Cow<'a, str>> = "required";
    }
}

impl RequestedSchema<'_> {
    /// What the form holds before anyone has touched it: an object of the fields that have defaults (ELI-09). It is the
    /// content of an answer where the user changes nothing.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn defaults(&self) -> Json<'static> {
        Json::written_unchecked(|json| {
            json.begin_object();
            for (name, field) in self.properties.iter() {
                if let Some(value) = field.default_value() {
                    json.key(name);
                    json.raw(value.raw());
                }
            }
            json.end_object();
        })
    }
}

record! {
    /// The result of `elicitation/create`. One with another action than those three is not decoded: an answer that nobody
    /// understands is none, and least of all a no.
    pub struct ElicitResult<'a> {
        /// What the user did.
        action: req ElicitAction<'a> = "action" as done;
        /// What is filled in, an object; only of an accepted form.
        content: opt Json<'a> = "content" as object;
    }
    around {
        /// `_meta`. Up to 2025-11-25.
        meta: opt Json<'a> = "_meta" [A D];
    }
}
result_impls!(ElicitResult);

names! {
    /// What a user did when asked.
    pub enum ElicitAction {
        /// Agreed. Of a page this says only that it may be opened (ELI-11).
        Accept = "accept",
        /// Said no.
        Decline = "decline",
        /// Said nothing.
        Cancel = "cancel",
    }
}

record! {
    /// The params of `notifications/elicitation/complete`. Only 2025-11-25.
    pub struct ElicitationCompleteParams<'a> {
        /// [`ElicitRequestUrlParams::elicitation_id`].
        elicitation_id: req Cow<'a, str> = "elicitationId";
        /// `_meta`.
        meta: opt Json<'a> = "_meta";
    }
}

/// What is one of the three.
mod done {
    use super::{
        Decode as _, DecodeError, ElicitAction, RawJson, Sink, Target, Write as _, Writer,
    };

    pub(super) fn decode(value: RawJson<'_>) -> Result<ElicitAction<'_>, DecodeError> {
        match ElicitAction::decode(value)? {
            ElicitAction::Unknown(_) => {
                Err(DecodeError::new("\"accept\", \"decline\" or \"cancel\""))
            }
            known @ (ElicitAction::Accept | ElicitAction::Decline | ElicitAction::Cancel) => {
                Ok(known)
            }
        }
    }

    pub(super) fn write<S: Sink + ?Sized>(
        action: &ElicitAction<'_>,
        target: Target,
        json: &mut Writer<'_, S>,
    ) {
        action.write(target, json);
    }
}

/// An object, null as if it were absent.
mod object {
    use super::{DecodeError, Json, RawJson, Sink, Target, Writer};

    pub(super) fn decode(value: Option<RawJson<'_>>) -> Result<Option<Json<'_>>, DecodeError> {
        match value.filter(|value| !value.is_null()) {
            Some(value) if value.as_object().is_none() => Err(DecodeError::new("an object")),
            value => Ok(value.map(Json::from)),
        }
    }

    pub(super) fn write<S: Sink + ?Sized>(content: &Json<'_>, _: Target, json: &mut Writer<'_, S>) {
        content.write(json);
    }
}

impl<'a> ElicitRequestParams<'a> {
    /// A form to fill in.
    pub fn form(message: impl Into<Cow<'a, str>>, schema: RequestedSchema<'a>) -> Self {
        Self::Form(ElicitRequestFormParams::new(message, schema))
    }

    /// A page to go to.
    pub fn url(message: impl Into<Cow<'a, str>>, url: impl Into<Cow<'a, str>>) -> Self {
        Self::Url(ElicitRequestUrlParams::new(message, url))
    }
}

impl<'a> ElicitResult<'a> {
    /// The user agreed, and filled in this: an object with the fields of the form. With the feature `serde_json` a
    /// `serde_json::Value` will do, and [`Json::of`] makes a `Json` of any type that serde can write.
    pub fn accept(content: impl Into<Json<'a>>) -> Self {
        let mut result = Self::new(ElicitAction::Accept);
        result.content = Some(content.into());
        result
    }

    /// The user agreed that the page be opened.
    #[must_use]
    pub fn accept_url() -> Self {
        Self::new(ElicitAction::Accept)
    }

    /// The user said no.
    #[must_use]
    pub fn decline() -> Self {
        Self::new(ElicitAction::Decline)
    }

    /// The user said nothing: there is nobody, or the question was put away.
    #[must_use]
    pub fn cancel() -> Self {
        Self::new(ElicitAction::Cancel)
    }
}

#[cfg(feature = "alloc")]
impl<'b> Decode<'b> for ElicitRequestParams<'b> {
    /// Without a `mode` it is a form (ELI-03).
    fn decode(value: RawJson<'b>) -> Result<Self, DecodeError> {
        let mut members = value
            .as_object()
            .ok_or(DecodeError::new("an object").at("ElicitRequestParams", ""))?;
        if !members.any(|(name, value)| name == "mode" && !value.is_null()) {
            return ElicitRequestFormParams::decode(value).map(Self::Form);
        }
        let not_one = DecodeError::new("a string").at("ElicitRequestParams", "mode");
        Ok(match &*tag(value, "mode").ok_or(not_one)? {
            "form" => Self::Form(ElicitRequestFormParams::decode(value)?),
            "url" => Self::Url(ElicitRequestUrlParams::decode(value)?),
            _ => Self::Unknown(value.into()),
        })
    }
}

impl Write for ElicitRequestParams<'_> {
    fn write<S: Sink + ?Sized>(&self, target: Target, json: &mut Writer<'_, S>) {
        match self {
            // Not saying the mode is what all revisions know.
            Self::Form(form) => form.write(target, json),
            Self::Url(url) => url.write(target, json),
            Self::Unknown(params) => json.raw(params.raw()),
        }
    }
}

#[cfg(feature = "alloc")]
impl Own for ElicitRequestParams<'_> {
    type Owned = ElicitRequestParams<'static>;

    fn own(self) -> Self::Owned {
        match self {
            Self::Form(form) => ElicitRequestParams::Form(form.own()),
            Self::Url(url) => ElicitRequestParams::Url(url.own()),
            Self::Unknown(params) => ElicitRequestParams::Unknown(params.own()),
        }
    }
}

value_impls!(ElicitRequestParams<'_>);
