//! Resources and their templates (server, "Resources").

use crate::Cow;

#[cfg(feature = "alloc")]
use super::codec::Own;
use super::codec::{Decode, DecodeError};
use super::codec::{Target, Write, record, result_impls, value_impls};
use super::{Annotations, CacheScope, Icon, List, Map};
use crate::json::{Json, RawJson, Sink, Writer};

record! {
    /// The description of a resource.
    pub struct Resource<'a> {
        /// Where it is.
        uri: req Cow<'a, str> = "uri";
        /// For programs.
        name: req Cow<'a, str> = "name";
        /// For people. From 2025-06-18 on.
        title: opt Cow<'a, str> = "title" [C E];
        /// What it is, for the model.
        description: opt Cow<'a, str> = "description";
        /// Its type.
        mime_type: opt Cow<'a, str> = "mimeType";
        /// How to use it.
        annotations: opt Annotations<'a> = "annotations";
        /// Its size in bytes, before base64.
        size: opt u64 = "size";
        /// Pictures of it. From 2025-11-25 on.
        icons: opt List<'a, Icon<'a>> = "icons" [D E];
        /// `_meta`. From 2025-06-18 on.
        meta: opt Json<'a> = "_meta" [C E];
    }
}

record! {
    /// The description of the resources whose URIs have one form.
    pub struct ResourceTemplate<'a> {
        /// The form, see [`UriTemplate`](super::UriTemplate).
        uri_template: req Cow<'a, str> = "uriTemplate";
        /// For programs.
        name: req Cow<'a, str> = "name";
        /// For people. From 2025-06-18 on.
        title: opt Cow<'a, str> = "title" [C E];
        /// What they are, for the model.
        description: opt Cow<'a, str> = "description";
        /// Their type, if all have the same.
        mime_type: opt Cow<'a, str> = "mimeType";
        /// How to use them.
        annotations: opt Annotations<'a> = "annotations";
        /// Pictures. From 2025-11-25 on.
        icons: opt List<'a, Icon<'a>> = "icons" [D E];
        /// `_meta`. From 2025-06-18 on.
        meta: opt Json<'a> = "_meta" [C E];
    }
}

/// What a resource holds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ResourceContents<'a> {
    /// Text.
    Text(TextResourceContents<'a>),
    /// Bytes.
    Blob(BlobResourceContents<'a>),
}

record! {
    /// Text.
    pub struct TextResourceContents<'a> {
        /// Where it is.
        uri: req Cow<'a, str> = "uri";
        /// Its type.
        mime_type: opt Cow<'a, str> = "mimeType";
        /// The text.
        text: req Cow<'a, str> = "text";
        /// `_meta`. From 2025-06-18 on.
        meta: opt Json<'a> = "_meta" [C E];
    }
}

record! {
    /// Bytes.
    pub struct BlobResourceContents<'a> {
        /// Where it is.
        uri: req Cow<'a, str> = "uri";
        /// Its type.
        mime_type: opt Cow<'a, str> = "mimeType";
        /// The bytes in standard base64 with padding.
        blob: req Cow<'a, str> = "blob";
        /// `_meta`. From 2025-06-18 on.
        meta: opt Json<'a> = "_meta" [C E];
    }
}

impl<'a> ResourceContents<'a> {
    /// Text.
    pub fn text(uri: impl Into<Cow<'a, str>>, text: impl Into<Cow<'a, str>>) -> Self {
        Self::Text(TextResourceContents::new(uri, text))
    }

    /// Bytes in standard base64 with padding.
    pub fn blob(uri: impl Into<Cow<'a, str>>, blob: impl Into<Cow<'a, str>>) -> Self {
        Self::Blob(BlobResourceContents::new(uri, blob))
    }

    /// The same, saying its type.
    #[must_use]
    pub fn of_type(mut self, mime_type: impl Into<Cow<'a, str>>) -> Self {
        match &mut self {
            Self::Text(contents) => contents.mime_type = Some(mime_type.into()),
            Self::Blob(contents) => contents.mime_type = Some(mime_type.into()),
        }
        self
    }

    /// Where it is.
    #[must_use]
    pub fn uri(&self) -> &str {
        match self {
            Self::Text(contents) => &contents.uri,
            Self::Blob(contents) => &contents.uri,
        }
    }

    /// Its type.
    #[must_use]
    pub fn mime_type(&self) -> Option<&str> {
        match self {
            Self::Text(contents) => contents.mime_type.as_deref(),
            Self::Blob(contents) => contents.mime_type.as_deref(),
        }
    }
}

#[cfg(feature = "alloc")]
impl<'b> Decode<'b> for ResourceContents<'b> {
    /// Told apart by whether there is a `blob`: text is what all have that are not.
    fn decode(value: RawJson<'b>) -> Result<Self, DecodeError> {
        let mut members = value.as_object().into_iter().flatten();
        if members.any(|(name, value)| name == "blob" && !value.is_null()) {
            BlobResourceContents::decode(value).map(Self::Blob)
        } else {
            TextResourceContents::decode(value).map(Self::Text)
        }
    }
}

impl Write for ResourceContents<'_> {
    fn write<S: Sink + ?Sized>(&self, target: Target, json: &mut Writer<'_, S>) {
        match self {
            Self::Text(contents) => contents.write(target, json),
            Self::Blob(contents) => contents.write(target, json),
        }
    }
}

#[cfg(feature = "alloc")]
impl Own for ResourceContents<'_> {
    type Owned = ResourceContents<'static>;

    fn own(self) -> Self::Owned {
        match self {
            Self::Text(contents) => ResourceContents::Text(contents.own()),
            Self::Blob(contents) => ResourceContents::Blob(contents.own()),
        }
    }
}

value_impls!(ResourceContents<'_>);

record! {
    /// The result of `resources/list`.
    pub struct ListResourcesResult<'a> {
        /// A page of the resources.
        resources: req List<'a, Resource<'a>> = "resources";
        /// Where the next page begins; absent on the last. An empty string is a cursor too (PAG-02).
        next_cursor: opt Cow<'a, str> = "nextCursor";
    }
    around {
        /// For how many milliseconds it may be kept. From 2026-07-28 on, as is the next.
        ttl_ms: opt i64 = "ttlMs" [E E];
        /// For whom it may be kept.
        cache_scope: opt CacheScope = "cacheScope" [E E];
        /// `_meta`.
        meta: opt Json<'a> = "_meta" [A E];
    }
}
result_impls!(ListResourcesResult cacheable);

record! {
    /// The result of `resources/templates/list`.
    pub struct ListResourceTemplatesResult<'a> {
        /// A page of the templates.
        resource_templates: req List<'a, ResourceTemplate<'a>> = "resourceTemplates";
        /// Where the next page begins; absent on the last. An empty string is a cursor too (PAG-02).
        next_cursor: opt Cow<'a, str> = "nextCursor";
    }
    around {
        /// For how many milliseconds it may be kept. From 2026-07-28 on, as is the next.
        ttl_ms: opt i64 = "ttlMs" [E E];
        /// For whom it may be kept.
        cache_scope: opt CacheScope = "cacheScope" [E E];
        /// `_meta`.
        meta: opt Json<'a> = "_meta" [A E];
    }
}
result_impls!(ListResourceTemplatesResult cacheable);

record! {
    /// The params of `resources/read`.
    pub struct ReadResourceRequestParams<'a> {
        /// Which.
        uri: req Cow<'a, str> = "uri";
        /// Answers to [`InputRequiredResult`](super::InputRequiredResult), by its keys. From 2026-07-28 on.
        input_responses: opt Map<'a, Json<'a>> = "inputResponses" [E E];
        /// [`InputRequiredResult::request_state`](super::InputRequiredResult), if there was one.
        request_state: opt Cow<'a, str> = "requestState" [E E];
        /// `_meta`.
        meta: opt Json<'a> = "_meta";
    }
}

record! {
    /// The result of `resources/read`.
    pub struct ReadResourceResult<'a> {
        /// What it holds; several if it stands for several, such as a directory.
        contents: req List<'a, ResourceContents<'a>> = "contents";
    }
    around {
        /// For how many milliseconds it may be kept. From 2026-07-28 on, as is the next.
        ttl_ms: opt i64 = "ttlMs" [E E];
        /// For whom it may be kept.
        cache_scope: opt CacheScope = "cacheScope" [E E];
        /// `_meta`.
        meta: opt Json<'a> = "_meta" [A E];
    }
}
result_impls!(ReadResourceResult cacheable);

record! {
    /// The params of `resources/subscribe`. Up to 2025-11-25.
    pub struct SubscribeRequestParams<'a> {
        /// Which.
        uri: req Cow<'a, str> = "uri";
        /// `_meta`.
        meta: opt Json<'a> = "_meta";
    }
}

record! {
    /// The params of `resources/unsubscribe`. Up to 2025-11-25.
    pub struct UnsubscribeRequestParams<'a> {
        /// Which.
        uri: req Cow<'a, str> = "uri";
        /// `_meta`.
        meta: opt Json<'a> = "_meta";
    }
}

record! {
    /// The params of `notifications/resources/updated`.
    pub struct ResourceUpdatedParams<'a> {
        /// Which; may lie below what was subscribed to (SUB-15).
        uri: req Cow<'a, str> = "uri";
        /// `_meta`.
        meta: opt Json<'a> = "_meta";
    }
}
