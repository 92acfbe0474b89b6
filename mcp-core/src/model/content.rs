//! Content blocks (server, "Tools", "Tool Result"; client, "Sampling").

use crate::Cow;
#[cfg(feature = "alloc")]
use alloc::boxed::Box;

#[cfg(feature = "alloc")]
use super::codec::Own;
use super::codec::{B, C, D, Target, Write, record, value_impls};
use super::codec::{Decode, DecodeError};
use super::{Annotations, List, Resource, ResourceContents};
use crate::json::{Json, RawJson, Sink, Writer};

/// One block of a tool's result, a prompt or a conversation.
///
/// A block that the peer's revision does not have is told in text instead (TYP-08).
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock<'a> {
    /// Text.
    Text(TextContent<'a>),
    /// A picture.
    Image(ImageContent<'a>),
    /// Sound. From 2025-03-26 on.
    Audio(AudioContent<'a>),
    /// Where a resource is. From 2025-06-18 on.
    #[cfg(feature = "alloc")]
    ResourceLink(Box<Resource<'a>>),
    /// A resource itself.
    #[cfg(feature = "alloc")]
    Resource(Box<EmbeddedResource<'a>>),
    /// The model wants a tool called: in sampling only. From 2025-11-25 on.
    #[cfg(feature = "alloc")]
    ToolUse(Box<ToolUseContent<'a>>),
    /// What came of it: in sampling only. From 2025-11-25 on.
    #[cfg(feature = "alloc")]
    ToolResult(Box<ToolResultContent<'a>>),
    /// A block of any other type: an object with a `type`, written as it is.
    Unknown(Json<'a>),
}

record! {
    /// Text.
    pub struct TextContent<'a> tag "type" = "text" {
        /// The text.
        text: req Cow<'a, str> = "text";
        /// How to use it.
        annotations: opt Annotations<'a> = "annotations";
        /// `_meta`. From 2025-06-18 on.
        meta: opt Json<'a> = "_meta" [C E];
    }
}

record! {
    /// A picture.
    pub struct ImageContent<'a> tag "type" = "image" {
        /// The picture in standard base64 with padding.
        data: req Cow<'a, str> = "data";
        /// Such as `image/png`.
        mime_type: req Cow<'a, str> = "mimeType";
        /// How to use it.
        annotations: opt Annotations<'a> = "annotations";
        /// `_meta`. From 2025-06-18 on.
        meta: opt Json<'a> = "_meta" [C E];
    }
}

record! {
    /// Sound.
    pub struct AudioContent<'a> tag "type" = "audio" {
        /// The sound in standard base64 with padding.
        data: req Cow<'a, str> = "data";
        /// Such as `audio/wav`.
        mime_type: req Cow<'a, str> = "mimeType";
        /// How to use it.
        annotations: opt Annotations<'a> = "annotations";
        /// `_meta`. From 2025-06-18 on.
        meta: opt Json<'a> = "_meta" [C E];
    }
}

record! {
    /// A resource as part of something else.
    pub struct EmbeddedResource<'a> tag "type" = "resource" {
        /// What it holds.
        resource: req ResourceContents<'a> = "resource";
        /// How to use it. The documents of some revisions show them inside `resource`, the schemas here (TYP-04).
        annotations: opt Annotations<'a> = "annotations";
        /// `_meta`. From 2025-06-18 on.
        meta: opt Json<'a> = "_meta" [C E];
    }
}

record! {
    /// A call that the model wants to be made.
    pub struct ToolUseContent<'a> tag "type" = "tool_use" {
        /// Names the call; its result answers to it.
        id: req Cow<'a, str> = "id";
        /// The tool.
        name: req Cow<'a, str> = "name";
        /// Its arguments: an object.
        input: req Json<'a> = "input";
        /// `_meta`, to be kept in later requests (SMP-14).
        meta: opt Json<'a> = "_meta";
    }
}

record! {
    /// What came of a call that the model wanted.
    pub struct ToolResultContent<'a> tag "type" = "tool_result" {
        /// [`ToolUseContent::id`] of the call.
        tool_use_id: req Cow<'a, str> = "toolUseId";
        /// What the model reads.
        content: req List<'a, ContentBlock<'a>> = "content";
        /// What programs read; null differs from absent. Before 2026-07-28 only objects.
        structured_content: keep Json<'a> = "structuredContent" if super::tool::can_structure;
        /// Whether the tool failed.
        is_error: flag bool = "isError";
        /// `_meta`, to be kept in later requests (SMP-14).
        meta: opt Json<'a> = "_meta";
    }
}

impl<'a> ContentBlock<'a> {
    /// A text block.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(TextContent::new(text))
    }

    /// A picture: standard base64 with padding, and a type such as `image/png`.
    pub fn image(data: impl Into<Cow<'a, str>>, mime_type: impl Into<Cow<'a, str>>) -> Self {
        Self::Image(ImageContent::new(data, mime_type))
    }

    /// Sound: standard base64 with padding, and a type such as `audio/wav`.
    pub fn audio(data: impl Into<Cow<'a, str>>, mime_type: impl Into<Cow<'a, str>>) -> Self {
        Self::Audio(AudioContent::new(data, mime_type))
    }

    /// A link to a resource.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn resource_link(resource: Resource<'a>) -> Self {
        Self::ResourceLink(Box::new(resource))
    }

    /// A resource itself.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn resource(contents: ResourceContents<'a>) -> Self {
        Self::Resource(Box::new(EmbeddedResource::new(contents)))
    }

    /// A call that the model wants to be made.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn tool_use(call: ToolUseContent<'a>) -> Self {
        Self::ToolUse(Box::new(call))
    }

    /// What came of a call.
    #[cfg(feature = "alloc")]
    #[must_use]
    pub fn tool_result(result: ToolResultContent<'a>) -> Self {
        Self::ToolResult(Box::new(result))
    }

    /// The text, if it is a text block.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(content) = self {
            Some(&content.text)
        } else {
            None
        }
    }
}

/// One block.
#[cfg(feature = "alloc")]
impl<'a> From<ContentBlock<'a>> for List<'a, ContentBlock<'a>> {
    fn from(block: ContentBlock<'a>) -> Self {
        [block].into()
    }
}

#[cfg(feature = "alloc")]
impl<'b> Decode<'b> for ContentBlock<'b> {
    /// Recurses where results of tools hold blocks, as deep as the text was allowed to be.
    fn decode(value: RawJson<'b>) -> Result<Self, DecodeError> {
        let not_tagged = DecodeError::new("an object with a `type`").at("ContentBlock", "");
        let kind = tag(value, "type").ok_or(not_tagged)?;
        Ok(match &*kind {
            "text" => Self::Text(TextContent::decode(value)?),
            "image" => Self::Image(ImageContent::decode(value)?),
            "audio" => Self::Audio(AudioContent::decode(value)?),
            "resource_link" => Self::ResourceLink(Box::decode(value)?),
            "resource" => Self::Resource(Box::decode(value)?),
            "tool_use" => Self::ToolUse(Box::decode(value)?),
            "tool_result" => Self::ToolResult(Box::decode(value)?),
            _ => Self::Unknown(value.into()),
        })
    }
}

/// The string that a member of an object is, if it is there once.
pub(super) fn tag<'b>(value: RawJson<'b>, name: &str) -> Option<Cow<'b, str>> {
    let mut tags = value.as_object()?.filter(|(known, _)| *known == name);
    let (_, tag) = tags.next()?;
    match tags.next() {
        None => Cow::decode(tag).ok(),
        Some(_) => None,
    }
}

impl Write for ContentBlock<'_> {
    #[inline]
    fn write<S: Sink + ?Sized>(&self, target: Target, json: &mut Writer<'_, S>) {
        match self {
            // Most of all blocks: in fewer pieces.
            Self::Text(TextContent {
                text,
                annotations: None,
                meta: None,
            }) => write_text(text, json),
            Self::Text(text) => text.write(target, json),
            Self::Image(image) => image.write(target, json),
            #[cfg(feature = "alloc")]
            Self::Resource(resource) => resource.write(target, json),
            Self::Unknown(block) => json.raw(block.raw()),
            Self::Audio(audio) if target.since(B) => audio.write(target, json),
            #[cfg(feature = "alloc")]
            Self::ResourceLink(resource) if target.since(C) => {
                json.begin_object();
                json.key("type");
                json.string("resource_link");
                resource.write_members(target, json);
                json.end_object();
            }
            #[cfg(feature = "alloc")]
            Self::ToolUse(call) if target.since(D) => call.write(target, json),
            #[cfg(feature = "alloc")]
            Self::ToolResult(result) if target.since(D) => result.write(target, json),
            Self::Audio(_) => write_text("[audio left out: 2024-11-05 cannot carry it]", json),
            #[cfg(feature = "alloc")]
            Self::ResourceLink(resource) => {
                json.open("{\"type\":\"text\",\"text\":");
                json.display(&format_args!(
                    "[resource {}: {}]",
                    resource.name, resource.uri
                ));
                json.end_object();
            }
            #[cfg(feature = "alloc")]
            Self::ToolUse(call) => {
                json.open("{\"type\":\"text\",\"text\":");
                json.display(&format_args!("[call of {} with {}]", call.name, call.input));
                json.end_object();
            }
            #[cfg(feature = "alloc")]
            Self::ToolResult(result) => {
                let text = result.content.iter().find_map(ContentBlock::as_text);
                write_text(text.unwrap_or("[result of a tool left out]"), json);
            }
        }
    }
}

fn write_text<S: Sink + ?Sized>(text: &str, json: &mut Writer<'_, S>) {
    json.open("{\"type\":\"text\",\"text\":");
    json.string(text);
    json.end_object();
}

#[cfg(feature = "alloc")]
impl Own for ContentBlock<'_> {
    type Owned = ContentBlock<'static>;

    fn own(self) -> Self::Owned {
        match self {
            Self::Text(text) => ContentBlock::Text(text.own()),
            Self::Image(image) => ContentBlock::Image(image.own()),
            Self::Audio(audio) => ContentBlock::Audio(audio.own()),
            Self::ResourceLink(resource) => ContentBlock::ResourceLink(resource.own()),
            Self::Resource(resource) => ContentBlock::Resource(resource.own()),
            Self::ToolUse(call) => ContentBlock::ToolUse(call.own()),
            Self::ToolResult(result) => ContentBlock::ToolResult(result.own()),
            Self::Unknown(block) => ContentBlock::Unknown(block.own()),
        }
    }
}

value_impls!(ContentBlock<'_>);
