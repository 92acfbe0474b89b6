//! All that is wrong with a file, but for its packages.

use mcp_core::json::{Kind, RawJson};
use serde_json::Value;

use super::input::{SSE, STREAMABLE, check_inputs, check_url, check_variables};
use super::model::too_long;
use super::package::check_package;
use super::problem::{Problem, quoted};
use super::version::is_range;
use super::walk::{Found, Node, Object, below};
use super::{MAX_BYTES, SCHEMA};

/// What is before and after the date of a schema.
const SCHEMA_ENDS: (&str, &str) = (
    "https://static.modelcontextprotocol.io/schemas/",
    "/server.schema.json",
);

/// Schemas that there were before [`SCHEMA`].
const OLDER: [&str; 5] = [
    "2025-07-09",
    "2025-09-16",
    "2025-09-29",
    "2025-10-11",
    "2025-10-17",
];

/// What the official registry keeps of `_meta`, and how many bytes of it.
const PUBLISHER: &str = "io.modelcontextprotocol.registry/publisher-provided";
const PUBLISHER_BYTES: usize = 4096;

/// Everything that is wrong with a `server.json`, in the order of the checks; nothing: it can be published. At most 100 problems are told.
///
/// A text that is no JSON, or longer than [`MAX_BYTES`], is one problem.
#[must_use]
pub fn validate(text: &str) -> Vec<Problem> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    if text.len() > MAX_BYTES {
        return vec![too_long()];
    }
    let value: Value = match serde_json::from_str(text) {
        Ok(value) => value,
        Err(error) => {
            let fault = format!("it is no JSON: {error}");
            return vec![Problem::error("", fault, "correct what stands there")];
        }
    };
    let mut found = Found::default();
    if let Ok(raw) = RawJson::parse(text.as_bytes()) {
        check_twice(raw, "", &mut found);
    }
    check_server(&Node::root(&value), &mut found);
    found.into_problems()
}

/// Of members of the same name, programs take one or the other.
fn check_twice(value: RawJson<'_>, path: &str, found: &mut Found) {
    match value.kind() {
        Kind::Object => {
            let mut seen = std::collections::HashSet::new();
            for (name, value) in value.as_object().into_iter().flatten() {
                let name = name.decode();
                let path = below(path, &name);
                check_twice(value, &path, found);
                if !seen.insert(name.into_owned()) {
                    found.add(Problem::error(
                        path,
                        "it is there twice",
                        "keep one of them",
                    ));
                }
            }
        }
        Kind::Array => {
            for (at, value) in value.as_array().into_iter().flatten().enumerate() {
                check_twice(value, &format!("{path}[{at}]"), found);
            }
        }
        Kind::String | Kind::Number | Kind::Bool | Kind::Null => {}
    }
}

fn check_server(root: &Node<'_>, found: &mut Found) {
    const MEMBERS: [&str; 11] = [
        "$schema",
        "name",
        "title",
        "description",
        "version",
        "websiteUrl",
        "repository",
        "icons",
        "packages",
        "remotes",
        "_meta",
    ];
    let Some(server) = root.object(&MEMBERS, found) else {
        return;
    };
    check_schema(&server, found);
    if let Some(name) = server.need("name", "write `com.example/server`", found) {
        check_name(&name, found);
    }
    let remedy = "say in up to 100 characters what it does";
    if let Some(description) = server.need("description", remedy, found) {
        description.length(1, 100, found);
    }
    if let Some(version) = server.need("version", "write `1.0.0`", found) {
        check_version(&version, found);
    }
    if let Some(title) = server.get("title")
        && let Some(text) = title.length(1, 100, found)
        && !text.is_empty()
        && text.trim().is_empty()
    {
        found.error(&title, "it is blank", "name the server, or leave it out");
    }
    if let Some(site) = server.get("websiteUrl") {
        check_https(&site, found);
    }
    if let Some(repository) = server.get("repository") {
        check_repository(&repository, found);
    }
    for icon in server
        .get("icons")
        .map_or_else(Vec::new, |it| it.elements(found))
    {
        check_icon(&icon, found);
    }
    for package in server
        .get("packages")
        .map_or_else(Vec::new, |it| it.elements(found))
    {
        check_package(&package, found);
    }
    for remote in server
        .get("remotes")
        .map_or_else(Vec::new, |it| it.elements(found))
    {
        check_remote(&remote, found);
    }
    if let Some(meta) = server.get("_meta") {
        check_meta(&meta, found);
    }
    if server.has("status") {
        let path = below("", "status");
        let fault = "the registry says it, and the file does not, since 2025-09-29";
        found.add(Problem::warning(path, fault, "leave it out"));
    }
}

fn check_schema(server: &Object<'_>, found: &mut Found) {
    let remedy = format!("write \"$schema\": \"{SCHEMA}\"");
    let Some(schema) = server.need("$schema", &remedy, found) else {
        return;
    };
    let Some(uri) = schema.string(found) else {
        return;
    };
    if uri == SCHEMA {
        return;
    }
    let date = uri
        .strip_prefix(SCHEMA_ENDS.0)
        .and_then(|uri| uri.strip_suffix(SCHEMA_ENDS.1));
    match date {
        Some(date) if OLDER.contains(&date) => {
            let fault = format!("the schema of {date} is deprecated");
            found.warning(&schema, fault, remedy);
        }
        Some("draft") => found.warning(&schema, "a draft may change any day", remedy),
        _ => {
            let fault = format!("{} is no schema of server.json that is known", quoted(uri));
            found.error(&schema, fault, remedy);
        }
    }
}

fn check_name(node: &Node<'_>, found: &mut Found) {
    let Some(name) = node.length(3, 200, found) else {
        return;
    };
    let remedy = "write a domain backwards, one `/` and a name: `com.example/server`";
    let Some((space, own)) = name.split_once('/') else {
        found.error(node, format!("{} has no `/`", quoted(name)), remedy);
        return;
    };
    if own.contains('/') {
        found.error(
            node,
            format!("{} has more than one `/`", quoted(name)),
            remedy,
        );
        return;
    }
    let whole = |part: &str, more: &str| {
        let inner = |c: char| c.is_ascii_alphanumeric() || more.contains(c);
        let edge = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric());
        part.len() > 1
            && part.chars().all(inner)
            && edge(part.chars().next())
            && edge(part.chars().next_back())
    };
    if !whole(space, ".-") {
        let fault = format!(
            "{}, before the `/`, is not two or more letters and digits with `.` and `-` between them",
            quoted(space)
        );
        found.error(node, fault, remedy);
    } else if !space.contains('.') {
        let fault = format!("{}, before the `/`, is no domain backwards", quoted(space));
        found.warning(node, fault, remedy);
    }
    if !whole(own, "._-") {
        let fault = format!(
            "{}, after the `/`, is not two or more letters and digits with `.`, `_` and `-` between them",
            quoted(own)
        );
        found.error(node, fault, remedy);
    }
}

/// The version of a server or of a package.
pub(super) fn check_version(node: &Node<'_>, found: &mut Found) {
    let Some(version) = node.length(1, 255, found) else {
        return;
    };
    let remedy = "write the one version that this is: `1.2.3`";
    if version == "latest" {
        found.error(node, "`latest` is another version each time", remedy);
    } else if is_range(version) {
        let fault = format!("{} is a range of versions", quoted(version));
        found.error(node, fault, remedy);
    } else if !version.is_empty() && version.trim().is_empty() {
        found.error(node, "it is blank", remedy);
    }
}

/// A URL that begins with `https://` and has a host.
pub(super) fn check_https<'j>(node: &Node<'j>, found: &mut Found) -> Option<&'j str> {
    let url = node.string(found)?;
    let host = url.strip_prefix("https://");
    let host = host.and_then(|rest| rest.split(['/', '?', '#']).next());
    if host.is_none_or(str::is_empty) || url.contains(|c: char| c.is_whitespace() || c.is_control())
    {
        let fault = format!("{} is no https URL", quoted(url));
        found.error(node, fault, "write `https://` and a host");
        return None;
    }
    if host.is_some_and(|host| host.contains('@')) {
        found.error(
            node,
            "there is a user in it",
            "leave out what stands before `@`",
        );
    }
    Some(url)
}

fn check_repository(node: &Node<'_>, found: &mut Found) {
    let Some(repository) = node.object(&["url", "source", "id", "subfolder"], found) else {
        return;
    };
    let source = repository.need("source", "write `github` or `gitlab`", found);
    let source = source.and_then(|it| it.one_of(&["github", "gitlab"], found));
    if let Some(url) = repository.need("url", "write the URL of the repository", found)
        && let Some(text) = url.string(found)
        && let Some(source) = source
    {
        let rest = text
            .strip_prefix("https://")
            .or_else(|| text.strip_prefix("http://"));
        let rest = rest.map(|rest| rest.strip_prefix("www.").unwrap_or(rest));
        let path = rest.and_then(|rest| rest.strip_prefix(source)?.strip_prefix(".com/"));
        let parts = path.map(|path| path.strip_suffix('/').unwrap_or(path).split('/'));
        let named = |part: &str| {
            let inner = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
            !part.is_empty() && part.chars().all(inner)
        };
        let parts = parts.filter(|parts| parts.clone().all(named));
        let count = parts.map_or(0, Iterator::count);
        // GitLab has groups of groups.
        if count < 2 || (source == "github" && count > 2) {
            let fault = format!("{} is no repository of {source}", quoted(text));
            found.error(
                &url,
                fault,
                format!("write `https://{source}.com/owner/repository`"),
            );
        }
    }
    if let Some(id) = repository.get("id") {
        id.string(found);
    }
    if let Some(folder) = repository.get("subfolder")
        && let Some(path) = folder.string(found)
    {
        let named = |part: &str| {
            let inner = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
            !matches!(part, "" | "." | "..") && part.chars().all(inner)
        };
        if !path.split('/').all(named) {
            let fault = format!("{} is no plain relative path", quoted(path));
            found.error(&folder, fault, "write `src/server`");
        }
    }
}

fn check_icon(node: &Node<'_>, found: &mut Found) {
    let Some(icon) = node.object(&["src", "mimeType", "sizes", "theme"], found) else {
        return;
    };
    if let Some(src) = icon.need("src", "write the picture's https URL", found) {
        check_https(&src, found);
        if src.value.is_string() {
            src.length(1, 255, found);
        }
    }
    if let Some(mime) = icon.get("mimeType") {
        let known = [
            "image/png",
            "image/jpeg",
            "image/jpg",
            "image/svg+xml",
            "image/webp",
        ];
        mime.one_of(&known, found);
    }
    if let Some(theme) = icon.get("theme") {
        theme.one_of(&["light", "dark"], found);
    }
    for size in icon
        .get("sizes")
        .map_or_else(Vec::new, |it| it.elements(found))
    {
        let Some(text) = size.string(found) else {
            continue;
        };
        let number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
        let sized = text
            .split_once('x')
            .is_some_and(|(w, h)| number(w) && number(h));
        if !sized && text != "any" {
            let fault = format!("{} is no size", quoted(text));
            found.error(&size, fault, "write `48x48`, or `any`");
        }
    }
}

fn check_remote(node: &Node<'_>, found: &mut Found) {
    let Some(remote) = node.object(&["type", "url", "headers", "variables"], found) else {
        return;
    };
    let remedy = format!("write `{STREAMABLE}`");
    if let Some(kind) = remote.need("type", &remedy, found)
        && kind.one_of(&[STREAMABLE, SSE], found) == Some(SSE)
    {
        found.warning(&kind, "HTTP+SSE is deprecated", remedy);
    }
    let mut names = Vec::new();
    if let Some(variables) = remote.get("variables") {
        names = check_variables(&variables, found);
    }
    if let Some(url) = remote.need("url", "write the server's URL", found) {
        check_url(&url, &names, "`variables` of this remote", true, found);
    }
    if let Some(headers) = remote.get("headers") {
        check_inputs(&headers, false, found);
    }
}

fn check_meta(node: &Node<'_>, found: &mut Found) {
    let Some(meta) = node.any_object(found) else {
        return;
    };
    for (name, member) in meta.members() {
        if name != PUBLISHER {
            let fault = "the official registry drops it";
            found.warning(&member, fault, format!("put it below `{PUBLISHER}`"));
            continue;
        }
        if member.any_object(found).is_none() {
            continue;
        }
        let bytes = member.value.to_string().len();
        if bytes > PUBLISHER_BYTES {
            let fault = format!("it has {bytes} bytes, and {PUBLISHER_BYTES} are allowed");
            found.error(&member, fault, "leave out what is not needed");
        }
    }
}
