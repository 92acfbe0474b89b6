//! Names of tools that providers take and that tell whose they are.

use core::fmt;
use core::fmt::Write as _;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

/// Providers take no more.
const LONGEST: usize = 64;

/// How tools are named for a model.
///
/// What is no letter or digit of ASCII, `_` or `-` becomes `_`, and what is longer than 64 is cut and ends in a hash. Of tools
/// whose names would be one, that whose name did not have to be changed keeps it, and the others get a hash: so the same tools
/// of the same servers have the same names each time, whatever the order in which they come.
///
/// ```
/// use mcp_std::host::Naming;
///
/// let names = Naming::SERVER_TOOL.names([("git", "log"), ("my files", "read.all")]);
/// assert_eq!(names, ["git__log", "my_files__read_all"]);
/// let names = Naming::MCP.names([("git", "log")]);
/// assert_eq!(names, ["mcp__git__log"]);
/// let names = Naming::custom(|server, tool| format!("{tool}-of-{server}")).names([("git", "log")]);
/// assert_eq!(names, ["log-of-git"]);
/// ```
///
/// The way back is that of a [`Snapshot`](super::Snapshot), which knows the server and the tool of each name.
#[derive(Clone)]
pub struct Naming(Scheme);

#[derive(Clone)]
enum Scheme {
    ServerTool,
    Mcp,
    Tool,
    Custom(Name),
}

/// Makes a name of those of a server and its tool.
type Name = Arc<dyn Fn(&str, &str) -> String + Send + Sync>;

impl Naming {
    /// `server__tool`.
    pub const SERVER_TOOL: Self = Self(Scheme::ServerTool);

    /// `mcp__server__tool`.
    pub const MCP: Self = Self(Scheme::Mcp);

    /// `tool`, with a hash where several servers have it.
    pub const TOOL: Self = Self(Scheme::Tool);

    /// As it is said, by the names of the server and the tool. What comes out is made valid and unique as with the others.
    pub fn custom(name: impl Fn(&str, &str) -> String + Send + Sync + 'static) -> Self {
        Self(Scheme::Custom(Arc::new(name)))
    }

    /// The names of these tools, each after its server, in their order: valid, and each another.
    #[must_use]
    pub fn names<'t>(&self, tools: impl IntoIterator<Item = (&'t str, &'t str)>) -> Vec<String> {
        let tools: Vec<_> = tools.into_iter().collect();
        let plain: Vec<_> = tools
            .iter()
            .map(|(server, tool)| self.plain(server, tool))
            .collect();
        let mut wanted: HashMap<&str, Wanted> = HashMap::with_capacity(tools.len());
        for name in &plain {
            let wanted = wanted.entry(&name.text).or_default();
            wanted.all += 1;
            wanted.unchanged += usize::from(!name.changed);
        }
        let keeps = |name: &Plain| {
            let wanted = &wanted[&*name.text];
            wanted.all == 1 || wanted.unchanged == 1 && !name.changed
        };
        let mut names = Vec::with_capacity(tools.len());
        for (name, tool) in plain.iter().zip(&tools) {
            names.push(if keeps(name) {
                name.text.clone()
            } else {
                hashed(&name.text, tool, 8)
            });
        }
        separate(&mut names, &plain, &tools);
        names
    }

    fn plain(&self, server: &str, tool: &str) -> Plain {
        let wanted = match &self.0 {
            Scheme::ServerTool => format!("{server}__{tool}"),
            Scheme::Mcp => format!("mcp__{server}__{tool}"),
            Scheme::Tool => tool.to_owned(),
            Scheme::Custom(name) => name(server, tool),
        };
        let valid = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
        let mut text: String = wanted
            .chars()
            .map(|c| if valid(c) { c } else { '_' })
            .collect();
        if text.is_empty() {
            text.push('_');
        }
        if text.len() > LONGEST {
            text = hashed(&text, &(server, tool), 8);
        }
        Plain {
            changed: text != wanted,
            text,
        }
    }
}

impl Default for Naming {
    /// `server__tool`.
    fn default() -> Self {
        Self::SERVER_TOOL
    }
}

impl fmt::Debug for Naming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Scheme::ServerTool => "server__tool",
            Scheme::Mcp => "mcp__server__tool",
            Scheme::Tool => "tool",
            Scheme::Custom(_) => "custom",
        })
    }
}

/// A valid name, that others may have, too.
struct Plain {
    text: String,
    /// It is not what it was to be.
    changed: bool,
}

/// How many want a name.
#[derive(Default)]
struct Wanted {
    all: usize,
    unchanged: usize,
}

/// The name with a hash of what it stands for, of so many digits, within the longest length.
fn hashed(name: &str, (server, tool): &(&str, &str), digits: usize) -> String {
    let mut hash = Sha256::new();
    hash.update(server.as_bytes());
    hash.update([0]);
    hash.update(tool.as_bytes());
    let front = name
        .get(..name.len().min(LONGEST - digits - 1))
        .unwrap_or_default();
    let mut text = format!("{front}_");
    for byte in &hash.finalize()[..digits / 2] {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// A server may name a tool as the hash of another one: whoever is later in the order of names gets a longer hash, and in
/// the end one with a number that nobody else has.
fn separate(names: &mut [String], plain: &[Plain], tools: &[(&str, &str)]) {
    for digits in [32, 62] {
        let again = later(names, tools);
        for &at in &again {
            names[at] = hashed(&plain[at].text, &tools[at], digits);
        }
        if again.is_empty() {
            return;
        }
    }
    let mut again = later(names, tools);
    again.sort_by_key(|&at| tools[at]);
    let mut taken: HashSet<String> = names.iter().cloned().collect();
    for at in again {
        // There are more numbers than tools: one of them is free.
        let free = (0_u64..).find_map(|number| {
            let number = format!("_{number}");
            let text = &plain[at].text;
            let front = text.get(..text.len().min(LONGEST - 33 - number.len()));
            let mut name = hashed(front.unwrap_or_default(), &tools[at], 32);
            name.push_str(&number);
            (!taken.contains(&name)).then_some(name)
        });
        names[at] = free.unwrap_or_default();
        taken.insert(names[at].clone());
    }
}

/// Who has a name that somebody earlier in the order of names has as well.
fn later(names: &[String], tools: &[(&str, &str)]) -> Vec<usize> {
    let mut first: HashMap<&str, usize> = HashMap::with_capacity(names.len());
    let mut later = Vec::new();
    for at in 0..names.len() {
        let other = *first.entry(&names[at]).or_insert(at);
        if other != at {
            let (keeps, goes) = if tools[other] <= tools[at] {
                (other, at)
            } else {
                (at, other)
            };
            first.insert(&names[at], keeps);
            later.push(goes);
        }
    }
    later
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(tools: &[(&str, &str)]) -> Vec<String> {
        Naming::SERVER_TOOL.names(tools.iter().copied())
    }

    fn check(names: &[String]) {
        let all: HashSet<_> = names.iter().collect();
        assert_eq!(all.len(), names.len(), "{names:?}");
        for name in names {
            assert!((1..=64).contains(&name.len()), "{name}");
            assert!(
                name.bytes()
                    .all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b)),
                "{name}"
            );
        }
    }

    #[test]
    fn names_are_valid_and_unique() {
        let long = "x".repeat(200);
        let longer = "x".repeat(201);
        let names = names(&[
            ("a", "b"),
            ("a", "b.c"),
            ("a", "b_c"),
            ("a", "b/c"),
            ("a__b", "c"),
            ("a", "b__c"),
            ("", ""),
            ("größe", "日本"),
            ("a", &long),
            ("a", &longer),
        ]);
        check(&names);
        // Whose name was right from the start has it.
        assert_eq!(names[2], "a__b_c");
        assert!(names[1].starts_with("a__b_c_"), "{names:?}");
        // Of two with equal rights none has it.
        assert!(names[4] != "a__b__c" && names[5] != "a__b__c", "{names:?}");
    }

    #[test]
    fn names_do_not_depend_on_the_order() {
        let tools = [
            ("a", "x.y"),
            ("a", "x_y"),
            ("a", "x/y"),
            ("b", "x"),
            ("a__x", "y"),
            ("a", "x__y"),
        ];
        let forward: HashMap<_, _> = tools.iter().zip(names(&tools)).collect();
        let mut reversed = tools;
        reversed.reverse();
        let backward: HashMap<_, _> = tools.iter().rev().zip(names(&reversed)).collect();
        assert_eq!(forward, backward);
    }

    #[test]
    fn a_tool_that_is_named_like_the_hash_of_another_is_no_other() {
        let honest = [("a", "b.c"), ("a", "b_c")];
        let hash = names(&honest)[0].clone();
        let forged = hash.strip_prefix("a__").expect("it begins so");
        let names = names(&[honest[0], honest[1], ("a", forged)]);
        check(&names);
        let elsewhere = Naming::TOOL.names([("a", "b"), ("c", "b"), ("d", "b_1")]);
        check(&elsewhere);
    }

    /// The tools of whoever named his own as all the hashes of another's.
    fn takeover() -> [(&'static str, &'static str); 5] {
        [
            ("acme", "log"),
            ("acme", "log_f3f3f02c"),
            ("acme", "log_f3f3f02cd5581bb82b3040fbf64ba74c"),
            (
                "acme",
                "l_f3f3f02cd5581bb82b3040fbf64ba74c7b075555fd9478e660e861426f7e8e",
            ),
            ("git", "log"),
        ]
    }

    #[test]
    fn nobody_takes_all_the_names_that_another_could_have() {
        let tools = takeover();
        let forward = Naming::TOOL.names(tools);
        check(&forward);
        let mut reversed = tools;
        reversed.reverse();
        let mut backward = Naming::TOOL.names(reversed);
        backward.reverse();
        assert_eq!(forward, backward);
    }

    #[test]
    fn names_are_unique_and_do_not_depend_on_the_order_whatever_the_tools_are() {
        let mut seed = 7_u64;
        let mut random = |below: usize| {
            // xorshift: the same tools in each run.
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            usize::try_from(seed % 1_000_003).expect("small") % below
        };
        let constant = Naming::custom(|_, _| "one".to_owned());
        for round in 0..300 {
            let naming = [&Naming::TOOL, &Naming::SERVER_TOOL, &constant][round % 3];
            let mut tools: Vec<(String, String)> = Vec::new();
            for _ in 0..40 {
                let server = ["a", "b", "a__b", "\u{e9}"][random(4)].to_owned();
                // Names of others, hashes of others, and what becomes the same when it is made valid.
                let tool = match random(4) {
                    0 => ["x", "x.y", "x_y", "x/y", "b__x"][random(5)].to_owned(),
                    1 => "long".repeat(random(40)),
                    _ if tools.is_empty() => "x".to_owned(),
                    _ => {
                        let (server, tool) = &tools[random(tools.len())];
                        let digits = [8, 32, 62][random(3)];
                        hashed(
                            &naming.plain(server, tool).text,
                            &(&**server, &**tool),
                            digits,
                        )
                    }
                };
                if !tools.contains(&(server.clone(), tool.clone())) {
                    tools.push((server, tool));
                }
            }
            let named = |tools: &[(String, String)]| {
                naming.names(tools.iter().map(|(server, tool)| (&**server, &**tool)))
            };
            let names = named(&tools);
            check(&names);
            let mut shuffled: Vec<_> = tools.iter().cloned().zip(names).collect();
            for at in (1..shuffled.len()).rev() {
                shuffled.swap(at, random(at + 1));
            }
            let (tools, names): (Vec<_>, Vec<_>) = shuffled.into_iter().unzip();
            assert_eq!(named(&tools), names, "{tools:?}");
        }
    }
}
