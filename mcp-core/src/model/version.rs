//! Protocol versions and the two eras they fall into (2026-07-28, basic, "Versioning and Compatibility").

use core::fmt;

/// A revision of the protocol that this crate serves.
///
/// Versions are compared as known names, never by date: an unknown newer one is not assumed to be compatible (VER-01).
/// The order is that of publication.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum ProtocolVersion {
    /// The first one: HTTP with SSE, no batches.
    V2024_11_05,
    /// Streamable HTTP, batches, tool annotations, audio.
    V2025_03_26,
    /// Structured tool output, elicitation, titles; batches removed.
    V2025_06_18,
    /// Icons, sampling with tools, experimental tasks. The newest one with a handshake.
    V2025_11_25,
    /// Stateless: metadata on every request, no handshake.
    V2026_07_28,
}

/// How versions agree on what they speak.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Era {
    /// An `initialize` handshake opens a session.
    Legacy,
    /// Every request carries version, identity and capabilities.
    Modern,
}

impl fmt::Display for ProtocolVersion {
    /// The name on the wire.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl ProtocolVersion {
    /// All of them, newest first.
    pub const ALL: &'static [Self] = &Self::TABLE;

    pub(crate) const TABLE: [Self; 5] = [
        Self::V2026_07_28,
        Self::V2025_11_25,
        Self::V2025_06_18,
        Self::V2025_03_26,
        Self::V2024_11_05,
    ];

    /// The newest version with a handshake: what `initialize` is answered with when it asks for something else
    /// (INIT-07, INIT-10).
    pub const LATEST_LEGACY: Self = Self::V2025_11_25;

    /// The newest stateless version.
    pub const LATEST_MODERN: Self = Self::V2026_07_28;

    /// The version of this name, if it is a known one.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::TABLE
            .into_iter()
            .find(|version| version.as_str() == name)
    }

    /// The name on the wire, such as `2025-11-25`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The era this version belongs to.
    #[must_use]
    pub const fn era(self) -> Era {
        match self {
            Self::V2024_11_05 | Self::V2025_03_26 | Self::V2025_06_18 | Self::V2025_11_25 => {
                Era::Legacy
            }
            Self::V2026_07_28 => Era::Modern,
        }
    }

    /// Position in a table with one entry for each version, oldest first.
    pub(crate) const fn index(self) -> usize {
        self as usize
    }
}
