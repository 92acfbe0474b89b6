//! Whose tokens clients need.

use mcp_std::Server;
use mcp_std::http::auth::{AuthError, Issuer, ResourceServer};

#[derive(clap::Args)]
#[command(next_help_heading = "Authorization")]
pub(super) struct Auth {
    /// Serves only those who have an access token of this authorization server: its issuer identifier, a URL that is
    /// compared letter by letter. May be given several times. It takes --auth-audience
    #[arg(
        long = "auth-issuer",
        value_name = "URL",
        requires = "http",
        requires = "audience"
    )]
    issuers: Vec<String>,
    /// What tokens have to be for: the URL of this server as its clients know it, such as `https://mcp.example.com/mcp`.
    /// Requests to that host are served, besides those to this machine
    #[arg(
        long = "auth-audience",
        value_name = "URL",
        requires = "http",
        requires = "issuers"
    )]
    audience: Option<String>,
    /// A scope that every request takes. May be given several times
    #[arg(long = "auth-scope", value_name = "SCOPE", requires = "issuers")]
    scopes: Vec<String>,
    /// A scope that a tool takes besides, such as deploy=mcp:deploy. May be given several times
    #[arg(
        long = "auth-tool-scope",
        value_name = "TOOL=SCOPE",
        requires = "issuers",
        value_parser = tool_scope
    )]
    tool_scopes: Vec<(String, String)>,
    /// Where the keys of the authorization server are, if its metadata do not say so; with one --auth-issuer only
    #[arg(long = "auth-jwks", value_name = "URL", requires = "issuers")]
    jwks: Option<String>,
}

fn tool_scope(text: &str) -> Result<(String, String), String> {
    let (tool, scope) = text
        .split_once('=')
        .ok_or("TOOL=SCOPE is expected, such as deploy=mcp:deploy")?;
    Ok((tool.to_owned(), scope.to_owned()))
}

impl Auth {
    /// `None`: no token is needed.
    pub(super) fn resource_server(&self, server: &Server) -> Result<Option<ResourceServer>, Wrong> {
        let Some(audience) = &self.audience else {
            return Ok(None);
        };
        if self.jwks.is_some() && self.issuers.len() > 1 {
            return Err(Wrong::Keys);
        }
        let mut builder = ResourceServer::builder(audience).scopes(&self.scopes);
        for issuer in &self.issuers {
            let issuer = Issuer::new(issuer);
            builder = builder.issuer(match &self.jwks {
                Some(jwks) => issuer.jwks_uri(jwks),
                None => issuer,
            });
        }
        for (tool, scope) in &self.tool_scopes {
            if !server.has_tool(tool) {
                return Err(Wrong::Tool(tool.clone()));
            }
            builder = builder.tool_scopes(tool, [scope]);
        }
        builder.build().map(Some).map_err(Wrong::Auth)
    }
}

/// What cannot be.
pub(super) enum Wrong {
    /// One place for the keys of several issuers.
    Keys,
    /// A scope for a tool that is not there, which would protect nothing.
    Tool(String),
    Auth(AuthError),
}

impl core::fmt::Display for Wrong {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Keys => f.write_str(
                "`--auth-jwks` is about one authorization server: leave it out, and the keys of each are found by its \
                 metadata, or name one with `--auth-issuer`",
            ),
            Self::Tool(tool) => write!(
                f,
                "`--auth-tool-scope {tool}=…`: there is no tool `{tool}` here"
            ),
            Self::Auth(AuthError::Resource { url, reason, .. }) => {
                write!(f, "`--auth-audience {url}`: {reason}")
            }
            Self::Auth(AuthError::Issuer { url, reason, .. }) => write!(
                f,
                "`{url}`, of `--auth-issuer` or `--auth-jwks`: {reason}"
            ),
            Self::Auth(AuthError::Scope { scope, reason, .. }) => write!(
                f,
                "the scope `{scope}`, of `--auth-scope` or `--auth-tool-scope`: {reason}"
            ),
            Self::Auth(error) => error.fmt(f),
        }
    }
}
