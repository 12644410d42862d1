//! `cargo xtask api`: the public names of the libraries, held against a list that people have read.
//!
//! The list is taken from the source, not from rustdoc, whose machine-readable output needs a
//! nightly compiler. That is possible because everything that is `pub` can be reached (the lint
//! `unreachable_pub` sees to it). Implementations of traits are not in it; of what macros write,
//! only that they are asked to.

mod items;
mod text;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use items::Openness;

use crate::Result;
use crate::flags::Flags;
use crate::tidy::source::{Sources, package};
use crate::workspace::Workspace;

/// Where the list is, from the root of the repository.
const LIST: &str = "docs/api.txt";

/// What users depend on.
const LIBRARIES: [&str; 9] = [
    "mcp",
    "mcp-types",
    "mcp-core",
    "mcp-server",
    "mcp-client",
    "mcp-macros",
    "mcp-transport-http",
    "mcp-transport-stdio",
    "mcp-testing",
];

/// The command; whether the list is that of the source. `--update` writes it.
pub(crate) fn run(workspace: &Workspace, mut flags: Flags) -> Result<bool> {
    let update = flags.switch("--update");
    flags.finish()?;
    let sources = Sources::read(workspace.root())?;
    let file = workspace.root().join(LIST);
    let now = list(&sources);
    if update {
        fs::write(&file, now)?;
        return Ok(true);
    }
    let kept = fs::read_to_string(&file).map_err(|error| format!("{LIST}: {error}"))?;
    let changes = changes(&kept, &now);
    for change in &changes {
        println!("{change}");
    }
    if !changes.is_empty() {
        println!(
            "api: the public names are not those of {LIST}; if that is meant, run \
             `cargo xtask api --update` and say it in CHANGELOG.md"
        );
    }
    Ok(changes.is_empty())
}

/// All public names, a line each, in order.
fn list(sources: &Sources) -> String {
    let mut list = String::new();
    for library in LIBRARIES {
        let mut lines = BTreeSet::new();
        let modules = Modules::of(library, sources);
        for file in sources.library() {
            if package(&file.path) == library && !modules.hide(&file.path) {
                items::collect(&file.ast.items, modules.name(&file.path), &mut lines);
            }
        }
        list.push_str(&format!("# {library}\n"));
        for line in lines {
            list.push_str(&line);
            list.push('\n');
        }
        list.push('\n');
    }
    list
}

/// The modules of a library that users can name, and those that they shall not.
struct Modules {
    /// Files, and how the lines of what they re-export begin.
    open: BTreeMap<String, String>,
    /// Paths without ending.
    hidden: Vec<String>,
}

impl Modules {
    fn of(library: &str, sources: &Sources) -> Self {
        let root = format!("{library}/src/lib.rs");
        let mut modules = Self {
            open: BTreeMap::from([(root.clone(), String::new())]),
            hidden: Vec::new(),
        };
        let mut found = vec![root];
        while let Some(path) = found.pop() {
            let file = sources.library().find(|file| file.path == path);
            for (stem, name, openness) in file.into_iter().flat_map(items::modules) {
                match openness {
                    Openness::Open => {
                        for path in [format!("{stem}.rs"), format!("{stem}/mod.rs")] {
                            modules.open.insert(path.clone(), format!("{name}: "));
                            found.push(path);
                        }
                    }
                    Openness::Hidden => modules.hidden.push(stem),
                    Openness::Closed => {}
                }
            }
        }
        modules
    }

    fn name(&self, path: &str) -> Option<&str> {
        self.open.get(path).map(String::as_str)
    }

    fn hide(&self, path: &str) -> bool {
        let below = |stem: &String| path.strip_prefix(stem.as_str());
        let mut rests = self.hidden.iter().filter_map(below);
        rests.any(|rest| rest == ".rs" || rest.starts_with('/'))
    }
}

/// What is gone, and what has come.
fn changes(kept: &str, now: &str) -> Vec<String> {
    let named = |list: &str| -> BTreeSet<(String, String)> {
        let mut library = "";
        let mut lines = BTreeSet::new();
        for line in list.lines() {
            match line.strip_prefix("# ") {
                Some(name) => library = name,
                None if line.is_empty() => {}
                None => {
                    lines.insert((library.to_owned(), line.to_owned()));
                }
            }
        }
        lines
    };
    let (kept, now) = (named(kept), named(now));
    let gone = kept.difference(&now).map(|line| ("-", line));
    let come = now.difference(&kept).map(|line| ("+", line));
    let mut changes: Vec<_> = gone.chain(come).collect();
    changes.sort_by_key(|(sign, (library, line))| (library, line, *sign));
    changes
        .into_iter()
        .map(|(sign, (library, line))| format!("{sign} {library}: {line}"))
        .collect()
}

#[cfg(test)]
mod tests;
