//! Skills as a server serves them: an extension and resources, by nothing but what any extension has.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use mcp_core::ErrorCode;
use mcp_core::json::Json;
use mcp_core::model::ResourceContents;
use serde::Deserialize;
use serde_json::{Value, json};

use super::directory::{File, uri};
use super::{SKILL_MD, SKILLS, Skills};
use crate::{Extension, ProtocolError, Resource, ServerBuilder};

/// So many skills are on a page.
const PAGE: usize = 100;

#[derive(Deserialize)]
struct Page {
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct Which {
    uri: String,
}

#[derive(Deserialize)]
struct Directory {
    uri: String,
    cursor: Option<String>,
}

impl ServerBuilder {
    /// Serves skills: declares `io.modelcontextprotocol/skills`, and has a resource for each of their files.
    pub fn with_skills(self, skills: Skills) -> Self {
        let mut builder = self;
        for file in &skills.files {
            builder = builder.with_resource(resource(&skills, file));
        }
        builder.with_extension(extension(skills))
    }
}

fn invalid(message: String) -> ProtocolError {
    ProtocolError::new(ErrorCode::INVALID_PARAMS, message)
}

fn extension(skills: Skills) -> Extension {
    let list = Arc::new(skills);
    let (get, directory) = (list.clone(), list.clone());
    let settings = Json::parse(br#"{"directoryRead":true}"#).unwrap_or(Json::EMPTY_OBJECT);
    Extension::new(SKILLS)
        .settings(settings)
        .method("skills/list", move |page: Page| {
            let listed = listed(&list, page.cursor.as_deref());
            async move { listed }
        })
        .method("skills/get", move |which: Which| {
            let found = get.skills.iter().find(|skill| skill.uri == which.uri);
            let found = match found {
                Some(skill) => Ok(json!({ "skill": skill, "ttlMs": 0, "cacheScope": "private" })),
                None => Err(invalid(format!(
                    "No skill is served at {}",
                    cut(&which.uri)
                ))),
            };
            async move { found }
        })
        .method("resources/directory/read", move |which: Directory| {
            let read = read(&directory, &which);
            async move { read }
        })
}

fn listed(skills: &Skills, cursor: Option<&str>) -> Result<Value, ProtocolError> {
    let from = at(cursor, skills.skills.len())?;
    let page = skills.skills.iter().skip(from).take(PAGE);
    let mut result = json!({
        "skills": page.collect::<Vec<_>>(),
        "ttlMs": 0,
        "cacheScope": "private",
    });
    if from + PAGE < skills.skills.len() {
        result["nextCursor"] = (from + PAGE).to_string().into();
    }
    Ok(result)
}

/// The position that a cursor of ours stands for.
fn at(cursor: Option<&str>, count: usize) -> Result<usize, ProtocolError> {
    let Some(cursor) = cursor else { return Ok(0) };
    let at = cursor
        .parse()
        .ok()
        .filter(|at| *at < count && at % PAGE == 0);
    at.ok_or_else(|| invalid("`cursor` is none of this list".to_owned()))
}

/// The direct children of a directory.
fn read(skills: &Skills, which: &Directory) -> Result<Value, ProtocolError> {
    let known = skills
        .directories
        .iter()
        .find(|path| uri(path) == which.uri);
    let directory =
        known.ok_or_else(|| invalid(format!("{} is not a directory resource", cut(&which.uri))))?;
    let child = |path: &str| {
        let name = path.strip_prefix(directory.as_str())?.strip_prefix('/')?;
        (!name.contains('/')).then(|| name.to_owned())
    };
    let directories = skills.directories.iter().filter_map(|path| {
        let name = child(path)?;
        Some(json!({ "uri": uri(path), "name": name, "mimeType": "inode/directory" }))
    });
    let files = skills.files.iter().filter_map(|file| {
        // First, for it takes less than to look for the skill of a file.
        child(&file.path)?;
        let (name, description) = described(skills, file);
        let mut resource = json!({
            "uri": uri(&file.path),
            "name": name,
            "mimeType": mime_type(file),
            "size": file.bytes.len(),
        });
        if let Some(description) = description {
            resource["description"] = description.into();
        }
        Some(resource)
    });
    let all: Vec<_> = files.chain(directories).collect();
    let from = match &which.cursor {
        Some(cursor) => at(Some(cursor), all.len())?,
        None => 0,
    };
    let count = all.len();
    let page: Vec<_> = all.into_iter().skip(from).take(PAGE).collect();
    let mut result = json!({ "resources": page, "ttlMs": 0, "cacheScope": "private" });
    if from + PAGE < count {
        result["nextCursor"] = (from + PAGE).to_string().into();
    }
    Ok(result)
}

/// The name of a file, and what it is: those of its skill if it is a `SKILL.md`.
fn described<'s>(skills: &'s Skills, file: &'s File) -> (&'s str, Option<&'s str>) {
    let uri = uri(&file.path);
    match skills.skills.iter().find(|skill| skill.uri == uri) {
        Some(skill) => (skill.name(), Some(skill.description())),
        None => (file.path.rsplit('/').next().unwrap_or_default(), None),
    }
}

fn resource(skills: &Skills, file: &File) -> Resource {
    let (name, description) = described(skills, file);
    let (at, bytes, kind) = (uri(&file.path), file.bytes.clone(), mime_type(file));
    let read_at = at.clone();
    let resource = Resource::new(at, name, move || {
        let contents = match core::str::from_utf8(&bytes) {
            Ok(text) => ResourceContents::text(read_at.clone(), text.to_owned()),
            Err(_) => ResourceContents::blob(read_at.clone(), STANDARD.encode(&bytes)),
        };
        async move { contents }
    })
    .mime_type(kind)
    .size(file.bytes.len() as u64);
    match description {
        Some(description) => resource.description(description),
        None => resource,
    }
}

/// By its name, and whether it is text.
fn mime_type(file: &File) -> &'static str {
    let name = file.path.rsplit('/').next().unwrap_or_default();
    let end = name
        .rsplit_once('.')
        .map(|(_, end)| end.to_ascii_lowercase());
    match end.as_deref() {
        _ if name == SKILL_MD => "text/markdown",
        Some("md" | "markdown") => "text/markdown",
        Some("json") => "application/json",
        Some("yaml" | "yml") => "application/yaml",
        Some("html" | "htm") => "text/html",
        Some("css") => "text/css",
        Some("csv") => "text/csv",
        Some("js" | "mjs") => "text/javascript",
        Some("py") => "text/x-python",
        Some("sh") => "text/x-shellscript",
        Some("png") => "image/png",
        Some("jpg" | "jpeg") => "image/jpeg",
        Some("svg") => "image/svg+xml",
        Some("pdf") => "application/pdf",
        _ if core::str::from_utf8(&file.bytes).is_ok() => "text/plain",
        _ => "application/octet-stream",
    }
}

/// What a client has sent, as far as a message has room for it.
fn cut(text: &str) -> String {
    text.chars().take(128).collect()
}
