//! Which crate may depend on which, and where a crate stands.

use std::collections::BTreeSet;

use cargo_metadata::{DependencyKind, Package};

use super::Finding;
use crate::Result;
use crate::process;
use crate::workspace::Workspace;

/// Every edge that there may be inside the workspace. Development dependencies are free.
const LAYERS: [(&str, &[&str]); 13] = [
    ("mcp-types", &[]),
    ("mcp-core", &["mcp-types"]),
    ("mcp-server", &["mcp-core", "mcp-types"]),
    ("mcp-client", &["mcp-core", "mcp-types"]),
    ("mcp-transport-http", &["mcp-core", "mcp-types"]),
    ("mcp-transport-stdio", &["mcp-core", "mcp-types"]),
    ("mcp-macros", &[]),
    (
        "mcp",
        &[
            "mcp-types",
            "mcp-core",
            "mcp-server",
            "mcp-client",
            "mcp-transport-http",
            "mcp-transport-stdio",
            "mcp-macros",
        ],
    ),
    (
        "mcp-testing",
        &["mcp", "mcp-types", "mcp-core", "mcp-server", "mcp-client"],
    ),
    ("conformance", &["mcp", "mcp-testing"]),
    ("examples", &["mcp", "mcp-testing"]),
    ("bench", &["mcp", "mcp-testing"]),
    ("xtask", &[]),
];

/// Crates that run on any runtime, or on none.
const WITHOUT_RUNTIME: [&str; 3] = ["mcp-types", "mcp-core", "mcp-server"];
const RUNTIME: &str = "tokio";

const TABLE: &str = "the table in xtask/src/tidy/layers.rs (and ARCHITECTURE.md)";

pub(crate) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let members = workspace.members();
    let names: BTreeSet<&str> = members
        .iter()
        .map(|package| package.name.as_str())
        .collect();
    let mut findings = Vec::new();
    for package in &members {
        findings.extend(edges(package.name.as_str(), &internal(package, &names)));
        findings.extend(place(workspace, package));
    }
    findings.extend(strays(workspace, &names)?);
    for package in WITHOUT_RUNTIME {
        findings.extend(runtime(package, &normal_tree(workspace, package)?));
    }
    Ok(findings)
}

/// The members that a package depends on, other than for development.
fn internal(package: &Package, members: &BTreeSet<&str>) -> Vec<String> {
    let used = package.dependencies.iter().filter(|dependency| {
        dependency.kind != DependencyKind::Development
            && dependency.path.is_some()
            && members.contains(dependency.name.as_str())
    });
    used.map(|dependency| dependency.name.clone()).collect()
}

fn edges(package: &str, used: &[String]) -> Vec<Finding> {
    let manifest = format!("{package}/Cargo.toml");
    let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == package) else {
        let message = format!("{package} has no layer yet; give it a row in {TABLE}");
        return vec![Finding::new(&manifest, 1, message)];
    };
    let refused = used.iter().filter(|name| !allowed.contains(&name.as_str()));
    let finding = |name: &String| {
        let allowed = if allowed.is_empty() {
            "no member".to_owned()
        } else {
            allowed.join(", ")
        };
        let message = format!(
            "{package} must not depend on {name} (it may use: {allowed}); move the code to a layer \
             that both may see, or change {TABLE}"
        );
        Finding::new(&manifest, 1, message)
    };
    refused.map(finding).collect()
}

/// A member is a folder at the top of the repository that has its name.
fn place(workspace: &Workspace, package: &Package) -> Option<Finding> {
    let expected = workspace
        .root()
        .join(package.name.as_str())
        .join("Cargo.toml");
    let found = package.manifest_path.as_std_path();
    let path = found.strip_prefix(workspace.root()).unwrap_or(found);
    let message = format!(
        "package {} is not in the folder {} at the top of the repository; move it there",
        package.name, package.name
    );
    (found != expected).then(|| Finding::new(&path.to_string_lossy(), 1, message))
}

/// The fuzz targets are a workspace of their own, so that no other command builds them.
const APART: &str = "fuzz";

/// Folders at the top that are packages but not members.
fn strays(workspace: &Workspace, members: &BTreeSet<&str>) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for entry in std::fs::read_dir(workspace.root())? {
        let entry = entry?;
        let folder = entry.file_name().to_string_lossy().into_owned();
        let known = members.contains(folder.as_str()) || folder == APART;
        if entry.path().join("Cargo.toml").is_file() && !known {
            let message = format!("no workspace member is called {folder}; add it to `members`");
            findings.push(Finding::new(&format!("{folder}/Cargo.toml"), 1, message));
        }
    }
    Ok(findings)
}

/// All that a package needs when it is built with every feature, one `name vVERSION …` per line.
fn normal_tree(workspace: &Workspace, package: &str) -> Result<String> {
    let mut tree = workspace.cargo();
    tree.args(["tree", "--quiet", "--edges", "normal", "--prefix", "none"]);
    tree.args(["--all-features", "--format", "{p}", "--package", package]);
    process::capture(&mut tree)
}

/// Looks for the runtime in such a tree.
fn runtime(package: &str, tree: &str) -> Option<Finding> {
    let found = tree
        .lines()
        .any(|line| line.split(' ').next() == Some(RUNTIME));
    let message = format!(
        "{package} reaches {RUNTIME}; `cargo tree -p {package} -i {RUNTIME} --all-features` shows how"
    );
    found.then(|| Finding::new(&format!("{package}/Cargo.toml"), 1, message))
}

#[cfg(test)]
mod tests {
    use super::{LAYERS, Workspace, edges, internal, normal_tree, runtime};

    fn used(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn allows_exactly_the_edges_of_the_table() {
        assert!(edges("mcp-core", &used(&["mcp-types"])).is_empty());
        assert!(edges("mcp", &used(&["mcp-client", "mcp-server"])).is_empty());
        let sideways = edges("mcp-transport-http", &used(&["mcp-core", "mcp-server"]));
        assert_eq!(sideways.len(), 1);
        assert!(
            sideways[0]
                .to_string()
                .contains("must not depend on mcp-server")
        );
        assert_eq!(edges("mcp-types", &used(&["mcp-core"])).len(), 1);
        assert_eq!(edges("examples", &used(&["mcp-core", "mcp"])).len(), 1);
    }

    #[test]
    fn a_crate_without_a_layer_is_a_finding() {
        assert!(
            edges("mcp-new", &[])[0]
                .to_string()
                .contains("has no layer yet")
        );
    }

    #[test]
    fn the_table_has_no_cycle_and_names_only_its_own_rows() {
        for (at, (name, allowed)) in LAYERS.iter().enumerate() {
            for below in *allowed {
                let row = LAYERS.iter().position(|(row, _)| row == below);
                assert!(row.is_some_and(|row| row < at), "{name} -> {below}");
            }
        }
    }

    #[test]
    fn reads_the_edges_that_there_are() {
        let workspace = Workspace::find().unwrap();
        let members = workspace.members();
        let names = members
            .iter()
            .map(|package| package.name.as_str())
            .collect();
        let core = workspace.member("mcp-core").unwrap();
        assert_eq!(internal(core, &names), ["mcp-types"]);
        let tree = normal_tree(&workspace, "mcp-core").unwrap();
        let packages = tree.lines().filter_map(|line| line.split(' ').next());
        assert!(
            packages.into_iter().any(|name| name == "mcp-types"),
            "{tree}"
        );
    }

    #[test]
    fn sees_the_runtime_in_a_tree() {
        let clean = "mcp-core v0.1.0 (path)\nhttp v1.4.0\ntokio-util v0.7.0\n";
        assert_eq!(runtime("mcp-core", clean), None);
        assert!(runtime("mcp-core", &format!("{clean}tokio v1.49.0\n")).is_some());
    }
}
