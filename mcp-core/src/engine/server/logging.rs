//! What is said to the client without being asked: log messages, and that an elicitation is over.

use super::catalog::Offered as _;
use super::serve::write_empty;
use super::{ServerEngine, Stop};
use crate::engine::{CallKey, Memory};
use crate::error::{PeerFault, SendError};
use crate::json::{Full, Sink};
use crate::model::{
    ClientCapabilities, Decode, Encode, Era, LoggingLevel, LoggingMessage, Params, ProtocolVersion,
};
use crate::rpc::{RequestId, write_notification};

impl<M: Memory> ServerEngine<M> {
    /// Sends a log message about a call, or about nothing in particular. Writes nothing where the client is not to have
    /// it: if the catalog does not declare `logging`; in a session below the level the client set; in the modern era if
    /// the call did not ask for it, or asked for more severe ones only (LOG-04).
    ///
    /// # Errors
    ///
    /// The call is over, or there is no room.
    pub fn log<S: Sink + ?Sized>(
        &mut self,
        call: Option<CallKey>,
        message: &LoggingMessage<'_>,
        out: &mut S,
    ) -> Result<(), SendError<()>> {
        let (version, level) = match call {
            Some(key) => {
                let call = self.calls.get_mut(key).ok_or(SendError::Stale)?;
                match call.version.era() {
                    Era::Legacy => (call.version, self.session_level()),
                    Era::Modern => (call.version, call.served.log_level),
                }
            }
            // Before there is a session nobody is there to be told.
            None => match self.session {
                Some(session) => (session.version, self.session_level()),
                None => return Ok(()),
            },
        };
        let wanted = level.is_some_and(|level| message.level >= level);
        if !wanted || !self.catalog.offers().logging {
            return Ok(());
        }
        write_notification(out, "notifications/message", |json| {
            message.encode(version, json)
        })
        .map_err(|Full| SendError::Full(()))
    }

    /// Tells the client that what its user was sent to a URL for is done (ELI-12). Writes nothing unless the session is
    /// one of 2025-11-25, which alone has this, with a client that can be sent to URLs.
    ///
    /// # Errors
    ///
    /// There is no room.
    pub fn elicitation_complete<S: Sink + ?Sized>(
        &mut self,
        elicitation_id: &str,
        out: &mut S,
    ) -> Result<(), Full> {
        let told = self.session.is_some_and(|session| {
            session.version == ProtocolVersion::V2025_11_25
                && session
                    .capabilities
                    .contains(ClientCapabilities::ELICITATION_URL)
        });
        if !told {
            return Ok(());
        }
        write_notification(out, "notifications/elicitation/complete", |json| {
            json.begin_object();
            json.key("elicitationId");
            json.string(elicitation_id);
            json.end_object();
        })
    }

    /// From which level on a session is told; everything until the client says otherwise (LOG-02).
    pub(super) fn session_level(&self) -> Option<LoggingLevel> {
        let session = self.session?;
        Some(session.log_level.unwrap_or(LoggingLevel::Debug))
    }

    /// `logging/setLevel`.
    pub(super) fn set_level<S: Sink + ?Sized>(
        &mut self,
        id: RequestId<'_>,
        params: &Params<'_>,
        out: &mut S,
    ) -> Result<(), Stop> {
        const EXPECTED: &str =
            "one of debug, info, notice, warning, error, critical, alert, emergency";
        let level = params
            .level
            .and_then(|level| LoggingLevel::decode(level).ok());
        let level = level.ok_or(PeerFault::Params {
            field: "level",
            expected: EXPECTED,
        })?;
        write_empty(id, out)?;
        if let Some(session) = &mut self.session {
            session.log_level = Some(level);
        }
        Ok(())
    }
}
