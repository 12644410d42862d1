//! `cargo xtask tidy`: the rules of this repository that the compiler does not know. Each rule is a
//! module with a function from source files to findings. A finding has the file, the line, the
//! problem and the remedy.
//!
//! | module | rule |
//! |---|---|
//! | [`layers`] | allowed dependencies between crates; folder names; no tokio below the transports |
//! | [`clocks`] | `mcp-types` and `mcp-core` read no clock |
//! | [`cycles`] | no circles of modules within a crate |
//! | [`examples`] | examples import from `mcp` and compile |
//! | [`module_tables`] | tables of modules name the modules that exist, in the order of their layers |
//! | [`nouns`] | one noun is one type in a crate |
//! | [`versions`] | protocol versions and eras are compared in three places only |
//! | [`file_reads`] | library crates and the command read files with a limit |
//! | [`hidden_items`] | packages around the stable ones use documented items |
//! | [`literals`] | method names, header names, error codes and `_meta` keys are constants; one resolver of `$ref` |
//! | [`log_values`] | log events of the library crates escape what they display |
//! | [`publishing`] | metadata and exact versions of the published packages |
//! | [`links`] | documents name only files and functions that exist |
//! | [`text`] | module docs; the language of comments; file sizes; no unfinished work |

mod clocks;
mod cycles;
mod examples;
mod file_reads;
mod hidden_items;
pub(crate) mod layers;
mod links;
mod literals;
mod log_values;
mod module_tables;
mod nouns;
mod publishing;
mod text;
mod versions;

use crate::finding::Finding;
use crate::result::Result;
use crate::sources::Sources;
use crate::workspace::Workspace;

/// The findings of a rule about source files.
type Rule = fn(&Sources) -> Vec<Finding>;

const RULES: [Rule; 12] = [
    clocks::check,
    cycles::check,
    examples::check,
    file_reads::check,
    hidden_items::check,
    links::check,
    literals::check,
    log_values::check,
    module_tables::check,
    nouns::check,
    text::check,
    versions::check,
];

/// Runs the command. Returns true if there are no findings.
pub(crate) fn run(workspace: &Workspace) -> Result<bool> {
    let findings = check(workspace)?;
    for finding in &findings {
        println!("{finding}");
    }
    println!("tidy: {} findings", findings.len());
    Ok(findings.is_empty())
}

/// Applies every rule to the repository.
fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let mut findings = check_sources(&Sources::read(workspace.root())?);
    findings.extend(layers::check(workspace)?);
    findings.extend(publishing::check(workspace));
    findings.sort();
    Ok(findings)
}

fn check_sources(sources: &Sources) -> Vec<Finding> {
    let mut findings = sources.unreadable().to_vec();
    findings.extend(RULES.iter().flat_map(|rule| rule(sources)));
    findings
}

#[cfg(test)]
mod tests;
