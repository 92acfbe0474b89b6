//! Blocks of content, as models can be shown them.

use std::borrow::Cow;

use mcp_core::json::{Json, RawJson};
use mcp_core::model::{CallToolResult, ContentBlock, ResourceContents};

/// A piece of content.
pub(super) enum Part<'a> {
    Text(Cow<'a, str>),
    /// Bytes in base64, and their type.
    Media(Media<'a>),
}

pub(super) struct Media<'a> {
    pub(super) kind: Kind,
    pub(super) mime_type: &'a str,
    pub(super) data: &'a str,
    /// Where they are, if they are a resource.
    pub(super) uri: Option<&'a str>,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Kind {
    /// PNG, JPEG, GIF, WebP: what all providers take.
    Image,
    /// WAV and MP3.
    Audio,
    /// PDF.
    Document,
    /// What no provider takes.
    Other,
}

impl<'a> Media<'a> {
    fn new(mime_type: &'a str, data: &'a str, uri: Option<&'a str>) -> Self {
        let essence = mime_type.split(';').next().unwrap_or_default().trim();
        let kind = match essence.to_ascii_lowercase().as_str() {
            "image/png" | "image/jpeg" | "image/gif" | "image/webp" => Kind::Image,
            "audio/wav" | "audio/x-wav" | "audio/wave" | "audio/mpeg" | "audio/mp3" => Kind::Audio,
            "application/pdf" => Kind::Document,
            _ => Kind::Other,
        };
        Self {
            kind,
            mime_type: essence,
            data,
            uri,
        }
    }

    /// `wav` or `mp3`.
    pub(super) fn sound(&self) -> &'static str {
        if self.mime_type.to_ascii_lowercase().contains("wav") {
            "wav"
        } else {
            "mp3"
        }
    }

    pub(super) fn url(&self) -> String {
        format!("data:{};base64,{}", self.mime_type, self.data)
    }

    /// What a model is told that is not shown it.
    pub(super) fn note(&self) -> String {
        let size = self.data.len() / 4 * 3;
        let uri = self.uri.map(|uri| format!(" of {uri}")).unwrap_or_default();
        format!("[{} data{uri}, {size} bytes, not shown]", self.mime_type)
    }
}

/// The pieces of a user's turn, or of a result.
pub(super) fn parts<'a>(blocks: &'a [ContentBlock<'static>]) -> Vec<Part<'a>> {
    blocks.iter().map(part).collect()
}

fn part<'a>(block: &'a ContentBlock<'static>) -> Part<'a> {
    let text = |text: String| Part::Text(Cow::Owned(text));
    match block {
        ContentBlock::Text(block) => Part::Text(Cow::Borrowed(&block.text)),
        ContentBlock::Image(block) => Part::Media(Media::new(&block.mime_type, &block.data, None)),
        ContentBlock::Audio(block) => Part::Media(Media::new(&block.mime_type, &block.data, None)),
        ContentBlock::ResourceLink(link) => {
            let kind = link
                .mime_type
                .as_deref()
                .map(|kind| format!(", {kind}"))
                .unwrap_or_default();
            let words = link
                .description
                .as_deref()
                .map(|words| format!(": {words}"))
                .unwrap_or_default();
            text(format!(
                "[resource {} at {}{kind}{words}]",
                link.name, link.uri
            ))
        }
        ContentBlock::Resource(resource) => match &resource.resource {
            ResourceContents::Text(contents) => {
                text(format!("[resource {}]\n{}", contents.uri, contents.text))
            }
            ResourceContents::Blob(contents) => {
                let kind = contents
                    .mime_type
                    .as_deref()
                    .unwrap_or("application/octet-stream");
                Part::Media(Media::new(kind, &contents.blob, Some(&contents.uri)))
            }
            _ => text("[a resource that cannot be shown]".to_owned()),
        },
        ContentBlock::ToolUse(call) => text(format!("[call of {} with {}]", call.name, call.input)),
        ContentBlock::ToolResult(result) => {
            let all: Vec<&str> = result
                .content
                .iter()
                .filter_map(ContentBlock::as_text)
                .collect();
            text(format!("[result of a call: {}]", all.join(" ")))
        }
        ContentBlock::Unknown(block) => {
            let kind = block.raw().member("type").and_then(RawJson::as_string);
            let kind = kind.map(|kind| kind.decode()).unwrap_or_default();
            let kind: String = kind.chars().take(64).collect();
            text(format!("[a block of the type `{kind}`, not shown]"))
        }
        _ => text("[a block that cannot be shown]".to_owned()),
    }
}

/// What a model is shown of a result: its blocks, and its structured content where no block says the same.
pub(super) fn of_result<'a>(result: &'a CallToolResult<'static>) -> Vec<Part<'a>> {
    let mut all = parts(&result.content);
    if let Some(structured) = &result.structured_content
        && !told(result, structured)
    {
        all.push(Part::Text(Cow::Borrowed(structured.as_str())));
    }
    all
}

/// Whether a block says what the structured content says.
pub(super) fn told(result: &CallToolResult<'static>, structured: &Json<'_>) -> bool {
    let mut texts = result.content.iter().filter_map(ContentBlock::as_text);
    texts.any(|text| says(text, structured))
}

fn says(text: &str, structured: &Json<'_>) -> bool {
    let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).ok();
    text == structured.as_str()
        || value(text).is_some_and(|said| Some(said) == value(structured.as_str()))
}

/// The texts of some parts as one, media told in words, but for those that are shown elsewhere.
pub(super) fn as_text(parts: &[Part<'_>], shown: impl Fn(&Media<'_>) -> bool) -> String {
    let words = parts.iter().map(|part| match part {
        Part::Text(text) => Cow::Borrowed(&**text),
        Part::Media(media) if shown(media) => {
            Cow::Owned(format!("[{}, shown below]", media.mime_type))
        }
        Part::Media(media) => Cow::Owned(media.note()),
    });
    words.collect::<Vec<_>>().join("\n")
}

/// What a model reads before the text of a tool that failed, where the provider has no other mark for it.
pub(super) const FAILED: &str = "The tool failed:";
