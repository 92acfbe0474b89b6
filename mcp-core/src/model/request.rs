//! Requests as types: each method with what it is given and what it gives.

use super::codec::{Decode, DecodeError, Encode};
use super::content::tag;
use super::{InputRequiredResult, Method, ProtocolVersion};
use crate::json::RawJson;

/// A method with the types of its params and of its result.
pub trait Request {
    /// Which.
    const METHOD: Method;
    /// What it is given.
    type Params<'a>: Encode;
    /// What it gives.
    type Result<'b>: Decode<'b>;
}

macro_rules! requests {
    ($($(#[$doc:meta])* $name:ident = $method:ident($params:ident) -> $result:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        #[expect(clippy::exhaustive_structs, reason = "a name for a method, with nothing in it")]
        pub struct $name;

        impl Request for $name {
            const METHOD: Method = Method::$method;
            type Params<'a> = super::$params<'a>;
            type Result<'b> = super::$result<'b>;
        }
    )*};
}

requests! {
    /// `initialize`.
    Initialize = Initialize(InitializeRequestParams) -> InitializeResult;
    /// `ping`.
    Ping = Ping(EmptyParams) -> EmptyResult;
    /// `server/discover`.
    Discover = Discover(EmptyParams) -> DiscoverResult;
    /// `tools/list`.
    ListTools = ToolsList(PaginatedRequestParams) -> ListToolsResult;
    /// `tools/call`.
    CallTool = ToolsCall(CallToolRequestParams) -> CallToolResult;
    /// `resources/list`.
    ListResources = ResourcesList(PaginatedRequestParams) -> ListResourcesResult;
    /// `resources/templates/list`.
    ListResourceTemplates = ResourceTemplatesList(PaginatedRequestParams) -> ListResourceTemplatesResult;
    /// `resources/read`.
    ReadResource = ResourcesRead(ReadResourceRequestParams) -> ReadResourceResult;
    /// `resources/subscribe`.
    Subscribe = ResourcesSubscribe(SubscribeRequestParams) -> EmptyResult;
    /// `resources/unsubscribe`.
    Unsubscribe = ResourcesUnsubscribe(UnsubscribeRequestParams) -> EmptyResult;
    /// `prompts/list`.
    ListPrompts = PromptsList(PaginatedRequestParams) -> ListPromptsResult;
    /// `prompts/get`.
    GetPrompt = PromptsGet(GetPromptRequestParams) -> GetPromptResult;
    /// `completion/complete`.
    Complete = CompletionComplete(CompleteRequestParams) -> CompleteResult;
    /// `logging/setLevel`.
    SetLevel = LoggingSetLevel(SetLevelRequestParams) -> EmptyResult;
    /// `subscriptions/listen`.
    SubscriptionsListen = SubscriptionsListen(SubscriptionsListenRequestParams) -> SubscriptionsListenResult;
    /// `sampling/createMessage`, of a server.
    CreateMessage = SamplingCreateMessage(CreateMessageRequestParams) -> CreateMessageResult;
    /// `roots/list`, of a server.
    ListRoots = RootsList(EmptyParams) -> ListRootsResult;
    /// `elicitation/create`, of a server.
    Elicit = ElicitationCreate(ElicitRequestParams) -> ElicitResult;
}

/// What answers a request.
#[derive(Debug)]
#[non_exhaustive]
pub enum RequestOutcome<'b, R: Request> {
    /// Its result.
    Complete(R::Result<'b>),
    /// More is wanted first.
    InputRequired(InputRequiredResult<'b>),
}

impl<'b, R: Request> RequestOutcome<'b, R> {
    /// Reads the `result` of a response to a request in `version`.
    ///
    /// It is told by `resultType`, which is absent from the results of older servers (RES-02) and means nothing in the
    /// legacy era.
    ///
    /// # Errors
    ///
    /// The result is not what the method has, or of a type that is not known (RES-03) or not allowed for the method.
    pub fn decode(version: ProtocolVersion, result: RawJson<'b>) -> Result<Self, DecodeError> {
        const EXPECTED: DecodeError =
            DecodeError::new("`complete`, or `input_required` where it is allowed")
                .at("Result", "resultType");
        match result_type(version, result)? {
            ResultType::Complete => R::Result::decode(result).map(Self::Complete),
            ResultType::InputRequired if R::METHOD.may_require_input(version) => {
                InputRequiredResult::decode(result).map(Self::InputRequired)
            }
            ResultType::InputRequired | ResultType::Unknown => Err(EXPECTED),
        }
    }
}

/// What a result says it is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum ResultType {
    /// The result of the method.
    Complete,
    /// [`InputRequiredResult`].
    InputRequired,
    /// Something else: an extension's, or an error of the server (RES-03).
    Unknown,
}

/// What a result in `version` says it is. No extension is taken part in that adds a type (RES-04).
///
/// # Errors
///
/// It is no object, or its `resultType` is no string.
pub fn result_type(
    version: ProtocolVersion,
    result: RawJson<'_>,
) -> Result<ResultType, DecodeError> {
    let mut members = result
        .as_object()
        .ok_or(DecodeError::new("an object").at("Result", ""))?;
    if version.era() == super::Era::Legacy
        || !members.any(|(name, value)| name == "resultType" && !value.is_null())
    {
        return Ok(ResultType::Complete);
    }
    let not_one = DecodeError::new("one string").at("Result", "resultType");
    Ok(match &*tag(result, "resultType").ok_or(not_one)? {
        "complete" => ResultType::Complete,
        "input_required" => ResultType::InputRequired,
        _ => ResultType::Unknown,
    })
}
