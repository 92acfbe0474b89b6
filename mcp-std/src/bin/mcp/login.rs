//! `mcp login` and `mcp logout`: the user's tokens, which the other commands use.

use std::env;
use std::io::{self, IsTerminal as _};
use std::path::PathBuf;
use std::process::ExitCode;

use mcp_std::auth::{Auth, Credentials, FileStore, LoggedOut, Secret};
use mcp_std::client::{CallError, Client, HttpFault};

use crate::connect::{authority, trusting};
use crate::failure::Failure;
use crate::screen;
use crate::text::printable;

/// The client's secret is not to be seen in lists of processes.
const SECRET: &str = "MCP_CLIENT_SECRET";

#[derive(clap::Args)]
#[command(after_help = "Example: mcp login https://mcp.example.com/mcp

The other commands log in by themselves when a server wants to know who asks, if
they are started at a terminal. With MCP_CLIENT_SECRET in the environment that is
the secret of the client that --client-id names.")]
pub(crate) struct Login {
    /// Where the server is
    #[arg(value_name = "URL")]
    url: String,
    /// Asks for this scope, and not for what the server names; may be given several times
    #[arg(long, value_name = "SCOPE")]
    scope: Vec<String>,
    /// What the authorization server knows this program by, if it is registered there
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// The authorization server that has registered it, to the letter; without it, the first one that the server names
    #[arg(long, value_name = "URL", requires = "client_id")]
    issuer: Option<String>,
    /// Trusts the certificate authorities in this file, in PEM, besides those that browsers trust; may be given several times
    #[arg(long, value_name = "FILE")]
    ca: Vec<PathBuf>,
}

#[derive(clap::Args)]
#[command(after_help = "Example: mcp logout https://mcp.example.com/mcp

The authorization server is told that the tokens are over, if it can be told. They
are forgotten here in any case; if they may still be good the exit code is not 0.")]
pub(crate) struct Logout {
    /// Where the server is, as it was written for the login
    #[arg(value_name = "URL")]
    url: String,
    /// Trusts the certificate authorities in this file, in PEM, besides those that browsers trust; may be given several times
    #[arg(long, value_name = "FILE")]
    ca: Vec<PathBuf>,
}

/// How commands get tokens: from what is kept, and from the user if there is one.
pub(crate) fn auth() -> Auth {
    let auth = kept().on_page(show);
    if io::stderr().is_terminal() {
        auth
    } else {
        auth.unattended()
    }
}

fn kept() -> Auth {
    match FileStore::of_user("mcp") {
        Some(store) => Auth::code().store(store),
        // For this once.
        None => Auth::code(),
    }
}

fn show(page: &str) {
    screen::clear_bar();
    screen::print(&format!(
        "Log in with a browser on this machine:\n\n  {}\n\n",
        printable(page)
    ));
}

impl Login {
    pub(crate) fn run(&self) -> ExitCode {
        match async_io::block_on(self.login()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => failure.report("login"),
        }
    }

    async fn login(&self) -> Result<(), Failure> {
        let url = &*self.url;
        let mut auth = kept().on_page(show);
        if !self.scope.is_empty() {
            auth = auth.scopes(self.scope.iter().map(String::as_str));
        }
        if let Some(id) = &self.client_id {
            let credentials = match env::var(SECRET) {
                Ok(secret) => Credentials::secret(id, Secret::new(secret)),
                Err(_) => Credentials::public(id),
            };
            auth = auth.client(match &self.issuer {
                Some(issuer) => credentials.issuer(issuer),
                None => credentials,
            });
        }
        // What is kept may not be enough for what is asked for now.
        auth.forget(url).map_err(fault)?;
        let builder = Client::builder("mcp", env!("CARGO_PKG_VERSION"));
        let builder = builder.title("mcp command line").auth(auth.clone());
        let builder = trusting(builder, &self.ca)?;
        let client = builder.connect_http(url).await;
        let client = client.map_err(|error| Failure::login(&error, url))?;
        // Older servers let everyone in, and ask later.
        let listed = client.list_tools().await;
        client.close().await;
        if let Err(CallError::Http {
            fault: denied @ HttpFault::Unauthorized { .. },
            ..
        }) = listed
        {
            return Err(fault(denied));
        }
        let said = if auth.is_known(url).map_err(fault)? {
            "logged in to"
        } else {
            "no login is needed for"
        };
        screen::print(&format!("mcp login: {said} {}\n", printable(url)));
        Ok(())
    }
}

impl Logout {
    pub(crate) fn run(&self) -> ExitCode {
        let mut auth = kept();
        for file in &self.ca {
            match authority(file) {
                Ok(pem) => auth = auth.authorities(pem),
                Err(failure) => return failure.report("logout"),
            }
        }
        let said = match async_io::block_on(auth.logout(&self.url)) {
            Err(error) => return fault(error).report("logout"),
            Ok(LoggedOut::Unknown) => "there was no login to",
            Ok(LoggedOut::Unrevoked(error)) => {
                let told = format!(
                    "the tokens for {} are forgotten here, but not revoked, and may be good until they expire: {error}",
                    self.url
                );
                return fault(told).report("logout");
            }
            // What is not offered is nobody's failure.
            Ok(_) => "logged out of",
        };
        screen::print(&format!("mcp logout: {said} {}\n", printable(&self.url)));
        ExitCode::SUCCESS
    }
}

fn fault(error: impl core::fmt::Display) -> Failure {
    Failure::Server(error.to_string())
}
