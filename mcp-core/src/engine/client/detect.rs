//! The ladder by which a client finds the era and the version of a server on a stream (2026-07-28, basic, stdio,
//! "Backward Compatibility").
//!
//! ```text
//!              DiscoverResult, -32022 .. -32020
//!  probe ------------------------------------------> modern, a version in common
//!    |  \                                              |  only legacy ones in common
//!    |   any other error, any other result, silence    v
//!    +-------------------------------------------> initialize ---> legacy
//!    ^                                                 |
//!    +-------------------------------------------------+
//!       refused by a server that names modern versions,
//!       or that was only known to be legacy
//! ```
//!
//! Each of the two is asked at most twice, so the ladder has an end whatever a server answers.

use alloc::string::String;
use alloc::vec::Vec;

use super::config::{ClientConfig, EraMode};
use super::error::ConnectError;
use crate::error::ErrorCode;
use crate::json::{JsonStr, RawJson};
use crate::model::{Era, ProtocolVersion};

pub(super) const DISCOVER: &str = "server/discover";
pub(super) const INITIALIZE: &str = "initialize";

const TURNS: u8 = 2;

/// The most of a server's text that goes into an error, in names and in bytes of each.
const MOST_NAMES: usize = 16;
const MOST_TEXT: usize = 256;

/// How a question was answered.
#[derive(Clone, Copy, Debug)]
pub(super) enum Reply<'b> {
    Result(RawJson<'b>),
    Error {
        code: ErrorCode,
        message: JsonStr<'b>,
        data: Option<RawJson<'b>>,
    },
    /// By something that is neither.
    Malformed,
    /// As only modern servers refuse what they do not know.
    Undiscovered,
    /// Not at all, in the time there was.
    Silence,
}

/// What comes next.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) enum Step {
    /// Ask with `server/discover`, in this version.
    Probe(ProtocolVersion),
    /// Ask with `initialize`, offering this version.
    Initialize(ProtocolVersion),
    /// The last answer settled the version.
    Connected(ProtocolVersion),
    Failed(ConnectError),
}

/// Where on the ladder a client stands.
#[derive(Clone, Debug)]
pub(super) struct Ladder {
    mode: EraMode,
    probes: u8,
    initializes: u8,
    /// What was asked last.
    pub(super) asked: &'static str,
    version: ProtocolVersion,
    /// The server was known to be legacy, and `initialize` failed in this way.
    failed: Option<ConnectError>,
}

impl Ladder {
    pub(super) fn new(config: &ClientConfig) -> (Self, Step) {
        let mut ladder = Self {
            mode: config.mode,
            probes: 0,
            initializes: 0,
            asked: DISCOVER,
            version: ProtocolVersion::LATEST_MODERN,
            failed: None,
        };
        let legacy = config
            .known_version
            .is_some_and(|version| version.era() == Era::Legacy);
        let step = match config.mode {
            EraMode::Auto if legacy => ladder.initialize(ProtocolVersion::LATEST_LEGACY),
            EraMode::Auto => ladder.probe(ProtocolVersion::LATEST_MODERN),
            EraMode::Modern(version) => ladder.probe(version),
            EraMode::Legacy(version) => ladder.initialize(version),
        };
        (ladder, step)
    }

    /// Takes the answer to what was asked last.
    pub(super) fn answered(&mut self, reply: Reply<'_>) -> Step {
        if self.asked == DISCOVER {
            self.discovered(reply)
        } else {
            self.initialized(reply)
        }
    }

    fn discovered(&mut self, reply: Reply<'_>) -> Step {
        let code = match reply {
            Reply::Result(result) => match supported_versions(result) {
                Some(theirs) => return self.choose(theirs, true),
                None => None,
            },
            Reply::Error { code, data, .. } => {
                if code == ErrorCode::UNSUPPORTED_PROTOCOL_VERSION
                    && let Some(theirs) = supported(data)
                {
                    return self.choose(theirs, false);
                }
                Some(code)
            }
            Reply::Undiscovered => return Step::Connected(self.version),
            Reply::Malformed | Reply::Silence => None,
        };
        // Recognised modern errors, and no others (DET-03, DET-08): what is wrong is for this client to mend.
        if code.is_some_and(is_modern) || matches!(self.mode, EraMode::Modern(_)) {
            return Step::Failed(self.failure(reply));
        }
        match self.failed.take() {
            Some(failed) => Step::Failed(failed),
            None if self.initializes < TURNS => self.initialize(ProtocolVersion::LATEST_LEGACY),
            None => Step::Failed(self.failure(reply)),
        }
    }

    fn initialized(&mut self, reply: Reply<'_>) -> Step {
        let theirs = match reply {
            Reply::Result(result) => {
                let Some(version) = string(result, "protocolVersion") else {
                    return self.initialize_failed(reply);
                };
                match ProtocolVersion::parse(&version.decode()) {
                    Some(version) if version.era() == Era::Legacy => {
                        return Step::Connected(version);
                    }
                    // INIT-08. A server that answers with a modern version is not to be had by a handshake (INIT-10).
                    Some(_) | None => return self.nothing_in_common([version].into_iter()),
                }
            }
            // INIT-09, and modern servers that say in any error what they speak (VER-06).
            Reply::Error { data, .. } => supported(data),
            Reply::Malformed | Reply::Undiscovered | Reply::Silence => None,
        };
        let Some(theirs) = theirs else {
            return self.initialize_failed(reply);
        };
        let offered = self.version;
        let legacy = common(theirs.clone(), |version| {
            version.era() == Era::Legacy && version != offered
        });
        let modern = common(theirs.clone(), |version| version.era() == Era::Modern);
        match (legacy, modern) {
            (Some(version), _) if self.initializes < TURNS => self.initialize(version),
            (_, Some(version)) if self.may_probe() => self.probe(version),
            _ => self.nothing_in_common(theirs),
        }
    }

    /// `initialize` came to nothing, and the server did not say what would.
    fn initialize_failed(&mut self, reply: Reply<'_>) -> Step {
        let failure = self.failure(reply);
        let modern = matches!(reply, Reply::Error { code, .. } if is_modern(code));
        // What was known about the server is no longer so (VER-07).
        if self.may_probe() && (modern || self.probes == 0) {
            self.failed = Some(failure);
            return self.probe(ProtocolVersion::LATEST_MODERN);
        }
        Step::Failed(failure)
    }

    /// The server is modern: takes the best version that both speak. `now` if it has already said all there is to know,
    /// else it has to be asked again.
    fn choose<'b>(&mut self, theirs: impl Iterator<Item = JsonStr<'b>> + Clone, now: bool) -> Step {
        let mode = self.mode;
        let modern = common(theirs.clone(), |version| match mode {
            EraMode::Modern(pinned) => version == pinned,
            EraMode::Auto | EraMode::Legacy(_) => version.era() == Era::Modern,
        });
        if let Some(version) = modern {
            if now {
                return Step::Connected(version);
            }
            if self.probes < TURNS {
                return self.probe(version);
            }
        }
        // A legacy version is to be had by a handshake only (VER-04).
        let legacy = common(theirs.clone(), |version| version.era() == Era::Legacy);
        match legacy {
            Some(version) if mode == EraMode::Auto && self.initializes < TURNS => {
                self.initialize(version)
            }
            _ => self.nothing_in_common(theirs),
        }
    }

    fn may_probe(&self) -> bool {
        self.mode == EraMode::Auto && self.probes < TURNS
    }

    const fn probe(&mut self, version: ProtocolVersion) -> Step {
        self.probes += 1;
        self.asked = DISCOVER;
        self.version = version;
        Step::Probe(version)
    }

    const fn initialize(&mut self, version: ProtocolVersion) -> Step {
        self.initializes += 1;
        self.asked = INITIALIZE;
        self.version = version;
        Step::Initialize(version)
    }

    fn nothing_in_common<'b>(&self, theirs: impl Iterator<Item = JsonStr<'b>>) -> Step {
        let may_speak = |version: &ProtocolVersion| match self.mode {
            EraMode::Auto => true,
            EraMode::Modern(pinned) => *version == pinned,
            EraMode::Legacy(_) => version.era() == Era::Legacy,
        };
        Step::Failed(ConnectError::NoCommonVersion {
            ours: ProtocolVersion::ALL
                .iter()
                .copied()
                .filter(may_speak)
                .collect(),
            theirs: theirs.take(MOST_NAMES).map(short).collect::<Vec<_>>(),
        })
    }

    fn failure(&self, reply: Reply<'_>) -> ConnectError {
        let method = self.asked;
        match reply {
            Reply::Error { code, message, .. } => ConnectError::Refused {
                method,
                code,
                message: short(message),
            },
            Reply::Result(_) | Reply::Malformed | Reply::Undiscovered => {
                ConnectError::Malformed { method }
            }
            Reply::Silence => ConnectError::TimedOut { method },
        }
    }
}

/// Whether only modern servers have this code (DET-08).
fn is_modern(code: ErrorCode) -> bool {
    [
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION,
        ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY,
        ErrorCode::HEADER_MISMATCH,
    ]
    .contains(&code)
}

/// The newest version among `theirs` that is known and `wanted`.
fn common<'b>(
    theirs: impl Iterator<Item = JsonStr<'b>> + Clone,
    wanted: impl Fn(ProtocolVersion) -> bool,
) -> Option<ProtocolVersion> {
    let mut known = ProtocolVersion::ALL.iter().copied();
    known.find(|&version| wanted(version) && theirs.clone().any(|named| named == version.as_str()))
}

/// `supportedVersions`: what makes a result one of `server/discover`, if it says of itself that it is complete, or nothing
/// (RES-02). What else it should have is not missed here.
fn supported_versions(result: RawJson<'_>) -> Option<impl Iterator<Item = JsonStr<'_>> + Clone> {
    member(result, "resultType")
        .is_none_or(|value| value.is_text("complete"))
        .then_some(())?;
    strings(member(result, "supportedVersions")?)
}

/// `data.supported` of an error.
fn supported(data: Option<RawJson<'_>>) -> Option<impl Iterator<Item = JsonStr<'_>> + Clone> {
    strings(member(data?, "supported")?)
}

fn strings(value: RawJson<'_>) -> Option<impl Iterator<Item = JsonStr<'_>> + Clone> {
    Some(value.as_array()?.filter_map(RawJson::as_string))
}

/// A member of an object, unless it is null.
pub(super) fn member<'b>(object: RawJson<'b>, name: &str) -> Option<RawJson<'b>> {
    object.member(name).filter(|value| !value.is_null())
}

pub(super) fn string<'b>(object: RawJson<'b>, name: &str) -> Option<JsonStr<'b>> {
    member(object, name)?.as_string()
}

fn short(text: JsonStr<'_>) -> String {
    let mut short = String::new();
    for next in text.chars() {
        if short.len() + next.len_utf8() > MOST_TEXT {
            return short + "…";
        }
        short.push(next);
    }
    short
}
