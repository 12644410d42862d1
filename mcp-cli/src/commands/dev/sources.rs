//! Changes of source files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ignore::gitignore::Gitignore;
use notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use parking_lot::Mutex;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

/// An editor has finished saving when nothing has changed for this time.
const SILENCE: Duration = Duration::from_millis(50);
/// Longest wait for [`SILENCE`].
const MAX_WAIT: Duration = Duration::from_secs(1);
/// Maximum number of queued paths. Further ones are dropped: the build sees all changes anyway.
const MAX_PATHS: usize = 1024;

/// The watched folders.
#[derive(Debug)]
pub(super) struct Sources {
    watcher: RecommendedWatcher,
    folders: Folders,
    changes: mpsc::Receiver<PathBuf>,
    /// True if there is a change that [`changed`](Self::changed) has not reported.
    has_changed: bool,
}

/// The folders whose sources are watched. Clones share them.
#[derive(Debug, Clone, Default)]
struct Folders(Arc<Mutex<BTreeSet<PathBuf>>>);

impl Sources {
    /// Watches a folder.
    ///
    /// # Errors
    ///
    /// Returns an error if the operating system cannot watch it.
    pub(super) fn watch(folder: &Path) -> notify::Result<Self> {
        let (sender, changes) = mpsc::channel(MAX_PATHS);
        let folders = Folders::default();
        let known = folders.clone();
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            let Ok(event) = event else {
                return;
            };
            for path in event.paths {
                let is_change = match event.kind {
                    EventKind::Access(_) => false,
                    // A change of a folder's content: the changed file has an event of its own.
                    EventKind::Modify(_) => !path.is_dir(),
                    _ => true,
                };
                if is_change && known.has_source(&path) {
                    let _ = sender.try_send(path);
                }
            }
        })?;
        let mut sources = Self {
            watcher,
            folders,
            changes,
            has_changed: false,
        };
        sources.add(folder)?;
        Ok(sources)
    }

    /// Watches another folder, unless it is below one of the others. Ignored folders in it are not watched: operating systems
    /// limit the number of watched folders.
    pub(super) fn add(&mut self, folder: &Path) -> notify::Result<()> {
        if self.folders.contain(folder) {
            return Ok(());
        }
        self.watcher.watch(folder, RecursiveMode::NonRecursive)?;
        self.folders.0.lock().insert(folder.to_owned());
        for entry in std::fs::read_dir(folder)?.flatten() {
            match self.add_child(&entry.path()) {
                Err(error) if matches!(error.kind, ErrorKind::MaxFilesWatch) => return Err(error),
                // A folder that this user cannot read has no sources.
                _ => {}
            }
        }
        Ok(())
    }

    fn add_child(&mut self, path: &Path) -> notify::Result<()> {
        if path.is_dir() && self.folders.has_source(path) {
            self.watcher.watch(path, RecursiveMode::Recursive)?;
        }
        Ok(())
    }

    /// Waits for a change, and then until no file is changed any more.
    pub(super) async fn changed(&mut self) {
        while !self.has_changed {
            self.next().await;
        }
        let end = Instant::now() + MAX_WAIT;
        let silence = || end.min(Instant::now() + SILENCE);
        while timeout_at(silence(), self.next()).await.is_ok() && Instant::now() < end {}
        self.has_changed = false;
    }

    async fn next(&mut self) {
        let Some(path) = self.changes.recv().await else {
            return std::future::pending().await;
        };
        self.has_changed = true;
        let parent = path.parent();
        if parent.is_some_and(|parent| self.folders.0.lock().contains(parent)) {
            // The folder may have been deleted again.
            let _ = self.add_child(&path);
        }
    }
}

impl Folders {
    /// Returns true if the path is one of the folders, or below one.
    fn contain(&self, path: &Path) -> bool {
        let folders = self.0.lock();
        folders.iter().any(|folder| path.starts_with(folder))
    }

    /// Returns true for a source's path.
    fn has_source(&self, path: &Path) -> bool {
        let folders = self.0.lock();
        let root = folders.iter().find(|folder| path.starts_with(folder));
        root.is_some_and(|root| is_source(path, root))
    }
}

/// Returns true for a path below `root`, unless one of its parts is hidden, a build output, or ignored by git.
fn is_source(path: &Path, root: &Path) -> bool {
    let mut parts = path.ancestors().take_while(|part| *part != root);
    let is_output = |part: &Path| {
        let name = part.file_name().unwrap_or_default();
        name == "target"
            || name == "node_modules"
            || name.as_encoded_bytes().starts_with(b".")
            || name.as_encoded_bytes().ends_with(b"~")
            // Caches have this file, such as the target folders of cargo.
            || part.join("CACHEDIR.TAG").is_file()
    };
    path != root && !parts.any(is_output) && !is_ignored_by_git(path, root)
}

/// Returns true if a `.gitignore` of the repository names a path, or a folder between it and `root`. Whether `root`
/// itself is ignored does not matter: a project in a build folder has sources.
fn is_ignored_by_git(path: &Path, root: &Path) -> bool {
    let mut above = root.ancestors();
    let repository = above.find(|folder| folder.join(".git").exists());
    let repository = repository.unwrap_or(root);
    let folders = path.ancestors().skip(1);
    for folder in folders.take_while(|folder| folder.starts_with(repository)) {
        let file = folder.join(".gitignore");
        if !file.is_file() {
            continue;
        }
        let (rules, _) = Gitignore::new(file);
        let parts = path.ancestors();
        let parts = parts.take_while(|part| *part != root && *part != folder);
        let found = parts.map(|part| rules.matched(part, part != path || part.is_dir()));
        if let Some(found) = found.into_iter().find(|found| !found.is_none()) {
            return found.is_ignore();
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::is_source;

    #[test]
    fn sources_are_neither_hidden_nor_outputs_nor_ignored() {
        let repository = std::env::temp_dir().join(format!(".mcp-dev-{}", std::process::id()));
        let root = repository.join("target/shop");
        for folder in [
            ".git",
            "target/shop/src",
            "target/shop/out",
            "target/shop/logs",
        ] {
            fs::create_dir_all(repository.join(folder)).unwrap();
        }
        fs::write(repository.join(".gitignore"), "*.db\nlogs/\n/target\n").unwrap();
        fs::write(root.join("src/.gitignore"), "!kept.db\n").unwrap();
        fs::write(root.join("out/CACHEDIR.TAG"), "").unwrap();
        for (path, expected) in [
            ("src/main.rs", true),
            ("Cargo.toml", true),
            ("src/kept.db", true),
            ("shop.db", false),
            ("src/other.db", false),
            ("logs/today", false),
            ("src/.main.rs.swp", false),
            ("src/main.rs~", false),
            ("target/debug/shop", false),
            ("web/node_modules/a/b.js", false),
            ("out/shop", false),
        ] {
            assert_eq!(is_source(&root.join(path), &root), expected, "{path}");
        }
        assert!(!is_source(&root, &root));
        fs::remove_dir_all(repository).unwrap();
    }
}
