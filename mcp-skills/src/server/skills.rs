//! The skills of a server: sources and settings.

use std::path::Path;
use std::sync::Arc;

use mcp_types::CacheHint;

use super::catalog::Catalog;
use super::error::SkillsError;
use super::folder::Folder;
use super::inline::InlineSkill;
use super::limits::SkillsLimits;
use super::store::{Sources, Store};

/// Number of skills on a page.
const PAGE_SIZE: usize = 50;

/// The skills of a server, from folders and from code. Add them with
/// [`AddSkills::skills`](super::AddSkills::skills).
///
/// Each folder with a `SKILL.md` is a skill, at any depth. Its URI is
/// `skill://<path below the folder>/SKILL.md`; if the folder itself has a `SKILL.md`, it is the only skill at
/// the top. All files below a skill belong to it. Names that start with a dot are skipped, and symbolic
/// links are refused.
///
/// All files are read once, to compute their digests. By default the skills stay as they are then: a file
/// that changes later is refused until the server restarts. See [`watch`](Self::watch).
///
/// # Examples
///
/// ```no_run
/// use mcp::prelude::*;
/// use mcp::skills::Skills;
///
/// # async fn run() -> mcp::Result<()> {
/// let server = Server::new("docs", "1.0.0").skills(Skills::dir("skills")?.watch());
/// mcp::serve_stdio(server).await
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "pass it to `Server::skills`"]
pub struct Skills {
    sources: Sources,
    catalog: Catalog,
    is_watched: bool,
    pub(super) cache: CacheHint,
    pub(super) page_size: usize,
}

impl Skills {
    /// Creates a server's skills without any. Add some with [`add`](Self::add) and
    /// [`add_dir`](Self::add_dir).
    pub fn new() -> Self {
        Self {
            sources: Sources::default(),
            catalog: Catalog::default(),
            is_watched: false,
            cache: CacheHint::default(),
            page_size: PAGE_SIZE,
        }
    }

    /// Reads the skills of a folder.
    ///
    /// # Errors
    ///
    /// Returns a [`SkillsError`] that names the file, if the folder cannot be read, if a skill violates a
    /// limit or a naming rule, or if there is a symbolic link.
    pub fn dir(path: impl AsRef<Path>) -> Result<Self, SkillsError> {
        Self::new().add_dir(path)
    }

    /// Adds the skills of another folder.
    ///
    /// # Errors
    ///
    /// Returns a [`SkillsError`] like [`dir`](Self::dir), or if a URI exists already.
    pub fn add_dir(mut self, path: impl AsRef<Path>) -> Result<Self, SkillsError> {
        let folder = Folder::open(path.as_ref())?;
        self.sources.folders.push(Arc::new(folder));
        self.rebuilt()
    }

    /// Adds a skill from code.
    ///
    /// # Errors
    ///
    /// Returns a [`SkillsError`] if the skill violates a limit or a naming rule, or if its URI exists
    /// already.
    #[expect(clippy::should_implement_trait, reason = "adds a skill, not a number")]
    pub fn add(mut self, skill: InlineSkill) -> Result<Self, SkillsError> {
        self.sources.add(&skill)?;
        self.rebuilt()
    }

    fn rebuilt(mut self) -> Result<Self, SkillsError> {
        self.catalog = self.sources.build(&self.catalog)?;
        Ok(self)
    }

    /// Sets the limits of skills that are added afterwards.
    pub fn limits(mut self, limits: SkillsLimits) -> Self {
        self.sources.limits = limits;
        self
    }

    /// Follows changes of the folders: each request looks for files whose size or time has changed, and
    /// computes their digests again. Clients that have subscribed are notified of changed resources when a
    /// request notices them. A mistake in a changed skill goes to the log, and the former skills stay.
    ///
    /// Costs a walk of the folders for each `skills/list`, `skills/get` and directory read.
    pub fn watch(mut self) -> Self {
        self.is_watched = true;
        self
    }

    /// Sets how long clients may cache `skills/list` and `skills/get`. Default: not at all. The files
    /// themselves are verified by their digests.
    pub fn cache(mut self, hint: CacheHint) -> Self {
        self.cache = hint;
        self
    }

    /// Sets the number of skills on a page of `skills/list`. Default: 50. At least one.
    pub fn page_size(mut self, skills: usize) -> Self {
        self.page_size = skills.max(1);
        self
    }

    /// Returns the URIs of all skills, sorted. Nested skills are included.
    pub fn uris(&self) -> Vec<String> {
        self.catalog.skills.keys().cloned().collect()
    }

    pub(super) fn into_store(self) -> Store {
        Store::new(self.sources, self.catalog, self.is_watched)
    }
}

impl Default for Skills {
    fn default() -> Self {
        Self::new()
    }
}
