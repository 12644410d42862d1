//! Unique names of tools, prompts and resources in a group.

use std::collections::HashSet;

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

/// Returns `wanted`, or `wanted` with the smallest number that makes it unique among `taken`.
pub(super) fn unique_name(wanted: String, taken: &mut HashSet<String>) -> String {
    let mut name = wanted.clone();
    let mut number = 2_usize;
    while !taken.insert(name.clone()) {
        name = format!("{wanted}_{number}");
        number += 1;
    }
    name
}
