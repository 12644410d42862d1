//! A file of a skill with its size and digest.

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use hmac_sha256::Hash;
use mcp_types::meta::keys;
use mcp_types::{JsonObject, Resource, ResourceContents};

use super::error::SkillsError;
use super::folder::{Folder, FoundFile, Stamp};
use super::generator::{FileBytes, Generator};
use crate::frontmatter;
use crate::types::SkillResource;
use crate::uri::{INSTRUCTIONS, encode_path, is_valid_name};

/// Maximum length of a description in characters.
const MAX_DESCRIPTION: usize = 1024;

/// A file with its size and digest.
#[derive(Debug, Clone)]
pub(crate) struct SkillFile {
    /// The decoded path: the URI without its scheme.
    pub(super) path: String,
    pub(super) uri: String,
    /// The size and the digest in the skill's list. `None` if a function writes the file.
    pub(super) entry: Option<SkillResource>,
    is_text: bool,
    /// The YAML of a `SKILL.md`.
    pub(super) frontmatter: Option<Arc<JsonObject>>,
    pub(super) source: FileSource,
}

/// The source of the file bytes.
#[derive(Debug, Clone)]
pub(super) enum FileSource {
    Code(FileBytes),
    Disk {
        folder: Arc<Folder>,
        relative: PathBuf,
        stamp: Stamp,
    },
}

impl SkillFile {
    /// A file from code. `markdown` is the whole `SKILL.md`, or its YAML if the instructions are generated.
    pub(super) fn from_code(
        path: String,
        contents: FileBytes,
        markdown: &Bytes,
    ) -> Result<Self, SkillsError> {
        let (bytes, is_generated) = match &contents {
            FileBytes::Fixed(bytes) => (bytes.clone(), false),
            FileBytes::Generated(_) => (markdown.clone(), true),
        };
        let file = Self::new(path.clone(), &path, &bytes, FileSource::Code(contents))?;
        Ok(Self {
            entry: file.entry.filter(|_| !is_generated),
            ..file
        })
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
        let text = text_of(bytes);
        let frontmatter = if name_of(&path) == INSTRUCTIONS {
            let text = text.ok_or_else(|| SkillsError::NotText(shown.to_owned()))?;
            Some(Arc::new(read_frontmatter(&path, shown, text)?))
        } else {
            None
        };
        let uri = format!("skill://{}", encode_path(&path));
        Ok(Self {
            entry: Some(entry(&uri, bytes)),
            uri,
            is_text: text.is_some(),
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

    /// Reads the file. Returns `None` if its bytes differ from the digest.
    pub(super) fn read(&self) -> Result<Option<FileBytes>, SkillsError> {
        match &self.source {
            FileSource::Code(bytes) => Ok(Some(bytes.clone())),
            FileSource::Disk {
                folder, relative, ..
            } => {
                let bytes = folder.read(relative, self.size().unwrap_or_default())?.0;
                let is_same = self.entry.as_ref() == Some(&entry(&self.uri, &bytes));
                Ok(is_same.then(|| FileBytes::Fixed(bytes.into())))
            }
        }
    }

    /// Returns the function that writes the file, if there is one.
    pub(super) fn generator(&self) -> Option<&Generator> {
        match &self.source {
            FileSource::Code(FileBytes::Generated(generator)) => Some(generator),
            _ => None,
        }
    }

    /// Returns the size. `None` if a function writes the file.
    pub(super) fn size(&self) -> Option<u64> {
        self.entry.as_ref().map(|entry| entry.size)
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
        resource.mime_type = Some(self.mime_type(self.is_text).to_owned());
        resource.size = self.size();
        resource
    }

    /// Returns the contents for `resources/read`.
    pub(crate) fn contents(&self, bytes: Bytes) -> ResourceContents {
        let uri = self.uri.clone();
        let (contents, is_text) = match text_of(&bytes) {
            Some(text) => (ResourceContents::text(uri, text), true),
            None => (ResourceContents::blob(uri, bytes), false),
        };
        contents.mime_type(self.mime_type(is_text))
    }

    fn mime_type(&self, is_text: bool) -> &'static str {
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
            _ if is_text => "text/plain",
            _ => "application/octet-stream",
        }
    }
}

fn entry(uri: &str, bytes: &[u8]) -> SkillResource {
    SkillResource::new(uri, Hash::hash(bytes), bytes.len() as u64)
}

/// Returns the text of a file. A file with a NUL is binary, even if it is UTF-8.
pub(super) fn text_of(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?;
    (!text.contains('\0')).then_some(text)
}

/// Returns the last segment of a path.
pub(super) fn name_of(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the path of the directory that contains `path`. Returns `None` at the top.
pub(super) fn parent_of(path: &str) -> Option<&str> {
    path.rsplit_once('/').map(|(parent, _)| parent)
}

/// Parses and checks a `SKILL.md`'s YAML.
// spec: SKILL-05, SKILL-07, SKILL-35
fn read_frontmatter(path: &str, shown: &str, text: &str) -> Result<JsonObject, SkillsError> {
    let invalid = |problem| SkillsError::Frontmatter {
        file: shown.to_owned(),
        problem,
    };
    let document = frontmatter::parse(text).map_err(|error| invalid(error.to_string()))?;
    let frontmatter = document.frontmatter;
    let field = |name: &str| frontmatter.get(name).and_then(|value| value.as_str());
    let name = field("name").unwrap_or_default();
    if !is_valid_name(name) {
        let name: String = name.chars().take(80).collect();
        return Err(invalid(format!(
            "`name` must be 1 to 64 lowercase letters, digits and single hyphens, not at an end; it is `{name}`"
        )));
    }
    let folder = parent_of(path).map_or("", name_of);
    // A skill from code gets a folder with its name.
    if folder != name {
        return Err(invalid(format!(
            "`name` is `{name}`, but the folder is named `{folder}`; rename one of them"
        )));
    }
    let length = field("description").map_or(0, |text| text.chars().count());
    if !(1..=MAX_DESCRIPTION).contains(&length) {
        return Err(invalid(format!(
            "`description` must be a text of 1 to {MAX_DESCRIPTION} characters"
        )));
    }
    let metadata = frontmatter
        .get("metadata")
        .and_then(|value| value.as_object());
    let mut keys = metadata.into_iter().flat_map(JsonObject::keys);
    if let Some(key) = keys.find(|key| key.starts_with(keys::RESERVED_METADATA_PREFIX)) {
        return Err(invalid(format!(
            "the key `{key}` of `metadata` is reserved by the protocol; rename it"
        )));
    }
    Ok(frontmatter)
}
