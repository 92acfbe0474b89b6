//! Extensions: what a server offers beyond the protocol. The engine knows what each of them claims, and nothing of what it
//! is about.

#[cfg(not(feature = "alloc"))]
mod none;
#[cfg(feature = "alloc")]
mod offered;

#[cfg(not(feature = "alloc"))]
pub use none::{Extension, ExtensionMethod};
#[cfg(feature = "alloc")]
pub use offered::{Extension, ExtensionMethod};

use crate::json::{JsonStr, RawJson};
use crate::model::{Era, ProtocolVersion};

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
#[derive(Clone, Copy, Debug)]
pub(super) struct Extensions<'a>(pub(super) &'a [Extension]);

impl<'a> Extensions<'a> {
    /// As many as have a place in [`Declared`].
    pub(super) const MOST: usize = 32;

    /// Without an allocator there are none: said so that nothing of what serves them is in the program.
    #[inline]
    const fn all(self) -> &'a [Extension] {
        if cfg!(feature = "alloc") { self.0 } else { &[] }
    }

    pub(super) const fn is_empty(self) -> bool {
        self.all().is_empty()
    }

    pub(super) fn get(self, at: usize) -> Option<&'a Extension> {
        self.all().get(at)
    }

    /// Those of a revision: the capabilities of the protocol itself, or the others.
    pub(super) fn of(
        self,
        version: ProtocolVersion,
        capabilities: bool,
    ) -> impl Iterator<Item = &'a Extension> {
        let spoken = move |it: &&Extension| it.is_in(version) && it.is_capability() == capabilities;
        self.all().iter().filter(spoken)
    }

    /// Whether one of them claims requests of this name, in any revision.
    pub(super) fn claims(self, name: JsonStr<'_>) -> bool {
        let mut methods = self.all().iter().flat_map(Extension::methods);
        methods.any(|method| method.is_request() && name == *method.name())
    }

    /// Who claims a message in a revision.
    pub(super) fn find(
        self,
        name: JsonStr<'_>,
        is_request: bool,
        version: ProtocolVersion,
    ) -> Option<Claim> {
        (0..).zip(self.all()).find_map(|(extension, it)| {
            let meant = |method: &ExtensionMethod| {
                method.is_request() == is_request && name == *method.name()
            };
            let method = it.methods().iter().position(meant)?;
            it.is_in(version).then_some(Claim { extension, method })
        })
    }

    /// The member that `Mcp-Name` repeats for a method.
    pub(super) fn mirrored(self, name: JsonStr<'_>, version: ProtocolVersion) -> Option<&'a str> {
        let Claim { extension, method } = self.find(name, true, version)?;
        self.all()[extension].methods()[method].mirrored()
    }

    /// Which of them a client's capabilities declare.
    pub(super) fn declared(self, capabilities: Option<RawJson<'_>>) -> Declared {
        let mut declared = Declared::NONE;
        if self.is_empty() {
            return declared;
        }
        let all = capabilities.and_then(|it| it.member("extensions"));
        for (name, settings) in all.and_then(RawJson::as_object).into_iter().flatten() {
            let meant = |it: &Extension| !it.is_capability() && name == *it.id();
            if let Some(at) = self.all().iter().position(meant)
                && self.all()[at].is_declared_by(settings)
            {
                declared.0 |= 1 << at;
            }
        }
        declared
    }

    /// Whether one of them has something listed for its clients only.
    pub(super) fn are_private(self) -> bool {
        self.all().iter().any(Extension::is_private)
    }

    /// Those that have something listed for their clients only, of which this one is none.
    #[cfg(feature = "alloc")]
    pub(super) fn hidden(self, declared: Declared) -> impl Iterator<Item = &'a Extension> + Clone {
        let all = (0..).zip(self.all());
        let hidden = all.filter(move |(at, it)| it.is_private() && !declared.contains(*at));
        hidden.map(|(_, it)| it)
    }

    /// What clients can listen for: positions, with the member of the filter and the notification.
    pub(super) fn topics(self) -> impl Iterator<Item = (usize, &'a str, &'a str)> {
        let modern = |it: &Extension| it.is_in(ProtocolVersion::LATEST_MODERN);
        (0..).zip(self.all()).filter_map(move |(at, it)| {
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
