//! What a token says.

use core::fmt;
use core::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

use super::verifier::Rejection;

/// What a genuine token says, by the names of RFC 7519, RFC 9068 and RFC 7662: `iss`, `aud`, `exp`, `nbf`, `iat`, `sub`,
/// `client_id`, `scope`, and whatever its issuer adds.
#[derive(Clone, Default, PartialEq)]
pub struct Claims(Map<String, Value>);

impl Claims {
    /// Of a subject. Without an `aud` that names the resource nothing comes of it.
    pub fn new(subject: impl Into<String>) -> Self {
        Self::default().with("sub", subject.into())
    }

    /// Sets a claim.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.0.insert(name.into(), value.into());
        self
    }

    /// A claim.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name)
    }

    pub(super) fn text(&self, name: &str) -> Option<&str> {
        self.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    pub(super) fn set_default(&mut self, name: &str, value: &str) {
        self.0
            .entry(name)
            .or_insert_with(|| Value::String(value.to_owned()));
    }

    /// The scopes: a text with blanks between them (RFC 9068), or a list, which some issuers write, also as `scp`.
    pub(super) fn scopes(&self) -> Vec<&str> {
        let claim = self.get("scope").or_else(|| self.get("scp"));
        match claim {
            Some(Value::String(text)) => text.split(' ').filter(|it| !it.is_empty()).collect(),
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).collect(),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
                Vec::new()
            }
        }
    }

    /// RSV-04, SEC-06: the token is one of this issuer, for one of these audiences, and now is its time. All of them are
    /// compared as they are written.
    pub(super) fn check(
        &self,
        issuer: &str,
        audiences: &[Box<str>],
        now: SystemTime,
        skew: Duration,
    ) -> Result<(), Rejection> {
        if self.text("iss") != Some(issuer) {
            return Err(Rejection::invalid("The access token is of another issuer"));
        }
        if !self.is_for(audiences) {
            let reason = "The access token is not for this resource";
            return Err(Rejection::invalid(reason));
        }
        // Whoever shows it would have to prove that it holds the key, which is not looked at here.
        if self.get("cnf").is_some() {
            let reason = "The access token is bound to a key, and such are not accepted";
            return Err(Rejection::invalid(reason));
        }
        let now = seconds(now);
        let skew = skew.as_secs_f64();
        if self.time("exp")?.is_some_and(|exp| now >= exp + skew) {
            return Err(Rejection::invalid("The access token has expired"));
        }
        if self.time("nbf")?.is_some_and(|nbf| now < nbf - skew) {
            return Err(Rejection::invalid("The access token is not valid yet"));
        }
        if self.time("iat")?.is_some_and(|iat| now < iat - skew) {
            let reason = "The access token was issued in the future";
            return Err(Rejection::invalid(reason));
        }
        Ok(())
    }

    fn is_for(&self, audiences: &[Box<str>]) -> bool {
        let ours = |text: &str| audiences.iter().any(|ours| **ours == *text);
        match self.get("aud") {
            Some(Value::String(text)) => ours(text),
            Some(Value::Array(list)) => list.iter().filter_map(Value::as_str).any(ours),
            Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => {
                false
            }
        }
    }

    /// Seconds since 1970, which may have a fraction. What is no such number is not passed over, or a token whose end
    /// cannot be read would have none.
    fn time(&self, name: &str) -> Result<Option<f64>, Rejection> {
        let Some(claim) = self.get(name) else {
            return Ok(None);
        };
        let time = claim.as_f64().filter(|time| time.is_finite());
        let reason = "The times of the access token cannot be read";
        time.map(Some).ok_or(Rejection::invalid(reason))
    }

    /// How long the token is still good, without any skew.
    pub(super) fn remaining(&self, now: SystemTime) -> Option<Duration> {
        let exp = self.time("exp").ok().flatten()?;
        Some(Duration::try_from_secs_f64(exp - seconds(now)).unwrap_or(Duration::ZERO))
    }

    /// When it is not good any more; `None` if it does not say, or that is as good as never.
    pub(super) fn end(&self, skew: Duration) -> Option<SystemTime> {
        let exp = self.time("exp").ok().flatten()?;
        let since = Duration::try_from_secs_f64(exp).ok()?;
        UNIX_EPOCH.checked_add(since)?.checked_add(skew)
    }

    pub(super) fn has_end(&self) -> bool {
        self.get("exp").is_some()
    }

    /// Those of these names.
    pub(super) fn select(&self, names: &[String]) -> Map<String, Value> {
        let known = names.iter().filter_map(|name| self.0.get_key_value(name));
        known
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }
}

impl From<Map<String, Value>> for Claims {
    fn from(claims: Map<String, Value>) -> Self {
        Self(claims)
    }
}

impl fmt::Debug for Claims {
    /// Their names only: what they say is about people.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

fn seconds(time: SystemTime) -> f64 {
    time.duration_since(UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const NOW: u64 = 1_800_000_000;

    fn check(change: Value) -> Result<(), &'static str> {
        let mut claims = json!({ "iss": "https://as", "aud": "https://rs/mcp", "exp": NOW + 60 });
        for (name, value) in change.as_object().expect("an object") {
            claims[name] = value.clone();
        }
        let claims = Claims::from(claims.as_object().expect("an object").clone());
        let now = UNIX_EPOCH + Duration::from_secs(NOW);
        let audiences = ["https://rs/mcp".into(), "api".into()];
        claims
            .check("https://as", &audiences, now, Duration::from_secs(30))
            .map_err(|it| it.reason)
    }

    /// RSV-04.
    #[test]
    fn claims_are_compared_as_they_are_written() {
        for good in [
            json!({}),
            json!({ "aud": "api" }),
            json!({ "aud": ["x", "https://rs/mcp"] }),
            json!({ "exp": NOW - 29, "nbf": NOW + 30, "iat": NOW + 30 }),
            json!({ "exp": (NOW as f64) + 0.5 }),
        ] {
            assert_eq!(check(good.clone()), Ok(()), "{good}");
        }
        for bad in [
            json!({ "iss": "https://as/" }),
            json!({ "iss": "https://AS" }),
            json!({ "iss": null }),
            json!({ "iss": ["https://as"] }),
            json!({ "aud": "https://rs/mcp/" }),
            json!({ "aud": "https://rs" }),
            json!({ "aud": "https://RS/mcp" }),
            json!({ "aud": [] }),
            json!({ "aud": null }),
            json!({ "aud": { "x": "https://rs/mcp" } }),
            json!({ "exp": NOW - 30 }),
            json!({ "exp": "never" }),
            json!({ "exp": null }),
            json!({ "nbf": NOW + 31 }),
            json!({ "nbf": {} }),
            json!({ "iat": NOW + 31 }),
        ] {
            assert!(check(bad.clone()).is_err(), "{bad}");
        }
    }

    #[test]
    fn scopes_are_texts_or_lists() {
        let scopes = |claims: Value| {
            let claims = Claims::from(claims.as_object().expect("an object").clone());
            claims.scopes().join(",")
        };
        assert_eq!(scopes(json!({ "scope": " a  b " })), "a,b");
        assert_eq!(scopes(json!({ "scp": ["a", 1, "b"] })), "a,b");
        assert_eq!(scopes(json!({ "scp": "a b" })), "a,b");
        assert_eq!(scopes(json!({ "scope": "a", "scp": ["b"] })), "a");
        assert_eq!(scopes(json!({ "scope": 7 })), "");
        assert_eq!(scopes(json!({})), "");
    }
}
