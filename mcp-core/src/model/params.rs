//! The members of `params` that any method here takes, found while the envelope is.

use super::RequestMeta;
use crate::error::{EnvelopeFault, PeerFault};
use crate::json::{self, JsonStr, Kind, RawJson, Tokenizer};
use crate::rpc::ReadParams;

/// The known members of one `params` object. Absent and null are the same here; unknown members are ignored (RPC-14).
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Params<'b> {
    /// `_meta`.
    pub meta: RequestMeta<'b>,
    /// `_meta` as it stands there.
    pub raw_meta: Option<RawJson<'b>>,
    /// `name` of `tools/call` and `prompts/get`.
    pub name: Option<RawJson<'b>>,
    /// `arguments` of `tools/call` and `prompts/get`.
    pub arguments: Option<RawJson<'b>>,
    /// `uri` of `resources/read`, `resources/subscribe` and `resources/unsubscribe`.
    pub uri: Option<RawJson<'b>>,
    /// `ref` of `completion/complete`.
    pub reference: Option<RawJson<'b>>,
    /// `argument` of `completion/complete`.
    pub argument: Option<RawJson<'b>>,
    /// `context` of `completion/complete`.
    pub context: Option<RawJson<'b>>,
    /// `level` of `logging/setLevel`.
    pub level: Option<RawJson<'b>>,
    /// `notifications` of `subscriptions/listen`.
    pub notifications: Option<RawJson<'b>>,
    /// `inputResponses` of a request that is made once more with what was asked for (MRTR-09).
    pub input_responses: Option<RawJson<'b>>,
    /// `requestState` of a request that is made once more.
    pub request_state: Option<RawJson<'b>>,
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
    once: Once,
}

impl<'b> Params<'b> {
    /// Finds the members of an object that was read before.
    #[must_use]
    pub fn read(params: RawJson<'b>) -> Self {
        let mut found = Self::default();
        // A checked value has no faults, and what is no object has no members.
        let _ = Tokenizer::with_depth(params.as_bytes(), json::MAX_DEPTH)
            .object(|json, name| found.member(name, json));
        found
    }

    /// Whether the members can be relied on.
    ///
    /// # Errors
    ///
    /// A known member occurs twice, so that two readers could see two messages; or `_meta` is not an object.
    pub fn check(&self) -> Result<(), PeerFault> {
        self.once.check()?;
        self.meta.check()
    }

    fn read_meta(&mut self, json: &mut Tokenizer<'b>) -> Result<(), json::Error> {
        self.once.see(1, "params._meta");
        if json.peek()? == Kind::Object {
            let meta = &mut self.meta;
            self.raw_meta = Some(json.object(|json, name| meta.member(name, json))?);
            return Ok(());
        }
        if !json.value()?.is_null() {
            self.once.fault(PeerFault::Params {
                field: "_meta",
                expected: "an object",
            });
        }
        Ok(())
    }
}

impl<'b> ReadParams<'b> for Params<'b> {
    fn member(&mut self, name: JsonStr<'b>, json: &mut Tokenizer<'b>) -> Result<(), json::Error> {
        // Borrowed unless the name is written with escapes, which nobody does.
        let (slot, bit, name) = match &*name.known() {
            "_meta" => return self.read_meta(json),
            "name" => (&mut self.name, 1 << 1, "params.name"),
            "arguments" => (&mut self.arguments, 1 << 2, "params.arguments"),
            "cursor" => (&mut self.cursor, 1 << 3, "params.cursor"),
            "protocolVersion" => (&mut self.protocol_version, 1 << 4, "params.protocolVersion"),
            "capabilities" => (&mut self.capabilities, 1 << 5, "params.capabilities"),
            "clientInfo" => (&mut self.client_info, 1 << 6, "params.clientInfo"),
            "requestId" => (&mut self.request_id, 1 << 7, "params.requestId"),
            "uri" => (&mut self.uri, 1 << 8, "params.uri"),
            "ref" => (&mut self.reference, 1 << 9, "params.ref"),
            "argument" => (&mut self.argument, 1 << 10, "params.argument"),
            "context" => (&mut self.context, 1 << 11, "params.context"),
            "level" => (&mut self.level, 1 << 12, "params.level"),
            "notifications" => (&mut self.notifications, 1 << 13, "params.notifications"),
            "inputResponses" => (&mut self.input_responses, 1 << 14, "params.inputResponses"),
            "requestState" => (&mut self.request_state, 1 << 15, "params.requestState"),
            _ => return json.value().map(drop),
        };
        self.once.see(bit, name);
        *slot = Some(json.value()?).filter(|value| !value.is_null());
        Ok(())
    }
}

/// Which members of an object were seen, one bit for each, null or not; and the first thing wrong with them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Once {
    seen: u16,
    fault: Option<PeerFault>,
}

impl Once {
    pub(super) fn see(&mut self, bit: u16, name: &'static str) {
        if self.seen & bit != 0 {
            self.fault(EnvelopeFault::Duplicate(name).into());
        }
        self.seen |= bit;
    }

    fn fault(&mut self, fault: PeerFault) {
        self.fault.get_or_insert(fault);
    }

    pub(super) fn check(&self) -> Result<(), PeerFault> {
        self.fault.map_or(Ok(()), Err)
    }
}
