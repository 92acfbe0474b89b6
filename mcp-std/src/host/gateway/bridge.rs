//! Questions of a server, to the client whose call it is busy with.

use core::cell::RefCell;
use core::future::{Future, poll_fn};
use core::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

use mcp_core::model::{ElicitRequestParams, ElicitResult};

use crate::Context;
use crate::client::{ClientBuilder, Declined, ElicitRequest, SamplingRequest};

thread_local! {
    /// The call that is polled: a server of 2026-07-28 asks while it is.
    static POLLED: RefCell<Option<Arc<Context>>> = const { RefCell::new(None) };
}

/// The calls that a server is busy with.
pub(super) struct Bridge {
    server: Arc<str>,
    calls: Mutex<Calls>,
}

#[derive(Default)]
struct Calls {
    next: u64,
    running: Vec<(u64, Arc<Context>)>,
}

impl Bridge {
    pub(super) fn new(server: &str) -> Self {
        Self {
            server: server.into(),
            calls: Mutex::default(),
        }
    }

    /// The client's handlers.
    pub(super) fn handlers(self: &Arc<Self>, builder: ClientBuilder) -> ClientBuilder {
        let form = self.clone();
        let url = self.clone();
        let sampling = self.clone();
        builder
            .elicitation(move |asked| form.clone().elicit(asked))
            .url_elicitation(move |asked| url.clone().elicit(asked))
            .sampling(move |asked| sampling.clone().sample(asked))
            .sampling_tools()
    }

    fn elicit(
        self: Arc<Self>,
        asked: ElicitRequest,
    ) -> impl Future<Output = ElicitResult<'static>> + Send {
        let context = self.context();
        let mut params = asked.params;
        // The client knows the gateway only: its user is to see who asks (ELI-16).
        let said = |message: &str| format!("{}: {message}", self.server).into();
        match &mut params {
            ElicitRequestParams::Form(form) => form.message = said(&form.message),
            ElicitRequestParams::Url(page) => page.message = said(&page.message),
            ElicitRequestParams::Unknown(_) | _ => {}
        }
        async move {
            let Some(context) = context else {
                return ElicitResult::cancel();
            };
            // Nobody has said no: there was nobody to ask.
            context
                .elicit(params)
                .await
                .unwrap_or_else(|_| ElicitResult::cancel())
        }
    }

    fn sample(
        self: Arc<Self>,
        asked: SamplingRequest,
    ) -> impl Future<Output = Result<mcp_core::model::CreateMessageResult<'static>, Declined>> + Send
    {
        let context = self.context();
        async move {
            let context = context.ok_or_else(|| Declined::failed("no call is running"))?;
            let sampled = context.sample(asked.params).await;
            sampled.map_err(|error| Declined::failed(error.to_string()))
        }
    }

    /// The call that is polled, or else the one that was made last: servers of the legacy era do not say which one they ask
    /// about.
    fn context(&self) -> Option<Arc<Context>> {
        let polled = POLLED.with_borrow(Clone::clone);
        polled.or_else(|| {
            let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
            calls.running.last().map(|(_, context)| context.clone())
        })
    }

    /// Awaits a call that is made for a client.
    pub(super) async fn during<T>(
        &self,
        context: &Arc<Context>,
        call: impl Future<Output = T>,
    ) -> T {
        let _running = Running {
            bridge: self,
            number: self.enter(context),
        };
        let mut call = pin!(call);
        poll_fn(|cx| {
            let before = POLLED.replace(Some(context.clone()));
            let _restored = Restore(before);
            call.as_mut().poll(cx)
        })
        .await
    }

    fn enter(&self, context: &Arc<Context>) -> u64 {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.next += 1;
        let number = calls.next;
        calls.running.push((number, context.clone()));
        number
    }
}

/// Puts back which call is polled, also when one panics.
struct Restore(Option<Arc<Context>>);

impl Drop for Restore {
    fn drop(&mut self) {
        POLLED.set(self.0.take());
    }
}

/// A call that is running.
struct Running<'b> {
    bridge: &'b Bridge,
    number: u64,
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut calls = self
            .bridge
            .calls
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        calls.running.retain(|(number, _)| *number != self.number);
    }
}
