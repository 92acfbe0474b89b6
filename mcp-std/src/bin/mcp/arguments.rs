//! Arguments of tools and prompts on a command line: `--args JSON`, `name=value`, or both.

use std::collections::BTreeSet;

use mcp_core::json::{Json, Kind, RawJson};

use crate::failure::Failure;

/// What a value on the command line is.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum Values {
    /// JSON if it is JSON, else a string.
    Json,
    /// A string, whatever it looks like.
    Strings,
}

/// One `name=value`.
pub(crate) fn pair(text: &str) -> Result<(&str, &str), Failure> {
    text.split_once('=')
        .filter(|(name, _)| !name.is_empty())
        .ok_or_else(|| Failure::Usage(format!("`{text}` is not NAME=VALUE")))
}

/// The object of all arguments: those of `--args` as they stand there, and those by name, which go before them. `None`:
/// there are none.
pub(crate) fn object(
    args: Option<&str>,
    named: &[String],
    values: Values,
) -> Result<Option<Json<'static>>, Failure> {
    let given = args.map(parsed).transpose()?;
    if given.is_none() && named.is_empty() {
        return Ok(None);
    }
    let mut seen = BTreeSet::new();
    let mut pairs = Vec::with_capacity(named.len());
    for text in named {
        let (name, value) = pair(text)?;
        if !seen.insert(name) {
            return Err(Failure::Usage(format!("`{name}` is given twice")));
        }
        pairs.push((name, value));
    }
    Ok(Some(Json::written(|json| {
        json.begin_object();
        let members = given.as_ref().and_then(|given| given.raw().as_object());
        for (name, value) in members.into_iter().flatten() {
            let name = name.decode();
            if !seen.contains(&*name) {
                json.key(&name);
                json.raw(value);
            }
        }
        for (name, value) in pairs {
            json.key(name);
            match RawJson::parse(value.as_bytes()) {
                Ok(value) if values == Values::Json => json.raw(value),
                _ => json.string(value),
            }
        }
        json.end_object();
    })))
}

fn parsed(text: &str) -> Result<Json<'_>, Failure> {
    let json = Json::parse(text.as_bytes())
        .map_err(|error| Failure::Usage(format!("`--args` is not JSON: {error}")))?;
    if json.raw().kind() != Kind::Object {
        let fault = "`--args` is to be a JSON object, such as '{\"text\":\"hello\"}'";
        return Err(Failure::Usage(fault.to_owned()));
    }
    Ok(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(args: Option<&str>, named: &[&str], values: Values) -> Option<String> {
        let named: Vec<_> = named.iter().map(|&text| text.to_owned()).collect();
        let object = object(args, &named, values).expect("they are arguments");
        object.map(|object| object.as_str().to_owned())
    }

    #[test]
    fn values_are_json_if_they_are_and_else_strings() {
        let named = [
            "a=1", "b=true", "c=hello", "d=\"1\"", "e=[1,2]", "f=", "g=x=y", "h=1e400",
        ];
        assert_eq!(
            written(None, &named, Values::Json).expect("there are some"),
            r#"{"a":1,"b":true,"c":"hello","d":"1","e":[1,2],"f":"","g":"x=y","h":1e400}"#
        );
        assert_eq!(
            written(None, &["a=1", "b=null"], Values::Strings).expect("there are some"),
            r#"{"a":"1","b":"null"}"#
        );
        assert_eq!(written(None, &[], Values::Json), None);
    }

    #[test]
    fn names_go_before_the_object_whose_numbers_stay_as_they_are() {
        let args = r#"{"a":1.10,"b":{"a":2}}"#;
        assert_eq!(
            written(Some(args), &[], Values::Json).expect("there are some"),
            args
        );
        assert_eq!(
            written(Some(args), &["a=3"], Values::Json).expect("there are some"),
            r#"{"b":{"a":2},"a":3}"#
        );
    }

    #[test]
    fn what_is_no_argument_is_refused() {
        for (args, named) in [(Some("[]"), ""), (Some("{"), ""), (None, "a"), (None, "=a")] {
            let named: Vec<_> = [named.to_owned()]
                .into_iter()
                .filter(|it| !it.is_empty())
                .collect();
            let refused = object(args, &named, Values::Json);
            assert!(
                matches!(refused, Err(Failure::Usage(_))),
                "{args:?} {named:?}"
            );
        }
        let twice = ["a=1".to_owned(), "a=2".to_owned()];
        assert!(object(None, &twice, Values::Json).is_err());
    }
}
