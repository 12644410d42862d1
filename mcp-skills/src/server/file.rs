//! A file of a skill with its size and digest.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use mcp_types::ext::skills::SkillResource;
use mcp_types::meta::keys;
use mcp_types::{JsonObject, Resource, ResourceContents};

use super::error::SkillsError;
use super::folder::{Folder, FoundFile, Stamp};
use crate::digest::sha256;
use crate::frontmatter;
use crate::uri::{INSTRUCTIONS, encode_path, is_valid_name};

/// Maximum length of a description in characters.
const MAX_DESCRIPTION: usize = 1024;

/// A file with its size and digest.
#[derive(Debug, Clone)]
pub(super) struct SkillFile {
    /// The decoded path: the URI without its scheme.
    pub(super) path: String,
    pub(super) uri: String,
    pub(super) size: u64,
    pub(super) digest: [u8; 32],
    is_text: bool,
    /// The YAML of a `SKILL.md`.
    pub(super) frontmatter: Option<Arc<JsonObject>>,
    pub(super) source: FileSource,
}

/// The place of the bytes of a file.
#[derive(Debug, Clone)]
pub(super) enum FileSource {
    Memory(Bytes),
    Disk {
        folder: Arc<Folder>,
        relative: PathBuf,
        stamp: Stamp,
    },
}

impl SkillFile {
    /// A file in memory.
    pub(super) fn in_memory(path: String, bytes: &Bytes) -> Result<Self, SkillsError> {
        let source = FileSource::Memory(bytes.clone());
        Self::new(path.clone(), &path, bytes, source)
    }

    /// Reads a file of a folder.
    pub(super) fn on_disk(
        folder: &Arc<Folder>,
        found: &FoundFile,
        limit: u64,
    ) -> Result<Self, SkillsError> {
        let (bytes, stamp) = folder.read(&found.relative, limit)?;
        let source = FileSource::Disk {
            folder: folder.clone(),
            relative: found.relative.clone(),
            stamp,
        };
        let shown = folder.display(&found.relative);
        Self::new(found.path.clone(), &shown, &bytes, source)
    }

    fn new(
        path: String,
        shown: &str,
        bytes: &[u8],
        source: FileSource,
    ) -> Result<Self, SkillsError> {
        let text = std::str::from_utf8(bytes);
        let frontmatter = match name_of(&path) == INSTRUCTIONS {
            true => {
                let text = text.map_err(|_| SkillsError::NotUtf8(shown.to_owned()))?;
                Some(Arc::new(read_frontmatter(&path, shown, text)?))
            }
            false => None,
        };
        Ok(Self {
            uri: format!("skill://{}", encode_path(&path)),
            size: bytes.len() as u64,
            digest: sha256(bytes),
            is_text: text.is_ok(),
            frontmatter,
            source,
            path,
        })
    }

    /// Returns true if this is the file that the walk has found, unchanged.
    pub(super) fn is_current(&self, found: &FoundFile) -> bool {
        matches!(&self.source, FileSource::Disk { relative, stamp, .. }
            if *relative == found.relative && *stamp == found.stamp)
    }

    /// Reads the bytes. Returns `None` if they differ from the digest.
    pub(super) fn read(&self) -> Result<Option<Bytes>, SkillsError> {
        let bytes = match &self.source {
            FileSource::Memory(bytes) => return Ok(Some(bytes.clone())),
            FileSource::Disk {
                folder, relative, ..
            } => folder.read(relative, self.size)?.0,
        };
        Ok((sha256(&bytes) == self.digest).then(|| bytes.into()))
    }

    /// Returns the entry of the file in the list of its skill.
    pub(super) fn manifest_entry(&self) -> SkillResource {
        SkillResource::new(self.uri.clone(), self.digest, self.size)
    }

    /// Returns the file as a resource.
    // spec: SKILL-09
    pub(super) fn resource(&self) -> Resource {
        let mut resource = Resource::new(self.uri.clone());
        let field = |name: &str| self.frontmatter.as_ref()?.get(name)?.as_str();
        resource.name = field("name")
            .unwrap_or_else(|| name_of(&self.path))
            .to_owned();
        resource.description = field("description").map(str::to_owned);
        resource.mime_type = Some(self.mime_type().to_owned());
        resource.size = Some(self.size);
        resource
    }

    /// Returns the contents for `resources/read`.
    pub(super) fn contents(&self, bytes: Bytes) -> ResourceContents {
        let mime_type = Some(self.mime_type().to_owned());
        let mut contents = match String::from_utf8(bytes.into()) {
            Ok(text) => ResourceContents::text(self.uri.clone(), text),
            Err(error) => ResourceContents::blob(self.uri.clone(), error.into_bytes()),
        };
        match &mut contents {
            ResourceContents::Text(text) => text.mime_type = mime_type,
            ResourceContents::Blob(blob) => blob.mime_type = mime_type,
            _ => {}
        }
        contents
    }

    fn mime_type(&self) -> &'static str {
        let name = name_of(&self.path);
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        match &*extension.to_ascii_lowercase() {
            "md" => "text/markdown",
            "html" | "htm" => "text/html",
            "css" => "text/css",
            "csv" => "text/csv",
            "js" | "mjs" => "text/javascript",
            "py" => "text/x-python",
            "sh" => "application/x-sh",
            "json" => "application/json",
            "yaml" | "yml" => "application/yaml",
            "toml" => "application/toml",
            "xml" => "application/xml",
            "pdf" => "application/pdf",
            "zip" => "application/zip",
            "png" => "image/png",
            "jpg" | "jpeg" => "image/jpeg",
            "gif" => "image/gif",
            "webp" => "image/webp",
            "svg" => "image/svg+xml",
            _ if self.is_text => "text/plain",
            _ => "application/octet-stream",
        }
    }
}

/// Returns the last segment of a path.
pub(super) fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the path of the directory that contains `path`. Returns `None` at the top.
pub(super) fn parent_of(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(parent, _)| parent)
}

/// Parses and checks the YAML of a `SKILL.md`.
// spec: SKILL-05, SKILL-07, SKILL-35
fn read_frontmatter(path: &str, shown: &str, text: &str) -> Result<JsonObject, SkillsError> {
    let file = || shown.to_owned();
    let document = frontmatter::parse(text).map_err(|reason| SkillsError::Frontmatter {
        file: file(),
        reason,
    })?;
    let frontmatter = document.frontmatter;
    let field = |name: &str| frontmatter.get(name).and_then(|value| value.as_str());
    let name = field("name").unwrap_or_default();
    if !is_valid_name(name) {
        let name = name.chars().take(80).collect();
        return Err(SkillsError::InvalidName { file: file(), name });
    }
    let folder = parent_of(path).map_or("", name_of);
    // A skill from code gets the folder of its name.
    if folder != name {
        return Err(SkillsError::NameMismatch {
            file: file(),
            name: name.to_owned(),
            folder: folder.to_owned(),
        });
    }
    let length = field("description").map_or(0, |text| text.chars().count());
    if !(1..=MAX_DESCRIPTION).contains(&length) {
        return Err(SkillsError::InvalidDescription { file: file() });
    }
    let metadata = frontmatter
        .get("metadata")
        .and_then(|value| value.as_object());
    let mut keys = metadata.into_iter().flat_map(JsonObject::keys);
    if let Some(key) = keys.find(|key| key.starts_with(keys::RESERVED_METADATA_PREFIX)) {
        let key = key.clone();
        return Err(SkillsError::ReservedKey { file: file(), key });
    }
    Ok(frontmatter)
}
