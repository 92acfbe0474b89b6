//! Where metadata are looked for, in which order.

use std::collections::VecDeque;

use super::address::Address;

const RESOURCE: &str = "/.well-known/oauth-protected-resource";
const OAUTH: &str = "/.well-known/oauth-authorization-server";
const OPENID: &str = "/.well-known/openid-configuration";

/// The metadata of the server at this URL: those of its path, then those of its origin (DSC-02).
pub(super) fn resource(url: &str) -> VecDeque<String> {
    let Some(address) = Address::parse(url) else {
        return VecDeque::new();
    };
    let origin = address.origin();
    let path = address.path;
    let query = address.query.map(|query| format!("?{query}"));
    let query = query.unwrap_or_default();
    let mut places = VecDeque::new();
    if !matches!(path, "" | "/") || !query.is_empty() {
        places.push_back(format!("{origin}{RESOURCE}{path}{query}"));
    }
    places.push_back(format!("{origin}{RESOURCE}"));
    places
}

/// The metadata of the authorization server with this issuer (DSC-04).
pub(super) fn server(issuer: &str) -> VecDeque<String> {
    let Some(address) = Address::parse(issuer).filter(|address| address.query.is_none()) else {
        return VecDeque::new();
    };
    places(&address.origin(), address.path)
}

/// The same, for an issuer whose parts are known.
pub(crate) fn places(origin: &str, path: &str) -> VecDeque<String> {
    // RFC 8414, section 3.1: a slash at the end is taken away first.
    let path = path.strip_suffix('/').unwrap_or(path);
    let mut places = VecDeque::from([
        format!("{origin}{OAUTH}{path}"),
        format!("{origin}{OPENID}{path}"),
    ]);
    if !path.is_empty() {
        places.push_back(format!("{origin}{path}{OPENID}"));
    }
    places
}

/// The issuer, if a server knows nothing of such metadata: its own origin (2025-03-26; DSC-08, DSC-09).
pub(super) fn base(url: &str) -> Option<String> {
    Address::parse(url).map(|address| address.origin())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_their_order() {
        assert_eq!(
            resource("https://h.example:1/public/mcp"),
            [
                "https://h.example:1/.well-known/oauth-protected-resource/public/mcp",
                "https://h.example:1/.well-known/oauth-protected-resource",
            ]
        );
        for root in ["https://h.example", "https://h.example/"] {
            let only = ["https://h.example/.well-known/oauth-protected-resource"];
            assert_eq!(resource(root), only);
        }
        assert_eq!(
            server("https://as.example/t1"),
            [
                "https://as.example/.well-known/oauth-authorization-server/t1",
                "https://as.example/.well-known/openid-configuration/t1",
                "https://as.example/t1/.well-known/openid-configuration",
            ]
        );
        for root in ["https://as.example", "https://as.example/"] {
            let both = [
                "https://as.example/.well-known/oauth-authorization-server",
                "https://as.example/.well-known/openid-configuration",
            ];
            assert_eq!(server(root), both);
        }
        for none in [
            "as.example",
            "https://as.example?x",
            "https://as.example/#x",
        ] {
            assert!(server(none).is_empty(), "{none}");
        }
    }
}
