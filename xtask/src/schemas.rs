//! `cargo xtask schemas`: the generator of typed code on every schema of the JSON-Schema-Test-Suite.

use std::path::{Path, PathBuf};

use crate::Result;
use crate::flags::Flags;
use crate::node::Packages;
use crate::process;
use crate::workspace::Workspace;

/// The npm package of the suite. It fetches the suite from its repository, so npm needs git.
const PACKAGE: (&str, &str) = ("@json-schema-org/tests", "2.0.0");
/// The folder of the suite, from the folder of the package.
const FOLDER: &str = "../../json-schema-test-suite/tests";

/// Runs the command. Returns true if the test has passed.
pub(crate) fn run(workspace: &Workspace, mut flags: Flags) -> Result<bool> {
    let suite = flags.value::<PathBuf>("--suite")?;
    flags.finish()?;
    let suite = match suite {
        Some(suite) => suite.canonicalize()?,
        None => install(workspace)?,
    };
    check(workspace, &suite)?;
    Ok(true)
}

/// Installs the suite, unless it is installed already. Returns its folder.
pub(crate) fn install(workspace: &Workspace) -> Result<PathBuf> {
    let packages = Packages::install(&workspace.target().join("schemas"), &[PACKAGE])?;
    let folder = packages.file(PACKAGE.0, FOLDER);
    match folder.is_dir() {
        true => Ok(folder),
        false => Err(format!("{} has no suite at {}", PACKAGE.0, folder.display()).into()),
    }
}

/// Runs the test of the generator with the suite.
pub(crate) fn check(workspace: &Workspace, suite: &Path) -> Result<()> {
    let mut test = workspace.cargo();
    test.args([
        "test",
        "--quiet",
        "--package",
        "omnimcp-gen",
        "--test",
        "it",
    ]);
    test.args(["--", "suite", "--include-ignored", "--nocapture"]);
    process::run(test.env("JSON_SCHEMA_SUITE", suite))
}
