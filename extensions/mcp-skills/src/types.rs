//! Messages of the extension: skills, their files, request parameters and results.
//!
//! Spec: <https://github.com/modelcontextprotocol/ext-skills>

use mcp_types::{CacheScope, Cursor, JsonObject, Meta, Resource};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// MIME type of a directory.
// spec: SKILL-19
pub(crate) const DIRECTORY_MIME_TYPE: &str = "inode/directory";
/// Maximum number of files in a skill: 512.
// spec: SKILL-15
pub(crate) const MAX_RESOURCES: usize = 512;
/// Maximum total size of the files in a skill: 16 MiB.
// spec: SKILL-15
pub(crate) const MAX_BYTES: u64 = 16 << 20;

/// Settings of the extension for servers.
// spec: SKILL-01
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SkillsSettings {
    /// Support for `resources/directory/read`. Default: `false`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directory_read: Option<bool>,
}

/// The definition of a skill, as `skills/list` returns it.
// spec: SKILL-10
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Skill {
    /// URI of the instructions.
    pub uri: String,
    /// The front matter of the instructions, verbatim: `name`, `description` and more.
    pub frontmatter: JsonObject,
    /// The skill's files.
    #[serde(default)]
    pub resources: SkillResources,
}

impl Skill {
    /// Creates a skill from the URI of its instructions, their front matter, and its files.
    pub fn new(uri: impl Into<String>, frontmatter: JsonObject, resources: SkillResources) -> Self {
        Self {
            uri: uri.into(),
            frontmatter,
            resources,
        }
    }

    /// Returns the skill's name. Names are labels and need not be unique.
    pub fn name(&self) -> Option<&str> {
        self.frontmatter.get("name")?.as_str()
    }

    /// Returns the skill's description.
    pub fn description(&self) -> Option<&str> {
        self.frontmatter.get("description")?.as_str()
    }
}

/// The files of a skill.
///
/// In JSON the value is an array of files or the string `dynamic`. Any other value is read as
/// [`Invalid`](Self::Invalid), so that one invalid skill does not affect the other skills of a list.
// spec: SKILL-10
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum SkillResources {
    /// All files, including the instructions. Each is listed once.
    Listed(Vec<SkillResource>),
    /// Files that change, without a list.
    Dynamic,
    /// A missing or malformed value. The skill must not be loaded.
    #[default]
    Invalid,
}

const DYNAMIC: &str = "dynamic";

impl SkillResources {
    /// Returns a file by its URI.
    pub fn get(&self, uri: &str) -> Option<&SkillResource> {
        match self {
            Self::Listed(files) => files.iter().find(|file| file.uri == uri),
            Self::Dynamic | Self::Invalid => None,
        }
    }
}

impl Serialize for SkillResources {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Listed(files) => files.serialize(serializer),
            Self::Dynamic => serializer.serialize_str(DYNAMIC),
            Self::Invalid => serializer.serialize_unit(),
        }
    }
}

impl<'de> Deserialize<'de> for SkillResources {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        if serde_json::from_str::<String>(raw.get()).is_ok_and(|text| text == DYNAMIC) {
            return Ok(Self::Dynamic);
        }
        let files = serde_json::from_str(raw.get());
        Ok(files.map_or(Self::Invalid, Self::Listed))
    }
}

/// A skill file.
// spec: SKILL-10
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SkillResource {
    /// The file's URI.
    pub uri: String,
    /// Digest of the bytes: `sha256:` and 64 hexadecimal digits in lower case.
    pub digest: String,
    /// Size in bytes.
    pub size: u64,
}

impl SkillResource {
    /// Creates a file from its URI, the SHA-256 of its bytes, and its size in bytes.
    pub fn new(uri: impl Into<String>, sha256: [u8; 32], size: u64) -> Self {
        Self {
            uri: uri.into(),
            digest: digest_text(sha256),
            size,
        }
    }

    /// Returns true if the digest has the form of a SHA-256.
    pub(crate) fn has_digest(&self) -> bool {
        let digits = self.digest.strip_prefix("sha256:").unwrap_or_default();
        let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        digits.len() == 64 && digits.bytes().all(is_digit)
    }
}

/// Returns a SHA-256 as `sha256:` and hexadecimal digits.
pub(crate) fn digest_text(sha256: [u8; 32]) -> String {
    let digits: String = sha256.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{digits}")
}

/// Parameters of `skills/list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ListSkillsParams {
    /// The page's cursor. Absent for the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<Cursor>,
}

/// Result of `skills/list`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ListSkillsResult {
    /// This page's skills.
    pub skills: Vec<Skill>,
    /// Cursor of the next page. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
    /// Freshness in milliseconds after receipt (`ttlMs`). Servers always set it.
    #[serde(rename = "ttlMs", skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<u64>,
    /// Scope of the cached result (`cacheScope`). Servers always set it.
    #[serde(rename = "cacheScope", skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

/// Parameters of `skills/get`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GetSkillParams {
    /// The skill's URI.
    pub(crate) uri: String,
}

/// Result of `skills/get`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct GetSkillResult {
    /// The skill.
    pub(crate) skill: Skill,
    /// Freshness in milliseconds after receipt (`ttlMs`). Servers always set it.
    #[serde(rename = "ttlMs", skip_serializing_if = "Option::is_none")]
    pub(crate) ttl_ms: Option<u64>,
    /// Scope of the cached result (`cacheScope`). Servers always set it.
    #[serde(rename = "cacheScope", skip_serializing_if = "Option::is_none")]
    pub(crate) cache_scope: Option<CacheScope>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub(crate) meta: Option<Meta>,
}

/// Parameters of `resources/directory/read`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ReadDirectoryParams {
    /// The directory's URI.
    pub(crate) uri: String,
    /// The page's cursor. Absent for the first page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cursor: Option<Cursor>,
}

/// Result of `resources/directory/read`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ReadDirectoryResult {
    /// The directory's direct children. Directories have the MIME type `inode/directory`.
    pub resources: Vec<Resource>,
    /// Cursor of the next page. Absent on the last page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
    /// Protocol-level metadata (`_meta`).
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta>,
}

#[cfg(test)]
mod tests {
    use serde::de::DeserializeOwned;
    use serde_json::json;

    use super::{
        GetSkillParams, GetSkillResult, ListSkillsParams, ListSkillsResult, ReadDirectoryParams,
        ReadDirectoryResult, Skill, SkillResource, SkillResources, SkillsSettings,
    };

    fn file(name: &str, size: u64) -> SkillResource {
        SkillResource::new(format!("skill://a/{name}"), [0xa7; 32], size)
    }

    #[test]
    fn digest_has_64_digits() {
        let file = file("SKILL.md", 3);
        assert_eq!(file.digest, format!("sha256:{}", "a7".repeat(32)));
        assert!(file.has_digest());
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
            assert!(!broken.has_digest(), "{broken:?}");
        }
    }

    #[test]
    fn invalid_skill_does_not_affect_the_others() {
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
    fn files_round_trip() {
        let files = vec![file("SKILL.md", 3), file("a.md", u64::MAX)];
        for resources in [
            SkillResources::Dynamic,
            SkillResources::Listed(Vec::new()),
            SkillResources::Listed(files),
        ] {
            let text = serde_json::to_string(&resources).unwrap();
            let read: SkillResources = serde_json::from_str(&text).unwrap();
            assert_eq!(read, resources, "{text}");
        }
    }

    #[test]
    fn repeated_member_is_refused() {
        fn check<T: DeserializeOwned>(members: &[&str]) {
            let read = |text: &str| serde_json::from_str::<T>(text).map(drop);
            let once = members.join(",");
            let type_name = std::any::type_name::<T>();
            read(&format!("{{{once}}}")).unwrap();
            for member in members {
                for text in [
                    format!("{{{member},{once}}}"),
                    format!("{{{once},{member}}}"),
                ] {
                    let error = read(&text).expect_err(type_name).to_string();
                    assert!(error.contains("duplicate field"), "{text}: {error}");
                }
            }
        }

        let file = [r#""uri":"u""#, r#""digest":"sha256:0""#, r#""size":1"#];
        let skill = [
            r#""uri":"u""#,
            r#""frontmatter":{}"#,
            r#""resources":"dynamic""#,
        ];
        let cache = [r#""ttlMs":1"#, r#""cacheScope":"public""#, r#""_meta":{}"#];
        let page = [r#""nextCursor":"c""#, r#""_meta":{}"#];
        let one = format!(r#""skill":{{{}}}"#, skill.join(","));
        check::<SkillsSettings>(&[r#""directoryRead":true"#]);
        check::<SkillResource>(&file);
        check::<Skill>(&skill);
        check::<ListSkillsParams>(&[r#""cursor":"c""#]);
        check::<ListSkillsResult>(&[&[r#""skills":[]"#, page[0]], &cache[..]].concat());
        check::<GetSkillParams>(&[r#""uri":"u""#]);
        check::<GetSkillResult>(&[&[&*one], &cache[..]].concat());
        check::<ReadDirectoryParams>(&[r#""uri":"u""#, r#""cursor":"c""#]);
        check::<ReadDirectoryResult>(&[&[r#""resources":[]"#], &page[..]].concat());

        // A list of files with a repeated member makes the skill invalid.
        let text = format!("[{{{},{}}}]", file.join(","), file[0]);
        let read: SkillResources = serde_json::from_str(&text).unwrap();
        assert_eq!(read, SkillResources::Invalid);
    }
}
