//! The guide page about rmcp names an equivalent for everything that rmcp's own tests import. Rustdoc
//! checks that the equivalents exist: broken links are errors.

use std::collections::BTreeSet;

const NAMES: &str = include_str!("../rmcp-names.txt");
const PAGE: &str = include_str!("../../src/docs/coming_from_rmcp.md");

#[test]
fn every_name_has_an_equivalent() {
    let names = NAMES.lines().filter(|line| !line.starts_with('#'));
    let names: BTreeSet<String> = names.map(str::to_owned).collect();
    let mut documented = BTreeSet::new();
    let mut module = None;
    for line in PAGE.lines() {
        if line.starts_with('#') {
            let title = line.strip_prefix("## `rmcp");
            module = title.map(|title| format!("rmcp{}", title.trim_end_matches('`')));
        }
        let row = line
            .strip_prefix("| `")
            .and_then(|row| row.split_once(" | "));
        let (Some(module), Some((given, here))) = (&module, row) else {
            continue;
        };
        assert!(
            here.contains("](crate::")
                || here.contains("](macro@crate::")
                || here.starts_with("none, because "),
            "no equivalent and no reason: {line}"
        );
        for name in given.split(", ").map(|name| name.trim_matches('`')) {
            let is_absolute = name.starts_with("rmcp::");
            documented.insert(if is_absolute {
                name.to_owned()
            } else {
                format!("{module}::{name}")
            });
        }
    }
    let missing: Vec<_> = names.difference(&documented).collect();
    assert!(missing.is_empty(), "not in the page: {missing:#?}");
    let unknown: Vec<_> = documented.difference(&names).collect();
    assert!(unknown.is_empty(), "only in the page: {unknown:#?}");
}
