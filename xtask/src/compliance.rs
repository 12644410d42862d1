//! `cargo xtask compliance`: each requirement of the specification with the code that follows it and
//! the tests that prove it, from the `// spec:` comments of both.
//!
//! The page `docs/spec/compliance.md` is compared, as a list of public items is: an id that loses its
//! test changes the page, and a MUST without code, test or reason is a finding in any case. The same
//! table with line numbers is in `target/doc/compliance.json`.
//!
//! | module | responsibility |
//! |---|---|
//! | [`requirements`] | the checklist, and the reasons why a requirement does not apply |
//! | [`marks`] | the `// spec:` comments, with the test that contains each of them |
//! | [`table`] | the places of each requirement, and what is missing |
//! | [`report`] | the page and the JSON file |

mod marks;
mod report;
mod requirements;
mod table;

use std::fs;

use report::PAGE;
use table::Compliance;

use crate::result::Result;
use crate::sources::Sources;
use crate::workspace::Workspace;

const JSON: &str = "compliance.json";

/// Runs the command. Returns true if there are no findings and the page is up to date; `update`
/// writes it.
pub(crate) fn run(workspace: &Workspace, update: bool) -> Result<bool> {
    let sources = Sources::read(workspace.root())?;
    let compliance = Compliance::read(&sources);
    let findings = compliance.findings();
    for finding in &findings {
        println!("{finding}");
    }
    let folder = workspace.target().join("doc");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(JSON), report::json(&compliance)?)?;
    println!("{}", report::totals(&compliance).replace("**", ""));
    let page = report::page(&compliance);
    let file = workspace.root().join(PAGE);
    if update {
        fs::write(&file, page)?;
    } else if fs::read_to_string(&file).unwrap_or_default() != page {
        println!(
            "{PAGE} differs from the `// spec:` comments; read what has changed, then run \
             `cargo xtask compliance --update`"
        );
        return Ok(false);
    }
    Ok(findings.is_empty())
}

#[cfg(test)]
mod tests;
