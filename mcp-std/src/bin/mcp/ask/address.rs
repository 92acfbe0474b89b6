//! The address of a page, as far as a user has to see it.

/// An address with a scheme and a host.
#[derive(Debug, Eq, PartialEq)]
pub(super) struct Address<'a> {
    scheme: &'a str,
    pub(super) host: &'a str,
    /// There is something before the host that could be taken for it.
    has_user: bool,
}

impl<'a> Address<'a> {
    /// `None`: it is none, or of a kind that no browser opens.
    pub(super) fn new(url: &'a str) -> Option<Self> {
        if url
            .chars()
            .any(|char| char.is_control() || char.is_whitespace())
        {
            return None;
        }
        let (scheme, rest) = url.split_once("://")?;
        if !["http", "https"]
            .iter()
            .any(|it| scheme.eq_ignore_ascii_case(it))
        {
            return None;
        }
        // A browser takes a backslash for a slash.
        let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
        let authority = &rest[..end];
        let (user, host) = authority
            .rsplit_once('@')
            .map_or((None, authority), |(user, host)| (Some(user), host));
        (!host.is_empty() && !host.starts_with(':')).then_some(Self {
            scheme,
            host,
            has_user: user.is_some(),
        })
    }

    /// What a user may overlook.
    pub(super) fn warnings(&self) -> impl Iterator<Item = &'static str> {
        let host = self.host.to_ascii_lowercase();
        let disguised = !host.is_ascii() || host.split('.').any(|part| part.starts_with("xn--"));
        let name = host.rsplit_once(':').map_or(&*host, |(name, _)| name);
        let local = matches!(name, "localhost" | "127.0.0.1" | "[::1]");
        let open = self.scheme.eq_ignore_ascii_case("http") && !local;
        [
            (open, "it is not encrypted (http)"),
            (disguised, "the host has letters that can look like others"),
            (self.has_user, "what stands before `@` is not the host"),
        ]
        .into_iter()
        .filter_map(|(there, warning)| there.then_some(warning))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_the_one_that_a_browser_goes_to() {
        for (url, host, warnings) in [
            ("https://example.com/a?b#c", "example.com", 0),
            ("https://example.com:8443", "example.com:8443", 0),
            ("https://good.com@evil.com/good.com", "evil.com", 1),
            ("https://evil.com\\@good.com/", "evil.com", 0),
            ("http://example.com?x=@good.com", "example.com", 1),
            ("http://localhost:3000/x", "localhost:3000", 0),
            ("https://xn--80ak6aa92e.com/", "xn--80ak6aa92e.com", 1),
            ("https://ex\u{430}mple.com/", "ex\u{430}mple.com", 1),
            ("HTTP://user:pass@[::1]:80/", "[::1]:80", 1),
        ] {
            let address = Address::new(url).expect(url);
            assert_eq!(address.host, host, "{url}");
            assert_eq!(address.warnings().count(), warnings, "{url}");
        }
        for url in [
            "",
            "example.com",
            "https://",
            "https:///a",
            "https://:80/",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "https://a b/",
            "https://a\u{1b}[2J/",
        ] {
            assert_eq!(Address::new(url), None, "{url}");
        }
    }
}
