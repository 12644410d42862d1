//! Files that the command writes.
//!
//! The author of a project may have put a link where the command writes, so that it would change any file of the user.
//! In the project, links are refused. Elsewhere a link stays, and its target is replaced. The project is the folder at or
//! above the current one that has a `.git`, else the current one.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;
use std::{env, io};

use crate::failure::Failure;

/// Longest chain of links.
const MAX_LINKS: usize = 40;

/// Files of one kind that this program keeps.
pub(crate) const MAX_FILES: usize = 64;

/// Returns true for a path in the project, unless that is the user's home folder or the root.
pub(crate) fn is_in_project(path: &Path) -> bool {
    let Ok((folder, split)) = split(path) else {
        return true;
    };
    Some(&folder) != home().as_ref() && folder.parent().is_some() && split.is_some()
}

fn home() -> Option<PathBuf> {
    fs::canonicalize(env::home_dir()?).ok()
}

/// Returns the project's folder: a clone at or above the current folder, below the user's home folder and the root.
fn project() -> io::Result<PathBuf> {
    let (folder, home) = (fs::canonicalize(env::current_dir()?)?, home());
    let is_below = |part: &&Path| Some(*part) != home.as_deref() && part.parent().is_some();
    let mut parts = folder.ancestors().take_while(is_below);
    let clone = parts.find(|part| part.join(".git").exists());
    Ok(clone.unwrap_or(&folder).to_owned())
}

/// Returns the project's folder, and the path as a name of that folder and the part below it. The name can be another
/// one, such as the one with a link that a shell shows. `None`: the path leads elsewhere.
fn split(path: &Path) -> io::Result<(PathBuf, Option<(PathBuf, PathBuf)>)> {
    let folder = project()?;
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
    let outside = || io::Error::other("it is not below the project's folder");
    let (_, split) = split(path)?;
    let (name, below) = split.ok_or_else(outside)?;
    let mut target = name.clone();
    for part in below.components() {
        if part == Component::ParentDir {
            if target == name {
                return Err(outside());
            }
            // The folder that is left is not a link.
            target.pop();
            continue;
        }
        target.push(part);
        if target.is_symlink() {
            let link = target.display();
            return Err(io::Error::other(format!(
                "{link} is a link, which could lead to any file; remove it, or name a file outside of the folder"
            )));
        }
    }
    Ok(target)
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

/// Keeps the content of a file beside it, as FILE.mcp-backup with the same permissions. Returns false and the path if that is
/// there already: it stays.
///
/// # Errors
///
/// Returns an error if the copy cannot be written.
pub(crate) fn keep(path: &Path, content: &[u8]) -> io::Result<(bool, PathBuf)> {
    let mut kept = path.to_owned().into_os_string();
    kept.push(".mcp-backup");
    let kept = PathBuf::from(kept);
    match mcp_files::create_new(&kept, true) {
        Ok(mut file) => {
            file.write_all(content)?;
            file.set_permissions(fs::metadata(path)?.permissions())?;
            Ok((true, kept))
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok((false, kept)),
        Err(error) => Err(error),
    }
}

/// Says what [`keep`] has done.
pub(crate) fn describe((is_new, path): &(bool, PathBuf)) -> String {
    let path = path.display();
    if *is_new {
        format!("the old file is {path}")
    } else {
        format!("the old file is not kept, as {path} is there already")
    }
}

/// Replaces a file that the user has named.
///
/// # Errors
///
/// As [`target`], and if the file cannot be written.
pub(crate) fn write(path: &Path, content: impl AsRef<[u8]>) -> Result<(), Failure> {
    let written = write_with(path, |file| file.write_all(content.as_ref()));
    written.map_err(|error| Failure::unwritable(path, &error))
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
    mcp_files::replace_with(&target, false, fill)
}

/// Writes a file of this program in one step, and removes those beside it that were changed least recently.
///
/// # Errors
///
/// Returns an error if the file cannot be written.
pub(crate) fn store(path: &Path, content: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    mcp_files::replace(path, content)?;
    keep_newest(path, MAX_FILES);
    Ok(())
}

/// Removes the files and folders beside this one that were changed least recently, so that so many are left. Others may
/// have times in the future.
pub(crate) fn keep_newest(own: &Path, count: usize) {
    let entries = own.parent().map(fs::read_dir).into_iter().flatten();
    let others = entries.flatten().flatten();
    let changed = others.filter(|entry| entry.path() != own).map(|entry| {
        let changed = entry.metadata().and_then(|found| found.modified());
        (changed.unwrap_or(SystemTime::UNIX_EPOCH), entry.path())
    });
    let mut changed: Vec<_> = changed.collect();
    changed.sort_unstable_by(|one, other| other.cmp(one));
    for (_, path) in changed.into_iter().skip(count - 1) {
        // Best effort: the next command tries again.
        let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
    }
}
