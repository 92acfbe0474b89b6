//! Which addresses an app may have opened.

/// As many bytes as an address may have.
const LONGEST: usize = 8192;

/// Whether an address leads where it says: to a host, over HTTP, and to nothing of this machine's. Why not, otherwise.
pub(super) fn check(url: &str) -> Result<(), &'static str> {
    if url.len() > LONGEST {
        return Err("is longer than 8192 bytes");
    }
    let plain = |char: char| char.is_ascii_graphic() && !"\"<>\\^`{|}".contains(char);
    if !url.chars().all(|char| plain(char) || !char.is_ascii()) || url.chars().any(is_hidden) {
        return Err("has characters that no address has");
    }
    let Some((scheme, rest)) = url.split_once("://") else {
        return Err("is no address of a page");
    };
    if !["https", "http"]
        .iter()
        .any(|it| scheme.eq_ignore_ascii_case(it))
    {
        return Err("is not of http or https");
    }
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if authority.contains('@') {
        return Err("hides its host behind a name and `@`");
    }
    let host = authority.split(':').next().unwrap_or_default();
    if host.is_empty() {
        return Err("has no host");
    }
    Ok(())
}

/// Characters that are not seen, or that turn what is beside them round.
fn is_hidden(char: char) -> bool {
    char.is_control()
        || char.is_whitespace()
        || matches!(char, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}
