//! Approval, identity, and the skills of several servers.

use std::sync::Arc;

use mcp::group::Consents;
use mcp::prelude::*;
use mcp::skills::client::{SkillId, SkillRegistry};
use mcp::skills::{InlineSkill, SkillError, Skills, SkillsClient};
use parking_lot::Mutex;

use crate::kit::{TempDir, markdown, server, skills};

// spec: SKILL-33
#[tokio::test]
async fn approval_is_bound_to_files_and_digests() {
    // spec: SKILL-17
    let dir = TempDir::new();
    dir.skill("pdf");
    dir.write("pdf/a.md", "one");
    let watched = Skills::dir(dir.path()).unwrap().watch();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = asked.clone();
    let skills = skills(Server::new("docs", "1").extension(watched)).await;
    let stored = TempDir::new();
    let open = || Consents::open(stored.path().join("consents.json")).unwrap();
    let skills = skills.label("docs").remember(open());
    let skills = skills.approve_with(move |pending| {
        let fingerprint = pending.subject().unwrap().fingerprint();
        log.lock().push((pending.id.to_string(), fingerprint));
        async { true }
    });
    let uri = "skill://pdf/SKILL.md";
    for _ in 0..2 {
        skills.load(uri).await.unwrap();
    }
    assert_eq!(asked.lock().len(), 1);
    assert_eq!(asked.lock()[0].0, "skill://pdf/SKILL.md from docs");
    // Not the instructions: any file of the skill.
    dir.write("pdf/a.md", "two!");
    skills.load(uri).await.unwrap();
    let prints: Vec<String> = asked
        .lock()
        .iter()
        .map(|(_, print)| print.clone())
        .collect();
    assert_eq!(prints.len(), 2);
    assert_ne!(prints[0], prints[1]);

    // A stored approval holds for the same files and the same label only.
    let denied = |label: &str| {
        let skills = skills.clone().label(label).remember(open());
        skills.approve_with(|_| async { false })
    };
    denied("docs").load(uri).await.unwrap();
    let refused = denied("other").load(uri).await;
    assert!(matches!(refused, Err(SkillError::NotApproved(_))));
}

#[tokio::test]
async fn resource_with_the_skill_scheme_is_not_a_skill() {
    // spec: SKILL-08
    let uri = "skill://plain/SKILL.md";
    let plain = Resource::new(uri).read(|| markdown("plain", "Steps"));
    let client = Client::connect(mcp::InProcess(server().resource(plain)))
        .await
        .unwrap();
    assert!(client.read_resource(uri).await.is_ok());
    let loaded = SkillsClient::new(&client).await.unwrap().load(uri).await;
    assert!(matches!(loaded, Err(SkillError::Client(_))), "{loaded:?}");
}

// spec: SKILL-32
#[tokio::test]
async fn nested_skill_needs_its_own_approval() {
    let dir = TempDir::new();
    dir.skill("pdf");
    dir.skill("pdf/forms");
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = asked.clone();
    let skills = skills(Server::new("docs", "1").extension(Skills::dir(dir.path()).unwrap())).await;
    let skills = skills.approve_with(move |pending| {
        let is_outer = !pending.id.uri.contains("forms");
        let fingerprint = pending.subject().map(|subject| subject.fingerprint());
        log.lock().push((pending.id.uri, fingerprint));
        async move { is_outer }
    });
    let outer = skills.load("skill://pdf/SKILL.md").await.unwrap();
    // Reading the inner skill as a file is not loading it.
    assert!(outer.read("forms/SKILL.md").await.is_ok());
    assert_eq!(asked.lock().len(), 1);
    let inner = skills.load("skill://pdf/forms/SKILL.md").await;
    assert!(matches!(inner, Err(SkillError::NotApproved(_))));
    let asked = asked.lock();
    assert_eq!(asked[1].0, "skill://pdf/forms/SKILL.md");
    assert_ne!(asked[0].1, asked[1].1);
}

// spec: SKILL-26
#[tokio::test]
async fn skill_file_read_as_a_resource_is_no_load() {
    let dir = TempDir::new();
    dir.skill("pdf");
    let server = Server::new("docs", "1").extension(Skills::dir(dir.path()).unwrap());
    let client = Client::connect(mcp::InProcess(server)).await.unwrap();
    let skills = SkillsClient::new(&client).await.unwrap();
    let skills = skills.approve_with(|_| async { false });
    let uri = "skill://pdf/SKILL.md";
    assert!(client.read_resource(uri).await.is_ok());
    let loaded = skills.load(uri).await;
    assert!(matches!(loaded, Err(SkillError::NotApproved(_))));
}

// spec: SKILL-21, SKILL-28, SKILL-29
#[tokio::test]
async fn skills_with_the_same_name_do_not_shadow_each_other() {
    let other = InlineSkill::new("refunds", "Another one", "# Other\n");
    let other = Server::new("shop", "1").extension(Skills::new().add(other).unwrap());
    let registry = SkillRegistry::new()
        .add(skills(server()).await.label("first"))
        .unwrap()
        .add(skills(other).await.label("second --> <b>\u{202e}"))
        .unwrap();
    let listed = registry.list().await.unwrap();
    let names: Vec<_> = listed.iter().map(|skill| &*skill.display_name).collect();
    let second = "second --> <b>\u{202e}";
    assert_eq!(
        names,
        ["pdf", "first: refunds", &format!("{second}: refunds")]
    );
    let uri = "skill://refunds/SKILL.md";
    let load = async |label: &str| registry.load(&SkillId::new(label, uri)).await;
    assert_eq!(load("first").await.unwrap().instructions(), "# Refunds\n");
    let second = load(second).await.unwrap();
    assert_eq!(second.instructions(), "# Other\n");
    // A name that contains the end of a comment does not end it.
    let tagged = second.tagged_instructions();
    let (comment, instructions) = tagged.split_once('\n').unwrap();
    assert_eq!(comment.find('>'), Some(comment.len() - 1), "{comment}");
    assert!(
        comment.contains(r#""server":"second --\u003e <b\u003e\u202e""#),
        "{comment}"
    );
    assert_eq!(instructions, "# Other\n");
    assert!(matches!(
        load("third").await,
        Err(SkillError::UnknownLabel(_))
    ));
    let again = registry.add(skills(server()).await.label("first"));
    assert!(matches!(again, Err(SkillError::DuplicateLabel(_))));
}

// spec: SKILL-28
#[tokio::test]
async fn same_name_twice_on_one_server_is_told_apart() {
    let pdf = || InlineSkill::from_markdown(markdown("pdf", ""));
    let both = Skills::new()
        .add(pdf())
        .unwrap()
        .add(pdf().prefix("acme"))
        .unwrap();
    let server = Server::new("docs", "1").extension(both);
    let registry = SkillRegistry::new()
        .add(skills(server).await.label("docs"))
        .unwrap();
    let listed = registry.list().await.unwrap();
    let names: Vec<_> = listed.iter().map(|skill| &*skill.display_name).collect();
    assert_eq!(
        names,
        [
            "docs: pdf (skill://acme/pdf/SKILL.md)",
            "docs: pdf (skill://pdf/SKILL.md)"
        ]
    );
}
