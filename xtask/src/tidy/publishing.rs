//! Rule: every published package has the metadata that the registry shows, and depends on the exact
//! version of the other packages of the release.

use cargo_metadata::{Dependency, DependencyKind, Package};

use crate::finding::Finding;
use crate::workspace::{self, Workspace};

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
            let other = published.iter().find(|it| *it.name == *dependency.name);
            if let Some(other) = other
                && !is_exact(dependency, &other.version.to_string())
            {
                report(format!(
                    "{} depends on {} {}; depend on the exact version, `={}`",
                    package.name, dependency.name, dependency.req, other.version
                ));
            }
        }
    }
    findings
}

/// The fields that a package needs, and whether it has them.
fn fields(package: &Package) -> [(&'static str, bool); 6] {
    [
        ("description", package.description.is_some()),
        ("license", package.license.is_some()),
        ("repository", package.repository.is_some()),
        ("rust-version", package.rust_version.is_some()),
        ("keywords", !package.keywords.is_empty()),
        ("categories", !package.categories.is_empty()),
    ]
}

/// Returns true if the dependency accepts one version only. Cargo removes development dependencies
/// without a version from the published package.
fn is_exact(dependency: &Dependency, version: &str) -> bool {
    let required = dependency.req.to_string();
    let is_removed = dependency.kind == DependencyKind::Development && required == "*";
    is_removed || required == format!("={version}")
}

#[cfg(test)]
mod tests {
    use super::{check, is_exact};
    use crate::workspace::Workspace;

    #[test]
    fn only_exact_versions_and_removed_dependencies_are_accepted() {
        let workspace = Workspace::find().unwrap();
        assert_eq!(check(&workspace), []);
        let facade = workspace.member("omnimcp").unwrap();
        let named = |name: &str| {
            let mut found = facade.dependencies.iter().filter(|it| it.name == name);
            found.next().unwrap()
        };
        let version = facade.version.to_string();
        assert!(is_exact(named("omnimcp-types"), &version));
        assert!(!is_exact(named("omnimcp-types"), "99.0.0"));
        assert!(is_exact(named("omnimcp-testing"), &version));
        assert!(!is_exact(named("serde_json"), &version));
    }
}
