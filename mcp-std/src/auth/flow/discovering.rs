//! Where tokens come from: the metadata of the server, and of its authorization server.

use std::collections::VecDeque;
use std::sync::Arc;

use mcp_core::model::ProtocolVersion;

use super::{Flow, Found, State};
use crate::auth::address;
use crate::auth::discovery;
use crate::auth::dpop::Prover;
use crate::auth::error::{AuthError, excerpt};
use crate::auth::metadata::{ResourceMetadata, ServerMetadata, read};
use crate::auth::scope::{Scopes, Wishes};
use crate::auth::token::{Ask, Reply};
use crate::auth::{Grant, Secret};

impl Flow {
    pub(super) fn seek_resource(
        &mut self,
        mut rest: VecDeque<String>,
        missing: Option<AuthError>,
    ) -> Result<(), AuthError> {
        match rest.pop_front() {
            Some(url) => self.fetch(Ask::get(&url), State::Resource { url, rest, missing }),
            None if self.plan.legacy && self.trigger.metadata.is_empty() => {
                let issuer = discovery::base(&self.url).unwrap_or_default();
                // Only the first place existed then (DSC-08).
                let rest = discovery::server(&issuer).into_iter().take(1).collect();
                self.seek_server(rest, None, issuer)
            }
            // Of a place that the server names it is worth knowing what is wrong with it.
            None => Err(missing
                .filter(|_| !self.trigger.metadata.is_empty())
                .unwrap_or_else(|| AuthError::Document {
                    url: self.url.clone(),
                    reason: "the server does not say where its tokens come from".to_owned(),
                })),
        }
    }

    pub(super) fn resource(
        &mut self,
        url: &str,
        rest: VecDeque<String>,
        missing: Option<AuthError>,
        reply: &Reply,
    ) -> Result<(), AuthError> {
        if !reply.is_success() {
            let reason = format!("status {}", reply.status);
            // A server that is in trouble is not one that knows nothing of metadata.
            if matches!(reply.status, 500.. | 429) {
                return Err(self.unreachable(url, reason));
            }
            let url = url.to_owned();
            let missing = missing.or(Some(AuthError::Document { url, reason }));
            return self.seek_resource(rest, missing);
        }
        let resource = match read::<ResourceMetadata>(url, &reply.body) {
            Ok(resource) => resource,
            // Sites that answer everything with a page.
            Err(error) if !rest.is_empty() => {
                return self.seek_resource(rest, missing.or(Some(error)));
            }
            Err(error) => return Err(missing.unwrap_or(error)),
        };
        // DSC-03.
        if !address::covers(&resource.resource, &self.url) {
            return Err(AuthError::Resource {
                found: excerpt(&resource.resource),
                expected: self.url.clone(),
            });
        }
        let named = self.trigger.metadata.iter();
        self.metadata = named.into_iter().find(|named| *named == url).cloned();
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
    pub(super) fn choose(&self, servers: &[String]) -> Option<String> {
        let registered = self.plan.credentials.as_ref();
        let registered = registered.and_then(|it| it.issuer.as_ref());
        let used = self.held.as_ref().map(|held| &held.issuer);
        let known = [registered, used].into_iter().flatten();
        let mut known = known.filter_map(|issuer| {
            let mut servers = servers.iter();
            servers.find(|server| address::is_same_issuer(server, issuer))
        });
        known.next().or_else(|| servers.first()).cloned()
    }

    pub(super) fn seek_server(
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
                url: excerpt(&issuer),
                reason: "the authorization server has no metadata".to_owned(),
            }),
        }
    }

    pub(super) fn server(
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
        // DSC-06, OA-02; what else stands there is not looked at.
        if !address::is_same_issuer(&server.issuer, &issuer) {
            return Err(AuthError::Issuer {
                found: excerpt(&server.issuer),
                expected: excerpt(&issuer),
            });
        }
        self.discovered(resource, server, false)
    }

    pub(super) fn discovered(
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
    pub(super) fn prove(
        &mut self,
        required: bool,
        server: &ServerMetadata,
    ) -> Result<(), AuthError> {
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
}
