//! The server's skills, verified before they are shown.

use mcp::Client;
use mcp::skills::{SkillError, SkillsClient};
use serde::Deserialize;
use serde_json::{Value, json};

/// A skill, or one of its files.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Wanted {
    uri: String,
    file: Option<String>,
}

/// Lists the skills.
pub(super) async fn list(client: &Client) -> Result<Value, SkillError> {
    let skills = SkillsClient::new(client).await?.list().await?;
    Ok(json!({"skills": skills}))
}

/// Reads a skill's instructions, or one of its files.
pub(super) async fn read(client: &Client, wanted: Wanted) -> Result<Value, SkillError> {
    let skills = SkillsClient::new(client).await?;
    let loaded = skills.load_entry(skills.get(wanted.uri).await?).await?;
    let Some(file) = wanted.file else {
        return Ok(json!({"skill": loaded.entry(), "instructions": loaded.instructions()}));
    };
    let bytes = loaded.read(&file).await?;
    let text = std::str::from_utf8(&bytes).ok();
    Ok(json!({"file": file, "bytes": bytes.len(), "text": text}))
}
