//! Where an issuer has its keys: its metadata (RFC 8414, OpenID Connect Discovery).

use serde::Deserialize;

use super::fetch::Fetcher;
use super::url::Url;
use crate::auth::discovery::places;

#[derive(Deserialize)]
struct Metadata {
    issuer: String,
    jwks_uri: Option<String>,
}

/// Where the keys of this issuer are, by its own word. The error is for the log.
pub(super) async fn jwks_uri(fetcher: &Fetcher, issuer: &str) -> Result<String, String> {
    let url = Url::parse(issuer).map_err(str::to_owned)?;
    let mut failures = String::new();
    for place in places(url.origin, url.path) {
        let found = match fetcher.get(&place).await {
            Ok(body) => read(&body, issuer),
            Err(error) => Err(error),
        };
        match found {
            Ok(uri) => return Ok(uri),
            Err(error) => failures.push_str(&format!("{place}: {error}; ")),
        }
    }
    Err(failures)
}

fn read(body: &[u8], issuer: &str) -> Result<String, String> {
    let metadata: Metadata = serde_json::from_slice(body).map_err(|error| error.to_string())?;
    // RFC 8414, section 3.3: whoever else has put it there.
    if metadata.issuer != issuer {
        return Err("the metadata are those of another issuer".to_owned());
    }
    let uri = metadata.jwks_uri.ok_or("they name no `jwks_uri`")?;
    // AUT-04. A query is no harm here.
    let bare = uri.split('?').next().unwrap_or("");
    Url::parse(bare).map_err(|reason| format!("`jwks_uri`: {reason}"))?;
    Ok(uri)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// DSC-04.
    #[test]
    fn metadata_are_looked_for_in_order() {
        let of = |issuer: &str| {
            let url = Url::parse(issuer).expect("a URL");
            places(url.origin, url.path)
        };
        assert_eq!(
            of("https://a/t1"),
            [
                "https://a/.well-known/oauth-authorization-server/t1",
                "https://a/.well-known/openid-configuration/t1",
                "https://a/t1/.well-known/openid-configuration",
            ]
        );
        assert_eq!(
            of("https://a/b/c")[0],
            "https://a/.well-known/oauth-authorization-server/b/c"
        );
        assert_eq!(of("https://a/t1/"), of("https://a/t1"));
        for issuer in ["https://a", "https://a/"] {
            assert_eq!(
                of(issuer),
                [
                    "https://a/.well-known/oauth-authorization-server",
                    "https://a/.well-known/openid-configuration",
                ]
            );
        }
    }

    #[test]
    fn metadata_are_those_of_the_issuer() {
        let read = |json: &str| read(json.as_bytes(), "https://a");
        let good = r#"{"issuer":"https://a","jwks_uri":"https://b/keys?v=1"}"#;
        assert_eq!(read(good).as_deref(), Ok("https://b/keys?v=1"));
        for bad in [
            r#"{"issuer":"https://a/","jwks_uri":"https://b/keys"}"#,
            r#"{"issuer":"https://b","jwks_uri":"https://b/keys"}"#,
            r#"{"issuer":"https://a","jwks_uri":"http://b/keys"}"#,
            r#"{"issuer":"https://a","jwks_uri":"file:///etc/passwd"}"#,
            r#"{"issuer":"https://a"}"#,
            r#"{"jwks_uri":"https://b/keys"}"#,
            "[]",
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
