//! What a call is about.

use core::fmt;
use std::sync::Arc;

use mcp_core::engine::server::{Call, CallRequest, CompletionTarget, ResourceTarget};
use mcp_core::json::{JsonStr, MAX_DEPTH, RawJson};

use crate::server::completion::Completer;
use crate::server::extension::{ExtensionMessage, Method};
use crate::server::handler::{Given, Sharing};
use crate::server::offer::Definitions;
use crate::server::prompt::Prompt;
use crate::server::resource::{Resource, ResourceTemplate};
use crate::server::tool::Tool;

/// What a call is about. It keeps its definition, whatever is offered meanwhile.
pub(super) enum Subject<S: Sharing> {
    Tool(Arc<Tool<S>>),
    Prompt(Arc<Prompt<S>>),
    /// With the URI that is read.
    Resource(Arc<Resource<S>>, Box<str>),
    Template(Arc<ResourceTemplate<S>>, Box<str>),
    Completer(Arc<Completer<S>>),
    /// Nothing is suggested for the argument.
    NoCompleter,
    /// A method of an extension.
    Extension(Arc<Method<S>>),
}

impl<S: Sharing> Subject<S> {
    /// What a request names: the positions in it are those of the catalog made of `offered`.
    pub(super) fn new(offered: &Definitions<S>, request: &CallRequest<'_>) -> Option<Self> {
        Some(match *request {
            CallRequest::Tool { tool, .. } => Self::Tool(offered.tools.get(tool)?.clone()),
            CallRequest::Prompt { prompt, .. } => {
                Self::Prompt(offered.prompts.get(prompt)?.clone())
            }
            CallRequest::Resource { uri, target, .. } => {
                let uri = uri.decode().into();
                match target {
                    ResourceTarget::Fixed(at) => {
                        Self::Resource(offered.resources.get(at)?.clone(), uri)
                    }
                    ResourceTarget::Template(at) => {
                        Self::Template(offered.templates.get(at)?.clone(), uri)
                    }
                    _ => return None,
                }
            }
            CallRequest::Complete {
                reference,
                argument,
                ..
            } => {
                let completers = match reference {
                    CompletionTarget::Prompt(at) => &offered.prompts.get(at)?.completers,
                    CompletionTarget::Template(at) => &offered.templates.get(at)?.completers,
                    CompletionTarget::Resource(_) | _ => return Some(Self::NoCompleter),
                };
                match completers.get(&argument.decode()) {
                    Some(completer) => Self::Completer(completer.clone()),
                    None => Self::NoCompleter,
                }
            }
            CallRequest::Extension {
                extension, method, ..
            } => match offered.extensions.get(extension)?.messages.get(method)? {
                ExtensionMessage::Method(method) => Self::Extension(method.clone()),
                ExtensionMessage::Notification(_) => return None,
            },
            _ => return None,
        })
    }

    pub(super) fn takes_context(&self) -> bool {
        match self {
            Self::Tool(tool) => tool.takes_context,
            Self::Prompt(prompt) => prompt.takes_context,
            Self::Resource(resource, _) => resource.takes_context,
            Self::Template(template, _) => template.takes_context,
            Self::Extension(method) => method.takes_context,
            Self::Completer(_) | Self::NoCompleter => false,
        }
    }

    pub(super) fn start(&self) -> Option<&S::Start> {
        Some(match self {
            Self::Tool(tool) => &tool.start,
            Self::Prompt(prompt) => &prompt.start,
            Self::Resource(resource, _) => &resource.start,
            Self::Template(template, _) => &template.start,
            Self::Completer(completer) => &completer.start,
            Self::Extension(method) => &method.start,
            Self::NoCompleter => return None,
        })
    }

    pub(super) fn method(&self) -> &str {
        match self {
            Self::Tool(_) => "tools/call",
            Self::Prompt(_) => "prompts/get",
            Self::Resource(..) | Self::Template(..) => "resources/read",
            Self::Completer(_) | Self::NoCompleter => "completion/complete",
            Self::Extension(method) => &method.name,
        }
    }

    pub(super) fn name(&self) -> &str {
        match self {
            Self::Tool(tool) => &tool.definition.name,
            Self::Prompt(prompt) => &prompt.definition.name,
            Self::Resource(_, uri) | Self::Template(_, uri) => uri,
            Self::Completer(completer) => &completer.argument,
            Self::NoCompleter | Self::Extension(_) => "",
        }
    }

    /// The media type that what is read has, if it says no other.
    pub(super) fn mime_type(&self) -> Option<&str> {
        match self {
            Self::Resource(resource, _) => resource.definition.mime_type.as_deref(),
            Self::Template(template, _) => template.definition.mime_type.as_deref(),
            Self::Tool(_)
            | Self::Prompt(_)
            | Self::Completer(_)
            | Self::NoCompleter
            | Self::Extension(_) => None,
        }
    }
}

/// Such as `Tool echo`.
impl<S: Sharing> fmt::Display for Subject<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self {
            Self::Tool(_) => "Tool",
            Self::Prompt(_) => "Prompt",
            Self::Resource(..) | Self::Template(..) => "Resource",
            Self::Completer(_) | Self::NoCompleter => "Completion of",
            Self::Extension(method) => return write!(f, "Method {}", method.name),
        };
        let name = self.name();
        // A URI of a template is as long as its client likes.
        match name.char_indices().nth(128) {
            Some((at, _)) => write!(f, "{kind} {}…", &name[..at]),
            None => write!(f, "{kind} {name}"),
        }
    }
}

/// What is given to a handler by its request.
pub(super) fn given<'b>(call: &Call<'b>) -> Given<'b> {
    match call.request {
        CallRequest::Extension { .. } => Given::Arguments(call.params),
        CallRequest::Tool { arguments, .. } | CallRequest::Prompt { arguments, .. } => {
            Given::Arguments(arguments)
        }
        CallRequest::Resource { uri, .. } => Given::Uri(uri.decode()),
        CallRequest::Complete { value, context, .. } => Given::Completion {
            value: JsonStr::decode(value),
            context,
        },
        _ => Given::Arguments(None),
    }
}

/// The same, kept until the handler has its turn: the only copy of a message's bytes.
pub(super) enum Kept {
    Arguments(Option<Box<str>>),
    Uri(Box<str>),
    Completion {
        value: Box<str>,
        context: Option<Box<str>>,
    },
}

impl Kept {
    pub(super) fn new(given: Given<'_>) -> Self {
        let text = |json: Option<RawJson<'_>>| json.map(|json| json.as_str().into());
        match given {
            Given::Arguments(arguments) => Self::Arguments(text(arguments)),
            Given::Uri(uri) => Self::Uri(uri.into()),
            Given::Completion { value, context } => Self::Completion {
                value: value.into(),
                context: text(context),
            },
        }
    }

    pub(super) fn len(&self) -> usize {
        let length = |text: &Option<Box<str>>| text.as_ref().map_or(0, |text| text.len());
        match self {
            Self::Arguments(arguments) => length(arguments),
            Self::Uri(uri) => uri.len(),
            Self::Completion { value, context } => value.len() + length(context),
        }
    }

    pub(super) fn given(&self) -> Given<'_> {
        match self {
            Self::Arguments(arguments) => Given::Arguments(json(arguments)),
            Self::Uri(uri) => Given::Uri((&**uri).into()),
            Self::Completion { value, context } => Given::Completion {
                value: (&**value).into(),
                context: json(context),
            },
        }
    }
}

fn json(text: &Option<Box<str>>) -> Option<RawJson<'_>> {
    let text = text.as_deref()?;
    RawJson::parse_with_depth(text.as_bytes(), MAX_DEPTH).ok()
}
