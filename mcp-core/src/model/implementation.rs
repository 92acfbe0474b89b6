//! `Implementation`: who a peer says it is (TYP-01).

use super::ProtocolVersion;
use crate::json::{Sink, Writer};

/// Name and version of a program; self-reported, for display and logs only (META-13).
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Implementation<'a> {
    /// For programs.
    pub name: &'a str,
    /// For people. From 2025-06-18 on.
    pub title: Option<&'a str>,
    /// Any format.
    pub version: &'a str,
}

impl<'a> Implementation<'a> {
    /// A program of this name and version.
    #[must_use]
    pub const fn new(name: &'a str, version: &'a str) -> Self {
        Self {
            name,
            title: None,
            version,
        }
    }

    /// Writes the object as `version` has it.
    pub(crate) fn write<S: Sink + ?Sized>(
        &self,
        version: ProtocolVersion,
        json: &mut Writer<'_, S>,
    ) {
        json.begin_object();
        json.key("name");
        json.string(self.name);
        if let Some(title) = self
            .title
            .filter(|_| version >= ProtocolVersion::V2025_06_18)
        {
            json.key("title");
            json.string(title);
        }
        json.key("version");
        json.string(self.version);
        json.end_object();
    }
}
