//! The features of the facade.

use std::collections::BTreeSet;

use super::outcome::StepOutcome;
use crate::workspace::{FACADE, Workspace};
use crate::{Result, process};

/// The features of servers and clients, without authorization, extensions and the other capabilities
/// that have a feature of their own.
const CORE_FEATURES: &str = "server,macros,stdio,http-server,client,http-client";
/// The crates of ours that these features compile.
const CORE_CRATES: [&str; 8] = [
    FACADE,
    "omnimcp-client",
    "omnimcp-core",
    "omnimcp-macros",
    "omnimcp-server",
    "omnimcp-transport-http",
    "omnimcp-transport-stdio",
    "omnimcp-types",
];

/// Checks the facade with no feature and with each feature alone, and the quickstart without the
/// features that other packages of the workspace enable. Clippy denies warnings in the workspace
/// only; `RUSTFLAGS` would rebuild every dependency.
pub(super) fn run(workspace: &Workspace) -> Result<StepOutcome> {
    let package = workspace.member(FACADE)?;
    let named = package
        .features
        .keys()
        .filter(|name| *name != "default")
        .map(String::as_str);
    for feature in std::iter::once("").chain(named) {
        println!(
            "-- {FACADE} with {}",
            if feature.is_empty() {
                "no feature"
            } else {
                feature
            }
        );
        let mut command = workspace.cargo();
        command.args([
            "clippy",
            "--quiet",
            "--package",
            FACADE,
            "--no-default-features",
        ]);
        process::run(command.args(["--features", feature, "--", "-D", "warnings"]))?;
    }
    check_core(workspace)?;
    println!("-- quickstart alone");
    let quickstart = [
        "clippy",
        "--quiet",
        "--package",
        "examples",
        "--bin",
        "quickstart",
    ];
    process::run(
        workspace
            .cargo()
            .args(quickstart)
            .args(["--", "-D", "warnings"]),
    )?;
    Ok(StepOutcome::Passed)
}

/// Checks that a program without the feature of a capability compiles nothing of it.
fn check_core(workspace: &Workspace) -> Result<()> {
    println!("-- crates of {CORE_FEATURES}");
    let mut command = workspace.cargo();
    command.args(["tree", "--package", FACADE, "--no-default-features"]);
    command.args(["--features", CORE_FEATURES, "--edges", "normal,build"]);
    let tree = process::capture(command.args(["--prefix", "none", "--format", "{p}"]))?;
    let found = ours(&tree);
    let expected = BTreeSet::from(CORE_CRATES);
    if found == expected {
        return Ok(());
    }
    Err(format!("the features {CORE_FEATURES} compile {found:?}, not {expected:?}").into())
}

/// The crates of this workspace among the lines of `cargo tree`.
fn ours(tree: &str) -> BTreeSet<&str> {
    let names = tree.lines().filter_map(|line| line.split(' ').next());
    names.filter(|name| name.starts_with(FACADE)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_of_the_workspace_are_found_in_a_tree() {
        let tree = "omnimcp v0.1.0 (/mcp)\nbytes v1.0.0\nomnimcp-auth v0.1.0 (/auth) (*)\n\n";
        assert_eq!(ours(tree), BTreeSet::from(["omnimcp", "omnimcp-auth"]));
    }
}
