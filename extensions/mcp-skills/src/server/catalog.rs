//! All skills, files and directories of a server.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_types::Resource;

use super::error::SkillsError;
use super::file::{SkillFile, name_of, parent_of};
use super::limits::SkillsLimits;
use crate::types::{DIRECTORY_MIME_TYPE, Skill, SkillResources};
use crate::uri::{INSTRUCTIONS, encode_path};

/// All skills, files and directories, sorted by URI or path.
#[derive(Debug, Clone, Default)]
pub(crate) struct Catalog {
    /// Skills by URI, including nested ones.
    pub(crate) skills: BTreeMap<String, Arc<Skill>>,
    /// Files by decoded path.
    pub(super) files: BTreeMap<String, Arc<SkillFile>>,
    /// Directories by URI, each with its direct children by name.
    directories: BTreeMap<String, BTreeMap<String, Child>>,
}

/// The changes from one catalog to the next.
#[derive(Debug, Default)]
pub(crate) struct CatalogChanges {
    /// Skills, files or directories were added, removed or changed.
    pub(super) is_list_changed: bool,
    /// URIs of files that have changed or are gone.
    pub(super) changed_files: Vec<String>,
}

#[derive(Debug, Clone)]
pub(crate) enum Child {
    File(Arc<SkillFile>),
    Directory(String),
}

impl Catalog {
    /// Builds the catalog from files, each of which belongs to a skill, and directories.
    pub(super) fn build(
        files: Vec<Arc<SkillFile>>,
        directories: &[String],
        limits: &SkillsLimits,
    ) -> Result<Self, SkillsError> {
        let mut catalog = Self::default();
        for file in files {
            let path = file.path.clone();
            let uri = file.uri.clone();
            if catalog.files.insert(path, file).is_some() {
                return Err(SkillsError::Duplicate(uri));
            }
        }
        let roots: Vec<_> = catalog.files.values().cloned().collect();
        for file in roots.iter().filter(|file| file.frontmatter.is_some()) {
            let skill = catalog.skill_of(file, limits)?;
            catalog.skills.insert(file.uri.clone(), Arc::new(skill));
        }
        let (count, limit) = (catalog.skills.len(), limits.max_skills);
        if count > limit {
            return Err(SkillsError::TooManySkills { count, limit });
        }
        for file in roots {
            catalog.add_child(&file.path, Child::File(file.clone()));
        }
        for path in directories {
            catalog.add_directory(path);
        }
        Ok(catalog)
    }

    /// Returns the skill with the instructions `file`, with all files below its directory.
    // spec: SKILL-10, SKILL-12, SKILL-15
    fn skill_of(&self, file: &SkillFile, limits: &SkillsLimits) -> Result<Skill, SkillsError> {
        let root = parent_of(&file.path).unwrap_or_default();
        let prefix = format!("{root}/");
        let below = self.files.range(prefix.clone()..);
        let below = below.take_while(|(path, _)| path.starts_with(&prefix));
        let below: Vec<_> = below.map(|(_, file)| file).collect();
        let (count, limit) = (below.len(), limits.max_files);
        let uri = file.uri.clone();
        if count > limit {
            return Err(SkillsError::TooManyFiles { uri, count, limit });
        }
        let bytes: u64 = below.iter().filter_map(|file| file.size()).sum();
        if bytes > limits.max_bytes {
            let limit = limits.max_bytes;
            return Err(SkillsError::TooManyBytes { uri, limit });
        }
        // spec: SKILL-13
        let listed: Option<_> = below.iter().map(|file| file.entry.clone()).collect();
        let resources = listed.map_or(SkillResources::Dynamic, SkillResources::Listed);
        let frontmatter = file.frontmatter.as_deref().cloned().unwrap_or_default();
        Ok(Skill::new(uri, frontmatter, resources))
    }

    fn add_child(&mut self, path: &str, child: Child) {
        let Some(parent) = parent_of(path) else {
            return;
        };
        let uri = directory_uri(parent);
        let is_new = !self.directories.contains_key(&uri);
        let children = self.directories.entry(uri).or_default();
        children.insert(name_of(path).to_owned(), child);
        if is_new {
            self.add_child(parent, Child::Directory(directory_uri(parent)));
        }
    }

    fn add_directory(&mut self, path: &str) {
        let uri = directory_uri(path);
        if !self.directories.contains_key(&uri) {
            self.directories.insert(uri.clone(), BTreeMap::new());
            self.add_child(path, Child::Directory(uri));
        }
    }

    /// Returns the direct children of a directory by name, or `None` if the directory does not exist.
    // spec: SKILL-19
    pub(crate) fn directory(&self, uri: &str) -> Option<&BTreeMap<String, Child>> {
        self.directories.get(uri)
    }

    /// Returns the changes from this catalog to `next`.
    pub(super) fn changes_to(&self, next: &Self) -> CatalogChanges {
        let is_same = |path: &str, file: &SkillFile| {
            let other = next.files.get(path);
            other.is_some_and(|other| match (file.generator(), other.generator()) {
                (Some(generator), Some(other)) => generator.is_same(other),
                _ => file.entry == other.entry,
            })
        };
        let files = self.files.iter();
        let changed = files.filter(|(path, file)| !is_same(path, file));
        let changed_files: Vec<_> = changed.map(|(_, file)| file.uri.clone()).collect();
        CatalogChanges {
            is_list_changed: !changed_files.is_empty()
                || self.files.len() != next.files.len()
                || !self.directories.keys().eq(next.directories.keys()),
            changed_files,
        }
    }

    /// Returns the instructions of all skills as resources.
    pub(crate) fn listed_resources(&self) -> Vec<Resource> {
        let files = self.files.values();
        let instructions = files.filter(|file| file.frontmatter.is_some());
        instructions.map(|file| file.resource()).collect()
    }
}

impl Child {
    pub(crate) fn resource(&self, name: &str) -> Resource {
        match self {
            Self::File(file) => file.resource(),
            Self::Directory(uri) => {
                let mut resource = Resource::new(uri.clone());
                resource.name = name.to_owned();
                resource.mime_type = Some(DIRECTORY_MIME_TYPE.to_owned());
                resource
            }
        }
    }
}

fn directory_uri(path: &str) -> String {
    format!("skill://{}", encode_path(path))
}

/// Returns true if `path` is in a skill's directory, which has one of `instructions`.
pub(super) fn is_in_skill<'a>(path: &str, is_instructions: impl Fn(&str) -> bool + 'a) -> bool {
    let mut directory = Some(path);
    while let Some(current) = directory {
        if is_instructions(&format!("{current}/{INSTRUCTIONS}")) {
            return true;
        }
        directory = parent_of(current);
    }
    false
}
