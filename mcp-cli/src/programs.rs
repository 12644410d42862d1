//! Programs as the operating system finds them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

/// Returns true if a program is a path, and not the name of a program in `PATH`.
pub(crate) fn is_path(program: &str) -> bool {
    program.contains(std::path::is_separator)
}

/// Returns the first file with this name in the folders of `path`, or in those of the process's `PATH`.
pub(crate) fn find(program: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    let names = ["", ".exe", ".cmd", ".bat"].map(|suffix| format!("{program}{suffix}"));
    let names = if cfg!(windows) {
        &names[..]
    } else {
        &names[..1]
    };
    let path = path
        .map(OsStr::to_owned)
        .or_else(|| std::env::var_os("PATH"))
        .unwrap_or_default();
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    let files = folders
        .iter()
        .flat_map(|folder| names.iter().map(|name| folder.join(name)));
    files.into_iter().find(|file| file.is_file())
}

/// Returns the file that runs when a command is started in `folder` with these variables. One that is not found keeps
/// its name.
pub(crate) fn resolve(program: &str, folder: &Path, env: &[(String, String)]) -> String {
    let found = if is_path(program) {
        std::path::absolute(folder.join(program)).ok()
    } else {
        let path = env.iter().rev().find(|(name, _)| name == "PATH");
        find(program, path.map(|(_, path)| OsStr::new(path)))
    };
    found.map_or_else(
        || program.to_owned(),
        |file| file.to_string_lossy().into_owned(),
    )
}
