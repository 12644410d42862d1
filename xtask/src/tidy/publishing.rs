//! Rule: every published package has the metadata that the registry shows, and depends on the exact
//! version of the stable packages.

use cargo_metadata::{Dependency, DependencyKind, Package};

use crate::finding::Finding;
use crate::workspace::{self, Workspace};

/// The packages that are released together, in folders of these names. All others are unstable, and
/// have versions of their own.
const STABLE: [&str; 10] = [
    "mcp",
    "mcp-auth",
    "mcp-client",
    "mcp-core",
    "mcp-macros",
    "mcp-server",
    "mcp-tasks",
    "mcp-transport-http",
    "mcp-transport-stdio",
    "mcp-types",
];

pub(crate) fn check(workspace: &Workspace) -> Vec<Finding> {
    let published = workspace.published();
    let mut findings = Vec::new();
    for package in &published {
        let manifest = format!("{}/Cargo.toml", workspace::folder_of(&package.name));
        let mut report = |message: String| findings.push(Finding::new(&manifest, 1, message));
        for (field, is_set) in fields(package) {
            if !is_set {
                report(format!("{} has no `{field}`; add it", package.name));
            }
        }
        for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
            let path = package.manifest_path.with_file_name(file);
            if !path.is_file() {
                report(format!("{} has no file {file}; add it", package.name));
            }
        }
        for dependency in &package.dependencies {
            let other = published
                .iter()
                .find(|package| *package.name == *dependency.name);
            let Some(other) = other else { continue };
            let required = requirement(&other.name, &other.version.to_string());
            if !accepts(dependency, &required) {
                report(format!(
                    "{} depends on {} {}; depend on `{required}`",
                    package.name, dependency.name, dependency.req
                ));
            }
        }
    }
    findings
}

/// The fields that a package needs, and whether it has them.
fn fields(package: &Package) -> [(&'static str, bool); 5] {
    [
        ("description", package.description.is_some()),
        ("license", package.license.is_some()),
        ("rust-version", package.rust_version.is_some()),
        ("keywords", !package.keywords.is_empty()),
        ("categories", !package.categories.is_empty()),
    ]
}

/// Returns the requirement of dependencies on a package: the exact version of a stable one.
fn requirement(package: &str, version: &str) -> String {
    let is_stable = STABLE.contains(&workspace::folder_of(package));
    format!("{}{version}", if is_stable { '=' } else { '^' })
}

/// Returns true if the dependency has this requirement. Cargo removes development dependencies without
/// a version from the published package.
fn accepts(dependency: &Dependency, requirement: &str) -> bool {
    let required = dependency.req.to_string();
    let is_removed = dependency.kind == DependencyKind::Development && required == "*";
    is_removed || required == requirement
}

#[cfg(test)]
mod tests {
    use super::{accepts, check, requirement};
    use crate::workspace::Workspace;

    #[test]
    fn stable_packages_are_required_exactly() {
        let workspace = Workspace::find().unwrap();
        assert_eq!(check(&workspace), []);
        assert_eq!(requirement("omnimcp-types", "1.2.3"), "=1.2.3");
        assert_eq!(requirement("omnimcp-gateway", "1.2.3"), "^1.2.3");
        let facade = workspace.member("omnimcp").unwrap();
        let named = |name: &str| {
            let mut found = facade
                .dependencies
                .iter()
                .filter(|dependency| dependency.name == name);
            found.next().unwrap()
        };
        let exact = format!("={}", facade.version);
        assert!(accepts(named("omnimcp-types"), &exact));
        assert!(!accepts(named("omnimcp-types"), "=99.0.0"));
        assert!(!accepts(named("omnimcp-gateway"), &exact));
        assert!(accepts(named("omnimcp-testing"), "^0.1.0"));
        assert!(!accepts(named("serde_json"), &exact));
    }
}
