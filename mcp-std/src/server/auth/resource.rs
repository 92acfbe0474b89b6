//! A server whose clients need a token, and what it says about itself (RFC 9728).

use core::fmt;
use core::time::Duration;
use std::sync::Arc;
use std::time::SystemTime;

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, ALLOW,
    CACHE_CONTROL, CONTENT_TYPE, HeaderValue,
};
use http::request::Parts;
use http::{Method, Response, StatusCode};
use mcp_core::Limits;
use mcp_core::engine::server::Message;
use serde_json::json;

use super::bearer::Bearer;
use super::builder::ResourceServerBuilder;
use super::cache::Cache;
use super::challenge::{Challenge, unavailable};
use super::issuer::Trusted;
use super::jwt::Jwt;
use super::scopes::Rules;
use super::url::Url;
use super::verifier::{Kind, Rejection, digest};
use crate::server::Server;
use crate::server::handler::Sharing;
use crate::server::http::HttpBody;
use crate::server::principal::Principal;

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// What makes a server one whose clients need access tokens: whose tokens, for which resource, with which scopes. Cheap to
/// clone. [The module](super) has an example.
#[derive(Clone)]
pub struct ResourceServer(pub(super) Arc<Inner>);

pub(super) struct Inner {
    pub(super) resource: String,
    /// Host and port of the resource.
    pub(super) authority: String,
    pub(super) audiences: Vec<Box<str>>,
    pub(super) trusted: Vec<Trusted>,
    pub(super) rules: Rules,
    pub(super) claims: Vec<String>,
    pub(super) skew: Duration,
    pub(super) metadata: Metadata,
    pub(super) cache: Cache,
}

/// The document by which clients find the issuers (RSV-01).
pub(super) struct Metadata {
    /// Where it is, for challenges.
    pub(super) url: String,
    path: String,
    document: Vec<u8>,
}

impl Metadata {
    pub(super) fn new(
        url: &Url<'_>,
        resource: &str,
        trusted: &[Trusted],
        scopes: Vec<String>,
        name: Option<String>,
        documentation: Option<String>,
    ) -> Self {
        let issuers: Vec<&str> = trusted.iter().map(|it| &*it.issuer).collect();
        let mut document = json!({
            "resource": resource,
            "authorization_servers": issuers,
            "bearer_methods_supported": ["header"],
        });
        if !scopes.is_empty() {
            document["scopes_supported"] = scopes.into();
        }
        if let Some(name) = name {
            document["resource_name"] = name.into();
        }
        if let Some(documentation) = documentation {
            document["resource_documentation"] = documentation.into();
        }
        let place = url.resource_metadata();
        Self {
            path: bare(&place[url.origin.len()..]).to_owned(),
            url: place,
            document: document.to_string().into_bytes(),
        }
    }
}

impl ResourceServer {
    /// Begins the server of a resource: the URL of the MCP endpoint as clients know it, such as
    /// `https://mcp.example.com/mcp`. Tokens have to name it as their audience, letter by letter.
    pub fn builder(resource: impl Into<String>) -> ResourceServerBuilder {
        ResourceServerBuilder::new(resource.into())
    }

    /// The URL of the resource.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.0.resource
    }

    /// Host and port of the resource, for [`HttpRules::host`](crate::http::HttpRules::host).
    #[must_use]
    pub fn authority(&self) -> &str {
        &self.0.authority
    }

    /// Where clients read which issuers there are: on the host of the resource, at the first of
    /// [these paths](Self::metadata_paths).
    #[must_use]
    pub fn metadata_url(&self) -> &str {
        &self.0.metadata.url
    }

    /// The paths at which clients look for the metadata: the one that challenges name, and
    /// `/.well-known/oauth-protected-resource`, if that is another. A [service](crate::http::HttpService) that is mounted at
    /// one path has to be mounted at these as well, and a proxy has to pass them on as they are.
    pub fn metadata_paths(&self) -> impl Iterator<Item = &str> {
        let own = &*self.0.metadata.path;
        core::iter::once(own).chain((own != WELL_KNOWN).then_some(WELL_KNOWN))
    }

    /// Tells whoever runs the server of scopes that protect nothing, because there is no tool or method of that name.
    pub(crate) fn tell_misnamed<S: Sharing>(&self, server: &Server<S>) {
        let rules = &self.0.rules;
        for tool in rules.tools.keys().filter(|tool| !server.has_tool(tool)) {
            tracing::warn!(
                tool = &**tool,
                "scopes are set for a tool that is not there: nothing is protected by them"
            );
        }
        let known = |method: &str| mcp_core::model::Method::from_name(method).is_some();
        for method in rules.methods.keys().filter(|method| !known(method)) {
            tracing::warn!(
                method = &**method,
                "scopes are set for a method that is none: nothing is protected by them"
            );
        }
    }

    /// What is at a well-known place: without a token, for everybody, whatever page it is asked from.
    pub(crate) fn page(&self, parts: &Parts) -> Option<Response<HttpBody>> {
        let path = parts.uri.path();
        if !path.starts_with("/.well-known/") {
            return None;
        }
        let metadata = &self.0.metadata;
        let mut response = Response::new(HttpBody::EMPTY);
        if ![metadata.path.as_str(), WELL_KNOWN].contains(&bare(path)) {
            // Such as the metadata of the authorization server that this is not.
            *response.status_mut() = StatusCode::NOT_FOUND;
            return Some(response);
        }
        let headers = response.headers_mut();
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
        if parts.method == Method::GET || parts.method == Method::HEAD {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
            headers.insert(CACHE_CONTROL, HeaderValue::from_static("max-age=300"));
            if parts.method == Method::GET {
                *response.body_mut() = HttpBody::whole(metadata.document.clone());
            }
            return Some(response);
        }
        let allow = HeaderValue::from_static("GET, HEAD, OPTIONS");
        headers.insert(ALLOW, allow.clone());
        let status = match parts.method == Method::OPTIONS {
            true => {
                headers.insert(ACCESS_CONTROL_ALLOW_METHODS, allow);
                // A client that has to send its protocol version along.
                headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("*"));
                StatusCode::NO_CONTENT
            }
            false => StatusCode::METHOD_NOT_ALLOWED,
        };
        *response.status_mut() = status;
        Some(response)
    }

    /// Who sends a request (AUT-05, SEC-07: each for itself), or the response that it gets instead.
    pub(crate) async fn authenticate(
        &self,
        parts: &Parts,
    ) -> Result<Principal, Response<HttpBody>> {
        let token = match Bearer::of(&parts.headers) {
            Bearer::Token(token) => token,
            Bearer::None => {
                let description = "An access token is required";
                return Err(self.challenge(StatusCode::UNAUTHORIZED, None, description, &[]));
            }
            Bearer::Malformed(reason) => {
                let error = Some("invalid_request");
                return Err(self.challenge(StatusCode::BAD_REQUEST, error, reason, &[]));
            }
        };
        let verified = self.verify(token).await;
        let principal = verified.map_err(|Rejection { kind, reason }| {
            tracing::debug!(reason, "a token was not accepted");
            match kind {
                Kind::Unavailable => unavailable(reason),
                Kind::Invalid => {
                    let error = Some("invalid_token");
                    self.challenge(StatusCode::UNAUTHORIZED, error, reason, &[])
                }
            }
        })?;
        let base = self.0.rules.base.iter();
        match base.clone().all(|scope| principal.has_scope(scope)) {
            true => Ok(principal),
            false => {
                let needed: Vec<&str> = base.map(|scope| &**scope).collect();
                Err(self.insufficient(&needed))
            }
        }
    }

    /// The response to a message that this principal may not send: before anything of it is done.
    pub(crate) fn refuse(
        &self,
        principal: &Principal,
        message: &Message<'_>,
        body: &[u8],
        limits: &Limits,
    ) -> Option<Response<HttpBody>> {
        let needed = self.0.rules.lacking(principal, message, body, limits)?;
        Some(self.insufficient(&needed))
    }

    fn insufficient(&self, needed: &[&str]) -> Response<HttpBody> {
        let description = "The access token is not good for this; it takes more scopes";
        let error = Some("insufficient_scope");
        self.challenge(StatusCode::FORBIDDEN, error, description, needed)
    }

    fn challenge(
        &self,
        status: StatusCode,
        error: Option<&'static str>,
        description: &str,
        needed: &[&str],
    ) -> Response<HttpBody> {
        let base: Vec<&str> = self.0.rules.base.iter().map(|scope| &**scope).collect();
        let challenge = Challenge {
            status,
            error,
            description,
            scopes: if needed.is_empty() { &base } else { needed },
            metadata_url: &self.0.metadata.url,
        };
        challenge.response()
    }

    async fn verify(&self, token: &str) -> Result<Principal, Rejection> {
        let Inner {
            trusted,
            rules,
            cache,
            ..
        } = &*self.0;
        let digest = digest(token);
        if let Some(principal) = cache.get(&digest) {
            return Ok(principal);
        }
        let Trusted {
            issuer, verifier, ..
        } = route(trusted, token)?;
        let mut claims = verifier.verify(token).await?;
        claims.set_default("iss", issuer);
        let now = SystemTime::now();
        let checked = claims.check(issuer, &self.0.audiences, now, self.0.skew);
        checked.inspect_err(|rejection| {
            tracing::debug!(
                reason = rejection.reason,
                iss = ?claims.get("iss"),
                aud = ?claims.get("aud"),
                issuer = &**issuer,
                audiences = ?self.0.audiences,
                "what the token says, and what is accepted"
            );
        })?;
        let client_id = claims.text("client_id").or_else(|| claims.text("azp"));
        let principal = Principal::verified(
            issuer,
            claims.text("sub"),
            client_id,
            rules.expand(&claims.scopes()),
            claims.select(&self.0.claims),
            claims.end(self.0.skew),
        );
        let reason = "The access token does not say whose it is";
        let principal = principal.ok_or(Rejection::invalid(reason))?;
        let mut time = verifier.cache_for();
        if let Some(remaining) = claims.remaining(now) {
            time = time.min(remaining);
        }
        cache.put(digest, principal.clone(), time);
        Ok(principal)
    }
}

/// Some clients add a slash, and some leave it out.
fn bare(path: &str) -> &str {
    path.strip_suffix('/').unwrap_or(path)
}

/// Who is to check a token. What it says of itself only chooses among those that are trusted, and each of them accepts no
/// other's: the claim is compared again once it is proven.
fn route<'t>(trusted: &'t [Trusted], token: &str) -> Result<&'t Trusted, Rejection> {
    let claimed = Jwt::parse(token).and_then(|jwt| jwt.claimed_issuer());
    let named = |it: &&Trusted| claimed.as_deref() == Some(&*it.issuer);
    // One that names another issuer is nobody else's business.
    let opaque = |it: &&Trusted| claimed.is_none() && !it.jwt;
    let mut issuers = trusted.iter();
    let found = issuers.clone().find(named).or_else(|| issuers.find(opaque));
    if found.is_none() {
        let trusted: Vec<_> = trusted.iter().map(|it| &*it.issuer).collect();
        let iss = claimed.as_deref().map(|it| it.get(..200).unwrap_or(it));
        tracing::debug!(?iss, ?trusted, "what the token says, and whom is trusted");
    }
    let reason = match claimed {
        Some(_) => "The access token is of an issuer that is not trusted",
        None => "The access token is not one of the kind that is accepted",
    };
    found.ok_or(Rejection::invalid(reason))
}

impl fmt::Debug for ResourceServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResourceServer")
            .field("resource", &self.0.resource)
            .field("rules", &self.0.rules)
            .finish_non_exhaustive()
    }
}
