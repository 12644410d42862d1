//! `cargo xtask tidy`: the rules of this repository that the compiler does not know. Each rule is a
//! module with a function from source files to findings. A finding has the file, the line, the
//! problem and the remedy.
//!
//! | module | rule |
//! |---|---|
//! | [`layers`] | allowed dependencies between crates; folder names; no tokio below the transports |
//! | [`cycles`] | no circles of modules within a crate |
//! | [`layout`] | `foo.rs` and `foo/`, no `mod.rs`; no folder that holds only `tests.rs` |
//! | [`names`] | no retired names for types and modules |
//! | [`duplicates`] | no two types of one name in a crate |
//! | [`doc_comments`] | doc comments begin with a noun phrase or a third-person verb |
//! | [`error_sections`] | public functions that return `Result` have a section `# Errors` |
//! | [`inlining`] | few `#[inline]` attributes |
//! | [`versions`] | protocol versions and eras are compared in three places only |
//! | [`literals`] | method names, header names, error codes and `_meta` keys are constants |
//! | [`messages`] | the guide explains every error message |
//! | [`links`] | documents name only files that exist |
//! | [`spec_ids`] | `// spec:` comments name requirements that exist |
//! | [`unfinished`] | module docs at the top of every file; no leftovers |
//! | [`sizes`] | long files and functions (a remark, never a failure) |
//! | [`commits`] | short commit subjects (`--commits BASE`) |

mod commits;
mod cycles;
mod doc_comments;
mod duplicates;
mod error_sections;
mod inlining;
mod layers;
mod layout;
mod links;
mod literals;
mod messages;
mod names;
mod pending;
#[cfg(test)]
mod samples;
mod sizes;
mod spec_ids;
mod unfinished;
mod versions;

use std::collections::BTreeMap;

use crate::Result;
use crate::finding::Finding;
use crate::flags::Flags;
use crate::sources::{Sources, package};
use crate::workspace::Workspace;

/// A rule about source files.
struct Rule {
    /// The name in [`pending`].
    name: &'static str,
    check: fn(&Sources) -> Vec<Finding>,
}

const RULES: [Rule; 12] = [
    Rule {
        name: "cycles",
        check: cycles::check,
    },
    Rule {
        name: "doc_comments",
        check: doc_comments::check,
    },
    Rule {
        name: "duplicates",
        check: duplicates::check,
    },
    Rule {
        name: "error_sections",
        check: error_sections::check,
    },
    Rule {
        name: "layout",
        check: layout::check,
    },
    Rule {
        name: "links",
        check: links::check,
    },
    Rule {
        name: "literals",
        check: literals::check,
    },
    Rule {
        name: "messages",
        check: messages::check,
    },
    Rule {
        name: "names",
        check: names::check,
    },
    Rule {
        name: "spec_ids",
        check: spec_ids::check,
    },
    Rule {
        name: "unfinished",
        check: unfinished::check,
    },
    Rule {
        name: "versions",
        check: versions::check,
    },
];

/// The rule about `#[inline]` counts over all crates, so it has a signature of its own.
const INLINING: &str = "inlining";

/// The result of all rules.
#[derive(Debug, Default)]
struct Report {
    /// Findings that fail the command.
    findings: Vec<Finding>,
    /// Findings in crates that are still pending for the rule, with the name of the rule.
    pending: Vec<(&'static str, Finding)>,
    /// Remarks, which do not fail the command.
    remarks: Vec<Finding>,
    /// The number of files.
    files: usize,
}

/// Runs the command. Returns true if there are no findings.
pub(crate) fn run(workspace: &Workspace, mut flags: Flags) -> Result<bool> {
    let base: Option<String> = flags.value("--commits")?;
    let pending = flags.optional_value("--pending");
    flags.finish()?;
    if let Some(base) = base {
        return commits::run(workspace, &base);
    }
    let report = check(workspace)?;
    if let Some(package) = pending {
        report.print_pending(&package);
        return Ok(true);
    }
    for remark in &report.remarks {
        println!("remark: {remark}");
    }
    for finding in &report.findings {
        println!("{finding}");
    }
    println!(
        "tidy: {} findings in {} files",
        report.findings.len(),
        report.files
    );
    if !report.pending.is_empty() {
        println!(
            "tidy: {} findings in crates that xtask/src/tidy/pending.rs lists; \
             `cargo xtask tidy --pending CRATE` prints them",
            report.pending.len()
        );
    }
    Ok(report.findings.is_empty())
}

/// Applies every rule to the repository.
fn check(workspace: &Workspace) -> Result<Report> {
    let sources = Sources::read(workspace.root())?;
    let mut report = check_sources(&sources);
    report.findings.extend(layers::check(workspace)?);
    report.findings.sort();
    Ok(report)
}

fn check_sources(sources: &Sources) -> Report {
    let mut report = Report {
        findings: sources.unreadable().to_vec(),
        remarks: sizes::check(sources),
        files: sources.count(),
        ..Report::default()
    };
    for rule in &RULES {
        for finding in (rule.check)(sources) {
            if pending::contains(rule.name, package(&finding.path)) {
                report.pending.push((rule.name, finding));
            } else {
                report.findings.push(finding);
            }
        }
    }
    let inlining = inlining::check(sources, |package| pending::contains(INLINING, package));
    report.findings.extend(inlining);
    for (rule, package) in pending::entries() {
        if rule != INLINING && !report.is_pending(rule, package) {
            let message = format!("{package} passes `{rule}`; remove the rule from its row");
            report
                .remarks
                .push(Finding::new("xtask/src/tidy/pending.rs", 1, message));
        }
    }
    report.pending.sort();
    report
}

impl Report {
    fn is_pending(&self, rule: &str, in_package: &str) -> bool {
        let mut pending = self.pending.iter();
        pending.any(|(name, finding)| *name == rule && package(&finding.path) == in_package)
    }

    /// Prints the findings of a package; without a package, their numbers.
    fn print_pending(&self, only: &str) {
        let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for (rule, finding) in &self.pending {
            let package = package(&finding.path);
            if package == only {
                println!("{rule}: {finding}");
            }
            if only.is_empty() || package == only {
                *counts.entry((package, rule)).or_default() += 1;
            }
        }
        for ((package, rule), count) in counts {
            println!("{count:5} {package:20} {rule}");
        }
    }
}

#[cfg(test)]
mod tests;
