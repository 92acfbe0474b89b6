//! The user: registration, the page to log in at, and the way back.

use super::granting::unknown;
use super::{Flow, State, Step};
use crate::auth::Secret;
use crate::auth::address::{Address, check};
use crate::auth::error::{AuthError, excerpt};
use crate::auth::form::{Form, parse};
use crate::auth::pkce::Pkce;
use crate::auth::registration::{self, Credentials, Registration};
use crate::auth::token::{Ask, Reply};

impl Flow {
    pub(super) fn begin_code(&mut self, issuer: String) -> Result<(), AuthError> {
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
    pub(in crate::auth) fn prepared(
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
            self.registered = Some(registration.client_id.clone());
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

    pub(super) fn registered(
        &mut self,
        redirect_uri: String,
        reply: &Reply,
    ) -> Result<(), AuthError> {
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

    pub(super) fn visit(
        &mut self,
        client: Credentials,
        redirect_uri: &str,
    ) -> Result<(), AuthError> {
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
    pub(in crate::auth) fn visited(&mut self, back: &str) -> Result<(), AuthError> {
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
                found: iss.map(excerpt),
                expected: server.issuer.clone(),
            });
        }
        if let Some(error) = get("error") {
            return Err(AuthError::Refused {
                error: excerpt(error),
                description: get("error_description").map(excerpt),
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
}
