//! The params of the requests that are handed over.

use super::Terms;
use super::catalog::Offered;
use super::incoming::{CallRequest, CompletionTarget};
use crate::error::{EnvelopeFault, PeerFault};
use crate::json::{JsonStr, Kind, RawJson};
use crate::model::{Params, ProtocolVersion};

/// `tools/call`.
pub(super) fn tool<'b>(
    catalog: &impl Offered,
    params: &Params<'b>,
    terms: &Terms,
) -> Result<CallRequest<'b>, PeerFault> {
    let name = string(params.name, "name")?;
    let arguments = object(params.arguments, "arguments")?;
    let tool = catalog.find_tool(name).ok_or(PeerFault::UnknownTool)?;
    let missing = catalog.requires(tool).without(terms.capabilities);
    if !missing.is_empty() {
        let era = terms.version.era();
        return Err(PeerFault::MissingCapability { missing, era });
    }
    Ok(CallRequest::Tool { tool, arguments })
}

/// `resources/read`.
pub(super) fn resource<'b>(
    catalog: &impl Offered,
    params: &Params<'b>,
    terms: &Terms,
) -> Result<CallRequest<'b>, PeerFault> {
    let uri = string(params.uri, "uri")?;
    let target = catalog.find_resource(uri);
    let era = terms.version.era();
    let target = target.ok_or(PeerFault::UnknownResource { era })?;
    Ok(CallRequest::Resource { uri, target })
}

/// `prompts/get`.
pub(super) fn prompt<'b>(
    catalog: &impl Offered,
    params: &Params<'b>,
) -> Result<CallRequest<'b>, PeerFault> {
    let name = string(params.name, "name")?;
    let arguments = strings(params.arguments, "arguments")?;
    let prompt = catalog.find_prompt(name).ok_or(PeerFault::UnknownPrompt)?;
    if catalog.missing_argument(prompt, arguments).is_some() {
        return Err(PeerFault::MissingArgument);
    }
    Ok(CallRequest::Prompt { prompt, arguments })
}

/// `completion/complete`.
pub(super) fn complete<'b>(
    catalog: &impl Offered,
    params: &Params<'b>,
) -> Result<CallRequest<'b>, PeerFault> {
    let reference = params.reference;
    let kind = text(reference, "params.ref.type")?;
    let reference = if kind == "ref/prompt" {
        let name = text(reference, "params.ref.name")?;
        let prompt = catalog.find_prompt(name).ok_or(PeerFault::UnknownPrompt)?;
        CompletionTarget::Prompt(prompt)
    } else if kind == "ref/resource" {
        let uri = text(reference, "params.ref.uri")?;
        catalog
            .find_reference(uri)
            .ok_or(PeerFault::UnknownReference)?
    } else {
        return Err(PeerFault::Params {
            field: "ref.type",
            expected: "\"ref/prompt\" or \"ref/resource\"",
        });
    };
    let argument = text(params.argument, "params.argument.name")?;
    let value = text(params.argument, "params.argument.value")?;
    let context = object(params.context, "context")?;
    let known = member(context, "params.context.arguments")?;
    strings(known, "context.arguments")?;
    Ok(CallRequest::Complete {
        reference,
        argument,
        value,
        context,
    })
}

/// What a modern request brings that is made again: `inputResponses` and `requestState` (MRTR-09). Legacy revisions have
/// neither.
pub(super) fn retry<'b>(
    params: &Params<'b>,
    version: ProtocolVersion,
) -> Result<(Option<RawJson<'b>>, Option<JsonStr<'b>>), PeerFault> {
    if version < ProtocolVersion::LATEST_MODERN {
        return Ok((None, None));
    }
    let responses = object(params.input_responses, "inputResponses")?;
    let state = params.request_state;
    let state = state.map(|_| string(state, "requestState")).transpose()?;
    Ok((responses, state))
}

/// The string that is a member of an object that has been read already.
fn text<'b>(object: Option<RawJson<'b>>, path: &'static str) -> Result<JsonStr<'b>, PeerFault> {
    string(member(object, path)?, &path["params.".len()..])
}

/// The member that a path ends with, of the object before it, which has been read already; null as if it were absent.
fn member<'b>(
    object: Option<RawJson<'b>>,
    path: &'static str,
) -> Result<Option<RawJson<'b>>, PeerFault> {
    let dot = path.bytes().rposition(|byte| byte == b'.');
    let name = &path[dot.map_or(0, |dot| dot + 1)..];
    let mut found = None;
    for (known, value) in object.and_then(RawJson::as_object).into_iter().flatten() {
        if known == name && found.replace(value).is_some() {
            return Err(EnvelopeFault::Duplicate(path).into());
        }
    }
    Ok(found.filter(|value| !value.is_null()))
}

pub(super) fn string<'b>(
    value: Option<RawJson<'b>>,
    field: &'static str,
) -> Result<JsonStr<'b>, PeerFault> {
    let expected = "a string";
    let string = value.and_then(RawJson::as_string);
    string.ok_or(PeerFault::Params { field, expected })
}

fn object<'b>(
    value: Option<RawJson<'b>>,
    field: &'static str,
) -> Result<Option<RawJson<'b>>, PeerFault> {
    if value.is_some_and(|value| value.kind() != Kind::Object) {
        let expected = "an object";
        return Err(PeerFault::Params { field, expected });
    }
    Ok(value)
}

/// PMT-02.
fn strings<'b>(
    value: Option<RawJson<'b>>,
    field: &'static str,
) -> Result<Option<RawJson<'b>>, PeerFault> {
    let expected = "an object of strings";
    let Some(value) = value else {
        return Ok(None);
    };
    let members = value.as_object();
    let all = members.is_some_and(|mut it| it.all(|(_, value)| value.kind() == Kind::String));
    if !all {
        return Err(PeerFault::Params { field, expected });
    }
    Ok(Some(value))
}
