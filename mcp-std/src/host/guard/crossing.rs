//! What servers say of each other: tools of one name, and descriptions that speak of others.

use std::collections::HashMap;
use std::sync::Arc;

use super::super::offer::ToolDigest;
use super::{Finding, Guards, Rule};

/// A tool as far as this is concerned.
pub(in crate::host) struct Described<'t> {
    pub(in crate::host) server: &'t Arc<str>,
    pub(in crate::host) tool: &'t str,
    pub(in crate::host) description: &'t str,
    pub(in crate::host) digest: ToolDigest,
}

impl Described<'_> {
    fn finding(&self, rule: Rule, what: &str) -> Finding {
        Finding::of_tool(rule, self.server, self.tool, self.digest, what)
    }
}

/// A name as people read it: without case and signs between words.
fn plain(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

/// What the servers' tools have to do with each other. The time grows with the length of the descriptions.
pub(in crate::host) fn crossings(tools: &[Described<'_>], guards: &Guards) -> Vec<Finding> {
    let mut found = Vec::new();
    if guards.is_on(Rule::Shadowing) {
        shadowing(tools, &mut found);
    }
    if guards.is_on(Rule::CrossReference) {
        references(tools, &mut found);
    }
    found
}

fn shadowing(tools: &[Described<'_>], found: &mut Vec<Finding>) {
    // By name, the first tool that has it, and the first one of another server.
    let mut named: HashMap<String, (&Described<'_>, Option<&Described<'_>>)> = HashMap::new();
    for tool in tools {
        let (first, other) = named.entry(plain(tool.tool)).or_insert((tool, None));
        if other.is_none() && first.server != tool.server {
            *other = Some(tool);
        }
    }
    for tool in tools {
        let (first, other) = named[&plain(tool.tool)];
        let Some(other) = other else {
            continue;
        };
        let other = if first.server == tool.server {
            other
        } else {
            first
        };
        let what = format!("`{}` of `{}` is named so, too", other.tool, other.server);
        found.push(tool.finding(Rule::Shadowing, &what));
    }
}

fn references(tools: &[Described<'_>], found: &mut Vec<Finding>) {
    /// Shorter names are words of the language.
    const LEAST: usize = 5;
    // A name that several servers have is nobody's.
    let mut owners: HashMap<&str, Option<&Arc<str>>> = HashMap::new();
    let mut own = |name, server| {
        let owner = owners.entry(name).or_insert(Some(server));
        if *owner != Some(server) {
            *owner = None;
        }
    };
    for tool in tools {
        // One word could be any: `search`, `create`.
        let several =
            tool.tool.contains(['_', '-', '.']) || tool.tool.chars().any(char::is_uppercase);
        if several && tool.tool.len() >= LEAST {
            own(tool.tool, tool.server);
        }
        if tool.server.len() >= LEAST {
            own(tool.server, tool.server);
        }
    }
    for tool in tools {
        let mut words = tool
            .description
            .split(|c: char| !(c.is_alphanumeric() || "_-.".contains(c)))
            .map(|word| word.trim_end_matches('.'));
        let other = words.find_map(|word| {
            let owner = owners.get(word).copied().flatten()?;
            (owner != tool.server).then_some((word, owner))
        });
        if let Some((word, owner)) = other {
            let what = format!("its description speaks of `{word}`, which is of `{owner}`");
            found.push(tool.finding(Rule::CrossReference, &what));
        }
    }
}
