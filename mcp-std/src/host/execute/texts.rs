//! The texts of an outcome, wherever a server can say something.

use std::borrow::Cow;

use mcp_core::model::{CallToolResult, ContentBlock, ResourceContents};

use super::call::ExecuteError;
use crate::client::CallError;

/// Changes each text: those of blocks, of embedded resources, of links, and of errors. `None`: it stays. Structured content is
/// no text, and is left as it is.
pub(super) fn change(
    outcome: &mut Result<CallToolResult<'static>, ExecuteError>,
    change: &dyn Fn(&str) -> Option<String>,
) {
    match outcome {
        Ok(result) => {
            let mut content = core::mem::take(&mut result.content).into_vec();
            content.iter_mut().for_each(|it| change_block(it, change));
            result.content = content.into();
        }
        Err(error) => change_error(error, change),
    }
}

fn change_block(block: &mut ContentBlock<'static>, change: &dyn Fn(&str) -> Option<String>) {
    let one = |text: &mut Cow<'static, str>| {
        if let Some(new) = change(text) {
            *text = new.into();
        }
    };
    match block {
        ContentBlock::Text(block) => one(&mut block.text),
        ContentBlock::Resource(block) => match &mut block.resource {
            ResourceContents::Text(contents) => {
                one(&mut contents.text);
                one(&mut contents.uri);
            }
            ResourceContents::Blob(contents) => one(&mut contents.uri),
            _ => {}
        },
        ContentBlock::ResourceLink(link) => {
            one(&mut link.name);
            one(&mut link.uri);
            link.title.iter_mut().for_each(one);
            link.description.iter_mut().for_each(one);
        }
        ContentBlock::ToolResult(result) => {
            let mut content = core::mem::take(&mut result.content).into_vec();
            content.iter_mut().for_each(|it| change_block(it, change));
            result.content = content.into();
        }
        // Bytes, and what models are told of by its type only.
        ContentBlock::Image(_)
        | ContentBlock::Audio(_)
        | ContentBlock::ToolUse(_)
        | ContentBlock::Unknown(_)
        | _ => {}
    }
}

fn change_error(error: &mut ExecuteError, change: &dyn Fn(&str) -> Option<String>) {
    let one = |text: &mut String| {
        if let Some(new) = change(text) {
            *text = new;
        }
    };
    match error {
        ExecuteError::Unavailable(error) => one(&mut error.why),
        ExecuteError::NotApproved(reason) | ExecuteError::Refused(reason) => one(reason),
        ExecuteError::Call(error) => match &mut **error {
            CallError::Protocol(answer) | CallError::UrlElicitationRequired { answer, .. } => {
                one(&mut answer.message);
            }
            CallError::Answer { fault, .. } | CallError::Schema(fault) => one(fault),
            CallError::Declined { reason, .. } => one(reason),
            other @ (CallError::Tool(_)
            | CallError::Timeout(_)
            | CallError::Cancelled
            | CallError::Closed(_)
            | CallError::Http { .. }
            | CallError::Decode { .. }
            | CallError::Unsupported(_)
            | CallError::Arguments(_)
            | CallError::TooManyRounds { .. }
            | CallError::Paging(_)) => {
                // The words are somewhere within: what it says as a whole takes its place.
                if let Some(fault) = change(&other.to_string()) {
                    **error = CallError::Answer {
                        method: "tools/call".into(),
                        fault,
                    };
                }
            }
        },
        ExecuteError::UnknownTool { .. }
        | ExecuteError::Arguments(_)
        | ExecuteError::Held(_)
        | ExecuteError::Gone(_)
        | ExecuteError::CircuitOpen { .. }
        | ExecuteError::TimedOut(_) => {}
    }
}
