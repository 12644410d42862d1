//! Rule: in a crate, one noun is one type, so that a search finds one definition. The rule counts structs, enums, traits,
//! unions and type aliases that other files of the crate can name.

use std::collections::BTreeMap;

use syn::{Item, Visibility};

use crate::finding::Finding;
use crate::modules::{Crate, crates};
use crate::sources::{Sources, package, parts};

/// Types that share their name with another type of their package. Rename one of them and delete its row.
const SHARED: [(&str, &str); 4] = [
    ("mcp-client", "Step"),
    ("mcp-server", "Decode"),
    ("mcp-skills", "Skills"),
    // Unix and Windows: one of them is compiled.
    ("mcp-transport-stdio", "Process"),
];

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    let crates = crates(sources);
    let crates = crates.iter().filter(|krate| {
        krate.root.ends_with("/src/lib.rs") || krate.root.ends_with("/src/main.rs")
    });
    crates.flat_map(check_crate).collect()
}

fn check_crate(krate: &Crate<'_>) -> Vec<Finding> {
    let package = package(krate.root);
    let mut first: BTreeMap<String, String> = BTreeMap::new();
    let mut findings = Vec::new();
    for module in &krate.modules {
        for item in module.items.iter().chain(module.macro_items) {
            let is_type = matches!(
                item,
                Item::Struct(_) | Item::Enum(_) | Item::Trait(_) | Item::Union(_) | Item::Type(_)
            );
            let parts = parts(item);
            let is_visible = !matches!(parts.vis, Visibility::Inherited);
            let Some(name) = parts.ident.filter(|_| is_type && is_visible) else {
                continue;
            };
            let place = &module.file.path;
            if let Some(other) = first.insert(name.to_string(), place.clone())
                && !SHARED.contains(&(package, &name.to_string()))
            {
                let line = name.span().start().line;
                let message = format!("`{name}` is also a type in {other}; rename one of them");
                findings.push(Finding::new(place, line, message));
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::sources::Sources;

    #[test]
    fn second_type_of_one_name_is_a_finding() {
        let other = "//! B.\nstruct Call;\nimpl Call {}\npub(crate) enum Step {}\npub(super) type Reply = ();\n";
        let sources = Sources::from_texts(&[
            (
                "mcp-core/src/lib.rs",
                "//! A.\nmod b;\npub struct Call;\npub trait Step {}\n",
            ),
            ("mcp-core/src/b.rs", other),
            (
                "mcp-types/src/lib.rs",
                "//! C.\npub struct Call;\npub struct Step;\n",
            ),
        ]);
        let findings = check(&sources).into_iter();
        let places = findings.map(|finding| (finding.path, finding.line));
        assert_eq!(
            Vec::from_iter(places),
            [("mcp-core/src/b.rs".to_owned(), 4)]
        );
    }
}
