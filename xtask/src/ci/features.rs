//! The facade's features.

use std::collections::BTreeSet;

use super::outcome::StepOutcome;
use crate::process;
use crate::result::Result;
use crate::workspace::{FACADE, Workspace};

/// The features of servers and clients, without authorization, extensions and the other capabilities
/// that have a feature of their own.
const CORE_FEATURES: &str = "server,macros,stdio,http,client";
/// The crates of ours that these features compile.
const CORE_CRATES: [&str; 10] = [
    FACADE,
    "omnimcp-client",
    "omnimcp-core",
    "omnimcp-files",
    "omnimcp-macros",
    "omnimcp-schema",
    "omnimcp-server",
    "omnimcp-transport-http",
    "omnimcp-transport-stdio",
    "omnimcp-types",
];

/// Features that need more than one to be of use: what has halves, with one side, and the default set.
/// The extension packages do not depend on each other, so one build checks all of them.
const COMBINATIONS: [&str; 3] = [
    "server,http,stdio,auth,apps,events,skills,tasks",
    "client,http,stdio,auth,apps,events,skills,tasks",
    "default",
];

/// Features, and the packages that a program with them does not compile.
const ABSENT: [(&str, &[&str]); 5] = [
    ("client", &["hyper", "omnimcp-server", "reqwest"]),
    ("client,apps,events,skills,tasks", &["omnimcp-server"]),
    ("server,apps,events,skills,tasks", &["omnimcp-client"]),
    ("default", &["omnimcp-client", "reqwest", "url"]),
    (
        "server,http,auth",
        &["keyring-core", "omnimcp-client", "webbrowser"],
    ),
];

/// Checks the facade with no feature, with each feature alone and with the combinations, and the
/// quickstart without the features that other packages of the workspace enable. Clippy denies warnings in the workspace
/// only; `RUSTFLAGS` would rebuild every dependency.
pub(super) fn run(workspace: &Workspace) -> Result<StepOutcome> {
    let package = workspace.member(FACADE)?;
    let named = package
        .features
        .keys()
        .filter(|name| *name != "default")
        .map(String::as_str);
    for feature in std::iter::once("").chain(named).chain(COMBINATIONS) {
        println!("-- {FACADE} with the features {feature:?}");
        let clippy = format!("clippy --quiet --package {FACADE} --no-default-features");
        let clippy = format!("{clippy} --features {feature} -- -D warnings");
        process::run(&mut workspace.cargo(&clippy))?;
    }
    check_trees(workspace)?;
    println!("-- quickstart alone");
    let quickstart = "clippy --quiet --package examples --bin quickstart -- -D warnings";
    process::run(&mut workspace.cargo(quickstart))?;
    Ok(StepOutcome::Passed)
}

/// Checks that a program compiles nothing of a capability or of a side whose feature it has not.
fn check_trees(workspace: &Workspace) -> Result<()> {
    println!("-- crates of {CORE_FEATURES}");
    let core = tree(workspace, CORE_FEATURES)?;
    let found = ours(&core);
    let expected = BTreeSet::from(CORE_CRATES);
    if found != expected {
        let message = format!("the features {CORE_FEATURES} compile {found:?}, not {expected:?}");
        return Err(message.into());
    }
    for (features, absent) in ABSENT {
        println!("-- packages that {features} does not compile");
        let tree = tree(workspace, features)?;
        let found = packages(&tree).find(|name| absent.contains(name));
        if let Some(name) = found {
            return Err(format!("the features {features} compile {name}").into());
        }
    }
    Ok(())
}

/// Returns the packages that the facade compiles with these features, one `name vVERSION …` per line.
fn tree(workspace: &Workspace, features: &str) -> Result<String> {
    let tree = format!(
        "tree --package {FACADE} --no-default-features --features {features} --edges normal,build"
    );
    process::capture(
        workspace
            .cargo(&tree)
            .args(["--prefix", "none", "--format", "{p}"]),
    )
}

/// Returns the package names in the lines of `cargo tree`.
fn packages(tree: &str) -> impl Iterator<Item = &str> {
    tree.lines().filter_map(|line| line.split(' ').next())
}

/// The crates of this workspace among the lines of `cargo tree`.
fn ours(tree: &str) -> BTreeSet<&str> {
    packages(tree)
        .filter(|name| name.starts_with(FACADE))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspace_crates_are_found_in_a_tree() {
        let tree = "omnimcp v0.1.0 (/mcp)\nbytes v1.0.0\nomnimcp-auth v0.1.0 (/auth) (*)\n\n";
        assert_eq!(ours(tree), BTreeSet::from(["omnimcp", "omnimcp-auth"]));
    }
}
