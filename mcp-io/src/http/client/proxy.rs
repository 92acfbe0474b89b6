//! Proxies: which one, and for whom.

use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::{HeaderValue, Uri};

use super::connect::Origin;
use super::error::Error;

/// Which proxy is used.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Proxy {
    /// What `HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY` say, in capitals or not; never for this machine itself.
    #[default]
    Environment,
    /// None.
    None,
    /// This one, `http://host:port`, perhaps with `user:password@`.
    Url(String),
}

/// A proxy that can be asked.
#[derive(Clone, Debug)]
pub(super) struct Server {
    pub(super) host: String,
    pub(super) port: u16,
    /// For `Proxy-Authorization`.
    pub(super) credentials: Option<HeaderValue>,
}

/// A proxy that was named, or why it is none: told to who would need it, and to nobody else.
type Named = Result<Server, String>;

/// The proxies there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Proxies {
    http: Option<Named>,
    https: Option<Named>,
    /// Those that are reached without.
    except: Vec<String>,
    /// Said by the environment, which means others.
    not_for_loopback: bool,
}

impl Proxy {
    pub(super) fn resolve(&self) -> Result<Proxies, Error> {
        match self {
            Self::None => Ok(Proxies::default()),
            Self::Url(url) => {
                let server = Server::parse(url)?;
                Ok(Proxies {
                    http: Some(Ok(server.clone())),
                    https: Some(Ok(server)),
                    ..Proxies::default()
                })
            }
            Self::Environment => Ok(from_environment(|name| std::env::var(name).ok())),
        }
    }
}

fn from_environment(get: impl Fn(&str) -> Option<String>) -> Proxies {
    let either = |name: &str| {
        get(&name.to_ascii_lowercase())
            .or_else(|| get(name))
            .filter(|value| !value.trim().is_empty())
    };
    // In a CGI program `HTTP_PROXY` is the request's header `Proxy`, which anybody can send.
    let http = if get("REQUEST_METHOD").is_some() {
        get("http_proxy").filter(|value| !value.trim().is_empty())
    } else {
        either("HTTP_PROXY")
    };
    let all = either("ALL_PROXY");
    let parse = |url: Option<String>| -> Option<Named> {
        Some(Server::parse(&url?).map_err(|error| error.to_string()))
    };
    Proxies {
        http: parse(http.or_else(|| all.clone())),
        https: parse(either("HTTPS_PROXY").or(all)),
        except: either("NO_PROXY")
            .unwrap_or_default()
            .split([',', ' '])
            .map(|entry| entry.trim().to_ascii_lowercase())
            .filter(|entry| !entry.is_empty())
            .collect(),
        not_for_loopback: true,
    }
}

impl Server {
    fn parse(url: &str) -> Result<Self, Error> {
        let url = url.trim();
        // Not the URL itself: there may be a password in it.
        let fault = |reason: &str| Error::Config(format!("the proxy's URL: {reason}"));
        let with_scheme = if url.contains("://") {
            url.to_owned()
        } else {
            format!("http://{url}")
        };
        let uri: Uri = with_scheme
            .parse()
            .map_err(|_| fault("it is none; `http://host:port` is expected"))?;
        if uri.scheme_str() != Some("http") {
            return Err(fault("only proxies with `http://` are supported"));
        }
        let host = uri
            .host()
            .ok_or_else(|| fault("it has no host"))?
            .to_owned();
        let authority = uri.authority().map_or("", |authority| authority.as_str());
        let credentials = authority
            .rsplit_once('@')
            .map(|(user, _)| {
                let user = percent_decoded(user);
                let mut value = HeaderValue::from_str(&format!("Basic {}", STANDARD.encode(user)))
                    .map_err(|_| fault("its user cannot be written"))?;
                value.set_sensitive(true);
                Ok(value)
            })
            .transpose()?;
        Ok(Self {
            host,
            port: uri.port_u16().unwrap_or(80),
            credentials,
        })
    }
}

impl Proxies {
    /// The proxy for an origin.
    pub(super) fn of(&self, origin: &Origin) -> Result<Option<&Server>, Error> {
        let named = if origin.tls {
            self.https.as_ref()
        } else {
            self.http.as_ref()
        };
        let Some(named) = named else {
            return Ok(None);
        };
        let direct = self.not_for_loopback && is_loopback(&origin.host)
            || self.except.iter().any(|entry| matches(entry, origin));
        if direct {
            return Ok(None);
        }
        let server = named.as_ref();
        server.map(Some).map_err(|why| Error::Config(why.clone()))
    }
}

fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost"
        || host.ends_with(".localhost")
        || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

/// Whether an entry of `NO_PROXY` names the origin: `*`, a host, a domain with all below it, each perhaps with a port.
fn matches(entry: &str, origin: &Origin) -> bool {
    if entry == "*" {
        return true;
    }
    let is_port = |port: &str| !port.is_empty() && port.bytes().all(|it| it.is_ascii_digit());
    let (name, port) = match entry.rsplit_once(':') {
        Some((name, port)) if is_port(port) && (!name.contains(':') || name.ends_with(']')) => {
            (name, port.parse::<u16>().ok())
        }
        _ => (entry, None),
    };
    if port.is_some_and(|port| port != origin.port) {
        return false;
    }
    let name = name.trim_start_matches("*.").trim_start_matches('.');
    let host = origin.host.trim_start_matches('[').trim_end_matches(']');
    let name = name.trim_start_matches('[').trim_end_matches(']');
    host == name
        || host
            .strip_suffix(name)
            .is_some_and(|rest| rest.ends_with('.'))
}

fn percent_decoded(text: &str) -> Vec<u8> {
    let mut rest = text.as_bytes();
    let mut decoded = Vec::with_capacity(text.len());
    let digit = |byte: u8| char::from(byte).to_digit(16);
    while let [byte, after @ ..] = rest {
        if let [b'%', high, low, after @ ..] = rest
            && let (Some(high), Some(low)) = (digit(*high), digit(*low))
        {
            // Two digits are a byte.
            decoded.push((high * 16 + low) as u8);
            rest = after;
        } else {
            decoded.push(*byte);
            rest = after;
        }
    }
    decoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn proxies(variables: &[(&str, &str)]) -> Proxies {
        from_environment(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn origin(url: &str) -> Origin {
        Origin::of(&url.parse().expect("a URL")).expect("an origin")
    }

    fn via(proxies: &Proxies, url: &str) -> Option<String> {
        let server = proxies.of(&origin(url)).expect("one that can be used")?;
        Some(format!("{}:{}", server.host, server.port))
    }

    #[test]
    fn the_environment_says_for_whom() {
        let all = proxies(&[
            ("HTTP_PROXY", "http://one:1"),
            ("https_proxy", "two:2"),
            ("NO_PROXY", "example.com, .inner, 10.0.0.1 , other.org:8080"),
        ]);
        assert_eq!(via(&all, "http://x.test/").as_deref(), Some("one:1"));
        assert_eq!(via(&all, "https://x.test/").as_deref(), Some("two:2"));
        for direct in [
            "http://example.com/",
            "https://a.example.com/",
            "http://b.inner/",
            "http://10.0.0.1:99/",
            "http://other.org:8080/",
            "http://localhost:1/",
            "http://127.0.0.1/",
            "http://[::1]:3000/",
        ] {
            assert_eq!(via(&all, direct), None, "{direct}");
        }
        for through in ["http://notexample.com/", "http://other.org/"] {
            assert!(via(&all, through).is_some(), "{through}");
        }
        let star = proxies(&[("ALL_PROXY", "http://p:3"), ("no_proxy", "*")]);
        assert_eq!(via(&star, "https://x.test/"), None);
        let rest = proxies(&[("all_proxy", "http://p:3")]);
        assert_eq!(via(&rest, "https://x.test/").as_deref(), Some("p:3"));
        // In a CGI program the variable may be anybody's.
        let cgi = proxies(&[("HTTP_PROXY", "http://evil:1"), ("REQUEST_METHOD", "GET")]);
        assert_eq!(via(&cgi, "http://x.test/"), None);
    }

    #[test]
    fn credentials_go_to_the_proxy_and_into_no_message() {
        let server = Server::parse("http://us%40er:p%zz@proxy.test:8080").expect("a proxy");
        let value = server.credentials.expect("credentials");
        assert!(value.is_sensitive());
        let expected = format!("Basic {}", STANDARD.encode("us@er:p%zz"));
        assert_eq!(value.to_str().ok(), Some(&*expected));
        let error = Server::parse("socks5://u:secret@h:1").expect_err("not supported");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
}
