//! Asking the client: the same for handlers in both eras.

use std::sync::Arc;

use async_channel::Receiver;
use async_io::Timer;
use futures_lite::FutureExt;
use mcp_core::json::Json;
use mcp_core::model::{
    ContentBlock, CreateMessageRequestParams, CreateMessageResult, Decode as _, ElicitAction,
    ElicitRequestParams, ElicitResult, Era, InputRequest, ListRootsResult, ProtocolVersion, Root,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::context::{Answered, AskError, Context, Link, Note, Question};
use super::elicitation::{Elicited, form};
use crate::entropy;

impl Context {
    /// Asks the client's user for something: a form to fill in, or a URL to go to. Saying no is an answer too.
    ///
    /// # Errors
    ///
    /// There is no answer: see [`AskError`].
    pub async fn elicit(
        &self,
        params: ElicitRequestParams<'_>,
    ) -> Result<ElicitResult<'static>, AskError> {
        let answer = self.ask(InputRequest::Elicit(params.into_owned())).await?;
        let result = ElicitResult::decode(answer.raw()).map_err(AskError::Malformed)?;
        Ok(result.into_owned())
    }

    /// Asks the client's user to fill in a form: the fields of a struct, with their doc comments. They are strings,
    /// numbers, booleans, enums without data, lists of such enums, or an `Option` of one of these. Never ask for passwords
    /// and the like in a form; those belong behind [`elicit_url`](Self::elicit_url).
    ///
    /// # Errors
    ///
    /// There is no answer: see [`AskError`].
    pub async fn elicit_form<T: JsonSchema + DeserializeOwned>(
        &self,
        message: impl Into<String>,
    ) -> Result<Elicited<T>, AskError> {
        let params = ElicitRequestParams::form(message.into(), form::<T>()?);
        let result = self.elicit(params).await?;
        match result.action {
            ElicitAction::Accept => {
                let content = result.content.unwrap_or(Json::EMPTY_OBJECT);
                super::arguments::parse(content.raw())
                    .map(Elicited::Accepted)
                    .map_err(AskError::Content)
            }
            ElicitAction::Cancel => Ok(Elicited::Cancelled),
            ElicitAction::Decline => Ok(Elicited::Declined),
            other @ ElicitAction::Unknown(_) | other => Err(AskError::Content(format!(
                "unknown action `{}`",
                other.as_str()
            ))),
        }
    }

    /// Sends the client's user to a URL. [`ElicitAction::Accept`] means that they agreed to go there, not that they are
    /// done. The URL is not to carry secrets, and whoever opens it is to be checked to be the user who was asked.
    ///
    /// # Errors
    ///
    /// There is no answer: see [`AskError`].
    pub async fn elicit_url(
        &self,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Result<ElicitAction<'static>, AskError> {
        let mut params = ElicitRequestParams::url(message.into(), url.into());
        if let (ElicitRequestParams::Url(url), Era::Legacy) = (&mut params, self.version.era()) {
            // Required in 2025-11-25, which alone of that era has URLs.
            url.elicitation_id =
                Some(format!("{:016x}{:016x}", entropy::seed(), entropy::seed()).into());
        }
        Ok(self.elicit(params).await?.action)
    }

    /// Tells a client of 2025-11-25 that what it sent its user to, with this
    /// [`elicitation_id`](mcp_core::model::ElicitRequestUrlParams::elicitation_id), is done. Others have no such message.
    pub async fn elicitation_complete(&self, elicitation_id: impl Into<String>) {
        if self.version == ProtocolVersion::V2025_11_25 {
            self.note(Note::ElicitationComplete(self.key, elicitation_id.into()))
                .await;
        }
    }

    /// Asks the client's model to go on with a conversation.
    ///
    /// Deprecated by SEP-2577 as of 2026-07-28, where it stays for a year at least.
    ///
    /// # Errors
    ///
    /// There is no answer: see [`AskError`].
    pub async fn sample(
        &self,
        params: CreateMessageRequestParams<'_>,
    ) -> Result<CreateMessageResult<'static>, AskError> {
        // SMP-05: tools are answered by a message of their results, and of nothing else.
        let is_result = |block: &ContentBlock<'_>| matches!(block, ContentBlock::ToolResult(_));
        let mixed = params.messages.iter().any(|message| {
            message.content.iter().any(is_result) && !message.content.iter().all(is_result)
        });
        if mixed {
            let problem = "a message with the result of a tool holds something else";
            return Err(AskError::Invalid(problem.to_owned()));
        }
        let answer = self.ask(InputRequest::Sample(params.into_owned())).await?;
        let result = CreateMessageResult::decode(answer.raw()).map_err(AskError::Malformed)?;
        Ok(result.into_owned())
    }

    /// Asks the client where it lets servers work.
    ///
    /// Deprecated by SEP-2577 as of 2026-07-28, where it stays for a year at least.
    ///
    /// # Errors
    ///
    /// There is no answer: see [`AskError`].
    pub async fn roots(&self) -> Result<Vec<Root<'static>>, AskError> {
        let answer = self.ask(InputRequest::ListRoots).await?;
        let result = ListRootsResult::decode(answer.raw()).map_err(AskError::Malformed)?;
        Ok(result.into_owned().roots.into_vec())
    }

    async fn ask(&self, request: InputRequest<'static>) -> Result<Json<'static>, AskError> {
        // MRTR-06, ELI-02, SMP-04: nothing is asked that was not declared.
        let needed = request.required().ok_or_else(AskError::no_question)?;
        let missing = needed.without(self.capabilities);
        if !missing.is_empty() {
            return Err(AskError::Unsupported(missing));
        }
        #[cfg(feature = "tasks")]
        if let Some((slot, live)) = self.running_task() {
            return slot.ask(live, request).await;
        }
        match self.version.era() {
            Era::Legacy => self.ask_now(request).await,
            Era::Modern | _ => match self.round() {
                Some(round) => round.ask(request).await,
                None => Err(AskError::Closed),
            },
        }
    }

    /// Sends a request of our own and waits for its answer.
    pub(super) async fn ask_now(
        &self,
        request: InputRequest<'static>,
    ) -> Result<Json<'static>, AskError> {
        let (answer, answered) = async_channel::bounded(1);
        let mut waiting = Waiting {
            answered: Some(answered.clone()),
            link: self.link.clone(),
        };
        let asked = async {
            self.note(Note::Ask(Box::new(Question {
                key: self.key,
                request,
                answer,
            })))
            .await;
            // The connection keeps the other end for as long as there can be an answer.
            let answer = answered.recv().await.unwrap_or(Err(AskError::Closed));
            waiting.answered = None;
            answer
        };
        let Some(patience) = self.ask_timeout else {
            return asked.await;
        };
        let late = async {
            Timer::after(patience).await;
            Err(AskError::TimedOut)
        };
        asked.or(late).await
    }
}

/// Somebody who waits for an answer; when they no longer do, the connection is told.
struct Waiting {
    /// `None` when it has come.
    answered: Option<Receiver<Answered>>,
    link: Arc<Link>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(answered) = self.answered.take() {
            answered.close();
            self.link.desert();
        }
    }
}
