//! Lists for clients that do not know an extension: without what is for those that do.

use super::Listed;
use crate::engine::server::extension::Extension;
use crate::json::{JsonStr, RawJson, Sink, Writer};

/// Writes the members of a page, an object, into an open one, without what is private to the extensions `hidden`. It may be
/// shorter than other pages, and the next one begins where it always does.
pub(super) fn write_public<'e, S: Sink + ?Sized>(
    listed: Listed,
    page: &str,
    hidden: impl Iterator<Item = &'e Extension> + Clone,
    json: &mut Writer<'_, S>,
) {
    let page = RawJson::parse(page.as_bytes()).ok();
    let members = page.and_then(RawJson::as_object);
    for (name, value) in members.into_iter().flatten() {
        json.decoded_key(name);
        let Some(elements) = value.as_array().filter(|_| name == *listed.name()) else {
            json.raw(value);
            continue;
        };
        json.begin_array();
        for element in elements {
            if !is_private(listed, element, hidden.clone()) {
                write_element(element, hidden.clone(), json);
            }
        }
        json.end_array();
    }
}

fn is_private<'e>(
    listed: Listed,
    element: RawJson<'_>,
    mut hidden: impl Iterator<Item = &'e Extension>,
) -> bool {
    let text = |name: &str| element.member(name).and_then(RawJson::as_string);
    match listed {
        Listed::Tools => text("name").is_some_and(|name| hidden.any(|it| it.owns_tool(name))),
        Listed::Resources => text("uri").is_some_and(|uri| hidden.any(|it| it.owns_resource(uri))),
        Listed::ResourceTemplates | Listed::Prompts => false,
    }
}

/// An element, without the members of its `_meta` that are private. What is left of a `_meta` with nothing in it is nothing.
fn write_element<'e, S: Sink + ?Sized>(
    element: RawJson<'_>,
    hidden: impl Iterator<Item = &'e Extension> + Clone,
    json: &mut Writer<'_, S>,
) {
    let is_public = |name: JsonStr<'_>| {
        let mut own = hidden.clone().filter_map(Extension::own_meta);
        !own.any(|own| name == *own)
    };
    json.begin_object();
    for (name, value) in element.as_object().into_iter().flatten() {
        let Some(meta) = value.as_object().filter(|_| name == "_meta") else {
            json.decoded_key(name);
            json.raw(value);
            continue;
        };
        let mut public = meta.filter(|(name, _)| is_public(*name)).peekable();
        if public.peek().is_none() {
            continue;
        }
        json.decoded_key(name);
        json.begin_object();
        for (name, value) in public {
            json.decoded_key(name);
            json.raw(value);
        }
        json.end_object();
    }
    json.end_object();
}
