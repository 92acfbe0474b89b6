//! What is known about a server, with its parts read.

use mcp_core::engine::client::ServerInfo;
use mcp_core::model::{Decode, Implementation};

/// Who the server says it is, if what it says can be read.
pub(crate) fn implementation(server: &ServerInfo) -> Option<Implementation<'static>> {
    let implementation = Implementation::decode(server.implementation()?).ok()?;
    Some(implementation.into_owned())
}

/// Whether the server declared `capabilities.<group>.<flag>: true`.
pub(crate) fn declares(server: &ServerInfo, group: &str, flag: &str) -> bool {
    let flag = || {
        let capabilities = server.capabilities()?;
        let (_, group) = capabilities.as_object()?.find(|(key, _)| *key == *group)?;
        let (_, flag) = group.as_object()?.find(|(key, _)| *key == *flag)?;
        flag.as_bool()
    };
    flag() == Some(true)
}
