//! Guards against what servers are known to try.
//!
//! What a server says of its tools goes to the model as it is: whoever writes it has a say in what the model does. Each rule
//! here looks for one way in which that was abused:
//!
//! | [`Rule`] | Looks for | Default |
//! | --- | --- | --- |
//! | `ChangedDefinition` | a tool that is not what it was when it was first seen, or last accepted ("rug pull") | [`Hold`](Action::Hold) |
//! | `HiddenCharacters` | characters that people do not see, and the model reads: directions of writing, zero width, tags, controls. They are taken out | [`Report`](Action::Report) |
//! | `Instructions` | descriptions that talk to the model about other things than the tool: "ignore previous instructions" | [`Report`](Action::Report) |
//! | `Shadowing` | a tool that is named like one of another server | [`Report`](Action::Report) |
//! | `CrossReference` | a description that speaks of another server, or its tools | [`Report`](Action::Report) |
//! | `UntrustedResults` | nothing: results are marked as untrusted | [`Report`](Action::Report) |
//! | `Elicitation` | questions for secrets, and pages on another host than the server's | [`Report`](Action::Report) |
//! | `Links` | icons and links that are not `https:`, or lead into this machine or its network | [`Report`](Action::Report) |
//!
//! A rule finds what looks like an attack, and cannot tell that it is one. So most only [report](Finding); a tool that is
//! [held](Action::Hold) is not offered to the model until somebody has [accepted](super::Host::accept) what was found. Each
//! can be turned [off](Action::Off):
//!
//! ```
//! use mcp_std::host::{Action, Guards, Rule};
//!
//! let guards = Guards::new().rule(Rule::HiddenCharacters, Action::Hold).rule(Rule::Shadowing, Action::Off);
//! assert_eq!(guards.action(Rule::Shadowing), Action::Off);
//! ```

mod crossing;
mod elicitation;
mod links;
#[cfg(test)]
mod tests;
mod text;

use core::fmt;
use std::sync::Arc;

use super::offer::ToolDigest;
use super::trust::hex;

pub(super) use crossing::{Described, crossings};
pub use elicitation::check_elicitation;
pub(super) use links::{check_icons, check_result};
pub(super) use text::{check_text, cleaned};

/// What is looked for: see [the module](self).
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Rule {
    /// A tool is not what it was.
    ChangedDefinition,
    /// There are characters that nobody sees.
    HiddenCharacters,
    /// A description tells the model what to do beyond the tool.
    Instructions,
    /// Two servers have tools of one name.
    Shadowing,
    /// A description speaks of another server or its tools.
    CrossReference,
    /// What comes from a server is marked as untrusted.
    UntrustedResults,
    /// A server asks the user for a secret, or sends them elsewhere.
    Elicitation,
    /// An icon or a link leads where it should not.
    Links,
}

impl Rule {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::ChangedDefinition,
        Self::HiddenCharacters,
        Self::Instructions,
        Self::Shadowing,
        Self::CrossReference,
        Self::UntrustedResults,
        Self::Elicitation,
        Self::Links,
    ];

    /// The one of this [name](Self::as_str).
    pub(super) fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|rule| rule.as_str() == name)
    }

    /// Its name, as it is written in audits: `changed-definition`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ChangedDefinition => "changed-definition",
            Self::HiddenCharacters => "hidden-characters",
            Self::Instructions => "instructions",
            Self::Shadowing => "shadowing",
            Self::CrossReference => "cross-reference",
            Self::UntrustedResults => "untrusted-results",
            Self::Elicitation => "elicitation",
            Self::Links => "links",
        }
    }
}

/// What happens when a rule finds something.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Action {
    /// It does not look.
    Off,
    /// It says so.
    Report,
    /// It says so, and the tool is not offered until it is accepted. What is no tool is only reported.
    Hold,
}

/// Which rules there are, and what they do.
#[derive(Clone, Debug)]
#[must_use]
pub struct Guards([Action; Rule::ALL.len()]);

impl Guards {
    /// The defaults.
    pub const fn new() -> Self {
        let mut actions = [Action::Report; Rule::ALL.len()];
        actions[Rule::ChangedDefinition as usize] = Action::Hold;
        Self(actions)
    }

    /// All off.
    pub const fn off() -> Self {
        Self([Action::Off; Rule::ALL.len()])
    }

    /// What this rule does.
    pub const fn rule(mut self, rule: Rule, action: Action) -> Self {
        self.0[rule as usize] = action;
        self
    }

    /// What it does.
    #[must_use]
    pub const fn action(&self, rule: Rule) -> Action {
        self.0[rule as usize]
    }

    pub(crate) fn is_on(&self, rule: Rule) -> bool {
        self.action(rule) != Action::Off
    }
}

impl Default for Guards {
    fn default() -> Self {
        Self::new()
    }
}

/// A rule has found something.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// Which rule.
    pub rule: Rule,
    /// The server, by its name in the configuration.
    pub server: Arc<str>,
    /// The tool, as its server names it, if it is about one.
    pub tool: Option<String>,
    /// What was found. It holds no hidden characters, whatever the server said.
    pub what: String,
    /// The definition of the tool, as it was looked at: its real name, and its digest.
    pub(super) about: Option<(String, ToolDigest)>,
}

impl Finding {
    pub(crate) fn new(rule: Rule, server: &Arc<str>, tool: Option<&str>, what: &str) -> Self {
        Self {
            rule,
            server: server.clone(),
            tool: tool.map(shown),
            what: shown(what),
            about: None,
        }
    }

    /// About a definition of a tool, which can be [accepted](super::Host::accept).
    pub(super) fn of_tool(
        rule: Rule,
        server: &Arc<str>,
        tool: &str,
        digest: ToolDigest,
        what: &str,
    ) -> Self {
        Self {
            about: Some((tool.to_owned(), digest)),
            ..Self::new(rule, server, Some(tool), what)
        }
    }

    /// Identifies the definition of the tool, as [`ApprovalRequest::digest`](super::ApprovalRequest::digest) does. `None`: the
    /// finding is of no definition, and there is nothing to accept.
    #[must_use]
    pub fn digest(&self) -> Option<String> {
        self.about.as_ref().map(|(_, digest)| hex(digest))
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.server)?;
        if let Some(tool) = &self.tool {
            write!(f, ", tool `{tool}`")?;
        }
        write!(f, ": {} ({})", self.what, self.rule.as_str())
    }
}

/// A text of a server's for people: a bounded part of it, and nothing in it that is not seen.
pub(crate) fn shown(text: &str) -> String {
    const LONGEST: usize = 300;
    let mut shown: String = cleaned(text).chars().take(LONGEST).collect();
    if shown.len() < text.len() && text.chars().count() > LONGEST {
        shown.push('…');
    }
    shown
}
