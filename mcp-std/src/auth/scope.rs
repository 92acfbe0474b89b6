//! Which scopes are asked for.

/// A set of scopes in the order in which they came.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(super) struct Scopes(Vec<String>);

impl Scopes {
    /// From a `scope` parameter.
    pub(super) fn parse(text: &str) -> Self {
        let mut this = Self::default();
        this.extend(text.split_ascii_whitespace());
        this
    }

    pub(super) fn extend<'s>(&mut self, scopes: impl IntoIterator<Item = &'s str>) {
        for scope in scopes {
            // RFC 6749, section 3.3: anything else would be something else on the wire.
            let fine = scope
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && byte != b'"' && byte != b'\\');
            if fine && !scope.is_empty() && !self.has(scope) {
                self.0.push(scope.to_owned());
            }
        }
    }

    pub(super) fn has(&self, scope: &str) -> bool {
        self.0.iter().any(|known| known == scope)
    }

    pub(super) fn has_all(&self, other: &Self) -> bool {
        other.0.iter().all(|scope| self.has(scope))
    }

    /// Whether both have the same, in whatever order.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.has_all(other) && other.has_all(self)
    }

    pub(super) fn union(mut self, other: &Self) -> Self {
        self.extend(other.iter());
        self
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// As a parameter; `None`: there are none, and the parameter is left out.
    pub(super) fn text(&self) -> Option<String> {
        (!self.0.is_empty()).then(|| self.0.join(" "))
    }
}

/// What scopes follow from.
#[derive(Default)]
pub(super) struct Wishes<'w> {
    /// What the program says.
    pub(super) configured: Option<&'w Scopes>,
    /// What the challenge says.
    pub(super) challenged: Option<&'w Scopes>,
    /// What was asked for, or given, before.
    pub(super) earlier: Option<&'w Scopes>,
    /// What the metadata of the server say.
    pub(super) resource: Option<&'w [String]>,
    /// What those of the authorization server say, if there is someone who may be offline.
    pub(super) server: Option<&'w [String]>,
}

impl Wishes<'_> {
    /// SCP-01 to SCP-03, RFR-02.
    pub(super) fn choose(&self) -> Scopes {
        let mut scopes = match (self.configured, self.challenged, self.resource) {
            (Some(configured), challenged, _) => {
                let challenged = challenged.cloned().unwrap_or_default();
                configured.clone().union(&challenged)
            }
            (None, Some(challenged), _) => challenged.clone(),
            (None, None, Some(supported)) => {
                let mut scopes = Scopes::default();
                scopes.extend(supported.iter().map(String::as_str));
                scopes
            }
            (None, None, None) => Scopes::default(),
        };
        if let Some(earlier) = self.earlier {
            scopes = earlier.clone().union(&scopes);
        }
        let offline = self
            .server
            .is_some_and(|server| server.iter().any(|scope| scope == OFFLINE));
        // Alone it would replace the default of a server that names no scopes.
        if offline && !scopes.0.is_empty() {
            scopes.extend([OFFLINE]);
        }
        scopes
    }
}

const OFFLINE: &str = "offline_access";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scopes_in_the_order_of_the_rules() {
        let text = |wishes: Wishes<'_>| wishes.choose().text();
        let supported = ["a".to_owned(), "b".to_owned()];
        let server = ["offline_access".to_owned()];
        let (x, y) = (Scopes::parse("x  x"), Scopes::parse("y"));
        assert_eq!(text(Wishes::default()), None);
        let resource = Some(&supported[..]);
        let some = |wishes: Wishes<'_>| text(wishes).expect("scopes");
        let wishes = Wishes {
            resource,
            ..Wishes::default()
        };
        assert_eq!(some(wishes), "a b");
        let wishes = Wishes {
            challenged: Some(&x),
            resource,
            ..Wishes::default()
        };
        assert_eq!(some(wishes), "x");
        let wishes = Wishes {
            challenged: Some(&x),
            earlier: Some(&y),
            resource,
            server: Some(&server),
            ..Wishes::default()
        };
        assert_eq!(some(wishes), "y x offline_access");
        let wishes = Wishes {
            configured: Some(&y),
            challenged: Some(&x),
            ..Wishes::default()
        };
        assert_eq!(some(wishes), "y x");
        let wishes = Wishes {
            server: Some(&server),
            ..Wishes::default()
        };
        assert_eq!(text(wishes), None);
    }

    #[test]
    fn what_is_no_scope_is_left_out() {
        let mut scopes = Scopes::parse("a\tb\"c");
        scopes.extend(["d e", ""]);
        assert_eq!(scopes.text().as_deref(), Some("a"));
        assert!(scopes.has_all(&Scopes::default()) && !scopes.has_all(&Scopes::parse("a d")));
    }
}
