//! Tools as far as HTTP is concerned: which arguments are mirrored into headers, and which tools cannot be called.

use alloc::borrow::ToOwned as _;
use alloc::collections::BTreeMap;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use super::message::{excerpt, member, string};
use super::{Action, HttpClient, HttpFault};
use crate::json::{RawJson, Writer};
use crate::model::header::{ArgumentFault, ParamHeader, param_headers};

/// So many tools with mirrored arguments are remembered; calls of others are refused by the server, and its list is asked
/// for again.
const MOST: usize = 4096;

/// The annotations of the tools that have any, from the list that came last (XH-14).
#[derive(Debug, Default)]
pub(super) struct Tools(BTreeMap<String, Vec<ParamHeader>>);

impl Tools {
    /// The fields that a call mirrors its arguments into (XH-11). A tool that is not known has none (XH-14).
    ///
    /// What is not of the type that the schema says has no field: the server says what it thinks of it.
    pub(super) fn mirror(
        &self,
        name: &str,
        call: &[u8],
    ) -> Result<Vec<(String, String)>, HttpFault> {
        let Some(headers) = self.0.get(name) else {
            return Ok(Vec::new());
        };
        let call = RawJson::parse(call).ok();
        let arguments = call
            .and_then(|call| member(call, "params"))
            .and_then(|params| member(params, "arguments"));
        let mut fields = Vec::new();
        for header in headers {
            match header.header_value(arguments) {
                Ok(Some(value)) => {
                    fields.push((
                        header.header_name().to_ascii_lowercase(),
                        value.into_owned(),
                    ));
                }
                Ok(None) | Err(ArgumentFault::Type) => {}
                // XH-17.
                Err(fault) => {
                    return Err(HttpFault::Argument {
                        path: header.path().join("."),
                        reason: fault.to_string(),
                    });
                }
            }
        }
        Ok(fields)
    }

    fn learn(&mut self, name: &str, headers: Vec<ParamHeader>) {
        if headers.is_empty() {
            self.0.remove(name);
        } else if self.0.len() < MOST || self.0.contains_key(name) {
            self.0.insert(name.to_owned(), headers);
        }
    }
}

impl HttpClient {
    /// Looks through an answer to `tools/list`: tools that cannot be called are left out (XH-07), the others stay as they
    /// are.
    pub(super) fn tools_listed(&mut self, message: Vec<u8>) -> Vec<u8> {
        let Ok(whole) = RawJson::parse_with_depth(&message, self.limits.max_depth) else {
            return message;
        };
        let tools = member(whole, "result").and_then(|result| member(result, "tools"));
        let Some(tools) = tools.and_then(RawJson::as_array) else {
            return message;
        };
        let mut kept = Vec::new();
        let mut complete = true;
        for tool in tools {
            let name = string(tool, "name").unwrap_or_default();
            match member(tool, "inputSchema").map_or(Ok(Vec::new()), param_headers) {
                Ok(headers) => {
                    self.tools.learn(&name, headers);
                    kept.push(tool);
                }
                Err(fault) => {
                    complete = false;
                    self.tools.0.remove(&*name);
                    self.actions.push_back(Action::ToolLeftOut {
                        name: excerpt(name.as_bytes()),
                        reason: fault.to_string(),
                    });
                }
            }
        }
        if complete {
            return message;
        }
        let mut text = Vec::new();
        let mut json = Writer::new(&mut text);
        copy(whole, &mut json, |name, value, json| {
            if name != "result" {
                json.raw(value);
                return;
            }
            copy(value, json, |name, value, json| {
                if name != "tools" {
                    json.raw(value);
                    return;
                }
                json.begin_array();
                kept.iter().for_each(|tool| json.raw(*tool));
                json.end_array();
            });
        });
        // A vector has room.
        let _ = json.finish();
        text
    }
}

/// Writes an object again, with values of the caller's.
fn copy<'b>(
    object: RawJson<'b>,
    json: &mut Writer<'_, Vec<u8>>,
    mut value: impl FnMut(&str, RawJson<'b>, &mut Writer<'_, Vec<u8>>),
) {
    json.begin_object();
    for (name, found) in object.as_object().into_iter().flatten() {
        let name = name.decode();
        json.key(&name);
        value(&name, found, json);
    }
    json.end_object();
}
