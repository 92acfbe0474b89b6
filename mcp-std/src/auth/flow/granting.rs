//! The token endpoint: what is asked there, and what comes of it.

use super::{Flow, State, Step};
use crate::auth::address::check;
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
            Some(registered) if registered != issuer => Err(AuthError::ForeignCredentials {
                issuer: issuer.to_owned(),
                registered: registered.clone(),
            }),
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

    pub(super) fn refresh(&mut self, kept: Kept, token: Secret) -> Result<(), AuthError> {
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

    pub(super) fn exchanged(&mut self, exchange: Exchange, reply: &Reply) -> Result<(), AuthError> {
        match self.repeated(exchange, reply, State::Exchanging)? {
            Some(exchange) => self.done(&exchange, reply),
            None => Ok(()),
        }
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
pub(super) fn unknown(issuer: String) -> AuthError {
    AuthError::Registration {
        issuer,
        reason: "it is not known there, and cannot register itself".to_owned(),
    }
}

const JWT_BEARER: &str = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const TOKEN_EXCHANGE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const ID_JAG: &str = "urn:ietf:params:oauth:token-type:id-jag";
const ID_TOKEN: &str = "urn:ietf:params:oauth:token-type:id_token";
