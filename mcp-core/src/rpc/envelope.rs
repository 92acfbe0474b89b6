//! The envelope of one message, found in one pass with its members in any order.

use super::RequestId;
use crate::error::{EnvelopeFault, ErrorCode, PeerFault};
use crate::json::{self, JsonStr, Kind, RawJson, Tokenizer};
use crate::limits::Limits;

/// One JSON-RPC message, borrowed from the bytes it came in.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Envelope<'b> {
    /// Wants an answer.
    Request(Request<'b>),
    /// Wants none (RPC-12).
    Notification(Notification<'b>),
    /// Is one.
    Response(Response<'b>),
}

/// `{jsonrpc, id, method, params?}`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Request<'b> {
    /// What the answer has to carry.
    pub id: RequestId<'b>,
    /// The method's name.
    pub method: JsonStr<'b>,
    /// An object; `None` if absent or null.
    pub params: Option<RawJson<'b>>,
}

/// `{jsonrpc, method, params?}`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Notification<'b> {
    /// The method's name.
    pub method: JsonStr<'b>,
    /// An object; `None` if absent or null.
    pub params: Option<RawJson<'b>>,
}

/// `{jsonrpc, id, result}` or `{jsonrpc, id?, error}`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Response<'b> {
    /// The request it answers; `None` only with an error, where the peer could not read an id (RPC-09).
    pub id: Option<RequestId<'b>>,
    /// How the request went.
    pub outcome: Outcome<'b>,
}

/// Exactly one of the two (RPC-10). `null` beside the other one counts as absent.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Outcome<'b> {
    /// The `result`.
    Result(RawJson<'b>),
    /// The `error`.
    #[non_exhaustive]
    Error {
        /// What kind of error.
        code: ErrorCode,
        /// One sentence about it.
        message: JsonStr<'b>,
        /// More, if the peer gave more.
        data: Option<RawJson<'b>>,
    },
}

/// A message that cannot be taken, with the id an answer to it has to carry, if one could be read.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Malformed<'b> {
    /// What is wrong.
    pub fault: PeerFault,
    /// The id, if it was readable.
    pub id: Option<RequestId<'b>>,
    /// Whether an answer is due: not to a notification, and not to a response (RPC-12).
    pub answer_due: bool,
}

impl<'b> Malformed<'b> {
    /// Whether it is an answer, for all that can be read of it: who waits for one with its id need not wait any longer
    /// (ID-08). What does not even call itself JSON-RPC is noise, whatever its id (FR-04).
    pub(crate) fn is_answer(&self) -> bool {
        let PeerFault::Envelope(fault) = self.fault else {
            return false;
        };
        let noise = matches!(
            fault,
            EnvelopeFault::Version | EnvelopeFault::NotAnObject | EnvelopeFault::Batch
        );
        let shape = matches!(fault, EnvelopeFault::Shapeless | EnvelopeFault::Ambiguous);
        !noise && self.id.is_some() && (!self.answer_due || shape)
    }

    /// What can be said of a message of which only the beginning is there: not whose it is, unless `jsonrpc` and `id` come
    /// before the first member that is an object or an array, and in the first 256 bytes.
    pub(crate) fn beginning(start: &'b [u8], fault: PeerFault, limits: &Limits) -> Self {
        const LOOKED_AT: usize = 256;
        // The same, whether what is above the limit is there or not.
        let start = &start[..start.len().min(LOOKED_AT).min(limits.max_message)];
        let mut members = Members::default();
        // A fault where the text is cut is none.
        let _ = members.begin(start);
        if !members.is_json_rpc() {
            members = Members::default();
        }
        members.malformed(fault, limits)
    }
}

/// Reads `params` on the way, in the same pass that finds the envelope. This layer knows no names of members; `()` reads
/// over them.
pub trait ReadParams<'b> {
    /// Is told of a member of `params`, and has to read its value.
    ///
    /// # Errors
    ///
    /// Those of `json` only. What else is wrong with the value has to be remembered: it is for later, when the method is
    /// known.
    fn member(&mut self, name: JsonStr<'b>, json: &mut Tokenizer<'b>) -> Result<(), json::Error>;
}

impl<'b> ReadParams<'b> for () {
    fn member(&mut self, _: JsonStr<'b>, json: &mut Tokenizer<'b>) -> Result<(), json::Error> {
        json.value().map(drop)
    }
}

#[derive(Default)]
struct Members<'b> {
    jsonrpc: Option<RawJson<'b>>,
    id: Option<RawJson<'b>>,
    method: Option<RawJson<'b>>,
    params: Option<RawJson<'b>>,
    result: Option<RawJson<'b>>,
    error: Option<RawJson<'b>>,
    /// Then there is no id to answer with: readers that keep the first one and readers that keep the last disagree.
    id_twice: bool,
}

impl<'b> Envelope<'b> {
    /// Reads one message: exactly one JSON object, nothing but whitespace around it.
    ///
    /// Member names match exactly, unknown members are ignored (RPC-14), and a member of the envelope that occurs twice
    /// refuses the message. All of the text is validated, `params` and `result` included.
    ///
    /// # Errors
    ///
    /// [`Malformed`] says what is wrong and whom to tell.
    pub fn parse(bytes: &'b [u8], limits: &Limits) -> Result<Self, Malformed<'b>> {
        Self::parse_with(bytes, limits, &mut ())
    }

    /// The same, and `params` are read on the way.
    ///
    /// # Errors
    ///
    /// The same. What `params` has read of a message that is refused is of no use.
    pub fn parse_with(
        bytes: &'b [u8],
        limits: &Limits,
        params: &mut impl ReadParams<'b>,
    ) -> Result<Self, Malformed<'b>> {
        let mut members = Members::default();
        match members.read(bytes, limits, params) {
            // A text that is not JSON has no id: what was read before the fault proves nothing.
            Err(fault @ PeerFault::Json(_)) => Err(Malformed {
                fault,
                id: None,
                answer_due: true,
            }),
            Err(fault) => Err(members.malformed(fault, limits)),
            Ok(()) => members
                .envelope(limits)
                .map_err(|fault| members.malformed(fault.into(), limits)),
        }
    }
}

impl<'b> Members<'b> {
    fn read(
        &mut self,
        bytes: &'b [u8],
        limits: &Limits,
        params: &mut impl ReadParams<'b>,
    ) -> Result<(), PeerFault> {
        let mut json = Tokenizer::with_depth(bytes, limits.max_depth);
        let kind = json.peek().map_err(PeerFault::Json)?;
        if kind != Kind::Object {
            json.value()
                .and_then(|_| json.end())
                .map_err(PeerFault::Json)?;
            let fault = if kind == Kind::Array {
                EnvelopeFault::Batch
            } else {
                EnvelopeFault::NotAnObject
            };
            return Err(fault.into());
        }
        let mut duplicate = None;
        let mut id_twice = false;
        json.object(|json, name| {
            let Some((slot, name)) = self.slot(name) else {
                return json.value().map(drop);
            };
            let value = if name == "params" && json.peek()? == Kind::Object {
                json.object(|json, name| params.member(name, json))?
            } else {
                json.value()?
            };
            if slot.replace(value).is_some() {
                duplicate.get_or_insert(name);
                id_twice |= name == "id";
            }
            Ok(())
        })
        .and_then(|_| json.end())
        .map_err(PeerFault::Json)?;
        self.id_twice = id_twice;
        duplicate.map_or(Ok(()), |name| Err(EnvelopeFault::Duplicate(name).into()))
    }

    /// Reads the members up to the first one that holds others, of which there is only the name.
    fn begin(&mut self, start: &'b [u8]) -> Result<(), json::Error> {
        let mut json = Tokenizer::new(start);
        let mut last = None;
        json.begin_object()?;
        while let Some(name) = json.next_member()? {
            // A number is whole when something follows it.
            self.put(last.take());
            if matches!(json.peek()?, Kind::Object | Kind::Array) {
                self.put(Some((name, RawJson::new("{}"))));
                return Ok(());
            }
            last = Some((name, json.value()?));
        }
        self.put(last);
        Ok(())
    }

    fn put(&mut self, member: Option<(JsonStr<'b>, RawJson<'b>)>) {
        if let Some((name, value)) = member
            && let Some((slot, name)) = self.slot(name)
        {
            let twice = slot.replace(value).is_some();
            self.id_twice |= twice && name == "id";
        }
    }

    #[cfg_attr(feature = "alloc", inline(always))]
    fn slot(&mut self, name: JsonStr<'b>) -> Option<(&mut Option<RawJson<'b>>, &'static str)> {
        // Borrowed unless the name is written with escapes, which nobody does.
        Some(match &*name.known() {
            "jsonrpc" => (&mut self.jsonrpc, "jsonrpc"),
            "id" => (&mut self.id, "id"),
            "method" => (&mut self.method, "method"),
            "params" => (&mut self.params, "params"),
            "result" => (&mut self.result, "result"),
            "error" => (&mut self.error, "error"),
            _ => return None,
        })
    }

    fn is_json_rpc(&self) -> bool {
        self.jsonrpc.is_some_and(|version| version.is_text("2.0"))
    }

    fn envelope(&self, limits: &Limits) -> Result<Envelope<'b>, EnvelopeFault> {
        if !self.is_json_rpc() {
            return Err(EnvelopeFault::Version);
        }
        let Some(method) = self.method else {
            return self.response(limits);
        };
        if self.result.is_some() || self.error.is_some() {
            return Err(EnvelopeFault::Ambiguous);
        }
        let id = self
            .id
            .map(|_| self.request_id(limits).ok_or(EnvelopeFault::Id))
            .transpose()?;
        let method = method.as_string().ok_or(EnvelopeFault::Method)?;
        let params = self.params.filter(|params| !params.is_null());
        if params.is_some_and(|params| params.kind() != Kind::Object) {
            return Err(EnvelopeFault::Params);
        }
        Ok(match id {
            Some(id) => Envelope::Request(Request { id, method, params }),
            None => Envelope::Notification(Notification { method, params }),
        })
    }

    fn response(&self, limits: &Limits) -> Result<Envelope<'b>, EnvelopeFault> {
        let present = |value: Option<RawJson<'b>>| value.filter(|value| !value.is_null());
        // Base JSON-RPC writes `"id":null` where no id could be read; MCP leaves it out (RPC-09).
        let id = present(self.id)
            .map(|_| self.request_id(limits).ok_or(EnvelopeFault::Id))
            .transpose()?;
        let outcome = match (present(self.result), present(self.error)) {
            (Some(_), Some(_)) => return Err(EnvelopeFault::Ambiguous),
            (None, None) => return Err(EnvelopeFault::Shapeless),
            // Only an error can be about a request whose id could not be read.
            (Some(_), None) if id.is_none() => return Err(EnvelopeFault::Id),
            (Some(result), None) => Outcome::Result(result),
            (None, Some(error)) => error_outcome(error).ok_or(EnvelopeFault::Error)?,
        };
        Ok(Envelope::Response(Response { id, outcome }))
    }

    fn request_id(&self, limits: &Limits) -> Option<RequestId<'b>> {
        self.id
            .filter(|id| !self.id_twice && id.as_bytes().len() <= limits.max_id)
            .and_then(RequestId::new)
    }

    fn malformed(&self, fault: PeerFault, limits: &Limits) -> Malformed<'b> {
        let response = self.method.is_none() && (self.result.is_some() || self.error.is_some());
        let notification = self.id.is_none()
            && self
                .method
                .is_some_and(|method| method.kind() == Kind::String);
        Malformed {
            fault,
            id: self.request_id(limits),
            answer_due: !(response || notification),
        }
    }
}

fn error_outcome(error: RawJson<'_>) -> Option<Outcome<'_>> {
    let (mut code, mut message, mut data) = (None, None, None);
    for (name, value) in error.as_object()? {
        if name == "code" {
            code = value.as_number()?.as_i64();
        } else if name == "message" {
            message = value.as_string();
        } else if name == "data" {
            data = Some(value);
        }
    }
    Some(Outcome::Error {
        code: ErrorCode::new(code?),
        message: message?,
        data,
    })
}
