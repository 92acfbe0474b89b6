//! The text form of a dialogue.

use core::iter;

/// Which engine a dialogue is about; its peer is the dialogue.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[expect(clippy::exhaustive_enums, reason = "MCP has these two")]
pub enum Role {
    /// The server's.
    Server,
    /// The client's.
    Client,
}

impl Role {
    /// The marks of what the peer sends and of what the engine writes: the arrows point from client to server and back.
    const fn marks(self) -> (&'static str, &'static str) {
        match self {
            Self::Server => (">", "<"),
            Self::Client => ("<", ">"),
        }
    }
}

/// One thing that happens, and what has to come of it.
#[derive(Debug)]
pub(crate) struct Step {
    /// Where it stands in the file.
    pub(crate) line: usize,
    pub(crate) action: Action,
    /// What the engine tells its driver, if that is written down.
    pub(crate) outcome: Option<String>,
    /// The messages that the engine writes.
    pub(crate) output: Vec<String>,
}

/// What happens.
#[derive(Debug)]
pub(crate) enum Action {
    /// The peer sends this text.
    Send(String),
    /// The driver commands something about the call, or the request, of this id; the id and the value are JSON.
    About(Verb, String, String),
    /// The driver commands something else; the value is JSON.
    Do(Verb, String),
}

/// What a driver commands.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Verb {
    Reply,
    Fail,
    NotFound,
    Missing,
    Input,
    Progress,
    Log,
    Request,
    Ping,
    Cancel,
    Announce,
    Next,
    Completed,
    End,
    Connect,
    Call,
    Roots,
    Time,
    Lost,
}

impl Verb {
    /// The verb of this name, and whether an id comes after it.
    fn parse(name: &str) -> Option<(Self, bool)> {
        Some(match name {
            "reply" => (Self::Reply, true),
            "fail" => (Self::Fail, true),
            "not_found" => (Self::NotFound, true),
            "missing" => (Self::Missing, true),
            "input" => (Self::Input, true),
            "progress" => (Self::Progress, true),
            "log" => (Self::Log, true),
            "request" => (Self::Request, true),
            "cancel" => (Self::Cancel, true),
            "ping" => (Self::Ping, false),
            "announce" => (Self::Announce, false),
            "next" => (Self::Next, false),
            "completed" => (Self::Completed, false),
            "end" => (Self::End, false),
            "connect" => (Self::Connect, false),
            "call" => (Self::Call, false),
            "roots" => (Self::Roots, false),
            "time" => (Self::Time, false),
            "lost" => (Self::Lost, false),
            _ => return None,
        })
    }
}

/// What a file says, once for each value of its `@ each` line.
#[derive(Debug)]
pub(crate) struct Script {
    /// The value of this run, if there are several.
    pub(crate) value: String,
    /// The words of the lines that set the engine up.
    pub(crate) settings: Vec<String>,
    pub(crate) steps: Vec<Step>,
}

/// Reads a file.
///
/// # Errors
///
/// The line that cannot be read, and why.
pub(crate) fn parse(role: Role, text: &str) -> Result<Vec<Script>, String> {
    let each = text.lines().find_map(|line| line.strip_prefix("@ each "));
    let Some(each) = each else {
        return Ok(vec![parse_run(role, text, None)?]);
    };
    let (name, values) = each
        .split_once('=')
        .ok_or("`@ each` needs a name, `=` and values")?;
    values
        .split_whitespace()
        .map(|value| parse_run(role, text, Some((name.trim(), value))))
        .collect()
}

fn parse_run(role: Role, text: &str, each: Option<(&str, &str)>) -> Result<Script, String> {
    let (input, output) = role.marks();
    // Whether this run has the lines that come next.
    let mut inside = true;
    let mut names: Vec<(String, String)> = each
        .into_iter()
        .map(|(name, value)| (format!("${name}"), value.to_owned()))
        .collect();
    let mut script = Script {
        value: each.map(|(_, value)| value.to_owned()).unwrap_or_default(),
        settings: Vec::new(),
        steps: Vec::new(),
    };
    for (line, text) in iter::zip(1.., text.lines()) {
        let mut text = text.to_owned();
        for (name, value) in &names {
            text = text.replace(name, value);
        }
        let (mark, rest) = text.split_once(' ').unwrap_or((&text, ""));
        let unreadable = || format!("line {line} cannot be read: {text}");
        let is_of = |values: &str| {
            let mut values = values.split_whitespace().peekable();
            values.peek().is_none() || values.any(|value| value == script.value)
        };
        if mark == "@" && (rest == "in" || rest.starts_with("in ")) {
            inside = is_of(&rest["in".len()..]);
            continue;
        }
        if !inside {
            continue;
        }
        match mark {
            "" | "#" => {}
            "@" => match rest.split_once(' ') {
                Some(("each", _)) => {}
                Some(("let", definition)) => {
                    let (name, value) = definition.split_once('=').ok_or_else(unreadable)?;
                    let (name, runs) = name.trim().split_once(' ').unwrap_or((name.trim(), ""));
                    if is_of(runs) {
                        // The latest one counts.
                        names.insert(0, (format!("${name}"), value.trim().to_owned()));
                    }
                }
                _ => script.settings.push(rest.to_owned()),
            },
            _ if mark == input || mark == "!" => script.steps.push(Step {
                line,
                action: action(mark, rest).ok_or_else(unreadable)?,
                outcome: None,
                output: Vec::new(),
            }),
            "=" => {
                let step = script.steps.last_mut().ok_or_else(unreadable)?;
                if step.outcome.replace(rest.to_owned()).is_some() {
                    return Err(unreadable());
                }
            }
            _ if mark == output => {
                let step = script.steps.last_mut().ok_or_else(unreadable)?;
                step.output.push(rest.to_owned());
            }
            _ => return Err(unreadable()),
        }
    }
    if text.contains('$') && names.is_empty() {
        return Err("a `$` but no names".into());
    }
    Ok(script)
}

fn action(mark: &str, rest: &str) -> Option<Action> {
    if mark != "!" {
        return Some(Action::Send(rest.to_owned()));
    }
    let (verb, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let (verb, has_id) = Verb::parse(verb)?;
    if !has_id {
        return Some(Action::Do(verb, rest.trim().to_owned()));
    }
    if let Some(value) = rest.strip_prefix("- ") {
        return Some(Action::Do(verb, value.trim().to_owned()));
    }
    // The id is a JSON string or number, with spaces in it perhaps.
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<serde_json::Value>();
    values.next()?.ok()?;
    let (id, value) = rest.split_at(values.byte_offset());
    Some(Action::About(
        verb,
        id.trim().to_owned(),
        value.trim().to_owned(),
    ))
}
