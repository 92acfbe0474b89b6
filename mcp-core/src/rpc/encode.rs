//! Envelopes out: appended whole to the caller's sink, or not at all.

use core::fmt;

use super::RequestId;
use crate::error::ErrorCode;
use crate::json::{Full, RawJson, Sink, Writer};

/// The `error` of a response.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ErrorObject<'a> {
    /// What kind of error.
    pub code: ErrorCode,
    /// One concise sentence (RPC-19).
    pub message: &'a str,
    /// More for programs to read.
    pub data: Option<RawJson<'a>>,
}

impl<'a> ErrorObject<'a> {
    /// An error without data.
    #[must_use]
    pub const fn new(code: ErrorCode, message: &'a str) -> Self {
        Self {
            code,
            message,
            data: None,
        }
    }

    /// The same with data.
    #[must_use]
    pub const fn with_data(self, data: RawJson<'a>) -> Self {
        Self {
            data: Some(data),
            ..self
        }
    }
}

/// Appends `{"jsonrpc":"2.0","id":…,"result":…}`; `result` writes the one value of the result.
///
/// # Errors
///
/// [`Full`] if the sink has no room: it is then as it was.
pub fn write_result<S: Sink + ?Sized>(
    out: &mut S,
    id: RawJson<'_>,
    result: impl FnOnce(&mut Writer<'_, S>),
) -> Result<(), Full> {
    let mut json = Writer::new(out);
    json.open("{\"jsonrpc\":\"2.0\",\"id\":");
    json.raw(id);
    json.open("\"result\":");
    result(&mut json);
    json.end_object();
    json.finish_message()
}

/// Appends `{"jsonrpc":"2.0","id":…,"error":{…}}`, without `id` where the request's could not be read (RPC-09).
/// The message is what `message` displays.
///
/// # Errors
///
/// [`Full`] if the sink has no room: it is then as it was.
pub fn write_error<S: Sink + ?Sized>(
    out: &mut S,
    id: Option<RawJson<'_>>,
    code: ErrorCode,
    message: &(impl fmt::Display + ?Sized),
    data: impl FnOnce(&mut Writer<'_, S>),
) -> Result<(), Full> {
    let mut json = begin(out, id);
    json.key("error");
    json.begin_object();
    json.key("code");
    json.integer(code.value());
    json.key("message");
    json.display(message);
    data(&mut json);
    json.end_object();
    json.end_object();
    json.finish_message()
}

/// Appends a request; `params` writes the one value of its params.
///
/// # Errors
///
/// [`Full`] if the sink has no room: it is then as it was.
pub fn write_request<S: Sink + ?Sized>(
    out: &mut S,
    id: RequestId<'_>,
    method: &str,
    params: impl FnOnce(&mut Writer<'_, S>),
) -> Result<(), Full> {
    write_call(out, Some(id), method, params)
}

/// The same, for an id that is a number.
pub(crate) fn write_numbered_request<S: Sink + ?Sized>(
    out: &mut S,
    id: u64,
    method: &str,
    params: impl FnOnce(&mut Writer<'_, S>),
) -> Result<(), Full> {
    let mut json = Writer::new(out);
    json.open("{\"jsonrpc\":\"2.0\",\"id\":");
    json.unsigned(id);
    json.open("\"method\":");
    json.string(method);
    json.open("\"params\":");
    params(&mut json);
    json.end_object();
    json.finish_message()
}

/// Appends a notification, which has no id (RPC-11); `params` writes the one value of its params.
///
/// # Errors
///
/// [`Full`] if the sink has no room: it is then as it was.
pub fn write_notification<S: Sink + ?Sized>(
    out: &mut S,
    method: &str,
    params: impl FnOnce(&mut Writer<'_, S>),
) -> Result<(), Full> {
    write_call(out, None, method, params)
}

fn write_call<S: Sink + ?Sized>(
    out: &mut S,
    id: Option<RequestId<'_>>,
    method: &str,
    params: impl FnOnce(&mut Writer<'_, S>),
) -> Result<(), Full> {
    let mut json = begin(out, id.map(|id| id.raw()));
    json.key("method");
    json.string(method);
    json.key("params");
    params(&mut json);
    json.end_object();
    json.finish_message()
}

/// Begins a message, with `id` where there is one.
fn begin<'o, S: Sink + ?Sized>(out: &'o mut S, id: Option<RawJson<'_>>) -> Writer<'o, S> {
    let mut json = Writer::new(out);
    json.begin_object();
    json.key("jsonrpc");
    json.string("2.0");
    if let Some(id) = id {
        json.key("id");
        json.raw(id);
    }
    json
}
