//! Rule: a table of modules in a module's documentation names only children that exist, each once. A table with an order
//! (a column `layer`, "lowest first", "above it") names all of them, and a module uses no module of a later row.

use std::collections::BTreeMap;

use syn::{Expr, ExprLit, Lit, Meta};

use super::cycles;
use crate::finding::Finding;
use crate::modules::{Crate, crates};
use crate::sources::Sources;

/// Words of a header that promise an order.
const ORDERED: [&str; 3] = ["lowest first", "above it", "| layer |"];

/// The row below a header.
const RULE: &str = "|---";

pub(crate) fn check(sources: &Sources) -> Vec<Finding> {
    crates(sources).iter().flat_map(check_crate).collect()
}

fn check_crate(krate: &Crate<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for index in 0..krate.modules.len() {
        let module = &krate.modules[index];
        if module.file_module != index {
            continue;
        }
        let Some(table) = Table::read(&docs(&module.file.ast.attrs)) else {
            continue;
        };
        let mut report = |line, message| {
            findings.push(Finding::new(&module.file.path, line, message));
        };
        let mut rows: BTreeMap<&str, usize> = BTreeMap::new();
        for (row, (line, name)) in table.names.iter().enumerate() {
            if !module.children.contains_key(name) {
                report(
                    *line,
                    format!("no module `{name}` exists here; correct the table"),
                );
            }
            if rows.insert(name, row).is_some() {
                report(*line, format!("module `{name}` is in the table twice"));
            }
        }
        for name in module.children.keys() {
            let is_file = krate.modules[module.children[name]].file_module != index;
            if is_file && table.has_order && !rows.contains_key(name.as_str()) {
                let message = format!("module `{name}` is not in the table of modules; add it");
                report(table.line, message);
            }
        }
        if table.has_order {
            findings.extend(check_order(krate, index, &table, &rows));
        }
    }
    findings
}

/// Reports uses of a module by a module of an earlier row.
fn check_order(
    krate: &Crate<'_>,
    parent: usize,
    table: &Table,
    rows: &BTreeMap<&str, usize>,
) -> Vec<Finding> {
    let depth = krate.modules[parent].path.len();
    let child = |index: usize| {
        let path = &krate.modules[index].path;
        let is_below = path.starts_with(&krate.modules[parent].path);
        let name = path.get(depth).filter(|_| is_below)?;
        Some((name.as_str(), rows.get(name.as_str())?))
    };
    let mut findings = Vec::new();
    for (from, targets) in cycles::edges(krate) {
        for (to, lines) in targets {
            let (Some((user, above)), Some((used, below))) = (child(from), child(to)) else {
                continue;
            };
            let (line_above, line_below) = (table.names[*above].0, table.names[*below].0);
            if line_above < line_below
                && let Some((line, _)) = lines.first()
            {
                let file = &krate.modules[parent].file.path;
                let message = format!(
                    "`{user}` uses `{used}`, which is in a later row of the table in {file}; \
                     correct the table"
                );
                findings.push(Finding::new(&krate.modules[from].file.path, *line, message));
            }
        }
    }
    findings
}

/// A table whose header has the column `module` or `modules`.
struct Table {
    line: usize,
    /// The modules, each with its line.
    names: Vec<(usize, String)>,
    has_order: bool,
}

impl Table {
    fn read(docs: &[(usize, String)]) -> Option<Self> {
        let header = docs.iter().position(|(_, text)| {
            cells(text).is_some_and(|cells| cells.iter().any(|cell| is_modules(cell)))
        })?;
        let (line, text) = &docs[header];
        let cells_of_header = cells(text)?;
        let column = cells_of_header.iter().position(|cell| is_modules(cell))?;
        let rows = docs[header + 1..].iter();
        let rows = rows.take_while(|(_, text)| text.starts_with('|'));
        let mut names = Vec::new();
        for (line, row) in rows.filter(|(_, text)| !text.starts_with(RULE)) {
            let cell = cells(row).and_then(|cells| cells.get(column).copied());
            let quoted = cell.unwrap_or_default().split('`').skip(1).step_by(2);
            names.extend(quoted.map(|name| (*line, name.to_owned())));
        }
        Some(Self {
            line: *line,
            names,
            has_order: ORDERED.iter().any(|word| text.contains(word)),
        })
    }
}

fn is_modules(cell: &str) -> bool {
    matches!(cell, "module" | "modules")
}

/// Returns the cells of a table's row.
fn cells(text: &str) -> Option<Vec<&str>> {
    let row = text.strip_prefix('|')?;
    Some(
        row.trim_end_matches('|')
            .split('|')
            .map(str::trim)
            .collect(),
    )
}

/// Returns the lines of a module's documentation.
fn docs(attributes: &[syn::Attribute]) -> Vec<(usize, String)> {
    let lines = attributes.iter().filter_map(|attribute| {
        let Meta::NameValue(value) = &attribute.meta else {
            return None;
        };
        let Expr::Lit(ExprLit {
            lit: Lit::Str(text),
            ..
        }) = &value.value
        else {
            return None;
        };
        let line = text.span().start().line;
        let is_doc = value.path.is_ident("doc");
        is_doc.then(|| (line, text.value().trim().to_owned()))
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::sources::Sources;

    fn findings(table: &str) -> Vec<(String, usize)> {
        let root = format!("//! Sample.\n//!\n{table}\n\nmod low;\nmod high;\nmod inline {{}}\n");
        let sources = Sources::from_texts(&[
            ("mcp-core/src/lib.rs", &root),
            ("mcp-core/src/low.rs", "//! Low.\npub struct A;\n"),
            (
                "mcp-core/src/high.rs",
                "//! High.\nuse crate::low::A;\nfn f(_: A) {}\n",
            ),
        ]);
        let findings = check(&sources).into_iter();
        findings
            .map(|finding| (finding.path, finding.line))
            .collect()
    }

    #[test]
    fn table_that_differs_from_the_modules_is_a_finding() {
        let at = |file: &str, line| vec![(format!("mcp-core/src/{file}.rs"), line)];
        for (table, expected) in [
            (
                "//! | module | content |\n//! |---|---|\n//! | [`low`], `high` | `x` |",
                vec![],
            ),
            (
                "//! | a | content |\n//! |---|---|\n//! | `gone` | `x` |",
                vec![],
            ),
            (
                "//! | layer | modules |\n//! |---|---|\n//! | 0 | `low` |\n//! | 1 | `high` |",
                vec![],
            ),
            (
                "//! | layer | modules |\n//! |---|---|\n//! | 0 | `high` |\n//! | 1 | `low` |",
                at("high", 2),
            ),
            (
                "//! | module | contents, lowest first |\n//! |---|---|\n//! | `high` | a |\n//! | `low` | b |",
                at("high", 2),
            ),
            (
                "//! | module | content |\n//! |---|---|\n//! | `low` | a |",
                vec![],
            ),
            (
                "//! | module | content, lowest first |\n//! |---|---|\n//! | `low` | a |",
                at("lib", 3),
            ),
            (
                "//! | module | content |\n//! |---|---|\n//! | `low`, `high`, `gone` | a |",
                at("lib", 5),
            ),
            (
                "//! | module | content |\n//! |---|---|\n//! | `low`, `high` | a |\n//! | `low` | b |",
                at("lib", 6),
            ),
        ] {
            assert_eq!(findings(table), expected, "{table}");
        }
    }
}
