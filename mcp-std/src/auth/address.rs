//! URLs as they are written. Which server an address leads to is read from it; it is never rewritten, since issuers and
//! resources are compared as exact strings (ISS-03, DSC-06).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::error::{AuthError, excerpt};

/// An absolute URL of HTTP in its parts, each as it is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Address<'u> {
    pub(super) scheme: &'u str,
    pub(super) authority: &'u str,
    /// With its slash, or empty.
    pub(super) path: &'u str,
    /// Without its question mark.
    pub(super) query: Option<&'u str>,
}

impl<'u> Address<'u> {
    /// `None`: it is not an absolute URL of HTTP, has a fragment or credentials, or characters that no URL has.
    pub(super) fn parse(url: &'u str) -> Option<Self> {
        let clean = url
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !b"\"<>\\^`{|}#".contains(&byte));
        let (scheme, rest) = url.split_once("://")?;
        let known = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
        let end = rest.find(['/', '?']).unwrap_or(rest.len());
        let (authority, tail) = rest.split_at(end);
        let (path, query) = match tail.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (tail, None),
        };
        let this = Self {
            scheme,
            authority,
            path,
            query,
        };
        let has_port = this.port().is_some();
        (clean && known && has_port && !this.host().is_empty() && !authority.contains('@'))
            .then_some(this)
    }

    /// Scheme and authority.
    pub(super) fn origin(&self) -> String {
        format!("{}://{}", self.scheme, self.authority)
    }

    /// Whether both lead to the same server. Only here case and default ports are overlooked.
    pub(super) fn is_same_origin(&self, other: &Self) -> bool {
        self.scheme.eq_ignore_ascii_case(other.scheme)
            && self.host().eq_ignore_ascii_case(other.host())
            && self.port() == other.port()
    }

    /// Whether it is a place in the web, and not on this machine.
    pub(super) fn is_web(&self) -> bool {
        self.reach() != Reach::Machine
    }

    fn is_secure(&self) -> bool {
        self.scheme.eq_ignore_ascii_case("https")
    }

    /// Without brackets.
    fn host(&self) -> &'u str {
        let host = self.split().0;
        host.strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host)
    }

    fn port(&self) -> Option<u16> {
        match self.split().1 {
            "" => Some(if self.is_secure() { 443 } else { 80 }),
            port => port.parse().ok(),
        }
    }

    fn split(&self) -> (&'u str, &'u str) {
        let after = self.authority.rfind(']').map_or(0, |at| at + 1);
        match self.authority[after..].find(':') {
            Some(at) => (
                &self.authority[..after + at],
                &self.authority[after + at + 1..],
            ),
            None => (self.authority, ""),
        }
    }

    fn reach(&self) -> Reach {
        let host = self.host();
        if host.eq_ignore_ascii_case("localhost") {
            return Reach::Machine;
        }
        let Ok(ip) = host.parse::<IpAddr>() else {
            // `0x7f.1`, `2130706433`: no name has a last label of digits, and resolvers take such for addresses.
            let last = host.trim_end_matches('.').rsplit('.').next();
            let number = last
                .unwrap_or_default()
                .starts_with(|digit: char| digit.is_ascii_digit());
            let local = host.to_ascii_lowercase();
            let local = local.trim_end_matches('.');
            return if number {
                Reach::Nowhere
            } else if local.ends_with(".localhost") || local == "localhost" {
                Reach::Machine
            } else {
                Reach::World
            };
        };
        match ip.to_canonical() {
            IpAddr::V4(ip) if ip.is_loopback() => Reach::Machine,
            IpAddr::V6(ip) if ip.is_loopback() => Reach::Machine,
            IpAddr::V4(ip) if ip.is_private() => Reach::Network,
            IpAddr::V6(ip) if ip.is_unique_local() => Reach::Network,
            IpAddr::V4(ip) if is_nowhere_v4(ip) => Reach::Nowhere,
            IpAddr::V6(ip) if is_nowhere_v6(ip) => Reach::Nowhere,
            IpAddr::V4(_) | IpAddr::V6(_) => Reach::World,
        }
    }
}

/// Addresses of devices, of carriers' and providers' own networks, of tests, and of nobody.
fn is_nowhere_v4(ip: Ipv4Addr) -> bool {
    let [a, b, c, _] = ip.octets();
    ip.is_link_local()
        || ip.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && b & 0xc0 == 64)
        || (a == 192 && b == 0 && c == 0)
        || (a == 198 && b & 0xfe == 18)
}

/// The same, and addresses that have one of version 4 in them, by which a gateway would reach it.
fn is_nowhere_v6(ip: Ipv6Addr) -> bool {
    let segments = ip.segments();
    ip.is_unicast_link_local()
        || ip.is_multicast()
        || segments[..6] == [0; 6]
        || segments[..2] == [0x64, 0xff9b]
        || segments[0] == 0x2002
        || segments[0] & 0xffc0 == 0xfec0
}

/// From how far an address can be reached.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
enum Reach {
    Machine,
    Network,
    World,
    /// Addresses of devices, such as the one that tells virtual machines who they are: never.
    Nowhere,
}

/// Whether something may be sent to a URL that the server at `from`, or someone it named, has chosen: by HTTPS, or to this
/// machine (AUT-04), and no further into the private than `from` itself is, so that nobody uses the client to reach what
/// only the client can (SEC-05, DSC-11). The same goes for pages that the user's browser is sent to (PKC-04, SEC-13). Names are not resolved for that.
pub(super) fn check(url: &str, from: &str) -> Result<(), AuthError> {
    let refuse = |reason| {
        Err(AuthError::Url {
            url: excerpt(url),
            reason,
        })
    };
    let (Some(address), Some(from)) = (Address::parse(url), Address::parse(from)) else {
        return refuse("it is not an absolute `https://` URL without fragment and credentials");
    };
    let reach = address.reach();
    if reach == Reach::Nowhere {
        return refuse("no server is at such an address");
    }
    if reach < from.reach() {
        return refuse("a public server names an address in a private network");
    }
    if !address.is_secure() && reach != Reach::Machine {
        return refuse("it is not `https://`");
    }
    Ok(())
}

/// Whether a resource that metadata names is the one at `url`, or one that this is a part of (DSC-03).
pub(super) fn covers(resource: &str, url: &str) -> bool {
    let (Some(resource), Some(url)) = (Address::parse(resource), Address::parse(url)) else {
        return false;
    };
    let whole = match url.path.strip_prefix(resource.path) {
        Some(rest) => rest.is_empty() || rest.starts_with('/') || resource.path.ends_with('/'),
        // `…/mcp/` for `…/mcp`, which many put there or leave out without meaning it (OA-04).
        None => resource.path.strip_suffix('/') == Some(url.path),
    };
    let query = resource.query.is_none() || resource.query == url.query;
    resource.is_same_origin(&url) && whole && query
}

/// Whether both name the same authorization server: to the letter, but for the slash of an empty path, with and without
/// which the metadata are at the same place (OA-02).
pub(super) fn is_same_issuer(one: &str, other: &str) -> bool {
    fn bare(issuer: &str) -> &str {
        let root = Address::parse(issuer).is_some_and(|it| it.path == "/" && it.query.is_none());
        issuer.strip_suffix('/').filter(|_| root).unwrap_or(issuer)
    }
    bare(one) == bare(other)
}

/// The canonical form of a server's URL as a resource (RSI-02), for servers that do not name it themselves.
pub(super) fn canonical(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let Some(address) = Address::parse(url) else {
        return url.to_owned();
    };
    let path = if address.path == "/" {
        ""
    } else {
        address.path
    };
    let (host, port) = address.split();
    let default = if address.is_secure() { "443" } else { "80" };
    let port = if port.is_empty() || port == default {
        String::new()
    } else {
        format!(":{port}")
    };
    let scheme = address.scheme.to_ascii_lowercase();
    let host = host.to_ascii_lowercase();
    let query = address.query.map(|query| format!("?{query}"));
    format!("{scheme}://{host}{port}{path}{}", query.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_sent_where_it_does_not_belong() {
        let world = "https://mcp.example/mcp";
        for fine in [
            "https://as.example/token",
            "https://as.example:8443",
            "https://9.9.9.9/t?x=1",
            "https://[2606:4700::1111]/t",
        ] {
            assert_eq!(check(fine, world), Ok(()), "{fine}");
        }
        for bad in [
            "http://as.example/token",
            "http://localhost:1/token",
            "https://localhost/token",
            "https://a.localhost/token",
            "https://127.0.0.1/t",
            "https://[::1]/t",
            "https://[::ffff:127.0.0.1]/t",
            "https://10.0.0.8/t",
            "https://192.168.1.1/t",
            "https://[fd00::1]/t",
            "https://169.254.169.254/latest",
            "https://0x7f.1/t",
            "https://2130706433/t",
            "https://0177.0.0.1/t",
            "https://0.0.0.0/t",
            "https://user@as.example/t",
            "https://as.example/t#f",
            "https://as.example\\@evil.example/t",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "https://",
            "https://h:99999/",
            "//as.example/t",
            "https://as.example/\n",
        ] {
            assert!(check(bad, world).is_err(), "{bad}");
        }
        let machine = "http://localhost:3000/mcp";
        for fine in [
            "http://127.0.0.1:9/t",
            "http://[::1]/t",
            "https://as.example/t",
        ] {
            assert_eq!(check(fine, machine), Ok(()), "{fine}");
        }
        assert!(check("http://as.example/t", machine).is_err());
        assert!(check("http://192.168.1.1/t", "https://192.168.1.2/mcp").is_err());
        assert_eq!(
            check("https://192.168.1.1/t", "https://192.168.1.2/mcp"),
            Ok(())
        );
    }

    #[test]
    fn oa_04_oa_05_oa_06_a_resource_covers_what_is_below_it() {
        let url = "https://h.example/a/mcp?x=1";
        for yes in [
            "https://h.example/a/mcp?x=1",
            "https://h.example/a/mcp",
            "https://h.example/a/mcp/",
            "https://h.example/a",
            "https://h.example/a/",
            "https://h.example/",
            "https://h.example",
            "https://H.example:443",
        ] {
            assert!(covers(yes, url), "{yes}");
        }
        for no in [
            "https://h.example/a/m",
            "https://h.example/a/mcp//",
            "https://h.example/b",
            "https://evil.example/a/mcp",
            "http://h.example/a/mcp",
            "https://h.example:444/a/mcp",
            "https://h.example/a/mcp#x",
            "https://h.example/a/mcp?x=2",
            "h.example",
        ] {
            assert!(!covers(no, url), "{no}");
        }
        assert!(covers("https://h.example/", "https://h.example"));
    }

    /// OA-04: derived from the URL, it is in its canonical form.
    #[test]
    fn a_url_becomes_a_resource() {
        for (url, resource) in [
            ("HTTPS://H.example/#x", "https://h.example"),
            ("https://h/Mcp?a=B", "https://h/Mcp?a=B"),
            ("HTTPS://MCP.example:443/mcp", "https://mcp.example/mcp"),
            ("http://[::1]:80/mcp", "http://[::1]/mcp"),
            ("https://h:80/", "https://h:80"),
            ("https://h:/mcp/", "https://h/mcp/"),
        ] {
            assert_eq!(canonical(url), resource, "{url}");
        }
    }

    /// OA-02: nothing but that slash is overlooked.
    #[test]
    fn issuers_are_compared_to_the_letter_but_for_the_slash_of_an_empty_path() {
        let issuer = "https://as.example";
        assert!(is_same_issuer(issuer, "https://as.example/"));
        assert!(is_same_issuer("https://as.example/", issuer));
        for other in [
            "https://as.example//",
            "https://AS.example",
            "https://as.example:443",
            "https://as.example/t",
            "https://as.example/?",
            "http://as.example",
        ] {
            assert!(!is_same_issuer(issuer, other), "{other}");
        }
        assert!(!is_same_issuer(
            "https://as.example/t",
            "https://as.example/t/"
        ));
    }
}
