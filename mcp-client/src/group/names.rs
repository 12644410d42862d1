//! Unique names of tools, prompts and resources in a group.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Deserialize;

/// The names of tools and prompts in the group. Resources are always named `server__uri`.
///
/// A name stays with its item as long as the server lists it: no other server can take it over.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Naming {
    /// Always `server__tool`. A name does not depend on the other servers.
    #[default]
    Prefixed,
    /// The name that the server uses, or `server__tool` if two servers use the same name.
    #[serde(rename = "plain")]
    PlainUnlessTaken,
}

/// Separates the server's prefix from the name on the server.
pub(super) const SEPARATOR: &str = "__";

/// Joins a server's prefix and a name on that server.
pub fn prefixed(prefix: &str, own: &str) -> String {
    format!("{prefix}{SEPARATOR}{own}")
}

/// Returns the names that an item may have, the best one first. `is_shared`: other servers have an item
/// with the same name.
pub fn candidate_names(
    naming: Naming,
    prefix: &str,
    own: &str,
    is_shared: bool,
) -> impl Iterator<Item = String> + use<> {
    let is_plain = naming == Naming::PlainUnlessTaken && !is_shared;
    let plain = is_plain.then(|| own.to_owned());
    plain.into_iter().chain(numbered(prefixed(prefix, own)))
}

/// Returns a name, and then the name with a number.
pub(super) fn numbered(name: String) -> impl Iterator<Item = String> {
    (1..1000).map(move |number| {
        if number == 1 {
            name.clone()
        } else {
            format!("{name}_{number}")
        }
    })
}

/// Replaces the characters of a server's name that tool names must not contain.
// spec: TOOL-04
pub(super) fn sanitize(server: &str) -> String {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    server
        .chars()
        .map(|c| if is_allowed(c) { c } else { '_' })
        .collect()
}

/// An item of a server: the server, and the name that it gives the item.
pub type NamedItem = (Arc<str>, String);

/// The unique names for one kind of item, with the item behind each.
#[derive(Debug, Default)]
pub struct ItemNames {
    items: HashMap<String, NamedItem>,
    names: HashMap<NamedItem, String>,
    /// Names that the settings give to an item, also while it is not listed.
    reserved: HashMap<String, NamedItem>,
}

impl ItemNames {
    /// Creates the names, of which some are reserved.
    pub fn new(reserved: HashMap<String, NamedItem>) -> Self {
        Self {
            reserved,
            ..Self::default()
        }
    }

    /// Frees the item names for which `is_listed` returns false.
    pub fn retain(&mut self, is_listed: impl Fn(&Arc<str>, &str) -> bool) {
        self.items.retain(|_, (server, own)| is_listed(server, own));
        self.names.retain(|(server, own), _| is_listed(server, own));
    }

    /// Returns the name of an item: the one that it has, or the first of the wanted ones that is free.
    pub fn assign(
        &mut self,
        item: NamedItem,
        wanted: impl IntoIterator<Item = String>,
    ) -> Option<String> {
        if let Some(name) = self.names.get(&item) {
            return Some(name.clone());
        }
        let mut wanted = wanted.into_iter();
        let name = wanted.find(|name| {
            let is_reserved = self.reserved.get(name).is_some_and(|owner| *owner != item);
            !is_reserved && !self.items.contains_key(name)
        })?;
        self.items.insert(name.clone(), item.clone());
        self.names.insert(item, name.clone());
        Some(name)
    }

    /// Returns the item behind a name.
    pub(super) fn find(&self, name: &str) -> Option<NamedItem> {
        self.items.get(name).cloned()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::{ItemNames, NamedItem};

    fn item(server: &str, own: &str) -> NamedItem {
        (server.into(), own.to_owned())
    }

    fn wanted(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn name_stays_with_its_item_until_it_is_not_listed() {
        let mut names = ItemNames::default();
        let first = names.assign(item("good", "pay"), wanted(&["pay"]));
        assert_eq!(first.as_deref(), Some("pay"));
        assert_eq!(names.assign(item("bad", "pay"), wanted(&["pay"])), None);
        let again = names.assign(item("good", "pay"), wanted(&["other"]));
        assert_eq!(again.as_deref(), Some("pay"));
        assert_eq!(names.find("pay"), Some(item("good", "pay")));
        names.retain(|server, _| &**server != "good");
        assert_eq!(names.find("pay"), None);
        assert!(names.assign(item("bad", "pay"), wanted(&["pay"])).is_some());
    }

    #[test]
    fn reserved_name_is_for_its_item_only() {
        let reserved = HashMap::from([("pay".to_owned(), item("good", "x"))]);
        let mut names = ItemNames::new(reserved);
        let other = names.assign(item("bad", "pay"), wanted(&["pay", "bad__pay"]));
        assert_eq!(other.as_deref(), Some("bad__pay"));
        let own = names.assign(item("good", "x"), wanted(&["pay"]));
        assert_eq!(own.as_deref(), Some("pay"));
    }
}
