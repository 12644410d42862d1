//! Files that the command writes.
//!
//! The author of a project may have put a link where the command writes, so that it would change any file of the user.
//! Below the current folder, links are refused. Elsewhere a link stays, and its target is replaced.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::{env, io};

use mcp::group::files;

/// Longest chain of links.
const MAX_LINKS: usize = 40;

/// Returns true for a path below the current folder, unless that is the user's home folder or the root.
pub(crate) fn is_in_project(path: &Path) -> bool {
    let Ok((folder, split)) = split(path) else {
        return true;
    };
    let is_home = env::home_dir().and_then(|home| fs::canonicalize(home).ok());
    is_home.as_ref() != Some(&folder) && folder.parent().is_some() && split.is_some()
}

/// Returns the current folder, and the path as a name of that folder and the part below it. The name can be another
/// one, such as the one with a link that a shell shows. `None`: the path leads elsewhere.
fn split(path: &Path) -> io::Result<(PathBuf, Option<(PathBuf, PathBuf)>)> {
    let folder = fs::canonicalize(env::current_dir()?)?;
    let path = std::path::absolute(path)?;
    let is_folder = |part: &&Path| fs::canonicalize(part).is_ok_and(|found| found == folder);
    let name = path.ancestors().find(is_folder);
    let split =
        name.and_then(|name| Some((name.to_owned(), path.strip_prefix(name).ok()?.to_owned())));
    Ok((folder, split.filter(|(_, below)| !below.starts_with(".."))))
}

/// Returns the file that is written for a path: in a project the path itself, elsewhere the target of a link.
///
/// # Errors
///
/// Returns an error for a link in a project, for a path out of it, and for links in a circle.
pub(crate) fn target(path: &Path, is_project: bool) -> io::Result<PathBuf> {
    if is_project {
        return target_in_project(path);
    }
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("")).join(next),
            Err(_) => return Ok(target),
        }
    }
    Err(io::Error::other("its links form a circle"))
}

fn target_in_project(path: &Path) -> io::Result<PathBuf> {
    let (_, split) = split(path)?;
    let is_inside = |below: &Path| !below.components().any(|part| part.as_os_str() == "..");
    let Some((name, below)) = split.filter(|(_, below)| is_inside(below)) else {
        return Err(io::Error::other("it is not below the project's folder"));
    };
    let path = name.join(below);
    let mut parts = path.ancestors().take_while(|part| *part != name);
    match parts.find(|part| part.is_symlink()) {
        Some(link) => Err(io::Error::other(format!(
            "{} is a link, which could lead to any file; remove it, or name a file outside of the folder",
            link.display()
        ))),
        None => Ok(path),
    }
}

/// Returns what is opened for a path that the user has named: a pipe or a device itself, such as `/dev/stdout`.
///
/// # Errors
///
/// As [`target`].
pub(crate) fn destination(path: &Path) -> io::Result<PathBuf> {
    if is_in_project(path) {
        return target(path, true);
    }
    if is_special(path) {
        return Ok(path.to_owned());
    }
    target(path, false)
}

fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|found| !found.is_file())
}

/// Replaces a file that the user has named.
///
/// # Errors
///
/// As [`target`], and if the file cannot be written.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    write_with(path, |file| io::Write::write_all(file, content.as_ref()))
}

/// Replaces a file that the user has named by one that `fill` writes.
///
/// # Errors
///
/// As [`write`], and those of `fill`.
pub(crate) fn write_with(
    path: &Path,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> io::Result<()> {
    let target = destination(path)?;
    if is_special(&target) {
        return fill(&mut File::options().write(true).open(target)?);
    }
    files::replace_with(&target, false, fill)
}
