//! A task as it is kept, and as clients see it.

use core::fmt::{self, Write as _};

use mcp_core::json::{Json, Writer};
use serde::{Deserialize, Serialize};

use super::live::Now;

/// A task as a [`TaskStore`](super::TaskStore) keeps it. It can be written by serde: a store need not look into it.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub struct TaskRecord {
    /// What names it: 160 bits that nobody can guess, in hexadecimal.
    pub id: String,
    /// Whose it is, by the name of the [`Principal`](crate::Principal). `None`: whoever knows the name.
    pub owner: Option<String>,
    /// The connection it began on, for the list that clients of 2025-11-25 can ask for.
    pub session: u64,
    /// Which tool was called.
    pub tool: String,
    /// Begun by a client of 2025-11-25, in the form that tasks had then.
    pub is_experimental: bool,
    /// When it began: milliseconds since 1970.
    pub created: u64,
    /// When it last changed.
    pub updated: u64,
    /// How long it is kept from when it began, in milliseconds. `None`: for ever.
    pub ttl: Option<u64>,
    /// How often clients are to ask, in milliseconds.
    pub poll_interval: u64,
    /// How it ended. `None`: it runs, or did when the process that ran it ended.
    pub end: Option<TaskEnd>,
}

/// How a task ended.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize)]
#[non_exhaustive]
pub enum TaskEnd {
    /// The tool has a result.
    #[non_exhaustive]
    Completed {
        /// The result, a JSON object.
        result: String,
        /// It says that the tool failed.
        is_error: bool,
    },
    /// The call failed with a JSON-RPC error.
    #[non_exhaustive]
    Failed {
        /// Its code.
        code: i64,
        /// Its message.
        message: String,
        /// Its data, JSON.
        data: Option<String>,
    },
    /// It was cancelled.
    Cancelled,
}

impl TaskEnd {
    pub(crate) fn failed(code: mcp_core::ErrorCode, message: impl Into<String>) -> Self {
        Self::Failed {
            code: code.value(),
            message: message.into(),
            data: None,
        }
    }

    /// How many bytes of text it holds.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Completed { result, .. } => result.len(),
            Self::Failed { message, data, .. } => {
                message.len() + data.as_ref().map_or(0, String::len)
            }
            Self::Cancelled => 0,
        }
    }
}

impl TaskRecord {
    /// Whether it need not be kept any longer.
    #[must_use]
    pub fn is_expired(&self, now: u64) -> bool {
        let end = self.ttl.map(|ttl| self.created.saturating_add(ttl));
        end.is_some_and(|end| end <= now)
    }

    const fn status(&self, now: Option<&Now>) -> &'static str {
        match (&self.end, now) {
            // TX-08.
            (Some(TaskEnd::Completed { is_error, .. }), _) => {
                // TL-09: once a failure of the tool was one of the task.
                if *is_error && self.is_experimental {
                    "failed"
                } else {
                    "completed"
                }
            }
            (Some(TaskEnd::Failed { .. }), _) => "failed",
            (Some(TaskEnd::Cancelled), _) => "cancelled",
            (
                None,
                Some(Now {
                    is_asking: true, ..
                }),
            ) => "input_required",
            (None, _) => "working",
        }
    }

    /// The members that say how it stands, in an open object: `now` is what only the process knows that runs it.
    pub(super) fn write(&self, now: Option<&Now>, json: &mut Writer<'_, Vec<u8>>) {
        let text = |json: &mut Writer<'_, Vec<u8>>, name: &str, value: &str| {
            json.key(name);
            json.string(value);
        };
        text(json, "taskId", &self.id);
        text(json, "status", self.status(now));
        let message = match (&self.end, now) {
            (Some(TaskEnd::Failed { message, .. }), _) => Some(message.as_str()),
            (None, Some(now)) => now.message.as_deref(),
            _ => None,
        };
        if let Some(message) = message {
            text(json, "statusMessage", message);
        }
        let updated = now.map_or(self.updated, |now| now.updated.max(self.updated));
        text(json, "createdAt", &Iso(self.created).to_string());
        text(json, "lastUpdatedAt", &Iso(updated).to_string());
        // TL-05, TX-05.
        let (ttl, poll_interval) = match self.is_experimental {
            true => ("ttl", "pollInterval"),
            false => ("ttlMs", "pollIntervalMs"),
        };
        json.key(ttl);
        match self.ttl {
            Some(ttl) => json.unsigned(ttl),
            None => json.null(),
        }
        json.key(poll_interval);
        json.unsigned(self.poll_interval);
    }

    /// All there is to say of it, as 2026-07-28 has it: with its result, its error or what it asks for.
    pub(super) fn details(&self, now: Option<&Now>) -> Json<'static> {
        Json::written(|json| {
            json.begin_object();
            self.write(now, json);
            match (&self.end, now) {
                (Some(TaskEnd::Completed { result, .. }), _) => {
                    json.key("result");
                    write_result(result, json);
                }
                (
                    Some(TaskEnd::Failed {
                        code,
                        message,
                        data,
                    }),
                    _,
                ) => {
                    json.key("error");
                    json.begin_object();
                    json.key("code");
                    json.integer(*code);
                    json.key("message");
                    json.string(message);
                    if let Some(data) = data {
                        json.key("data");
                        write_kept(data, json);
                    }
                    json.end_object();
                }
                (None, Some(now)) if now.is_asking => {
                    json.key("inputRequests");
                    json.begin_object();
                    for (key, request) in &now.requests {
                        json.key(key);
                        json.raw(request.raw());
                    }
                    json.end_object();
                }
                _ => {}
            }
            json.end_object();
        })
    }
}

/// The result of the call, complete as it would have been without a task.
fn write_result(text: &str, json: &mut Writer<'_, Vec<u8>>) {
    let kept = Json::parse(text.as_bytes());
    let members = kept.as_ref().ok().and_then(|it| it.raw().as_object());
    let Some(members) = members else {
        return write_kept(text, json);
    };
    json.begin_object();
    // RES-01; clients that take a task's result for that of a call look for it.
    json.key("resultType");
    json.string("complete");
    for (name, value) in members.filter(|(name, _)| *name != "resultType") {
        json.key(&name.decode());
        json.raw(value);
    }
    json.end_object();
}

/// What was JSON when it was kept; a store that lost it is not to make an answer unreadable.
fn write_kept(text: &str, json: &mut Writer<'_, Vec<u8>>) {
    match Json::parse(text.as_bytes()) {
        Ok(value) => json.raw(value.raw()),
        Err(_) => json.null(),
    }
}

/// Milliseconds since 1970, written as ISO 8601 has it.
struct Iso(u64);

impl fmt::Display for Iso {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DAY: u64 = 24 * 60 * 60;
        let (seconds, millis) = (self.0 / 1000, self.0 % 1000);
        let (days, second) = (seconds / DAY, seconds % DAY);
        // Years that begin in March, so that a leap day is the last of one; 400 of them are as long as any other 400.
        let days = days + 719_468;
        let (era, day) = (days / 146_097, days % 146_097);
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let date = day - (153 * month + 2) / 5 + 1;
        let (month, later) = if month < 10 {
            (month + 3, 0)
        } else {
            (month - 9, 1)
        };
        let year = year + era * 400 + later;
        write!(f, "{year:04}-{month:02}-{date:02}T")?;
        write!(f, "{:02}:{:02}:", second / 3600, second / 60 % 60)?;
        write!(f, "{:02}.{millis:03}", second % 60)?;
        f.write_char('Z')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_as_iso_8601() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_399_999, "2000-02-28T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_709_164_800_000, "2024-02-29T00:00:00.000Z"),
            (1_796_073_477_123, "2026-11-30T21:17:57.123Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ] {
            assert_eq!(Iso(millis).to_string(), text);
        }
    }
}
