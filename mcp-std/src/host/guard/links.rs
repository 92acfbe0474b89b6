//! Where icons and links lead.

use core::net::IpAddr;

use mcp_core::model::{CallToolResult, ContentBlock, Icon};

/// What is wrong with an address that a server gives, if something is. `is_icon`: it is fetched without anybody asking.
fn fault(address: &str, is_icon: bool) -> Option<String> {
    let (scheme, rest) = address.split_once(':')?;
    let scheme = scheme.to_ascii_lowercase();
    match scheme.as_str() {
        "data" if is_icon && rest.to_ascii_lowercase().starts_with("image/") => None,
        "https" => host_fault(rest),
        "http" if !is_icon => host_fault(rest),
        "javascript" | "vbscript" | "data" | "http" => {
            Some(format!("`{scheme}:` is not to be followed"))
        }
        // Other schemes are the server's own, and name resources that are read from it; but an icon has to be one of those
        // above (ICO-04).
        _ if is_icon => Some(format!("an icon cannot be had by `{scheme}:`")),
        _ => None,
    }
}

/// The host of what follows the scheme, in small letters and without port and brackets.
pub(super) fn host(rest: &str) -> Option<String> {
    let authority = rest.strip_prefix("//")?;
    let end = authority.find(['/', '?', '#', '\\']);
    let authority = &authority[..end.unwrap_or(authority.len())];
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    (!host.is_empty()).then_some(host)
}

fn host_fault(rest: &str) -> Option<String> {
    let Some(host) = host(rest) else {
        return Some("the address has no host".to_owned());
    };
    let authority = rest.trim_start_matches('/');
    let authority = authority.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Some("the address hides its host behind a name and `@`".to_owned());
    }
    is_local(&host).then(|| format!("`{host}` is in this machine or its network"))
}

/// Whether a host is this machine or one of its network: what a server may not make a host fetch.
fn is_local(host: &str) -> bool {
    if host == "localhost"
        || host.ends_with(".localhost")
        || host.ends_with(".local")
        || host.ends_with(".internal")
    {
        return true;
    }
    match host.parse::<IpAddr>() {
        Ok(IpAddr::V4(ip)) => {
            ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified()
        }
        Ok(IpAddr::V6(ip)) => {
            let mapped = ip.to_ipv4_mapped();
            let v4 =
                mapped.is_some_and(|ip| ip.is_loopback() || ip.is_private() || ip.is_link_local());
            // fc00::/7 and fe80::/10.
            let first = ip.segments()[0];
            v4 || ip.is_loopback()
                || ip.is_unspecified()
                || first & 0xfe00 == 0xfc00
                || first & 0xffc0 == 0xfe80
        }
        // As some resolvers read addresses: in one number, or with fewer dots.
        Err(_) => {
            !host.is_empty() && host.bytes().all(|it| it.is_ascii_digit() || it == b'.')
                || host.starts_with("0x")
        }
    }
}

/// What is wrong with the icons of a tool.
pub(in crate::host) fn check_icons(icons: &[Icon<'_>]) -> Option<String> {
    icons.iter().find_map(|icon| fault(&icon.src, true))
}

/// What is wrong with the links in a result.
pub(in crate::host) fn check_result(result: &CallToolResult<'_>) -> Vec<String> {
    /// More is noise.
    const MOST: usize = 8;
    let links = result.content.iter().filter_map(|block| match block {
        ContentBlock::ResourceLink(link) => {
            fault(&link.uri, false).or_else(|| check_icons(link.icons.as_deref()?))
        }
        ContentBlock::Text(text) => picture_fault(&text.text),
        ContentBlock::Image(_)
        | ContentBlock::Audio(_)
        | ContentBlock::Resource(_)
        | ContentBlock::ToolUse(_)
        | ContentBlock::ToolResult(_)
        | ContentBlock::Unknown(_)
        | _ => None,
    });
    links.take(MOST).collect()
}

/// A picture in Markdown is fetched when it is shown: its address can carry away what the model knows.
fn picture_fault(text: &str) -> Option<String> {
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("![") {
        rest = after;
        let (_, address) = after.split_once("](")?;
        let address = address.split([')', ' ', '\n']).next().unwrap_or_default();
        let Some((scheme, after)) = address.split_once(':') else {
            continue;
        };
        let remote = scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http");
        if remote && after.contains('?') {
            let host = host(after).unwrap_or_default();
            return Some(format!("a picture on `{host}` whose address carries data"));
        }
        if let Some(fault) = fault(address, true) {
            return Some(format!("a picture: {fault}"));
        }
    }
    None
}
