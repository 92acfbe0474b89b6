//! What a token has to be good for.

use std::collections::BTreeMap;

use mcp_core::engine::server::Message;
use mcp_core::json::RawJson;
use mcp_core::{EnvelopeFault, Limits, PeerFault};

use crate::server::principal::Principal;

type Scopes = Vec<Box<str>>;

/// Which scopes what takes. It is the body of a request that decides what is asked for, and never its headers (VAL-06).
#[derive(Clone, Debug, Default)]
pub(super) struct Rules {
    /// For anything at all.
    pub(super) base: Scopes,
    pub(super) methods: BTreeMap<Box<str>, Scopes>,
    pub(super) tools: BTreeMap<Box<str>, Scopes>,
    /// Who has the one has the others.
    pub(super) implied: BTreeMap<Box<str>, Scopes>,
}

impl Rules {
    /// All scopes that are named.
    pub(super) fn all(&self) -> impl Iterator<Item = &str> {
        let lists = self.methods.values().chain(self.tools.values());
        let implied = self.implied.iter();
        let implied = implied.flat_map(|(scope, others)| core::iter::once(scope).chain(others));
        let all = self.base.iter().chain(lists.flatten()).chain(implied);
        all.map(|scope| &**scope)
    }

    /// RSV-08: these, and those that they imply, which may imply others.
    pub(super) fn expand(&self, granted: &[&str]) -> Scopes {
        let mut scopes: Scopes = Vec::new();
        let mut left: Vec<&str> = granted.to_vec();
        while let Some(scope) = left.pop() {
            if scopes.iter().any(|has| **has == *scope) {
                continue;
            }
            if let Some(others) = self.implied.get(scope) {
                left.extend(others.iter().map(|other| &**other));
            }
            scopes.push(scope.into());
        }
        scopes
    }

    /// The scopes that what is in a body takes, if the principal lacks one of them: all of them, for one round of asking
    /// its user is enough (RSV-07).
    pub(super) fn lacking<'r>(
        &'r self,
        principal: &Principal,
        message: &Message<'_>,
        body: &[u8],
        limits: &Limits,
    ) -> Option<Vec<&'r str>> {
        let mut needed: Vec<&str> = self.base.iter().map(|scope| &**scope).collect();
        if !self.methods.is_empty() || !self.tools.is_empty() {
            self.add(message, &mut needed);
            let batch = matches!(
                message.envelope(),
                Err(malformed) if malformed.fault == PeerFault::Envelope(EnvelopeFault::Batch)
            );
            if batch && let Ok(array) = RawJson::parse_with_depth(body, limits.max_depth) {
                let elements = array.as_array().into_iter().flatten();
                for element in elements {
                    self.add(&Message::read(element.as_bytes(), limits), &mut needed);
                }
            }
        }
        let has_all = needed.iter().all(|scope| principal.has_scope(scope));
        (!has_all).then_some(needed)
    }

    /// Adds what one message takes.
    fn add<'r>(&'r self, message: &Message<'_>, needed: &mut Vec<&'r str>) {
        let Some(method) = message.method() else {
            return;
        };
        let method = method.decode();
        let mut lists = [self.methods.get(&*method), None];
        if method == "tools/call" {
            let name = message.params().name.and_then(RawJson::as_string);
            lists[1] = name.and_then(|name| self.tools.get(&*name.decode()));
        }
        for scope in lists.into_iter().flatten().flatten() {
            if !needed.contains(&&**scope) {
                needed.push(scope);
            }
        }
    }
}

/// `scope-token` of RFC 6749, section 3.3, so that it can stand in a header; and none of those that are between client and
/// issuer only (RSV-09).
pub(super) fn check(scope: &str) -> Result<(), &'static str> {
    let plain = |byte: u8| matches!(byte, 0x21 | 0x23..=0x5B | 0x5D..=0x7E);
    if scope.is_empty() || !scope.bytes().all(plain) {
        return Err("it is empty, or has a blank, a quote or a backslash in it");
    }
    if scope == "offline_access" {
        return Err("it is about refresh tokens, which are no business of a resource server");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scopes(list: &[&str]) -> Scopes {
        list.iter().map(|scope| (*scope).into()).collect()
    }

    fn rules() -> Rules {
        let mut rules = Rules {
            base: scopes(&["read"]),
            ..Rules::default()
        };
        rules.methods.insert("tools/call".into(), scopes(&["call"]));
        rules
            .tools
            .insert("deploy".into(), scopes(&["deploy", "call"]));
        rules.implied.insert("admin".into(), scopes(&["deploy"]));
        rules
            .implied
            .insert("deploy".into(), scopes(&["call", "admin"]));
        rules
    }

    fn lacking(granted: &[&str], body: &str) -> Option<String> {
        let rules = rules();
        let scopes = rules.expand(granted);
        let claims = serde_json::Map::new();
        let principal = Principal::verified("https://as", Some("a"), None, scopes, claims, None);
        let limits = Limits::DEFAULT;
        let message = Message::read(body.as_bytes(), &limits);
        let principal = principal.expect("it has a subject");
        let lacking = rules.lacking(&principal, &message, body.as_bytes(), &limits);
        lacking.map(|scopes| scopes.join(" "))
    }

    /// RSV-06, RSV-07, RSV-08.
    #[test]
    fn the_body_decides() {
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        let call = |name: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":{name}}}}}"#
            )
        };
        let all = Some("read call deploy".to_owned());
        assert_eq!(lacking(&[], list).as_deref(), Some("read"));
        assert_eq!(lacking(&["read"], list), None);
        assert_eq!(
            lacking(&["read"], &call("\"x\"")).as_deref(),
            Some("read call")
        );
        assert_eq!(lacking(&["read", "call"], &call("\"x\"")), None);
        for name in ["\"deploy\"", "\"\\u0064eploy\""] {
            assert_eq!(lacking(&["read", "call"], &call(name)), all);
            assert_eq!(lacking(&["deploy"], &call(name)), all);
            assert_eq!(lacking(&["read", "admin"], &call(name)), None);
        }
        let batch = format!("[{list}, {} ,{list}]", call("\"deploy\""));
        assert_eq!(lacking(&["read", "call"], &batch), all);
        assert_eq!(lacking(&["read", "admin"], &batch), None);
    }
}
