//! Skills from folders.

use std::fs;

use mcp::prelude::*;
use mcp::skills::{InlineSkill, Skills, SkillsClient, SkillsLimits};

use crate::kit::{TempDir, in_process, is_unknown_resource, markdown, skills};

fn message(result: Result<Skills, mcp::skills::SkillsError>) -> String {
    result.unwrap_err().to_string()
}

fn serve(skills: Skills) -> Server {
    Server::new("docs", "1").extension(skills)
}

#[test]
fn dir_finds_skills_at_any_depth() {
    let dir = TempDir::new();
    dir.skill("pdf");
    dir.skill("acme/billing/refunds");
    dir.skill("pdf/nested/forms");
    dir.write("pdf/with space/ü.md", "x");
    dir.write("README.md", "not a skill");
    dir.write("pdf/.git/config", "hidden");
    let skills = Skills::dir(dir.path()).unwrap();
    assert_eq!(
        skills.uris(),
        [
            "skill://acme/billing/refunds/SKILL.md",
            "skill://pdf/SKILL.md",
            "skill://pdf/nested/forms/SKILL.md",
        ]
    );
}

#[tokio::test]
async fn nested_skill_is_a_file_in_the_outer_one() {
    let dir = TempDir::new();
    dir.skill("pdf");
    dir.skill("pdf/nested/forms");
    dir.write("pdf/with space/ü.md", "x");
    fs::create_dir(dir.path().join("pdf/empty")).unwrap();
    let skills = skills(serve(Skills::dir(dir.path()).unwrap())).await;
    let pdf = skills.load("skill://pdf/SKILL.md").await.unwrap();
    assert_eq!(pdf.read("with space/ü.md").await.unwrap(), "x");
    assert!(
        pdf.read("nested/forms/SKILL.md")
            .await
            .unwrap()
            .starts_with(b"---")
    );
    let empty = skills
        .read_directory("skill://pdf/empty", None)
        .await
        .unwrap();
    assert!(empty.resources.is_empty());
}

#[test]
fn single_skill_is_named_like_its_folder() {
    let dir = TempDir::new();
    dir.skill("pdf");
    dir.write("pdf/a.md", "a");
    let skills = Skills::dir(dir.path().join("pdf")).unwrap();
    assert_eq!(skills.uris(), ["skill://pdf/SKILL.md"]);
}

// spec: SKILL-05, SKILL-07
#[test]
fn mistake_is_reported_with_its_file() {
    for (contents, part) in [
        ("# Title", "must start with YAML"),
        ("---\nname: pdf\n---\n", "`description` must be a text"),
        (
            "---\nname: pdf\ndescription: 7\n---\n",
            "`description` must be a text",
        ),
        (
            "---\ndescription: d\n---\n",
            "`name` must be 1 to 64 lowercase letters",
        ),
        ("---\nname: PDF\ndescription: d\n---\n", "it is `PDF`"),
        (
            "---\nname: docx\ndescription: d\n---\n",
            "the folder is named `pdf`",
        ),
        ("---\nname: [pdf\n---\n", "is malformed"),
        (
            "---\nname: pdf\ndescription: d\nmetadata:\n  io.modelcontextprotocol/x: 1\n---\n",
            "is reserved by the protocol",
        ),
    ] {
        let dir = TempDir::new();
        dir.write("pdf/SKILL.md", contents);
        let message = message(Skills::dir(dir.path()));
        assert!(message.contains(part), "{message}");
        assert!(message.contains("pdf/SKILL.md"), "{message}");
    }
    let dir = TempDir::new();
    dir.write("pdf/SKILL.md", b"---\nname: \xff\n---\n");
    assert!(message(Skills::dir(dir.path())).contains("is not UTF-8"));
    let long = format!("---\nname: pdf\ndescription: {}\n---\n", "x".repeat(1025));
    dir.write("pdf/SKILL.md", long);
    assert!(message(Skills::dir(dir.path())).contains("1 to 1024 characters"));
    assert!(message(Skills::dir(dir.path().join("none"))).contains("cannot read"));
    assert!(message(Skills::dir(dir.path().join("pdf/SKILL.md"))).contains("is not a folder"));
}

// spec: SKILL-15
#[test]
fn exceeded_limit_is_reported() {
    let dir = TempDir::new();
    dir.skill("a");
    dir.skill("b");
    dir.write("a/1.md", "x".repeat(100));
    dir.write("a/2.md", "x".repeat(100));
    dir.write("a/x/y/z.md", "x");
    let with = |change: fn(&mut SkillsLimits)| {
        let mut limits = SkillsLimits::default();
        change(&mut limits);
        message(Skills::new().limits(limits).add_dir(dir.path()))
    };
    assert!(with(|limits| limits.max_skills = 1).contains("there are 2 skills, but at most 1"));
    assert!(with(|limits| limits.max_files = 3).contains("has 4 files, but hosts support 3"));
    assert!(with(|limits| limits.max_bytes = 200).contains("more than 200 bytes"));
    assert!(with(|limits| limits.max_bytes = 99).contains("more than 99 bytes"));
    assert!(with(|limits| limits.max_depth = 1).contains("nested deeper than 1"));
    assert!(with(|limits| limits.max_entries = 4).contains("more than 4 files and folders"));
    let dir = TempDir::new();
    dir.skill("big");
    for number in 0..512 {
        dir.write(&format!("big/{number}.md"), "");
    }
    assert!(message(Skills::dir(dir.path())).contains("has 513 files, but hosts support 512"));
}

#[test]
fn same_uri_twice_is_refused() {
    let dir = TempDir::new();
    dir.skill("pdf");
    let pdf = || InlineSkill::from_markdown(markdown("pdf", ""));
    let skills = Skills::dir(dir.path()).unwrap();
    assert!(message(skills.add(pdf())).contains("`skill://pdf/SKILL.md` exists twice"));
    let skills = Skills::new().add(pdf()).unwrap();
    assert!(message(skills.clone().add_dir(dir.path())).contains("exists twice"));
    // The same name under another path is another skill.
    assert_eq!(skills.add(pdf().prefix("acme")).unwrap().uris().len(), 2);
}

#[test]
fn path_from_code_that_leaves_the_skill_is_refused() {
    let pdf = || InlineSkill::from_markdown(markdown("pdf", ""));
    for path in ["../x", "a/../../x", "/etc/passwd", "a\\b", "", "a//b", "."] {
        let refused = message(Skills::new().add(pdf().file(path, "x")));
        assert!(refused.contains("not a relative path"), "{path}: {refused}");
        let refused = message(Skills::new().add(pdf().prefix(path)));
        assert!(refused.contains("not a relative path"), "{path}: {refused}");
    }
    let twice = pdf().file("a", "1").file("a", "2");
    assert!(message(Skills::new().add(twice)).contains("`skill://pdf/a` exists twice"));
}

#[cfg(unix)]
#[test]
fn symbolic_link_is_refused() {
    use std::os::unix::fs::symlink;

    let outside = TempDir::new();
    outside.write("secret", "s");
    for target in ["secret", ""] {
        let dir = TempDir::new();
        dir.skill("pdf");
        symlink(outside.path().join(target), dir.path().join("pdf/link")).unwrap();
        let message = message(Skills::dir(dir.path()));
        assert!(
            message.contains("pdf/link` is a symbolic link"),
            "{message}"
        );
    }
    // The folder itself may be named by a link.
    let dir = TempDir::new();
    dir.skill("a/pdf");
    symlink(dir.path().join("a"), dir.path().join("b")).unwrap();
    assert_eq!(
        Skills::dir(dir.path().join("b")).unwrap().uris(),
        ["skill://pdf/SKILL.md"]
    );
}

#[cfg(unix)]
#[tokio::test]
async fn file_replaced_by_a_link_is_not_served() {
    use std::os::unix::fs::symlink;

    let outside = TempDir::new();
    // The same content: only the place differs.
    outside.write("secret/a.md", "same");
    for is_watched in [false, true] {
        for replaced in ["pdf/refs/a.md", "pdf/refs"] {
            let dir = TempDir::new();
            dir.skill("pdf");
            dir.write("pdf/refs/a.md", "same");
            let skills = Skills::dir(dir.path()).unwrap();
            let skills = if is_watched { skills.watch() } else { skills };
            let client = in_process(serve(skills)).await;
            let uri = "skill://pdf/refs/a.md";
            assert_eq!(client.read_resource(uri).await.unwrap().text(), "same");
            let path = dir.path().join(replaced);
            if path.is_dir() {
                fs::remove_dir_all(&path).unwrap();
                symlink(outside.path().join("secret"), &path).unwrap();
            } else {
                fs::remove_file(&path).unwrap();
                symlink(outside.path().join("secret/a.md"), &path).unwrap();
            }
            let error = client.read_resource(uri).await.unwrap_err().to_string();
            assert!(error.contains("cannot be read"), "{error}");
            assert!(
                !error.contains("mcp-skills-"),
                "no path of the server: {error}"
            );
        }
    }
}

#[tokio::test]
async fn file_changed_after_start_is_refused_without_watch() {
    let dir = TempDir::new();
    dir.skill("pdf");
    dir.write("pdf/a.md", "one");
    let client = in_process(serve(Skills::dir(dir.path()).unwrap())).await;
    let skills = SkillsClient::new(&client).await.unwrap();
    let pdf = skills.load("skill://pdf/SKILL.md").await.unwrap();
    dir.write("pdf/a.md", "two");
    let error = pdf.read("a.md").await.unwrap_err().to_string();
    assert!(
        error.contains("has changed since its digest was computed"),
        "{error}"
    );
    dir.write("pdf/b.md", "new");
    let error = client.read_resource("skill://pdf/b.md").await.unwrap_err();
    assert!(is_unknown_resource(&error), "{error}");
}

#[tokio::test]
async fn watched_folder_is_read_again_when_files_change() {
    let dir = TempDir::new();
    dir.skill("pdf");
    dir.write("pdf/a.md", "one");
    let client = in_process(serve(Skills::dir(dir.path()).unwrap().watch())).await;
    let skills = SkillsClient::new(&client).await.unwrap();
    let held = skills.load("skill://pdf/SKILL.md").await.unwrap();
    // The same length: only time and content differ.
    dir.write("pdf/a.md", "two");
    let error = held.read("a.md").await.unwrap_err();
    assert!(error.is_verification(), "{error}");
    let fresh = skills.load("skill://pdf/SKILL.md").await.unwrap();
    assert_eq!(fresh.read("a.md").await.unwrap(), "two");
    dir.skill("docx");
    assert_eq!(skills.list().await.unwrap().len(), 2);
    assert_eq!(
        client
            .read_resource("skill://docx/SKILL.md")
            .await
            .unwrap()
            .contents
            .len(),
        1
    );
    fs::remove_dir_all(dir.path().join("pdf")).unwrap();
    assert_eq!(skills.list().await.unwrap().len(), 1);
    assert!(skills.get("skill://pdf/SKILL.md").await.is_err());
}

#[tokio::test]
async fn watched_folder_with_a_mistake_keeps_the_former_skills() {
    let dir = TempDir::new();
    dir.skill("pdf");
    let skills = skills(serve(Skills::dir(dir.path()).unwrap().watch())).await;
    dir.write("docx/SKILL.md", "no front matter");
    assert_eq!(skills.list().await.unwrap().len(), 1);
    dir.skill("docx");
    assert_eq!(skills.list().await.unwrap().len(), 2);
}

#[tokio::test]
async fn change_in_a_watched_folder_is_announced() {
    use futures_util::StreamExt;

    let dir = TempDir::new();
    dir.skill("pdf");
    let client = in_process(serve(Skills::dir(dir.path()).unwrap().watch())).await;
    let mut changes = client.subscribe([""; 0]).resources_changed().await.unwrap();
    dir.write("pdf/new.md", "n");
    let skills = SkillsClient::new(&client).await.unwrap();
    skills.list().await.unwrap();
    let change = changes.next().await.unwrap().unwrap();
    assert!(matches!(change, Change::Resources), "{change:?}");
}
