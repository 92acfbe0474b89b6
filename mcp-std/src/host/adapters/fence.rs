//! Results in which each word of a server stands between marks.

use mcp_core::model::{CallToolResult, ContentBlock, ResourceContents};

use super::content::{Kind, Media, Part, parts, told};

/// The result with all that a model would read of it as texts between marks, which `mark` puts. What is shown as it is keeps
/// no words: pictures, sounds and papers.
pub(in crate::host) fn fenced(
    result: &CallToolResult<'static>,
    mark: impl Fn(&str) -> String,
) -> CallToolResult<'static> {
    let text = |words: &str| ContentBlock::text(mark(words));
    let mut blocks = Vec::with_capacity(result.content.len());
    for part in parts(&result.content) {
        match part {
            Part::Text(words) => blocks.push(text(&words)),
            Part::Media(media) if media.kind == Kind::Other => blocks.push(text(&media.note())),
            Part::Media(media) => {
                if let Some(uri) = media.uri {
                    blocks.push(text(&format!("[resource {uri}]")));
                }
                blocks.push(bare(&media));
            }
        }
    }
    if let Some(structured) = &result.structured_content
        && !told(result, structured)
    {
        blocks.push(text(structured.as_str()));
    }
    let mut fenced = CallToolResult::new(blocks);
    fenced.is_error = result.is_error;
    fenced
}

/// The bytes alone, with a type that is one of those that providers take.
fn bare(media: &Media<'_>) -> ContentBlock<'static> {
    let (data, kind) = (media.data.to_owned(), media.mime_type.to_ascii_lowercase());
    match media.kind {
        Kind::Image => ContentBlock::image(data, kind),
        Kind::Audio => ContentBlock::audio(data, kind),
        Kind::Document | Kind::Other => {
            let mut contents = ResourceContents::blob("resource:", data);
            if let ResourceContents::Blob(blob) = &mut contents {
                blob.mime_type = Some(kind.into());
            }
            ContentBlock::resource(contents)
        }
    }
}
