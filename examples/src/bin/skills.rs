//! Skills of a folder and of the program, and a client that loads one after an approval.
//!
//! `cargo run -p examples --bin skills`

#![allow(clippy::print_stdout, reason = "a command line program")]

use std::path::Path;

use mcp::http::Serve;
use mcp::prelude::*;
use mcp::skills::{InlineSkill, Skills};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let serving = tokio::spawn(Serve::new(listener, StreamableHttp::new(server()?)).into_future());
    load(&url).await?;
    serving.abort();
    Ok(())
}

fn server() -> mcp::Result<Server> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("skills");
    let limits = InlineSkill::new(
        "support-hours",
        "When people answer questions",
        "Monday to Friday, 9 to 17 h.\n",
    );
    let skills = Skills::dir(folder)?.watch().add(limits)?;
    Ok(Server::new("shop", "1.0.0").skills(skills))
}

async fn load(url: &str) -> mcp::Result<()> {
    let client = Client::connect(url).await?;
    let skills = client.skills().await?.label("shop");
    // A host asks its user here.
    let skills = skills.approve_with(|approval| async move {
        println!("approved: {}", approval.id);
        true
    });
    for skill in skills.list().await? {
        println!("{}: {}", skill.uri, skill.description().unwrap_or_default());
    }
    let refunds = skills.load("skill://refunds/SKILL.md").await?;
    println!("{}", refunds.instructions());
    let limits = refunds.read("references/limits.md").await?;
    println!("{}", String::from_utf8_lossy(&limits));
    if let Err(error) = refunds.read("../../Cargo.toml").await {
        println!("refused: {error}");
    }
    Ok(client.close().await?)
}
