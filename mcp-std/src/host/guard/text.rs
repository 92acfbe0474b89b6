//! What a text says that people do not see, and what it says to the model only.

use std::borrow::Cow;

/// What a hidden character is, if `c` is one where it stands.
fn hidden(before: Option<char>, c: char, after: Option<char>) -> Option<&'static str> {
    let joins = |it: Option<char>| it.is_some_and(|it| !it.is_ascii());
    match c {
        '\t' | '\n' | '\r' => None,
        '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' => Some("a change of writing direction"),
        // Emoji are joined so, and letters of some scripts: between others there is no use for it.
        '\u{200C}' | '\u{200D}' if joins(before) && joins(after) => None,
        '\u{200B}'..='\u{200D}'
        | '\u{2060}'..='\u{2064}'
        | '\u{FEFF}'
        | '\u{00AD}'
        | '\u{034F}'
        | '\u{115F}'
        | '\u{1160}'
        | '\u{17B4}'
        | '\u{17B5}'
        | '\u{180E}'
        | '\u{206A}'..='\u{206F}'
        | '\u{3164}'
        | '\u{FFA0}' => Some("a character without width"),
        '\u{E0000}'..='\u{E007F}' => Some("a tag character"),
        '\u{E0100}'..='\u{E01EF}' => Some("a variation selector that can carry data"),
        '\u{FE00}'..='\u{FE0F}'
            if !joins(before) && !before.is_some_and(|it| "#*0123456789".contains(it)) =>
        {
            Some("a variation selector of nothing")
        }
        '\u{E000}'..='\u{F8FF}' => Some("a private character"),
        _ if c.is_control() => Some("a control character"),
        _ => None,
    }
}

/// Each character with what it is if it is hidden.
fn looked_through(text: &str) -> impl Iterator<Item = (char, Option<&'static str>)> {
    let mut before = None;
    let mut rest = text.chars();
    core::iter::from_fn(move || {
        let c = rest.next()?;
        let what = hidden(before, c, rest.clone().next());
        before = Some(c);
        Some((c, what))
    })
}

/// The text without hidden characters.
pub(in crate::host) fn cleaned(text: &str) -> Cow<'_, str> {
    if text
        .bytes()
        .all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r'))
    {
        return Cow::Borrowed(text);
    }
    let kept = looked_through(text).filter(|(_, what)| what.is_none());
    let kept: String = kept.map(|(c, _)| c).collect();
    if kept.len() == text.len() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(kept)
}

/// What a text hides, if it hides something: the first of it, and how many there are.
fn hides(text: &str) -> Option<String> {
    let mut found = looked_through(text).filter_map(|(c, what)| Some((c, what?)));
    let (c, what) = found.next()?;
    let more = found.count();
    let code = u32::from(c);
    Some(match more {
        0 => format!("{what} (U+{code:04X})"),
        _ => format!("{what} (U+{code:04X}) and {more} more that nobody sees"),
    })
}

/// What a text says to the model that is not about a tool.
fn instructs(text: &str) -> Option<&'static str> {
    const PHRASES: [&str; 14] = [
        "ignore previous instructions",
        "ignore all previous",
        "ignore the above",
        "disregard previous",
        "disregard all",
        "do not tell the user",
        "don't tell the user",
        "do not mention this",
        "without telling the user",
        "hide this from the user",
        "<important>",
        "<system>",
        "system prompt",
        "before using any other tool",
    ];
    // With single spaces and small letters, so that a line end in between hides nothing.
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let plain = plain.to_lowercase();
    PHRASES.into_iter().find(|phrase| plain.contains(phrase))
}

/// What is wrong with a text that goes to the model: of which the first is about hidden characters, the second about
/// instructions.
pub(in crate::host) fn check_text(text: &str) -> (Option<String>, Option<String>) {
    let instructs = instructs(&cleaned(text));
    let instructs = instructs.map(|phrase| format!("it tells the model something: \"{phrase}\""));
    (hides(text), instructs)
}
