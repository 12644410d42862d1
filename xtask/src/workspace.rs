//! The workspace: its folders and its packages.

use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{Metadata, MetadataCommand, Package};

use crate::result::Result;

/// The crate whose features users choose.
pub(crate) const FACADE: &str = "omnimcp";

/// Prefix of the published packages. Their folders and libraries do not have it.
pub(crate) const PREFIX: &str = "omni";

/// Returns the name of a package's folder.
pub(crate) fn folder_of(package: &str) -> &str {
    package.strip_prefix(PREFIX).unwrap_or(package)
}

/// The workspace that contains this tool.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
    metadata: Metadata,
}

impl Workspace {
    /// Runs `cargo metadata` without resolving dependencies outside the workspace.
    ///
    /// # Errors
    ///
    /// Returns an error if cargo fails.
    pub(crate) fn find() -> Result<Self> {
        // Cargo sets the variable at run time. A program that is started directly uses the value from
        // its build.
        let here = std::env::var_os("CARGO_MANIFEST_DIR")
            .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
        let root = here
            .parent()
            .ok_or("xtask is not inside a workspace")?
            .to_owned();
        let metadata = MetadataCommand::new()
            .manifest_path(root.join("Cargo.toml"))
            .no_deps()
            .exec()?;
        let target = metadata.target_directory.clone().into_std_path_buf();
        Ok(Self {
            root,
            target,
            metadata,
        })
    }

    /// The folder with the `Cargo.toml` of the workspace.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder for build output and for installed tools.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// Returns the path of a package's folder from the repository's root, with forward slashes.
    pub(crate) fn path_of(&self, package: &Package) -> String {
        let manifest = package.manifest_path.as_std_path();
        let folder = manifest.parent().unwrap_or(manifest);
        let path = folder.strip_prefix(&self.root).unwrap_or(folder);
        path.to_string_lossy().replace('\\', "/")
    }

    /// The workspace's packages.
    pub(crate) fn members(&self) -> Vec<&Package> {
        self.metadata.workspace_packages()
    }

    /// The members that are published.
    pub(crate) fn published(&self) -> Vec<&Package> {
        let mut members = self.members();
        members.retain(|package| {
            package
                .publish
                .as_ref()
                .is_none_or(|registries| !registries.is_empty())
        });
        members
    }

    /// Returns the member `name`.
    ///
    /// # Errors
    ///
    /// Returns an error if the workspace has no such member.
    pub(crate) fn member(&self, name: &str) -> Result<&Package> {
        let found = self
            .members()
            .into_iter()
            .find(|package| package.name.as_str() == name);
        found.ok_or_else(|| format!("the workspace has no package `{name}`").into())
    }

    /// Returns a command that runs `cargo` at the workspace's root with these arguments, separated by
    /// single spaces. It does not inherit the variables that cargo sets for this package: build scripts
    /// that read them would run again, and everything that depends on their packages would be rebuilt.
    pub(crate) fn cargo(&self, arguments: &str) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.current_dir(&self.root).args(arguments.split(' '));
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_MANIFEST_") || text.starts_with("CARGO_PKG_") {
                command.env_remove(name);
            }
        }
        command
    }

    /// The path of a program that cargo builds.
    pub(crate) fn binary(&self, profile: &str, name: &str) -> PathBuf {
        self.target
            .join(profile)
            .join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }
}
