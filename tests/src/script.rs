//! The text form of a dialogue.

use core::iter;

/// One thing that happens, and what has to come of it.
#[derive(Debug)]
pub(crate) struct Step {
    /// Where it stands in the file.
    pub(crate) line: usize,
    pub(crate) action: Action,
    /// What the engine tells its driver, if that is written down.
    pub(crate) outcome: Option<String>,
    /// The message that the engine writes.
    pub(crate) output: Option<String>,
}

/// What happens; the ids and values are JSON.
#[derive(Debug)]
pub(crate) enum Action {
    /// The client sends this text.
    Send(String),
    /// The driver answers a call with a result.
    Reply(String, String),
    /// The driver answers a call with an error.
    Fail(String, String),
    /// The driver reports progress of a call.
    Progress(String, String),
}

/// What a file says, once for each value of its `@ each` line.
#[derive(Debug)]
pub(crate) struct Script {
    /// The value of this run, if there are several.
    pub(crate) value: String,
    /// The words of the lines that set the server up.
    pub(crate) settings: Vec<String>,
    pub(crate) steps: Vec<Step>,
}

/// Reads a file.
///
/// # Errors
///
/// The line that cannot be read, and why.
pub(crate) fn parse(text: &str) -> Result<Vec<Script>, String> {
    let each = text.lines().find_map(|line| line.strip_prefix("@ each "));
    let Some(each) = each else {
        return Ok(vec![parse_run(text, None)?]);
    };
    let (name, values) = each
        .split_once('=')
        .ok_or("`@ each` needs a name, `=` and values")?;
    values
        .split_whitespace()
        .map(|value| parse_run(text, Some((name.trim(), value))))
        .collect()
}

fn parse_run(text: &str, each: Option<(&str, &str)>) -> Result<Script, String> {
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
        match mark {
            "" | "#" => {}
            "@" => match rest.split_once(' ') {
                Some(("each", _)) => {}
                Some(("let", definition)) => {
                    let (name, value) = definition.split_once('=').ok_or_else(unreadable)?;
                    names.push((format!("${}", name.trim()), value.trim().to_owned()));
                }
                _ => script.settings.push(rest.to_owned()),
            },
            ">" | "!" => script.steps.push(Step {
                line,
                action: action(mark, rest).ok_or_else(unreadable)?,
                outcome: None,
                output: None,
            }),
            "=" | "<" => {
                let step = script.steps.last_mut().ok_or_else(unreadable)?;
                let place = match mark {
                    "=" => &mut step.outcome,
                    _ => &mut step.output,
                };
                if place.replace(rest.to_owned()).is_some() {
                    return Err(unreadable());
                }
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
    if mark == ">" {
        return Some(Action::Send(rest.to_owned()));
    }
    let (verb, rest) = rest.split_once(' ')?;
    // The id is a JSON string or number, with spaces in it perhaps.
    let mut values = serde_json::Deserializer::from_str(rest).into_iter::<serde_json::Value>();
    values.next()?.ok()?;
    let (id, value) = rest.split_at(values.byte_offset());
    let (id, value) = (id.trim().to_owned(), value.trim().to_owned());
    Some(match verb {
        "reply" => Action::Reply(id, value),
        "fail" => Action::Fail(id, value),
        "progress" => Action::Progress(id, value),
        _ => return None,
    })
}
