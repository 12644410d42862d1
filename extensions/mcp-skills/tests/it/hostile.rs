//! Servers that send other content than they list.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp::core::ResultBody;
use mcp::extension::RawExtension;
use mcp::middleware::{Call, Exchange, Next, Reply, from_fn};
use mcp::prelude::*;
use mcp::skills::{SkillError, SkillsClient};
use mcp::types::{ProtocolVersion, RawObject};
use serde_json::{Value, json};

use crate::kit::{in_process, markdown, over_http};

const URI: &str = "skill://pdf/SKILL.md";
const FORMS: &str = "skill://pdf/FORMS.md";

/// A server whose list and whose files are independent of each other.
struct Liar {
    entry: Value,
    skill_md: ResourceContents,
    forms: ResourceContents,
    reads: Arc<AtomicUsize>,
}

fn digest(text: &str) -> String {
    let bytes = hmac_sha256::Hash::hash(text.as_bytes());
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("sha256:{hex}")
}

fn file(uri: &str, text: &str) -> Value {
    json!({"uri": uri, "digest": digest(text), "size": text.len()})
}

impl Liar {
    /// A server that does not lie yet.
    fn new() -> Self {
        let skill_md = markdown("pdf", "Read FORMS.md");
        Self {
            entry: json!({
                "uri": URI,
                "frontmatter": {"name": "pdf", "description": "Does pdf"},
                "resources": [file(URI, &skill_md), file(FORMS, "forms")],
            }),
            skill_md: ResourceContents::text(URI, skill_md),
            forms: ResourceContents::text(FORMS, "forms"),
            reads: Arc::default(),
        }
    }

    fn server(self) -> Server {
        let entry = self.entry;
        let answer = move |exchange: Exchange, next: Next| {
            let entry = entry.clone();
            async move {
                let result = match &exchange.call {
                    Call::Other { method, .. } if **method == *"skills/list" => {
                        json!({"skills": [entry], "ttlMs": 0, "cacheScope": "private"})
                    }
                    Call::Other { method, .. } if **method == *"skills/get" => {
                        json!({"skill": entry, "ttlMs": 0, "cacheScope": "private"})
                    }
                    _ => return next.run(exchange).await,
                };
                Reply::from(ResultBody::Other(RawObject::from_value(&result).unwrap()))
            }
        };
        let route = |uri: &str, contents: ResourceContents| {
            let reads = self.reads.clone();
            Resource::new(uri).read(move || {
                reads.fetch_add(1, Ordering::Relaxed);
                contents.clone()
            })
        };
        Server::new("liar", "1")
            .extension(RawExtension::new("io.modelcontextprotocol/skills", &()))
            .resource(route(URI, self.skill_md))
            .resource(route(FORMS, self.forms))
            .layer(from_fn(answer))
    }

    async fn load(self) -> Result<mcp::skills::LoadedSkill, SkillError> {
        SkillsClient::new(&in_process(self.server()).await)
            .await
            .unwrap()
            .load(URI)
            .await
    }

    async fn refused(self) -> String {
        self.load().await.unwrap_err().to_string()
    }
}

// spec: SKILL-25
#[tokio::test]
async fn nothing_is_read_before_it_is_needed() {
    let liar = Liar::new();
    let reads = liar.reads.clone();
    let client = in_process(liar.server()).await;
    let skills = SkillsClient::new(&client).await.unwrap();
    skills.list().await.unwrap();
    skills.get(URI).await.unwrap();
    let denied = skills.clone().approve_with(|_| async { false });
    assert!(matches!(
        denied.load(URI).await,
        Err(SkillError::NotApproved(_))
    ));
    assert_eq!(reads.load(Ordering::Relaxed), 0);
    let pdf = skills.load(URI).await.unwrap();
    assert_eq!(reads.load(Ordering::Relaxed), 1);
    for _ in 0..3 {
        assert_eq!(pdf.read("FORMS.md").await.unwrap(), "forms");
        assert!(pdf.read(URI).await.unwrap().starts_with(b"---"));
    }
    assert_eq!(reads.load(Ordering::Relaxed), 2);
}

// spec: SKILL-22
#[tokio::test]
async fn wrong_digest_is_refused_in_every_revision() {
    for version in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25] {
        let mut liar = Liar::new();
        liar.skill_md = ResourceContents::text(URI, markdown("pdf", "Read FORMS!md"));
        let client = over_http(liar.server(), version).await;
        let skills = SkillsClient::new(&client).await.unwrap();
        let error = skills.load(URI).await.unwrap_err();
        assert!(
            matches!(&error, SkillError::WrongDigest { uri } if uri == URI),
            "{error}"
        );
        assert!(error.is_verification());
    }
}

// spec: SKILL-22
#[tokio::test]
async fn wrong_size_is_refused() {
    let mut liar = Liar::new();
    liar.skill_md = ResourceContents::text(URI, markdown("pdf", "Read FORMS.md, and more"));
    let error = liar.load().await.unwrap_err();
    assert!(matches!(error, SkillError::WrongSize { actual, expected, .. } if actual > expected));
}

// spec: SKILL-23
#[tokio::test]
async fn wrong_front_matter_is_refused() {
    let mut liar = Liar::new();
    liar.entry["frontmatter"]["description"] = json!("Harmless");
    assert!(liar.refused().await.contains("the field `description` of"));
    let mut liar = Liar::new();
    liar.entry["frontmatter"]["allowed-tools"] = json!("Read");
    assert!(
        liar.refused()
            .await
            .contains("the field `allowed-tools` of")
    );
}

#[tokio::test]
async fn yaml_bomb_from_a_server_is_refused() {
    let levels = (1..20).map(|n| format!("a{n}: &a{n} [*a{0}, *a{0}, *a{0}]\n", n - 1));
    let bomb = format!(
        "---\nname: pdf\ndescription: d\na0: &a0 x\n{}---\n",
        levels.collect::<String>()
    );
    let mut liar = Liar::new();
    liar.entry["resources"][0] = file(URI, &bomb);
    liar.skill_md = ResourceContents::text(URI, bomb);
    let message = liar.refused().await;
    assert!(
        message.contains("the YAML at its start is malformed"),
        "{message}"
    );
}

// spec: SKILL-31
#[tokio::test]
async fn other_contents_than_the_requested_file_are_refused() {
    let mut liar = Liar::new();
    liar.skill_md =
        ResourceContents::text("skill://other/SKILL.md", markdown("pdf", "Read FORMS.md"));
    assert!(liar.refused().await.contains("is not this one file"));
}

#[tokio::test]
async fn file_swapped_after_the_load_is_refused() {
    let mut liar = Liar::new();
    liar.forms = ResourceContents::text(FORMS, "F0rms");
    let pdf = liar.load().await.unwrap();
    let error = pdf.read("FORMS.md").await.unwrap_err();
    assert!(matches!(error, SkillError::WrongDigest { .. }), "{error}");
}

// spec: SKILL-24
#[tokio::test]
async fn unlisted_file_is_not_requested() {
    // spec: SKILL-31
    let mut liar = Liar::new();
    liar.entry["resources"].as_array_mut().unwrap().truncate(1);
    let reads = liar.reads.clone();
    let pdf = liar.load().await.unwrap();
    for reference in [
        "FORMS.md",
        FORMS,
        "skill://other/SKILL.md",
        "file:///etc/passwd",
    ] {
        let error = pdf.read(reference).await.unwrap_err();
        assert!(
            matches!(error, SkillError::Unlisted { .. }),
            "{reference}: {error}"
        );
    }
    for reference in ["../x", "/etc/passwd", "a/../../x", "", "a\\b"] {
        let error = pdf.read(reference).await.unwrap_err();
        assert!(
            matches!(error, SkillError::InvalidReference(_)),
            "{reference}: {error}"
        );
    }
    assert_eq!(reads.load(Ordering::Relaxed), 1);
}

// spec: SKILL-14
#[tokio::test]
async fn invalid_entry_is_not_loaded() {
    for (field, value, part) in [
        ("resources", json!(null), "neither a list nor"),
        ("resources", json!("static"), "neither a list nor"),
        ("resources", json!([]), "does not contain its `SKILL.md`"),
        (
            "uri",
            json!("skill://other/SKILL.md"),
            "the server returned",
        ),
        (
            "frontmatter",
            json!({"name": "docx", "description": "d"}),
            "not the last part",
        ),
    ] {
        let mut liar = Liar::new();
        liar.entry[field] = value;
        let reads = liar.reads.clone();
        let message = liar.refused().await;
        assert!(message.contains(part), "{message}");
        assert_eq!(reads.load(Ordering::Relaxed), 0);
    }
}

// spec: SKILL-15
#[tokio::test]
async fn oversize_skill_is_not_loaded() {
    let mut liar = Liar::new();
    liar.entry["resources"][1]["size"] = json!(16_777_217);
    let reads = liar.reads.clone();
    assert!(liar.refused().await.contains("bytes, more than 16777216"));
    assert_eq!(reads.load(Ordering::Relaxed), 0);
}

#[tokio::test]
async fn dynamic_skill_has_a_size_limit() {
    let mut liar = Liar::new();
    liar.entry["resources"] = json!("dynamic");
    liar.forms = ResourceContents::blob(FORMS, vec![0; 9 << 20]);
    let pdf = liar.load().await.unwrap();
    assert_eq!(pdf.read("FORMS.md").await.unwrap().len(), 9 << 20);
    let error = pdf.read("FORMS.md").await.unwrap_err();
    assert!(matches!(error, SkillError::TooLarge { .. }), "{error}");
}

// spec: SKILL-04
#[tokio::test]
async fn directories_are_not_requested_if_the_server_has_none() {
    let client = in_process(Liar::new().server()).await;
    let skills = SkillsClient::new(&client).await.unwrap();
    let error = skills
        .read_directory("skill://pdf", None)
        .await
        .unwrap_err();
    assert!(matches!(error, SkillError::NoDirectories));
}
