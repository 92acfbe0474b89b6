//! Authorization of the client (OAuth 2.1, as MCP profiles it): what happens when a server at a URL wants to know who asks.
//! Servers that do are the business of [`mcp_std::http::auth`](crate::http::auth).
//!
//! ```no_run
//! use mcp_std::Client;
//! use mcp_std::auth::{Auth, FileStore};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let store = FileStore::of_user("my-program").ok_or("no home")?;
//! let client = Client::builder("my-program", "1.0.0")
//!     .auth(Auth::code().store(store))
//!     .connect_http("https://mcp.example.com/mcp")
//!     .await?;
//! # Ok(()) }
//! ```
//!
//! The server's refusal says where its tokens come from. The client reads the metadata of the server and of its
//! authorization server, registers if it is not known there, shows the user a page to log in at, waits for the redirect on
//! this machine, and sends the request again with the token, as all later ones. A token that has expired is replaced without
//! the user; one that is not enough is too, with the user, when the server names the scopes that are missing. Requests that
//! are refused at once share one login.
//!
//! # Grants
//!
//! - [`Auth::code`]: a user, with PKCE and resource indicators. [`Auth::on_page`] says how the user gets to see the page,
//!   [`Auth::redirect`] is for programs that get the redirect themselves.
//! - [`Auth::client_credentials`]: the program itself, with a secret or a key.
//! - [`Auth::workload`]: a JWT of the place where the program runs.
//! - [`Auth::enterprise`]: an identity provider vouches for the user.
//!
//! # What is checked
//!
//! - Metadata have to be those of the server and of the issuer that they were looked up for: neither is ever parsed and
//!   printed again, and nothing but a slash at the end of the one, and after the host of the other, is overlooked. What stands
//!   in the metadata is what is sent, and what later answers are compared with, to the letter.
//! - Nothing is sent to a URL that is not `https`, this machine apart, nor from a public server's word to an address in a
//!   private network. Host names are not resolved for that. No redirect is followed. Bodies are read up to 256 KiB.
//! - The redirect has to carry the state of this login and, where it is promised or there, the issuer (RFC 9207).
//! - A token goes to the server that it is for, and credentials to the authorization server that gave them.
//! - A login that failed is not begun again by the same client, unless it was the network that failed; the user is asked once
//!   for the scopes that a server wants.
//! - A refresh token is used once, by clients that share a store in turns, and kept until the authorization server says that
//!   it is over. If that is since another program has used it, what that one has kept is taken. A registration that is known
//!   no more is made anew, once.
//! - [`Secret`]s are in no log, in no `Debug`, and in no error.
//!
//! While the user is at it, for at most [`login_timeout`](Auth::login_timeout), the time of what waits for it does not
//! count, but for the limit of a whole call. A call that is given up does not end the login, and the next one has the token.
//!
//! # Standard input and output
//!
//! There all of this is without effect: a child process is never asked for a login, and no metadata are looked for. A server
//! that needs credentials gets them from its environment ([`Secret::from_env`]), and its client puts there what it is to
//! have, by name: `Command::env`, `Command::pass_env`. Nothing else of the host's environment that could be a secret is
//! inherited.
//!
//! # Why not a crate for it
//!
//! Signing, hashing and randomness are ring's, which TLS brings anyway, and sha2's. `oauth2` covers the grant requests only,
//! which are the smallest part of this, over URLs that it normalises and an HTTP client of its own; `jsonwebtoken` would
//! bring a second stack of cryptography for the two signatures made here.

mod address;
mod assertion;
mod challenge;
pub(crate) mod discovery;
mod dpop;
mod driver;
mod error;
mod flow;
mod form;
#[cfg(feature = "keyring")]
mod keyring;
mod loopback;
mod metadata;
mod pkce;
mod registration;
mod revocation;
mod scope;
mod secret;
mod session;
mod store;
mod token;

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::time::Duration;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

pub use assertion::SigningKey;
pub use challenge::Challenge;
pub use error::AuthError;
#[cfg(feature = "keyring")]
pub use keyring::KeyringStore;
pub use registration::{ClientMethod, Credentials};
pub use revocation::LoggedOut;
use scope::Scopes;
pub use secret::Secret;
pub(crate) use session::{Attempt, Session};
pub use store::{FileStore, MemoryStore, TokenStore};

/// How a client gets its tokens. Cheap to clone; clones share the store, and nothing else.
#[derive(Clone)]
#[must_use = "it is for `ClientBuilder::auth`"]
pub struct Auth {
    plan: Plan,
    way: Way,
    store: Arc<dyn TokenStore>,
    turns: Turns,
    max_step_ups: usize,
    login_timeout: Duration,
    /// Trusted at a logout.
    authorities: Vec<Vec<u8>>,
}

/// What the flow has to know.
#[derive(Clone)]
struct Plan {
    grant: Grant,
    credentials: Option<Credentials>,
    /// The URL of the client's metadata document.
    document: Option<String>,
    name: String,
    scopes: Option<Scopes>,
    /// Servers of 2025-03-26 have no metadata of their own.
    legacy: bool,
    dpop: bool,
}

impl Plan {
    /// The credentials, if a secret or an assertion is shown as it is, and nobody has said to whom.
    fn shown(&self) -> Option<&Credentials> {
        let credentials = self.credentials.as_ref()?;
        let bare = credentials.secret.is_some() || matches!(self.grant, Grant::Workload(_));
        (bare && credentials.issuer.is_none()).then_some(credentials)
    }
}

#[derive(Clone)]
enum Grant {
    Code,
    ClientCredentials,
    Workload(Assertion),
    Enterprise(Box<IdentityProvider>),
}

/// Whose turn it is to get tokens, by the name that they are kept under: clients that share a store share this, so that no
/// refresh token is used twice.
#[derive(Clone, Default)]
struct Turns(Arc<Mutex<BTreeMap<String, Weak<Turn>>>>);

/// Whoever has it gets tokens.
type Turn = async_lock::Mutex<()>;

impl Turns {
    fn of(&self, name: &str) -> Arc<Turn> {
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        turns.retain(|_, turn| turn.strong_count() > 0);
        if let Some(turn) = turns.get(name).and_then(Weak::upgrade) {
            return turn;
        }
        let turn = Arc::<Turn>::default();
        turns.insert(name.to_owned(), Arc::downgrade(&turn));
        turn
    }
}

type Back = Pin<Box<dyn Future<Output = Result<String, AuthError>> + Send>>;

/// How the user gets to a page, and back.
#[derive(Clone)]
enum Way {
    Loopback(Arc<dyn Fn(&str) + Send + Sync>),
    Redirect {
        uri: String,
        visit: Arc<dyn Fn(String) -> Back + Send + Sync>,
    },
    Nobody,
}

/// Gives a JWT, the current one each time.
#[derive(Clone)]
struct Assertion(Arc<dyn Fn() -> Result<Secret, String> + Send + Sync>);

impl Assertion {
    fn get(&self) -> Result<Secret, AuthError> {
        (self.0)().map_err(AuthError::Key)
    }
}

/// The identity provider of an enterprise, where its users log in.
#[derive(Clone)]
pub struct IdentityProvider {
    issuer: String,
    token_endpoint: String,
    client: Credentials,
    token: Assertion,
}

impl IdentityProvider {
    /// With its issuer and its token endpoint, what this program is to it, and the ID token that the user has from it, as a
    /// function that gives the current one.
    pub fn new(
        issuer: impl Into<String>,
        token_endpoint: impl Into<String>,
        client: Credentials,
        id_token: impl Fn() -> Result<Secret, String> + Send + Sync + 'static,
    ) -> Self {
        Self {
            issuer: issuer.into(),
            token_endpoint: token_endpoint.into(),
            client,
            token: Assertion(Arc::new(id_token)),
        }
    }
}

impl Auth {
    fn new(grant: Grant) -> Self {
        let show = |page: &str| {
            // Whoever has closed it cannot log in.
            let _ = writeln!(std::io::stderr(), "Log in at: {page}");
        };
        Self {
            plan: Plan {
                grant,
                credentials: None,
                document: None,
                name: String::new(),
                scopes: None,
                legacy: true,
                dpop: false,
            },
            way: Way::Loopback(Arc::new(show)),
            store: Arc::new(MemoryStore::new()),
            turns: Turns::default(),
            max_step_ups: 2,
            login_timeout: Duration::from_secs(600),
            authorities: Vec::new(),
        }
    }

    /// A user logs in, and agrees. The page's address is written to standard error, and the user comes back to a port of this
    /// machine that is free.
    pub fn code() -> Self {
        Self::new(Grant::Code)
    }

    /// The program is who asks; there is no user.
    // OCC-02 to OCC-04.
    pub fn client_credentials(credentials: Credentials) -> Self {
        Self::new(Grant::ClientCredentials).client(credentials)
    }

    /// The program is who asks, and the place where it runs says so: `assertion` gives the current JWT (RFC 7523). It runs
    /// where the login does, and may read a file.
    pub fn workload(
        credentials: Credentials,
        assertion: impl Fn() -> Result<Secret, String> + Send + Sync + 'static,
    ) -> Self {
        let mut credentials = credentials;
        credentials.method = credentials.method.or(Some(ClientMethod::None));
        Self::new(Grant::Workload(Assertion(Arc::new(assertion)))).client(credentials)
    }

    /// An enterprise's identity provider vouches for the user, who is not asked again. The credentials are those for the
    /// server's authorization server.
    // EMA-02.
    pub fn enterprise(credentials: Credentials, provider: IdentityProvider) -> Self {
        Self::new(Grant::Enterprise(Box::new(provider))).client(credentials)
    }

    /// What the authorization server knows this program by. Default: a [document](Self::client_metadata), or the program
    /// registers.
    // REG-01, REG-05.
    pub fn client(mut self, credentials: Credentials) -> Self {
        self.plan.credentials = Some(credentials);
        self
    }

    /// Where the document is that says who this program is: an `https` URL with a path, which serves as its client id where
    /// authorization servers know such. Its redirect URIs are to have the one of this program: `http://127.0.0.1/callback`,
    /// where the port makes no difference, or that of [`redirect`](Self::redirect).
    // REG-02, REG-03.
    pub fn client_metadata(mut self, url: impl Into<String>) -> Self {
        self.plan.document = Some(url.into());
        self
    }

    /// Asks for these scopes from the beginning. Default: those that the server names.
    pub fn scopes<'s>(mut self, scopes: impl IntoIterator<Item = &'s str>) -> Self {
        let mut set = Scopes::default();
        set.extend(scopes);
        self.plan.scopes = Some(set);
        self
    }

    /// Where tokens are kept. Default: in memory.
    pub fn store(mut self, store: impl TokenStore + 'static) -> Self {
        self.store = Arc::new(store);
        self.turns = Turns::default();
        self
    }

    /// Shows the user the page to log in at, in place of standard error. The user comes back to this machine. It is not to
    /// go through a shell.
    // PKC-04.
    pub fn on_page(mut self, show: impl Fn(&str) + Send + Sync + 'static) -> Self {
        self.way = Way::Loopback(Arc::new(show));
        self
    }

    /// Sends the user to the page itself and brings back the query, or the whole URL, that the redirect to `uri` comes with.
    /// An error is one sentence that says why there is none.
    ///
    /// ```
    /// use mcp_std::auth::Auth;
    ///
    /// let auth = Auth::code().redirect("https://app.example/callback", |page| async move {
    ///     // Send the user to `page`, and wait.
    ///     # let _ = page;
    ///     Ok("code=…&state=…".to_owned())
    /// });
    /// ```
    pub fn redirect<F>(
        mut self,
        uri: impl Into<String>,
        visit: impl Fn(String) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<String, String>> + Send + 'static,
    {
        self.way = Way::Redirect {
            uri: uri.into(),
            visit: Arc::new(move |page| {
                let back = visit(page);
                Box::pin(async move { back.await.map_err(AuthError::Visit) })
            }),
        };
        self
    }

    /// At a [`logout`](Self::logout): trusts these authorities, certificates in PEM, besides those that browsers trust. At a
    /// login it is the client that asks, with [those that it trusts](crate::client::ClientBuilder::authorities).
    pub fn authorities(mut self, pem: impl Into<Vec<u8>>) -> Self {
        self.authorities.push(pem.into());
        self
    }

    /// There is no user now: what is kept is used, and renewed where that goes without a user. If one is needed, that is an
    /// error, and nobody is registered for it.
    pub fn unattended(mut self) -> Self {
        self.way = Way::Nobody;
        self
    }

    /// Whether tokens are bound to a key (DPoP) wherever the authorization server can do that. Default: only where the server
    /// wants it.
    pub const fn dpop(mut self, wanted: bool) -> Self {
        self.plan.dpop = wanted;
        self
    }

    /// Whether a server that says nothing about its authorization server is taken for its own, as in 2025-03-26. Default: so.
    // DSC-08, DSC-09.
    pub const fn legacy(mut self, allowed: bool) -> Self {
        self.plan.legacy = allowed;
        self
    }

    /// How often one request may lead to more scopes being asked for. Default: 2.
    // SCP-04.
    pub const fn max_step_ups(mut self, most: usize) -> Self {
        self.max_step_ups = most;
        self
    }

    /// How long a login may take, the user included. Default: 10 minutes.
    pub const fn login_timeout(mut self, time: Duration) -> Self {
        self.login_timeout = time;
        self
    }

    /// Whether there is a token for the server at this URL, good or not.
    ///
    /// # Errors
    ///
    /// [`AuthError::Store`].
    pub fn is_known(&self, url: &str) -> Result<bool, AuthError> {
        let kept = self.store.get(&session::name(&self.plan, url.trim()));
        let kept = kept.map_err(|error| AuthError::Store(error.to_string()))?;
        Ok(kept.is_some())
    }

    /// Forgets the tokens for the server at this URL, and tells nobody: see [`logout`](Self::logout). The registration stays.
    ///
    /// # Errors
    ///
    /// [`AuthError::Store`].
    pub fn forget(&self, url: &str) -> Result<(), AuthError> {
        let name = session::name(&self.plan, url.trim());
        let forgotten = self.store.set(&name, None);
        forgotten.map_err(|error| AuthError::Store(error.to_string()))
    }

    /// What this program is called, where it registers and nothing else was said.
    pub(crate) fn named(&mut self, name: &str) {
        name.clone_into(&mut self.plan.name);
    }

    /// The extension that is declared to servers (OCC-02, EMA-01).
    pub(crate) const fn extension(&self) -> Option<&'static str> {
        match self.plan.grant {
            Grant::ClientCredentials => Some("io.modelcontextprotocol/oauth-client-credentials"),
            Grant::Enterprise(_) => {
                Some("io.modelcontextprotocol/enterprise-managed-authorization")
            }
            Grant::Code | Grant::Workload(_) => None,
        }
    }
}

impl fmt::Debug for Auth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let grant = match self.plan.grant {
            Grant::Code => "code",
            Grant::ClientCredentials => "client_credentials",
            Grant::Workload(_) => "workload",
            Grant::Enterprise(_) => "enterprise",
        };
        f.debug_struct("Auth")
            .field("grant", &grant)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for IdentityProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IdentityProvider")
            .field("issuer", &self.issuer)
            .finish_non_exhaustive()
    }
}

/// Seconds since 1970.
fn now() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}

/// Base64 as it is used in URLs and JWTs.
fn encode(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}
