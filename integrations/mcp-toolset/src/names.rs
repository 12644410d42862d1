//! Names that all providers accept, and back.

use std::collections::{BTreeMap, BTreeSet};

use mcp_client::group::{MAX_TOOL_NAME, distinct_name, portable_names};
use mcp_types::is_tool_name;

/// Names of a tool list for a model. The same list has the same names in each process.
#[derive(Debug, Default)]
pub(crate) struct Names {
    name_by_own: BTreeMap<String, String>,
    /// Names of the set's own tools, without case and separators.
    reserved: BTreeSet<String>,
}

impl Names {
    /// Chooses names for tools. They are unique without case and separators, also among the `reserved` ones. Tools that are not
    /// offered are named as well: no other tool answers to their names.
    pub(crate) fn new<'a>(own: impl Iterator<Item = &'a str>, reserved: &[&str]) -> Self {
        let own: BTreeSet<&str> = own.collect();
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for own in &own {
            *counts.entry(folded(&portable(own, false))).or_default() += 1;
        }
        let reserved: BTreeSet<String> = reserved.iter().map(|name| folded(name)).collect();
        let mut taken = reserved.clone();
        let is_shared = |own: &&str| {
            let name = folded(&portable(own, false));
            counts.get(&name) > Some(&1) || reserved.contains(&name)
        };
        let (shared, plain): (Vec<_>, Vec<_>) = own.into_iter().partition(is_shared);
        let mut name_by_own = BTreeMap::new();
        // Those that keep their names first: their first name is free.
        for own in plain.into_iter().chain(shared) {
            let mut name = portable(own, is_shared(&own));
            let mut number = 2;
            while !taken.insert(folded(&name)) {
                name = portable(&format!("{own} {number}"), true);
                number += 1;
            }
            name_by_own.insert(own.to_owned(), name);
        }
        Self {
            name_by_own,
            reserved,
        }
    }

    /// Names of a set that shows the tools' own names. They are unique with case and separators only.
    pub(crate) fn own<'a>(own: impl Iterator<Item = &'a str>, reserved: &[&str]) -> Self {
        Self {
            name_by_own: own.map(|own| (own.to_owned(), own.to_owned())).collect(),
            reserved: reserved.iter().map(|name| folded(name)).collect(),
        }
    }

    /// Returns the name of a tool for a model.
    pub(crate) fn name<'a>(&'a self, own: &'a str) -> &'a str {
        self.name_by_own.get(own).map_or(own, String::as_str)
    }

    /// Returns the own name of the tool that a model has named, which may not be offered. Models change case and separators. A
    /// name that is similar to a reserved one is not a tool's.
    pub(crate) fn find(&self, name: &str) -> Option<&str> {
        let names = self.name_by_own.iter();
        if let Some((own, _)) = names.clone().find(|(_, known)| *known == name) {
            return Some(own);
        }
        let wanted = folded(name);
        if self.reserved.contains(&wanted) {
            return None;
        }
        let is_similar = |other: &str| folded(other) == wanted;
        let mut similar = names.filter(|(own, known)| is_similar(known) || is_similar(own));
        let (own, _) = similar.next()?;
        similar.next().is_none().then_some(own)
    }
}

/// Returns a name with at most 64 characters, all in `A-Za-z0-9_-`, which starts with a letter or `_`. A name that is cut, or
/// that another tool may have, ends with a digest.
pub(crate) fn portable(own: &str, is_shared: bool) -> String {
    let needs_start = own.starts_with(|c: char| c.is_ascii_digit() || c == '-') || own.is_empty();
    let start = if needs_start { "_" } else { "" };
    let (wanted, item) = (format!("{start}{own}"), ("", own));
    if is_shared {
        distinct_name(&wanted, item, MAX_TOOL_NAME)
    } else {
        let mut names = portable_names(std::iter::once(wanted), item, MAX_TOOL_NAME);
        names.next().unwrap_or_default()
    }
}

/// Returns the name of a property for a model: 64 characters of `A-Za-z0-9_.-` at most.
pub(crate) fn property_name(own: &str) -> String {
    if own.len() <= MAX_TOOL_NAME && is_tool_name(own) {
        own.to_owned()
    } else {
        portable(own, true)
    }
}

/// Returns a name without case and separators.
pub(crate) fn folded(name: &str) -> String {
    let letters = name.chars().filter(|c| c.is_alphanumeric());
    letters.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::{Names, folded, portable};

    #[test]
    fn names_are_portable_unique_and_mapped_back() {
        let long = "a".repeat(90);
        let own = ["files.read", "files/read", "2d", "größe", &long, "Get-User"];
        let names = Names::new(own.into_iter(), &[]);
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

    #[test]
    fn cleaned_and_shortened_names_do_not_collide() {
        let long = "a".repeat(90);
        let short = portable(&long, false);
        let own = ["pay_é", "pay__", "PAY", &long, &short, "search.tools"];
        let names = Names::new(own.into_iter(), &["search_tools"]);
        let unique: BTreeSet<String> = own.iter().map(|own| folded(names.name(own))).collect();
        assert_eq!(unique.len(), own.len(), "{names:?}");
        assert!(!unique.contains("searchtools"));
        // The model means the set's own tool.
        for similar in ["searchTools", "search.tools", "SEARCH_TOOLS"] {
            assert_eq!(names.find(similar), None);
        }
        for own in own {
            assert_eq!(names.find(names.name(own)), Some(own));
        }
    }

    proptest! {
        #[test]
        fn names_are_unique_portable_and_the_same_in_each_order(
            own in prop::collection::vec(prop_oneof![
                "[aA_é.-]{0,4}",
                "[a-b]{50,90}",
                "(_|-)?pay(_|-|é|/){0,3}",
                "\\PC{0,80}",
            ], 0..40),
        ) {
            let mut own: Vec<&str> = own.iter().map(|own| &**own).collect();
            let mut all: Vec<String> = own.iter().map(|own| portable(own, true)).collect();
            all.extend(own.iter().map(|own| portable(own, false)));
            // Tools that are named as others are shortened to.
            own.extend(all.iter().step_by(3).map(|own| &**own));
            let names = Names::new(own.iter().copied(), &["pay", "read_result"]);
            let shown = Names::own(own.iter().copied(), &["pay", "read_result"]);
            let reversed = Names::new(own.iter().rev().copied(), &["pay", "read_result"]);
            let distinct: BTreeSet<&str> = own.iter().copied().collect();
            let mut unique = BTreeSet::from(["pay".to_owned(), folded("read_result")]);
            for own in distinct {
                let name = names.name(own);
                prop_assert_eq!(name, reversed.name(own));
                prop_assert!(name.len() <= 64 && !name.is_empty());
                prop_assert!(name.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c)));
                prop_assert!(unique.insert(folded(name)), "{} of {}", name, own);
                prop_assert_eq!(names.find(name), Some(own));
                // A set that shows own names calls the tool whose name it shows.
                prop_assert_eq!(shown.name(own), own);
                prop_assert_eq!(shown.find(own), Some(own));
                let similar = shown.find(&own.to_uppercase());
                let fits = |own: &str| folded(own) == folded(&own.to_uppercase());
                prop_assert!(similar.is_none_or(|found| found == own || fits(found)));
            }
        }
    }
}
