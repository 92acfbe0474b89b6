//! The tokens of one client at one server: each request gets the one there is, and a refusal leads to another.

mod kept;

use core::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_channel::bounded;
use async_io::Timer;
use futures_lite::future::or;
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::{HeaderMap, HeaderName};
use mcp_io::http::client as io;

use super::address::check;
use super::challenge::Challenge;
use super::dpop::Prover;
use super::driver::{self, header};
use super::error::{AuthError, excerpt};
use super::flow::{Flow, Outcome, Trigger};
use super::scope::Scopes;
use super::token::{Kind, Tokens};
use super::{Auth, Grant, Plan, Secret, Turn, now};
use crate::client::Pause;

/// So often one request may be sent again with another nonce, and so often with another token.
const NONCES: u8 = 2;
const RENEWALS: u8 = 2;

const DPOP: HeaderName = HeaderName::from_static("dpop");

pub(crate) struct Session {
    pub(super) auth: Auth,
    plan: Arc<Plan>,
    url: String,
    pub(super) http: io::Client,
    /// Time that the user takes.
    pub(crate) pause: Pause,
    state: Mutex<State>,
    /// Whoever gets a token: one at a time of all that keep theirs at the same place.
    turn: Arc<Turn>,
    /// Whoever reads what is kept.
    restoring: async_lock::Mutex<()>,
    /// What the tokens are kept under.
    name: String,
}

#[derive(Default)]
struct State {
    /// Counts the tokens that there were.
    generation: u64,
    logins: u64,
    tokens: Option<Arc<Tokens>>,
    /// The access token in the store, when that was last read or written: if that is another one than is used, since it could
    /// not be written, it is no news.
    stored: Option<Secret>,
    prover: Option<Arc<Prover>>,
    loaded: bool,
    origin: Origin,
    /// The last flow that failed, and how many there were.
    failed: Option<AuthError>,
    flows: u64,
    /// Scopes that were asked for in vain (SCP-04).
    denied: Vec<Scopes>,
}

/// Where a token is from, as far as it was not accepted yet.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
enum Origin {
    /// It was accepted, or is from the store: if it is refused now, it is over.
    #[default]
    Known,
    Refreshed,
    Issued,
}

/// What was tried for one request.
#[derive(Debug, Default)]
pub(crate) struct Attempt {
    generation: u64,
    renewals: u8,
    step_ups: usize,
    nonces: u8,
}

/// The name that the tokens for a server are kept under. What a program has for itself is not what it has for a user.
pub(super) fn name(plan: &Plan, url: &str) -> String {
    let id = plan.credentials.as_ref().map_or("", |it| &it.id);
    match plan.grant {
        Grant::Code => format!("tokens {url}"),
        Grant::ClientCredentials => format!("tokens client_credentials {id:?} {url}"),
        Grant::Workload(_) => format!("tokens workload {id:?} {url}"),
        Grant::Enterprise(_) => format!("tokens enterprise {id:?} {url}"),
    }
}

impl Session {
    pub(crate) fn new(auth: Auth, url: &str, http: io::Client) -> Arc<Self> {
        let name = name(&auth.plan, url);
        Arc::new(Self {
            plan: Arc::new(auth.plan.clone()),
            turn: auth.turns.of(&name),
            name,
            auth,
            url: url.to_owned(),
            http,
            pause: Pause::new(),
            state: Mutex::default(),
            restoring: async_lock::Mutex::new(()),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How often somebody has logged in: a token that was refreshed is for whom it was before.
    pub(crate) fn logins(&self) -> u64 {
        self.state().logins
    }

    /// Replaces the token that there is if it has expired and nobody has to be asked for that.
    pub(crate) async fn freshen(self: &Arc<Self>) {
        self.restore().await;
        let stale = {
            let state = self.state();
            let stale = state.tokens.as_ref().filter(|it| it.is_expired(now()));
            // Without either the server's word is waited for: the user would have to be asked.
            stale
                .filter(|it| it.refresh.is_some() || !matches!(self.plan.grant, Grant::Code))
                .map(|it| (state.generation, it.metadata.clone()))
        };
        let Some((generation, metadata)) = stale else {
            return;
        };
        let trigger = Trigger {
            metadata: metadata.into_iter().collect(),
            refresh: true,
            ..Trigger::default()
        };
        // The old one may still do.
        if let Err(error) = self.renew(generation, trigger).await {
            tracing::info!(%error, "a token that has expired was not replaced");
        }
    }

    /// Puts the token that there is into the head of a request (TOK-01).
    pub(crate) fn sign(
        &self,
        attempt: &mut Attempt,
        method: &str,
        url: &str,
        headers: &mut HeaderMap,
    ) -> Result<(), AuthError> {
        let (tokens, prover) = {
            let state = self.state();
            attempt.generation = state.generation;
            (state.tokens.clone(), state.prover.clone())
        };
        let Some(tokens) = tokens else {
            return Ok(());
        };
        // AUT-04: nor is one that was kept sent in the clear.
        check(&self.url, &self.url)?;
        let scheme = match (tokens.kind, prover) {
            (Kind::Dpop, Some(prover)) => {
                let proof = Secret::new(prover.proof(method, url, Some(&tokens.access))?);
                headers.insert(DPOP, header(&proof).ok_or(AuthError::Rejected)?);
                "DPoP"
            }
            (Kind::Dpop, None) => return Err(AuthError::Rejected),
            (Kind::Bearer, _) => "Bearer",
        };
        let value = Secret::new(format!("{scheme} {}", tokens.access.expose()));
        headers.insert(AUTHORIZATION, header(&value).ok_or(AuthError::Rejected)?);
        Ok(())
    }

    /// Looks at the head of the answer. Whether the request is to be sent again, signed anew; if not, the answer is one for
    /// whoever asked.
    pub(crate) async fn judge(
        self: &Arc<Self>,
        attempt: &mut Attempt,
        url: &str,
        status: u16,
        headers: &HeaderMap,
    ) -> Result<bool, AuthError> {
        let nonce = headers.get("dpop-nonce").and_then(|it| it.to_str().ok());
        let prover = self.state().prover.clone();
        if let (Some(prover), Some(nonce)) = (&prover, nonce) {
            prover.remember(url, nonce);
        }
        if !matches!(status, 401 | 403) {
            let mut state = self.state();
            if state.generation == attempt.generation {
                state.origin = Origin::Known;
                // It was refused once, perhaps, and is good nevertheless.
                state.failed = None;
            }
            return Ok(false);
        }
        let fields = headers.get_all(WWW_AUTHENTICATE).iter();
        let challenges = Challenge::parse_all(fields.map(http::HeaderValue::as_bytes));
        let dpop = challenges.iter().find(|it| it.is("DPoP"));
        let bearer = challenges.iter().find(|it| it.is("Bearer"));
        let wants_nonce = dpop.is_some_and(|it| it.parameter("error") == Some("use_dpop_nonce"));
        if status == 401 && wants_nonce && nonce.is_some() && prover.is_some() {
            attempt.nonces += 1;
            if attempt.nonces <= NONCES {
                return Ok(true);
            }
        }
        // Where both are offered, the simpler one, unless there is a key already.
        let bound = prover.is_some() || self.plan.dpop;
        let challenge = if bound {
            dpop.or(bearer)
        } else {
            bearer.or(dpop)
        };
        let get = |name: &str| challenge?.parameter(name);
        let places = challenge.map(|it| it.all("resource_metadata"));
        let trigger = Trigger {
            metadata: places.into_iter().flatten().map(str::to_owned).collect(),
            scopes: get("scope").map(Scopes::parse),
            refresh: status == 401,
            dpop: challenge.is_some_and(|it| it.is("DPoP")),
            step_up: status == 403,
        };
        if status == 401 {
            self.unauthorized(attempt, trigger).await?;
            return Ok(true);
        }
        if get("error") != Some("insufficient_scope") {
            return Ok(false);
        }
        self.insufficient(attempt, trigger).await?;
        Ok(true)
    }

    /// There is no token, or it is over.
    async fn unauthorized(
        self: &Arc<Self>,
        attempt: &mut Attempt,
        mut trigger: Trigger,
    ) -> Result<(), AuthError> {
        attempt.renewals += 1;
        {
            let mut state = self.state();
            if state.generation == attempt.generation && state.origin != Origin::Known {
                trigger.refresh = false;
                if state.origin == Origin::Issued {
                    // The next one would be no better, and the user would be asked without end.
                    state.failed = Some(AuthError::Rejected);
                    return Err(AuthError::Rejected);
                }
            }
        }
        if attempt.renewals > RENEWALS {
            return Err(AuthError::Rejected);
        }
        self.renew(attempt.generation, trigger).await
    }

    /// The token is not for this (SCP-02 to SCP-04).
    async fn insufficient(
        self: &Arc<Self>,
        attempt: &mut Attempt,
        trigger: Trigger,
    ) -> Result<(), AuthError> {
        let wanted = trigger.scopes.clone().unwrap_or_default();
        let refused = |why: Option<&AuthError>| AuthError::Scope {
            wanted: excerpt(&wanted.text().unwrap_or_default()),
            why: why.map(AuthError::to_string),
        };
        attempt.step_ups += 1;
        {
            let state = self.state();
            if state.generation != attempt.generation {
                // Another request has led to more meanwhile.
                return if attempt.step_ups > self.auth.max_step_ups + 1 {
                    Err(refused(None))
                } else {
                    Ok(())
                };
            }
            // OA-14: what was asked for once may be gone, or was never given.
            let given = state.tokens.as_ref().map(|it| it.granted());
            if given.unwrap_or_default().has_all(&wanted)
                || state.denied.iter().any(|denied| denied.is_same(&wanted))
                || attempt.step_ups > self.auth.max_step_ups
            {
                return Err(refused(None));
            }
        }
        let stepped = self.renew(attempt.generation, trigger).await;
        let mut state = self.state();
        let in_vain = match &stepped {
            Ok(()) => {
                let given = state.tokens.as_ref().map(|it| it.granted());
                !given.unwrap_or_default().has_all(&wanted)
            }
            Err(error) => !error.is_transient(),
        };
        // Enough to remember of one server.
        if in_vain && state.denied.len() < 64 {
            state.denied.push(wanted.clone());
        }
        // OA-13: whatever went wrong, it is known what is missing.
        stepped.map_err(|error| {
            if error.is_transient() {
                return error;
            }
            refused(Some(&error))
        })
    }

    /// Gets another token than that of this generation. Goes on when nobody waits for it any more: the user may be at it.
    async fn renew(self: &Arc<Self>, generation: u64, trigger: Trigger) -> Result<(), AuthError> {
        let (done, result) = bounded(1);
        let this = self.clone();
        let task = async move {
            let renewed = this.take_turn(generation, trigger).await;
            // Nobody may be left.
            let _ = done.try_send(renewed);
        };
        smol::spawn(task).detach();
        result.recv().await.unwrap_or(Err(AuthError::TimedOut))
    }

    /// One login at a time: who waited for it has its result.
    async fn take_turn(&self, generation: u64, trigger: Trigger) -> Result<(), AuthError> {
        let before = self.state().flows;
        let _turn = match self.turn.try_lock() {
            Some(turn) => turn,
            None => {
                // Somebody's user is at it, perhaps that of another client.
                let _held = self.pause.begin();
                self.turn.lock().await
            }
        };
        let (held, prover) = {
            let state = self.state();
            if state.generation != generation {
                return Ok(());
            }
            (state.tokens.clone(), state.prover.clone())
        };
        // Another client, or another program, may have been faster.
        if (trigger.refresh || trigger.step_up) && self.adopt(held.as_deref(), &trigger).await {
            self.state().failed = None;
            return Ok(());
        }
        {
            let state = self.state();
            // One that failed for good is not tried again; of any other, whoever waited for it hears.
            let failed = state.failed.as_ref();
            if let Some(failed) = failed.filter(|it| !it.is_transient() || state.flows != before) {
                return Err(failed.clone());
            }
        }
        let step_up = trigger.step_up;
        let got = self.login(trigger, held, prover).await;
        let mut state = self.state();
        state.flows += 1;
        match got {
            Ok(()) => {
                state.failed = None;
                Ok(())
            }
            Err(error) => {
                tracing::info!(%error, "no token");
                // What there is may still do for other requests.
                if !step_up {
                    state.failed = Some(error.clone());
                }
                Err(error)
            }
        }
    }

    async fn login(
        &self,
        mut trigger: Trigger,
        held: Option<Arc<Tokens>>,
        prover: Option<Arc<Prover>>,
    ) -> Result<(), AuthError> {
        let held = held.map(|held| (*held).clone());
        trigger.dpop |= held.as_ref().is_some_and(|held| held.kind == Kind::Dpop);
        let (plan, first) = self.pinned().await?;
        let mut flow = Flow::new(plan, &self.url, trigger, held.clone(), prover)?;
        let late = async {
            Timer::after(self.auth.login_timeout).await;
            Err(AuthError::TimedOut)
        };
        let got = or(driver::run(self, &mut flow), late).await;
        let tokens = match got {
            Ok(tokens) => tokens,
            Err(error) => {
                if let (Some(client), Some(issuer)) = (flow.suspect(&error), flow.issuer()) {
                    self.unlearn(issuer, client).await;
                }
                return Err(error);
            }
        };
        if flow.outcome() == Outcome::Reloaded {
            self.take(tokens);
            return Ok(());
        }
        if let (Some(name), Some(issuer)) = (first, flow.issuer()) {
            let pinned = self.save(&name, Some(&issuer)).await;
            if let Err(error) = pinned {
                tracing::warn!(%error, "which server a secret is for is not kept");
            }
        }
        // Kept first: a refresh token that was rotated is lost otherwise.
        let kept = self.save(&self.name, Some(&tokens)).await;
        let mut state = self.state();
        if kept.is_ok() {
            state.stored = Some(tokens.access.clone());
        }
        state.generation += 1;
        state.tokens = Some(Arc::new(tokens));
        state.prover = flow.prover();
        state.origin = if flow.outcome() == Outcome::Refreshed {
            Origin::Refreshed
        } else {
            state.logins += 1;
            Origin::Issued
        };
        drop(state);
        if let Err(error) = kept {
            tracing::warn!(%error, "the token is used, but not kept");
        }
        Ok(())
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("auth", &self.auth)
            .finish_non_exhaustive()
    }
}
