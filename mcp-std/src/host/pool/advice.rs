//! What can be done about a server that cannot be connected to.

use crate::client::{ConnectError, HandshakeError, HttpFault};

/// Whether trying again by itself is of no use: somebody has to change something first.
pub(super) fn is_hopeless(error: &ConnectError) -> bool {
    match error {
        ConnectError::Spawn(_)
        | ConnectError::Config(_)
        | ConnectError::Http(HttpFault::Unauthorized { .. })
        | ConnectError::Handshake(HandshakeError::NoCommonVersion { .. }) => true,
        ConnectError::Http(_) | ConnectError::Closed(_) | ConnectError::Handshake(_) => false,
    }
}

/// What may help.
pub(super) fn connect_advice(error: &ConnectError) -> String {
    let advice = match error {
        ConnectError::Spawn(_) => {
            "`command` has to be a program that is in PATH of this program, or a path; `cwd` a folder that is there"
        }
        ConnectError::Config(_) => "mend `url`, or the header that is named",
        ConnectError::Http(HttpFault::Unauthorized { .. }) => {
            "the server wants to know who asks: `mcp login URL`, or an `Authorization` header in `headers`"
        }
        ConnectError::Http(_) => {
            "is the server running, and is `url` its whole address, path included?"
        }
        ConnectError::Closed(_) => {
            "the program ended before it had said anything of the protocol: run it by hand with the same `args` and `env`"
        }
        ConnectError::Handshake(HandshakeError::TimedOut { .. }) => {
            "it is no MCP server, or needs more time to start: `startupTimeout`"
        }
        ConnectError::Handshake(HandshakeError::NoCommonVersion { .. }) => {
            "one of the two programs is too old for the other: update it"
        }
        ConnectError::Handshake(_) => {
            "what it answers is no MCP: is it a server that speaks over this transport?"
        }
    };
    advice.to_owned()
}
