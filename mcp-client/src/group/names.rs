//! Unique names of tools, prompts and resources in a group, and names that every model provider accepts.
//!
//! Groups and gateways name items with [`Naming`] and [`ItemNames`]; these, tool sets and OpenAPI documents name tools
//! with [`distinct_name`] and [`portable_names`].

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
    /// The name that the server uses, or `server__tool` if another server has listed the same name, or if the name
    /// begins as the names of another server do. The server that lists a name first has it: among servers that you do
    /// not trust alike, use [`Prefixed`](Self::Prefixed).
    #[serde(rename = "plain")]
    PlainUnlessTaken,
}

/// Separates the server's prefix from the name on the server.
pub(super) const SEPARATOR: &str = "__";

impl Naming {
    /// Returns the names that an item may have, the best one first: its own if the naming says so, then `prefix__own`,
    /// `prefix__own_2`, ….
    ///
    /// `prefix` is the one of the item's server, and `prefixes` are those of all servers. `is_shared`: other servers
    /// have an item with the same own name. [`ItemNames`] gives the item the first one that is free.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::group::Naming;
    ///
    /// let first = |own| {
    ///     let mut names = Naming::PlainUnlessTaken.candidates("files", own, false, &["files", "mail"]);
    ///     names.next()
    /// };
    /// assert_eq!(first("read").as_deref(), Some("read"));
    /// // It would look like the tool of another server.
    /// assert_eq!(first("mail__send").as_deref(), Some("files__mail__send"));
    /// ```
    pub fn candidates(
        self,
        prefix: &str,
        own: &str,
        is_shared: bool,
        prefixes: &[&str],
    ) -> impl Iterator<Item = String> + use<> {
        let is_plain =
            self == Self::PlainUnlessTaken && !is_shared && !looks_foreign(own, prefix, prefixes);
        let plain = is_plain.then(|| own.to_owned());
        plain.into_iter().chain(numbered(prefixed(prefix, own)))
    }
}

/// Joins a server's prefix and a name on that server.
pub(super) fn prefixed(prefix: &str, own: &str) -> String {
    format!("{prefix}{SEPARATOR}{own}")
}

/// Returns true if a name begins with the prefix of another server, so that it would look like that server's.
/// `prefix` is that of the item's server.
fn looks_foreign(own: &str, prefix: &str, prefixes: &[&str]) -> bool {
    let clean = sanitize(own);
    let begins = |other| {
        let rest = clean.strip_prefix(other);
        rest.is_some_and(|rest| rest.starts_with(SEPARATOR))
    };
    let mut others = prefixes.iter().copied();
    others.any(|other| !other.is_empty() && other != prefix && begins(other))
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

/// Replaces the characters of a name that not all model providers accept.
// spec: TOOL-04
pub(super) fn sanitize(name: &str) -> String {
    name.chars()
        .map(|c| if is_portable(c) { c } else { '_' })
        .collect()
}

/// The maximum number of characters of a tool's name that model providers accept.
pub const MAX_TOOL_NAME: usize = 64;

/// Bytes of the digest in a name. Each is two characters.
const DIGEST: usize = 4;

/// Returns whether a name has at most `max` characters, and only those that every model provider accepts: letters and
/// digits of ASCII, `_` and `-`.
pub fn is_portable_name(name: &str, max: usize) -> bool {
    (1..=max).contains(&name.len()) && name.chars().all(is_portable)
}

fn is_portable(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// Returns a name that every model provider accepts. A name that [fits](is_portable_name) stays as it is. In another one,
/// `_` replaces each other character, and one that is too long or empty ends with a digest of `item`.
// spec: TOOL-04
fn portable_name(name: &str, item: (&str, &str), max: usize) -> String {
    if is_portable_name(name, max) {
        return name.to_owned();
    }
    let clean = sanitize(name);
    if is_portable_name(&clean, max) {
        clean
    } else {
        distinct_name(name, item, max)
    }
}

/// Replaces each wanted name of an item by one that every model provider accepts, with at most `max` characters (at least
/// 16).
///
/// A name that [fits](is_portable_name) stays as it is. In another one, `_` replaces each other character, and one that
/// is too long or empty ends with a digest of `item`, the server and the item's own name. So a name depends on nothing
/// but its arguments. Behind a name that was changed comes the same name with the digest, for a list in which another item
/// has the first one.
///
/// # Examples
///
/// ```
/// use mcp::client::group::{MAX_TOOL_NAME, portable_names};
///
/// let portable = |own: &str| {
///     let mut names = portable_names([own.to_owned()].into_iter(), ("fs", own), MAX_TOOL_NAME);
///     names.next().unwrap_or_default()
/// };
/// assert_eq!(portable("get_user"), "get_user");
/// assert_eq!(portable("files.read"), "files_read");
/// assert_eq!(portable(&"x".repeat(80)).len(), MAX_TOOL_NAME);
/// ```
pub fn portable_names<I: Iterator<Item = String>>(
    wanted: I,
    (server, own): (&str, &str),
    max: usize,
) -> impl Iterator<Item = String> + use<I> {
    let (server, own) = (server.to_owned(), own.to_owned());
    wanted.flat_map(move |name| {
        let first = portable_name(&name, (&server, &own), max);
        let second = (first != name).then(|| distinct_name(&first, (&server, &own), max));
        std::iter::once(first).chain(second)
    })
}

/// Returns a name that every model provider accepts, with at most `max` characters (at least 16), and a digest of `item`
/// at its end: for an item whose [portable name](portable_names) another one has.
pub fn distinct_name(name: &str, (server, own): (&str, &str), max: usize) -> String {
    let mut hash = hmac_sha256::Hash::new();
    hash.update(server.as_bytes());
    // No name of a server contains this byte.
    hash.update([0]);
    hash.update(own.as_bytes());
    let digest: String = hash.finalize()[..DIGEST]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let clean = sanitize(name);
    let kept = max.saturating_sub(digest.len() + 1).min(clean.len());
    format!("{}_{digest}", &clean[..kept])
}

/// An item of a server: the server, and the name that it gives the item.
type NamedItem = (Arc<str>, String);

/// The unique names of several servers' tools or prompts.
///
/// A name stays with its item as long as the server lists it: no other server can take it over. [`Naming`] says which
/// names an item may have, and [`portable_names`] which ones model providers accept.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
///
/// use mcp::group::{ItemNames, Naming};
///
/// let mut names = ItemNames::default();
/// let mut name = |server: &str, own: &str| {
///     let wanted = Naming::PlainUnlessTaken.candidates(server, own, false, &["crm", "files"]);
///     names.assign((Arc::from(server), own.to_owned()), wanted)
/// };
/// assert_eq!(name("files", "find").as_deref(), Some("find"));
/// // The first server keeps the name, whatever is listed later.
/// assert_eq!(name("crm", "find").as_deref(), Some("crm__find"));
/// assert_eq!(name("files", "find").as_deref(), Some("find"));
/// ```
#[derive(Debug, Default)]
pub struct ItemNames {
    items: HashMap<String, NamedItem>,
    names: HashMap<NamedItem, String>,
    /// Names that the settings give to an item, also while it is not listed.
    reserved: HashMap<String, NamedItem>,
}

impl ItemNames {
    /// Creates the names with some that are reserved: only the item behind such a name gets it, also when other servers
    /// list their items first. An item is a server, and the name that it gives the item.
    pub fn new(reserved: HashMap<String, (Arc<str>, String)>) -> Self {
        Self {
            reserved,
            ..Self::default()
        }
    }

    /// Frees the names of the items for which `is_listed` returns false.
    pub fn retain(&mut self, is_listed: impl Fn(&Arc<str>, &str) -> bool) {
        self.items.retain(|_, (server, own)| is_listed(server, own));
        self.names.retain(|(server, own), _| is_listed(server, own));
    }

    /// Returns the name of an item: the one that it has, or the first of the wanted ones that is free. `None`: none of
    /// them is free.
    pub fn assign(
        &mut self,
        item: (Arc<str>, String),
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

    use std::cell::Cell;

    use super::{
        ItemNames, MAX_TOOL_NAME, NamedItem, is_portable_name, looks_foreign, numbered,
        portable_name, portable_names,
    };
    use crate::group::Naming;

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
    fn name_that_fits_stays_and_others_are_cleaned_or_cut() {
        let name = |name: &str, max| portable_name(name, ("server", name), max);
        for fits in ["a", "get_user", "Get-User", "2d", &"x".repeat(64)] {
            assert_eq!(name(fits, 64), fits);
        }
        assert_eq!(name("files.read/größe", 64), "files_read_gr__e");
        for long in ["x".repeat(65), "ü".repeat(300), String::new()] {
            let short = name(&long, 48);
            assert!(is_portable_name(&short, 48), "{short}");
            let digest = short.rsplit('_').next().unwrap();
            assert_eq!(digest.len(), 8, "{short}");
            assert_ne!(short, portable_name(&long, ("other", &long), 48));
        }
    }

    #[test]
    fn cleaned_names_are_unique_in_linear_time() {
        const COUNT: usize = 5_000;
        let steps = Cell::new(0);
        let mut names = ItemNames::default();
        let mut assigned = std::collections::HashSet::new();
        for number in 0..COUNT {
            // All of them become the same name.
            let own: String = format!("{number:013b}")
                .chars()
                .map(|bit| if bit == '0' { '.' } else { '/' })
                .collect();
            let wanted = Naming::Prefixed.candidates("a", &own, false, &["a"]);
            let wanted = portable_names(wanted, ("a", &own), MAX_TOOL_NAME);
            let wanted = wanted.inspect(|_| steps.set(steps.get() + 1));
            let name = names.assign(item("a", &own), wanted).unwrap();
            assert!(is_portable_name(&name, MAX_TOOL_NAME), "{name}");
            assert!(assigned.insert(name));
        }
        assert!(steps.get() <= 2 * COUNT, "{} names were tried", steps.get());
        assert_eq!(numbered("a".to_owned()).nth(1).unwrap(), "a_2");
    }

    #[test]
    fn name_that_begins_like_another_server_looks_foreign() {
        for (own, expected) in [
            ("bank__pay", true),
            ("bank..pay", true),
            ("bank__a__pay", true),
            ("a__b__pay", true),
            ("bank_pay", false),
            ("evil__pay", false),
            ("__pay", false),
            ("x__bank__pay", false),
            ("pay", false),
            ("shop___pay", true),
        ] {
            let prefixes = ["bank", "evil", "a__b", "shop_"];
            assert_eq!(looks_foreign(own, "evil", &prefixes), expected, "{own}");
        }
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
