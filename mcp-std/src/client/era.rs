//! Which era a program is of, remembered.

use core::hash::BuildHasher;
use std::collections::HashMap;
use std::hash::RandomState;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_core::model::ProtocolVersion;
use mcp_io::child::Command;

/// Remembers of which era the programs are that were started, so that an old one is not asked for what it does not know
/// each time. Its clones are one; many clients can share it.
///
/// A program is known by its command: name, arguments, folder and variables. A verdict that proves wrong is forgotten.
#[derive(Clone, Debug, Default)]
pub struct EraCache(Arc<Known>);

#[derive(Debug, Default)]
struct Known {
    hasher: RandomState,
    /// By the fingerprint of the command, so that no secret of an environment stays here.
    eras: Mutex<HashMap<u64, ProtocolVersion>>,
}

/// A program, as far as this is concerned.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Program(u64);

impl EraCache {
    /// Nothing is known.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The revision that was last spoken with the server that this command starts, if it is known.
    #[must_use]
    pub fn get(&self, command: &Command) -> Option<ProtocolVersion> {
        self.of(self.program(command))
    }

    /// Forgets everything.
    pub fn clear(&self) {
        self.lock().clear();
    }

    pub(crate) fn program(&self, command: &Command) -> Program {
        Program(self.0.hasher.hash_one(command))
    }

    /// The revision that was last spoken with the server at this URL, if it is known.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn get_url(&self, url: &str) -> Option<ProtocolVersion> {
        self.of(self.url(url.trim()))
    }

    /// A server at a URL: two of them at one origin can be of different eras (VER-08).
    #[cfg(feature = "http")]
    pub(crate) fn url(&self, url: &str) -> Program {
        Program(self.0.hasher.hash_one(url))
    }

    pub(crate) fn of(&self, program: Program) -> Option<ProtocolVersion> {
        self.lock().get(&program.0).copied()
    }

    pub(crate) fn set(&self, program: Program, version: ProtocolVersion) {
        self.lock().insert(program.0, version);
    }

    pub(crate) fn forget(&self, program: Program) {
        self.lock().remove(&program.0);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<u64, ProtocolVersion>> {
        self.0.eras.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_for_one_command_and_seen_by_all_who_share() {
        let eras = EraCache::new();
        let old = Command::new("server").arg("--old");
        let program = eras.program(&old);
        eras.set(program, ProtocolVersion::V2025_06_18);
        let shared = eras.clone();
        assert_eq!(shared.get(&old), Some(ProtocolVersion::V2025_06_18));
        let keyed = old.clone().env("KEY", "1");
        assert_eq!(shared.get(&keyed), None);
        eras.set(eras.program(&keyed), ProtocolVersion::V2025_11_25);
        assert_eq!(shared.get(&keyed.env("KEY", "2")), None);
        assert_eq!(shared.get(&Command::new("server")), None);
        shared.forget(program);
        assert_eq!(eras.get(&old), None);
    }
}
