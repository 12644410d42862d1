//! Skills from a folder and from the program, one of which changes while the server runs, and a
//! client that loads one after an approval.
//!
//! `cargo run -p examples --bin skills`

#![allow(clippy::print_stdout, reason = "a command line program")]

use std::path::Path;

use mcp::http::Serve;
use mcp::prelude::*;
use mcp::skills::{InlineSkill, Skills, SkillsClient};
use tokio::net::TcpListener;

const HOURS: &str = "skill://support-hours/SKILL.md";

#[tokio::main]
async fn main() -> mcp::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("http://{}/mcp", listener.local_addr()?);
    let skills = skills()?;
    let server = Server::new("shop", "1.0.0").extension(skills.clone());
    let serving = tokio::spawn(Serve::new(server).run(listener));
    load(&url).await?;
    // The program changes its own skill; a new load has the new text.
    skills.put(hours("Monday to Thursday, 9 to 17 h.\n"))?;
    let client = Client::connect(&url).await?;
    let hours = SkillsClient::new(&client).await?.load(HOURS).await?;
    println!("{}", hours.instructions());
    client.close().await?;
    serving.abort();
    Ok(())
}

fn skills() -> mcp::Result<Skills> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("skills");
    // A function writes this file each time that a client reads it.
    let orders = InlineSkill::new("orders", "How to find open orders", "Read open.csv.\n")
        .dynamic_file("open.csv", async || Ok("id,state\n7,open\n"));
    let skills = Skills::dir(folder)?.watch();
    let skills = skills.add(hours("Monday to Friday, 9 to 17 h.\n"))?;
    Ok(skills.add(orders)?)
}

fn hours(text: &str) -> InlineSkill {
    InlineSkill::new("support-hours", "When people answer questions", text)
}

async fn load(url: &str) -> mcp::Result<()> {
    let client = Client::connect(url).await?;
    let skills = SkillsClient::new(&client).await?.label("shop");
    // A host asks its user here.
    let skills = skills.approve_with(|pending| async move {
        println!("approved: {}", pending.id);
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
