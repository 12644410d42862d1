//! Changes of source files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use ignore::gitignore::Gitignore;
use notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};
use parking_lot::Mutex;
use same_file::Handle;
use serde_json::json;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, timeout, timeout_at};

use super::current::Current;
use crate::failure::{Failure, usage};
use crate::output::Output;
use crate::page_guard;

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
/// Time in which the operating system tells a change.
const MAX_DELAY: Duration = Duration::from_secs(1);

/// The watched folders.
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
    current: Current,
    pub(super) marks: Arc<Marks>,
    output: Output,
}

/// Files in a folder of this command, by which a call learns that all changes before it are known: the operating system
/// tells changes in their order.
#[derive(Debug)]
pub(super) struct Marks {
    folder: PathBuf,
    last: AtomicU64,
    seen: watch::Sender<u64>,
}

impl Marks {
    fn new() -> Result<Self, Failure> {
        let name = format!(".mcp-dev-{}", page_guard::random()?);
        let folder = std::env::temp_dir().join(name);
        let mut builder = std::fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder).map_err(|error| {
            let folder = folder.display();
            usage!("cannot create the folder {folder}: {error}")
        })?;
        Ok(Self {
            folder,
            last: AtomicU64::new(0),
            seen: watch::Sender::new(0),
        })
    }

    /// Waits until the changes before this call are known.
    pub(super) async fn pass(&self) {
        let number = self.last.fetch_add(1, Ordering::Relaxed) + 1;
        let file = self.folder.join(number.to_string());
        if tokio::fs::write(&file, "").await.is_err() {
            return;
        }
        let mut seen = self.seen.subscribe();
        // Systems that tell changes late do so within this time.
        let _ = timeout(MAX_DELAY, seen.wait_for(|seen| *seen >= number)).await;
        let _ = tokio::fs::remove_file(file).await;
    }

    /// Returns true for one of the files.
    fn notice(&self, path: &Path) -> bool {
        // The system may tell another path of the folder.
        let parent = path.parent().and_then(Path::file_name);
        let is_mark = parent.is_some() && parent == self.folder.file_name();
        let number = path
            .file_name()
            .and_then(|name| name.to_str()?.parse::<u64>().ok());
        if let (true, Some(number)) = (is_mark, number) {
            self.seen.send_modify(|seen| *seen = number.max(*seen));
        }
        is_mark || path.file_name() == self.folder.file_name()
    }
}

impl Drop for Marks {
    fn drop(&mut self) {
        // It is empty, but for the files of calls that were given up.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// The folders whose sources are watched. Clones share them.
#[derive(Debug, Clone, Default)]
struct Folders(Arc<Mutex<BTreeSet<PathBuf>>>);

impl Sources {
    /// Watches a folder.
    ///
    /// # Errors
    ///
    /// Returns a [`Failure`] if the operating system cannot watch it.
    pub(super) fn watch(folder: &Path, current: Current, output: Output) -> Result<Self, Failure> {
        let failed = |error: notify::Error| {
            let folder = folder.display();
            usage!("cannot watch {folder}: {error}")
        };
        let (sender, changes) = mpsc::channel(MAX_PATHS);
        let marks = Arc::new(Marks::new()?);
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
        let (changed, noticed, root) = (current.clone(), marks.clone(), folder.to_owned());
        let changed = move |path| {
            changed.source_changed();
            // With a full queue, another change is still to be reported.
            let _ = sender.try_send(path);
        };
        let watcher = notify::recommended_watcher(move |event: notify::Result<Event>| {
            let Ok(event) = event else {
                return;
            };
            if event.need_rescan() {
                // The system has lost events.
                changed(root.clone());
            }
            for path in event.paths {
                if noticed.notice(&path) {
                    continue;
                }
                let is_change = match event.kind {
                    EventKind::Access(_) => false,
                    // A change of a folder's content: the changed file has an event of its own.
                    EventKind::Modify(_) => !path.is_dir(),
                    _ => true,
                };
                if is_change && known.has_source(&path) && !is_printed(&path) {
                    changed(path);
                }
            }
        });
        let mut watcher = watcher.map_err(failed)?;
        // Without it, calls wait for a moment.
        let _ = watcher.watch(&marks.folder, RecursiveMode::NonRecursive);
        let mut sources = Self {
            watcher,
            folders,
            changes,
            unreported: BTreeSet::new(),
            reported: BTreeSet::new(),
            starts: 0,
            current,
            marks,
            output,
        };
        sources.add(folder).map_err(failed)?;
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
        self.settle().await;
        // A client that edits and calls changes the same files again.
        let is_known = self.unreported.is_subset(&self.reported) && !self.current.was_called();
        if is_quick && is_known {
            self.starts += 1;
        } else {
            self.starts = 0;
        }
        if self.starts >= MAX_STARTS {
            self.pause(start).await;
            self.settle().await;
        }
        self.reported = std::mem::take(&mut self.unreported);
    }

    /// Waits until no file is changed any more, for a limited time.
    async fn settle(&mut self) {
        let end = Instant::now() + MAX_WAIT;
        let silence = || end.min(Instant::now() + SILENCE);
        while timeout_at(silence(), self.next()).await.is_ok() && Instant::now() < end {}
    }

    /// Waits for the change of another file, for one that the start has not made, or for a call, for a limited time.
    async fn pause(&mut self, start: Instant) {
        let files = self.unreported.iter();
        let files: Vec<_> = files.map(|file| file.display().to_string()).collect();
        let text = format!(
            "each start is followed by a change of {}; if the server writes it, add it to .gitignore",
            files.join(", ")
        );
        let seconds = PAUSE.as_secs();
        if self.starts == MAX_STARTS {
            let text = format!("{text}. The next start for it is in {seconds} s");
            self.output
                .event(&text, &json!({"event": "loop", "files": files}));
        }
        let problem = format!(
            "the sources are newer than the program, which was not asked: {text}. Call again after {seconds} s"
        );
        let current = self.current.clone();
        let other = async {
            loop {
                self.next().await;
                if !self.unreported.is_subset(&self.reported) {
                    self.starts = 0;
                    return;
                }
                if start.elapsed() >= START {
                    return;
                }
            }
        };
        tokio::select! {
            () = sleep(PAUSE) => {}
            () = other => {}
            () = current.paused(problem) => {}
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
