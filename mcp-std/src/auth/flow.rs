//! The way from a challenge to a token, without a socket: which request is to be sent, or where the user is to go, follows
//! from what came of the last one.
//!
//! ```text
//!  challenge -> Resource -> Server -+-> Refreshing --------------------+-> done
//!                                   +-> Preparing -> (Registering)     |
//!                                   |       -> Visiting -> Exchanging -+
//!                                   +-> Exchanging (no user) ----------+
//!                                   +-> Identifying -> Exchanging -----+
//! ```

use std::collections::VecDeque;
use std::sync::Arc;

use mcp_core::model::ProtocolVersion;

use super::address::{self, Address, check};
use super::discovery;
use super::dpop::Prover;
use super::error::AuthError;
use super::form::{Form, parse};
use super::metadata::{ResourceMetadata, ServerMetadata, read};
use super::pkce::Pkce;
use super::registration::{self, ClientMethod, Credentials, Registration};
use super::scope::{Scopes, Wishes};
use super::token::{Ask, Exchange, Kept, Kind, Reply, Tokens, granted, wants_nonce};
use super::{Grant, Plan, Secret};

/// What is to be done next.
#[derive(Debug)]
pub(super) enum Step {
    /// Send this; then [`Flow::fetched`] or [`Flow::unreachable`].
    Fetch(Ask),
    /// Look for what is kept about this authorization server, and find out where the user comes back to; then
    /// [`Flow::prepared`].
    Prepare { issuer: String },
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
    /// Where the challenge says that the server's metadata are.
    pub(super) metadata: Option<String>,
    /// The scopes that it names.
    pub(super) scopes: Option<Scopes>,
    /// A refresh token may do.
    pub(super) refresh: bool,
    /// It wants proof of possession.
    pub(super) dpop: bool,
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
    },
    /// Looking for those of its authorization server.
    Server {
        url: String,
        rest: VecDeque<String>,
        resource: Option<Box<ResourceMetadata>>,
        issuer: String,
    },
    Refreshing(Exchange),
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
    refreshed: bool,
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
            refreshed: false,
            steps: VecDeque::new(),
            state: State::Over,
        };
        // DSC-02: what the server names counts, and else the places in their order.
        let rest = match &this.trigger.metadata {
            Some(named) => VecDeque::from([named.clone()]),
            None => discovery::resource(url),
        };
        this.seek_resource(rest)?;
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

    /// Whether the token was had for a refresh token.
    pub(super) const fn is_refreshed(&self) -> bool {
        self.refreshed
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
            State::Resource { url, rest } => self.resource(&url, rest, reply),
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
            state @ (State::Preparing | State::Visiting { .. } | State::Over) => {
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

    fn seek_resource(&mut self, mut rest: VecDeque<String>) -> Result<(), AuthError> {
        match rest.pop_front() {
            Some(url) => self.fetch(Ask::get(&url), State::Resource { url, rest }),
            None if self.plan.legacy && self.trigger.metadata.is_none() => {
                let issuer = discovery::base(&self.url).unwrap_or_default();
                // Only the first place existed then (DSC-08).
                let rest = discovery::server(&issuer).into_iter().take(1).collect();
                self.seek_server(rest, None, issuer)
            }
            None => Err(AuthError::Document {
                url: self.url.clone(),
                reason: "the server does not say where its tokens come from".to_owned(),
            }),
        }
    }

    fn resource(
        &mut self,
        url: &str,
        rest: VecDeque<String>,
        reply: &Reply,
    ) -> Result<(), AuthError> {
        let named = self.trigger.metadata.is_some();
        let refused = || AuthError::Document {
            url: url.to_owned(),
            reason: format!("status {}", reply.status),
        };
        if !reply.is_success() {
            // A server that is in trouble is not one that knows nothing of metadata.
            return match reply.status {
                500.. | 429 => Err(self.unreachable(url, format!("status {}", reply.status))),
                _ if named => Err(refused()),
                _ => self.seek_resource(rest),
            };
        }
        let resource = match read::<ResourceMetadata>(url, &reply.body) {
            Ok(resource) => resource,
            // Sites that answer everything with a page.
            Err(_) if !named && !rest.is_empty() => return self.seek_resource(rest),
            Err(error) => return Err(error),
        };
        // DSC-03.
        if !address::covers(&resource.resource, &self.url) {
            return Err(AuthError::Resource {
                found: super::error::excerpt(&resource.resource),
                expected: self.url.clone(),
            });
        }
        let issuer = self.choose(&resource.authorization_servers);
        let Some(issuer) = issuer else {
            return Err(AuthError::Document {
                url: url.to_owned(),
                reason: "no authorization server is named".to_owned(),
            });
        };
        self.seek_server(discovery::server(&issuer), Some(Box::new(resource)), issuer)
    }

    /// DSC-10: the one that there are credentials for, or that was used before, or the first one.
    fn choose(&self, servers: &[String]) -> Option<String> {
        let registered = self.plan.credentials.as_ref();
        let registered = registered.and_then(|it| it.issuer.as_ref());
        let used = self.held.as_ref().map(|held| &held.issuer);
        let known = [registered, used].into_iter().flatten();
        let mut known = known.filter(|issuer| servers.contains(issuer));
        known.next().or_else(|| servers.first()).cloned()
    }

    fn seek_server(
        &mut self,
        mut rest: VecDeque<String>,
        resource: Option<Box<ResourceMetadata>>,
        issuer: String,
    ) -> Result<(), AuthError> {
        match rest.pop_front() {
            Some(url) => {
                let mut ask = Ask::get(&url);
                if resource.is_none() {
                    let revision = ProtocolVersion::V2025_03_26.as_str();
                    ask.fields
                        .push(("mcp-protocol-version", Secret::new(revision)));
                }
                let state = State::Server {
                    url,
                    rest,
                    resource,
                    issuer,
                };
                self.fetch(ask, state)
            }
            None if resource.is_none() && !issuer.is_empty() => {
                // DSC-08.
                let at = |path: &str| Some(format!("{issuer}{path}"));
                let server = ServerMetadata {
                    authorization_endpoint: at("/authorize"),
                    token_endpoint: at("/token"),
                    registration_endpoint: at("/register"),
                    issuer: issuer.clone(),
                    ..ServerMetadata::default()
                };
                self.discovered(None, server, true)
            }
            None => Err(AuthError::Document {
                url: issuer,
                reason: "the authorization server has no metadata".to_owned(),
            }),
        }
    }

    fn server(
        &mut self,
        url: &str,
        rest: VecDeque<String>,
        resource: Option<Box<ResourceMetadata>>,
        issuer: String,
        reply: &Reply,
    ) -> Result<(), AuthError> {
        if matches!(reply.status, 500.. | 429) {
            return Err(self.unreachable(url, format!("status {}", reply.status)));
        }
        let server = match read::<ServerMetadata>(url, &reply.body) {
            Ok(server) if reply.is_success() => server,
            Err(error) if reply.is_success() && rest.is_empty() && resource.is_some() => {
                return Err(error);
            }
            _ => return self.seek_server(rest, resource, issuer),
        };
        // DSC-06; what else stands there is not looked at.
        if server.issuer != issuer {
            return Err(AuthError::Issuer {
                found: super::error::excerpt(&server.issuer),
                expected: issuer,
            });
        }
        self.discovered(resource, server, false)
    }

    fn discovered(
        &mut self,
        resource: Option<Box<ResourceMetadata>>,
        server: ServerMetadata,
        guessed: bool,
    ) -> Result<(), AuthError> {
        let bound = resource
            .as_ref()
            .and_then(|it| it.dpop_bound_access_tokens_required);
        self.prove(bound.unwrap_or_default(), &server)?;
        let (resource, scopes) = match resource {
            Some(resource) => (resource.resource, resource.scopes_supported),
            None => (address::canonical(&self.url), None),
        };
        let used = self
            .held
            .as_ref()
            .filter(|held| held.issuer == server.issuer);
        let earlier = used
            .and_then(|held| held.scopes.as_deref())
            .map(Scopes::parse);
        let wishes = Wishes {
            configured: self.plan.scopes.as_ref(),
            challenged: self.trigger.scopes.as_ref(),
            earlier: earlier.as_ref(),
            resource: scopes.as_deref(),
            server: server
                .scopes_supported
                .as_deref()
                .filter(|_| matches!(self.plan.grant, Grant::Code)),
        };
        self.scopes = wishes.choose();
        self.found = Some(Found {
            resource,
            server,
            guessed,
        });
        self.begin()
    }

    /// Whether the token is to be bound to a key.
    fn prove(&mut self, required: bool, server: &ServerMetadata) -> Result<(), AuthError> {
        let required = required || self.trigger.dpop;
        let algorithms = server.dpop_signing_alg_values_supported.as_ref();
        let able = algorithms.map(|them| them.iter().any(|name| name == "ES256"));
        if required && able == Some(false) {
            return Err(AuthError::Unsupported {
                issuer: server.issuer.clone(),
                what: "DPoP with ES256",
            });
        }
        self.proving = required || self.plan.dpop && able == Some(true);
        if self.proving && self.prover.is_none() {
            self.prover = Some(Arc::new(Prover::new()?));
        }
        Ok(())
    }

    fn found(&self) -> Result<&Found, AuthError> {
        // Set in `discovered`, which all that comes later goes through.
        self.found.as_ref().ok_or(AuthError::TimedOut)
    }

    /// Knows where tokens come from, and gets one.
    fn begin(&mut self) -> Result<(), AuthError> {
        let issuer = self.found()?.server.issuer.clone();
        let held = self.held.as_ref();
        let refresh = held
            .filter(|held| self.trigger.refresh && held.issuer == issuer)
            .filter(|held| held.kind == Kind::Bearer || held.dpop.is_some())
            .and_then(|held| Some((held.client.clone(), held.refresh.clone()?)));
        if let Some((client, token)) = refresh {
            return self.refresh(client, token);
        }
        let plan = self.plan.clone();
        match &plan.grant {
            Grant::Code => self.begin_code(issuer),
            Grant::ClientCredentials => {
                let parameters = vec![("grant_type", Secret::new("client_credentials"))];
                let client = self.credentials(&issuer)?;
                self.exchange(client, parameters, State::Exchanging)
            }
            Grant::Workload(assertion) => {
                let assertion = assertion.get()?;
                let parameters = vec![
                    ("grant_type", Secret::new(JWT_BEARER)),
                    ("assertion", assertion),
                ];
                let client = self.credentials(&issuer)?;
                self.exchange(client, parameters, State::Exchanging)
            }
            Grant::Enterprise(provider) => {
                // EMA-03.
                let parameters = vec![
                    ("grant_type", Secret::new(TOKEN_EXCHANGE)),
                    ("requested_token_type", Secret::new(ID_JAG)),
                    ("subject_token", provider.token.get()?),
                    ("subject_token_type", Secret::new(ID_TOKEN)),
                    ("audience", Secret::new(issuer)),
                ];
                let parameters = self.with_target(parameters)?;
                let method =
                    provider
                        .client
                        .method
                        .unwrap_or(if provider.client.secret.is_some() {
                            ClientMethod::Basic
                        } else {
                            ClientMethod::None
                        });
                let exchange = Exchange {
                    endpoint: provider.token_endpoint.clone(),
                    issuer: provider.issuer.clone(),
                    client: provider.client.clone(),
                    method,
                    parameters,
                };
                check(&provider.token_endpoint, &provider.token_endpoint)?;
                let ask = exchange.ask(None)?;
                // The program chose this URL, not the server.
                self.steps.push_back(Step::Fetch(ask));
                self.state = State::Identifying(exchange);
                Ok(())
            }
        }
    }

    /// What the program was given by the authorization server.
    fn credentials(&self, issuer: &str) -> Result<Credentials, AuthError> {
        let Some(credentials) = &self.plan.credentials else {
            return Err(unknown(issuer.to_owned()));
        };
        // REG-09.
        match &credentials.issuer {
            Some(registered) if registered != issuer => Err(AuthError::ForeignCredentials {
                issuer: issuer.to_owned(),
                registered: registered.clone(),
            }),
            _ => Ok(credentials.clone()),
        }
    }

    fn begin_code(&mut self, issuer: String) -> Result<(), AuthError> {
        if self.plan.credentials.is_some() {
            // Before anything else is done in their name.
            let _ = self.credentials(&issuer)?;
        }
        let found = self.found()?;
        let methods = found.server.code_challenge_methods_supported.as_ref();
        let able = methods.is_some_and(|them| them.iter().any(|name| name == "S256"));
        // PKC-02.
        if !able && !found.guessed {
            return Err(AuthError::Unsupported {
                issuer,
                what: "PKCE with S256",
            });
        }
        self.steps.push_back(Step::Prepare { issuer });
        self.state = State::Preparing;
        Ok(())
    }

    /// The user comes back to this place, and this is what is kept about the authorization server.
    pub(super) fn prepared(
        &mut self,
        redirect_uri: &str,
        kept: Option<Registration>,
    ) -> Result<(), AuthError> {
        let found = self.found()?;
        let issuer = found.server.issuer.clone();
        // REG-01.
        if self.plan.credentials.is_some() {
            let client = self.credentials(&issuer)?;
            return self.visit(client, redirect_uri);
        }
        let portable = found.server.client_id_metadata_document_supported;
        if let Some(url) = self
            .plan
            .document
            .as_ref()
            .filter(|_| portable == Some(true))
        {
            let client = Credentials::public(url.clone());
            return self.visit(client, redirect_uri);
        }
        if let Some(registration) = kept.filter(|kept| kept.fits(redirect_uri)) {
            return self.visit(registration.credentials(&issuer), redirect_uri);
        }
        let Some(endpoint) = found.server.registration_endpoint.clone() else {
            return Err(unknown(issuer));
        };
        let body = registration::request(&self.plan, &found.server, redirect_uri);
        let ask = Ask::post(&endpoint, "application/json", Secret::new(body));
        let redirect_uri = redirect_uri.to_owned();
        self.fetch(ask, State::Registering { redirect_uri })
    }

    fn registered(&mut self, redirect_uri: String, reply: &Reply) -> Result<(), AuthError> {
        let server = &self.found()?.server;
        let issuer = server.issuer.clone();
        let url = server.registration_endpoint.clone().unwrap_or_default();
        let registration =
            registration::answer(&url, &issuer, reply.status, &reply.body, &redirect_uri)?;
        let client = registration.credentials(&issuer);
        self.steps.push_back(Step::Keep {
            issuer,
            registration,
        });
        self.visit(client, &redirect_uri)
    }

    fn visit(&mut self, client: Credentials, redirect_uri: &str) -> Result<(), AuthError> {
        let found = self.found()?;
        let endpoint = found.server.authorization_endpoint.as_deref();
        let endpoint = endpoint.ok_or_else(|| AuthError::Unsupported {
            issuer: found.server.issuer.clone(),
            what: "authorization endpoint",
        })?;
        check(endpoint, &self.url)?;
        let (pkce, state) = (Pkce::new(), Secret::random(16));
        let mut form = Form::default();
        form.add("response_type", "code");
        form.add("client_id", &client.id);
        form.add("redirect_uri", redirect_uri);
        form.add("state", state.expose());
        form.add("code_challenge", &pkce.challenge());
        form.add("code_challenge_method", "S256");
        form.add("resource", &found.resource);
        form.add_some("scope", self.scopes.text().as_deref());
        if self.scopes.has("offline_access") {
            // OpenID Connect, section 11: without it there may be no refresh token.
            form.add("prompt", "consent");
        }
        let has_query = Address::parse(endpoint).is_some_and(|it| it.query.is_some());
        let sign = if has_query { '&' } else { '?' };
        let page = format!("{endpoint}{sign}{}", form.into_string());
        self.steps.push_back(Step::Visit(page));
        self.state = State::Visiting {
            pkce,
            state,
            redirect_uri: redirect_uri.to_owned(),
            client,
        };
        Ok(())
    }

    /// The user has come back with this query, or URL.
    pub(super) fn visited(&mut self, back: &str) -> Result<(), AuthError> {
        let State::Visiting {
            pkce,
            state,
            redirect_uri,
            client,
        } = core::mem::replace(&mut self.state, State::Over)
        else {
            return Ok(());
        };
        let query = back.split('#').next().unwrap_or_default();
        let query = query.split_once('?').map_or(query, |(_, query)| query);
        let single = ["code", "state", "iss", "error"];
        let parameters = parse(query, &single).ok_or(AuthError::State)?;
        let get = |name: &str| {
            let found = parameters.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str())
        };
        if get("state").map(Secret::new) != Some(state) {
            return Err(AuthError::State);
        }
        let server = &self.found()?.server;
        // ISS-02 to ISS-04: before anything else that stands there is believed.
        let promised = server.authorization_response_iss_parameter_supported == Some(true);
        let iss = get("iss");
        if iss.is_some_and(|iss| iss != server.issuer) || iss.is_none() && promised {
            return Err(AuthError::WrongIssuer {
                found: iss.map(super::error::excerpt),
                expected: server.issuer.clone(),
            });
        }
        if let Some(error) = get("error") {
            return Err(AuthError::Refused {
                error: super::error::excerpt(error),
                description: get("error_description").map(super::error::excerpt),
            });
        }
        let Some(code) = get("code") else {
            return Err(AuthError::State);
        };
        let parameters = vec![
            ("grant_type", Secret::new("authorization_code")),
            ("code", Secret::new(code)),
            ("redirect_uri", Secret::new(redirect_uri)),
            ("code_verifier", pkce.verifier),
            ("resource", Secret::new(&*self.found()?.resource)),
        ];
        self.send(client, parameters, State::Exchanging)
    }

    /// RSI-01, and the scopes.
    fn with_target(
        &self,
        mut parameters: Vec<(&'static str, Secret)>,
    ) -> Result<Vec<(&'static str, Secret)>, AuthError> {
        let resource = Secret::new(&*self.found()?.resource);
        parameters.push(("resource", resource));
        if let Some(scopes) = self.scopes.text() {
            parameters.push(("scope", Secret::new(scopes)));
        }
        Ok(parameters)
    }

    fn exchange(
        &mut self,
        client: Credentials,
        parameters: Vec<(&'static str, Secret)>,
        state: fn(Exchange) -> State,
    ) -> Result<(), AuthError> {
        let parameters = self.with_target(parameters)?;
        self.send(client, parameters, state)
    }

    /// Asks the token endpoint.
    fn send(
        &mut self,
        client: Credentials,
        parameters: Vec<(&'static str, Secret)>,
        state: fn(Exchange) -> State,
    ) -> Result<(), AuthError> {
        let server = &self.found()?.server;
        let Some(endpoint) = server.token_endpoint.clone() else {
            return Err(AuthError::Unsupported {
                issuer: server.issuer.clone(),
                what: "token endpoint",
            });
        };
        let exchange = Exchange {
            endpoint,
            issuer: server.issuer.clone(),
            method: client.method_at(server),
            client,
            parameters,
        };
        self.challenged = false;
        self.ask(exchange, state)
    }

    fn ask(&mut self, exchange: Exchange, state: fn(Exchange) -> State) -> Result<(), AuthError> {
        let prover = self.prover.as_deref().filter(|_| self.proving);
        let ask = exchange.ask(prover)?;
        self.fetch(ask, state(exchange))
    }

    fn refresh(&mut self, kept: Kept, token: Secret) -> Result<(), AuthError> {
        let client = Credentials {
            id: kept.id,
            secret: kept.secret,
            key: self.plan.credentials.as_ref().and_then(|it| it.key.clone()),
            issuer: None,
            method: Some(kept.method),
        };
        let parameters = vec![
            ("grant_type", Secret::new("refresh_token")),
            ("refresh_token", token),
            ("resource", Secret::new(&*self.found()?.resource)),
        ];
        // No scopes: the same ones as before (RFC 6749, section 6).
        self.send(client, parameters, State::Refreshing)
    }

    /// Whether the exchange was repeated, since the server wants its nonce in the proof (RFC 9449, section 8).
    fn repeated(
        &mut self,
        exchange: Exchange,
        reply: &Reply,
        state: fn(Exchange) -> State,
    ) -> Result<Option<Exchange>, AuthError> {
        let (Some(prover), Some(nonce)) = (&self.prover, &reply.nonce) else {
            return Ok(Some(exchange));
        };
        prover.remember(&exchange.endpoint, nonce);
        if self.challenged || !self.proving || !wants_nonce(reply) {
            return Ok(Some(exchange));
        }
        self.challenged = true;
        self.ask(exchange, state)?;
        Ok(None)
    }

    fn refreshed(&mut self, exchange: Exchange, reply: &Reply) -> Result<(), AuthError> {
        let Some(exchange) = self.repeated(exchange, reply, State::Refreshing)? else {
            return Ok(());
        };
        match granted(&exchange.endpoint, reply) {
            Ok(_) => {
                self.refreshed = true;
                self.done(&exchange, reply)
            }
            Err(error) if error.is_transient() => Err(error),
            // It is over, or was used already: the user is asked again.
            Err(_) => {
                self.trigger.refresh = false;
                self.begin()
            }
        }
    }

    fn exchanged(&mut self, exchange: Exchange, reply: &Reply) -> Result<(), AuthError> {
        match self.repeated(exchange, reply, State::Exchanging)? {
            Some(exchange) => self.done(&exchange, reply),
            None => Ok(()),
        }
    }

    /// The identity provider's word, for the authorization server (EMA-02).
    fn identified(&mut self, exchange: Exchange, reply: &Reply) -> Result<(), AuthError> {
        #[derive(serde::Deserialize)]
        struct Identity {
            access_token: Secret,
            issued_token_type: Option<String>,
        }
        if !reply.is_success() {
            granted(&exchange.endpoint, reply)?;
        }
        let identity: Identity = read(&exchange.endpoint, &reply.body)?;
        if identity
            .issued_token_type
            .is_some_and(|kind| kind != ID_JAG)
        {
            return Err(AuthError::Document {
                url: exchange.endpoint,
                reason: "the identity provider gives another kind of token".to_owned(),
            });
        }
        let issuer = self.found()?.server.issuer.clone();
        let client = self.credentials(&issuer)?;
        let parameters = vec![
            ("grant_type", Secret::new(JWT_BEARER)),
            ("assertion", identity.access_token),
        ];
        self.exchange(client, parameters, State::Exchanging)
    }

    fn done(&mut self, exchange: &Exchange, reply: &Reply) -> Result<(), AuthError> {
        let granted = granted(&exchange.endpoint, reply)?;
        let kind = granted.kind(&exchange.endpoint)?;
        let prover = self.prover.as_ref().filter(|_| self.proving);
        let fault = |reason: &str| {
            Err(AuthError::Document {
                url: exchange.endpoint.clone(),
                reason: reason.to_owned(),
            })
        };
        match (kind, prover) {
            (Kind::Dpop, None) => return fault("the token is bound to a key, and none was shown"),
            (Kind::Bearer, Some(_)) if self.trigger.dpop => {
                return fault("the token is not bound to the key that was shown");
            }
            _ => {}
        }
        let found = self.found()?;
        let given = granted
            .scope
            .as_deref()
            .map(Scopes::parse)
            .unwrap_or_default();
        let scopes = self.scopes.clone().union(&given);
        let held = self
            .held
            .as_ref()
            .filter(|held| held.issuer == exchange.issuer);
        // One that is not replaced goes on (RFC 6749, section 6).
        let refresh = granted
            .refresh_token
            .clone()
            .or_else(|| held.filter(|_| self.trigger.refresh)?.refresh.clone());
        let tokens = Tokens {
            expires: granted.expires(),
            access: granted.access_token,
            kind,
            refresh,
            scopes: scopes.text(),
            issuer: exchange.issuer.clone(),
            resource: found.resource.clone(),
            metadata: self.trigger.metadata.clone(),
            client: Kept {
                id: exchange.client.id.clone(),
                secret: exchange.client.secret.clone(),
                method: exchange.method,
            },
            dpop: prover
                .filter(|_| kind == Kind::Dpop)
                .map(|it| it.stored.clone()),
        };
        self.steps.push_back(Step::Done(Box::new(tokens)));
        Ok(())
    }
}

/// There is no way to be known there.
fn unknown(issuer: String) -> AuthError {
    AuthError::Registration {
        issuer,
        reason: "it is not known there, and cannot register itself".to_owned(),
    }
}

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
