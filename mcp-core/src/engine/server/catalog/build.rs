//! A catalog checked and serialised.

use alloc::boxed::Box;
use alloc::vec::Vec;

use super::list::List;
use super::names::Names;
use super::text::{by_version, text};
use super::{COMPLETE, Catalog, CatalogBuilder, CatalogError, write_versions};
use crate::engine::server::extension::Extensions;
use crate::json::{Kind, RawJson};
use crate::model::header::{ParamHeader, param_headers};
use crate::model::{Encode, Prompt, ProtocolVersion, Tool, UriTemplate, is_object_schema, key};

impl CatalogBuilder<'_> {
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
        let offers = self.declared();
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
            extensions: self.claims.into(),
        })
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
            let is_object = extension.declares().kind() == Kind::Object;
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
