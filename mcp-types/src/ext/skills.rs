//! The skills extension: instructions for a language model, as files that a server keeps.
//!
//! Spec: <https://github.com/modelcontextprotocol/ext-skills>

use serde::Deserialize;
use serde_json::Value;

use crate::json::{Piece, Write, members, read_and_written, read_via};
use crate::{Cursor, JsonObject, Meta, Resource};

/// What the URI of a skill begins with, as a rule.
// spec: SKILL-06
pub const SCHEME: &str = "skill://";
/// The MIME type of a directory.
// spec: SKILL-19
pub const DIRECTORY_MIME_TYPE: &str = "inode/directory";
/// Files that one skill may have.
// spec: SKILL-15
pub const MAX_RESOURCES: usize = 512;
/// Bytes that the files of one skill may have together.
// spec: SKILL-15
pub const MAX_BYTES: u64 = 16 << 20;

/// The settings that a server declares.
// spec: SKILL-01
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillsSettings {
    /// Directories can be read; false when absent.
    // spec: SKILL-03, SKILL-04
    pub directory_read: Option<bool>,
}

members!(SkillsSettings as "settings of skills" {
    "directoryRead" => directory_read or nothing,
});

impl SkillsSettings {
    /// Directories cannot be read.
    #[inline]
    pub fn new() -> Self {
        Self::default()
    }

    /// Directories can be read.
    #[must_use]
    #[inline]
    pub fn directory_read(mut self) -> Self {
        self.directory_read = Some(true);
        self
    }
}

/// A skill as a server lists it.
// spec: SKILL-10
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Skill {
    /// Where its instructions are.
    pub uri: String,
    /// What stands at the top of its instructions, word for word: `name`, `description` and more.
    // spec: SKILL-11
    pub frontmatter: JsonObject,
    /// Its files.
    pub resources: SkillResources,
}

members!(Skill as "a skill" {
    "uri" => uri,
    "frontmatter" => frontmatter,
    "resources" => resources or default,
});

impl Skill {
    /// A skill: where its instructions are, what stands at their top, and all of its files.
    #[inline]
    pub fn new(uri: impl Into<String>, frontmatter: JsonObject, resources: SkillResources) -> Self {
        Self {
            uri: uri.into(),
            frontmatter,
            resources,
        }
    }

    /// Its name: a label that others may have, too.
    // spec: SKILL-28
    #[inline]
    pub fn name(&self) -> Option<&str> {
        self.frontmatter.get("name")?.as_str()
    }

    /// What it is for.
    #[inline]
    pub fn description(&self) -> Option<&str> {
        self.frontmatter.get("description")?.as_str()
    }
}

/// The files of a skill.
// spec: SKILL-10, SKILL-12, SKILL-13
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkillResources {
    /// Every file once, the instructions among them.
    Listed(Vec<SkillResource>),
    /// They change; there is no list.
    Dynamic,
    /// Missing or something else: the skill is invalid and must not be loaded.
    // spec: SKILL-14
    #[default]
    Invalid,
}

const DYNAMIC: &str = "dynamic";

impl SkillResources {
    /// A file by its URI.
    #[inline]
    pub fn get(&self, uri: &str) -> Option<&SkillResource> {
        match self {
            Self::Listed(files) => files.iter().find(|file| file.uri == uri),
            Self::Dynamic | Self::Invalid => None,
        }
    }

    /// There are no more files and bytes than a host has to support. Without a list nobody knows.
    // spec: SKILL-15
    #[inline]
    pub fn is_within_limits(&self) -> bool {
        match self {
            Self::Listed(files) => {
                let add = |sum: u64, file: &SkillResource| sum.saturating_add(file.size);
                files.len() <= MAX_RESOURCES && files.iter().fold(0, add) <= MAX_BYTES
            }
            Self::Dynamic => true,
            Self::Invalid => false,
        }
    }
}

impl Write for SkillResources {
    #[inline]
    fn piece(&self) -> Piece<'_> {
        match self {
            Self::Listed(files) => Piece::List(files),
            Self::Dynamic => Piece::Text(DYNAMIC),
            Self::Invalid => Piece::Null,
        }
    }
}

read_via!(SkillResources, Self::Invalid, |value: Value| Ok(
    match value {
        Value::String(text) if text == DYNAMIC => Self::Dynamic,
        Value::Array(_) => Vec::deserialize(value).map_or(Self::Invalid, Self::Listed),
        _ => Self::Invalid,
    }
));
read_and_written!(SkillResources);

/// A file of a skill.
// spec: SKILL-10
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillResource {
    /// Where it is.
    pub uri: String,
    /// The hash of its bytes: `sha256:` and 64 hexadecimal digits in lower case.
    pub digest: String,
    /// How many bytes it has.
    pub size: u64,
}

members!(SkillResource as "a file of a skill" {
    "uri" => uri,
    "digest" => digest,
    "size" => size,
});

impl SkillResource {
    /// A file: where it is, the SHA-256 of its bytes, and how many these are.
    #[inline]
    pub fn new(uri: impl Into<String>, sha256: [u8; 32], size: u64) -> Self {
        let digest = sha256.iter().fold("sha256:".to_owned(), |mut text, byte| {
            for half in [byte >> 4, byte & 15] {
                text.push(char::from_digit(half.into(), 16).unwrap_or('0'));
            }
            text
        });
        Self {
            uri: uri.into(),
            digest,
            size,
        }
    }

    /// The SHA-256 of its bytes, when the digest is written as it should be.
    #[inline]
    pub fn sha256(&self) -> Option<[u8; 32]> {
        let text = self.digest.strip_prefix("sha256:")?.as_bytes();
        let digit = |byte: u8| match byte {
            b'0'..=b'9' => Some(byte - b'0'),
            b'a'..=b'f' => Some(byte - b'a' + 10),
            _ => None,
        };
        if text.len() != 64 {
            return None;
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            *byte = digit(pair[0])? << 4 | digit(pair[1])?;
        }
        Some(bytes)
    }
}

/// The result of `skills/list`.
// spec: SKILL-16
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ListSkillsResult {
    /// The skills of this page.
    pub skills: Vec<Skill>,
    /// Where the list goes on; absent on the last page.
    pub next_cursor: Option<Cursor>,
    /// What the result carries beside.
    pub meta: Option<Meta>,
}

members!(ListSkillsResult as "a list of skills" {
    "skills" => skills,
    "nextCursor" => next_cursor or nothing,
    "_meta" => meta or nothing,
});

impl ListSkillsResult {
    /// A page; the last one unless `next_cursor` is set.
    #[inline]
    pub fn new(skills: Vec<Skill>) -> Self {
        Self {
            skills,
            ..Self::default()
        }
    }
}

/// Parameters of `skills/get`.
// spec: SKILL-18
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GetSkillParams {
    /// Which skill.
    pub uri: String,
}

members!(GetSkillParams as "which skill" {
    "uri" => uri,
});

impl GetSkillParams {
    /// Names a skill.
    #[inline]
    pub fn new(uri: impl Into<String>) -> Self {
        Self { uri: uri.into() }
    }
}

/// The result of `skills/get`.
// spec: SKILL-18
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct GetSkillResult {
    /// The skill.
    pub skill: Skill,
    /// What the result carries beside.
    pub meta: Option<Meta>,
}

members!(GetSkillResult as "a skill" {
    "skill" => skill,
    "_meta" => meta or nothing,
});

impl GetSkillResult {
    /// A skill.
    #[inline]
    pub fn new(skill: Skill) -> Self {
        Self { skill, meta: None }
    }
}

/// Parameters of `resources/directory/read`.
// spec: SKILL-19
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadDirectoryParams {
    /// Which directory.
    pub uri: String,
    /// Where to go on; absent for the first page.
    pub cursor: Option<Cursor>,
}

members!(ReadDirectoryParams as "which directory" {
    "uri" => uri,
    "cursor" => cursor or nothing,
});

impl ReadDirectoryParams {
    /// The first page of a directory.
    #[inline]
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            cursor: None,
        }
    }

    /// The page at a cursor.
    #[must_use]
    #[inline]
    pub fn at(mut self, cursor: Cursor) -> Self {
        self.cursor = Some(cursor);
        self
    }
}

/// The result of `resources/directory/read`.
// spec: SKILL-19
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct ReadDirectoryResult {
    /// What is directly in the directory; directories have [`DIRECTORY_MIME_TYPE`].
    pub resources: Vec<Resource>,
    /// Where the list goes on; absent on the last page.
    pub next_cursor: Option<Cursor>,
    /// What the result carries beside.
    pub meta: Option<Meta>,
}

members!(ReadDirectoryResult as "a directory" {
    "resources" => resources,
    "nextCursor" => next_cursor or nothing,
    "_meta" => meta or nothing,
});

impl ReadDirectoryResult {
    /// A page; the last one unless `next_cursor` is set.
    #[inline]
    pub fn new(resources: Vec<Resource>) -> Self {
        Self {
            resources,
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{ListSkillsResult, MAX_BYTES, Skill, SkillResource, SkillResources};

    fn file(name: &str, size: u64) -> SkillResource {
        SkillResource::new(format!("skill://a/{name}"), [0xa7; 32], size)
    }

    #[test]
    fn digests() {
        let file = file("SKILL.md", 3);
        assert_eq!(file.digest, format!("sha256:{}", "a7".repeat(32)));
        assert_eq!(file.sha256(), Some([0xa7; 32]));
        for digest in [
            String::new(),
            "sha256:".to_owned(),
            file.digest.to_uppercase(),
            file.digest[..70].to_owned(),
            format!("{}0", file.digest),
            file.digest.replacen("a7", "g7", 1),
            format!("sha256:{}", "é".repeat(32)),
        ] {
            let broken = SkillResource {
                digest,
                ..file.clone()
            };
            assert_eq!(broken.sha256(), None, "{broken:?}");
        }
    }

    #[test]
    fn one_invalid_skill_leaves_the_others() {
        let front = json!({"name": "a", "description": "b", "x": [1]});
        let listed = json!([{"uri": "skill://a/SKILL.md", "digest": "sha256:0", "size": 1}]);
        let text = json!({"skills": [
            {"uri": "1", "frontmatter": front, "resources": listed},
            {"uri": "2", "frontmatter": front, "resources": "dynamic"},
            {"uri": "3", "frontmatter": front, "resources": "static"},
            {"uri": "4", "frontmatter": front, "resources": [{"uri": 7}]},
            {"uri": "5", "frontmatter": front},
        ]});
        let list: ListSkillsResult = serde_json::from_str(&text.to_string()).unwrap();
        let kinds: Vec<_> = list.skills.iter().map(|skill| &skill.resources).collect();
        assert!(matches!(kinds[0], SkillResources::Listed(files) if files.len() == 1));
        assert_eq!(kinds[1], &SkillResources::Dynamic);
        assert!(
            kinds[2..]
                .iter()
                .all(|kind| **kind == SkillResources::Invalid)
        );
        assert_eq!(list.skills[0].name(), Some("a"));
        let back = serde_json::to_value(&list.skills[..2]).unwrap();
        assert_eq!(back, json!(text["skills"].as_array().unwrap()[..2]));
    }

    #[test]
    fn limits() {
        let within = |files| SkillResources::Listed(files).is_within_limits();
        assert!(within(vec![file("a", MAX_BYTES)]));
        assert!(!within(vec![file("a", MAX_BYTES), file("b", 1)]));
        assert!(!within(vec![file("a", u64::MAX), file("b", 1)]));
        assert!(within(vec![file("a", 1); 512]) && !within(vec![file("a", 1); 513]));
        let skill = Skill::new(
            "skill://a/SKILL.md",
            crate::JsonObject::new(),
            SkillResources::Invalid,
        );
        assert!(!skill.resources.is_within_limits() && skill.description().is_none());
    }
}
