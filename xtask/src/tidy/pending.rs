//! Crates that do not follow a rule yet. To switch a rule on for a crate, correct the findings of
//! `cargo xtask tidy --pending CRATE` and remove the rule from the row of the crate. Delete this module
//! when the table is empty.

/// Packages with the rules that do not apply to them yet.
const PENDING: [(&str, &[&str]); 3] = [
    (
        "mcp-client",
        &["cycles", "doc_comments", "duplicates", "layout", "names"],
    ),
    (
        "mcp-transport-http",
        &[
            "cycles",
            "doc_comments",
            "duplicates",
            "error_sections",
            "inlining",
            "layout",
            "names",
        ],
    ),
    (
        "mcp-transport-stdio",
        &["cycles", "doc_comments", "duplicates", "layout", "names"],
    ),
];

/// Returns true if the rule does not apply to the package yet.
pub(crate) fn contains(rule: &str, package: &str) -> bool {
    entries().any(|entry| entry == (rule, package))
}

/// Every pair of a rule and a package to which it does not apply yet.
pub(crate) fn entries() -> impl Iterator<Item = (&'static str, &'static str)> {
    let rows = PENDING.iter();
    rows.flat_map(|(package, rules)| rules.iter().map(move |rule| (*rule, *package)))
}
