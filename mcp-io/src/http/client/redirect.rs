//! Redirects: followed within the origin, where method and body stay (HC-03, HC-04).

use http::header::LOCATION;
use http::{HeaderMap, StatusCode, Uri};

use super::connect::Origin;
use super::error::Error;

/// Where the request is to be sent again; `None` if this is no redirect.
pub(super) fn target(
    status: StatusCode,
    headers: &HeaderMap,
    from: &Uri,
) -> Result<Option<Uri>, Error> {
    let keeps = match status.as_u16() {
        307 | 308 => true,
        301..=303 => false,
        _ => return Ok(None),
    };
    let location = headers.get(LOCATION).and_then(|it| it.to_str().ok());
    let refuse = |reason| {
        Err(Error::Redirect {
            status: status.as_u16(),
            location: location.map(str::to_owned),
            reason,
        })
    };
    if !keeps {
        return refuse(
            "such a redirect drops the message, so it is not followed; the URL may want a slash at its end, or one less, or https",
        );
    }
    let Some(target) = location.and_then(|location| resolve(location.trim(), from)) else {
        return refuse("it does not say where to");
    };
    // Another origin is not to see the headers of this one, and would not get what is meant without them.
    match (Origin::of(&target), Origin::of(from)) {
        (Ok(to), Ok(from)) if to == from => Ok(Some(target)),
        _ => refuse("that is another origin, so it is not followed; use its URL if it is right"),
    }
}

/// A reference, as seen from a URL. Paths that go up are left to the server.
fn resolve(reference: &str, from: &Uri) -> Option<Uri> {
    let reference = reference.split('#').next()?;
    let before_path = reference.split(['/', '?']).next()?;
    if before_path.ends_with(':') {
        return reference.parse().ok();
    }
    let scheme = from.scheme_str()?;
    if reference.starts_with("//") {
        return format!("{scheme}:{reference}").parse().ok();
    }
    let authority = from.authority()?;
    let path = match reference.bytes().next()? {
        b'/' => reference.to_owned(),
        b'?' => format!("{}{reference}", from.path()),
        _ => {
            let folder = from
                .path()
                .rsplit_once('/')
                .map_or("", |(folder, _)| folder);
            format!("{folder}/{reference}")
        }
    };
    format!("{scheme}://{authority}{path}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hc_03_only_what_stays_within_the_origin_is_followed() {
        let from: Uri = "https://h.example/a/mcp?x=1".parse().expect("a URL");
        let to = |status: u16, location: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(LOCATION, location.parse().expect("a value"));
            target(
                StatusCode::from_u16(status).expect("a status"),
                &headers,
                &from,
            )
            .map(|to| to.map(|to| to.to_string()))
        };
        for (location, expected) in [
            ("/mcp/docs/42", "https://h.example/mcp/docs/42"),
            ("docs#x", "https://h.example/a/docs"),
            ("?y=2", "https://h.example/a/mcp?y=2"),
            ("https://h.example:443/b", "https://h.example:443/b"),
            ("//H.example/b", "https://H.example/b"),
        ] {
            assert_eq!(
                to(308, location).expect(location).as_deref(),
                Some(expected)
            );
        }
        for location in [
            "https://evil.example/a",
            "//evil.example/a",
            "http://h.example/a",
            "https://h.example:444/a",
        ] {
            let error = to(307, location).expect_err("another origin");
            assert!(error.to_string().contains(location), "{error}");
        }
        let error = to(301, "/mcp/").expect_err("a message is not dropped");
        assert!(error.to_string().contains("/mcp/") && error.to_string().contains("slash"));
        assert_eq!(to(304, "/x").expect("no redirect"), None);
    }
}
