//! A server's skills: sources and settings.

use std::path::Path;
use std::sync::Arc;

use mcp_types::CacheHint;

use super::error::SkillsError;
use super::folder::Folder;
use super::inline::InlineSkill;
use super::limits::SkillsLimits;
use super::store::Store;

/// Number of skills on a page.
const PAGE_SIZE: usize = 50;

/// A server's skills, from folders and from code. Add them with
/// [`Server::extension`](mcp_server::Server::extension). Clones share their skills, see [`put`](Self::put).
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
/// let server = Server::new("docs", "1.0.0").extension(Skills::dir("skills")?.watch());
/// mcp::serve_stdio(server).await
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "pass it to `Server::skills`"]
pub struct Skills {
    pub(crate) store: Arc<Store>,
    pub(crate) cache: CacheHint,
    pub(crate) page_size: usize,
}

impl Skills {
    /// Creates a server's skills without any. Add some with [`add`](Self::add) and
    /// [`add_dir`](Self::add_dir).
    pub fn new() -> Self {
        Self {
            store: Arc::default(),
            cache: CacheHint::default(),
            page_size: PAGE_SIZE,
        }
    }

    /// Reads a folder's skills.
    ///
    /// # Errors
    ///
    /// Returns a [`SkillsError`] that names the file, if the folder cannot be read, if a skill violates a
    /// limit or a naming rule, or if there is a symbolic link.
    pub fn dir(path: impl AsRef<Path>) -> Result<Self, SkillsError> {
        Self::new().add_dir(path)
    }

    /// Adds another folder's skills.
    ///
    /// # Errors
    ///
    /// Returns a [`SkillsError`] like [`dir`](Self::dir), or if a URI exists already.
    pub fn add_dir(self, path: impl AsRef<Path>) -> Result<Self, SkillsError> {
        self.store.add_folder(Folder::open(path.as_ref())?)?;
        Ok(self)
    }

    /// Adds a skill from code.
    ///
    /// # Errors
    ///
    /// Returns a [`SkillsError`] if the skill violates a limit or a naming rule, or if its URI exists
    /// already.
    #[expect(clippy::should_implement_trait, reason = "adds a skill, not a number")]
    pub fn add(self, skill: InlineSkill) -> Result<Self, SkillsError> {
        self.store.edit(|state| state.add(&skill))?;
        Ok(self)
    }

    /// Adds a skill from code, or replaces the one from code with its URI, also while a server runs. Keep a
    /// clone for this: clones share their skills.
    ///
    /// A client that has loaded the former skill reads no files of the new one, because their digests differ;
    /// it loads the skill again. Clients that have subscribed are notified that the list of resources and the
    /// changed files have changed, if the skills were added with
    /// [`Server::extension`](mcp_server::Server::extension).
    ///
    /// # Errors
    ///
    /// Returns a [`SkillsError`] if the skill violates a limit or a naming rule, or if a folder has its URI.
    /// The skills are unchanged then.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::prelude::*;
    /// use mcp::skills::{InlineSkill, Skills};
    ///
    /// # fn main() -> mcp::Result<()> {
    /// let hours = |text: &str| InlineSkill::new("hours", "When people answer", text);
    /// let skills = Skills::new().add(hours("Monday to Friday.\n"))?;
    /// let server = Server::new("shop", "1.0.0").extension(skills.clone());
    /// // Later, on any task or thread:
    /// skills.put(hours("Monday to Thursday.\n"))?;
    /// skills.remove("skill://hours/SKILL.md");
    /// # Ok(())
    /// # }
    /// ```
    pub fn put(&self, skill: InlineSkill) -> Result<(), SkillsError> {
        self.store.edit(|state| state.put(&skill))
    }

    /// Removes a skill from code by its URI, also while a server runs; see [`put`](Self::put). Returns false if
    /// there is none.
    pub fn remove(&self, uri: &str) -> bool {
        // Fewer skills violate no limit.
        self.store
            .edit(|state| Ok(state.remove(uri)))
            .unwrap_or(false)
    }

    /// Sets the limits of skills that are added afterwards.
    pub fn limits(self, limits: SkillsLimits) -> Self {
        self.store.state.lock().limits = limits;
        self
    }

    /// Follows changes of the folders: each request looks for files whose size or time has changed, and
    /// computes their digests again. Clients that have subscribed are notified of changed files when a
    /// request notices them. A mistake in a changed skill goes to the log, and the former skills stay.
    ///
    /// Costs a walk of the folders for each `skills/list`, `skills/get` and directory read.
    pub fn watch(self) -> Self {
        self.store.state.lock().is_watched = true;
        self
    }

    /// Sets how long clients may cache `skills/list` and `skills/get`. Default: not at all. The files
    /// themselves are verified by their digests.
    pub fn cache(mut self, hint: CacheHint) -> Self {
        self.cache = hint;
        self
    }

    /// Sets the number of skills per `skills/list` page. Default: 50. At least one.
    pub fn page_size(mut self, skills: usize) -> Self {
        self.page_size = skills.max(1);
        self
    }

    /// Returns the URIs of all skills, sorted. Nested skills are included.
    pub fn uris(&self) -> Vec<String> {
        self.store.catalog().skills.keys().cloned().collect()
    }
}

impl Default for Skills {
    fn default() -> Self {
        Self::new()
    }
}
