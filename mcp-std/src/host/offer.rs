//! The tools of one server, made ready for models.

use std::sync::Arc;

use mcp_core::json::Json;
use mcp_core::model::{Encode, ProtocolVersion, Tool};
use serde_json::{Map, Value};

use super::config::ServerConfig;
use super::guard::{Finding, Guards, Rule, check_icons, check_text, cleaned};
use super::tool::ToolDefinition;
use crate::server::digest::Digest;

/// What identifies a definition: name, texts, schemas and hints.
pub(crate) type ToolDigest = [u8; 32];

/// A tool of a server that its filter admits.
#[derive(Debug)]
pub(crate) struct Offered {
    /// Its name is not the one for the model yet.
    pub(crate) definition: ToolDefinition,
    pub(crate) digest: ToolDigest,
    pub(crate) preset: Map<String, Value>,
    pub(crate) group: Option<Arc<str>>,
    /// Nobody has to be asked, as the configuration has it.
    pub(crate) approved: bool,
    pub(crate) findings: Vec<Finding>,
}

/// More tools than that no server has, and no more are kept of one.
const MOST: usize = 10_000;

/// Makes tools ready. Of several of one name the first is taken; one whose schema is no object is left out.
pub(crate) fn offers(
    config: &ServerConfig,
    server: &Arc<str>,
    tools: &[Tool<'_>],
    guards: &Guards,
) -> Vec<Arc<Offered>> {
    let group: Option<Arc<str>> = config.group.as_deref().map(Arc::from);
    let mut seen = std::collections::HashSet::new();
    let admitted = tools
        .iter()
        .filter(|tool| config.filter.admits(&tool.name) && seen.insert(&*tool.name));
    let offered = admitted.filter_map(|tool| {
        let offered = offered(config, server, tool, guards);
        if offered.is_none() {
            tracing::warn!(
                server = &**server,
                tool = &*tool.name,
                "the schema of its arguments is no object"
            );
        }
        let mut offered = offered?;
        offered.group.clone_from(&group);
        Some(Arc::new(offered))
    });
    offered.take(MOST).collect()
}

fn offered(
    config: &ServerConfig,
    server: &Arc<str>,
    tool: &Tool<'_>,
    guards: &Guards,
) -> Option<Offered> {
    let mut schema: Value = serde_json::from_str(tool.input_schema.as_str()).ok()?;
    let preset = hide_preset(config, &tool.name, schema.as_object_mut()?);
    let digest = digest(tool);
    let mut findings = Vec::new();
    let mut found = |rule: Rule, what: Option<String>| {
        if let Some(what) = what.filter(|_| guards.is_on(rule)) {
            findings.push(Finding::of_tool(rule, server, &tool.name, digest, &what));
        }
    };
    let texts = [
        Some(&*tool.name),
        tool.title.as_deref(),
        tool.description.as_deref(),
        // What it says of its arguments is read by the model just the same.
        Some(tool.input_schema.as_str()),
    ];
    let (mut hidden, mut instructs) = (None, None);
    for (at, text) in texts.into_iter().enumerate() {
        // A schema may say it in escapes.
        let decoded = (at == 3).then(|| strings(&schema));
        let (hides, tells) = check_text(decoded.as_deref().or(text).unwrap_or_default());
        hidden = hidden.or(hides);
        instructs = instructs.or(tells);
    }
    found(Rule::HiddenCharacters, hidden);
    found(Rule::Instructions, instructs);
    found(Rule::Links, tool.icons.as_deref().and_then(check_icons));
    let clean = |text: &str| {
        if guards.is_on(Rule::HiddenCharacters) {
            cleaned(text).into_owned()
        } else {
            text.to_owned()
        }
    };
    if guards.is_on(Rule::HiddenCharacters) {
        clean_strings(&mut schema);
    }
    let hints = tool.annotations.as_ref();
    let title = tool.title.as_deref().or_else(|| hints?.title.as_deref());
    let output = tool.output_schema.as_ref();
    let definition = ToolDefinition {
        title: title.map(clean),
        description: tool.description.as_deref().map(clean),
        output_schema: output.and_then(|it| serde_json::from_str(it.as_str()).ok()),
        read_only: hints.and_then(|it| it.read_only_hint),
        destructive: hints.and_then(|it| it.destructive_hint),
        server: server.clone(),
        #[cfg(feature = "apps")]
        ui: crate::apps::ToolUi::read(tool.meta.as_ref().map(Json::raw)),
        ..ToolDefinition::new(&*tool.name, None, schema)
    };
    Some(Offered {
        definition,
        digest,
        preset,
        group: None,
        approved: config.approved.iter().any(|glob| glob.matches(&tool.name)),
        findings,
    })
}

/// Takes the arguments out of the schema that are preset, and says what they are.
fn hide_preset(
    config: &ServerConfig,
    tool: &str,
    schema: &mut Map<String, Value>,
) -> Map<String, Value> {
    let mut preset = Map::new();
    for (glob, arguments) in &config.preset {
        if !glob.matches(tool) {
            continue;
        }
        for (name, value) in arguments {
            let properties = schema.get_mut("properties").and_then(Value::as_object_mut);
            let there = properties.is_some_and(|it| it.shift_remove(name).is_some());
            // Said by an earlier pattern: then it is gone from the schema, and the later one has the say.
            if there || preset.contains_key(name) {
                preset.insert(name.clone(), value.clone());
            }
        }
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name.as_str().is_none_or(|name| !preset.contains_key(name)));
    }
    preset
}

/// All that is said in a value, names of members included.
fn strings(value: &Value) -> String {
    fn gather(value: &Value, all: &mut String) {
        match value {
            Value::String(text) => {
                all.push_str(text);
                all.push('\n');
            }
            Value::Array(elements) => elements.iter().for_each(|it| gather(it, all)),
            Value::Object(members) => {
                for (name, value) in members {
                    all.push_str(name);
                    all.push('\n');
                    gather(value, all);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    let mut all = String::new();
    gather(value, &mut all);
    all
}

/// Only what describes: names of members and values that are allowed have to stay as they are.
fn clean_strings(value: &mut Value) {
    match value {
        Value::Array(elements) => elements.iter_mut().for_each(clean_strings),
        Value::Object(members) => {
            for (name, value) in members {
                match value {
                    Value::String(text)
                        if matches!(name.as_str(), "description" | "title" | "$comment") =>
                    {
                        if let std::borrow::Cow::Owned(clean) = cleaned(text) {
                            *text = clean;
                        }
                    }
                    Value::String(_) => {}
                    Value::Null
                    | Value::Bool(_)
                    | Value::Number(_)
                    | Value::Array(_)
                    | Value::Object(_) => {
                        clean_strings(value);
                    }
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Of all that the newest revision says of a tool but its pictures and `_meta`: they may change without the tool.
fn digest(tool: &Tool<'_>) -> ToolDigest {
    let mut bare = tool.clone();
    bare.icons = None;
    bare.meta = None;
    let written = Json::written(|json| bare.encode(ProtocolVersion::LATEST_MODERN, json));
    let mut digest = Digest::new();
    digest.json(written.raw());
    digest.finish()
}
