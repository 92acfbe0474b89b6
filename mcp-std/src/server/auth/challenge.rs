//! What a client is told that may not do what it asks for (RFC 6750, section 3; RFC 9728, section 5.1).

use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use mcp_core::ErrorCode;
use mcp_core::rpc::write_error;

use crate::server::http::HttpBody;

/// A refusal.
pub(super) struct Challenge<'c> {
    pub(super) status: StatusCode,
    /// RFC 6750, section 3.1; none if there was no token at all.
    pub(super) error: Option<&'static str>,
    pub(super) description: &'c str,
    /// What the operation takes.
    pub(super) scopes: &'c [&'c str],
    pub(super) metadata_url: &'c str,
}

impl Challenge<'_> {
    /// RSV-02, RSV-03, RSV-06.
    fn header(&self) -> String {
        let mut header = String::from("Bearer ");
        let mut put = |name: &str, value: &str| {
            if !header.ends_with(' ') {
                header.push_str(", ");
            }
            // As `quoted-string`. What is not ASCII is in none of the values, but for what a verifier's author may write.
            header.push_str(name);
            header.push_str("=\"");
            for letter in value.chars() {
                match letter {
                    '"' | '\\' => header.extend(['\\', letter]),
                    ' '..='~' => header.push(letter),
                    _ => header.push('?'),
                }
            }
            header.push('"');
        };
        put("resource_metadata", self.metadata_url);
        if !self.scopes.is_empty() {
            put("scope", &self.scopes.join(" "));
        }
        if let Some(error) = self.error {
            put("error", error);
            put("error_description", self.description);
        }
        header
    }

    pub(super) fn response(&self) -> Response<HttpBody> {
        let mut response = refusal(self.status, self.description);
        if let Ok(header) = HeaderValue::try_from(self.header()) {
            response.headers_mut().insert(WWW_AUTHENTICATE, header);
        }
        response
    }
}

/// 503: it is not the client's fault.
pub(super) fn unavailable(description: &str) -> Response<HttpBody> {
    let mut response = refusal(StatusCode::SERVICE_UNAVAILABLE, description);
    let headers = response.headers_mut();
    headers.insert(RETRY_AFTER, HeaderValue::from_static("5"));
    response
}

/// With a JSON-RPC error that has no id, as all refusals of this transport (HTTP-09).
fn refusal(status: StatusCode, message: &str) -> Response<HttpBody> {
    let mut body = Vec::new();
    // A `Vec` is never full.
    let _ = write_error(&mut body, None, ErrorCode::INVALID_REQUEST, message, |_| {});
    let mut response = Response::new(HttpBody::whole(body));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn oa_09_values_cannot_leave_their_quotes() {
        let challenge = Challenge {
            status: StatusCode::UNAUTHORIZED,
            error: Some("invalid_token"),
            description: "a \"b\" \\ \r\nc: d é",
            scopes: &["a", "b"],
            metadata_url: "https://x/y",
        };
        assert_eq!(
            challenge.header(),
            "Bearer resource_metadata=\"https://x/y\", scope=\"a b\", error=\"invalid_token\", \
             error_description=\"a \\\"b\\\" \\\\ ??c: d ?\""
        );
        assert!(
            challenge
                .response()
                .headers()
                .contains_key(WWW_AUTHENTICATE)
        );
    }
}
