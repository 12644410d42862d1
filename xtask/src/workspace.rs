//! Where the repository and its build output are, and what cargo knows about the packages.

use std::path::{Path, PathBuf};
use std::process::Command;

use cargo_metadata::{Metadata, MetadataCommand, Package};

use crate::Result;

/// The workspace this tool belongs to.
#[derive(Debug)]
pub(crate) struct Workspace {
    root: PathBuf,
    target: PathBuf,
    metadata: Metadata,
}

impl Workspace {
    /// Asks cargo about the workspace; dependencies outside it are not resolved.
    pub(crate) fn find() -> Result<Self> {
        // Cargo sets the variable when it runs this program; the one of the build stands in when
        // the program is started by hand.
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

    /// The folder that holds the workspace's `Cargo.toml`.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The folder for build output, and for everything that the commands install.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// The packages of the workspace.
    pub(crate) fn members(&self) -> Vec<&Package> {
        self.metadata.workspace_packages()
    }

    /// The member of that name.
    pub(crate) fn member(&self, name: &str) -> Result<&Package> {
        let found = self
            .members()
            .into_iter()
            .find(|package| package.name.as_str() == name);
        found.ok_or_else(|| format!("the workspace has no package `{name}`").into())
    }

    /// A command that runs `cargo` at the root of the workspace. It does not hear of this package:
    /// build scripts that look at these variables would run again, and all that needs them.
    pub(crate) fn cargo(&self) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut command = Command::new(cargo);
        command.current_dir(&self.root);
        for (name, _) in std::env::vars_os() {
            let of_package = ["CARGO_MANIFEST_", "CARGO_PKG_"];
            if name
                .to_str()
                .is_some_and(|name| of_package.iter().any(|prefix| name.starts_with(prefix)))
            {
                command.env_remove(name);
            }
        }
        command
    }

    /// A program built into the target folder.
    pub(crate) fn binary(&self, profile: &str, name: &str) -> PathBuf {
        self.target
            .join(profile)
            .join(format!("{name}{}", std::env::consts::EXE_SUFFIX))
    }
}
