//! The keyring of the user's system.

use std::io;

use keyring::{Entry, Error};

use super::{Secret, TokenStore};

/// Keeps them in the keyring of the user's system: the Keychain of macOS, the Credential Manager of Windows, elsewhere
/// whatever serves as Secret Service on the session's D-Bus (GNOME Keyring, KWallet, KeePassXC). Each is an entry of the
/// program's, which the system encrypts, and may ask its user to open.
///
/// An entry of Windows holds 2560 bytes: what is longer is refused there, and a token that is refused is used and not kept.
/// A machine without a desktop has no such keyring as a rule: [`FileStore`](super::FileStore) is for those.
#[derive(Debug)]
pub struct KeyringStore {
    program: String,
}

impl KeyringStore {
    /// For this program, under whose name the user finds the entries.
    #[must_use]
    pub fn new(program: impl Into<String>) -> Self {
        Self {
            program: program.into(),
        }
    }

    fn entry(&self, name: &str) -> io::Result<Entry> {
        Entry::new(&self.program, name).map_err(fault)
    }
}

impl TokenStore for KeyringStore {
    fn get(&self, name: &str) -> io::Result<Option<Secret>> {
        let kept = match self.entry(name)?.get_secret() {
            Ok(kept) => kept,
            Err(Error::NoEntry) => return Ok(None),
            Err(error) => return Err(fault(error)),
        };
        let text = String::from_utf8(kept);
        let text = text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is no text"))?;
        Ok(Some(Secret::new(text)))
    }

    fn set(&self, name: &str, value: Option<&Secret>) -> io::Result<()> {
        let entry = self.entry(name)?;
        let done = match value {
            Some(value) => entry.set_secret(value.expose().as_bytes()),
            None => entry.delete_credential(),
        };
        match done {
            // It was not there.
            Err(Error::NoEntry) => Ok(()),
            done => done.map_err(fault),
        }
    }
}

/// What the keyring says, in words: some errors carry what is kept.
fn fault(error: Error) -> io::Error {
    let reason = match Entry::store_status() {
        Err(reason) if matches!(error, Error::NoDefaultStore) => reason,
        Err(_) | Ok(()) => &error,
    };
    io::Error::other(format!("the keyring: {reason}"))
}
