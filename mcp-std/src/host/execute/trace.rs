//! Which trace a call belongs to (W3C Trace Context).

use super::super::trust::hex;

/// The trace that calls belong to, and the span that they are children of.
///
/// ```
/// use mcp_std::host::Trace;
///
/// let trace = Trace::parse("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01").expect("it is one");
/// assert_eq!(trace.id(), "4bf92f3577b34da6a3ce929d0e0e4736");
/// assert!(Trace::parse("00-0").is_none());
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Trace {
    id: String,
    flags: String,
}

impl Trace {
    /// A new one, that nobody else knows.
    #[must_use]
    pub fn new() -> Self {
        let key = crate::entropy::key();
        Self {
            id: hex(&key[..16]),
            flags: "01".to_owned(),
        }
    }

    /// The one that a `traceparent` names. `None`: it is none.
    #[must_use]
    pub fn parse(traceparent: &str) -> Option<Self> {
        let digits = |text: &str, length: usize| {
            let hex = |it: u8| it.is_ascii_digit() || (b'a'..=b'f').contains(&it);
            text.len() == length && text.bytes().all(hex)
        };
        let zero = |text: &str| text.bytes().all(|it| it == b'0');
        let mut parts = traceparent.split('-');
        let (version, id, span, flags) =
            (parts.next()?, parts.next()?, parts.next()?, parts.next()?);
        // Newer versions may have more parts.
        let whole = version != "00" || parts.next().is_none();
        let right = digits(version, 2)
            && version != "ff"
            && digits(id, 32)
            && !zero(id)
            && digits(span, 16)
            && !zero(span)
            && digits(flags, 2)
            && whole;
        right.then(|| Self {
            id: id.to_owned(),
            flags: flags.to_owned(),
        })
    }

    /// Its number, in 32 digits.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// A span of it, in 16 digits, and the `traceparent` for whoever is called in it.
    pub(super) fn span(&self) -> (String, String) {
        let span = hex(&crate::entropy::key()[..8]);
        let parent = format!("00-{}-{span}-{}", self.id, self.flags);
        (span, parent)
    }
}

impl Default for Trace {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_of_its_trace() {
        let trace = Trace::new();
        let (span, parent) = trace.span();
        assert_eq!(Trace::parse(&parent), Some(trace.clone()));
        assert!(parent.contains(&span));
        assert_ne!(trace.span().0, span);
        for none in [
            "",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert_eq!(Trace::parse(none), None, "{none}");
        }
    }
}
