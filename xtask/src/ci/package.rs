//! The packages that the registry would get: created, unpacked and compiled together.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::outcome::StepOutcome;
use super::programs::select_published;
use crate::process;
use crate::result::Result;
use crate::workspace::Workspace;

/// Creates the packages and compiles them with all features, from their archives alone.
///
/// The unpacked packages are one workspace: `cargo package` itself compiles each of them separately,
/// which takes eight times as long.
pub(super) fn run(workspace: &Workspace) -> Result<StepOutcome> {
    let mut package = workspace.cargo("package --quiet --allow-dirty --no-verify");
    select_published(&mut package, workspace);
    process::run(&mut package)?;
    let archives = workspace.target().join("package");
    let folder = archives.join("unpacked");
    if folder.is_dir() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let mut members = Vec::new();
    for package in workspace.published() {
        let name = format!("{}-{}", package.name, package.version);
        let mut tar = Command::new("tar");
        // Archives have one date: with `m`, Cargo sees what has changed since the last run.
        tar.arg("-xzmf").arg(archives.join(format!("{name}.crate")));
        process::run(tar.arg("-C").arg(&folder))?;
        members.push((package.name.to_string(), name));
    }
    fs::write(folder.join("Cargo.toml"), manifest(&members))?;
    let lock = "Cargo.lock";
    fs::copy(workspace.root().join(lock), folder.join(lock))?;
    check(workspace, &folder)?;
    Ok(StepOutcome::Passed)
}

/// Returns a workspace manifest whose members depend on each other, not on packages of the registry.
fn manifest(members: &[(String, String)]) -> String {
    let mut text = "[workspace]\nresolver = \"3\"\nmembers = [\n".to_owned();
    for (_, folder) in members {
        text.push_str(&format!("    {folder:?},\n"));
    }
    text.push_str("]\n\n[patch.crates-io]\n");
    for (package, folder) in members {
        text.push_str(&format!("{package} = {{ path = {folder:?} }}\n"));
    }
    text
}

/// Compiles the unpacked packages. Their dependencies are those that clippy has compiled.
fn check(workspace: &Workspace, folder: &Path) -> Result<()> {
    let mut check = workspace.cargo("check --quiet --workspace --all-features --target-dir");
    process::run(check.arg(workspace.target()).current_dir(folder))
}

#[cfg(test)]
mod tests {
    use super::manifest;

    #[test]
    fn members_replace_packages_from_the_registry() {
        let members = [("a".to_owned(), "a-0.1.0".to_owned())];
        assert_eq!(
            manifest(&members),
            "[workspace]\nresolver = \"3\"\nmembers = [\n    \"a-0.1.0\",\n]\n\n\
             [patch.crates-io]\na = { path = \"a-0.1.0\" }\n"
        );
    }
}
