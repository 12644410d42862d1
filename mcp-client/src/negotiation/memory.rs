//! [`ProbeMemory`]: the memory of a [group](crate::group) that a server does not survive
//! `server/discover`.

use std::fs::{self, File};
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Time for which a file remembers: a day.
const MAX_AGE: Duration = Duration::from_secs(86_400);

tokio::task_local! {
    /// The memory of the server that this task starts.
    static CURRENT: ProbeMemory;
}

/// Remembers for a server that is started again and again whether `server/discover` made its process
/// unusable or was left unanswered. Later starts begin with `initialize`.
///
/// A group connects by functions of its program, which create the client themselves. The memory
/// therefore reaches [`ClientBuilder::over`](crate::ClientBuilder::over) as a value of the task: an argument
/// would be public API for a rare case. A function that connects in a task of its own leaves the scope, and its
/// server is probed at each start: two processes, or a wait of 5 seconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProbeMemory {
    skips_probe: Arc<AtomicBool>,
    /// The file that exists if the probe is skipped, also by other processes.
    file: Option<PathBuf>,
}

impl ProbeMemory {
    /// Runs a start of the server with this memory.
    pub(crate) async fn scope<F: Future>(&self, start: F) -> F::Output {
        CURRENT.scope(self.clone(), start).await
    }

    /// Returns the memory of the server that this task starts. Outside a group it is empty and
    /// forgotten.
    pub(crate) fn current() -> Self {
        CURRENT.try_with(Clone::clone).unwrap_or_default()
    }

    /// Returns the memory with the file of [`ClientBuilder::remember_silence`](crate::ClientBuilder::remember_silence).
    pub(crate) fn with_file(self, file: Option<PathBuf>) -> Self {
        Self { file, ..self }
    }

    /// Returns whether the next start begins with `initialize`.
    pub(crate) fn skips_probe(&self) -> bool {
        self.skips_probe.load(Ordering::Relaxed) || self.file.as_deref().is_some_and(is_recent)
    }

    pub(crate) fn set_skips_probe(&self, skips: bool) {
        self.skips_probe.store(skips, Ordering::Relaxed);
        let Some(file) = &self.file else {
            return;
        };
        // Best effort: without the file the next start probes.
        if !skips {
            let _ = fs::remove_file(file);
        } else if !is_recent(file) {
            let _ = fs::remove_file(file);
            let created = file.parent().map_or(Ok(()), fs::create_dir_all);
            // Follows no link.
            let _ = created.and_then(|()| File::create_new(file));
        }
    }
}

fn is_recent(file: &Path) -> bool {
    let changed = fs::symlink_metadata(file).and_then(|file| file.modified());
    // A time in the future is none of this clock.
    changed.is_ok_and(|time| time.elapsed().is_ok_and(|age| age < MAX_AGE))
}
