//! What is wrong with texts that the user is asked for, and with what they are put into.

use super::problem::quoted;
use super::walk::{Found, Node, Object};

pub(super) const STDIO: &str = "stdio";
pub(super) const STREAMABLE: &str = "streamable-http";
pub(super) const SSE: &str = "sse";

pub(super) const INPUT: [&str; 8] = [
    "description",
    "isRequired",
    "isSecret",
    "format",
    "value",
    "default",
    "placeholder",
    "choices",
];

/// The names in braces of a text, in order. `None`: a brace is not closed.
pub(super) fn placeholders(text: &str) -> Option<Vec<&str>> {
    let mut names = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once('{') {
        let (name, after) = after.split_once('}')?;
        names.push(name);
        rest = after;
    }
    Some(names)
}

/// Checks what any input has. `variables`: whether it can have some.
pub(super) fn check_input(input: &Object<'_>, variables: bool, found: &mut Found) {
    for name in ["description", "placeholder"] {
        if let Some(text) = input.get(name) {
            text.string(found);
        }
    }
    for name in ["isRequired", "isSecret"] {
        if let Some(is) = input.get(name) {
            is.boolean(found);
        }
    }
    if let Some(format) = input.get("format") {
        format.one_of(&["string", "number", "boolean", "filepath"], found);
    }
    let mut choices = Vec::new();
    if let Some(all) = input.get("choices") {
        let each = all.elements(found);
        choices = each.iter().filter_map(|it| it.string(found)).collect();
        if each.is_empty() && all.value.is_array() {
            found.warning(&all, "nothing can be chosen", "leave it out");
        }
    }
    if let Some(default) = input.get("default")
        && let Some(text) = default.string(found)
    {
        if !choices.is_empty() && !choices.contains(&text) {
            found.error(&default, "it is none of `choices`", "make it one of them");
        }
        if is_true(input, "isSecret") && !text.is_empty() {
            let fault = "a secret that everybody can read is none";
            found.error(&default, fault, "leave it out");
        }
        check_dollar(&default, text, found);
    }
    let mut names = Vec::new();
    if variables && let Some(all) = input.get("variables") {
        names = check_variables(&all, found);
    }
    let Some(value) = input.get("value") else {
        if let Some(all) = input.get("variables")
            && variables
            && !names.is_empty()
        {
            found.warning(
                &all,
                "there is no `value` that they are put into",
                "write `value`",
            );
        }
        return;
    };
    let Some(text) = value.string(found) else {
        return;
    };
    check_dollar(&value, text, found);
    let Some(used) = placeholders(text) else {
        // A text may be JSON, or anything else.
        return;
    };
    for name in used {
        if variables && is_name(name) && !names.contains(&name) {
            let fault = format!("nothing is put in for `{{{name}}}`: `variables` does not have it");
            found.warning(&value, fault, "add it there");
        }
    }
    for name in names {
        if !text.contains(&format!("{{{name}}}")) {
            let fault = format!("the variable {} is not used", quoted(name));
            found.warning(
                &value,
                fault,
                format!("write `{{{name}}}` where it belongs"),
            );
        }
    }
    if is_true(input, "isSecret") && !text.contains('{') {
        let fault = "a secret that everybody can read is none";
        found.error(&value, fault, "leave it out: the user is asked for it");
    }
}

/// Hosts put variables of their user's in for these.
fn check_dollar(node: &Node<'_>, text: &str, found: &mut Found) {
    if text.contains("${") {
        let fault = "hosts take `${…}` for a variable of their own";
        found.error(
            node,
            fault,
            "write `{name}`, and say in `variables` what that is",
        );
    }
}

fn is_true(input: &Object<'_>, name: &str) -> bool {
    input.get(name).and_then(|it| it.value.as_bool()) == Some(true)
}

fn is_name(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || "_-.".contains(c))
}

/// Checks variables. Their names.
pub(super) fn check_variables<'j>(node: &Node<'j>, found: &mut Found) -> Vec<&'j str> {
    let Some(variables) = node.any_object(found) else {
        return Vec::new();
    };
    let mut names = Vec::new();
    for (name, variable) in variables.members() {
        if let Some(input) = variable.object(&INPUT, found) {
            check_input(&input, false, found);
        }
        if name.is_empty() || name.contains(['{', '}']) {
            found.error(
                &variable,
                "it has no name that could stand in braces",
                "name it",
            );
        }
        names.push(name.as_str());
    }
    names
}

/// Checks headers or variables of the environment. Their names.
pub(super) fn check_inputs<'j>(
    node: &Node<'j>,
    environment: bool,
    found: &mut Found,
) -> Vec<&'j str> {
    let mut names: Vec<&str> = Vec::new();
    let known: Vec<_> = INPUT.into_iter().chain(["name", "variables"]).collect();
    for each in node.elements(found) {
        let Some(input) = each.object(&known, found) else {
            continue;
        };
        check_input(&input, true, found);
        let Some(name) = input.need("name", "name it", found) else {
            continue;
        };
        let Some(text) = name.string(found) else {
            continue;
        };
        if environment && !is_variable(text) {
            let fault = format!("{} is no name of a variable", quoted(text));
            found.error(
                &name,
                fault,
                "write letters, digits and `_`, no digit first",
            );
        }
        if !environment && !is_header(text) {
            let fault = format!("{} is no name of a header", quoted(text));
            found.error(&name, fault, "write letters, digits and `-`");
        }
        let same = |it: &&str| {
            if environment {
                *it == text
            } else {
                it.eq_ignore_ascii_case(text)
            }
        };
        if names.iter().any(same) {
            found.error(
                &name,
                format!("{} is there twice", quoted(text)),
                "keep one of them",
            );
        }
        names.push(text);
    }
    names
}

/// Whether a variable of the environment can be called this.
pub(super) fn is_variable(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// Whether it is a token (RFC 9110, 5.6.2).
pub(super) fn is_header(name: &str) -> bool {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    !name.is_empty() && name.chars().all(token)
}

/// Checks a URL that may have `{names}` in it, which are to be among `names`, or in `whose`.
pub(super) fn check_url(
    node: &Node<'_>,
    names: &[&str],
    whose: &str,
    remote: bool,
    found: &mut Found,
) {
    let Some(url) = node.string(found) else {
        return;
    };
    let remedy = "write `https://` and a host";
    let Some(used) = placeholders(url) else {
        found.error(node, "a `{` is not closed", "write `}` after the name");
        return;
    };
    for name in used {
        if !names.contains(&name) {
            let fault = format!("nothing is put in for `{{{name}}}`");
            found.error(node, fault, format!("add it to {whose}"));
        }
    }
    check_dollar(node, url, found);
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"));
    let authority = rest.and_then(|rest| rest.split(['/', '?', '#']).next());
    let spaced = url.contains(|c: char| c.is_whitespace() || c.is_control());
    let Some(authority) = authority.filter(|it| !it.is_empty() && !spaced) else {
        let fault = format!("{} is no URL", quoted(url));
        found.error(node, fault, remedy);
        return;
    };
    if authority.contains('@') {
        let remedy = "leave out what stands before `@`; a header can be a secret";
        found.error(node, "there is a user in it", remedy);
    }
    if !remote {
        return;
    }
    if !url.starts_with("https://") {
        found.error(node, "what is sent there can be read on the way", remedy);
    }
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let host = host.to_ascii_lowercase();
    let local = host == "localhost" || host.ends_with(".localhost") || host == "::1";
    if local || host.starts_with("127.") {
        let fault = format!("{} is the machine of whoever reads this", quoted(&host));
        found.error(
            node,
            fault,
            "name a host that everybody reaches, or a package",
        );
    }
}
