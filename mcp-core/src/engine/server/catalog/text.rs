//! Text that is made once.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use crate::json::Writer;
use crate::model::ProtocolVersion;

/// One value for each version, at its [`index`](ProtocolVersion::index).
pub(super) fn by_version<T>(
    mut value: impl FnMut(ProtocolVersion) -> T,
) -> [T; ProtocolVersion::TABLE.len()] {
    let mut oldest_first = ProtocolVersion::TABLE;
    oldest_first.reverse();
    oldest_first.map(&mut value)
}

pub(super) fn text(write: impl FnOnce(&mut Writer<'_, Vec<u8>>)) -> Box<str> {
    let mut text = Vec::new();
    let mut json = Writer::new(&mut text);
    write(&mut json);
    json.finish().expect("a Vec is never full");
    String::from_utf8(text)
        .expect("the writer writes UTF-8")
        .into()
}
