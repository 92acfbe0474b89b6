//! Roots: where a client lets servers work (client, "Roots").

use crate::Cow;

use super::List;
use super::codec::{record, result_impls};
use crate::json::Json;

record! {
    /// A directory or file that a server may work on.
    pub struct Root<'a> {
        /// Where it is; begins with `file://`.
        uri: req Cow<'a, str> = "uri";
        /// What to call it.
        name: opt Cow<'a, str> = "name";
        /// `_meta`. From 2025-06-18 on.
        meta: opt Json<'a> = "_meta" [C E];
    }
}

record! {
    /// The result of `roots/list`.
    pub struct ListRootsResult<'a> {
        /// All of them.
        roots: req List<'a, Root<'a>> = "roots";
    }
    around {
        /// `_meta`. Up to 2025-11-25.
        meta: opt Json<'a> = "_meta" [A D];
    }
}
result_impls!(ListRootsResult);
