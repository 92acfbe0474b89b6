//! What servers ask users for.

use std::sync::Arc;

use mcp_core::model::{ElicitRequestParams, PrimitiveSchema};

use super::links::host;
use super::{Finding, Rule};
use crate::host::config::is_secret_name;

/// What is suspicious in a question of a server. `url` is where the server is, if it is at a URL.
///
/// A form is never for secrets: passwords, tokens, numbers of cards. A page is to be one of the server's own host; another
/// one, a login of some provider say, can be right, and the user has to see it.
// ELI-15, ELI-17.
#[must_use]
pub fn check_elicitation(
    server: &str,
    url: Option<&str>,
    params: &ElicitRequestParams<'_>,
) -> Vec<Finding> {
    let server: Arc<str> = server.into();
    let finding = |what: &str| Finding::new(Rule::Elicitation, &server, None, what);
    match params {
        ElicitRequestParams::Form(form) => {
            let fields = form.requested_schema.properties.iter();
            let secret = fields.filter(|(name, field)| {
                let (title, description) = words(field);
                [Some(&**name), title, description]
                    .into_iter()
                    .flatten()
                    .any(is_secret)
            });
            let mut found: Vec<_> = secret
                .map(|(name, _)| finding(&format!("the form asks for a secret: `{name}`")))
                .collect();
            if found.is_empty() && is_secret(&form.message) {
                found.push(finding("the form speaks of a secret"));
            }
            found
        }
        ElicitRequestParams::Url(page) => {
            let (scheme, rest) = page.url.split_once(':').unwrap_or_default();
            let target = host(rest);
            let mut found = Vec::new();
            if !scheme.eq_ignore_ascii_case("https") {
                found.push(finding(&format!(
                    "the page is not `https:` but `{scheme}:`"
                )));
            }
            if rest
                .split(['/', '?', '#'])
                .nth(2)
                .is_some_and(|it| it.contains('@'))
            {
                found.push(finding("the address hides its host behind a name and `@`"));
            }
            let own = url.and_then(|url| host(url.split_once(':')?.1));
            match (target, own) {
                (None, _) => found.push(finding("the page has no host")),
                (Some(target), Some(own)) if !is_within(&target, &own) => found.push(finding(
                    &format!("the page is on `{target}`, and the server on `{own}`"),
                )),
                (Some(target), _) if target.split('.').any(|part| part.starts_with("xn--")) => {
                    found.push(finding(&format!(
                        "`{target}` has letters that may look like others"
                    )));
                }
                _ => {}
            }
            found
        }
        ElicitRequestParams::Unknown(_) | _ => vec![finding("it asks in a way nobody knows")],
    }
}

fn words<'s>(field: &'s PrimitiveSchema<'_>) -> (Option<&'s str>, Option<&'s str>) {
    match field {
        PrimitiveSchema::String(it) => (it.title.as_deref(), it.description.as_deref()),
        PrimitiveSchema::Number(_)
        | PrimitiveSchema::Boolean(_)
        | PrimitiveSchema::Enum(_)
        | PrimitiveSchema::Unknown(_)
        | _ => (None, None),
    }
}

fn is_secret(text: &str) -> bool {
    const MORE: [&str; 9] = [
        "creditcard",
        "cardnumber",
        "cvv",
        "cvc",
        "ssn",
        "socialsecurity",
        "seedphrase",
        "onetimecode",
        "mnemonic",
    ];
    let plain: String = text
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .map(|c| c.to_ascii_lowercase())
        .collect();
    let word = |word: &str| {
        let short = word.len() <= 3;
        let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
        if short {
            return words.any(|it| it.eq_ignore_ascii_case(word));
        }
        plain.contains(word)
    };
    is_secret_name(text) || MORE.into_iter().any(word)
}

/// The same host, or one below it.
fn is_within(host: &str, own: &str) -> bool {
    host.strip_suffix(own)
        .is_some_and(|front| front.is_empty() || front.ends_with('.'))
}
