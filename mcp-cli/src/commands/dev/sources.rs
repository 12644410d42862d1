//! Changes of source files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ignore::gitignore::Gitignore;
use notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use parking_lot::Mutex;
use same_file::Handle;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout_at};

use crate::output::Output;

/// An editor has finished saving when nothing has changed for this time.
const SILENCE: Duration = Duration::from_millis(50);
/// Longest wait for [`SILENCE`].
const MAX_WAIT: Duration = Duration::from_secs(1);
/// Maximum number of queued paths. Further ones are dropped: the build sees all changes anyway.
const MAX_PATHS: usize = 1024;
/// The program may have written a file that changes in this time after its start.
const START: Duration = Duration::from_secs(3);
/// Starts in a row after which the same files change again: the program writes them.
const MAX_STARTS: usize = 5;
/// Time in which changes of files that the program writes start nothing.
const PAUSE: Duration = Duration::from_secs(10);

/// The watched folders.
#[derive(Debug)]
pub(super) struct Sources {
    watcher: RecommendedWatcher,
    folders: Folders,
    changes: mpsc::Receiver<PathBuf>,
    /// The changes that [`changed`](Self::changed) has not reported.
    unreported: BTreeSet<PathBuf>,
    /// The changes that were reported last.
    reported: BTreeSet<PathBuf>,
    /// The number of times in a row that the same files have changed after a start.
    starts: usize,
    output: Output,
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
    pub(super) fn watch(folder: &Path, output: Output) -> notify::Result<Self> {
        let (sender, changes) = mpsc::channel(MAX_PATHS);
        let folders = Folders::default();
        let known = folders.clone();
        // Files that the program and this command may print to.
        let printed = [Handle::stdout(), Handle::stderr()].map(Result::ok);
        let is_printed = move |path: &Path| {
            // A pipe would block when it is opened.
            let file = path
                .is_file()
                .then(|| Handle::from_path(path).ok())
                .flatten();
            file.is_some() && printed.contains(&file)
        };
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
                if is_change && known.has_source(&path) && !is_printed(&path) {
                    let _ = sender.try_send(path);
                }
            }
        })?;
        let mut sources = Self {
            watcher,
            folders,
            changes,
            unreported: BTreeSet::new(),
            reported: BTreeSet::new(),
            starts: 0,
            output,
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

    /// Waits for a change, and then until no file is changed any more. Called when the program is started: changes of
    /// files that each start changes are reported after a pause.
    pub(super) async fn changed(&mut self) {
        let start = Instant::now();
        while self.unreported.is_empty() {
            self.next().await;
        }
        let is_quick = start.elapsed() < START;
        let end = Instant::now() + MAX_WAIT;
        let silence = || end.min(Instant::now() + SILENCE);
        while timeout_at(silence(), self.next()).await.is_ok() && Instant::now() < end {}
        if is_quick && self.unreported.is_subset(&self.reported) {
            self.starts += 1;
        } else {
            self.starts = 0;
        }
        if self.starts >= MAX_STARTS {
            self.pause().await;
        }
        self.reported = std::mem::take(&mut self.unreported);
    }

    /// Waits for the change of another file, for a limited time.
    async fn pause(&mut self) {
        if self.starts == MAX_STARTS {
            let files = self
                .unreported
                .iter()
                .map(|file| file.display().to_string());
            let files: Vec<_> = files.collect();
            let text = format!(
                "each start is followed by a change of {}; if the server writes it, add it to .gitignore. The next \
                 start for it is in {} s",
                files.join(", "),
                PAUSE.as_secs()
            );
            self.output
                .event(&text, &json!({"event": "loop", "files": files}));
        }
        let other = async {
            while self.unreported.is_subset(&self.reported) {
                self.next().await;
            }
        };
        tokio::select! {
            () = sleep(PAUSE) => {}
            () = other => self.starts = 0,
        }
    }

    async fn next(&mut self) {
        let Some(path) = self.changes.recv().await else {
            return std::future::pending().await;
        };
        let parent = path.parent();
        if parent.is_some_and(|parent| self.folders.0.lock().contains(parent)) {
            // The folder may have been deleted again.
            let _ = self.add_child(&path);
        }
        self.unreported.insert(path);
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

/// Returns true for a path below `root`, unless one of its parts is hidden, a log, a build output, or ignored by git.
fn is_source(path: &Path, root: &Path) -> bool {
    let mut parts = path.ancestors().take_while(|part| *part != root);
    let is_output = |part: &Path| {
        let name = part.file_name().unwrap_or_default();
        name == "target"
            || name == "node_modules"
            || name.as_encoded_bytes().starts_with(b".")
            || name.as_encoded_bytes().ends_with(b"~")
            || name.as_encoded_bytes().ends_with(b".log")
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
            ("src/server.log", false),
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
