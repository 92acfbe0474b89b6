//! The token endpoint: what is asked there, and what comes of it.

use super::{Flow, Outcome, State, Step};
use crate::auth::address::{check, is_same_issuer};
use crate::auth::error::AuthError;
use crate::auth::metadata::read;
use crate::auth::registration::{ClientMethod, Credentials};
use crate::auth::scope::Scopes;
use crate::auth::token::{Exchange, Kept, Kind, Reply, Tokens, granted, wants_nonce};
use crate::auth::{Grant, Secret};

impl Flow {
    /// Knows where tokens come from, and gets one.
    pub(super) fn begin(&mut self) -> Result<(), AuthError> {
        let issuer = self.found()?.server.issuer.clone();
        let held = self.held.as_ref();
        let refresh = held
            .filter(|held| self.trigger.refresh && held.issuer == issuer)
            .filter(|held| held.kind == Kind::Bearer || held.dpop.is_some())
            .and_then(|held| Some((held.client.clone(), held.refresh.clone()?)));
        if let Some((client, token)) = refresh {
            return self.refresh(&client, token);
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
                provider.client.check()?;
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
    pub(super) fn credentials(&self, issuer: &str) -> Result<Credentials, AuthError> {
        let Some(credentials) = &self.plan.credentials else {
            return Err(unknown(issuer.to_owned()));
        };
        // REG-09: where nothing is known of a server, nothing is shown to it.
        if self.plan.shown().is_some() && self.found()?.guessed {
            return Err(AuthError::Registration {
                issuer: issuer.to_owned(),
                reason: "it has no metadata, and a secret is not for just any server".to_owned(),
            });
        }
        match &credentials.issuer {
            Some(registered) if !is_same_issuer(registered, issuer) => {
                Err(AuthError::ForeignCredentials {
                    issuer: issuer.to_owned(),
                    registered: registered.clone(),
                })
            }
            _ => Ok(credentials.clone()),
        }
    }

    /// RSI-01, and the scopes.
    pub(super) fn with_target(
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

    pub(super) fn exchange(
        &mut self,
        client: Credentials,
        parameters: Vec<(&'static str, Secret)>,
        state: fn(Exchange) -> State,
    ) -> Result<(), AuthError> {
        let parameters = self.with_target(parameters)?;
        self.send(client, parameters, state)
    }

    /// Asks the token endpoint.
    pub(super) fn send(
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

    pub(super) fn ask(
        &mut self,
        exchange: Exchange,
        state: fn(Exchange) -> State,
    ) -> Result<(), AuthError> {
        let prover = self.prover.as_deref().filter(|_| self.proving);
        let ask = exchange.ask(prover)?;
        self.fetch(ask, state(exchange))
    }

    pub(super) fn refresh(&mut self, kept: &Kept, token: Secret) -> Result<(), AuthError> {
        let client = kept.credentials(&self.plan);
        let parameters = vec![
            ("grant_type", Secret::new("refresh_token")),
            ("refresh_token", token),
            ("resource", Secret::new(&*self.found()?.resource)),
        ];
        // No scopes: the same ones as before (RFC 6749, section 6).
        self.send(client, parameters, State::Refreshing)
    }

    /// Whether the exchange was repeated, since the server wants its nonce in the proof (RFC 9449, section 8).
    pub(super) fn repeated(
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

    pub(super) fn refreshed(&mut self, exchange: Exchange, reply: &Reply) -> Result<(), AuthError> {
        let Some(exchange) = self.repeated(exchange, reply, State::Refreshing)? else {
            return Ok(());
        };
        match granted(&exchange.endpoint, reply) {
            Ok(_) => {
                self.outcome = Outcome::Refreshed;
                self.done(&exchange, reply)
            }
            Err(AuthError::Refused { error, .. }) => {
                self.trigger.refresh = false;
                if is_unknown(&error) {
                    self.forget(&exchange);
                } else if error == "invalid_grant" {
                    self.steps.push_back(Step::Reload);
                    self.state = State::Reloading;
                    return Ok(());
                }
                // It is over: the user is asked again.
                self.begin()
            }
            // Half an answer, or a page of somebody in between: nobody has said that it is over (OA-08).
            Err(AuthError::Document { url, reason }) => Err(self.unreachable(&url, reason)),
            Err(error) => Err(error),
        }
    }

    /// These are the tokens that are kept now: the refresh token was used up if they are others than those that there were.
    pub(in crate::auth) fn reloaded(&mut self, kept: Option<Tokens>) -> Result<(), AuthError> {
        let held = self.held.as_ref();
        let newer = kept.filter(|kept| held.is_none_or(|held| held.refresh != kept.refresh));
        match newer {
            Some(newer) => {
                self.outcome = Outcome::Reloaded;
                self.steps.push_back(Step::Done(Box::new(newer)));
                Ok(())
            }
            None => self.begin(),
        }
    }

    /// The authorization server knows this client no more: it is registered anew, if it was by itself (OA-16).
    fn forget(&mut self, exchange: &Exchange) {
        self.registered = None;
        if self.plan.credentials.is_none() {
            self.steps.push_back(Step::Forget {
                issuer: exchange.issuer.clone(),
                client: exchange.client.id.clone(),
            });
        }
    }

    pub(super) fn exchanged(&mut self, exchange: Exchange, reply: &Reply) -> Result<(), AuthError> {
        let Some(exchange) = self.repeated(exchange, reply, State::Exchanging)? else {
            return Ok(());
        };
        let done = self.done(&exchange, reply);
        let Err(AuthError::Refused { error, .. }) = &done else {
            return done;
        };
        if is_unknown(error) {
            if self.registered.is_some() {
                self.forget(&exchange);
                return self.begin();
            }
            // One that was registered just now would be no better the next time.
            self.suspect = Some(exchange.client.id);
        }
        done
    }

    /// The identity provider's word, for the authorization server (EMA-02).
    pub(super) fn identified(
        &mut self,
        exchange: Exchange,
        reply: &Reply,
    ) -> Result<(), AuthError> {
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

    pub(super) fn done(&mut self, exchange: &Exchange, reply: &Reply) -> Result<(), AuthError> {
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
            .filter(|held| held.issuer == exchange.issuer)
            .filter(|_| self.outcome == Outcome::Refreshed);
        // RFC 6749, sections 5.1 and 6: where nothing is said they are those that were asked for, or that there were.
        let given = match (given.text(), held) {
            (Some(given), _) => Some(given),
            (None, Some(held)) => held.granted().text(),
            (None, None) => self.scopes.text(),
        };
        // One that is not replaced goes on (RFC 6749, section 6).
        let refresh = granted
            .refresh_token
            .clone()
            .or_else(|| held?.refresh.clone());
        let tokens = Tokens {
            expires: granted.expires(),
            access: granted.access_token,
            kind,
            refresh,
            scopes: scopes.text(),
            granted: given,
            issuer: exchange.issuer.clone(),
            resource: found.resource.clone(),
            metadata: self.metadata.clone(),
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
pub(super) fn unknown(issuer: String) -> AuthError {
    AuthError::Registration {
        issuer,
        reason: "it is not known there, and cannot register itself".to_owned(),
    }
}

/// Whether this says that the client is not known.
fn is_unknown(error: &str) -> bool {
    matches!(error, "invalid_client" | "unauthorized_client")
}

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
