//! The tools of all servers, named.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use super::guard::Described;
use super::guard::{Action, Finding, Guards, Rule, crossings};
use super::naming::Naming;
use super::offer::Offered;
use super::pool::Pool;
use super::search::Index;
use super::tool::ToolDefinition;
use super::trust::TrustStore;

/// A tool with its name for the model.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) definition: Arc<ToolDefinition>,
    pub(super) offered: Arc<Offered>,
    /// It is not to be offered, because of this rule.
    pub(super) held: Option<Rule>,
    /// It is for apps only.
    pub(super) hidden: bool,
}

impl Entry {
    /// Whether a model may be offered it.
    pub(super) const fn is_for_model(&self) -> bool {
        self.held.is_none() && !self.hidden
    }
}

/// All tools that there are at some moment.
#[derive(Debug, Default)]
pub(super) struct Catalog {
    /// Which state of the pool and of what is trusted this is of.
    pub(super) revision: (u64, u64),
    pub(super) entries: Vec<Entry>,
    pub(super) by_name: HashMap<String, usize>,
    pub(super) findings: Vec<Finding>,
    index: OnceLock<Index>,
}

impl Catalog {
    /// The tools that there are now. What is the same as in the `last` one is shared with it.
    pub(super) fn new(
        pool: &Pool,
        naming: &Naming,
        guards: &Guards,
        trust: &TrustStore,
        last: &Self,
    ) -> Self {
        // Before the tools are looked at, so that a change meanwhile is one for the next catalogue.
        let revision = (pool.revision(), trust.revision());
        let lists: Vec<_> = pool.members().iter().map(|member| member.tools()).collect();
        let offered: Vec<&Arc<Offered>> = lists.iter().flat_map(|list| list.iter()).collect();
        let named = offered
            .iter()
            .map(|it| (&*it.definition.server, &*it.definition.tool));
        let names = naming.names(named);
        let described: Vec<_> = offered.iter().map(|it| described(it)).collect();
        let mut findings = crossings(&described, guards);
        let mut by_name = HashMap::with_capacity(offered.len());
        let mut entries = Vec::with_capacity(offered.len());
        for (at, (offered, name)) in offered.into_iter().zip(names).enumerate() {
            let definition = last
                .entry(&name)
                .filter(|entry| Arc::ptr_eq(&entry.offered, offered))
                .map_or_else(
                    || named_so(offered, &name),
                    |entry| entry.definition.clone(),
                );
            by_name.insert(name, at);
            findings.extend(offered.findings.iter().cloned());
            let changed = changed(offered, guards, trust);
            findings.extend(changed);
            entries.push(Entry {
                definition,
                offered: offered.clone(),
                held: None,
                #[cfg(feature = "apps")]
                hidden: pool.shows_apps() && !offered.definition.ui.visibility.model,
                #[cfg(not(feature = "apps"))]
                hidden: false,
            });
        }
        hold(&mut entries, &findings, guards, trust);
        Self {
            revision,
            entries,
            by_name,
            findings,
            index: OnceLock::new(),
        }
    }

    pub(super) fn entry(&self, name: &str) -> Option<&Entry> {
        self.by_name.get(name).map(|&at| &self.entries[at])
    }

    /// The tools that fit a question best, by their numbers.
    pub(super) fn find(&self, query: &str, most: usize) -> Vec<usize> {
        let index = self.index.get_or_init(|| {
            Index::new(self.entries.iter().map(|entry| {
                let it = &entry.definition;
                let properties = it.input_schema["properties"].as_object();
                let arguments = properties.into_iter().flatten().map(|(name, schema)| {
                    let what = schema["description"].as_str().unwrap_or_default();
                    format!("{name} {what}")
                });
                let arguments: Vec<_> = arguments.collect();
                let texts = [it.title.as_deref(), it.description.as_deref()];
                let texts = texts.map(Option::unwrap_or_default).join(" ");
                (&*it.name, format!("{texts} {}", arguments.join(" ")))
            }))
        });
        let found = index.find(query, self.entries.len());
        let offered = found
            .into_iter()
            .filter(|&at| self.entries[at].is_for_model());
        offered.take(most).collect()
    }
}

fn described(offered: &Offered) -> Described<'_> {
    Described {
        server: &offered.definition.server,
        tool: &offered.definition.tool,
        description: offered
            .definition
            .description
            .as_deref()
            .unwrap_or_default(),
        digest: offered.digest,
    }
}

fn named_so(offered: &Offered, name: &str) -> Arc<ToolDefinition> {
    let mut definition = offered.definition.clone();
    name.clone_into(&mut definition.name);
    Arc::new(definition)
}

fn changed(offered: &Offered, guards: &Guards, trust: &TrustStore) -> Option<Finding> {
    let it = &offered.definition;
    let watched = guards.is_on(Rule::ChangedDefinition);
    let changed = watched && !trust.is_unchanged(&it.server, &it.tool, offered.digest);
    changed.then(|| {
        let what = "it is not what it was when it was first seen or last accepted";
        let digest = offered.digest;
        Finding::of_tool(Rule::ChangedDefinition, &it.server, &it.tool, digest, what)
    })
}

/// Those of which something is found that holds them, and that nobody has accepted.
fn hold(entries: &mut [Entry], findings: &[Finding], guards: &Guards, trust: &TrustStore) {
    let mut held: HashMap<(&str, &str), Rule> = HashMap::new();
    for finding in findings {
        if let Some((tool, digest)) = &finding.about
            && guards.action(finding.rule) == Action::Hold
            && !trust.is_accepted(&finding.server, tool, *digest, finding.rule)
        {
            held.entry((&*finding.server, tool)).or_insert(finding.rule);
        }
    }
    if held.is_empty() {
        return;
    }
    for entry in entries {
        let it = &entry.definition;
        entry.held = held.get(&(&*it.server, &*it.tool)).copied();
    }
}
