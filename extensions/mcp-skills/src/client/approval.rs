//! Skill identity, and the user's consent.

use std::fmt;
use std::sync::Arc;

use mcp_client::group::Subject;
use mcp_core::BoxFuture;
use serde_json::json;

use crate::types::{Skill, SkillResources};

/// Skill identity: the label that the host gave the server, and the URI. Names are not identities: skills
/// of several servers may have the same one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub struct SkillId {
    /// The server's label.
    pub label: String,
    /// The `SKILL.md`'s URI.
    pub uri: String,
}

impl SkillId {
    /// Creates a skill's identity.
    pub fn new(label: impl Into<String>, uri: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            uri: uri.into(),
        }
    }
}

impl fmt::Display for SkillId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from {}", self.uri, self.label)
    }
}

/// A skill that is about to be loaded, for the approval hook
/// ([`SkillsClient::approve_with`](super::SkillsClient::approve_with)). No file was read yet.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PendingSkill {
    /// The identity.
    pub id: SkillId,
    /// The entry: name, description and files. It comes from the server and is not trustworthy.
    pub skill: Arc<Skill>,
}

impl PendingSkill {
    /// Returns the subject of the user's answer: the identity, and the digests of all files in any order. `None` if the files
    /// are dynamic; such an answer is not remembered.
    // spec: SKILL-21, SKILL-33
    pub fn subject(&self) -> Option<Subject> {
        let SkillResources::Listed(files) = &self.skill.resources else {
            return None;
        };
        let mut rows: Vec<_> = files.iter().map(|file| (&file.uri, &file.digest)).collect();
        rows.sort();
        let SkillId { label, uri } = &self.id;
        Some(Subject::new("skill", label, uri, json!({ "files": rows })))
    }
}

/// A client's approval hook.
pub(super) type ApprovalHook = Arc<dyn Fn(PendingSkill) -> BoxFuture<'static, bool> + Send + Sync>;

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::types::{Skill, SkillResource, SkillResources};
    use mcp_types::JsonObject;

    use super::{PendingSkill, SkillId};

    fn fingerprint(label: &str, files: &[(&str, u8)]) -> Option<String> {
        let files = files
            .iter()
            .map(|(uri, digest)| SkillResource::new(*uri, [*digest; 32], 1));
        let files = SkillResources::Listed(files.collect());
        let skill = Skill::new("skill://a/SKILL.md", JsonObject::new(), files);
        let id = SkillId::new(label, "skill://a/SKILL.md");
        let skill = Arc::new(skill);
        let subject = PendingSkill { id, skill }.subject()?;
        Some(subject.fingerprint())
    }

    // spec: SKILL-33
    #[test]
    fn fingerprint_changes_with_label_and_digests_only() {
        // spec: SKILL-21
        let base = fingerprint("docs", &[("a", 1), ("b", 2)]);
        assert_eq!(base, fingerprint("docs", &[("b", 2), ("a", 1)]));
        for other in [
            fingerprint("other", &[("a", 1), ("b", 2)]),
            fingerprint("docs", &[("a", 1), ("b", 3)]),
            fingerprint("docs", &[("a", 1)]),
            fingerprint("docs", &[("a", 1), ("b", 2), ("c", 2)]),
        ] {
            assert_ne!(base, other);
        }
    }
}
