//! Stands in for `model::Encode` until that is there.
use crate::json::{RawJson, Sink, Writer};
use crate::model::ProtocolVersion;

/// A type that is written as one JSON value.
pub trait Encode {
    /// Writes the value as `version` has it.
    fn encode<S: Sink + ?Sized>(&self, version: ProtocolVersion, json: &mut Writer<'_, S>);
}

impl Encode for RawJson<'_> {
    fn encode<S: Sink + ?Sized>(&self, _: ProtocolVersion, json: &mut Writer<'_, S>) {
        json.raw(*self);
    }
}
