//! The URL that was configured, and references seen from there (DX-08, SSE-06).

use alloc::borrow::ToOwned as _;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// An origin, and a path in it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(super) struct Base {
    /// `scheme://host:port`, in lower case and with the port.
    origin: String,
    scheme: String,
    /// The path without the query.
    path: String,
}

impl Base {
    /// `None`: it is no absolute URL of HTTP.
    pub(super) fn parse(url: &str) -> Option<Self> {
        let (scheme, rest) = url.trim().split_once("://")?;
        let scheme = scheme.to_ascii_lowercase();
        let port = match &*scheme {
            "http" => "80",
            "https" => "443",
            _ => return None,
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, rest) = rest.split_at(end);
        let authority = authority.to_ascii_lowercase();
        // A port follows the last colon, unless that is part of an IPv6 address.
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, "")) => (host, port),
            Some((host, port)) if !port.ends_with(']') => (host, port),
            _ => (&*authority, port),
        };
        if host.is_empty() || host.contains('@') || !port.bytes().all(|it| it.is_ascii_digit()) {
            return None;
        }
        let path = rest.split(['?', '#']).next().unwrap_or_default();
        Some(Self {
            origin: format!("{scheme}://{host}:{port}"),
            scheme,
            path: if path.is_empty() { "/" } else { path }.to_owned(),
        })
    }

    /// Path and query of a reference that stays within the origin; `None` if it does not.
    pub(super) fn resolve(&self, reference: &str) -> Option<String> {
        let reference = reference.trim().split('#').next()?;
        // What is no visible ASCII is no reference, and would not be a request's target.
        if reference.is_empty() || !reference.bytes().all(|byte| byte.is_ascii_graphic()) {
            return None;
        }
        // Browsers take the one for the other, and so it would be another host.
        if reference.contains('\\') {
            return None;
        }
        let absolute = if let Some(rest) = reference.strip_prefix("//") {
            Some(format!("{}://{rest}", self.scheme))
        } else {
            has_scheme(reference).then(|| reference.to_owned())
        };
        if let Some(url) = absolute {
            let base = Self::parse(&url)?;
            let query = url.find('?').map_or("", |at| &url[at..]);
            return (base.origin == self.origin).then(|| format!("{}{query}", tidy(&base.path)));
        }
        let (path, query) = match reference.find('?') {
            Some(at) => reference.split_at(at),
            None => (reference, ""),
        };
        let path = if path.is_empty() {
            self.path.clone()
        } else if path.starts_with('/') {
            tidy(path)
        } else {
            let folder = self.path.rsplit_once('/').map_or("", |(folder, _)| folder);
            tidy(&format!("{folder}/{path}"))
        };
        Some(format!("{path}{query}"))
    }
}

/// Whether it begins as `name:` does (RFC 3986, section 3.1).
fn has_scheme(reference: &str) -> bool {
    reference.split_once(':').is_some_and(|(name, _)| {
        name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    })
}

/// Without `.` and `..` (RFC 3986, section 5.2.4).
fn tidy(path: &str) -> String {
    let mut parts = Vec::new();
    let mut open = false;
    for part in path.split('/').skip(1) {
        open = matches!(part, "." | "..");
        match part {
            "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut tidy = String::new();
    for part in &parts {
        tidy.push('/');
        tidy.push_str(part);
    }
    if open || tidy.is_empty() {
        tidy.push('/');
    }
    tidy
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dx_08_references_stay_within_the_origin() {
        let base = Base::parse(" https://H.example/p/sse?x=1 ").expect("a URL");
        for (reference, target) in [
            ("messages?id=1", "/p/messages?id=1"),
            ("/messages?id=1", "/messages?id=1"),
            ("https://h.example/p/messages?id=1", "/p/messages?id=1"),
            ("HTTPS://h.EXAMPLE:443/m", "/m"),
            ("//h.example/m", "/m"),
            ("?id=1", "/p/sse?id=1"),
            ("../m", "/m"),
            ("./a/./b/../c", "/p/a/c"),
            ("../../../..", "/"),
            ("/a:b", "/a:b"),
            ("https://h.example?y", "/?y"),
        ] {
            assert_eq!(
                base.resolve(reference).as_deref(),
                Some(target),
                "{reference}"
            );
        }
        for reference in [
            "https://evil.example/m",
            "//evil.example/m",
            "http://h.example/m",
            "https://h.example:444/m",
            "https://h.example@evil.example/m",
            "https://u:p@h.example/m",
            "javascript:1",
            "\\\\evil.example/m",
            "/a b",
            "/a\r\nX: y",
            "",
        ] {
            assert_eq!(base.resolve(reference), None, "{reference}");
        }
        let local = Base::parse("http://[::1]:3000").expect("a URL");
        assert_eq!(local.resolve("m").as_deref(), Some("/m"));
        assert_eq!(local.resolve("http://[::1]:3000/m").as_deref(), Some("/m"));
        for url in ["h.example/mcp", "ftp://h/", "https://", "http://h:x/"] {
            assert_eq!(Base::parse(url), None, "{url}");
        }
    }
}
