//! Apps as a server has them: an extension, resources and tools, by nothing but what any extension has.

use core::fmt;

use mcp_core::json::{Json, RawJson};
use mcp_core::model::{ResourceContents, TextResourceContents};
use serde_json::{Map, Value};

use super::csp::{Csp, is_host};
use super::meta::{AppMeta, Permissions, ToolUi, Visibility, is_ui};
use super::{MIME_TYPE, UI};
use crate::{Context, Extension, Resource, ServerBuilder, Tool};

/// A page that shows the results of tools, with the tools that it is for.
///
/// ```
/// use mcp_std::apps::{App, Csp};
/// use mcp_std::{Server, Tool};
///
/// const PAGE: &str = "<!DOCTYPE html><title>Weather</title><p id=now></p><script>/* … */</script>";
///
/// // What is returned is for models, and for hosts that show no apps, as well.
/// let forecast = Tool::new("forecast", "Tomorrow's weather", || async { "Rain, 12 °C" });
/// let refresh = Tool::new("refresh", "The weather now", || async { "Rain, 11 °C" });
/// let app = App::new("ui://weather/map", "weather-map", PAGE)
///     .csp(Csp::new().connect("https://api.example.com")?)
///     .tool(forecast)
///     .tool_for_app(refresh);
/// let server = Server::builder("weather", "1.0.0").with_app(app)?.build()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing is served before it is given to a server"]
pub struct App {
    uri: String,
    name: String,
    title: Option<String>,
    description: Option<String>,
    html: String,
    meta: AppMeta,
    tools: Vec<(Tool, Visibility)>,
}

/// Why an app cannot be served: a mistake of its author.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum AppError {
    /// This is no URI of an app: `ui://`, and something after it.
    Uri(String),
    /// The page of this app is no HTML document: one begins with `<!DOCTYPE html>`.
    Html(String),
    /// This app asks for an origin of its own by a text that is no name of a host.
    #[non_exhaustive]
    Domain {
        /// The URI of the app.
        uri: String,
        /// The text.
        domain: String,
    },
    /// The `_meta` of this tool is no object.
    ToolMeta(String),
}

impl fmt::Display for AppError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uri(uri) => write!(
                f,
                "`{uri}` is no URI of an app, such as `ui://weather/dashboard`"
            ),
            Self::Html(uri) => write!(
                f,
                "the page of `{uri}` is no HTML document: it has to begin with `<!DOCTYPE html>`"
            ),
            Self::Domain { uri, domain } => write!(
                f,
                "the domain `{domain}` of `{uri}` is no name of a host, such as `app.example.com`"
            ),
            Self::ToolMeta(tool) => write!(f, "the `_meta` of tool `{tool}` is no object"),
        }
    }
}

impl core::error::Error for AppError {}

impl App {
    /// A page, with a URI that begins with `ui://` and a name.
    ///
    /// It is served to hosts as it is here, and kept by them; what changes comes to it as results of tools. It works without
    /// anything else of its server's: scripts and styles are in it, or at [origins](Self::csp) that it declares.
    pub fn new(uri: impl Into<String>, name: impl Into<String>, html: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            title: None,
            description: None,
            html: html.into(),
            meta: AppMeta::default(),
            tools: Vec::new(),
        }
    }

    /// What it is called, for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// What it is.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// The origins that it gets things from. Default: none.
    pub fn csp(mut self, csp: Csp) -> Self {
        self.meta.csp = Some(csp);
        self
    }

    /// What it asks of the browser. Default: nothing.
    pub const fn permissions(mut self, permissions: Permissions) -> Self {
        self.meta.permissions = permissions;
        self
    }

    /// The host of an origin of its own, in the form that the host program wants.
    pub fn domain(mut self, domain: impl Into<String>) -> Self {
        self.meta.domain = Some(domain.into());
        self
    }

    /// Whether the host should draw a border and a background. It is better said: hosts differ.
    pub const fn border(mut self, prefers: bool) -> Self {
        self.meta.prefers_border = Some(prefers);
        self
    }

    /// Adds a tool whose results it shows, and that it calls itself as well as the model does. The tool is one for clients
    /// without apps, too: what it returns says all by its content.
    pub fn tool(self, tool: Tool) -> Self {
        self.with(tool, Visibility::BOTH)
    }

    /// Adds a tool whose results it shows, and that is for the model to call only.
    pub fn tool_for_model(self, tool: Tool) -> Self {
        self.with(tool, Visibility::MODEL)
    }

    /// Adds a tool that only the app calls. Clients without apps are not told of it, and hosts do not show it to their model;
    /// that nobody else calls it is not certain.
    pub fn tool_for_app(self, tool: Tool) -> Self {
        self.with(tool, Visibility::APP)
    }

    fn with(mut self, tool: Tool, visibility: Visibility) -> Self {
        self.tools.push((tool, visibility));
        self
    }

    fn check(&self) -> Result<(), AppError> {
        if !is_ui(&self.uri) {
            return Err(AppError::Uri(self.uri.clone()));
        }
        let html = self.html.trim_start_matches('\u{feff}').trim_start();
        let begins = html.get(..14).unwrap_or_default();
        if !begins.eq_ignore_ascii_case("<!doctype html") {
            return Err(AppError::Html(self.uri.clone()));
        }
        match &self.meta.domain {
            Some(domain) if !is_host(domain) => Err(AppError::Domain {
                uri: self.uri.clone(),
                domain: domain.clone(),
            }),
            _ => Ok(()),
        }
    }

    fn resource(&self) -> Resource {
        let meta = with_ui(None, self.meta.value());
        let mut contents = TextResourceContents::new(self.uri.clone(), self.html.clone());
        contents.mime_type = Some(MIME_TYPE.into());
        contents.meta = meta.clone();
        let contents = ResourceContents::Text(contents);
        let mut resource = Resource::new(self.uri.as_str(), self.name.as_str(), move || {
            let contents = contents.clone();
            async move { contents }
        })
        .mime_type(MIME_TYPE)
        .size(self.html.len() as u64);
        if let Some(title) = &self.title {
            resource = resource.title(title.as_str());
        }
        if let Some(description) = &self.description {
            resource = resource.description(description.as_str());
        }
        match meta {
            Some(meta) => resource.meta(meta),
            None => resource,
        }
    }
}

impl fmt::Debug for App {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("App")
            .field("uri", &self.uri)
            .field("meta", &self.meta)
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}

impl ServerBuilder {
    /// Serves an app: its page as a resource, and its tools, which refer to that. With the first one the server declares
    /// `io.modelcontextprotocol/ui`.
    ///
    /// Clients that do not declare the extension with the media type of apps are not told of any of that: for them the tools
    /// are as they would be without an app.
    ///
    /// # Errors
    ///
    /// The app has a URI that is none, a page that is none, and other mistakes that [`AppError`] names.
    pub fn with_app(self, app: App) -> Result<Self, AppError> {
        app.check()?;
        let mut builder = self.with_resource(app.resource());
        let mut tools = Vec::new();
        let mut hidden = Vec::new();
        for (mut tool, visibility) in app.tools {
            let definition = &mut tool.definition;
            if !visibility.model {
                hidden.push(definition.name.clone().into_owned());
            }
            let meta = definition.meta.as_ref().map(Json::raw);
            if meta.is_some_and(|meta| meta.as_object().is_none()) {
                return Err(AppError::ToolMeta(definition.name.clone().into_owned()));
            }
            let resource_uri = Some(app.uri.clone());
            let ui = ToolUi {
                resource_uri,
                visibility,
            };
            definition.meta = with_ui(meta, ui.value());
            tools.push(tool);
        }
        for tool in tools {
            builder = builder.with_tool(tool);
        }
        let uri = app.uri;
        Ok(builder.extend_extension(UI, extension, move |extension| {
            let extension = extension.private_resource(uri);
            hidden.into_iter().fold(extension, Extension::private_tool)
        }))
    }
}

/// The extension, without what is private to it.
fn extension() -> Extension {
    Extension::new(UI)
        .declared_with("mimeTypes", MIME_TYPE)
        .private_meta("ui")
}

/// A `_meta` with another member `ui`; `None` if it says nothing.
fn with_ui(meta: Option<RawJson<'_>>, ui: Value) -> Option<Json<'static>> {
    let meta = meta.and_then(|meta| serde_json::from_str(meta.as_str()).ok());
    let mut members: Map<String, Value> = meta.unwrap_or_default();
    members.shift_remove("ui");
    if ui.as_object().is_some_and(|ui| !ui.is_empty()) {
        members.insert("ui".to_owned(), ui);
    }
    (!members.is_empty()).then(|| Json::from(Value::Object(members)))
}

impl Context {
    /// Whether the client shows apps: it has declared the extension with the media type of their pages. What a tool returns
    /// for one that does not says everything in its content.
    #[must_use]
    pub fn shows_apps(&self) -> bool {
        let types = self.extension(UI).and_then(|it| it.member("mimeTypes"));
        let mut types = types.and_then(RawJson::as_array).into_iter().flatten();
        types.any(|it| it.as_string().is_some_and(|it| it == *MIME_TYPE))
    }
}
