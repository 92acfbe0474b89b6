//! What a user has agreed to.

use std::collections::HashMap;

use super::{Skill, SkillFiles};

/// The skills that a user has agreed to: each by the label that the host has given its server, and its URI, and only with the
/// very files that it had. A skill that changes has to be approved again; so has one nested in another; those whose files
/// cannot be checked cannot be.
#[derive(Clone, Debug, Default, Eq, PartialEq, serde::Deserialize, serde::Serialize)]
#[serde(transparent)]
pub struct Approvals {
    /// Fingerprints, by server and URI.
    by_server: HashMap<String, HashMap<String, String>>,
}

impl Approvals {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The user has agreed to this skill of this server, as it is now. `false`: it cannot be bound to its content.
    pub fn approve(&mut self, server: &str, skill: &Skill) -> bool {
        if skill.check().is_err() || !matches!(skill.resources, SkillFiles::Listed(_)) {
            return false;
        }
        let skills = self.by_server.entry(server.to_owned()).or_default();
        skills.insert(skill.uri.clone(), skill.fingerprint());
        true
    }

    /// The user has taken it back. Whether there was one.
    pub fn revoke(&mut self, server: &str, uri: &str) -> bool {
        let skills = self.by_server.get_mut(server);
        skills.is_some_and(|skills| skills.remove(uri).is_some())
    }

    /// Whether the user has agreed to this skill of this server, as it is now.
    #[must_use]
    pub fn is_approved(&self, server: &str, skill: &Skill) -> bool {
        let skills = self.by_server.get(server);
        let approved = skills.and_then(|skills| skills.get(&skill.uri));
        approved.is_some_and(|approved| *approved == skill.fingerprint())
    }
}
