//! A loaded skill: verified instructions, and files on demand.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use mcp_types::escape_json;
use parking_lot::Mutex;

use super::approval::SkillId;
use super::error::SkillError;
use super::reader::FileReader;
use crate::frontmatter::{self, FrontmatterError};
use crate::types::{MAX_BYTES, Skill, SkillResources};
use crate::uri::{encode_path, is_plain_file_path, is_within, root_of};

/// A loaded skill. Its instructions are verified; its other files are read and verified on demand, and kept.
///
/// The content is input of the server, with no more authority than any other. A matching digest says that
/// it is the content which the server lists, not that it is harmless. Fields such as `allowed-tools` have no
/// effect.
#[derive(Debug)]
pub struct LoadedSkill {
    reader: FileReader,
    skill: Arc<Skill>,
    markdown: String,
    /// The text's offset after the YAML.
    body: usize,
    files: Mutex<Files>,
}

/// Files that were read.
#[derive(Debug, Default)]
struct Files {
    verified: HashMap<String, Bytes>,
    /// Bytes of dynamic files that were read.
    dynamic_bytes: u64,
}

/// Reads and verifies the instructions of a checked entry.
pub(super) async fn load_instructions(
    reader: FileReader,
    skill: Arc<Skill>,
) -> Result<LoadedSkill, SkillError> {
    let uri = skill.uri.clone();
    let bytes = reader.fetch(&uri, skill.resources.get(&uri)).await?;
    let failed = |reason| SkillError::Frontmatter {
        uri: uri.clone(),
        reason,
    };
    let markdown =
        String::from_utf8(bytes.to_vec()).map_err(|_| failed(FrontmatterError::Missing))?;
    let document = frontmatter::parse(&markdown).map_err(failed)?;
    let body = markdown.len() - document.body.len();
    let found = frontmatter::difference(&skill.frontmatter, &document.frontmatter);
    if let Some(field) = found {
        let field = field.to_owned();
        return Err(SkillError::WrongFrontmatter { uri, field });
    }
    let mut files = Files::default();
    match skill.resources {
        SkillResources::Listed(_) => drop(files.verified.insert(uri, bytes)),
        _ => files.dynamic_bytes = bytes.len() as u64,
    }
    Ok(LoadedSkill {
        reader,
        skill,
        markdown,
        body,
        files: Mutex::new(files),
    })
}

impl LoadedSkill {
    /// Returns the skill's identity.
    pub fn id(&self) -> SkillId {
        SkillId::new(self.reader.label.as_str(), self.skill.uri.clone())
    }

    /// Returns the verified entry: name, description, further fields, and the list of files.
    pub fn entry(&self) -> &Skill {
        &self.skill
    }

    /// Returns the instructions: the Markdown after the YAML.
    pub fn instructions(&self) -> &str {
        self.markdown.get(self.body..).unwrap_or_default()
    }

    /// Returns the instructions with a first line that names the server and the URI, for a language
    /// model's context. A user and a model can tell them from local skills.
    // spec: SKILL-29
    pub fn tagged_instructions(&self) -> String {
        let id = serde_json::json!({"server": self.reader.label.as_str(), "skill": self.skill.uri});
        // `-->` and `--!>` end the comment.
        let id = escape_json(&id.to_string()).replace('>', "\\u003e");
        format!(
            "<!-- skill of an MCP server: {id} -->\n{}",
            self.instructions()
        )
    }

    /// Reads a file of the skill: a path relative to its `SKILL.md`, such as `references/forms.md`, or a URI.
    /// Verified files are kept, so that each is requested once.
    ///
    /// # Errors
    ///
    /// Returns [`SkillError::Unlisted`] for files that are not listed in the entry, and another [`SkillError`]
    /// if the request fails or the content differs from the entry.
    // spec: SKILL-24, SKILL-27, SKILL-31
    pub async fn read(&self, reference: &str) -> Result<Bytes, SkillError> {
        let uri = self.resolve(reference)?;
        match &self.skill.resources {
            SkillResources::Listed(_) => {}
            _ => return self.read_dynamic(&uri).await,
        }
        let Some(expected) = self.skill.resources.get(&uri) else {
            let skill = self.skill.uri.clone();
            return Err(SkillError::Unlisted { uri, skill });
        };
        if let Some(bytes) = self.files.lock().verified.get(&uri) {
            return Ok(bytes.clone());
        }
        let bytes = self.reader.fetch(&uri, Some(expected)).await?;
        self.files.lock().verified.insert(uri, bytes.clone());
        Ok(bytes)
    }

    /// Reads a file of a dynamic skill. All reads together are limited.
    async fn read_dynamic(&self, uri: &str) -> Result<Bytes, SkillError> {
        let bytes = self.reader.fetch(uri, None).await?;
        let mut files = self.files.lock();
        let total = files.dynamic_bytes.saturating_add(bytes.len() as u64);
        if total > MAX_BYTES {
            return Err(SkillError::TooLarge {
                uri: self.skill.uri.clone(),
                problem: format!("its files have more than {MAX_BYTES} bytes"),
            });
        }
        files.dynamic_bytes = total;
        Ok(bytes)
    }

    /// Returns the URI of a reference.
    fn resolve(&self, reference: &str) -> Result<String, SkillError> {
        let invalid = || SkillError::InvalidReference(reference.to_owned());
        let root = root_of(&self.skill.uri).ok_or_else(invalid)?;
        if reference.contains("://") {
            if !is_within(root, reference) {
                return Err(SkillError::Unlisted {
                    uri: reference.to_owned(),
                    skill: self.skill.uri.clone(),
                });
            }
            return Ok(reference.to_owned());
        }
        let path = reference.strip_prefix("./").unwrap_or(reference);
        if is_plain_file_path(path) {
            Ok(format!("{root}/{}", encode_path(path)))
        } else {
            Err(invalid())
        }
    }
}
