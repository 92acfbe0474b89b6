//! How a catalog is made.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::num::NonZeroUsize;

use super::capabilities::Offers;
use super::list::List;
use super::names::Names;
use super::text::{by_version, text};
use super::{COMPLETE, Cacheable, Catalog, CatalogError, write_versions};
use crate::engine::server::extension::{Extension, Extensions};
use crate::json::{Json, Kind, RawJson, Sink, Writer};
use crate::model::header::{ParamHeader, param_headers};
use crate::model::{
    CacheHint, Encode, Implementation, Prompt, ProtocolVersion, Resource, ResourceTemplate, Tool,
    UriTemplate, is_object_schema, key,
};

/// Makes a [`Catalog`]; see [`Catalog::builder`].
#[derive(Clone, Debug)]
#[must_use = "nothing is made before `build`"]
pub struct CatalogBuilder<'a> {
    server: &'a Implementation<'a>,
    instructions: Option<&'a str>,
    tools: &'a [Tool<'a>],
    resources: &'a [Resource<'a>],
    templates: &'a [ResourceTemplate<'a>],
    prompts: &'a [Prompt<'a>],
    offers: Offers,
    extensions: Option<RawJson<'a>>,
    claims: &'a [Extension],
    experimental: Option<RawJson<'a>>,
    page_size: usize,
    cache: [CacheHint; Cacheable::COUNT],
}

impl<'a> CatalogBuilder<'a> {
    pub(super) const fn new(server: &'a Implementation<'a>) -> Self {
        Self {
            server,
            instructions: None,
            tools: &[],
            resources: &[],
            templates: &[],
            prompts: &[],
            offers: Offers::NONE,
            extensions: None,
            claims: &[],
            experimental: None,
            page_size: usize::MAX,
            cache: [CacheHint::NONE; Cacheable::COUNT],
        }
    }

    /// How to use the server, for the model.
    pub const fn instructions(mut self, instructions: &'a str) -> Self {
        self.instructions = Some(instructions);
        self
    }

    /// The tools. The order is that of the list, always (TOOL-03); a position in it names a tool.
    pub const fn tools(mut self, tools: &'a [Tool<'a>]) -> Self {
        self.tools = tools;
        self
    }

    /// The resources that are listed.
    pub const fn resources(mut self, resources: &'a [Resource<'a>]) -> Self {
        self.resources = resources;
        self
    }

    /// The templates of resources. A URI that is no resource of the list belongs to the first template that it fits.
    pub const fn resource_templates(mut self, templates: &'a [ResourceTemplate<'a>]) -> Self {
        self.templates = templates;
        self
    }

    /// The prompts.
    pub const fn prompts(mut self, prompts: &'a [Prompt<'a>]) -> Self {
        self.prompts = prompts;
        self
    }

    /// Whether the list of tools may change. Then `tools` is declared even if there are none yet.
    pub const fn tools_list_changed(mut self, may: bool) -> Self {
        self.offers.tools_list_changed = may;
        self
    }

    /// Whether the lists of resources and templates may change. Then `resources` is declared even if there are none yet.
    pub const fn resources_list_changed(mut self, may: bool) -> Self {
        self.offers.resources_list_changed = may;
        self
    }

    /// Whether clients can subscribe to resources. Then `resources` is declared even if there are none yet.
    pub const fn resources_subscribe(mut self, can: bool) -> Self {
        self.offers.resources_subscribe = can;
        self
    }

    /// Whether the list of prompts may change. Then `prompts` is declared even if there are none yet.
    pub const fn prompts_list_changed(mut self, may: bool) -> Self {
        self.offers.prompts_list_changed = may;
        self
    }

    /// Whether arguments of prompts and templates can be completed.
    pub const fn completions(mut self, can: bool) -> Self {
        self.offers.completions = can;
        self
    }

    /// Whether log messages are sent to clients.
    pub const fn logging(mut self, does: bool) -> Self {
        self.offers.logging = does;
        self
    }

    /// The extensions that are supported: an object with an object of settings for each.
    pub const fn extensions(mut self, extensions: RawJson<'a>) -> Self {
        self.extensions = Some(extensions);
        self
    }

    /// The extensions whose messages are handed over. They are declared beside those of
    /// [`extensions`](Self::extensions), which are only declared; a position in the list names one.
    pub const fn with_extensions(mut self, extensions: &'a [Extension]) -> Self {
        self.claims = extensions;
        self
    }

    /// Experimental capabilities: an object with an object for each.
    pub const fn experimental(mut self, experimental: RawJson<'a>) -> Self {
        self.experimental = Some(experimental);
        self
    }

    /// How many elements a page of a list has; without it, each list is one page.
    pub const fn page_size(mut self, size: NonZeroUsize) -> Self {
        self.page_size = size.get();
        self
    }

    /// How long, and for whom, everything may be cached that clients may cache. [`CacheHint::NONE`] if it is not said.
    pub const fn cache(mut self, hint: CacheHint) -> Self {
        self.cache = [hint; Cacheable::COUNT];
        self
    }

    /// The same, for one of them: after [`cache`](Self::cache).
    pub const fn cache_of(mut self, what: Cacheable, hint: CacheHint) -> Self {
        self.cache[what as usize] = hint;
        self
    }

    /// Serialises all of it.
    ///
    /// # Errors
    ///
    /// [`CatalogError`] names what cannot be offered.
    pub fn build(&self) -> Result<Catalog, CatalogError> {
        for (name, value) in [
            ("extensions", self.extensions),
            ("experimental", self.experimental),
        ] {
            if !value.is_none_or(is_object_of_objects) {
                return Err(CatalogError::Capabilities(name));
            }
        }
        self.check_extensions()?;
        let (template_texts, templates) = self.check_templates()?;
        let offers = self.offers();
        let handshakes = by_version(|version| {
            let handshake = text(|json| {
                self.write_capabilities(&offers, version, json);
                json.key("serverInfo");
                self.server.encode(version, json);
                self.write_instructions(json);
            });
            handshake.into()
        });
        let server_info = text(|json| {
            json.key(key::SERVER_INFO);
            self.server.encode(ProtocolVersion::LATEST_MODERN, json);
        });
        Ok(Catalog {
            tool_names: self.check_tools()?,
            params: self.param_headers()?,
            requires: self.tools.iter().map(|tool| tool.requires).collect(),
            resource_uris: self.check_resources()?,
            template_texts,
            templates,
            prompt_names: self.check_prompts()?,
            required: self.prompts.iter().map(required_arguments).collect(),
            tools: List::new("tools", self.tools, self.page_size),
            resources: List::new("resources", self.resources, self.page_size),
            resource_templates: List::new("templates", self.templates, self.page_size),
            prompts: List::new("prompts", self.prompts, self.page_size),
            handshakes,
            complete: text(|json| {
                json.key("resultType");
                json.string(COMPLETE);
                json.key("_meta");
                json.begin_object();
                json.compact(&server_info);
                json.end_object();
            }),
            server_info,
            discovery: text(|json| {
                json.key("supportedVersions");
                write_versions(|_| true, json);
                self.write_capabilities(&offers, ProtocolVersion::LATEST_MODERN, json);
                self.write_instructions(json);
            }),
            offers,
            cache: self.cache,
            extensions: Extensions::new(self.claims),
        })
    }

    fn offers(&self) -> Offers {
        let Offers {
            tools_list_changed,
            resources_list_changed,
            resources_subscribe,
            prompts_list_changed,
            ..
        } = self.offers;
        Offers {
            tools: !self.tools.is_empty() || tools_list_changed,
            resources: !self.resources.is_empty()
                || !self.templates.is_empty()
                || resources_list_changed
                || resources_subscribe,
            prompts: !self.prompts.is_empty() || prompts_list_changed,
            ..self.offers
        }
    }

    fn write_capabilities<S: Sink + ?Sized>(
        &self,
        offers: &Offers,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
    ) {
        json.key("capabilities");
        let spoken = self.claims.iter().filter(|it| it.is_in(version));
        let (capabilities, extensions): (Vec<_>, Vec<_>) =
            spoken.partition(|it| it.is_capability());
        let declared = (self.extensions.is_some() || !extensions.is_empty()).then(|| {
            Json::written(|json| {
                json.begin_object();
                let only_declared = self.extensions.and_then(RawJson::as_object);
                for (id, settings) in only_declared.into_iter().flatten() {
                    json.key(&id.decode());
                    json.raw(settings);
                }
                for extension in extensions {
                    json.key(extension.id());
                    json.raw(extension.declares().raw());
                }
                json.end_object();
            })
        });
        let declared = declared.as_ref().map(Json::raw);
        let others = capabilities
            .into_iter()
            .map(|it| (it.id(), it.declares().raw()));
        offers.write(declared, self.experimental, others, version, json);
    }

    fn write_instructions<S: Sink + ?Sized>(&self, json: &mut Writer<'_, S>) {
        if let Some(instructions) = self.instructions {
            json.key("instructions");
            json.string(instructions);
        }
    }

    fn param_headers(&self) -> Result<Vec<Vec<ParamHeader>>, CatalogError> {
        let annotated = |tool: &Tool<'_>| {
            let fault = |fault| CatalogError::ParamHeader(tool.name.as_ref().into(), fault);
            param_headers(tool.input_schema.raw()).map_err(fault)
        };
        let all: Vec<_> = self.tools.iter().map(annotated).collect::<Result<_, _>>()?;
        match all.iter().all(Vec::is_empty) {
            true => Ok(Vec::new()),
            false => Ok(all),
        }
    }

    fn check_extensions(&self) -> Result<(), CatalogError> {
        let only_declared = |id: &str| self.extensions.and_then(|all| all.member(id)).is_some();
        for (at, extension) in self.claims.iter().enumerate() {
            let id = extension.id();
            let named = match extension.is_capability() {
                true => !id.is_empty(),
                false => id
                    .split_once('/')
                    .is_some_and(|(prefix, name)| !prefix.is_empty() && !name.is_empty()),
            };
            let twice = self.claims[..at].iter().any(|other| other.id() == id);
            let is_object = extension.declares().raw().kind() == Kind::Object;
            if !named || twice || !is_object || only_declared(id) || at >= Extensions::MOST {
                return Err(CatalogError::Extension(id.into()));
            }
        }
        Ok(())
    }

    fn check_tools(&self) -> Result<Names, CatalogError> {
        let mut names = Names::default();
        for tool in self.tools {
            if tool.name.is_empty() {
                return Err(CatalogError::UnnamedTool);
            }
            if !is_object_schema(tool.input_schema.raw()) {
                return Err(CatalogError::InputSchema((*tool.name).into()));
            }
            let output = tool.output_schema.as_ref();
            if output.is_some_and(|schema| schema.raw().kind() != Kind::Object) {
                return Err(CatalogError::OutputSchema((*tool.name).into()));
            }
            names.add(&tool.name).map_err(CatalogError::DuplicateTool)?;
        }
        Ok(names)
    }

    fn check_resources(&self) -> Result<Names, CatalogError> {
        let mut uris = Names::default();
        for resource in self.resources {
            if !has_scheme(&resource.uri) {
                return Err(CatalogError::ResourceUri((*resource.uri).into()));
            }
            uris.add(&resource.uri)
                .map_err(CatalogError::DuplicateResource)?;
        }
        Ok(uris)
    }

    fn check_templates(&self) -> Result<(Names, Vec<UriTemplate<'static>>), CatalogError> {
        let mut texts = Names::default();
        let mut templates = Vec::new();
        for template in self.templates {
            let text = &*template.uri_template;
            let parsed =
                UriTemplate::parse(text).map_err(|_| CatalogError::UriTemplate(text.into()))?;
            texts.add(text).map_err(CatalogError::DuplicateTemplate)?;
            templates.push(parsed.into_owned());
        }
        Ok((texts, templates))
    }

    fn check_prompts(&self) -> Result<Names, CatalogError> {
        let mut names = Names::default();
        for prompt in self.prompts {
            if prompt.name.is_empty() {
                return Err(CatalogError::UnnamedPrompt);
            }
            let mut arguments = Names::default();
            for argument in prompt.arguments.iter().flat_map(|list| list.iter()) {
                if argument.name.is_empty() || arguments.add(&argument.name).is_err() {
                    return Err(CatalogError::PromptArguments((*prompt.name).into()));
                }
            }
            names
                .add(&prompt.name)
                .map_err(CatalogError::DuplicatePrompt)?;
        }
        Ok(names)
    }
}

fn required_arguments(prompt: &Prompt<'_>) -> Box<[Box<str>]> {
    let arguments = prompt.arguments.iter().flat_map(|list| list.iter());
    arguments
        .filter(|argument| argument.required)
        .map(|argument| (*argument.name).into())
        .collect()
}

/// Whether it begins as an absolute URI does (RFC 3986, section 3.1).
fn has_scheme(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(scheme, _)| {
        scheme.starts_with(|first: char| first.is_ascii_alphabetic())
            && scheme
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

fn is_object_of_objects(value: RawJson<'_>) -> bool {
    let members = value.as_object();
    members.is_some_and(|mut members| members.all(|(_, value)| value.kind() == Kind::Object))
}
