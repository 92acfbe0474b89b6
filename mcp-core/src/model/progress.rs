//! `notifications/progress` (basic, patterns, "Progress").

use crate::Cow;

use super::ProtocolVersion;
use super::codec::{B, Target, record};
use crate::json::{Json, RawJson, Sink, Writer};

record! {
    /// How far a request has come. Reading takes it from the params of the notification; whose it is says the
    /// `progressToken` there, see [`ProgressParams`].
    pub struct Progress<'a> {
        /// So much is done; more with each notification (PRG-03).
        progress: num f64 = "progress";
        /// Out of so much, if that is known.
        total: opt f64 = "total";
        /// What is going on. Not sent to peers of 2024-11-05, which does not have it.
        message: opt Cow<'a, str> = "message" [B E];
    }
}

record! {
    /// The params of `notifications/progress`.
    pub struct ProgressParams<'a> {
        /// What the request gave: a string or an integer (META-16).
        progress_token: req Json<'a> = "progressToken";
        /// So much is done.
        progress: num f64 = "progress";
        /// Out of so much, if that is known.
        total: opt f64 = "total";
        /// What is going on. From 2025-03-26 on.
        message: opt Cow<'a, str> = "message" [B E];
        /// `_meta`.
        meta: opt Json<'a> = "_meta";
    }
}

impl<'a> Progress<'a> {
    /// The same with a total.
    #[must_use]
    pub fn of(self, total: f64) -> Self {
        Self {
            total: Some(total),
            ..self
        }
    }

    /// The same with a message.
    #[must_use]
    pub fn saying(self, message: impl Into<Cow<'a, str>>) -> Self {
        Self {
            message: Some(message.into()),
            ..self
        }
    }

    /// Writes the params of the notification.
    pub(crate) fn write_params<S: Sink + ?Sized>(
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
            .as_deref()
            .filter(|_| Target::of(version).since(B))
        {
            json.key("message");
            json.string(message);
        }
        json.end_object();
    }
}
