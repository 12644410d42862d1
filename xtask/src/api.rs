//! `cargo xtask api`: the public items of the libraries, compared with a list that is reviewed with
//! every change.
//!
//! The list is made from the source code, so that it is the same with the MSRV and with the current compiler, in 5
//! seconds without compilation. rustdoc's JSON is an unstable format, which a stable compiler writes only with
//! `RUSTC_BOOTSTRAP=1` (85 seconds), and `cargo-semver-checks` needs a published version. Every item has one
//! line, at its shortest public path. An item that the facade `mcp` re-exports by name is listed
//! there, and not in the crate that defines it. Trait implementations are not listed.
//!
//! | module | responsibility |
//! |---|---|
//! | [`surface`] | public paths of every crate, through re-exports |
//! | [`items`] | the lines of an item |
//! | [`text`] | formatting tokens as people write them |

mod items;
pub(crate) mod surface;
mod text;

use std::collections::BTreeSet;
use std::fs;

use crate::result::Result;
use crate::sources::Sources;
use crate::workspace::Workspace;

/// The list's path, from the repository's root.
const LIST: &str = "docs/api.txt";

/// Runs the command. Returns true if the list is up to date. `update` writes it.
pub(crate) fn run(workspace: &Workspace, update: bool) -> Result<bool> {
    let sources = Sources::read(workspace.root())?;
    let file = workspace.root().join(LIST);
    let now = surface::list(&sources);
    if update {
        fs::write(&file, now)?;
        return Ok(true);
    }
    let stored = fs::read_to_string(&file).map_err(|error| format!("{LIST}: {error}"))?;
    let changes = changes(&stored, &now);
    for change in &changes {
        println!("{change}");
    }
    if !changes.is_empty() {
        println!(
            "api: the public items differ from {LIST}; if the change is intended, run \
             `cargo xtask api --update` and describe it in CHANGELOG.md"
        );
    }
    Ok(changes.is_empty())
}

/// The lines that were removed or added, with their crate.
fn changes(stored: &str, now: &str) -> Vec<String> {
    let lines = |list: &str| -> BTreeSet<(String, String)> {
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
    let (stored, now) = (lines(stored), lines(now));
    let removed = stored.difference(&now).map(|line| ("-", line));
    let added = now.difference(&stored).map(|line| ("+", line));
    let mut changes: Vec<_> = removed.chain(added).collect();
    changes.sort_by_key(|(sign, (library, line))| (library, line, *sign));
    changes
        .into_iter()
        .map(|(sign, (library, line))| format!("{sign} {library}: {line}"))
        .collect()
}

#[cfg(test)]
mod tests;
