//! A folder's files: a walk that follows no links, and reading that does not leave the folder.

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::error::SkillsError;
use super::limits::SkillsLimits;
use crate::uri::{INSTRUCTIONS, is_plain_segment};

/// A skill folder.
#[derive(Debug)]
pub(super) struct Folder {
    /// The canonical path.
    root: PathBuf,
    /// The folder's path in URIs: its name if it is a skill itself, and empty otherwise.
    prefix: String,
}

/// A file or directory that the walk has found, with its path in URIs.
#[derive(Debug)]
pub(super) struct FoundFile {
    pub(super) path: String,
    /// The path relative to the folder.
    pub(super) relative: PathBuf,
    pub(super) stamp: Stamp,
}

/// A folder's content.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) files: Vec<FoundFile>,
    pub(super) directories: Vec<String>,
}

/// File metadata that changes with the content, unless both happen in one tick of the file system's
/// clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Stamp {
    length: u64,
    modified: Option<SystemTime>,
    identity: [i64; 4],
}

impl Stamp {
    fn new(metadata: &Metadata) -> Self {
        Self {
            length: metadata.len(),
            modified: metadata.modified().ok(),
            identity: identity(metadata),
        }
    }
}

/// Device, inode and inode change time.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> [i64; 4] {
    use std::os::unix::fs::MetadataExt;
    [
        metadata.dev().cast_signed(),
        metadata.ino().cast_signed(),
        metadata.ctime(),
        metadata.ctime_nsec(),
    ]
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> [i64; 4] {
    [0; 4]
}

impl Folder {
    pub(super) fn open(path: &Path) -> Result<Self, SkillsError> {
        let root = fs::canonicalize(path).map_err(|error| SkillsError::io(path, error))?;
        if !root.is_dir() {
            return Err(SkillsError::NotAFolder(path.to_owned()));
        }
        let is_skill = fs::symlink_metadata(root.join(INSTRUCTIONS)).is_ok();
        let name = root.file_name().and_then(|name| name.to_str());
        let prefix = if is_skill {
            name.ok_or_else(|| SkillsError::FileName(root.clone()))?
                .to_owned()
        } else {
            String::new()
        };
        Ok(Self { root, prefix })
    }

    pub(super) fn display(&self, relative: &Path) -> String {
        self.root.join(relative).display().to_string()
    }

    /// Finds all files and directories. Names that start with a dot are skipped.
    pub(super) fn walk(&self, limits: &SkillsLimits) -> Result<Found, SkillsError> {
        let mut found = Found::default();
        let mut pending = vec![(PathBuf::new(), self.prefix.clone(), 0)];
        let mut entries = 0;
        while let Some((relative, path, depth)) = pending.pop() {
            let folder = self.root.join(&relative);
            if depth > limits.max_depth {
                let limit = limits.max_depth;
                return Err(SkillsError::TooDeep {
                    path: folder,
                    limit,
                });
            }
            let io = |error| SkillsError::io(&folder, error);
            for entry in fs::read_dir(&folder).map_err(io)? {
                let entry = entry.map_err(io)?;
                entries += 1;
                if entries > limits.max_entries {
                    let (path, limit) = (self.root.clone(), limits.max_entries);
                    return Err(SkillsError::TooManyEntries { path, limit });
                }
                let name = entry.file_name();
                if name.as_encoded_bytes().starts_with(b".") {
                    continue;
                }
                let full = entry.path();
                let name = name.to_str().filter(|name| is_plain_segment(name));
                let name = name.ok_or_else(|| SkillsError::FileName(full.clone()))?;
                let path = if path.is_empty() {
                    name.to_owned()
                } else {
                    format!("{path}/{name}")
                };
                let relative = relative.join(name);
                let metadata =
                    fs::symlink_metadata(&full).map_err(|error| SkillsError::io(&full, error))?;
                check_kind(&full, &metadata)?;
                if metadata.is_dir() {
                    found.directories.push(path.clone());
                    pending.push((relative, path, depth + 1));
                } else {
                    let stamp = Stamp::new(&metadata);
                    found.files.push(FoundFile {
                        path,
                        relative,
                        stamp,
                    });
                }
            }
        }
        Ok(found)
    }

    /// Reads a file up to `limit` bytes, and one byte more if it is larger.
    ///
    /// The file is opened first. Then its canonical path is checked, and that this path still names the
    /// opened file: a link that replaces a part of the path at any moment is noticed.
    pub(super) fn read(
        &self,
        relative: &Path,
        limit: u64,
    ) -> Result<(Vec<u8>, Stamp), SkillsError> {
        let path = self.root.join(relative);
        let io = |error| SkillsError::io(&path, error);
        // Opening a named pipe would wait for its other end.
        check_kind(&path, &fs::symlink_metadata(&path).map_err(io)?)?;
        let file = File::open(&path).map_err(io)?;
        let opened = file.metadata().map_err(io)?;
        if fs::canonicalize(&path).map_err(io)? != path {
            return Err(SkillsError::Outside(path));
        }
        let named = fs::symlink_metadata(&path).map_err(io)?;
        check_kind(&path, &named)?;
        if !opened.is_file() || identity(&named)[..2] != identity(&opened)[..2] {
            return Err(SkillsError::Outside(path));
        }
        let mut bytes = Vec::new();
        let mut limited = file.take(limit.saturating_add(1));
        limited.read_to_end(&mut bytes).map_err(io)?;
        Ok((bytes, Stamp::new(&opened)))
    }
}

/// Refuses links, devices and pipes.
fn check_kind(path: &Path, metadata: &Metadata) -> Result<(), SkillsError> {
    if metadata.is_symlink() {
        return Err(SkillsError::SymbolicLink(path.to_owned()));
    }
    if metadata.is_file() || metadata.is_dir() {
        Ok(())
    } else {
        Err(SkillsError::NotAFile(path.to_owned()))
    }
}
