//! Where an app may get things from: content security policies that cannot be made to say more than was declared.

use core::fmt::{self, Write as _};

use serde_json::{Map, Value};

/// As many origins as one list may have.
const MOST: usize = 64;

/// As many bytes as an origin may have: the longest name of a host, with a scheme and a port.
const LONGEST: usize = 270;

/// The origins beyond its own that an app gets things from: `_meta.ui.csp` of its resource. Without any it gets nothing.
///
/// An origin is `https://host`, with a port perhaps; `https://*.host` is all names below it. What else the syntax of content
/// security policies knows, `*`, `data:` and `'unsafe-eval'` among them, is no origin, and refused.
///
/// ```
/// use mcp_std::apps::Csp;
///
/// let csp = Csp::new().connect("https://api.example.com")?.resource("https://*.example.net")?;
/// assert!(csp.header().contains("connect-src 'self' https://api.example.com;"));
/// assert!(Csp::new().connect("https://a.example; script-src *").is_err());
/// # Ok::<(), mcp_std::apps::OriginFault>(())
/// ```
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Csp {
    connect: Vec<String>,
    resource: Vec<String>,
    frame: Vec<String>,
    base_uri: Vec<String>,
}

/// Why a text is no origin that an app can declare.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct OriginFault {
    /// The text, as far as there is room for it.
    pub origin: String,
    /// What is wrong with it.
    pub problem: &'static str,
}

impl fmt::Display for OriginFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` {}", self.origin.escape_debug(), self.problem)
    }
}

impl core::error::Error for OriginFault {}

macro_rules! lists {
    ($($name:ident, $member:literal, $schemes:expr, $doc:literal;)*) => {
        impl Csp {
            $(
                #[doc = $doc]
                ///
                /// # Errors
                ///
                /// It is no origin, or one too many: 64 of a kind may be declared.
                pub fn $name(mut self, origin: impl Into<String>) -> Result<Self, OriginFault> {
                    add(&mut self.$name, origin.into(), $schemes)?;
                    Ok(self)
                }
            )*

            /// What a resource declares. What is no origin is left out, and told.
            pub(super) fn read(declared: &Map<String, Value>, faults: &mut Vec<OriginFault>) -> Self {
                let mut csp = Self::new();
                $(
                    let listed = declared.get($member).and_then(Value::as_array);
                    for origin in listed.into_iter().flatten() {
                        let fault = match origin {
                            Value::String(origin) => {
                                // As some servers write it; it says the same.
                                let bare = origin.strip_suffix('/').unwrap_or(origin);
                                add(&mut csp.$name, bare.to_owned(), $schemes).err()
                            }
                            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
                                Some(fault("", "is no string"))
                            }
                        };
                        match fault {
                            Some(_) if faults.len() >= MOST => break,
                            fault => faults.extend(fault),
                        }
                    }
                )*
                csp
            }

            /// As `_meta.ui.csp` has it.
            pub(super) fn value(&self) -> Value {
                let mut members = Map::new();
                $(
                    if !self.$name.is_empty() {
                        members.insert($member.to_owned(), self.$name.clone().into());
                    }
                )*
                Value::Object(members)
            }
        }
    };
}

const CONNECT: &[&str] = &["https", "wss", "http", "ws"];
const LOAD: &[&str] = &["https", "http"];

lists! {
    connect, "connectDomains", CONNECT, "Requests may go there: `fetch`, and WebSockets with `wss://`.";
    resource, "resourceDomains", LOAD, "Pictures, scripts, styles, fonts and media may come from there.";
    frame, "frameDomains", LOAD, "Frames within the app may show pages from there.";
    base_uri, "baseUriDomains", LOAD, "The document's base may be there.";
}

impl Csp {
    /// Nothing beyond the app itself.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            connect: Vec::new(),
            resource: Vec::new(),
            frame: Vec::new(),
            base_uri: Vec::new(),
        }
    }

    /// The policy for an app that declares nothing: the value of the header `Content-Security-Policy`.
    pub const RESTRICTIVE: &str = "default-src 'none'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; \
         img-src 'self' data:; media-src 'self' data:; connect-src 'none'; frame-src 'none'; object-src 'none'; \
         base-uri 'self'; form-action 'none'";

    /// The policy of this declaration, the value of the header `Content-Security-Policy`: what is declared, and nothing else.
    #[must_use]
    pub fn header(&self) -> String {
        let mut header = "default-src 'none'".to_owned();
        for (directive, always, origins) in [
            ("script-src", "'self' 'unsafe-inline'", &self.resource),
            ("style-src", "'self' 'unsafe-inline'", &self.resource),
            ("connect-src", "'self'", &self.connect),
            ("img-src", "'self' data:", &self.resource),
            ("font-src", "'self'", &self.resource),
            ("media-src", "'self' data:", &self.resource),
            ("frame-src", or(&self.frame, "'none'"), &self.frame),
            ("object-src", "'none'", &Vec::new()),
            ("base-uri", or(&self.base_uri, "'self'"), &self.base_uri),
            // Stricter than the specification asks: what a form is sent to is not declared by anything.
            ("form-action", "'none'", &Vec::new()),
        ] {
            let _ = write!(header, "; {directive}");
            for part in Some(always)
                .filter(|it| !it.is_empty())
                .into_iter()
                .chain(origins.iter().map(String::as_str))
            {
                let _ = write!(header, " {part}");
            }
        }
        header
    }

    /// Whether the app gets things from elsewhere, which its user should be told.
    #[must_use]
    pub const fn is_external(&self) -> bool {
        !(self.connect.is_empty()
            && self.resource.is_empty()
            && self.frame.is_empty()
            && self.base_uri.is_empty())
    }

    /// Leaves only those origins of which `keep` says so: a host's own list of what is allowed.
    #[must_use]
    pub fn restricted(mut self, keep: impl Fn(&str) -> bool) -> Self {
        let Self {
            connect,
            resource,
            frame,
            base_uri,
        } = &mut self;
        for list in [connect, resource, frame, base_uri] {
            list.retain(|origin| keep(origin));
        }
        self
    }
}

/// What stands there if nothing is declared.
const fn or(declared: &[String], otherwise: &'static str) -> &'static str {
    if declared.is_empty() { otherwise } else { "" }
}

fn add(list: &mut Vec<String>, origin: String, schemes: &[&str]) -> Result<(), OriginFault> {
    check(&origin, schemes).map_err(|problem| fault(&origin, problem))?;
    if list.len() >= MOST {
        return Err(fault(&origin, "is one origin too many"));
    }
    if !list.contains(&origin) {
        list.push(origin);
    }
    Ok(())
}

fn fault(origin: &str, problem: &'static str) -> OriginFault {
    OriginFault {
        origin: origin.chars().take(128).collect(),
        problem,
    }
}

/// Whether a text is an origin: nothing that a policy would take for something else can be in one.
fn check(origin: &str, schemes: &[&str]) -> Result<(), &'static str> {
    if origin.len() > LONGEST {
        return Err("is too long for an origin");
    }
    let Some((scheme, authority)) = origin.split_once("://") else {
        return Err("is no origin, which has a scheme and a host: https://example.com");
    };
    if !schemes.contains(&scheme) {
        return Err("has a scheme that nothing can be had by here");
    }
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port)),
        None => (authority, None),
    };
    let digits = |port: &str| port.bytes().all(|byte| byte.is_ascii_digit());
    if port.is_some_and(|port| !digits(port) || port.parse::<u16>().map_or(true, |port| port == 0))
    {
        return Err("has no number from 1 to 65535 for its port");
    }
    let (named, is_wildcard) = match host.strip_prefix("*.") {
        Some(below) => (below, true),
        None => (host, false),
    };
    if !is_host(named) {
        return Err(
            "is no origin: after the scheme come a host, and perhaps a port, and nothing else",
        );
    }
    if is_wildcard && !named.contains('.') {
        return Err("stands for all names of a top-level domain");
    }
    Ok(())
}

/// Whether a text is a name of a host, or an address in four numbers: labels of letters, digits and hyphens.
pub(super) fn is_host(host: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_')
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    host.len() <= 253 && host.split('.').all(label)
}
