//! What the program that uses a client does for servers: ask its user, ask its model, name its roots.

use core::fmt;
use core::future::{Future, ready};
use core::panic::AssertUnwindSafe;
use core::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use futures_lite::FutureExt;
use mcp_core::model::{
    ClientCapabilities, CreateMessageRequestParams, CreateMessageResult, ElicitAction,
    ElicitRequestParams, ElicitResult, Implementation, InputRequest, InputResponse,
    ListRootsResult, LoggingMessage, Root,
};

use crate::panic::discard;

/// What comes of a handler.
type Doing<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What comes of asking one.
pub(crate) type Answering = Doing<Result<InputResponse<'static>, Refusal>>;

type OnElicit = Arc<dyn Fn(ElicitRequest) -> Doing<ElicitResult<'static>> + Send + Sync>;
type OnSample = Arc<
    dyn Fn(SamplingRequest) -> Doing<Result<CreateMessageResult<'static>, Declined>> + Send + Sync,
>;
type OnLog = Arc<dyn Fn(&LoggingMessage<'_>) + Send + Sync>;

/// A server asks the user for something.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ElicitRequest {
    /// What it asks for: a form to be filled in, or a page to be opened.
    pub params: ElicitRequestParams<'static>,
    /// Who asks; the user is to be told. It is what the server says of itself.
    // ELI-16.
    pub server: Option<Implementation<'static>>,
}

/// A server asks the model for something.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SamplingRequest {
    /// What it asks for.
    pub params: CreateMessageRequestParams<'static>,
    /// Who asks. It is what the server says of itself.
    pub server: Option<Implementation<'static>>,
}

/// What a server asked for is not given.
///
/// A server of the legacy era gets it as an error, and goes on or not. One of 2026-07-28 gets nothing: the call that needed
/// it ends with [`CallError::Declined`](super::CallError::Declined).
// MRTR-14.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Declined {
    /// One sentence; servers of the legacy era get to read it.
    pub reason: String,
    /// Whether it was the user who said no, or else something failed.
    pub by_user: bool,
}

impl Declined {
    /// The user said no.
    #[must_use]
    pub fn by_user(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            by_user: true,
        }
    }

    /// It could not be done.
    #[must_use]
    pub fn failed(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            by_user: false,
        }
    }
}

impl fmt::Display for Declined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

impl core::error::Error for Declined {}

/// The handlers that were set. What is declared to servers follows from them.
#[derive(Clone, Default)]
pub(crate) struct Handlers {
    form: Option<OnElicit>,
    url: Option<OnElicit>,
    sample: Option<OnSample>,
    sample_tools: bool,
    sample_context: bool,
    roots: Option<Arc<Mutex<Vec<Root<'static>>>>>,
    pub(crate) log: Option<OnLog>,
}

/// A handler of elicitation, of either mode.
pub(crate) fn elicitation<F>(
    handler: impl Fn(ElicitRequest) -> F + Send + Sync + 'static,
) -> OnElicit
where
    F: Future<Output = ElicitResult<'static>> + Send + 'static,
{
    Arc::new(move |request| Box::pin(handler(request)))
}

/// The first of these that is no URI of a file: servers take roots for such (ROOT-03).
pub(crate) fn unfit_root(roots: &[Root<'_>]) -> Option<String> {
    let is_file = |uri: &str| {
        let scheme = uri.get(..7);
        scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("file://"))
    };
    let unfit = roots.iter().find(|root| !is_file(&root.uri))?;
    Some(format!("a root is a `file://` URI, not `{}`", unfit.uri))
}

impl Handlers {
    pub(crate) fn set_form(&mut self, handler: OnElicit) {
        self.form = Some(handler);
    }

    pub(crate) fn set_url(&mut self, handler: OnElicit) {
        self.url = Some(handler);
    }

    pub(crate) fn set_sampling<F>(
        &mut self,
        handler: impl Fn(SamplingRequest) -> F + Send + Sync + 'static,
    ) where
        F: Future<Output = Result<CreateMessageResult<'static>, Declined>> + Send + 'static,
    {
        self.sample = Some(Arc::new(move |request| Box::pin(handler(request))));
    }

    pub(crate) fn allow_tools_in_sampling(&mut self) {
        self.sample_tools = true;
    }

    pub(crate) fn allow_context_in_sampling(&mut self) {
        self.sample_context = true;
    }

    /// Whether roots are declared, which cannot be changed once connected.
    pub(crate) fn set_roots(&mut self, roots: Vec<Root<'static>>) {
        self.roots = Some(Arc::new(Mutex::new(roots)));
    }

    /// A root that is none: its URI (ROOT-03).
    pub(crate) fn unfit_root(&self) -> Option<String> {
        let roots = self.roots.as_ref()?.lock();
        unfit_root(&roots.unwrap_or_else(PoisonError::into_inner))
    }

    /// Changes the roots. `false`: they are not declared.
    pub(crate) fn replace_roots(&self, new: Vec<Root<'static>>) -> bool {
        self.roots.as_ref().is_some_and(|roots| {
            *roots.lock().unwrap_or_else(PoisonError::into_inner) = new;
            true
        })
    }

    /// Exactly what there are handlers for (ELI-01, SMP-01, ROOT-01).
    pub(crate) fn capabilities(&self) -> ClientCapabilities {
        let sampling = self.sample.is_some();
        [
            (self.form.is_some(), ClientCapabilities::ELICITATION),
            (self.url.is_some(), ClientCapabilities::ELICITATION_URL),
            (sampling, ClientCapabilities::SAMPLING),
            (
                sampling && self.sample_tools,
                ClientCapabilities::SAMPLING_TOOLS,
            ),
            (
                sampling && self.sample_context,
                ClientCapabilities::SAMPLING_CONTEXT,
            ),
            (self.roots.is_some(), ClientCapabilities::ROOTS),
            (self.roots.is_some(), ClientCapabilities::ROOTS_LIST_CHANGED),
        ]
        .into_iter()
        .filter(|&(there, _)| there)
        .fold(ClientCapabilities::NONE, |all, (_, one)| all | one)
    }
}

/// Why what a server asked for is not answered.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum Refusal {
    /// No handler is there for it, and none was declared.
    Unsupported,
    /// The request is not what it is to be, or asks for what was not declared (ELI-14, SMP-04).
    Invalid(String),
    /// The handler said no.
    Declined(Declined),
}

impl Handlers {
    /// Asks the handler that `request` is for.
    pub(crate) fn answer(
        &self,
        request: InputRequest<'static>,
        server: Option<Implementation<'static>>,
    ) -> Answering {
        let done = match request {
            InputRequest::Elicit(params) => self.elicit(params, server),
            InputRequest::Sample(params) => self.sample(params, server),
            InputRequest::ListRoots => self.list_roots(),
            InputRequest::Unknown { .. } | _ => Err(Refusal::Unsupported),
        };
        match done {
            Ok(doing) => Box::pin(async {
                let done = AssertUnwindSafe(doing).catch_unwind().await;
                done.unwrap_or_else(|panic| {
                    discard(panic);
                    Err(Refusal::Declined(Declined::failed("the handler panicked")))
                })
            }),
            Err(refusal) => Box::pin(ready(Err(refusal))),
        }
    }

    fn elicit(
        &self,
        params: ElicitRequestParams<'static>,
        server: Option<Implementation<'static>>,
    ) -> Result<Answering, Refusal> {
        let handler = match &params {
            ElicitRequestParams::Form(_) => self.form.as_ref(),
            ElicitRequestParams::Url(_) => self.url.as_ref(),
            ElicitRequestParams::Unknown(_) | _ => None,
        };
        let any = self.form.is_some() || self.url.is_some();
        let handler = handler.ok_or_else(|| {
            if any {
                Refusal::Invalid("this mode of elicitation was not declared".to_owned())
            } else {
                Refusal::Unsupported
            }
        })?;
        let handler = handler.clone();
        Ok(Box::pin(async move {
            let mut result = handler(ElicitRequest { params, server }).await;
            // Who did not agree has said nothing (ELI-10).
            if result.action != ElicitAction::Accept {
                result.content = None;
            }
            Ok(InputResponse::Elicit(result))
        }))
    }

    fn sample(
        &self,
        params: CreateMessageRequestParams<'static>,
        server: Option<Implementation<'static>>,
    ) -> Result<Answering, Refusal> {
        let handler = self.sample.clone().ok_or(Refusal::Unsupported)?;
        if params.tools.is_some() && !self.sample_tools {
            return Err(Refusal::Invalid(
                "`sampling.tools` was not declared".to_owned(),
            ));
        }
        Ok(Box::pin(async move {
            let sampled = handler(SamplingRequest { params, server }).await;
            sampled
                .map(InputResponse::Sample)
                .map_err(Refusal::Declined)
        }))
    }

    fn list_roots(&self) -> Result<Answering, Refusal> {
        let roots = self.roots.as_ref().ok_or(Refusal::Unsupported)?;
        let roots = roots.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let result = ListRootsResult::new(roots);
        Ok(Box::pin(ready(Ok(InputResponse::Roots(result)))))
    }
}

impl fmt::Debug for Handlers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handlers")
            .field("capabilities", &self.capabilities())
            .finish_non_exhaustive()
    }
}
