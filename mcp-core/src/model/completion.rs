//! Completion of arguments (server, utilities, "Completion").

use crate::Cow;

#[cfg(feature = "alloc")]
use super::codec::Own;
use super::codec::{Decode, DecodeError};
use super::codec::{Target, Write, record, result_impls, value_impls};
use super::content::tag;
use super::{List, Map};
use crate::json::{Json, RawJson, Sink, Writer};

record! {
    /// The params of `completion/complete`.
    pub struct CompleteRequestParams<'a> {
        /// What the argument belongs to: `ref` on the wire.
        reference: req CompletionReference<'a> = "ref";
        /// What is to be completed.
        argument: req CompletionArgument<'a> = "argument";
        /// What else is known. From 2025-06-18 on.
        context: opt CompletionContext<'a> = "context" [C E];
        /// `_meta`.
        meta: opt Json<'a> = "_meta";
    }
}

/// What a completed argument belongs to.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CompletionReference<'a> {
    /// A prompt.
    Prompt(PromptReference<'a>),
    /// A resource or the template of some.
    Resource(ResourceTemplateReference<'a>),
    /// Anything else: an object with a `type`.
    Unknown(Json<'a>),
}

record! {
    /// A prompt by its name.
    pub struct PromptReference<'a> tag "type" = "ref/prompt" {
        /// For programs.
        name: req Cow<'a, str> = "name";
        /// For people. From 2025-06-18 on.
        title: opt Cow<'a, str> = "title" [C E];
    }
}

record! {
    /// A resource by its URI, or some by the template of theirs.
    pub struct ResourceTemplateReference<'a> tag "type" = "ref/resource" {
        /// The URI or the template.
        uri: req Cow<'a, str> = "uri";
    }
}

record! {
    /// What is to be completed.
    pub struct CompletionArgument<'a> {
        /// Which argument.
        name: req Cow<'a, str> = "name";
        /// What it begins with.
        value: req Cow<'a, str> = "value";
    }
}

record! {
    /// What else is known when an argument is completed.
    #[derive(Default)]
    pub struct CompletionContext<'a> {
        /// The arguments that have their values already.
        arguments: opt Map<'a, Cow<'a, str>> = "arguments";
    }
}

record! {
    /// The result of `completion/complete`.
    pub struct CompleteResult<'a> {
        /// What it can be completed to.
        completion: req Completion<'a> = "completion" as bounded;
    }
    around {
        /// `_meta`.
        meta: opt Json<'a> = "_meta" [A E];
    }
}
result_impls!(CompleteResult);

record! {
    /// What something can be completed to.
    pub struct Completion<'a> {
        /// At most [`MAX_VALUES`](Self::MAX_VALUES), the best first.
        values: req List<'a, Cow<'a, str>> = "values";
        /// How many there are, those not in `values` included.
        total: opt u64 = "total";
        /// Whether there are others than those in `values`.
        has_more: opt bool = "hasMore";
    }
}

impl Completion<'_> {
    /// How many values a result may have. Of more only the first are written, and that there are more.
    pub const MAX_VALUES: usize = 100;
}

/// CMP-02.
mod bounded {
    use super::super::List;
    use super::super::codec::{Decode, DecodeError, Target, Write};
    use super::Completion;
    use crate::json::{RawJson, Sink, Writer};

    #[cfg(feature = "alloc")]
    pub(super) fn decode<'b>(value: RawJson<'b>) -> Result<Completion<'b>, DecodeError> {
        Completion::decode(value)
    }

    pub(super) fn write<S: Sink + ?Sized>(
        completion: &Completion<'_>,
        target: Target,
        json: &mut Writer<'_, S>,
    ) {
        let Some(first) = completion.values.get(..Completion::MAX_VALUES) else {
            return completion.write(target, json);
        };
        let more = completion.values.len() > first.len();
        let cut = Completion {
            values: List::Borrowed(first),
            total: completion.total,
            has_more: if more {
                Some(true)
            } else {
                completion.has_more
            },
        };
        cut.write(target, json);
    }
}

#[cfg(feature = "alloc")]
impl<'b> Decode<'b> for CompletionReference<'b> {
    fn decode(value: RawJson<'b>) -> Result<Self, DecodeError> {
        let not_tagged = DecodeError::new("an object with a `type`").at("CompletionReference", "");
        Ok(match &*tag(value, "type").ok_or(not_tagged)? {
            "ref/prompt" => Self::Prompt(PromptReference::decode(value)?),
            "ref/resource" => Self::Resource(ResourceTemplateReference::decode(value)?),
            _ => Self::Unknown(value.into()),
        })
    }
}

impl Write for CompletionReference<'_> {
    fn write<S: Sink + ?Sized>(&self, target: Target, json: &mut Writer<'_, S>) {
        match self {
            Self::Prompt(prompt) => prompt.write(target, json),
            Self::Resource(resource) => resource.write(target, json),
            Self::Unknown(reference) => json.raw(reference.raw()),
        }
    }
}

#[cfg(feature = "alloc")]
impl Own for CompletionReference<'_> {
    type Owned = CompletionReference<'static>;

    fn own(self) -> Self::Owned {
        match self {
            Self::Prompt(prompt) => CompletionReference::Prompt(prompt.own()),
            Self::Resource(resource) => CompletionReference::Resource(resource.own()),
            Self::Unknown(reference) => CompletionReference::Unknown(reference.own()),
        }
    }
}

value_impls!(CompletionReference<'_>);
