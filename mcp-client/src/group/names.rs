//! Unique names of tools, prompts and resources in a group.

use std::collections::{HashMap, HashSet};

/// The names of tools and prompts in the group. Resources are always named `server__uri`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Naming {
    /// Always `server__tool`. A name does not depend on the other servers.
    #[default]
    Prefixed,
    /// The name that the server uses, or `server__tool` if two servers use the same name.
    PlainUnlessTaken,
}

/// Separates the server's prefix from the name on the server.
pub(super) const SEPARATOR: &str = "__";

/// Joins a server's prefix and a name on that server.
pub(super) fn prefixed(prefix: &str, own: &str) -> String {
    format!("{prefix}{SEPARATOR}{own}")
}

/// Replaces the characters of a server's name that names of tools must not contain.
// spec: TOOL-04
pub(super) fn sanitize(server: &str) -> String {
    let is_allowed = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    server
        .chars()
        .map(|c| if is_allowed(c) { c } else { '_' })
        .collect()
}

/// Names that are unique among each other.
#[derive(Debug, Default)]
pub(super) struct UniqueNames {
    taken: HashSet<String>,
    /// The next number to try after a name. Without it, equal names would cost quadratic time.
    next_numbers: HashMap<String, usize>,
}

impl UniqueNames {
    /// Returns `wanted`, or `wanted` with the smallest number that makes it unique.
    pub(super) fn take(&mut self, wanted: String) -> String {
        if self.taken.insert(wanted.clone()) {
            return wanted;
        }
        let number = self.next_numbers.entry(wanted.clone()).or_insert(2);
        loop {
            let name = format!("{wanted}_{number}");
            *number += 1;
            if self.taken.insert(name.clone()) {
                return name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::UniqueNames;

    #[test]
    fn equal_names_receive_smallest_free_number() {
        let mut names = UniqueNames::default();
        let taken = ["a", "a_3", "a", "a", "a_2", "a_2", "a"];
        let taken = taken.map(|wanted| names.take(wanted.to_owned()));
        assert_eq!(taken, ["a", "a_3", "a_2", "a_4", "a_2_2", "a_2_3", "a_5"]);
    }

    #[test]
    fn many_equal_names_cost_linear_time() {
        let mut names = UniqueNames::default();
        let start = Instant::now();
        for number in 2..50_000 {
            names.take(format!("a_{number}"));
        }
        (0..50_000).for_each(|_| drop(names.take("a".to_owned())));
        // Quadratic time takes minutes.
        assert!(start.elapsed() < Duration::from_secs(10));
    }
}
