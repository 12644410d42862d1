//! Names of tools and prompts in the gateway, and the servers behind them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use mcp_client::group::Naming;

/// Separates the prefix of a server from the name on the server.
const SEPARATOR: &str = "__";

/// An item of a server: the server, and the name that it gives the item.
pub(super) type Item = (Arc<str>, String);

/// The keys of one kind of items, with the item behind each. A key stays with its item as long as its
/// server lists it: no other server can take it over.
#[derive(Debug, Default)]
pub(super) struct Keys {
    items: HashMap<String, Item>,
    keys: HashMap<Item, String>,
    /// Keys that the settings give to an item, also while it is not listed.
    reserved: HashMap<String, Item>,
}

impl Keys {
    /// Creates the keys, of which some are reserved.
    pub(super) fn new(reserved: HashMap<String, Item>) -> Self {
        Self {
            reserved,
            ..Self::default()
        }
    }

    /// Frees the keys of a server whose items are not listed any more.
    pub(super) fn retain(&mut self, server: &Arc<str>, listed: &HashSet<&str>) {
        let freed = self
            .items
            .iter()
            .filter(|(_, (owner, own))| owner == server && !listed.contains(own.as_str()));
        let freed: Vec<String> = freed.map(|(key, _)| key.clone()).collect();
        for key in freed {
            if let Some(item) = self.items.remove(&key) {
                self.keys.remove(&item);
            }
        }
    }

    /// Returns the key of an item: the one that it has, or the first of the wanted ones that is free.
    pub(super) fn assign(
        &mut self,
        item: Item,
        wanted: impl IntoIterator<Item = String>,
    ) -> Option<String> {
        if let Some(key) = self.keys.get(&item) {
            return Some(key.clone());
        }
        let mut wanted = wanted.into_iter();
        let key = wanted.find(|key| {
            let is_reserved = self.reserved.get(key).is_some_and(|owner| *owner != item);
            !is_reserved && !self.items.contains_key(key)
        })?;
        self.items.insert(key.clone(), item.clone());
        self.keys.insert(item, key.clone());
        Some(key)
    }
}

/// The names of the items of one server.
pub(super) struct ServerNames<'a> {
    /// The prefix in the group.
    pub(super) group_prefix: &'a str,
    /// The prefix of the settings.
    pub(super) prefix: Option<&'a str>,
    pub(super) naming: Naming,
}

impl ServerNames<'_> {
    /// Returns the names that an item may have, the best one first. `is_shared`: other servers have an item
    /// with the same name.
    pub(super) fn wanted<'a>(
        &'a self,
        own: &'a str,
        is_shared: bool,
    ) -> impl Iterator<Item = String> + 'a {
        let first = match self.prefix {
            Some("") => own.to_owned(),
            Some(prefix) => format!("{prefix}{SEPARATOR}{own}"),
            None if self.naming == Naming::PlainUnlessTaken && !is_shared => own.to_owned(),
            None => self.prefixed(own),
        };
        let numbered = (2..1000).map(|number| format!("{}_{number}", self.prefixed(own)));
        [first, self.prefixed(own)].into_iter().chain(numbered)
    }

    fn prefixed(&self, own: &str) -> String {
        format!("{}{SEPARATOR}{own}", self.group_prefix)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};
    use std::sync::Arc;

    use mcp_client::group::Naming;

    use super::{Item, Keys, ServerNames};

    fn item(server: &str, own: &str) -> Item {
        (server.into(), own.to_owned())
    }

    fn wanted(keys: &[&str]) -> Vec<String> {
        keys.iter().map(|&key| key.to_owned()).collect()
    }

    #[test]
    fn key_stays_with_its_item_until_it_is_not_listed() {
        let mut keys = Keys::default();
        let good: Arc<str> = "good".into();
        assert_eq!(
            keys.assign(item("good", "pay"), wanted(&["pay"]))
                .as_deref(),
            Some("pay")
        );
        assert_eq!(keys.assign(item("bad", "pay"), wanted(&["pay"])), None);
        let again = keys.assign(item("good", "pay"), wanted(&["other"]));
        assert_eq!(again.as_deref(), Some("pay"));
        keys.retain(&good, &HashSet::new());
        assert!(keys.assign(item("bad", "pay"), wanted(&["pay"])).is_some());
    }

    #[test]
    fn reserved_key_is_for_its_item_only() {
        let reserved = HashMap::from([("pay".to_owned(), item("good", "x"))]);
        let mut keys = Keys::new(reserved);
        let other = keys.assign(item("bad", "pay"), wanted(&["pay", "bad__pay"]));
        assert_eq!(other.as_deref(), Some("bad__pay"));
        let own = keys.assign(item("good", "x"), wanted(&["pay"]));
        assert_eq!(own.as_deref(), Some("pay"));
    }

    #[test]
    fn names_follow_prefix_and_naming() {
        let first = |prefix, naming, is_shared| {
            let names = ServerNames {
                group_prefix: "files",
                prefix,
                naming,
            };
            names.wanted("read", is_shared).next().unwrap()
        };
        assert_eq!(first(None, Naming::Prefixed, false), "files__read");
        assert_eq!(first(Some(""), Naming::Prefixed, true), "read");
        assert_eq!(
            first(Some("fs"), Naming::PlainUnlessTaken, false),
            "fs__read"
        );
        assert_eq!(first(None, Naming::PlainUnlessTaken, false), "read");
        assert_eq!(first(None, Naming::PlainUnlessTaken, true), "files__read");
    }
}
