//! `requestState`: what a server has to remember between two rounds of one call, kept by the client and sealed.
//!
//! ```text
//!  base64url( 1 | expiry | round | own state | answers | HMAC-SHA256(key, all before | digest of the call) )
//! ```
//!
//! The digest of the call (who calls, method, name, arguments) is not in the text but under the seal: a state that is
//! returned with any other call does not open (basic/patterns/mrtr, "Server Requirements").

#[cfg(test)]
mod tests;

use core::time::Duration;
use std::time::{SystemTime, UNIX_EPOCH};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use mcp_core::json::RawJson;
use sha2::Sha256;

use super::digest::Digest;

/// The layout that this version of the crate writes, and the only one it reads.
const LAYOUT: u8 = 1;
const TAG: usize = 32;

/// Seals states and opens them again. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Sealer {
    mac: Hmac<Sha256>,
    lifetime: Duration,
}

/// Which call a state belongs to.
#[derive(Clone, Copy)]
pub(crate) struct Binding<'a> {
    /// Who calls, where a transport knows that.
    pub(crate) principal: Option<&'a str>,
    pub(crate) method: &'a str,
    /// The tool, prompt or resource.
    pub(crate) name: &'a str,
    pub(crate) arguments: Option<RawJson<'a>>,
}

/// What is sealed.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct State {
    /// How many rounds have been asked.
    pub(crate) round: u16,
    /// What the handler wants back, if it steers by itself.
    pub(crate) own: Option<String>,
    /// What was asked, in the order of asking.
    pub(crate) asked: Vec<Asked>,
}

/// One question to the client.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Asked {
    pub(crate) kind: u8,
    /// Of the method and all it says: a handler that is run again has to ask the same.
    pub(crate) digest: [u8; 16],
    /// The result, JSON text; `None` if it is still awaited.
    pub(crate) answer: Option<String>,
}

/// Why a state is refused.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum StateFault {
    /// Not sealed by this server for this call, or altered since.
    Foreign,
    Expired,
}

impl Sealer {
    pub(crate) fn new(key: [u8; 32], lifetime: Duration) -> Self {
        Self {
            mac: Hmac::new_from_slice(&key).expect("any length will do"),
            lifetime,
        }
    }

    /// Seals a state for one call; it opens until its lifetime is over.
    pub(crate) fn seal(&self, binding: Binding<'_>, state: &State, now: SystemTime) -> String {
        let expiry = seconds(now).saturating_add(self.lifetime.as_secs());
        let mut bytes = vec![LAYOUT];
        bytes.extend(expiry.to_le_bytes());
        bytes.extend(state.round.to_le_bytes());
        write_option(&mut bytes, state.own.as_deref());
        write_length(&mut bytes, state.asked.len());
        for asked in &state.asked {
            bytes.push(asked.kind);
            bytes.extend(asked.digest);
            write_option(&mut bytes, asked.answer.as_deref());
        }
        let tag = self.mac(&bytes, binding).finalize().into_bytes();
        bytes.extend(tag);
        URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Opens what a client has sent back with a call.
    pub(crate) fn open(
        &self,
        binding: Binding<'_>,
        text: &str,
        now: SystemTime,
    ) -> Result<State, StateFault> {
        let bytes = URL_SAFE_NO_PAD
            .decode(text)
            .map_err(|_| StateFault::Foreign)?;
        let split = bytes.len().checked_sub(TAG).ok_or(StateFault::Foreign)?;
        let (body, tag) = bytes.split_at(split);
        // In constant time. Nothing of the body is looked at before.
        self.mac(body, binding)
            .verify_slice(tag)
            .map_err(|_| StateFault::Foreign)?;
        // A body that is sealed and cannot be read is of another version of this crate with the same key.
        let (expiry, state) = Reader(body).state().ok_or(StateFault::Foreign)?;
        if seconds(now) > expiry {
            return Err(StateFault::Expired);
        }
        Ok(state)
    }

    fn mac(&self, body: &[u8], binding: Binding<'_>) -> Hmac<Sha256> {
        let mut digest = Digest::new();
        digest.option(binding.principal);
        digest.text(binding.method);
        digest.text(binding.name);
        match binding.arguments {
            Some(arguments) => digest.json(arguments),
            // The same to every handler.
            None => digest.json(RawJson::parse(b"{}").expect("an object")),
        }
        let mut mac = self.mac.clone();
        mac.update(body);
        mac.update(&digest.finish());
        mac
    }
}

fn seconds(now: SystemTime) -> u64 {
    now.duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

fn write_length(bytes: &mut Vec<u8>, length: usize) {
    bytes.extend((length as u64).to_le_bytes());
}

fn write_option(bytes: &mut Vec<u8>, text: Option<&str>) {
    bytes.push(u8::from(text.is_some()));
    if let Some(text) = text {
        write_length(bytes, text.len());
        bytes.extend(text.as_bytes());
    }
}

/// Takes a body apart. It is authentic; all the same nothing here trusts a length.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn length(&mut self) -> Option<usize> {
        usize::try_from(u64::from_le_bytes(self.array()?)).ok()
    }

    fn option(&mut self) -> Option<Option<String>> {
        match self.array()? {
            [0] => Some(None),
            [1] => {
                let length = self.length()?;
                let text = String::from_utf8(self.take(length)?.to_vec()).ok()?;
                Some(Some(text))
            }
            _ => None,
        }
    }

    fn state(mut self) -> Option<(u64, State)> {
        if self.array()? != [LAYOUT] {
            return None;
        }
        let expiry = u64::from_le_bytes(self.array()?);
        let round = u16::from_le_bytes(self.array()?);
        let own = self.option()?;
        let count = self.length()?;
        let mut asked = Vec::new();
        for _ in 0..count {
            let [kind] = self.array()?;
            asked.push(Asked {
                kind,
                digest: self.array()?,
                answer: self.option()?,
            });
        }
        self.0
            .is_empty()
            .then_some((expiry, State { round, own, asked }))
    }
}
