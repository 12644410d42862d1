//! [`Scopes`]: an ordered set of OAuth scopes.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Largest number of scopes in a set. Further ones are ignored.
const MAX_SCOPES: usize = 100;

/// An ordered set of OAuth scopes without duplicates, at most 100.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Scopes(Vec<String>);

impl Scopes {
    /// Reads a list separated by blanks. Parts that are not scopes are ignored.
    pub(crate) fn parse(text: &str) -> Self {
        text.split(' ').collect()
    }

    /// Reads the scopes of a token. Some servers separate them by commas, which a scope may contain: the list
    /// is split there only if it has no blank and all of its parts were requested.
    pub(crate) fn granted(text: &str, requested: &Self) -> Self {
        let mut parts = text.split(',');
        if text.contains(',') && parts.all(|part| requested.contains(part)) {
            return text.split(',').collect();
        }
        Self::parse(text)
    }

    /// Adds a scope. Ignores invalid names, and names that are in the set already.
    pub(crate) fn insert(&mut self, name: &str) {
        if is_scope(name) && self.0.len() < MAX_SCOPES && !self.contains(name) {
            self.0.push(name.to_owned());
        }
    }

    /// Returns this set with the scopes of another one.
    pub(crate) fn union(&self, other: &Self) -> Self {
        let mut all = self.clone();
        for name in &other.0 {
            all.insert(name);
        }
        all
    }

    /// Returns whether a scope is in the set.
    pub fn contains(&self, name: &str) -> bool {
        self.0.iter().any(|scope| scope == name)
    }

    /// Returns whether every scope of `other` is in this set.
    pub(crate) fn contains_all(&self, other: &Self) -> bool {
        other.0.iter().all(|name| self.contains(name))
    }

    /// Returns whether the set is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The scopes in their order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// Collects scopes. Ignores texts that are not scopes.
impl<S: AsRef<str>> FromIterator<S> for Scopes {
    fn from_iter<I: IntoIterator<Item = S>>(names: I) -> Self {
        let mut scopes = Self::default();
        for name in names {
            scopes.insert(name.as_ref());
        }
        scopes
    }
}

/// The scopes separated by blanks, as requests carry them.
impl fmt::Display for Scopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(" "))
    }
}

/// Returns whether a scope has only the permitted characters: RFC 6749, section 3.3.
fn is_scope(name: &str) -> bool {
    let valid = |byte| matches!(byte, 0x21 | 0x23..=0x5b | 0x5d..=0x7e);
    !name.is_empty() && name.len() <= 512 && name.bytes().all(valid)
}

#[cfg(test)]
mod tests {
    use super::Scopes;

    #[test]
    fn parse_ignores_duplicates_and_invalid_names() {
        let scopes = Scopes::parse("b a  b \"x\" a\\b ü c");
        assert_eq!(scopes.to_string(), "b a c");
        let many: Vec<String> = (0..500).map(|n| format!("s{n}")).collect();
        assert_eq!(Scopes::parse(&many.join(" ")).iter().count(), 100);
    }

    #[test]
    fn union_keeps_the_order() {
        let union = Scopes::parse("mcp:basic").union(&Scopes::parse("mcp:write mcp:basic"));
        assert_eq!(union.to_string(), "mcp:basic mcp:write");
        assert!(union.contains_all(&Scopes::parse("mcp:write")));
        assert!(!Scopes::parse("mcp:write").contains_all(&union));
    }
}
