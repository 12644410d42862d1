//! The methods and resources of a server.

use mcp::prelude::*;
use mcp::skills::{InlineSkill, SkillError, SkillResources, Skills, SkillsClient};
use mcp::types::{Cursor, ProtocolVersion};
use serde_json::json;

use crate::kit::{in_process, is_unknown_resource, markdown, over_http, server, skills};

fn code_of(error: SkillError) -> String {
    match error {
        SkillError::Client(error) => format!("{:?}", error.fault().unwrap()),
        error => panic!("{error}"),
    }
}

// spec: SKILL-12
#[tokio::test]
async fn list_contains_every_file_with_size_and_digest() {
    // spec: SKILL-16
    let skills = skills(server()).await;
    assert_eq!(skills.settings().directory_read, Some(true));
    let page = skills.list_page(None).await.unwrap();
    assert_eq!(page.ttl_ms, Some(0));
    assert!(page.cache_scope.is_some());
    let uris: Vec<_> = page.skills.iter().map(|skill| &*skill.uri).collect();
    assert_eq!(
        uris,
        ["skill://acme/pdf/SKILL.md", "skill://refunds/SKILL.md"]
    );
    assert_eq!(page.skills[1].description(), Some("How to: \"refund\""));
    let SkillResources::Listed(files) = &page.skills[0].resources else {
        panic!("not listed");
    };
    let files: Vec<_> = files.iter().map(|file| (&*file.uri, file.size)).collect();
    assert_eq!(
        files,
        [
            ("skill://acme/pdf/SKILL.md", 65),
            ("skill://acme/pdf/logo.png", 3),
            ("skill://acme/pdf/references/FORMS.md", 9),
        ]
    );
    let png = page.skills[0]
        .resources
        .get("skill://acme/pdf/logo.png")
        .unwrap();
    assert_eq!(png.digest, format!("sha256:{}", hex(&[0x89, b'P', 0xff])));
}

fn hex(bytes: &[u8]) -> String {
    hmac_sha256::Hash::hash(bytes)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

// spec: SKILL-02
#[tokio::test]
async fn skills_work_in_every_revision_over_http() {
    for version in [ProtocolVersion::V2026_07_28, ProtocolVersion::V2025_11_25] {
        let client = over_http(server(), version).await;
        let skills = SkillsClient::new(&client).await.unwrap();
        assert_eq!(skills.list().await.unwrap().len(), 2, "{version}");
        let pdf = skills.load("skill://acme/pdf/SKILL.md").await.unwrap();
        assert_eq!(pdf.instructions(), "Read references/FORMS.md\n");
        assert_eq!(
            pdf.read("references/FORMS.md").await.unwrap(),
            "# Forms\r\n"
        );
        assert_eq!(pdf.read("./logo.png").await.unwrap(), &b"\x89P\xff"[..]);
        let root = skills
            .read_directory("skill://acme/pdf", None)
            .await
            .unwrap();
        assert_eq!(root.resources.len(), 3, "{version}");
    }
}

// spec: SKILL-16
#[tokio::test]
async fn list_in_pages_contains_each_skill_once() {
    let mut all = Skills::new().page_size(2);
    for name in ["e", "a", "d", "c", "b"] {
        all = all
            .add(InlineSkill::from_markdown(markdown(name, "")))
            .unwrap();
    }
    let skills = skills(Server::new("s", "1").extension(all)).await;
    let first = skills.list_page(None).await.unwrap();
    assert_eq!(first.skills.len(), 2);
    assert!(first.next_cursor.is_some());
    let listed = skills.list().await.unwrap();
    let names: Vec<_> = listed.iter().filter_map(|skill| skill.name()).collect();
    assert_eq!(names, ["a", "b", "c", "d", "e"]);
    let error = skills.list_page(Cursor::new("7")).await.unwrap_err();
    assert!(code_of(error).contains("not a cursor of this list"));
}

// spec: SKILL-18
#[tokio::test]
async fn unknown_skill_is_refused_as_invalid_params() {
    let skills = skills(server()).await;
    for uri in [
        "skill://none/SKILL.md",
        "skill://acme/pdf/references/FORMS.md",
        "skill://acme/pdf",
        "skill://acme/x/../pdf/SKILL.md",
    ] {
        let error = skills.get(uri).await.unwrap_err();
        assert!(code_of(error).contains("no skill of this server"), "{uri}");
    }
}

// spec: SKILL-03, SKILL-19
#[tokio::test]
async fn directory_read_returns_direct_children() {
    let skills = skills(server()).await;
    let read = async |uri: &str| {
        let page = skills.read_directory(uri, None).await.unwrap();
        let rows = page.resources.into_iter();
        rows.map(|row| (row.name, row.mime_type.unwrap()))
            .collect::<Vec<_>>()
    };
    let row = |name: &str, mime: &str| (name.to_owned(), mime.to_owned());
    assert_eq!(read("skill://acme").await, [row("pdf", "inode/directory")]);
    assert_eq!(
        read("skill://acme/pdf").await,
        [
            row("pdf", "text/markdown"),
            row("logo.png", "image/png"),
            row("references", "inode/directory"),
        ]
    );
    assert_eq!(
        read("skill://acme/pdf/references").await,
        [row("FORMS.md", "text/markdown")]
    );
    for uri in [
        "skill://acme/pdf/",
        "skill://acme/pdf/SKILL.md",
        "skill://acme/../acme",
        "skill://x",
        "file:///etc",
    ] {
        let error = skills.read_directory(uri, None).await.unwrap_err();
        assert!(
            code_of(error).contains("no directory of this server"),
            "{uri}"
        );
    }
}

#[tokio::test]
async fn resources_list_contains_the_instructions() {
    let client = in_process(server()).await;
    let resources = client.list_resources().await.unwrap();
    let rows: Vec<_> = resources
        .iter()
        .map(|resource| (&*resource.uri, &*resource.name))
        .collect();
    assert_eq!(
        rows,
        [
            ("skill://acme/pdf/SKILL.md", "pdf"),
            ("skill://refunds/SKILL.md", "refunds")
        ]
    );
    assert_eq!(resources[0].description.as_deref(), Some("Does pdf"));
    assert_eq!(resources[0].mime_type.as_deref(), Some("text/markdown"));
    let read = client
        .read_resource("skill://refunds/SKILL.md")
        .await
        .unwrap();
    assert!(
        read.text().starts_with("---\nname: \"refunds\"\n"),
        "{}",
        read.text()
    );
}

#[tokio::test]
async fn file_with_a_nul_is_a_blob() {
    let skill = InlineSkill::from_markdown(markdown("pdf", "Text"))
        .file("a.txt", "a\0b")
        .file("b.txt", "ab");
    let server = Server::new("shop", "1").extension(Skills::new().add(skill).unwrap());
    let client = in_process(server).await;
    for (file, text, mime_type) in [
        ("a.txt", None, "application/octet-stream"),
        ("b.txt", Some("ab"), "text/plain"),
    ] {
        let uri = format!("skill://pdf/{file}");
        let read = client.read_resource(&*uri).await.unwrap();
        let read = serde_json::to_value(&read.contents[0]).unwrap();
        assert_eq!(read.get("text").and_then(|text| text.as_str()), text);
        assert_eq!(read.get("blob").is_some(), text.is_none(), "{read}");
        assert_eq!(read["mimeType"], mime_type);
        let resources = client.list_resources().await.unwrap();
        let listed = resources.iter().find(|resource| resource.uri == uri);
        if let Some(listed) = listed {
            assert_eq!(listed.mime_type.as_deref(), Some(mime_type));
        }
    }
    let with_nul = InlineSkill::from_markdown(markdown("pdf", "a\0b"));
    let error = Skills::new().add(with_nul).unwrap_err().to_string();
    assert!(error.contains("NUL"), "{error}");
}

#[tokio::test]
async fn read_outside_the_skills_is_not_found() {
    let client = in_process(server()).await;
    for uri in [
        "skill://acme/pdf/../../etc/passwd",
        "skill://acme/pdf/%2e%2e/x",
        "skill://acme/pdf/none.md",
        "skill://acme/pdf",
        "skill:///etc/passwd",
    ] {
        let error = client.read_resource(uri).await.unwrap_err();
        assert!(is_unknown_resource(&error), "{uri}: {error}");
    }
}

// spec: SKILL-03
#[tokio::test]
async fn server_without_skills_has_no_methods() {
    // spec: SKILL-04
    let client = in_process(Server::new("plain", "1").tool(Tool::new("t").handler(|| "x"))).await;
    let error = SkillsClient::new(&client).await.unwrap_err();
    assert!(
        error.to_string().contains("does not declare the extension"),
        "{error}"
    );
    let error = client.request("skills/list", json!({})).await.unwrap_err();
    assert!(error.to_string().contains("method not found"), "{error}");
}

#[tokio::test]
async fn settings_are_inline() {
    let client = in_process(server()).await;
    let capabilities = client.server_capabilities().unwrap();
    let json = serde_json::to_value(&capabilities).unwrap();
    assert_eq!(
        json["extensions"]["io.modelcontextprotocol/skills"],
        json!({"directoryRead": true})
    );
    assert!(json["resources"].is_object());
}
