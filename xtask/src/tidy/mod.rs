//! The rules of this repository that the compiler does not know. Each rule is a module with a
//! function from sources to findings; a finding says where it is and how to mend it.
//!
//! | module | rule |
//! |---|---|
//! | [`layers`] | which crate may depend on which; folder names; no tokio below the transports |
//! | [`versions`] | protocol versions and eras are compared in three places only |
//! | [`literals`] | method names, header names, error codes and `_meta` keys have one home each |
//! | [`messages`] | every text of an error is explained in the guide |
//! | [`paths`] | documents name files that are there |
//! | [`texts`] | module docs, `// spec:` ids, machine paths, leftovers |
//! | [`sizes`] | long files and functions (a report, never a failure) |

mod layers;
mod literals;
mod messages;
mod paths;
mod sizes;
pub(crate) mod source;
mod texts;
mod versions;

#[cfg(test)]
mod tests;

use std::fmt;

use source::Sources;

use crate::Result;
use crate::workspace::Workspace;

/// One breach of a rule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    line: usize,
    message: String,
}

impl Finding {
    fn new(path: &str, line: usize, message: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            line,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.path, self.line, self.message)
    }
}

/// What tidy has to say about the repository.
#[derive(Debug)]
pub(crate) struct Report {
    /// Breaches, which fail the command.
    findings: Vec<Finding>,
    /// Remarks, which do not.
    remarks: Vec<Finding>,
    /// How many files were read.
    files: usize,
}

/// `cargo xtask tidy`; whether the repository is tidy.
pub(crate) fn run(workspace: &Workspace) -> Result<bool> {
    let report = check(workspace)?;
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
    Ok(report.findings.is_empty())
}

/// Applies every rule to the repository.
pub(crate) fn check(workspace: &Workspace) -> Result<Report> {
    let sources = Sources::read(workspace.root())?;
    let mut findings = sources.unreadable().to_vec();
    findings.extend(layers::check(workspace)?);
    findings.extend(versions::check(&sources));
    findings.extend(literals::check(&sources));
    findings.extend(messages::check(&sources));
    findings.extend(paths::check(&sources));
    findings.extend(texts::check(&sources));
    findings.sort();
    Ok(Report {
        findings,
        remarks: sizes::check(&sources),
        files: sources.count(),
    })
}
