//! The lists of a server in a file, so that the server need not run to be listed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::task::spawn_blocking;

use super::listing::Listing;

/// Largest file in bytes. A longer one is neither read nor written.
const MAX_BYTES: usize = 64 << 20;

/// The file of one server.
#[derive(Debug)]
pub(crate) struct Manifest {
    path: PathBuf,
    /// The content that is to be written.
    next: Mutex<Option<Vec<u8>>>,
    /// Held while the file is written, so that an older content never replaces a newer one.
    writing: Mutex<()>,
}

impl Manifest {
    pub(crate) fn new(path: PathBuf) -> Arc<Self> {
        Arc::new(Self {
            path,
            next: Mutex::default(),
            writing: Mutex::default(),
        })
    }

    /// Returns the lists of the file. A file that cannot be used is reported in the log, and written again when
    /// the server has started.
    pub(crate) async fn read(self: Arc<Self>) -> Option<Listing> {
        let read = spawn_blocking(move || match read(&self.path) {
            Ok(listing) => Some(listing),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => {
                let path = self.path.display();
                tracing::warn!(path = %mcp_types::escaped(&path), error = %mcp_types::escaped(&error), "the manifest of a server cannot be read");
                None
            }
        });
        read.await.ok()?
    }

    /// Writes lists on another thread.
    pub(crate) fn write(self: &Arc<Self>, listing: &Listing) {
        let content = match serde_json::to_vec(listing) {
            Ok(content) if content.len() <= MAX_BYTES => content,
            Ok(_) => return self.warn(&"it is too large"),
            Err(error) => return self.warn(&error),
        };
        *self.next.lock() = Some(content);
        let manifest = self.clone();
        spawn_blocking(move || {
            let _writing = manifest.writing.lock();
            let Some(content) = manifest.next.lock().take() else {
                return;
            };
            if let Err(error) = write(&manifest.path, &content) {
                manifest.warn(&error);
            }
        });
    }

    /// Removes the file on another thread.
    pub(crate) fn remove(self: &Arc<Self>) {
        let manifest = self.clone();
        spawn_blocking(move || {
            let _writing = manifest.writing.lock();
            *manifest.next.lock() = None;
            // It may not exist.
            let _ = fs::remove_file(&manifest.path);
        });
    }

    fn warn(&self, error: &dyn std::fmt::Display) {
        let path = self.path.display();
        tracing::warn!(path = %mcp_types::escaped(&path), error = %mcp_types::escaped(&error), "the manifest of a server cannot be written");
    }
}

fn read(path: &Path) -> io::Result<Listing> {
    path.parent()
        .into_iter()
        .for_each(mcp_files::remove_leftovers);
    let content = mcp_files::read_from(mcp_files::open_own(path)?, MAX_BYTES as u64)?;
    Ok(serde_json::from_str(&content)?)
}

fn write(path: &Path, content: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    mcp_files::replace(path, content)
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::write;

    #[test]
    fn manifest_is_private_and_replaces_a_link() {
        let folder = std::env::temp_dir().join(format!("mcp-manifest-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let (victim, path) = (folder.join("victim"), folder.join("lists/files.json"));
        fs::write(&victim, "secret").unwrap();
        write(&path, b"{}").unwrap();
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        for target in [&victim, &folder.join("dangling")] {
            fs::remove_file(&path).unwrap();
            symlink(target, &path).unwrap();
            write(&path, b"{\"tools\": []}").unwrap();
            assert!(fs::symlink_metadata(&path).unwrap().is_file());
        }
        assert_eq!(fs::read_to_string(&victim).unwrap(), "secret");
        assert!(!folder.join("dangling").exists());
        fs::remove_dir_all(&folder).unwrap();
    }
}
