//! Patterns of names.

/// A name in which `*` stands for anything, nothing included.
///
/// ```
/// use mcp_std::host::Glob;
///
/// let reads = Glob::new("files__read_*");
/// assert!(reads.matches("files__read_text"));
/// assert!(!reads.matches("files__write_text"));
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Glob(String);

impl Glob {
    /// This pattern.
    #[must_use]
    pub fn new(pattern: &str) -> Self {
        Self(pattern.to_owned())
    }

    /// Whether it is a pattern of this name.
    ///
    /// Takes time that grows with the product of both lengths at most: no pattern makes it hang.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        let (pattern, name) = (self.0.as_bytes(), name.as_bytes());
        let (mut p, mut n) = (0, 0);
        // Where the last star is, and how much of the name it stands for so far.
        let mut star: Option<(usize, usize)> = None;
        while n < name.len() {
            match pattern.get(p) {
                Some(b'*') => {
                    star = Some((p, n));
                    p += 1;
                }
                Some(byte) if *byte == name[n] => {
                    p += 1;
                    n += 1;
                }
                _ => {
                    let Some((at, stands)) = star else {
                        return false;
                    };
                    star = Some((at, stands + 1));
                    p = at + 1;
                    n = stands + 1;
                }
            }
        }
        pattern[p..].iter().all(|&byte| byte == b'*')
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_anything() {
        for (pattern, name, matches) in [
            ("read", "read", true),
            ("read", "reads", false),
            ("read_*", "read_", true),
            ("*_file", "read_file", true),
            ("*a*b", "xaxbxb", true),
            ("*a*b", "xaxbxc", false),
            ("*", "", true),
            ("", "", true),
            ("", "a", false),
        ] {
            assert_eq!(
                Glob::new(pattern).matches(name),
                matches,
                "{pattern} {name}"
            );
        }
    }
}
