//! Content blocks (server, "Tools", "Tool Result").

use alloc::borrow::Cow;

use super::ProtocolVersion;
use crate::json::{RawJson, Sink, Writer};

/// One block of a tool's result.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ContentBlock<'a> {
    /// Text.
    #[non_exhaustive]
    Text {
        /// The text.
        text: Cow<'a, str>,
    },
    /// A picture.
    #[non_exhaustive]
    Image {
        /// The picture in standard base64 with padding.
        data: Cow<'a, str>,
        /// Such as `image/png`.
        mime_type: Cow<'a, str>,
    },
    /// Sound. 2024-11-05 does not have it: its peers are told so in a text block.
    #[non_exhaustive]
    Audio {
        /// The sound in standard base64 with padding.
        data: Cow<'a, str>,
        /// Such as `audio/wav`.
        mime_type: Cow<'a, str>,
    },
    /// A block of any other type, written as it is.
    Raw(RawJson<'a>),
}

impl<'a> ContentBlock<'a> {
    /// A text block.
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text { text: text.into() }
    }

    /// A picture: standard base64 with padding, and a type such as `image/png`.
    pub fn image(data: impl Into<Cow<'a, str>>, mime_type: impl Into<Cow<'a, str>>) -> Self {
        Self::Image {
            data: data.into(),
            mime_type: mime_type.into(),
        }
    }

    /// Sound: standard base64 with padding, and a type such as `audio/wav`.
    pub fn audio(data: impl Into<Cow<'a, str>>, mime_type: impl Into<Cow<'a, str>>) -> Self {
        Self::Audio {
            data: data.into(),
            mime_type: mime_type.into(),
        }
    }

    pub(crate) fn write<S: Sink + ?Sized>(
        &self,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
    ) {
        match self {
            Self::Text { text } => write_text(text, json),
            Self::Image { data, mime_type } => write_media("image", data, mime_type, json),
            // TYP-08: what the peer's revision does not have is not sent to it.
            Self::Audio { .. } if version == ProtocolVersion::V2024_11_05 => {
                write_text("[audio left out: 2024-11-05 cannot carry it]", json);
            }
            Self::Audio { data, mime_type } => write_media("audio", data, mime_type, json),
            Self::Raw(raw) => json.raw(*raw),
        }
    }
}

fn write_text<S: Sink + ?Sized>(text: &str, json: &mut Writer<'_, S>) {
    json.open("{\"type\":\"text\",\"text\":");
    json.string(text);
    json.end_object();
}

fn write_media<S: Sink + ?Sized>(
    kind: &str,
    data: &str,
    mime_type: &str,
    json: &mut Writer<'_, S>,
) {
    json.begin_object();
    json.key("type");
    json.string(kind);
    json.key("data");
    json.string(data);
    json.key("mimeType");
    json.string(mime_type);
    json.end_object();
}
