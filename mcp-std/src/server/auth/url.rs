//! Issuers and resources by their URLs, which are compared as they are written and never rewritten.

/// A URL in its parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Url<'u> {
    /// Scheme, host and port.
    pub(super) origin: &'u str,
    /// With its slash at the beginning; empty if there is none.
    pub(super) path: &'u str,
}

impl<'u> Url<'u> {
    /// Takes a URL that a secret or a right may depend on: `https`, or `http` on this machine; without user, query and
    /// fragment; scheme and host in lower case (RES-I-02, AUT-04). The error says what is wrong.
    pub(super) fn parse(url: &'u str) -> Result<Self, &'static str> {
        let tls = url.starts_with("https://");
        let Some(rest) = url
            .strip_prefix("https://")
            .or_else(|| url.strip_prefix("http://"))
        else {
            return Err("it has to begin with https://, in lower case");
        };
        if url.bytes().any(|byte| !byte.is_ascii_graphic()) {
            return Err("there is something in it that no URL has, such as a blank");
        }
        if url.contains(['#', '?', '"', '\\', '<', '>']) {
            return Err("it cannot have a query, a fragment or quotes");
        }
        let at = rest.find('/').unwrap_or(rest.len());
        let (authority, path) = rest.split_at(at);
        if authority.is_empty() || authority.contains('@') {
            return Err("it needs a host, and cannot have a user");
        }
        if authority.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err("its host has to be in lower case: that is its canonical form");
        }
        if url.parse::<http::Uri>().is_err() {
            return Err("it is no URL");
        }
        if !tls && !is_loopback(authority) {
            return Err("http:// is for this machine only; it has to begin with https://");
        }
        let origin = &url[..url.len() - path.len()];
        Ok(Self { origin, path })
    }

    /// The host, and the port if there is one.
    pub(super) fn authority(&self) -> &'u str {
        self.origin.split_once("://").map_or("", |(_, rest)| rest)
    }

    /// Where the metadata of this resource are (RFC 9728, section 3.1): only the slash after the host is left out.
    pub(super) fn resource_metadata(&self) -> String {
        let path = if self.path == "/" { "" } else { self.path };
        format!("{}/.well-known/oauth-protected-resource{path}", self.origin)
    }
}

fn is_loopback(authority: &str) -> bool {
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        _ => (authority, ""),
    };
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let address = bare.parse::<core::net::IpAddr>();
    port.bytes().all(|byte| byte.is_ascii_digit())
        && (host == "localhost" || address.is_ok_and(|it| it.is_loopback()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_taken_in_their_canonical_form_only() {
        for good in [
            "https://a.example",
            "https://a.example/",
            "https://a.example:8443/b/C",
            "http://localhost:8000/mcp",
            "http://127.0.0.1",
            "http://[::1]:3/mcp",
        ] {
            assert!(Url::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "a.example",
            "HTTPS://a.example",
            "https://A.example",
            "https://",
            "https:///mcp",
            "https://u@a.example",
            "https://a.example/#x",
            "https://a.example/?x",
            "https://a.example/a b",
            "https://a.example/\"",
            "http://a.example",
            "http://localhost.a.example",
            "http://127.0.0.1.a.example",
            "http://localhost:80.a.example",
            "ftp://localhost",
        ] {
            assert!(Url::parse(bad).is_err(), "{bad}");
        }
    }

    /// RSV-02.
    #[test]
    fn well_known_places_are_before_the_path() {
        for (url, expected) in [
            (
                "https://a",
                "https://a/.well-known/oauth-protected-resource",
            ),
            (
                "https://a/",
                "https://a/.well-known/oauth-protected-resource",
            ),
            (
                "https://a/b",
                "https://a/.well-known/oauth-protected-resource/b",
            ),
            (
                "https://a/b/",
                "https://a/.well-known/oauth-protected-resource/b/",
            ),
        ] {
            assert_eq!(Url::parse(url).expect(url).resource_metadata(), expected);
        }
    }
}
