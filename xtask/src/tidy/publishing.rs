//! Rule: every published package has the metadata that the registry shows, and depends on the exact
//! version of the stable packages: those whose folders are at the repository's top. They are released together. All
//! others have versions of their own.

use cargo_metadata::{Dependency, DependencyKind, Package};

use crate::finding::Finding;
use crate::workspace::Workspace;

pub(crate) fn check(workspace: &Workspace) -> Vec<Finding> {
    let published = workspace.published();
    let mut findings = Vec::new();
    for package in &published {
        let manifest = format!("{}/Cargo.toml", workspace.path_of(package));
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
            let required = requirement(&workspace.path_of(other), &other.version.to_string());
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

/// Returns the requirement of dependencies on the package in a folder: the exact version of a stable one.
fn requirement(folder: &str, version: &str) -> String {
    let is_stable = !folder.contains('/');
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
        let required = |package| {
            let package = workspace.member(package).unwrap();
            requirement(&workspace.path_of(package), "1.2.3")
        };
        assert_eq!(required("omnimcp-types"), "=1.2.3");
        assert_eq!(required("omnimcp-gateway"), "^1.2.3");
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
