//! Who the client is in the scenarios of authorization, and the user who logs in: one that agrees at once, without a browser.

use std::env;

use mcp_std::auth::{Auth, Credentials, IdentityProvider, Secret, SigningKey};
use serde::Deserialize;

use crate::Failure;

/// Whatever a scenario gives; no scenario gives all of it.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Context {
    client_id: String,
    client_secret: Secret,
    issuer: Option<String>,
    private_key_pem: Secret,
    idp_client_id: String,
    idp_id_token: Secret,
    idp_issuer: String,
    idp_token_endpoint: String,
    valid_jwt: Secret,
}

/// Where the user comes back to: nobody listens there.
const REDIRECT: &str = "http://127.0.0.1:53682/callback";

/// The document that the suite knows this client by; nobody reads it.
const DOCUMENT: &str = "https://conformance-test.local/client-metadata.json";

/// How the client of this scenario gets its tokens; `None`: it needs none.
pub(crate) fn auth(scenario: &str) -> Result<Option<Auth>, Failure> {
    let Some(scenario) = scenario.strip_prefix("auth/") else {
        return Ok(None);
    };
    let context: Context = match env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(context) => serde_json::from_str(&context)?,
        Err(_) => Context::default(),
    };
    let with_secret = || Credentials::secret(&*context.client_id, context.client_secret.clone());
    Ok(Some(match scenario {
        "client-credentials-jwt" => {
            let key = SigningKey::es256(&context.private_key_pem)?;
            Auth::client_credentials(Credentials::key(context.client_id, key))
        }
        "client-credentials-basic" => Auth::client_credentials(with_secret()),
        "enterprise-managed-authorization" => {
            let token = context.idp_id_token.clone();
            let provider = IdentityProvider::new(
                context.idp_issuer.clone(),
                context.idp_token_endpoint.clone(),
                Credentials::public(&*context.idp_client_id),
                move || Ok(token.clone()),
            );
            Auth::enterprise(with_secret(), provider)
        }
        "wif-jwt-bearer" => {
            let jwt = context.valid_jwt;
            Auth::workload(Credentials::public(context.client_id), move || {
                Ok(jwt.clone())
            })
        }
        "pre-registration" => {
            let mut client = with_secret();
            if let Some(issuer) = &context.issuer {
                client = client.issuer(issuer);
            }
            user().client(client)
        }
        _ => user(),
    }))
}

fn user() -> Auth {
    Auth::code()
        .client_metadata(DOCUMENT)
        .redirect(REDIRECT, visit)
}

/// Visits the page as a browser does that is redirected at once.
async fn visit(page: String) -> Result<String, String> {
    let client = mcp_io::http::client::Client::builder().redirects(false);
    let client = client.build().map_err(|error| error.to_string())?;
    let request = http::Request::get(page).body(Default::default());
    let request = request.map_err(|error| error.to_string())?;
    let response = client.send(request, true).await;
    let response = response.map_err(|error| error.to_string())?;
    let location = response.headers.get(http::header::LOCATION);
    let location = location.and_then(|location| location.to_str().ok());
    location.map(str::to_owned).ok_or_else(|| {
        let status = response.status;
        format!("the page does not lead back, but answers with {status}")
    })
}
