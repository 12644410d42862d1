//! Skill identity, and the user's consent.

use std::fmt;
use std::sync::Arc;

use hmac_sha256::Hash;
use mcp_core::BoxFuture;

use crate::types::{Skill, SkillResources, digest_text};

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
pub struct Approval {
    /// The identity.
    pub id: SkillId,
    /// The entry: name, description and files. It comes from the server and is not trustworthy.
    pub skill: Arc<Skill>,
    /// SHA-256 of the identity and all file digests. A host that stores its approvals stores
    /// this value: it changes with every file. `None` if the files are dynamic; such an approval is not
    /// stored.
    pub fingerprint: Option<String>,
}

impl Approval {
    pub(super) fn new(id: SkillId, skill: Arc<Skill>) -> Self {
        Self {
            fingerprint: fingerprint(&id, &skill),
            id,
            skill,
        }
    }
}

/// A client's approval hook.
pub(super) type ApprovalHook = Arc<dyn Fn(Approval) -> BoxFuture<'static, bool> + Send + Sync>;

/// Returns the SHA-256 of the identity and the (URI, digest) set, in any order.
fn fingerprint(id: &SkillId, skill: &Skill) -> Option<String> {
    let SkillResources::Listed(files) = &skill.resources else {
        return None;
    };
    let mut rows: Vec<_> = files.iter().map(|file| (&file.uri, &file.digest)).collect();
    rows.sort();
    // JSON quotes the parts, so that none can imitate a separator.
    // spec: SKILL-21, SKILL-33
    let text = serde_json::json!([id.label, id.uri, rows]).to_string();
    Some(digest_text(Hash::hash(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use crate::types::{Skill, SkillResource, SkillResources};
    use mcp_types::JsonObject;

    use super::{Approval, SkillId};

    fn fingerprint(label: &str, files: &[(&str, u8)]) -> Option<String> {
        let files = files
            .iter()
            .map(|(uri, digest)| SkillResource::new(*uri, [*digest; 32], 1));
        let files = SkillResources::Listed(files.collect());
        let skill = Skill::new("skill://a/SKILL.md", JsonObject::new(), files);
        let id = SkillId::new(label, "skill://a/SKILL.md");
        Approval::new(id, Arc::new(skill)).fingerprint
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
