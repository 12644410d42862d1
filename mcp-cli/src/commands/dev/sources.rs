//! Changes of source files.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use ignore::Match;
use ignore::gitignore::Gitignore;
use notify::{Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

/// An editor that saves is silent for this time after its last change.
const SILENCE: Duration = Duration::from_millis(50);
/// Longest wait for the silence.
const MAX_WAIT: Duration = Duration::from_secs(1);
/// Changed paths that wait. Further ones change nothing: the build sees all of them.
const MAX_PATHS: usize = 1024;

/// The watched folders.
#[derive(Debug)]
pub(super) struct Sources {
    watcher: RecommendedWatcher,
    folders: BTreeSet<PathBuf>,
    changes: mpsc::Receiver<PathBuf>,
    /// A change was seen that [`changed`](Self::changed) has not reported.
    has_changed: bool,
}

impl Sources {
    /// Watches a folder.
    ///
    /// # Errors
    ///
    /// Returns an error if the operating system cannot watch it.
    pub(super) fn watch(folder: &Path) -> notify::Result<Self> {
        let (sender, changes) = mpsc::channel(MAX_PATHS);
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            let Ok(event) = event else {
                return;
            };
            if matches!(event.kind, EventKind::Access(_)) {
                return;
            }
            for path in event.paths {
                if is_source(&path) {
                    let _ = sender.try_send(path);
                }
            }
        })?;
        let mut sources = Self {
            watcher,
            folders: BTreeSet::new(),
            changes,
            has_changed: false,
        };
        sources.add(folder)?;
        Ok(sources)
    }

    /// Watches another folder, unless it is below one of the others. Its ignored folders are not watched: there may be
    /// more of them than an operating system lets a program watch.
    pub(super) fn add(&mut self, folder: &Path) -> notify::Result<()> {
        if self.folders.iter().any(|known| folder.starts_with(known)) {
            return Ok(());
        }
        self.watcher.watch(folder, RecursiveMode::NonRecursive)?;
        self.folders.insert(folder.to_owned());
        for entry in std::fs::read_dir(folder)?.flatten() {
            self.add_child(&entry.path())?;
        }
        Ok(())
    }

    fn add_child(&mut self, path: &Path) -> notify::Result<()> {
        if is_source(path) && path.is_dir() {
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
        if path
            .parent()
            .is_some_and(|parent| self.folders.contains(parent))
        {
            // A folder that has gone again is not watched.
            let _ = self.add_child(&path);
        }
    }
}

/// Returns true for the path of a source: no part of it is hidden, an output of a build, or ignored by git.
fn is_source(path: &Path) -> bool {
    let is_backup = path.to_string_lossy().ends_with('~');
    !is_backup && !is_ignored(path)
}

/// Returns true if a `.gitignore` above the path names it, or a folder above it.
fn is_ignored(path: &Path) -> bool {
    for (part, folder) in path.ancestors().zip(path.ancestors().skip(1)) {
        let name = part.file_name().unwrap_or_default();
        let is_output = name == OsStr::new("target") || name == OsStr::new("node_modules");
        // Caches such as the target folders of cargo have this file.
        if is_output
            || part.join("CACHEDIR.TAG").is_file()
            || name.as_encoded_bytes().starts_with(b".")
        {
            return true;
        }
        let file = folder.join(".gitignore");
        if file.is_file() {
            match Gitignore::new(file)
                .0
                .matched_path_or_any_parents(path, path.is_dir())
            {
                Match::Ignore(_) => return true,
                Match::Whitelist(_) => return false,
                Match::None => {}
            }
        }
        if folder.join(".git").exists() {
            return false;
        }
    }
    false
}
