//! What servers and authorization servers say about themselves.

use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::error::AuthError;

/// Of a protected resource (RFC 9728).
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ResourceMetadata {
    pub(super) resource: String,
    #[serde(default)]
    pub(super) authorization_servers: Vec<String>,
    pub(super) scopes_supported: Option<Vec<String>>,
    pub(super) dpop_bound_access_tokens_required: Option<bool>,
}

/// Of an authorization server (RFC 8414, or OpenID Connect Discovery).
#[derive(Clone, Debug, Default, Deserialize)]
pub(super) struct ServerMetadata {
    pub(super) issuer: String,
    pub(super) authorization_endpoint: Option<String>,
    pub(super) token_endpoint: Option<String>,
    pub(super) registration_endpoint: Option<String>,
    pub(super) revocation_endpoint: Option<String>,
    pub(super) scopes_supported: Option<Vec<String>>,
    pub(super) token_endpoint_auth_methods_supported: Option<Vec<String>>,
    pub(super) code_challenge_methods_supported: Option<Vec<String>>,
    pub(super) client_id_metadata_document_supported: Option<bool>,
    pub(super) authorization_response_iss_parameter_supported: Option<bool>,
    pub(super) dpop_signing_alg_values_supported: Option<Vec<String>>,
}

/// Reads a document. What it says beyond what is asked is overlooked.
pub(super) fn read<T: DeserializeOwned>(url: &str, body: &[u8]) -> Result<T, AuthError> {
    serde_json::from_slice(body).map_err(|error| AuthError::Document {
        url: url.to_owned(),
        // With a place in the text, without the text.
        reason: match error.classify() {
            // What serde says of it quotes the value.
            serde_json::error::Category::Data => format!(
                "a member is missing or wrong, near line {}, column {}",
                error.line(),
                error.column()
            ),
            serde_json::error::Category::Io
            | serde_json::error::Category::Syntax
            | serde_json::error::Category::Eof => format!("not JSON: {error}"),
        },
    })
}
