//! Why a catalog cannot be made.

use alloc::boxed::Box;
use core::fmt;

use crate::model::header::AnnotationFault;

/// Why a catalog cannot be made: a mistake of the server's author.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum CatalogError {
    /// Two tools have this name.
    DuplicateTool(Box<str>),
    /// A tool without a name.
    UnnamedTool,
    /// The input schema of this tool is no object with `"type": "object"` at its root (TOOL-04).
    InputSchema(Box<str>),
    /// An argument of this tool cannot be mirrored in a header as its input schema says (XH-03 to XH-06).
    ParamHeader(Box<str>, AnnotationFault),
    /// The output schema of this tool is no object (TOOL-06).
    OutputSchema(Box<str>),
    /// Two resources have this URI.
    DuplicateResource(Box<str>),
    /// A resource without a URI, or one that is no absolute URI.
    ResourceUri(Box<str>),
    /// Two resource templates are this text.
    DuplicateTemplate(Box<str>),
    /// This is no URI template of RFC 6570.
    UriTemplate(Box<str>),
    /// Two prompts have this name.
    DuplicatePrompt(Box<str>),
    /// A prompt without a name.
    UnnamedPrompt,
    /// Two arguments of this prompt have one name, or one has none.
    PromptArguments(Box<str>),
    /// This is no identifier of an extension, which has a prefix and a name, such as `com.example/name`; or its settings are
    /// no object, or there are two of it, or more than 32 altogether.
    Extension(Box<str>),
    /// `extensions` or `experimental` is no object of objects (CAP-05).
    Capabilities(&'static str),
}

impl fmt::Display for CatalogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::DuplicateTool(name) => write!(f, "two tools are called `{name}`"),
            Self::UnnamedTool => f.write_str("a tool has no name"),
            Self::InputSchema(name) => {
                write!(
                    f,
                    "the input schema of tool `{name}` must be an object with \"type\": \"object\""
                )
            }
            Self::ParamHeader(name, fault) => {
                write!(
                    f,
                    "`x-mcp-header` in the input schema of tool `{name}`: {fault}"
                )
            }
            Self::OutputSchema(name) => {
                write!(f, "the output schema of tool `{name}` must be an object")
            }
            Self::DuplicateResource(uri) => write!(f, "two resources have the URI `{uri}`"),
            Self::ResourceUri(uri) => {
                write!(f, "`{uri}` is not the URI of a resource: it has no scheme")
            }
            Self::DuplicateTemplate(text) => write!(f, "two resource templates are `{text}`"),
            Self::UriTemplate(text) => write!(f, "`{text}` is not a URI template"),
            Self::DuplicatePrompt(name) => write!(f, "two prompts are called `{name}`"),
            Self::UnnamedPrompt => f.write_str("a prompt has no name"),
            Self::PromptArguments(name) => {
                write!(
                    f,
                    "the arguments of prompt `{name}` must have names, each its own"
                )
            }
            Self::Extension(id) => write!(
                f,
                "`{id}` cannot be offered: an extension has an identifier such as `com.example/name`, an object of \
                 settings, and is there once, among at most 32"
            ),
            Self::Capabilities(member) => write!(f, "`{member}` must be an object of objects"),
        }
    }
}

impl core::error::Error for CatalogError {}
