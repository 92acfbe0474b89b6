//! What is remembered of tools: what they were when they were first seen, and which of them may be called unasked.

use core::fmt::Write as _;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use super::config::ConfigError;
use super::guard::Rule;
use super::offer::ToolDigest;

/// Definitions that were seen, by their digests, and approvals that hold for them. Its clones are one.
///
/// An approval is of a server, a tool and its definition: when the definition changes, it does not hold any more. So is what is
/// [accepted](super::Host::accept).
///
/// ```
/// use mcp_std::host::TrustStore;
///
/// let store = TrustStore::new();
/// let kept = store.to_json();
/// assert!(TrustStore::from_json(&kept).is_ok());
/// ```
#[derive(Clone, Debug, Default)]
pub struct TrustStore(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// By server and tool.
    tools: BTreeMap<(String, String), Record>,
    /// Grows with what changes what is offered.
    revision: u64,
}

#[derive(Clone, Copy, Debug)]
struct Record {
    digest: ToolDigest,
    approved: bool,
    /// What was found of this definition and accepted: a bit for each rule.
    accepted: u16,
}

impl Record {
    const fn new(digest: ToolDigest) -> Self {
        Self {
            digest,
            approved: false,
            accepted: 0,
        }
    }
}

const fn bit(rule: Rule) -> u16 {
    1 << rule as u16
}

impl Known {
    /// What is known of a tool: this, if it was never seen.
    fn record(&mut self, server: &str, tool: &str, digest: ToolDigest) -> &mut Record {
        let key = (server.to_owned(), tool.to_owned());
        self.tools.entry(key).or_insert(Record::new(digest))
    }
}

impl TrustStore {
    /// Nothing is known.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What [`to_json`](Self::to_json) wrote.
    ///
    /// # Errors
    ///
    /// It is something else.
    pub fn from_json(text: &str) -> Result<Self, ConfigError> {
        let fault = |fault: &str| ConfigError::new("tools", fault);
        let value: Value = serde_json::from_str(text).map_err(|error| fault(&error.to_string()))?;
        let tools = value["tools"]
            .as_array()
            .ok_or_else(|| fault("it is no array"))?;
        let mut known = Known::default();
        for (at, tool) in tools.iter().enumerate() {
            let fault = || ConfigError::new(format!("tools[{at}]"), "it is no record of a tool");
            let text = |name: &str| tool[name].as_str().ok_or_else(fault);
            let key = (text("server")?.to_owned(), text("tool")?.to_owned());
            let digest = read_hex(text("digest")?).ok_or_else(fault)?;
            let approved = tool["approved"].as_bool().ok_or_else(fault)?;
            // Not there: nothing was accepted.
            let accepted = tool["accepted"].as_array().into_iter().flatten();
            let accepted = accepted.filter_map(|rule| Rule::named(rule.as_str()?));
            let record = Record {
                digest,
                approved,
                accepted: accepted.fold(0, |all, rule| all | bit(rule)),
            };
            known.tools.insert(key, record);
        }
        Ok(Self(Arc::new(Mutex::new(known))))
    }

    /// All of it, for [`from_json`](Self::from_json).
    #[must_use]
    pub fn to_json(&self) -> String {
        let known = self.lock();
        let tools = known.tools.iter().map(|((server, tool), record)| {
            json!({
                "server": server,
                "tool": tool,
                "digest": hex(&record.digest),
                "approved": record.approved,
                "accepted": Rule::ALL
                    .into_iter()
                    .filter(|rule| record.accepted & bit(*rule) != 0)
                    .map(Rule::as_str)
                    .collect::<Vec<_>>(),
            })
        });
        let tools: Vec<_> = tools.collect();
        format!("{:#}\n", json!({ "tools": tools }))
    }

    /// Reads a file, or begins with nothing if there is none.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is none that [`save`](Self::save) wrote.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, ConfigError> {
        let path = path.as_ref();
        match std::fs::read_to_string(path) {
            Ok(text) => Self::from_json(&text),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Self::new()),
            Err(error) => Err(ConfigError::new("", format!("{}: {error}", path.display()))),
        }
    }

    /// Writes a file: all of it, or what was there stays.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn save(&self, path: impl AsRef<Path>) -> std::io::Result<()> {
        let path = path.as_ref();
        let mut beside = path.as_os_str().to_owned();
        beside.push(".new");
        let mut file = std::fs::File::create(&beside)?;
        file.write_all(self.to_json().as_bytes())?;
        file.sync_all()?;
        std::fs::rename(beside, path)
    }

    /// Whether a definition is the one that is known. One that was never seen is known from now on.
    pub(crate) fn is_unchanged(&self, server: &str, tool: &str, digest: ToolDigest) -> bool {
        self.lock().record(server, tool, digest).digest == digest
    }

    /// What this rule found of this definition is accepted. If it found that the tool has changed, this is the definition that
    /// is known from now on, and nobody has approved of calls of it yet. `false`: another definition is the known one.
    pub(crate) fn accept(&self, server: &str, tool: &str, digest: ToolDigest, rule: Rule) -> bool {
        let mut known = self.lock();
        let record = known.record(server, tool, digest);
        if record.digest != digest {
            if rule != Rule::ChangedDefinition {
                return false;
            }
            *record = Record::new(digest);
        }
        record.accepted |= bit(rule);
        known.revision += 1;
        true
    }

    pub(crate) fn is_accepted(
        &self,
        server: &str,
        tool: &str,
        digest: ToolDigest,
        rule: Rule,
    ) -> bool {
        let known = self.lock();
        let record = known.tools.get(&(server.to_owned(), tool.to_owned()));
        record.is_some_and(|record| record.digest == digest && record.accepted & bit(rule) != 0)
    }

    /// Calls of this definition need no approval any more, unless another one is the known one by now: whoever approves has
    /// seen this one only.
    pub(crate) fn approve(&self, server: &str, tool: &str, digest: ToolDigest) {
        let mut known = self.lock();
        let record = known.record(server, tool, digest);
        if record.digest == digest {
            record.approved = true;
            known.revision += 1;
        }
    }

    /// This is the definition that is known, whatever was: where nobody watches for changes.
    pub(crate) fn replace(&self, server: &str, tool: &str, digest: ToolDigest) {
        let mut known = self.lock();
        let record = known.record(server, tool, digest);
        if record.digest != digest {
            *record = Record::new(digest);
        }
    }

    pub(crate) fn is_approved(&self, server: &str, tool: &str, digest: ToolDigest) -> bool {
        let known = self.lock();
        let record = known.tools.get(&(server.to_owned(), tool.to_owned()));
        record.is_some_and(|record| record.approved && record.digest == digest)
    }

    /// Forgets all approvals, and keeps the definitions.
    pub fn forget_approvals(&self) {
        let mut known = self.lock();
        known
            .tools
            .values_mut()
            .for_each(|record| record.approved = false);
        known.revision += 1;
    }

    pub(crate) fn revision(&self) -> u64 {
        self.lock().revision
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // Each change is one insertion: there is no half of one.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn read_hex(text: &str) -> Option<ToolDigest> {
    let mut digest = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return None;
    }
    for (at, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * at..2 * at + 2], 16).ok()?;
    }
    Some(digest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_definition_is_known_from_the_first_time_on_and_an_approval_is_of_one() {
        let store = TrustStore::new();
        assert!(store.is_unchanged("a", "t", [1; 32]));
        assert!(!store.is_unchanged("a", "t", [2; 32]));
        store.approve("a", "t", [1; 32]);
        assert!(store.is_approved("a", "t", [1; 32]));
        assert!(!store.is_approved("a", "t", [2; 32]));
        assert!(!store.is_approved("b", "t", [1; 32]));
        let again = TrustStore::from_json(&store.to_json()).expect("it was written so");
        assert!(again.is_approved("a", "t", [1; 32]) && !again.is_unchanged("a", "t", [2; 32]));
        // Only a change makes another definition the known one.
        assert!(!again.accept("a", "t", [2; 32], Rule::Shadowing));
        assert!(again.accept("a", "t", [2; 32], Rule::ChangedDefinition));
        assert!(again.is_unchanged("a", "t", [2; 32]) && !again.is_approved("a", "t", [2; 32]));
        // Who was asked of the old one, and answers now, has not seen this one.
        again.approve("a", "t", [1; 32]);
        assert!(again.is_unchanged("a", "t", [2; 32]) && !again.is_approved("a", "t", [1; 32]));
        assert!(again.accept("a", "t", [2; 32], Rule::Shadowing));
        let again = TrustStore::from_json(&again.to_json()).expect("it was written so");
        assert!(again.is_accepted("a", "t", [2; 32], Rule::Shadowing));
        assert!(!again.is_accepted("a", "t", [2; 32], Rule::Links));
        assert!(!again.is_accepted("a", "t", [1; 32], Rule::Shadowing));
    }

    #[test]
    fn what_is_no_store_is_refused() {
        for text in [
            "",
            "{}",
            r#"{"tools":[{}]}"#,
            r#"{"tools":[{"server":"a","tool":"b","digest":"00","approved":true}]}"#,
        ] {
            assert!(TrustStore::from_json(text).is_err(), "{text}");
        }
    }
}
