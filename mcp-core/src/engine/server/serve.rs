//! One message: read, admitted, and served or refused.

use super::catalog::{Listed, Offered as _};
use super::era::{self, Terms};
use super::extension::Claim;
use super::refusal::{refuse, refuse_unread};
use super::request::string;
use super::{
    BatchKey, Call, CallRequest, Declared, Extension, ExtensionNotification, Incoming, Served,
    ServedKind, ServerEngine, request,
};
use crate::engine::{Lookup, Memory, ReplyToken};
use crate::error::{EnvelopeFault, PeerFault};
use crate::json::{Full, Sink};
use crate::model::{Era, Method, Params, ProtocolVersion};
use crate::rpc::{Envelope, Malformed, Notification, Request, RequestId, write_result};

/// Why a message ends here: it was refused, or there was no room for the answer.
pub(super) enum Stop {
    Fault(PeerFault),
    Full,
}

impl From<PeerFault> for Stop {
    fn from(fault: PeerFault) -> Self {
        Self::Fault(fault)
    }
}

impl From<Full> for Stop {
    fn from(_: Full) -> Self {
        Self::Full
    }
}

impl<M: Memory> ServerEngine<M> {
    /// Reads and serves one message, alone or of a batch. A call that it cancels is still in the table.
    pub(super) fn single<'b, S: Sink + ?Sized>(
        &mut self,
        message: &'b [u8],
        batch: Option<BatchKey>,
        out: &mut S,
    ) -> Incoming<'b> {
        let mut params = Params::default();
        let envelope = Envelope::parse_with(message, &self.limits, &mut params);
        self.message(message, &envelope, &params, batch, out)
    }

    /// Serves one message that was read.
    #[inline]
    pub(super) fn message<'b, S: Sink + ?Sized>(
        &mut self,
        message: &'b [u8],
        envelope: &Result<Envelope<'b>, Malformed<'b>>,
        params: &Params<'b>,
        batch: Option<BatchKey>,
        out: &mut S,
    ) -> Incoming<'b> {
        let malformed = match envelope {
            Ok(Envelope::Request(request)) => {
                return self.request_in(request, params, batch, out);
            }
            Ok(Envelope::Notification(notification)) => {
                return self.notification(notification, params);
            }
            Ok(Envelope::Response(response)) => return self.response(*response),
            Err(malformed) => *malformed,
        };
        let Malformed {
            mut fault,
            id,
            answer_due,
            ..
        } = malformed;
        let version = self.session_version();
        if fault == EnvelopeFault::Batch.into()
            && batch.is_none()
            && version == Some(ProtocolVersion::V2025_03_26)
        {
            match self.open_batch(message) {
                Ok(batch) => return Incoming::Batch(batch),
                Err(refused) => fault = refused,
            }
        }
        if answer_due {
            return refuse_unread(out, id, fault);
        }
        match id.map(|id| self.requests.find(id)) {
            Some(Lookup::Pending(key)) => self.answered_wrongly(key),
            Some(Lookup::Over | Lookup::Unknown) | None => Incoming::Rejected(fault),
        }
    }

    #[cfg_attr(not(feature = "alloc"), inline(never))]
    fn request_in<'b, S: Sink + ?Sized>(
        &mut self,
        request: &Request<'b>,
        params: &Params<'b>,
        batch: Option<BatchKey>,
        out: &mut S,
    ) -> Incoming<'b> {
        match self.serve(request, params, batch, out) {
            Ok(incoming) => incoming,
            Err(Stop::Fault(fault)) => {
                let about = Some((request, params, &*self.catalog));
                refuse(out, Some(request.id), fault, about)
            }
            Err(Stop::Full) => Incoming::Blocked,
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "all others are served at once, or not at all"
    )]
    fn serve<'b, S: Sink + ?Sized>(
        &mut self,
        request: &Request<'b>,
        params: &Params<'b>,
        batch: Option<BatchKey>,
        out: &mut S,
    ) -> Result<Incoming<'b>, Stop> {
        let id = request.id;
        if self.calls.find(id).is_some() {
            return Err(PeerFault::IdInUse.into());
        }
        let method = Method::parse(request.method);
        params.check()?;
        if method == Some(Method::Initialize) && !self.stateless {
            return self.initialize(id, params, out);
        }
        // ERR-10: what is not declared is as unknown as what does not exist.
        let method = method.filter(|method| self.offers(*method));
        if method.is_none() && self.catalog.extensions().claims(request.method) {
            return self.claimed(request, params, batch).map(Incoming::Call);
        }
        let terms = if self.stateless {
            era::admit_modern(method, &params.meta)?
        } else {
            era::admit(method, &params.meta, self.session.as_ref())?
        };
        if batch.is_some() && terms.version != ProtocolVersion::V2025_03_26 {
            return Err(PeerFault::from(EnvelopeFault::Batch).into());
        }
        let method = method.ok_or(PeerFault::MethodNotFound)?;
        let kind = match method {
            Method::ToolsCall => ServedKind::Tool,
            Method::ResourcesRead => ServedKind::Resource,
            Method::PromptsGet => ServedKind::Prompt,
            Method::CompletionComplete => ServedKind::Complete,
            Method::SubscriptionsListen if self.catalog.extensions().topics().next().is_some() => {
                return self.listen_for_topics(id, params, &terms, out);
            }
            _ => {
                return self
                    .serve_at_once(method, id, params, &terms, out)
                    .map(|()| Incoming::Handled);
            }
        };
        let call = self.accept(kind, request, params, batch, &terms, None)?;
        Ok(Incoming::Call(call))
    }

    /// Accepts a request that an extension claims.
    fn claimed<'b>(
        &mut self,
        request: &Request<'b>,
        params: &Params<'b>,
        batch: Option<BatchKey>,
    ) -> Result<Call<'b>, Stop> {
        let session = self.session.as_ref().filter(|_| !self.stateless);
        let terms = era::admit_claimed(&params.meta, session, self.stateless)?;
        if batch.is_some() && terms.version != ProtocolVersion::V2025_03_26 {
            return Err(PeerFault::from(EnvelopeFault::Batch).into());
        }
        let extensions = self.catalog.extensions();
        let claim = extensions.find(request.method, true, terms.version);
        let claim = claim.ok_or(PeerFault::MethodNotFound)?;
        self.check_declared(claim.extension, self.declared(params, &terms), &terms)?;
        let kind = ServedKind::Extension;
        Ok(self.accept(kind, request, params, batch, &terms, Some(claim))?)
    }

    /// ERR-08: what only clients can use that know it.
    pub(super) fn check_declared(
        &self,
        extension: usize,
        declared: Declared,
        terms: &Terms,
    ) -> Result<(), PeerFault> {
        let known = self.catalog.extensions().get(extension);
        let required = known.is_some_and(Extension::is_required);
        if !required || declared.contains(extension) {
            return Ok(());
        }
        let era = terms.version.era();
        Err(PeerFault::MissingExtension { extension, era })
    }

    /// The extensions that count for a request: those that it declares, or its session (CAP-07).
    pub(super) fn declared(&self, params: &Params<'_>, terms: &Terms) -> Declared {
        let extensions = self.catalog.extensions();
        if extensions.is_empty() {
            return Declared::NONE;
        }
        match (terms.version.era(), &self.session) {
            (Era::Legacy, Some(session)) => session.extensions,
            (Era::Legacy, None) => Declared::NONE,
            (Era::Modern, _) => extensions.declared(params.meta.client_capabilities),
        }
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what belongs to no capability is always there"
    )]
    fn offers(&self, method: Method) -> bool {
        let offers = self.catalog.offers();
        match method {
            Method::ToolsList | Method::ToolsCall => offers.tools,
            Method::ResourcesList | Method::ResourceTemplatesList | Method::ResourcesRead => {
                offers.resources
            }
            Method::ResourcesSubscribe | Method::ResourcesUnsubscribe => offers.resources_subscribe,
            Method::PromptsList | Method::PromptsGet => offers.prompts,
            Method::CompletionComplete => offers.completions,
            Method::LoggingSetLevel => offers.logging,
            // TL-01: the tasks of 2025-11-25 are left to an extension.
            Method::TasksGet | Method::TasksResult | Method::TasksList | Method::TasksCancel => {
                false
            }
            _ => true,
        }
    }

    /// What needs no handler.
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "what is not served does not exist"
    )]
    fn serve_at_once<'b, S: Sink + ?Sized>(
        &mut self,
        method: Method,
        id: RequestId<'b>,
        params: &Params<'b>,
        terms: &Terms,
        out: &mut S,
    ) -> Result<(), Stop> {
        match method {
            Method::Discover => {
                write_result(out, id.raw(), |json| self.catalog.write_discover(json))?;
            }
            Method::ToolsList => self.list(Listed::Tools, id, params, terms, out)?,
            Method::ResourcesList => self.list(Listed::Resources, id, params, terms, out)?,
            Method::ResourceTemplatesList => {
                self.list(Listed::ResourceTemplates, id, params, terms, out)?;
            }
            Method::PromptsList => self.list(Listed::Prompts, id, params, terms, out)?,
            Method::SubscriptionsListen => self.listen(id, params, terms, out)?,
            Method::Ping => write_empty(id, out)?,
            Method::LoggingSetLevel => self.set_level(id, params, out)?,
            Method::ResourcesSubscribe => self.subscribe(id, params, out)?,
            Method::ResourcesUnsubscribe => self.unsubscribe(id, params, out)?,
            _ => return Err(PeerFault::MethodNotFound.into()),
        }
        Ok(())
    }

    fn initialize<'b, S: Sink + ?Sized>(
        &mut self,
        id: RequestId<'b>,
        params: &Params<'b>,
        out: &mut S,
    ) -> Result<Incoming<'b>, Stop> {
        let opened = era::negotiate(params, self.session.as_ref())?;
        write_result(out, id.raw(), |json| {
            self.catalog.write_initialize(opened.version, json);
        })?;
        let changing = self.catalog.changing();
        let extensions = self.catalog.extensions().declared(params.capabilities);
        #[cfg(feature = "alloc")]
        {
            self.client_extensions = (extensions != Declared::NONE)
                .then(|| params.capabilities?.member("extensions"))
                .flatten()
                .map(|extensions| extensions.as_str().into());
        }
        // Before there is a session, there is room for its listener.
        if let Some(listener) = self.subscriptions.open(None, changing, true) {
            self.session = Some(opened.session(listener, extensions));
        }
        Ok(Incoming::Handled)
    }

    fn list<S: Sink + ?Sized>(
        &self,
        listed: Listed,
        id: RequestId<'_>,
        params: &Params<'_>,
        terms: &Terms,
        out: &mut S,
    ) -> Result<(), Stop> {
        let cursor = params.cursor;
        let cursor = cursor.map(|_| string(cursor, "cursor")).transpose()?;
        // PAG-04. A cursor of an older state of the list is none: the client starts again (CAC-12).
        let page = self.catalog.page(listed, cursor).ok_or(PeerFault::Params {
            field: "cursor",
            expected: "a `nextCursor` of this list as it is now",
        })?;
        let declared = match self.catalog.extensions().are_private() {
            true => self.declared(params, terms),
            false => Declared::NONE,
        };
        write_result(out, id.raw(), |json| {
            self.catalog
                .write_list(listed, page, terms.version, declared, json);
        })?;
        Ok(())
    }

    fn accept<'b>(
        &mut self,
        kind: ServedKind,
        request: &Request<'b>,
        params: &Params<'b>,
        batch: Option<BatchKey>,
        terms: &Terms,
        claim: Option<Claim>,
    ) -> Result<Call<'b>, PeerFault> {
        let (id, raw_params) = (request.id, request.params);
        let progress_token = params.meta.progress_token(&self.limits)?;
        let catalog = &*self.catalog;
        let request = match kind {
            ServedKind::Tool => request::tool(catalog, params, terms)?,
            ServedKind::Resource => request::resource(catalog, params, terms)?,
            ServedKind::Prompt => request::prompt(catalog, params)?,
            ServedKind::Extension => {
                let Claim { extension, method } = claim.ok_or(PeerFault::MethodNotFound)?;
                CallRequest::Extension { extension, method }
            }
            ServedKind::Complete | ServedKind::Listen => request::complete(catalog, params)?,
        };
        let (input_responses, request_state) = match kind {
            ServedKind::Complete | ServedKind::Listen | ServedKind::Extension => (None, None),
            ServedKind::Tool | ServedKind::Resource | ServedKind::Prompt => {
                request::retry(params, terms.version)?
            }
        };
        let key = self
            .calls
            .insert(id, progress_token, terms.version, batch, &self.limits)?;
        let mut served = Served::new(kind, terms);
        served.retried = input_responses.is_some() || request_state.is_some();
        if let Some(call) = self.calls.get_mut(key) {
            call.served = served;
        }
        let log_level = match terms.version.era() {
            Era::Legacy => self.session_level(),
            Era::Modern => served.log_level,
        };
        Ok(Call {
            token: ReplyToken(key),
            request,
            version: terms.version,
            capabilities: terms.capabilities,
            extensions: self.declared(params, terms),
            params: raw_params,
            wants_progress: progress_token.is_some(),
            log_level: log_level.filter(|_| self.catalog.offers().logging),
            meta: params.raw_meta,
            input_responses,
            request_state,
        })
    }

    /// Nothing here is ever answered (RPC-12).
    fn notification<'b>(
        &mut self,
        notification: &Notification<'b>,
        params: &Params<'b>,
    ) -> Incoming<'b> {
        match Method::parse(notification.method) {
            Some(Method::Cancelled) => self.cancelled(params),
            Some(Method::Initialized) => {
                if let Some(session) = &mut self.session {
                    session.ready = true;
                    self.subscriptions.release(session.listener);
                }
                Incoming::Handled
            }
            Some(Method::RootsListChanged) => self.roots_changed(),
            Some(_) | None => self.claimed_notification(notification),
        }
    }

    fn claimed_notification<'b>(&self, notification: &Notification<'b>) -> Incoming<'b> {
        let extensions = self.catalog.extensions();
        if extensions.is_empty() {
            return Incoming::Handled;
        }
        let version = self.session_version();
        let version = version.unwrap_or(ProtocolVersion::LATEST_MODERN);
        match extensions.find(notification.method, false, version) {
            Some(Claim { extension, method }) => Incoming::Notification(ExtensionNotification {
                extension,
                method,
                params: notification.params,
            }),
            None => Incoming::Handled,
        }
    }

    /// CAN-06: a reference that is malformed, unknown or over is ignored.
    fn cancelled<'b>(&mut self, params: &Params<'b>) -> Incoming<'b> {
        let id = match params.check() {
            Ok(()) => params.request_id,
            Err(_) => None,
        };
        let key = id
            .and_then(RequestId::new)
            .and_then(|id| self.calls.find(id));
        let Some(key) = key else {
            return Incoming::Handled;
        };
        if let Some(listener) = self.subscriptions.find(key) {
            // SUB-10: nothing is said of it any more, not even that it has ended.
            self.subscriptions.close(listener);
            self.calls.remove(key);
            return Incoming::Handled;
        }
        Incoming::Cancelled(key)
    }
}

/// Answers with a result that says nothing: legacy revisions only.
pub(super) fn write_empty<S: Sink + ?Sized>(id: RequestId<'_>, out: &mut S) -> Result<(), Full> {
    write_result(out, id.raw(), |json| {
        json.begin_object();
        json.end_object();
    })
}
