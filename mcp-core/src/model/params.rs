//! The members of `params` that any method here takes, found in one pass.

use crate::error::{EnvelopeFault, PeerFault};
use crate::json::{JsonStr, RawJson};

/// The known members of one `params` object. Absent and null are the same here; unknown members are ignored (RPC-14).
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Params<'b> {
    /// `_meta`.
    pub meta: Option<RawJson<'b>>,
    /// `name` of `tools/call`.
    pub name: Option<RawJson<'b>>,
    /// `arguments` of `tools/call`.
    pub arguments: Option<RawJson<'b>>,
    /// `cursor` of the lists.
    pub cursor: Option<RawJson<'b>>,
    /// `protocolVersion` of `initialize`.
    pub protocol_version: Option<RawJson<'b>>,
    /// `capabilities` of `initialize`.
    pub capabilities: Option<RawJson<'b>>,
    /// `clientInfo` of `initialize`.
    pub client_info: Option<RawJson<'b>>,
    /// `requestId` of `notifications/cancelled`.
    pub request_id: Option<RawJson<'b>>,
}

impl<'b> Params<'b> {
    /// Finds the members.
    ///
    /// # Errors
    ///
    /// A known member that occurs twice: two readers could see two messages.
    pub fn read(params: Option<RawJson<'b>>) -> Result<Self, PeerFault> {
        let mut found = Self::default();
        let Some(members) = params.and_then(RawJson::as_object) else {
            return Ok(found);
        };
        // One bit for each member seen, null or not.
        let mut seen = 0_u8;
        for (name, value) in members {
            let Some((slot, bit, name)) = found.slot(name) else {
                continue;
            };
            if seen & bit != 0 {
                return Err(EnvelopeFault::Duplicate(name).into());
            }
            seen |= bit;
            *slot = Some(value).filter(|value| !value.is_null());
        }
        Ok(found)
    }

    fn slot(&mut self, name: JsonStr<'b>) -> Option<(&mut Option<RawJson<'b>>, u8, &'static str)> {
        // Borrowed unless the name is written with escapes, which nobody does.
        Some(match &*name.decode() {
            "_meta" => (&mut self.meta, 1, "params._meta"),
            "name" => (&mut self.name, 1 << 1, "params.name"),
            "arguments" => (&mut self.arguments, 1 << 2, "params.arguments"),
            "cursor" => (&mut self.cursor, 1 << 3, "params.cursor"),
            "protocolVersion" => (&mut self.protocol_version, 1 << 4, "params.protocolVersion"),
            "capabilities" => (&mut self.capabilities, 1 << 5, "params.capabilities"),
            "clientInfo" => (&mut self.client_info, 1 << 6, "params.clientInfo"),
            "requestId" => (&mut self.request_id, 1 << 7, "params.requestId"),
            _ => return None,
        })
    }
}

/// The value as a string, or the fault that names `field`.
pub(crate) fn string<'b>(
    value: Option<RawJson<'b>>,
    field: &'static str,
) -> Result<JsonStr<'b>, PeerFault> {
    value.and_then(RawJson::as_string).ok_or(PeerFault::Params {
        field,
        expected: "a string",
    })
}
