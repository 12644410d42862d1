//! The current catalog, and its refresh when files change.

use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::{Mutex, RwLock};

use super::catalog::{Catalog, is_in_skill};
use super::error::SkillsError;
use super::file::SkillFile;
use super::folder::Folder;
use super::inline::InlineSkill;
use super::limits::SkillsLimits;
use crate::frontmatter;
use crate::uri::{INSTRUCTIONS, is_plain_file_path};

/// The sources of skills.
#[derive(Debug, Clone, Default)]
pub(super) struct Sources {
    pub(super) folders: Vec<Arc<Folder>>,
    pub(super) inline: Vec<Arc<SkillFile>>,
    pub(super) limits: SkillsLimits,
}

impl Sources {
    /// Adds a skill from code.
    pub(super) fn add(&mut self, skill: &InlineSkill) -> Result<(), SkillsError> {
        let root = root_of(skill)?;
        for (path, bytes) in skill.all_files() {
            if !is_plain_file_path(path) {
                return Err(SkillsError::InvalidPath(path.to_owned()));
            }
            let file = SkillFile::in_memory(format!("{root}/{path}"), bytes)?;
            self.inline.push(Arc::new(file));
        }
        Ok(())
    }

    /// Builds the catalog. Files of `known` that did not change are not read again.
    pub(super) fn build(&self, known: &Catalog) -> Result<Catalog, SkillsError> {
        let mut files = self.inline.clone();
        let mut directories = Vec::new();
        for folder in &self.folders {
            let found = folder.walk(&self.limits)?;
            let paths: HashSet<&str> = found.files.iter().map(|file| &*file.path).collect();
            let is_instructions = |path: &str| paths.contains(path);
            // The total size bounds the size of each file.
            let limit = self.limits.max_bytes;
            for found in &found.files {
                if !is_in_skill(&found.path, is_instructions) {
                    continue;
                }
                let current = known.files.get(&found.path);
                let current = current.filter(|file| file.is_current(found)).cloned();
                let file = match current {
                    Some(file) => file,
                    None => Arc::new(SkillFile::on_disk(folder, found, limit)?),
                };
                if file.size > limit {
                    let uri = file.uri.clone();
                    return Err(SkillsError::TooManyBytes { uri, limit });
                }
                files.push(file);
            }
            let in_skills = found.directories.into_iter();
            directories.extend(in_skills.filter(|path| is_in_skill(path, is_instructions)));
        }
        Catalog::build(files, &directories, &self.limits)
    }
}

/// Returns the path of a skill from code: its prefix and its name.
fn root_of(skill: &InlineSkill) -> Result<String, SkillsError> {
    let text = std::str::from_utf8(&skill.markdown);
    let text = text.map_err(|_| SkillsError::NotUtf8(INSTRUCTIONS.to_owned()))?;
    let document = frontmatter::parse(text).map_err(|reason| SkillsError::Frontmatter {
        file: INSTRUCTIONS.to_owned(),
        reason,
    })?;
    let name = document.frontmatter.get("name").and_then(|it| it.as_str());
    // An invalid name is reported with the file.
    let name = name.unwrap_or_default();
    match &skill.prefix {
        Some(prefix) if !is_plain_file_path(prefix) => {
            Err(SkillsError::InvalidPath(prefix.clone()))
        }
        Some(prefix) => Ok(format!("{prefix}/{name}")),
        None => Ok(name.to_owned()),
    }
}

/// The skills of a running server.
#[derive(Debug)]
pub(super) struct Store {
    sources: Sources,
    is_watched: bool,
    current: RwLock<Arc<Catalog>>,
    /// Held while the catalog is rebuilt.
    refresh: Mutex<()>,
}

/// The catalog, and whether this call has replaced it.
pub(super) struct Checked {
    pub(super) catalog: Arc<Catalog>,
    pub(super) is_changed: bool,
}

impl Store {
    pub(super) fn new(sources: Sources, catalog: Catalog, is_watched: bool) -> Self {
        Self {
            sources,
            is_watched,
            current: RwLock::new(Arc::new(catalog)),
            refresh: Mutex::new(()),
        }
    }

    /// Returns the catalog. Looks for changed files first if the folders are watched. Blocks on files.
    pub(super) fn check(&self) -> Checked {
        let current = self.current.read().clone();
        if !self.is_watched || self.sources.folders.is_empty() {
            return Checked {
                catalog: current,
                is_changed: false,
            };
        }
        self.rebuild(true)
    }

    /// Rebuilds the catalog. With `by_stamp`, files with the same stamp are not read again.
    fn rebuild(&self, by_stamp: bool) -> Checked {
        let _held = self.refresh.lock();
        let current = self.current.read().clone();
        let known = match by_stamp {
            true => current.clone(),
            false => Arc::default(),
        };
        let built = match self.sources.build(&known) {
            Ok(built) => built,
            Err(error) => {
                tracing::warn!(%error, "changed skills not served: the former ones stay");
                return Checked {
                    catalog: current,
                    is_changed: false,
                };
            }
        };
        let is_changed = !built.has_same_files(&current);
        let catalog = Arc::new(built);
        *self.current.write() = catalog.clone();
        Checked {
            catalog,
            is_changed,
        }
    }

    /// Reads a file by its decoded path. Blocks on files.
    ///
    /// Bytes that differ from the published digest are never returned: the catalog is rebuilt if the
    /// folders are watched, and the file is refused otherwise.
    pub(super) fn read(&self, path: &str) -> ReadFile {
        let catalog = self.current.read().clone();
        let Some(file) = catalog.files.get(path).cloned() else {
            let checked = self.check();
            let file = checked.catalog.files.get(path).cloned();
            return match file {
                Some(file) => read_file(file, checked.is_changed),
                None => ReadFile {
                    outcome: Err(ReadError::Unknown),
                    is_changed: checked.is_changed,
                },
            };
        };
        let read = read_file(file, false);
        if read.outcome.is_ok() || !self.is_watched {
            return read;
        }
        let checked = self.rebuild(false);
        match checked.catalog.files.get(path).cloned() {
            Some(file) => read_file(file, checked.is_changed),
            None => ReadFile {
                outcome: Err(ReadError::Unknown),
                is_changed: checked.is_changed,
            },
        }
    }
}

/// A file that was read, and whether the catalog was replaced meanwhile.
pub(super) struct ReadFile {
    pub(super) outcome: Result<(Arc<SkillFile>, Bytes), ReadError>,
    pub(super) is_changed: bool,
}

pub(super) enum ReadError {
    /// No skill has this file.
    Unknown,
    /// The file differs from its published digest.
    Changed,
    Failed(SkillsError),
}

fn read_file(file: Arc<SkillFile>, is_changed: bool) -> ReadFile {
    let outcome = match file.read() {
        Ok(Some(bytes)) => Ok((file, bytes)),
        Ok(None) => Err(ReadError::Changed),
        Err(error) => Err(ReadError::Failed(error)),
    };
    ReadFile {
        outcome,
        is_changed,
    }
}
