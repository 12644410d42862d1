//! `cargo xtask schemas`: tests with every schema of the JSON-Schema-Test-Suite.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process;
use crate::result::Result;
use crate::workspace::Workspace;

/// The Python package whose source archive contains the suite. The npm package of the suite would fetch it from
/// its repository.
const PACKAGE: &str = "jsonschema";
const VERSION: &str = "4.25.1";

/// The packages with such a test: one with `suite` in its name, in the integration tests.
const TESTED: [&str; 3] = [
    "--package omnimcp-schema",
    "--package omnimcp-gen",
    "--package omnimcp-core --features json-schema",
];

/// Arguments of `schemas`.
#[derive(Debug, clap::Args)]
pub(crate) struct SchemasArgs {
    /// This folder with tests, not the package from PyPI
    #[arg(long, value_name = "FOLDER")]
    suite: Option<PathBuf>,
}

/// Runs the command. Returns true if the test has passed.
pub(crate) fn run(workspace: &Workspace, args: SchemasArgs) -> Result<bool> {
    let suite = match args.suite {
        Some(suite) => suite.canonicalize()?,
        None => install(workspace)?,
    };
    check(workspace, &suite)?;
    Ok(true)
}

/// Downloads the suite, unless it is there already. Returns its folder.
pub(crate) fn install(workspace: &Workspace) -> Result<PathBuf> {
    let home = workspace.target().join("schemas");
    let suite = home.join(format!("{PACKAGE}-{VERSION}/json/tests"));
    if suite.is_dir() {
        return Ok(suite);
    }
    fs::create_dir_all(&home)?;
    // The pip of the system may refuse to work outside an environment.
    let environment = home.join("environment");
    let mut python = Command::new("python3");
    process::run(python.args(["-m", "venv"]).arg(&environment))?;
    let mut download = Command::new(environment.join("bin/pip"));
    download.args(["download", "--quiet", "--no-deps", "--no-binary", PACKAGE]);
    download.arg(format!("{PACKAGE}=={VERSION}"));
    process::run(download.arg("--dest").arg(&home))?;
    let mut tar = Command::new("tar");
    tar.arg("-xzf")
        .arg(home.join(format!("{PACKAGE}-{VERSION}.tar.gz")));
    process::run(tar.arg("-C").arg(&home))?;
    if suite.is_dir() {
        Ok(suite)
    } else {
        Err(format!("{PACKAGE} {VERSION} has no suite at {}", suite.display()).into())
    }
}

/// Runs the tests with the suite, package by package: one that fails names itself.
pub(crate) fn check(workspace: &Workspace, suite: &Path) -> Result<()> {
    for package in TESTED {
        let test =
            format!("test --quiet {package} --test it -- suite --include-ignored --nocapture");
        process::run(workspace.cargo(&test).env("JSON_SCHEMA_SUITE", suite))?;
    }
    Ok(())
}
