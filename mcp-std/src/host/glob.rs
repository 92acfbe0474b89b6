//! Patterns of names.

/// A name in which `*` stands for anything, nothing included.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct Glob(String);

impl Glob {
    pub(crate) fn new(pattern: &str) -> Self {
        Self(pattern.to_owned())
    }

    /// Takes time that grows with the product of both lengths at most: no pattern makes it hang.
    pub(crate) fn matches(&self, name: &str) -> bool {
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
