//! Folders, servers and connections for the tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use mcp::http::Serve;
use mcp::prelude::*;
use mcp::skills::{InlineSkill, Skills, SkillsClient};
use mcp::types::ProtocolVersion;
use tokio::net::TcpListener;

/// A folder that is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct TempDir(PathBuf);

impl TempDir {
    pub(crate) fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("mcp-skills-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn write(&self, path: &str, contents: impl AsRef<[u8]>) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, contents).unwrap();
    }

    /// Writes the `SKILL.md` of the skill that the last part of `path` names.
    pub(crate) fn skill(&self, path: &str) {
        let name = path.rsplit('/').next().unwrap();
        self.write(&format!("{path}/SKILL.md"), markdown(name, "Steps"));
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn markdown(name: &str, body: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}\n---\n{body}\n")
}

/// A server with two skills from code, one of them with a file.
pub(crate) fn server() -> Server {
    let pdf = InlineSkill::from_markdown(markdown("pdf", "Read references/FORMS.md"))
        .prefix("acme")
        .file("references/FORMS.md", "# Forms\r\n")
        .file("logo.png", vec![0x89, b'P', 0xff]);
    let refunds = InlineSkill::new("refunds", "How to: \"refund\"", "# Refunds\n");
    let skills = Skills::new().add(pdf).unwrap().add(refunds).unwrap();
    Server::new("shop", "1").extension(skills)
}

pub(crate) async fn in_process(server: Server) -> Client {
    Client::connect(mcp::InProcess(server)).await.unwrap()
}

pub(crate) async fn skills(server: Server) -> SkillsClient {
    SkillsClient::new(&in_process(server).await).await.unwrap()
}

/// Connects a client to `server` over HTTP, on a free loopback port.
pub(crate) async fn over_http(server: Server, version: ProtocolVersion) -> Client {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    tokio::spawn(Serve::new(server).run(listener));
    let mode = if version.is_modern() {
        ConnectMode::Pin(version)
    } else {
        ConnectMode::Legacy
    };
    Client::builder().mode(mode).connect(url).await.unwrap()
}

/// Returns true for the error of a URI that no resource has.
pub(crate) fn is_unknown_resource(error: &mcp::client::Error) -> bool {
    error.fault().is_some() && error.to_string().contains("unknown resource")
}
