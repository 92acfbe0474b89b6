//! What is said of an extension where a server is made.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::json::{Json, JsonStr, RawJson};
use crate::model::ProtocolVersion;

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
    /// A member of the client's settings, and a text in the list that it is.
    word: Option<(Box<str>, Box<str>)>,
    private: Private,
}

/// What is listed for clients of an extension only.
#[derive(Clone, Debug, Default)]
struct Private {
    meta: Option<Box<str>>,
    tools: Vec<Box<str>>,
    resources: Vec<Box<str>>,
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
            word: None,
            private: Private::default(),
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

    /// It counts as declared by clients only whose settings have a list of this name with this text in it: what they say that
    /// they know of it.
    pub fn declared_with(mut self, member: impl Into<Box<str>>, text: impl Into<Box<str>>) -> Self {
        self.word = Some((member.into(), text.into()));
        self
    }

    /// In the `_meta` of what is listed, the member of this name is for clients that declared the extension: others do not get
    /// it.
    pub fn private_meta(mut self, member: impl Into<Box<str>>) -> Self {
        self.private.meta = Some(member.into());
        self
    }

    /// The tool of this name is listed for clients that declared the extension. Others that know of it can call it all the
    /// same.
    pub fn private_tool(mut self, name: impl Into<Box<str>>) -> Self {
        self.private.tools.push(name.into());
        self
    }

    /// The resource of this URI is listed for clients that declared the extension. Others that know of it can read it all the
    /// same.
    pub fn private_resource(mut self, uri: impl Into<Box<str>>) -> Self {
        self.private.resources.push(uri.into());
        self
    }

    /// Its identifier.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(in crate::engine::server) fn declares(&self) -> RawJson<'_> {
        self.settings.raw()
    }

    pub(in crate::engine::server) const fn is_required(&self) -> bool {
        self.required
    }

    pub(in crate::engine::server) const fn is_capability(&self) -> bool {
        self.is_capability
    }

    pub(in crate::engine::server) fn is_in(&self, version: ProtocolVersion) -> bool {
        self.versions.0 <= version && version <= self.versions.1
    }

    pub(in crate::engine::server) fn methods(&self) -> &[ExtensionMethod] {
        &self.methods
    }

    /// Whether a client's settings declare it: an object (CAP-05), with the word in it that there has to be.
    pub(in crate::engine::server) fn is_declared_by(&self, settings: RawJson<'_>) -> bool {
        let Some((member, text)) = &self.word else {
            return settings.as_object().is_some();
        };
        let listed = settings.member(member).and_then(RawJson::as_array);
        listed.is_some_and(|mut listed| {
            listed.any(|it| it.as_string().is_some_and(|it| it == **text))
        })
    }

    /// The member of `_meta` that is for its clients.
    pub(in crate::engine::server) fn own_meta(&self) -> Option<&str> {
        self.private.meta.as_deref()
    }

    /// Whether a tool is for its clients.
    pub(in crate::engine::server) fn owns_tool(&self, name: JsonStr<'_>) -> bool {
        self.private.tools.iter().any(|it| name == **it)
    }

    /// Whether a resource is for its clients.
    pub(in crate::engine::server) fn owns_resource(&self, uri: JsonStr<'_>) -> bool {
        self.private.resources.iter().any(|it| uri == **it)
    }

    /// Whether there is anything of that.
    pub(in crate::engine::server) fn is_private(&self) -> bool {
        let Private {
            meta,
            tools,
            resources,
        } = &self.private;
        meta.is_some() || !tools.is_empty() || !resources.is_empty()
    }

    /// The member of the filter, and the notification.
    pub(in crate::engine::server) fn topic(&self) -> Option<(&str, &str)> {
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

    pub(in crate::engine::server) const fn is_request(&self) -> bool {
        self.is_request
    }

    pub(in crate::engine::server) fn mirrored(&self) -> Option<&str> {
        self.mirrors.as_deref()
    }
}
