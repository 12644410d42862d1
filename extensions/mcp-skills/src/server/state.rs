//! The skill sources, and the files that the last folder walk has found.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use super::catalog::{Catalog, is_in_skill};
use super::error::SkillsError;
use super::file::{SkillFile, text_of};
use super::folder::Folder;
use super::inline::InlineSkill;
use super::limits::SkillsLimits;
use crate::frontmatter;
use crate::uri::{INSTRUCTIONS, encode_path, is_plain_file_path};

/// The skill sources, and the files of the folders.
#[derive(Debug, Clone, Default)]
pub(crate) struct State {
    pub(super) folders: Vec<Arc<Folder>>,
    pub(super) scan: Scan,
    pub(crate) limits: SkillsLimits,
    pub(super) is_watched: bool,
    /// Skill files from code, by the skill's path.
    inline: BTreeMap<String, Vec<Arc<SkillFile>>>,
}

/// The files of the folders that belong to a skill.
#[derive(Debug, Clone, Default)]
pub(super) struct Scan {
    files: Vec<Arc<SkillFile>>,
    directories: Vec<String>,
}

impl State {
    /// Adds a skill from code.
    ///
    /// # Errors
    ///
    /// Returns a [`SkillsError`] if the program has added a skill with this URI.
    pub(super) fn add(&mut self, skill: &InlineSkill) -> Result<(), SkillsError> {
        let root = root_of(skill)?;
        if self.inline.contains_key(&root) {
            return Err(SkillsError::Duplicate(uri_of(&root)));
        }
        self.put(skill)
    }

    /// Adds a skill from code, or replaces the one with its URI.
    pub(super) fn put(&mut self, skill: &InlineSkill) -> Result<(), SkillsError> {
        let root = root_of(skill)?;
        let mut files = Vec::new();
        for (path, contents) in &skill.files {
            if !is_plain_file_path(path) {
                return Err(SkillsError::InvalidPath(path.clone()));
            }
            let path = format!("{root}/{path}");
            let file = SkillFile::from_code(path, contents.clone(), &skill.markdown)?;
            files.push(Arc::new(file));
        }
        self.inline.insert(root, files);
        Ok(())
    }

    /// Removes a skill from code by its URI. Returns false if there is none.
    pub(super) fn remove(&mut self, uri: &str) -> bool {
        let count = self.inline.len();
        self.inline.retain(|root, _| uri_of(root) != uri);
        self.inline.len() < count
    }

    /// Builds the catalog of all sources.
    pub(super) fn catalog(&self) -> Result<Catalog, SkillsError> {
        let inline = self.inline.values().flatten();
        let files = inline.chain(&self.scan.files).cloned().collect();
        Catalog::build(files, &self.scan.directories, &self.limits)
    }
}

impl Scan {
    /// Walks the folders. Files of `known` that did not change are not read again.
    pub(super) fn new(
        folders: &[Arc<Folder>],
        limits: &SkillsLimits,
        known: &Catalog,
    ) -> Result<Self, SkillsError> {
        let mut scan = Self::default();
        for folder in folders {
            scan.add_folder(folder, limits, known)?;
        }
        Ok(scan)
    }

    fn add_folder(
        &mut self,
        folder: &Arc<Folder>,
        limits: &SkillsLimits,
        known: &Catalog,
    ) -> Result<(), SkillsError> {
        let found = folder.walk(limits)?;
        let paths: HashSet<&str> = found.files.iter().map(|file| &*file.path).collect();
        let is_instructions = |path: &str| paths.contains(path);
        // The total size bounds the size of each file.
        let limit = limits.max_bytes;
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
            if file.size().is_some_and(|size| size > limit) {
                let uri = file.uri.clone();
                return Err(SkillsError::TooManyBytes { uri, limit });
            }
            self.files.push(file);
        }
        let in_skills = found.directories.iter();
        let in_skills = in_skills.filter(|path| is_in_skill(path, is_instructions));
        self.directories.extend(in_skills.cloned());
        Ok(())
    }
}

/// Returns the path of a skill from code: its prefix and its name.
fn root_of(skill: &InlineSkill) -> Result<String, SkillsError> {
    let text = text_of(&skill.markdown);
    let text = text.ok_or_else(|| SkillsError::NotText(INSTRUCTIONS.to_owned()))?;
    let document = frontmatter::parse(text).map_err(|error| SkillsError::Frontmatter {
        file: INSTRUCTIONS.to_owned(),
        problem: error.to_string(),
    })?;
    let name = document
        .frontmatter
        .get("name")
        .and_then(|name| name.as_str());
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

/// Returns the skill's URI at a path.
fn uri_of(root: &str) -> String {
    format!("skill://{}/{INSTRUCTIONS}", encode_path(root))
}
