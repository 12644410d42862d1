//! Rule: crates form layers. The table lists every dependency that is allowed inside the workspace;
//! a crate is a folder at the repository's top, or in a group there; tokio is for the transports.

use std::collections::BTreeSet;
use std::path::Path;

use cargo_metadata::{DependencyKind, Package};

use crate::finding::Finding;
use crate::process;
use crate::result::Result;
use crate::sources::{GROUPS, package};
use crate::workspace::{PREFIX, Workspace, folder_of};

/// The allowed dependencies inside the workspace, by folder. Development dependencies are not
/// restricted.
const LAYERS: &str = "\
mcp-types:
mcp-files:
mcp-schema:
mcp-core: mcp-schema mcp-types
mcp-server: mcp-core mcp-schema mcp-types
mcp-transport-http: mcp-core mcp-types
mcp-auth: mcp-core mcp-files mcp-transport-http mcp-types
mcp-transport-stdio: mcp-core mcp-types
mcp-client: mcp-auth mcp-core mcp-files mcp-schema mcp-transport-http mcp-transport-stdio mcp-types
mcp-tasks: mcp-core mcp-types
mcp-telemetry: mcp-core mcp-types
mcp-gen: mcp-client mcp-schema mcp-types
mcp-skills: mcp-client mcp-core mcp-server mcp-types
mcp-toolset: mcp-client mcp-core mcp-schema mcp-types
mcp-apps: mcp-core mcp-server mcp-client mcp-types
mcp-events: mcp-core mcp-server mcp-client mcp-transport-http mcp-types
mcp-gateway: mcp-auth mcp-client mcp-core mcp-files mcp-schema mcp-server mcp-toolset mcp-types
mcp-redis: mcp-core mcp-events mcp-types
mcp-macros:
mcp: mcp-types mcp-core mcp-server mcp-client mcp-auth mcp-tasks mcp-telemetry mcp-skills \
    mcp-toolset mcp-apps mcp-gen mcp-events mcp-gateway mcp-transport-http mcp-transport-stdio \
    mcp-redis mcp-macros
mcp-testing: mcp mcp-types mcp-core mcp-files mcp-schema mcp-server mcp-client
mcp-cli: mcp mcp-files mcp-testing
conformance: mcp mcp-testing
examples: mcp mcp-testing
templates: mcp mcp-testing
bench: mcp mcp-testing
fuzz: mcp-types mcp-core mcp-schema mcp-server mcp-client mcp-auth mcp-toolset mcp-gen mcp-gateway \
    mcp-testing mcp-transport-http mcp-transport-stdio
xtask:
";

/// Crates that work with any async runtime.
const WITHOUT_RUNTIME: [&str; 3] = ["mcp-types", "mcp-core", "mcp-server"];
const RUNTIME: &str = "tokio";

const TABLE: &str = "the table in xtask/src/tidy/layers.rs";

pub(crate) fn check(workspace: &Workspace) -> Result<Vec<Finding>> {
    let members = workspace.members();
    let folders: BTreeSet<&str> = members
        .iter()
        .map(|package| folder_of(&package.name))
        .collect();
    let mut findings = Vec::new();
    for package in &members {
        let used = internal(package, &folders);
        findings.extend(edges(&workspace.path_of(package), &used));
        findings.extend(folder(workspace, package));
    }
    findings.extend(packages_outside(workspace, &folders)?);
    for package in WITHOUT_RUNTIME {
        let package = format!("{PREFIX}{package}");
        findings.extend(runtime(&package, &normal_tree(workspace, &package)?));
    }
    Ok(findings)
}

/// The table's rows: a folder, and those that it may depend on.
fn layers() -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    let rows = LAYERS.lines().filter_map(|row| row.split_once(':'));
    rows.map(|(folder, allowed)| (folder, allowed.split_whitespace().collect()))
}

/// Returns true if `user` is `used`, or may depend on it through other crates.
pub(crate) fn may_use(user: &str, used: &str) -> bool {
    let mut rows = layers().filter(|(folder, _)| *folder == user);
    user == used || rows.any(|(_, allowed)| allowed.iter().any(|next| may_use(next, used)))
}

/// The folders of the members that a package depends on, without development dependencies.
fn internal(package: &Package, members: &BTreeSet<&str>) -> Vec<String> {
    let used = package.dependencies.iter().filter(|dependency| {
        dependency.kind != DependencyKind::Development
            && dependency.path.is_some()
            && members.contains(folder_of(&dependency.name))
    });
    used.map(|dependency| folder_of(&dependency.name).to_owned())
        .collect()
}

fn edges(folder: &str, used: &[String]) -> Vec<Finding> {
    let manifest = format!("{folder}/Cargo.toml");
    let package = package(folder);
    let Some((_, allowed)) = layers().find(|(name, _)| *name == package) else {
        let message = format!("{package} has no layer; add a row to {TABLE}");
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
            "{package} must not depend on {name} (allowed: {allowed}); move the code to a lower \
             layer, or change {TABLE}"
        );
        Finding::new(&manifest, 1, message)
    };
    refused.map(finding).collect()
}

/// Checks that the folder of a member has its name without the prefix, and is at the repository's top or in a group.
fn folder(workspace: &Workspace, package: &Package) -> Option<Finding> {
    let (path, name) = (workspace.path_of(package), folder_of(&package.name));
    let is_in_place = match path.split_once('/') {
        Some((group, folder)) => folder == name && GROUPS.contains(&group),
        None => path == name,
    };
    let message = format!(
        "package {} is not in a folder {name} at the repository's top, or in one of {}; move it there",
        package.name,
        GROUPS.join(", ")
    );
    (!is_in_place).then(|| Finding::new(&format!("{path}/Cargo.toml"), 1, message))
}

/// Checks that every package at the repository's top and in its groups is a member.
fn packages_outside(workspace: &Workspace, members: &BTreeSet<&str>) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for parent in GROUPS.into_iter().chain([""]) {
        for entry in std::fs::read_dir(workspace.root().join(parent))? {
            let entry = entry?;
            let folder = entry.file_name().to_string_lossy().into_owned();
            let known = members.contains(folder.as_str());
            if entry.path().join("Cargo.toml").is_file() && !known {
                let path = Path::new(parent).join(&folder).join("Cargo.toml");
                let message = format!(
                    "{folder} is not a workspace member; add it to `members` in Cargo.toml"
                );
                findings.push(Finding::new(&path.to_string_lossy(), 1, message));
            }
        }
    }
    Ok(findings)
}

/// The dependencies of a package with all features, direct and indirect, one `name vVERSION …` per
/// line.
fn normal_tree(workspace: &Workspace, package: &str) -> Result<String> {
    let tree = "tree --quiet --edges normal --prefix none --all-features --format {p} --package";
    process::capture(workspace.cargo(tree).arg(package))
}

/// Searches the runtime in the output of [`normal_tree`].
fn runtime(package: &str, tree: &str) -> Option<Finding> {
    let found = tree
        .lines()
        .any(|line| line.split(' ').next() == Some(RUNTIME));
    let folder = folder_of(package);
    let message = format!(
        "{package} depends on {RUNTIME}; `cargo tree -p {package} -i {RUNTIME} --all-features` shows how"
    );
    found.then(|| Finding::new(&format!("{folder}/Cargo.toml"), 1, message))
}

#[cfg(test)]
mod tests {
    use super::{Workspace, edges, folder_of, internal, layers, normal_tree, runtime};

    fn used(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn only_edges_in_the_table_are_allowed() {
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
    fn crate_without_layer_is_a_finding() {
        assert!(
            edges("mcp-new", &[])[0]
                .to_string()
                .contains("has no layer")
        );
    }

    #[test]
    fn table_has_no_cycle_and_names_only_its_own_rows() {
        assert_eq!(layers().count(), 28);
        for (at, (name, allowed)) in layers().enumerate() {
            for below in allowed {
                let row = layers().position(|(row, _)| row == below);
                assert!(row.is_some_and(|row| row < at), "{name} -> {below}");
            }
        }
    }

    #[test]
    fn dependencies_are_read_from_cargo_metadata() {
        let workspace = Workspace::find().unwrap();
        let members = workspace.members();
        let names = members
            .iter()
            .map(|package| folder_of(&package.name))
            .collect();
        let core = workspace.member("omnimcp-core").unwrap();
        assert_eq!(internal(core, &names), ["mcp-schema", "mcp-types"]);
        let tree = normal_tree(&workspace, "omnimcp-core").unwrap();
        let packages = tree.lines().filter_map(|line| line.split(' ').next());
        assert!(
            packages.into_iter().any(|name| name == "omnimcp-types"),
            "{tree}"
        );
    }

    #[test]
    fn runtime_in_a_tree_is_a_finding() {
        let clean = "omnimcp-core v0.1.0 (path)\nhttp v1.4.0\ntokio-util v0.7.0\n";
        assert_eq!(runtime("omnimcp-core", clean), None);
        assert!(runtime("omnimcp-core", &format!("{clean}tokio v1.49.0\n")).is_some());
    }
}
