//! A message that was read and is not served yet.

use crate::json::{JsonStr, RawJson};
use crate::limits::Limits;
use crate::model::Params;
use crate::rpc::{Envelope, Malformed};

/// One message, read once: for transports that have something to check before it is
/// [taken](super::ServerEngine::take), such as the headers of an HTTP request.
#[derive(Clone, Copy, Debug)]
pub struct Message<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) envelope: Result<Envelope<'b>, Malformed<'b>>,
    pub(super) params: Params<'b>,
}

impl<'b> Message<'b> {
    /// Reads one message: one JSON text, without framing. That it is at most [`Limits::max_message`] long is the
    /// caller's to see to. What is wrong with it shows when it is taken.
    #[must_use]
    pub fn read(bytes: &'b [u8], limits: &Limits) -> Self {
        let mut params = Params::default();
        let envelope = Envelope::parse_with(bytes, limits, &mut params);
        Self {
            bytes,
            envelope,
            params,
        }
    }

    /// What it is; [`Malformed`] if it is no message.
    ///
    /// # Errors
    ///
    /// What is wrong with it, for instance that it is a batch.
    pub const fn envelope(&self) -> Result<&Envelope<'b>, &Malformed<'b>> {
        self.envelope.as_ref()
    }

    /// The members of its params that the protocol knows.
    #[must_use]
    pub const fn params(&self) -> &Params<'b> {
        &self.params
    }

    /// Its params as they came, of a request or notification.
    pub(crate) const fn raw_params(&self) -> Option<RawJson<'b>> {
        match &self.envelope {
            Ok(Envelope::Request(request)) => request.params,
            Ok(Envelope::Notification(notification)) => notification.params,
            Ok(Envelope::Response(_)) | Err(_) => None,
        }
    }

    /// Whether it wants an answer.
    #[must_use]
    pub const fn is_request(&self) -> bool {
        matches!(self.envelope, Ok(Envelope::Request(_)))
    }

    /// The method of a request or notification.
    #[must_use]
    pub const fn method(&self) -> Option<JsonStr<'b>> {
        match &self.envelope {
            Ok(Envelope::Request(request)) => Some(request.method),
            Ok(Envelope::Notification(notification)) => Some(notification.method),
            Ok(Envelope::Response(_)) | Err(_) => None,
        }
    }
}
