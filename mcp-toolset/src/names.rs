//! Names that all providers accept, and back.

use std::collections::{BTreeMap, BTreeSet};

/// Maximum length of a name, in characters.
const MAX_NAME: usize = 64;
/// Characters of the digest at the end of a changed name.
const DIGEST: usize = 8;

/// Names of a tool list for a model. The same list has the same names in each process.
#[derive(Debug, Default)]
pub(crate) struct Names {
    name_by_own: BTreeMap<String, String>,
}

impl Names {
    pub(crate) fn new<'a>(own: impl Iterator<Item = &'a str> + Clone) -> Self {
        let mut counts: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for own in own.clone() {
            counts.entry(folded(own)).or_default().insert(own);
        }
        let mut names = Self::default();
        for own in own {
            let is_shared = counts.get(&folded(own)).is_some_and(|all| all.len() > 1);
            let name = portable(own, is_shared);
            names.name_by_own.insert(own.to_owned(), name);
        }
        names
    }

    /// Returns the name of a tool for a model.
    pub(crate) fn name<'a>(&'a self, own: &'a str) -> &'a str {
        self.name_by_own.get(own).map_or(own, String::as_str)
    }

    /// Returns the own name of the tool that a model has named. Models change case and separators.
    pub(crate) fn find(&self, name: &str) -> Option<&str> {
        let names = self.name_by_own.iter();
        if let Some((own, _)) = names.clone().find(|(_, known)| *known == name) {
            return Some(own);
        }
        let wanted = folded(name);
        let is_similar = |other: &str| folded(other) == wanted;
        let mut similar = names.filter(|(own, known)| is_similar(known) || is_similar(own));
        let (own, _) = similar.next()?;
        similar.next().is_none().then_some(own)
    }
}

/// Returns a name with at most 64 characters, all in `A-Za-z0-9_-`, which starts with a letter or `_`. A name that is cut, or
/// that another tool may have, ends with a digest.
pub(crate) fn portable(own: &str, is_shared: bool) -> String {
    let is_portable = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let mut name: String = own
        .chars()
        .map(|c| if is_portable(c) { c } else { '_' })
        .collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        name.insert(0, '_');
    }
    if name.len() > MAX_NAME || is_shared {
        name.truncate(MAX_NAME - DIGEST - 1);
        let digest = hmac_sha256::Hash::hash(own.as_bytes());
        name.push('_');
        for byte in &digest[..DIGEST / 2] {
            name.push_str(&format!("{byte:02x}"));
        }
    }
    name
}

/// Returns a name without case and separators.
fn folded(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::{Names, portable};

    #[test]
    fn names_are_portable_unique_and_mapped_back() {
        let long = "a".repeat(90);
        let own = ["files.read", "files/read", "2d", "größe", &long, "Get-User"];
        let names = Names::new(own.into_iter());
        for own in own {
            let name = names.name(own);
            assert!(name.len() <= 64, "{name}");
            assert!(name.is_ascii() && !name.starts_with(|c: char| c.is_ascii_digit()));
            assert_eq!(names.find(name), Some(own));
        }
        assert_eq!(names.find("get_user"), Some("Get-User"));
        assert_eq!(names.find("files_read"), None, "two tools fit");
        assert_eq!(portable("files.read", false), "files_read");
        assert_ne!(portable("files.read", true), portable("files/read", true));
        assert_eq!(portable("", false), "_");
    }
}
