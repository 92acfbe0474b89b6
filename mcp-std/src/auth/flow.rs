//! The way from a challenge to a token, without a socket: which request is to be sent, or where the user is to go, follows
//! from what came of the last one.
//!
//! ```text
//!  challenge -> Resource -> Server -+-> Refreshing -> (Reloading) -----+-> done
//!                                   +-> Preparing -> (Registering)     |
//!                                   |       -> Visiting -> Exchanging -+
//!                                   +-> Exchanging (no user) ----------+
//!                                   +-> Identifying -> Exchanging -----+
//! ```

mod discovering;
mod granting;
mod visiting;

use std::collections::VecDeque;
use std::sync::Arc;

use super::address::check;
use super::discovery;
use super::dpop::Prover;
use super::error::AuthError;
use super::metadata::{ResourceMetadata, ServerMetadata};
use super::pkce::Pkce;
use super::registration::{Credentials, Registration};
use super::scope::Scopes;
use super::token::{Ask, Exchange, Reply, Tokens};
use super::{Plan, Secret};

/// So many places that a challenge names are looked at.
const MOST_NAMED: usize = 4;

/// What is to be done next.
#[derive(Debug)]
pub(super) enum Step {
    /// Send this; then [`Flow::fetched`] or [`Flow::unreachable`].
    Fetch(Ask),
    /// Look for what is kept about this authorization server, and find out where the user comes back to; then
    /// [`Flow::prepared`].
    Prepare { issuer: String },
    /// Forget the registration there, if it is still the one of this client.
    Forget { issuer: String, client: String },
    /// See whether what is kept was replaced meanwhile; then [`Flow::reloaded`].
    Reload,
    /// Keep this registration.
    Keep {
        issuer: String,
        registration: Registration,
    },
    /// Send the user to this page; then [`Flow::visited`].
    Visit(String),
    /// There is a token.
    Done(Box<Tokens>),
}

/// Why a token is wanted.
#[derive(Clone, Debug, Default)]
pub(super) struct Trigger {
    /// Where the challenge says that the server's metadata are. There is one such place, or none; some servers name two.
    pub(super) metadata: Vec<String>,
    /// The scopes that it names.
    pub(super) scopes: Option<Scopes>,
    /// A refresh token may do.
    pub(super) refresh: bool,
    /// It wants proof of possession.
    pub(super) dpop: bool,
    /// There is a token, which is good, and not enough.
    pub(super) step_up: bool,
}

/// What was found out about where tokens come from.
struct Found {
    resource: String,
    server: ServerMetadata,
    /// There are no metadata: it is a server of 2025-03-26.
    guessed: bool,
}

enum State {
    /// Looking for the server's metadata.
    Resource {
        url: String,
        rest: VecDeque<String>,
        /// Why they are not at the first place.
        missing: Option<AuthError>,
    },
    /// Looking for those of its authorization server.
    Server {
        url: String,
        rest: VecDeque<String>,
        resource: Option<Box<ResourceMetadata>>,
        issuer: String,
    },
    Refreshing(Exchange),
    /// The refresh token is over, or another program was faster with it.
    Reloading,
    Preparing,
    Registering {
        redirect_uri: String,
    },
    /// What belongs to this visit and to no other (ISS-01).
    Visiting {
        pkce: Pkce,
        state: Secret,
        redirect_uri: String,
        client: Credentials,
    },
    /// At the enterprise's identity provider (EMA-02).
    Identifying(Exchange),
    Exchanging(Exchange),
    Over,
}

/// How a token was come by.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Outcome {
    /// By a login, of a user or of the program.
    Issued,
    /// By a refresh token.
    Refreshed,
    /// Somebody else has, and it is kept already.
    Reloaded,
}

pub(super) struct Flow {
    plan: Arc<Plan>,
    url: String,
    trigger: Trigger,
    held: Option<Tokens>,
    prover: Option<Arc<Prover>>,
    proving: bool,
    found: Option<Found>,
    scopes: Scopes,
    /// A nonce was asked for in this exchange.
    challenged: bool,
    outcome: Outcome,
    /// Where the server's metadata were, if it is where the challenge says.
    metadata: Option<String>,
    /// The client that was registered earlier, and may be forgotten there.
    registered: Option<String>,
    /// The client that was registered just now, and is not known.
    suspect: Option<String>,
    steps: VecDeque<Step>,
    state: State,
}

impl Flow {
    /// From this challenge of the server at `url` on; `held` are the tokens that were not enough.
    pub(super) fn new(
        plan: Arc<Plan>,
        url: &str,
        trigger: Trigger,
        held: Option<Tokens>,
        prover: Option<Arc<Prover>>,
    ) -> Result<Self, AuthError> {
        // AUT-04: what is had for it would be sent in the clear.
        check(url, url)?;
        if let Some(credentials) = &plan.credentials {
            credentials.check()?;
        }
        let mut this = Self {
            plan,
            url: url.to_owned(),
            trigger,
            held,
            prover,
            proving: false,
            found: None,
            scopes: Scopes::default(),
            challenged: false,
            outcome: Outcome::Issued,
            metadata: None,
            registered: None,
            suspect: None,
            steps: VecDeque::new(),
            state: State::Over,
        };
        // DSC-02, OA-09: what the server names comes first, and then the places in their order.
        let mut places = VecDeque::new();
        let named = this.trigger.metadata.iter().take(MOST_NAMED).cloned();
        for place in named.chain(discovery::resource(url)) {
            if !places.contains(&place) {
                places.push_back(place);
            }
        }
        this.seek_resource(places, None)?;
        Ok(this)
    }

    /// What is to be done; `None` before what was last said is done and answered.
    pub(super) fn poll(&mut self) -> Option<Step> {
        self.steps.pop_front()
    }

    /// The key that the token is bound to.
    pub(super) fn prover(&self) -> Option<Arc<Prover>> {
        self.prover.clone()
    }

    /// How the token was come by.
    pub(super) const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// The client whose registration is not to be used again, now that the flow has failed.
    pub(super) fn suspect(&self, failure: &AuthError) -> Option<&str> {
        // Where a client is known no more the page does not lead back, and nobody says so.
        let lost = matches!(self.state, State::Visiting { .. }) && *failure == AuthError::TimedOut;
        let lost = self.registered.as_deref().filter(|_| lost);
        lost.or(self.suspect.as_deref())
    }

    /// The tokens that were not enough.
    pub(super) const fn held(&self) -> Option<&Tokens> {
        self.held.as_ref()
    }

    /// The authorization server, once it is known.
    pub(super) fn issuer(&self) -> Option<&str> {
        self.found
            .as_ref()
            .map(|found| found.server.issuer.as_str())
    }

    /// The request brought this.
    pub(super) fn fetched(&mut self, reply: &Reply) -> Result<(), AuthError> {
        match core::mem::replace(&mut self.state, State::Over) {
            State::Resource { url, rest, missing } => self.resource(&url, rest, missing, reply),
            State::Server {
                url,
                rest,
                resource,
                issuer,
            } => self.server(&url, rest, resource, issuer, reply),
            State::Registering { redirect_uri } => self.registered(redirect_uri, reply),
            State::Refreshing(exchange) => self.refreshed(exchange, reply),
            State::Identifying(exchange) => self.identified(exchange, reply),
            State::Exchanging(exchange) => self.exchanged(exchange, reply),
            // Not asked for.
            state
            @ (State::Preparing | State::Reloading | State::Visiting { .. } | State::Over) => {
                self.state = state;
                Ok(())
            }
        }
    }

    /// The request brought nothing.
    pub(super) fn unreachable(&mut self, url: &str, reason: String) -> AuthError {
        self.state = State::Over;
        AuthError::Unreachable {
            url: url.to_owned(),
            reason,
        }
    }

    fn fetch(&mut self, ask: Ask, state: State) -> Result<(), AuthError> {
        check(&ask.url, &self.url)?;
        self.steps.push_back(Step::Fetch(ask));
        self.state = state;
        Ok(())
    }

    fn found(&self) -> Result<&Found, AuthError> {
        // Set in `discovered`, which all that comes later goes through.
        self.found.as_ref().ok_or(AuthError::TimedOut)
    }
}
