//! What is kept, and what others have kept meanwhile.

use core::time::Duration;
use std::sync::Arc;

use async_io::Timer;
use serde::Serialize;
use serde::de::DeserializeOwned;
use smol::unblock;

use super::{Origin, Session};
use crate::auth::dpop::Prover;
use crate::auth::driver::client;
use crate::auth::error::AuthError;
use crate::auth::flow::Trigger;
use crate::auth::registration::Registration;
use crate::auth::token::Tokens;
use crate::auth::{Plan, Secret};

/// So long another program may take from the answer of the authorization server to the store.
const MEANWHILE: Duration = Duration::from_millis(300);

impl Session {
    /// REG-09: where nobody has said which authorization server a secret is for, it is for the first one that has taken it,
    /// whatever the server at the URL names later. The name that this is to be kept under, if it is the first time.
    pub(super) async fn pinned(&self) -> Result<(Arc<Plan>, Option<String>), AuthError> {
        let Some(credentials) = self.plan.shown() else {
            return Ok((self.plan.clone(), None));
        };
        let name = format!("issuer {} {}", credentials.id, self.url);
        let Some(issuer) = self.load::<String>(&name).await? else {
            return Ok((self.plan.clone(), Some(name)));
        };
        let mut plan = (*self.plan).clone();
        plan.credentials = Some(credentials.clone().issuer(issuer));
        Ok((Arc::new(plan), None))
    }

    /// An authorization server that does not know this client any more gets to register it the next time, unless another
    /// program has seen to that.
    pub(in crate::auth) async fn unlearn(&self, issuer: &str, id: &str) {
        let name = client(issuer);
        let forgotten = match self.load::<Registration>(&name).await {
            Ok(Some(kept)) if kept.client_id == id => self.save::<()>(&name, None).await,
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        if let Err(error) = forgotten {
            tracing::warn!(%error, "a registration that is over stays");
        }
    }

    /// Reads what is kept, once.
    pub(super) async fn restore(&self) {
        if self.state().loaded {
            return;
        }
        let _reading = self.restoring.lock().await;
        if self.state().loaded {
            return;
        }
        self.adopt(None, &Trigger::default()).await;
        self.state().loaded = true;
    }

    /// Takes what is kept in place of `held`, if it is news: another program may have replaced it. What scopes are missing
    /// it has to have.
    pub(super) async fn adopt(&self, held: Option<&Tokens>, trigger: &Trigger) -> bool {
        let kept = match self.load::<Tokens>(&self.name).await {
            Ok(kept) => kept,
            Err(error) => {
                tracing::warn!(%error, "what is kept is not used");
                None
            }
        };
        let stored = self.state().stored.clone();
        let known = [held.map(|held| &held.access), stored.as_ref()];
        let Some(kept) = kept.filter(|kept| !known.contains(&Some(&kept.access))) else {
            return false;
        };
        let wanted = trigger.scopes.as_ref().filter(|_| trigger.step_up);
        if wanted.is_some_and(|wanted| !kept.granted().has_all(wanted)) {
            return false;
        }
        self.take(kept)
    }

    /// Uses what was kept from now on.
    pub(super) fn take(&self, kept: Tokens) -> bool {
        let prover = kept.dpop.as_ref().map(Prover::restore);
        let Ok(prover) = prover.transpose() else {
            return false;
        };
        let mut state = self.state();
        state.generation += 1;
        state.origin = Origin::Known;
        state.prover = prover.map(Arc::new);
        state.logins += 1;
        state.stored = Some(kept.access.clone());
        state.tokens = Some(Arc::new(kept));
        true
    }

    /// What is kept, once another program had the time to write it that has used the same refresh token as `held` has.
    pub(in crate::auth) async fn reload(
        &self,
        held: Option<&Tokens>,
    ) -> Result<Option<Tokens>, AuthError> {
        let kept = self.load::<Tokens>(&self.name).await?;
        let same = |kept: &Tokens| held.is_some_and(|held| held.refresh == kept.refresh);
        if !kept.as_ref().is_some_and(same) {
            return Ok(kept);
        }
        Timer::after(MEANWHILE).await;
        self.load(&self.name).await
    }

    pub(in crate::auth) async fn load<T: DeserializeOwned>(
        &self,
        name: &str,
    ) -> Result<Option<T>, AuthError> {
        let (store, name) = (self.auth.store.clone(), name.to_owned());
        let kept = unblock(move || store.get(&name)).await;
        let kept = kept.map_err(|error| AuthError::Store(error.to_string()))?;
        // What another version of this crate has written, or nobody: as if nothing was there.
        Ok(kept.and_then(|kept| serde_json::from_str(kept.expose()).ok()))
    }

    pub(in crate::auth) async fn save<T: Serialize>(
        &self,
        name: &str,
        value: Option<&T>,
    ) -> Result<(), AuthError> {
        let value = value.map(serde_json::to_string).transpose();
        let value = value.map_err(|error| AuthError::Store(error.to_string()))?;
        let (store, name) = (self.auth.store.clone(), name.to_owned());
        let kept = unblock(move || store.set(&name, value.map(Secret::new).as_ref())).await;
        kept.map_err(|error| AuthError::Store(error.to_string()))
    }
}
