//! Bytes that an install has replaced, so that the removal of the entry can put them back.

use std::path::{Path, PathBuf};
use std::{fs, io};

use mcp::core::ServerIdentity;
use serde::{Deserialize, Serialize};

use crate::{config, written};

/// Largest file in bytes. A larger settings file is edited when its entry is removed.
const MAX_BYTES: usize = 4 << 20;

/// A settings file before the install of an entry.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Undo {
    /// Digest of the file that the install has written.
    written: String,
    /// The file directly before. `None`: it did not exist.
    pub(crate) before: Option<String>,
}

impl Undo {
    pub(crate) fn new(written: &str, before: Option<&str>) -> Self {
        Self {
            written: digest(written),
            before: before.map(str::to_owned),
        }
    }

    /// Reads what is kept for an entry, if the file still is what its install has written.
    pub(crate) fn read(settings: &Path, name: &str, text: &str) -> Option<Self> {
        let kept = mcp_files::read(&file(settings, name)?, MAX_BYTES as u64).ok()?;
        let kept: Self = serde_json::from_str(&kept).ok()?;
        (kept.written == digest(text)).then_some(kept)
    }

    /// Keeps this for an entry. Only the user can read it.
    pub(crate) fn keep(&self, settings: &Path, name: &str) -> io::Result<()> {
        let (Some(path), bytes) = (file(settings, name), serde_json::to_vec(self)?) else {
            return Ok(());
        };
        if bytes.len() > MAX_BYTES {
            return Ok(());
        }
        written::store(&path, &bytes)
    }

    /// Removes what is kept for an entry.
    pub(crate) fn forget(settings: &Path, name: &str) {
        // Without it, the entry alone is removed.
        let _ = file(settings, name).map(fs::remove_file);
    }
}

fn digest(text: &str) -> String {
    ServerIdentity::from_parts("settings", [text]).to_string()
}

fn file(settings: &Path, name: &str) -> Option<PathBuf> {
    let path = std::path::absolute(settings).ok()?;
    let parts = vec![path.as_os_str().as_encoded_bytes(), name.as_bytes()];
    let fingerprint = ServerIdentity::from_parts("install", parts).to_string();
    Some(
        config::data_folder()?
            .join("mcp/installs")
            .join(fingerprint),
    )
}
