//! Answers that come in pieces.

use mcp_core::json::RawJson;

use super::read::fault;
use super::{Provider, Reply, ReplyFault, Toolset, anthropic, gemini, openai, responses};

/// The calls of one answer.
pub const MAX_CALLS: usize = 128;

/// The longest answer, in bytes of its events.
pub const MAX_REPLY: usize = 16 * 1024 * 1024;

/// A piece of an answer, as it comes.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Delta {
    /// More of the text.
    Text(String),
    /// The model begins to ask for a call of this tool, by the provider's name of it.
    Call(String),
}

/// Puts the pieces of an answer together: the data of its server-sent events, in their order.
///
/// ```
/// use mcp_std::host::adapters::{Delta, Provider, Toolset};
///
/// let tools = Toolset::new(Provider::OpenAiChat, &[]);
/// let mut stream = tools.stream();
/// let deltas = stream.event(br#"{"choices": [{"delta": {"content": "Hel"}}]}"#)?;
/// assert_eq!(deltas, [Delta::Text("Hel".to_owned())]);
/// stream.event(br#"{"choices": [{"delta": {"content": "lo"}, "finish_reason": "stop"}]}"#)?;
/// stream.event(b"[DONE]")?;
/// assert_eq!(stream.finish()?.text, "Hello");
/// # Ok::<(), mcp_std::host::adapters::ReplyFault>(())
/// ```
#[derive(Debug)]
pub struct ReplyStream<'t> {
    tools: &'t Toolset,
    state: State,
    bytes: usize,
}

#[derive(Debug)]
enum State {
    OpenAi(openai::Chunks),
    Responses(responses::Events),
    Anthropic(anthropic::Blocks),
    Gemini(gemini::Parts),
}

impl<'t> ReplyStream<'t> {
    pub(super) fn new(tools: &'t Toolset) -> Self {
        let state = match tools.provider() {
            Provider::OpenAiChat => State::OpenAi(openai::Chunks::default()),
            Provider::OpenAiResponses => State::Responses(responses::Events::default()),
            Provider::Anthropic => State::Anthropic(anthropic::Blocks::default()),
            Provider::Gemini => State::Gemini(gemini::Parts::default()),
        };
        Self {
            tools,
            state,
            bytes: 0,
        }
    }

    /// The data of one event.
    ///
    /// # Errors
    ///
    /// The provider's error, something that is not of its interface, or an answer beyond a bound. The answer is over.
    pub fn event(&mut self, data: &[u8]) -> Result<Vec<Delta>, ReplyFault> {
        let mut deltas = Vec::new();
        self.bytes = self.bytes.saturating_add(data.len());
        if self.bytes > MAX_REPLY {
            return Err(ReplyFault::TooLarge("it has more than 16 MiB"));
        }
        if data.trim_ascii() == b"[DONE]" {
            if let State::OpenAi(chunks) = &mut self.state {
                chunks.done();
            }
            return Ok(deltas);
        }
        let value =
            RawJson::parse(data).map_err(|error| ReplyFault::Malformed(error.to_string()))?;
        if let Some(fault) = fault(value) {
            return Err(fault);
        }
        match &mut self.state {
            State::OpenAi(state) => state.event(value, &mut deltas)?,
            State::Responses(state) => state.event(value, &mut deltas)?,
            State::Anthropic(state) => state.event(value, &mut deltas)?,
            State::Gemini(state) => state.event(value, &mut deltas)?,
        }
        Ok(deltas)
    }

    /// Whether the answer is whole: what comes then is not of it.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        match &self.state {
            State::OpenAi(state) => state.is_whole(),
            State::Responses(state) => state.is_whole(),
            State::Anthropic(state) => state.is_whole(),
            // Its last event is the one that says why it stopped, and nothing says that no other comes.
            State::Gemini(_) => false,
        }
    }

    /// The answer, at the end of the stream.
    ///
    /// # Errors
    ///
    /// It is not whole.
    pub fn finish(self) -> Result<Reply, ReplyFault> {
        match self.state {
            State::OpenAi(state) => state.finish(self.tools),
            State::Responses(state) => state.finish(self.tools),
            State::Anthropic(state) => state.finish(self.tools),
            State::Gemini(state) => state.finish(self.tools),
        }
    }
}

/// One more call, if there may be one.
pub(super) fn room(calls: usize) -> Result<(), ReplyFault> {
    if calls < MAX_CALLS {
        Ok(())
    } else {
        Err(ReplyFault::TooLarge("it asks for more than 128 calls"))
    }
}
