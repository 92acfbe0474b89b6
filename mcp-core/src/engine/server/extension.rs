//! Extensions: what a server offers beyond the protocol. The engine knows what each of them claims, and nothing of what it
//! is about.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::json::{Json, JsonStr, RawJson};
use crate::model::{Era, ProtocolVersion};

/// An extension, as far as the engine has to know it: what is said of it in the capabilities, which messages belong to it,
/// and what its clients can listen for.
///
/// ```
/// use mcp_core::engine::server::{Extension, ExtensionMethod};
///
/// let watches = Extension::new("com.example/watches")
///     .required()
///     .method(ExtensionMethod::request("watches/get").mirrors("watchId"))
///     .topics("watchIds", "notifications/watches");
/// assert_eq!(watches.id(), "com.example/watches");
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is offered before it is in a catalog"]
pub struct Extension {
    id: Box<str>,
    settings: Json<'static>,
    required: bool,
    versions: (ProtocolVersion, ProtocolVersion),
    /// It is no extension, but a capability of the protocol itself that is served like one.
    is_capability: bool,
    methods: Vec<ExtensionMethod>,
    topics: Option<(Box<str>, Box<str>)>,
}

impl Extension {
    /// An extension of this identifier, such as `com.example/watches`; a catalog refuses one without a prefix.
    pub fn new(id: impl Into<Box<str>>) -> Self {
        Self {
            id: id.into(),
            settings: Json::EMPTY_OBJECT,
            required: false,
            versions: (ProtocolVersion::V2024_11_05, ProtocolVersion::LATEST_MODERN),
            is_capability: false,
            methods: Vec::new(),
            topics: None,
        }
    }

    /// A capability of the protocol itself, of one revision, that the engine leaves to others: declared beside `tools` and
    /// the like, in that revision only.
    pub fn capability(name: impl Into<Box<str>>, version: ProtocolVersion) -> Self {
        Self {
            versions: (version, version),
            is_capability: true,
            ..Self::new(name)
        }
    }

    /// What is said of it in the capabilities: an object. Empty, unless it is said.
    pub fn settings(mut self, settings: Json<'static>) -> Self {
        self.settings = settings;
        self
    }

    /// Its requests are for clients that declared it: others are told that they would have to (ERR-08).
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }

    /// The first revision that it is served in. Without this it is served in all.
    pub const fn since(mut self, version: ProtocolVersion) -> Self {
        self.versions.0 = version;
        self
    }

    /// Claims a method or a notification. What the protocol has itself, in a revision that this is served in, stays with
    /// the engine.
    pub fn method(mut self, method: ExtensionMethod) -> Self {
        self.methods.push(method);
        self
    }

    /// Clients of 2026-07-28 can listen for what happens to things of it: `member` of the filter of
    /// `subscriptions/listen` is an array of strings, which are topics, and `notification` tells of them.
    pub fn topics(
        mut self,
        member: impl Into<Box<str>>,
        notification: impl Into<Box<str>>,
    ) -> Self {
        self.topics = Some((member.into(), notification.into()));
        self
    }

    /// Its identifier.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(super) const fn declares(&self) -> &Json<'static> {
        &self.settings
    }

    pub(super) const fn is_required(&self) -> bool {
        self.required
    }

    pub(super) const fn is_capability(&self) -> bool {
        self.is_capability
    }

    pub(super) fn is_in(&self, version: ProtocolVersion) -> bool {
        self.versions.0 <= version && version <= self.versions.1
    }

    pub(super) fn methods(&self) -> &[ExtensionMethod] {
        &self.methods
    }

    /// The member of the filter, and the notification.
    pub(super) fn topic(&self) -> Option<(&str, &str)> {
        let (member, notification) = self.topics.as_ref()?;
        Some((member, notification))
    }
}

/// A method or notification that clients send.
#[derive(Clone, Debug)]
#[must_use = "nothing is claimed before it is in an extension"]
pub struct ExtensionMethod {
    name: Box<str>,
    is_request: bool,
    mirrors: Option<Box<str>>,
}

impl ExtensionMethod {
    /// A method: it wants an answer.
    pub fn request(name: impl Into<Box<str>>) -> Self {
        Self {
            name: name.into(),
            is_request: true,
            mirrors: None,
        }
    }

    /// A notification.
    pub fn notification(name: impl Into<Box<str>>) -> Self {
        Self {
            is_request: false,
            ..Self::request(name)
        }
    }

    /// Over HTTP, `Mcp-Name` repeats this member of the params, a string.
    pub fn mirrors(mut self, member: impl Into<Box<str>>) -> Self {
        self.mirrors = Some(member.into());
        self
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The extensions that a client declared, of those that the catalog has.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Declared(u32);

impl Declared {
    /// None.
    pub const NONE: Self = Self(0);

    /// Whether the extension at this position of the catalog is among them.
    #[must_use]
    pub const fn contains(self, extension: usize) -> bool {
        extension < Extensions::MOST && self.0 & 1 << extension != 0
    }
}

/// Where a message belongs: an extension, and its method, by their positions.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Claim {
    pub(super) extension: usize,
    pub(super) method: usize,
}

/// All extensions of a catalog.
#[derive(Debug, Default)]
pub(super) struct Extensions(Box<[Extension]>);

impl Extensions {
    /// As many as have a place in [`Declared`].
    pub(super) const MOST: usize = 32;

    pub(super) fn new(all: &[Extension]) -> Self {
        Self(all.into())
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn get(&self, at: usize) -> Option<&Extension> {
        self.0.get(at)
    }

    /// Whether one of them claims requests of this name, in any revision.
    pub(super) fn claims(&self, name: JsonStr<'_>) -> bool {
        let mut methods = self.0.iter().flat_map(Extension::methods);
        methods.any(|method| method.is_request && name == *method.name)
    }

    /// Who claims a message in a revision.
    pub(super) fn find(
        &self,
        name: JsonStr<'_>,
        is_request: bool,
        version: ProtocolVersion,
    ) -> Option<Claim> {
        (0..).zip(&self.0).find_map(|(extension, it)| {
            let meant =
                |method: &ExtensionMethod| method.is_request == is_request && name == *method.name;
            let method = it.methods.iter().position(meant)?;
            it.is_in(version).then_some(Claim { extension, method })
        })
    }

    /// The member that `Mcp-Name` repeats for a method.
    pub(super) fn mirrored(&self, name: JsonStr<'_>, version: ProtocolVersion) -> Option<&str> {
        let Claim { extension, method } = self.find(name, true, version)?;
        self.0[extension].methods[method].mirrors.as_deref()
    }

    /// Which of them a client's capabilities declare: those whose value is an object (CAP-05).
    pub(super) fn declared(&self, capabilities: Option<RawJson<'_>>) -> Declared {
        let mut declared = Declared::NONE;
        if self.is_empty() {
            return declared;
        }
        let all = capabilities.and_then(|it| it.member("extensions"));
        for (name, settings) in all.and_then(RawJson::as_object).into_iter().flatten() {
            let meant = |it: &Extension| !it.is_capability && name == *it.id;
            if settings.as_object().is_some()
                && let Some(at) = self.0.iter().position(meant)
            {
                declared.0 |= 1 << at;
            }
        }
        declared
    }

    /// What clients can listen for: positions, with the member of the filter and the notification.
    pub(super) fn topics(&self) -> impl Iterator<Item = (usize, &str, &str)> {
        let modern = |it: &Extension| it.is_in(ProtocolVersion::LATEST_MODERN);
        (0..).zip(&self.0).filter_map(move |(at, it)| {
            let (member, notification) = it.topic().filter(|_| modern(it))?;
            Some((at, member, notification))
        })
    }
}

/// The result of a method of an extension; or one that an extension puts in the place of another result.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ExtensionResult<'a> {
    /// `resultType`, which legacy revisions do not have.
    pub result_type: &'a str,
    /// An object: its members, `_meta` among them. What else has no members.
    pub members: RawJson<'a>,
}

impl<'a> ExtensionResult<'a> {
    /// A result that is final.
    #[must_use]
    pub const fn complete(members: RawJson<'a>) -> Self {
        Self::of_type(super::catalog::COMPLETE, members)
    }

    /// A result of another type.
    #[must_use]
    pub const fn of_type(result_type: &'a str, members: RawJson<'a>) -> Self {
        Self {
            result_type,
            members,
        }
    }

    /// The members that are the extension's own.
    pub(super) fn own(&self, era: Era) -> impl Iterator<Item = (JsonStr<'a>, RawJson<'a>)> {
        let members = self.members.as_object().into_iter().flatten();
        members.filter(move |(name, _)| {
            *name != "_meta" && !(era == Era::Modern && *name == "resultType")
        })
    }
}
