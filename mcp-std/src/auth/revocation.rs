//! The end of a login: the authorization server is told that its tokens are over (RFC 7009).

use mcp_io::http::client as io;
use smol::unblock;

use super::address::{check, is_same_issuer};
use super::driver::fetch;
use super::error::{AuthError, excerpt};
use super::metadata::{ServerMetadata, read};
use super::token::{Ask, Exchange, Tokens, refusal};
use super::{Auth, Secret, discovery, session};

/// What a logout has come to. The tokens are forgotten here in any case.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum LoggedOut {
    /// There were none.
    Unknown,
    /// The authorization server was told, and has revoked them.
    Revoked,
    /// The authorization server offers no revocation: the access token is good until it expires.
    Forgotten,
    /// The authorization server could not be told, or has not revoked them: they may be good until they expire.
    Unrevoked(AuthError),
}

impl Auth {
    /// Logs out of the server at this URL. Its authorization server is told that the tokens are over, first the refresh token
    /// and then the access token, where it can be told (RFC 7009); and they are forgotten here, whatever comes of that. The
    /// registration stays. A client that is connected keeps the token that it has.
    ///
    /// # Errors
    ///
    /// [`AuthError::Store`]: what is kept cannot be read, or not be forgotten.
    pub async fn logout(&self, url: &str) -> Result<LoggedOut, AuthError> {
        let name = session::name(&self.plan, url.trim());
        let turn = self.turns.of(&name);
        // Nobody is to refresh meanwhile what is revoked here.
        let _turn = turn.lock().await;
        let (store, entry) = (self.store.clone(), name.clone());
        let kept = unblock(move || store.get(&entry)).await;
        let Some(kept) = kept.map_err(|error| AuthError::Store(error.to_string()))? else {
            return Ok(LoggedOut::Unknown);
        };
        let end = match serde_json::from_str::<Tokens>(kept.expose()) {
            Ok(tokens) => match self.revoke(tokens, url.trim()).await {
                Ok(true) => LoggedOut::Revoked,
                Ok(false) => LoggedOut::Forgotten,
                Err(error) => LoggedOut::Unrevoked(error),
            },
            // Of another version of this crate.
            Err(_) => LoggedOut::Forgotten,
        };
        let store = self.store.clone();
        let forgotten = unblock(move || store.set(&name, None)).await;
        forgotten.map_err(|error| AuthError::Store(error.to_string()))?;
        Ok(end)
    }

    /// Whether the authorization server offers this.
    async fn revoke(&self, tokens: Tokens, url: &str) -> Result<bool, AuthError> {
        let mut http = io::Client::builder().redirects(false);
        for authority in &self.authorities {
            http = http.authorities(authority.clone());
        }
        let http = http.build().map_err(|error| AuthError::Unreachable {
            url: tokens.issuer.clone(),
            reason: error.to_string(),
        })?;
        let Some(server) = metadata(&http, &tokens.issuer, url).await? else {
            return Ok(false);
        };
        let Some(endpoint) = server.revocation_endpoint else {
            return Ok(false);
        };
        check(&endpoint, url)?;
        let client = tokens.client.credentials(&self.plan);
        let refresh = tokens.refresh.map(|token| (token, "refresh_token"));
        let has_refresh = refresh.is_some();
        let both = refresh.into_iter().chain([(tokens.access, "access_token")]);
        for (token, hint) in both {
            let exchange = Exchange {
                endpoint: endpoint.clone(),
                issuer: tokens.issuer.clone(),
                method: tokens.client.method,
                client: client.clone(),
                parameters: vec![("token", token), ("token_type_hint", Secret::new(hint))],
            };
            let reply = request(&http, &exchange.ask(None)?).await?;
            if reply.is_success() {
                continue;
            }
            let error = refusal(&endpoint, &reply);
            // Such tokens cannot be revoked, and no more of them are given.
            let spared = matches!(&error, AuthError::Refused { error, .. } if error == "unsupported_token_type");
            if !spared || hint == "refresh_token" || !has_refresh {
                return Err(error);
            }
        }
        Ok(true)
    }
}

/// What the authorization server says about itself, if it says anything (DSC-04, DSC-06).
async fn metadata(
    http: &io::Client,
    issuer: &str,
    url: &str,
) -> Result<Option<ServerMetadata>, AuthError> {
    for place in discovery::server(issuer) {
        check(&place, url)?;
        let reply = request(http, &Ask::get(&place)).await?;
        if !reply.is_success() {
            continue;
        }
        let Ok(server) = read::<ServerMetadata>(&place, &reply.body) else {
            continue;
        };
        if !is_same_issuer(&server.issuer, issuer) {
            return Err(AuthError::Issuer {
                found: excerpt(&server.issuer),
                expected: issuer.to_owned(),
            });
        }
        return Ok(Some(server));
    }
    Ok(None)
}

async fn request(http: &io::Client, ask: &Ask) -> Result<super::token::Reply, AuthError> {
    let reply = fetch(http, ask).await;
    let reply = reply.map_err(|reason| AuthError::Unreachable {
        url: ask.url.clone(),
        reason,
    })?;
    if matches!(reply.status, 500.. | 429) {
        return Err(refusal(&ask.url, &reply));
    }
    Ok(reply)
}
