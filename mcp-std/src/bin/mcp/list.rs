//! `mcp list`: what a server offers.

use core::fmt::Write as _;
use std::io;
use std::process::ExitCode;

use mcp_core::json::{Json, RawJson};
use mcp_std::model::{Encode, Prompt, Resource, ResourceTemplate, Tool};

use crate::connect::{Connected, Target, is_read_by_a_person, output};
use crate::failure::Failure;
use crate::screen::width;
use crate::show::{plain, word};
use crate::text::{cut, wrap};

#[derive(clap::Args)]
#[command(after_help = "Example: mcp list -- mcp serve")]
pub(crate) struct List {
    #[command(flatten)]
    target: Target,
}

/// All that a server lists. `None`: it does not offer such.
struct Offer {
    tools: Option<Vec<Tool<'static>>>,
    resources: Option<Vec<Resource<'static>>>,
    templates: Option<Vec<ResourceTemplate<'static>>>,
    prompts: Option<Vec<Prompt<'static>>>,
}

impl List {
    pub(crate) fn run(&self) -> ExitCode {
        self.target.run("list", |server| self.list(server))
    }

    async fn list(&self, server: Connected<'_>) -> Result<(), Failure> {
        let client = &server.client;
        let info = client.server();
        let offered = info.as_ref().and_then(|info| info.capabilities.as_ref());
        let (tools, resources, prompts) = offered.map_or((false, false, false), |it| {
            (
                it.tools.is_some(),
                it.resources.is_some(),
                it.prompts.is_some(),
            )
        });
        let mut offer = Offer {
            tools: None,
            resources: None,
            templates: None,
            prompts: None,
        };
        if tools {
            offer.tools = Some(client.list_tools().await?);
        }
        if resources {
            offer.resources = Some(client.list_resources().await?);
            offer.templates = Some(client.list_resource_templates().await?);
        }
        if prompts {
            offer.prompts = Some(client.list_prompts().await?);
        }
        if self.target.json {
            return output(offer.json(&server).as_bytes());
        }
        let mut text = format!(
            "{}, revision {}\n",
            word(&server.server_name()),
            client.version().as_str()
        );
        if let Some(words) = info.as_ref().and_then(|info| info.instructions.as_ref()) {
            let _ = writeln!(text, "{}", plain(words.trim_end()));
        }
        offer.write(&mut text);
        output(text.as_bytes())
    }
}

impl Offer {
    fn json(&self, server: &Connected<'_>) -> String {
        let version = server.client.version();
        let json = Json::written(|json| {
            json.begin_object();
            json.key("protocolVersion");
            json.string(version.as_str());
            let info = server.client.server();
            if let Some(info) = &info {
                if let Some(implementation) = &info.implementation {
                    json.key("serverInfo");
                    implementation.encode(version, json);
                }
                if let Some(capabilities) = &info.capabilities {
                    json.key("capabilities");
                    capabilities.encode(version, json);
                }
                if let Some(instructions) = &info.instructions {
                    json.key("instructions");
                    json.string(instructions);
                }
            }
            let lists = [
                ("tools", encoded(self.tools.as_deref(), version)),
                ("resources", encoded(self.resources.as_deref(), version)),
                (
                    "resourceTemplates",
                    encoded(self.templates.as_deref(), version),
                ),
                ("prompts", encoded(self.prompts.as_deref(), version)),
            ];
            for (name, list) in &lists {
                if let Some(list) = list {
                    json.key(name);
                    json.begin_array();
                    list.iter().for_each(|element| json.raw(element.raw()));
                    json.end_array();
                }
            }
            json.end_object();
        });
        format!("{}\n", json.as_str())
    }

    fn write(&self, out: &mut String) {
        let rows = |out: &mut String, heading: &str, rows: Option<Vec<Row>>| {
            if let Some(rows) = rows {
                table(heading, &rows, out);
            }
        };
        let tools = self
            .tools
            .as_ref()
            .map(|all| all.iter().map(tool).collect());
        rows(out, "Tools", tools);
        let resources = self.resources.as_ref();
        let resources = resources.map(|all| all.iter().map(resource).collect());
        rows(out, "Resources", resources);
        let templates = self.templates.as_ref();
        let templates = templates.map(|all| all.iter().map(template).collect());
        rows(out, "Resource templates", templates);
        let prompts = self.prompts.as_ref();
        let prompts = prompts.map(|all| all.iter().map(prompt).collect());
        rows(out, "Prompts", prompts);
    }
}

fn encoded<T: Encode>(
    list: Option<&[T]>,
    version: mcp_std::ProtocolVersion,
) -> Option<Vec<Json<'static>>> {
    Some(
        list?
            .iter()
            .map(|element| element.to_json(version))
            .collect(),
    )
}

/// What it is called by programs, and what there is to say.
struct Row {
    name: String,
    about: String,
}

impl Row {
    fn new(name: &str, title: Option<&str>, description: Option<&str>, more: &str) -> Self {
        let title = title.filter(|&title| title != name && !title.is_empty());
        let parts = [title, description, Some(more)];
        let parts: Vec<_> = parts
            .into_iter()
            .flatten()
            .map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "))
            .filter(|part| !part.is_empty())
            .collect();
        Self {
            name: word(name),
            about: word(&parts.join(" · ")),
        }
    }
}

fn tool(tool: &Tool<'_>) -> Row {
    let annotated = tool.annotations.as_ref().and_then(|it| it.title.as_deref());
    let title = tool.title.as_deref().or(annotated);
    Row::new(
        &tool.name,
        title,
        tool.description.as_deref(),
        &properties(tool.input_schema.raw()),
    )
}

fn resource(resource: &Resource<'_>) -> Row {
    let title = resource.title.as_deref().unwrap_or(&resource.name);
    Row::new(
        &resource.uri,
        Some(title),
        resource.description.as_deref(),
        resource.mime_type.as_deref().unwrap_or_default(),
    )
}

fn template(template: &ResourceTemplate<'_>) -> Row {
    let title = template.title.as_deref().unwrap_or(&template.name);
    Row::new(
        &template.uri_template,
        Some(title),
        template.description.as_deref(),
        template.mime_type.as_deref().unwrap_or_default(),
    )
}

fn prompt(prompt: &Prompt<'_>) -> Row {
    let arguments = prompt.arguments.iter().flatten();
    let arguments: Vec<_> = arguments
        .map(|argument| optional(&argument.name, argument.required))
        .collect();
    Row::new(
        &prompt.name,
        prompt.title.as_deref(),
        prompt.description.as_deref(),
        &listed(&arguments),
    )
}

/// The arguments of a tool with their types.
fn properties(schema: RawJson<'_>) -> String {
    let required = schema.member("required").and_then(RawJson::as_array);
    let required: Vec<_> = required
        .into_iter()
        .flatten()
        .filter_map(|name| Some(name.as_string()?.decode().into_owned()))
        .collect();
    let all = schema.member("properties").and_then(RawJson::as_object);
    let all: Vec<_> = all
        .into_iter()
        .flatten()
        .map(|(name, property)| {
            let name = name.decode();
            let kind = property.member("type");
            // Either `"string"` or `["string","null"]`.
            let kind = kind.map(|kind| {
                kind.as_str()
                    .replace(['"', '[', ']', ' '], "")
                    .replace(',', "|")
            });
            let kind = kind.map(|kind| format!(": {kind}"));
            let name_and_kind = format!("{name}{}", kind.unwrap_or_default());
            optional(&name_and_kind, required.iter().any(|it| *it == *name))
        })
        .collect();
    listed(&all)
}

fn optional(name: &str, required: bool) -> String {
    if required {
        name.to_owned()
    } else {
        format!("[{name}]")
    }
}

fn listed(arguments: &[String]) -> String {
    if arguments.is_empty() {
        String::new()
    } else {
        format!("({})", arguments.join(", "))
    }
}

/// Names in one column, the rest beside it.
fn table(heading: &str, rows: &[Row], out: &mut String) {
    let _ = writeln!(out, "\n{heading} ({})", rows.len());
    let widest = rows.iter().map(|row| row.name.chars().count()).max();
    let first = widest.unwrap_or(0).min(40);
    let columns = if is_read_by_a_person() {
        width(&io::stdout())
    } else {
        100
    };
    let rest = columns - first - 4;
    for row in rows {
        let mut lines = wrap(&row.about, rest).into_iter();
        let mut beside = lines.next().unwrap_or_default();
        if row.name.chars().count() > first {
            // It stands alone; programs that read this want all of it.
            let _ = writeln!(out, "  {}", row.name);
            if !beside.is_empty() {
                let _ = writeln!(out, "  {:first$}  {}", "", cut(&beside, rest));
            }
        } else {
            beside = cut(&beside, rest);
            let line = format!("  {:first$}  {beside}", row.name);
            let _ = writeln!(out, "{}", line.trim_end());
        }
        for line in lines {
            let _ = writeln!(out, "  {:first$}  {}", "", cut(&line, rest));
        }
    }
}
