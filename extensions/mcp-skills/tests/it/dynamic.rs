//! Skills whose content changes while the server runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use futures_util::StreamExt as _;
use mcp::prelude::*;
use mcp::skills::{
    InlineSkill, SkillError, SkillResources, Skills, SkillsClient, SkillsError, SkillsLimits,
};
use mcp::types::ProtocolVersion;

use crate::kit::{TempDir, in_process, is_unknown_resource, over_http, skills};

const HOURS: &str = "skill://hours/SKILL.md";

fn hours(text: &str) -> InlineSkill {
    InlineSkill::new("hours", "When people answer", text)
}

fn serve(skills: Skills) -> Server {
    Server::new("shop", "1").extension(skills)
}

// spec: SKILL-13
#[tokio::test]
async fn generated_files_are_written_for_each_read_in_every_revision() {
    let reads = Arc::new(AtomicU32::new(0));
    let count = reads.clone();
    let status = InlineSkill::dynamic("status", "State of the shop", async || {
        Ok("Read data/orders.csv.\n")
    })
    .file("fixed.md", "fixed")
    .dynamic_file("data/orders.csv", move || {
        let number = count.fetch_add(1, Ordering::Relaxed);
        async move { Ok(format!("{number}\n")) }
    })
    .dynamic_file("logo.png", async || Ok(vec![0x89, 0xff]));
    let dynamic = Skills::new().add(status).unwrap();
    for version in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25] {
        reads.store(0, Ordering::Relaxed);
        let client = over_http(serve(dynamic.clone()), version).await;
        let skills = SkillsClient::new(&client).await.unwrap();
        let listed = skills.list().await.unwrap();
        assert_eq!(listed[0].resources, SkillResources::Dynamic);
        assert_eq!(listed[0].description(), Some("State of the shop"));
        let status = skills.load("skill://status/SKILL.md").await.unwrap();
        assert_eq!(status.instructions(), "Read data/orders.csv.\n");
        for expected in ["0\n", "1\n"] {
            assert_eq!(status.read("data/orders.csv").await.unwrap(), expected);
        }
        assert_eq!(status.read("fixed.md").await.unwrap(), "fixed");
        assert_eq!(status.read("logo.png").await.unwrap(), &b"\x89\xff"[..]);
        let data = skills
            .read_directory("skill://status/data", None)
            .await
            .unwrap();
        assert_eq!(data.resources[0].mime_type.as_deref(), Some("text/csv"));
        assert_eq!(data.resources[0].size, None);
    }
}

#[tokio::test]
async fn generated_file_beyond_the_limit_or_with_an_error_is_refused() {
    // spec: SKILL-15
    let mut limits = SkillsLimits::default();
    limits.max_bytes = 200;
    let skill = hours("Steps\n")
        .dynamic_file("large.md", async || Ok("x".repeat(201)))
        .dynamic_file("failed.md", async || {
            Err::<String, _>(ResourceError::new("the database is closed"))
        });
    let skills = Skills::new().limits(limits).add(skill).unwrap();
    let client = in_process(serve(skills)).await;
    for (file, text) in [
        ("large.md", "more than 200 bytes"),
        ("failed.md", "the database is closed"),
    ] {
        let uri = format!("skill://hours/{file}");
        let error = client.read_resource(uri).await.unwrap_err().to_string();
        assert!(error.contains(text), "{error}");
    }
}

#[tokio::test]
async fn skill_with_a_dynamic_nested_skill_is_dynamic() {
    let outer = hours("Steps\n");
    let inner = InlineSkill::dynamic("now", "Is anybody here?", async || Ok("Yes.\n"));
    let skills = Skills::new().add(outer).unwrap();
    let skills = skills.add(inner.prefix("hours")).unwrap();
    assert_eq!(skills.uris(), [HOURS, "skill://hours/now/SKILL.md"]);
    let client = in_process(serve(skills)).await;
    let outer = SkillsClient::new(&client)
        .await
        .unwrap()
        .get(HOURS)
        .await
        .unwrap();
    assert_eq!(outer.resources, SkillResources::Dynamic);
}

#[tokio::test]
async fn put_and_remove_change_a_running_server_and_notify_its_clients() {
    let all = Skills::new()
        .add(hours("Monday\n").file("a.md", "one"))
        .unwrap();
    let client = in_process(serve(all.clone())).await;
    let skills = SkillsClient::new(&client).await.unwrap();
    let held = skills.load(HOURS).await.unwrap();
    let uri = "skill://hours/a.md";
    let mut changes = client.subscribe([uri]).resources_changed().await.unwrap();

    all.put(hours("Monday\n").file("a.md", "two")).unwrap();
    let mut seen = Vec::new();
    for _ in 0..2 {
        seen.push(format!("{:?}", changes.next().await.unwrap().unwrap()));
    }
    assert!(seen.iter().any(|change| change.contains(uri)), "{seen:?}");
    assert!(seen.iter().any(|change| change == "Resources"), "{seen:?}");
    let error = held.read("a.md").await.unwrap_err();
    assert!(error.is_verification(), "{error}");
    let fresh = skills.load(HOURS).await.unwrap();
    assert_eq!(fresh.read("a.md").await.unwrap(), "two");

    all.put(InlineSkill::new("new", "Is new", "Steps\n"))
        .unwrap();
    assert_eq!(skills.list().await.unwrap().len(), 2);
    assert!(all.remove(HOURS));
    assert!(!all.remove(HOURS));
    assert_eq!(skills.list().await.unwrap().len(), 1);
    assert!(skills.load(HOURS).await.is_err());
    let error = client.read_resource(uri).await.unwrap_err();
    assert!(is_unknown_resource(&error), "{error}");
}

#[tokio::test]
async fn skill_swapped_after_listing_is_refused() {
    let all = Skills::new().add(hours("Steps of Ada\n")).unwrap();
    let skills = skills(serve(all.clone())).await;
    let listed = skills.list().await.unwrap().remove(0);
    all.put(hours("Steps of Eve\n")).unwrap();
    let error = skills.load_entry(listed).await.unwrap_err();
    assert!(
        matches!(error, SkillError::WrongDigest { .. }) && error.is_verification(),
        "{error}"
    );
}

#[test]
fn putting_an_invalid_skill_changes_nothing() {
    let dir = TempDir::new();
    dir.skill("pdf");
    let skills = Skills::dir(dir.path()).unwrap();
    let uris = skills.uris();
    let error = skills
        .put(InlineSkill::new("Not a name", "d", ""))
        .unwrap_err();
    assert!(
        matches!(&error, SkillsError::Frontmatter { problem, .. } if problem.contains("it is `Not a name`")),
        "{error}"
    );
    let error = skills.put(InlineSkill::new("pdf", "d", "")).unwrap_err();
    assert!(matches!(error, SkillsError::Duplicate(_)), "{error}");
    assert!(!skills.remove("skill://pdf/SKILL.md"));
    let error = skills
        .put(hours("").file("../a.md", "leaves the skill"))
        .unwrap_err();
    assert!(matches!(error, SkillsError::InvalidPath(_)), "{error}");
    assert_eq!(skills.uris(), uris);
}

#[tokio::test]
async fn watched_folder_keeps_skills_that_were_put() {
    let dir = TempDir::new();
    dir.skill("pdf");
    let all = Skills::dir(dir.path()).unwrap().watch();
    let skills = skills(serve(all.clone())).await;
    all.put(hours("Steps\n")).unwrap();
    dir.skill("docx");
    assert_eq!(skills.list().await.unwrap().len(), 3);
    assert_eq!(all.uris().len(), 3);
}
