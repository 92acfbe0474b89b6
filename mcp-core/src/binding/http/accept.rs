//! `Accept`: which of the two kinds of answer a client takes (RFC 9110, 12.5.1).

/// The two media types that an answer can have.
const JSON: (&str, &str) = ("application", "json");
const EVENTS: (&str, &str) = ("text", "event-stream");

/// What the specification has clients send, as most of them write it.
const USUAL: &[u8] = b"application/json, text/event-stream";

/// What was said of the two, by the most specific range that fits each.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(super) struct Accept {
    said: bool,
    json: Said,
    events: Said,
}

/// Whether something is taken, and how specific the range was that said so.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
struct Said {
    taken: bool,
    specific: u8,
}

/// The kinds of answer that a client takes: at least one of them.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Accepts {
    /// One JSON text.
    Json,
    /// A stream of events.
    Events,
    /// Either.
    Both,
}

impl Accept {
    /// What [`USUAL`] says.
    const BOTH: Self = Self {
        said: true,
        json: Said::NAMED,
        events: Said::NAMED,
    };

    pub(super) const fn new() -> Self {
        let said = Said {
            taken: false,
            specific: 0,
        };
        Self {
            said: false,
            json: said,
            events: said,
        }
    }

    /// Reads one line of the header: a list of ranges. What is no range is passed over.
    pub(super) fn line(&mut self, value: &[u8]) {
        if value == USUAL && !self.said {
            *self = Self::BOTH;
        } else {
            self.read(value);
        }
    }

    fn read(&mut self, value: &[u8]) {
        self.said = true;
        let Ok(value) = core::str::from_utf8(value) else {
            return;
        };
        for range in value.split(',') {
            let mut parts = range.split(';');
            let range = parts.next().unwrap_or_default().trim();
            let Some((kind, subtype)) = range.split_once('/') else {
                continue;
            };
            let taken = !parts.any(|parameter| is_zero(parameter.trim()));
            self.json.hear(JSON, (kind, subtype), taken);
            self.events.hear(EVENTS, (kind, subtype), taken);
        }
    }

    /// `None`: neither is taken. A client that does not say takes both.
    pub(super) const fn accepts(self) -> Option<Accepts> {
        match (self.json.taken, self.events.taken) {
            _ if !self.said => Some(Accepts::Both),
            (true, true) => Some(Accepts::Both),
            (true, false) => Some(Accepts::Json),
            (false, true) => Some(Accepts::Events),
            (false, false) => None,
        }
    }
}

impl Said {
    const NAMED: Self = Self {
        taken: true,
        specific: 3,
    };

    fn hear(&mut self, own: (&str, &str), (kind, subtype): (&str, &str), taken: bool) {
        let same = |own: &str, other: &str| own.eq_ignore_ascii_case(other);
        let specific = if same(own.0, kind) && same(own.1, subtype) {
            3
        } else if same(own.0, kind) && subtype == "*" {
            2
        } else if kind == "*" && subtype == "*" {
            1
        } else {
            return;
        };
        if specific > self.specific {
            *self = Self { taken, specific };
        } else if specific == self.specific {
            self.taken |= taken;
        }
    }
}

/// `q=0`, `q=0.0` and so on: not taken at all.
fn is_zero(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else {
        return false;
    };
    let value = value.trim();
    name.trim().eq_ignore_ascii_case("q")
        && value.starts_with('0')
        && value.bytes().all(|byte| matches!(byte, b'0' | b'.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepts(lines: &[&str]) -> Option<Accepts> {
        let mut accept = Accept::new();
        for line in lines {
            accept.line(line.as_bytes());
        }
        accept.accepts()
    }

    #[test]
    fn the_usual_line_says_what_it_is_known_to_say() {
        let mut accept = Accept::new();
        accept.read(USUAL);
        assert_eq!(accept, Accept::BOTH);
    }

    #[test]
    fn hs_01_the_most_specific_range_decides_and_q_zero_refuses() {
        for (lines, expected) in [
            (&[][..], Some(Accepts::Both)),
            (
                &["application/json, text/event-stream"],
                Some(Accepts::Both),
            ),
            (
                &["text/event-stream", "Application/JSON"],
                Some(Accepts::Both),
            ),
            (
                &[
                    "application/json;q=0",
                    "application/json, text/event-stream",
                ],
                Some(Accepts::Both),
            ),
            (&["application/json"], Some(Accepts::Json)),
            (&["text/event-stream;charset=utf-8"], Some(Accepts::Events)),
            (&["*/*"], Some(Accepts::Both)),
            (&["text/*, image/png"], Some(Accepts::Events)),
            // HS-01.
            (
                &["application/json;q=0, text/event-stream"],
                Some(Accepts::Events),
            ),
            (&["text/event-stream;q=0.0, */*;q=0.1"], Some(Accepts::Json)),
            (&["*/*;q=0"], None),
            (&["*/*; Q = 0.000"], None),
            (&["text/html"], None),
            (&[""], None),
            (&["json"], None),
        ] {
            assert_eq!(accepts(lines), expected, "{lines:?}");
        }
    }
}
