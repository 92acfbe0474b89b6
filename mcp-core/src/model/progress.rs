//! `notifications/progress` (basic, patterns, "Progress").

use super::ProtocolVersion;
use crate::json::{RawJson, Sink, Writer};

/// How far a request has come.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Progress<'a> {
    /// So much is done; more with each notification (PRG-03).
    pub progress: f64,
    /// Out of so much, if that is known.
    pub total: Option<f64>,
    /// What is going on. Not sent to peers of 2024-11-05, which does not have it.
    pub message: Option<&'a str>,
}

impl<'a> Progress<'a> {
    /// Progress without a total.
    #[must_use]
    pub const fn new(progress: f64) -> Self {
        Self {
            progress,
            total: None,
            message: None,
        }
    }

    /// The same with a total.
    #[must_use]
    pub const fn of(self, total: f64) -> Self {
        Self {
            total: Some(total),
            ..self
        }
    }

    /// The same with a message.
    #[must_use]
    pub const fn saying(self, message: &'a str) -> Self {
        Self {
            message: Some(message),
            ..self
        }
    }

    /// Writes the params of the notification.
    pub(crate) fn write<S: Sink + ?Sized>(
        &self,
        token: RawJson<'_>,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
    ) {
        json.begin_object();
        json.key("progressToken");
        json.raw(token);
        json.key("progress");
        json.float(self.progress);
        // JSON has neither NaN nor infinities.
        if let Some(total) = self.total.filter(|total| total.is_finite()) {
            json.key("total");
            json.float(total);
        }
        if let Some(message) = self
            .message
            .filter(|_| version > ProtocolVersion::V2024_11_05)
        {
            json.key("message");
            json.string(message);
        }
        json.end_object();
    }
}
