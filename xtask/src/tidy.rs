//! `cargo xtask tidy`: the rules of this repository that the compiler does not know. Each rule is a
//! module with a function from source files to findings. A finding has the file, the line, the
//! problem and the remedy.
//!
//! | module | rule |
//! |---|---|
//! | [`language`] | no negation with "no", chains of three "of", and closures with `it` |
//! | [`layers`] | allowed dependencies between crates; folder names; no tokio below the transports |
//! | [`cycles`] | no circles of modules within a crate |
//! | [`doc_comments`] | doc comments begin with a noun phrase or a third-person verb |
//! | [`examples`] | examples import from `mcp` and compile |
//! | [`versions`] | protocol versions and eras are compared in three places only |
//! | [`literals`] | method names, header names, error codes and `_meta` keys are constants |
//! | [`publishing`] | metadata and exact versions of the published packages |
//! | [`links`] | documents name only files that exist |
//! | [`spec_ids`] | `// spec:` comments name requirements that exist |
//! | [`unfinished`] | module docs at every file's top; no leftovers |
//! | [`sizes`] | files have at most 600 code lines |

mod cycles;
mod doc_comments;
mod examples;
mod language;
mod layers;
mod links;
mod literals;
mod publishing;
#[cfg(test)]
mod samples;
mod sizes;
mod spec_ids;
mod unfinished;
mod versions;

use crate::Result;
use crate::finding::Finding;
use crate::sources::Sources;
use crate::workspace::Workspace;

/// The findings of a rule about source files.
type Rule = fn(&Sources) -> Vec<Finding>;

const RULES: [Rule; 10] = [
    cycles::check,
    doc_comments::check,
    examples::check,
    language::check,
    links::check,
    literals::check,
    sizes::check,
    spec_ids::check,
    unfinished::check,
    versions::check,
];

/// The result of all rules.
#[derive(Debug, Default)]
struct Report {
    findings: Vec<Finding>,
    /// The number of files.
    files: usize,
}

/// Runs the command. Returns true if there are no findings.
pub(crate) fn run(workspace: &Workspace) -> Result<bool> {
    let report = check(workspace)?;
    for finding in &report.findings {
        println!("{finding}");
    }
    println!(
        "tidy: {} findings in {} files",
        report.findings.len(),
        report.files
    );
    Ok(report.findings.is_empty())
}

/// Applies every rule to the repository.
fn check(workspace: &Workspace) -> Result<Report> {
    let sources = Sources::read(workspace.root())?;
    let mut report = check_sources(&sources);
    report.findings.extend(layers::check(workspace)?);
    report.findings.extend(publishing::check(workspace));
    report.findings.sort();
    Ok(report)
}

fn check_sources(sources: &Sources) -> Report {
    let mut report = Report {
        findings: sources.unreadable().to_vec(),
        files: sources.texts().len(),
    };
    for rule in RULES {
        report.findings.extend(rule(sources));
    }
    report
}

#[cfg(test)]
mod tests;
