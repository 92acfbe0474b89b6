//! MCP's vocabulary: borrowed structs, one file per page of the specification. Knows no engine state.
//!
//! Names are the specification's, of the newest revision that has the thing. Everything borrows the message it was read
//! from or the caller's text, or owns its own ([`Cow`](crate::Cow), [`List`], [`Json`](crate::json::Json));
//! `into_owned` cuts it loose. What a revision does not have is left out when [writing](Encode) to it, and tolerated when
//! [reading](Decode).
//!
//! # Reading
//!
//! Unknown members are passed over. `null` for an optional member means that it is absent, but for
//! [`structured_content`](CallToolResult::structured_content), where it is a value. A known member that occurs twice is
//! refused. Sets of names are open: what is not known is an `Unknown` that is written as it was read.

mod cache;
mod capability;
mod codec;
mod completion;
mod constant;
mod content;
mod elicitation;
#[cfg(feature = "alloc")]
pub mod header;
mod implementation;
mod input;
mod lifecycle;
mod list;
mod logging;
mod meta;
mod metadata;
mod method;
mod params;
mod primitive;
mod progress;
mod prompt;
#[cfg(feature = "alloc")]
pub mod request;
mod resource;
mod roots;
mod sampling;
mod server_capability;
mod subscription;
mod task;
#[cfg(test)]
mod tests;
mod tool;
#[cfg(feature = "alloc")]
mod uri_template;
mod version;

pub use cache::{CacheHint, CacheScope};
pub use capability::{ClientCapabilities, ClientCapabilitiesObject};
pub use codec::{Decode, DecodeError, Encode, EncodeResult};
pub use completion::{
    CompleteRequestParams, CompleteResult, Completion, CompletionArgument, CompletionContext,
    CompletionReference, PromptReference, ResourceTemplateReference,
};
pub use content::{
    AudioContent, ContentBlock, EmbeddedResource, ImageContent, TextContent, ToolResultContent,
    ToolUseContent,
};
pub use elicitation::{
    ElicitAction, ElicitRequestFormParams, ElicitRequestParams, ElicitRequestUrlParams,
    ElicitResult, ElicitationCompleteParams, RequestedSchema,
};
pub use implementation::Implementation;
pub use input::{InputRequest, InputRequiredResult, InputResponse};
pub use lifecycle::{
    CancelledParams, DiscoverResult, EmptyParams, EmptyResult, InitializeRequestParams,
    InitializeResult, PaginatedRequestParams,
};
pub use list::{List, Map};
pub use logging::{LoggingLevel, LoggingMessage, SetLevelRequestParams};
pub use meta::{RequestMeta, key};
pub use metadata::{Annotations, Icon, IconTheme, Role};
pub use method::{Method, MethodKind};
pub use params::Params;
pub use primitive::{
    BooleanSchema, EnumOption, EnumSchema, NumberKind, NumberSchema, PrimitiveSchema, Several,
    StringFormat, StringSchema,
};
pub use progress::{Progress, ProgressParams};
pub use prompt::{
    GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument,
    PromptMessage,
};
#[cfg(feature = "alloc")]
pub use request::{Request, RequestOutcome, ResultType};
pub use resource::{
    BlobResourceContents, ListResourceTemplatesResult, ListResourcesResult,
    ReadResourceRequestParams, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    ResourceUpdatedParams, SubscribeRequestParams, TextResourceContents, UnsubscribeRequestParams,
};
pub use roots::{ListRootsResult, Root};
pub use sampling::{
    CreateMessageRequestParams, CreateMessageResult, IncludeContext, ModelHint, ModelPreferences,
    SamplingMessage, StopReason, ToolChoice, ToolChoiceMode,
};
pub use server_capability::{ListCapability, ResourcesCapability, ServerCapabilities};
pub use subscription::{
    SubscriptionFilter, SubscriptionsAcknowledgedParams, SubscriptionsListenRequestParams,
    SubscriptionsListenResult,
};
pub use task::{
    CreateTaskResult, ListTasksResult, Task, TaskMetadata, TaskRequestParams, TaskStatus,
};
#[cfg(feature = "alloc")]
pub(crate) use tool::is_object_schema;
pub use tool::{
    CallToolRequestParams, CallToolResult, ListToolsResult, TaskSupport, Tool, ToolAnnotations,
    ToolExecution,
};
#[cfg(feature = "alloc")]
pub use uri_template::{TemplateError, TemplateErrorKind, TemplateValue, UriTemplate, Variables};
pub use version::{Era, ProtocolVersion};
