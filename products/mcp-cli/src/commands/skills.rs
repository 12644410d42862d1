//! `mcp skills`: a server's skills.

use mcp::Client;
use mcp::skills::{Skill, SkillError, SkillResources, SkillsClient};
use serde_json::json;

use super::support::to_json;
use crate::cli::SkillsCommand;
use crate::failure::{Failure, FailureKind, usage};
use crate::output::Output;
use crate::target;

pub(super) async fn run(command: &SkillsCommand, output: &Output) -> Result<(), Failure> {
    let (SkillsCommand::List(args) | SkillsCommand::Show(args) | SkillsCommand::Files(args)) =
        command;
    target::with_client(args, output, async |client, words| {
        match (command, words.len()) {
            (SkillsCommand::List(_), 0) => list(client, output).await,
            (SkillsCommand::List(_), _) => Err(Failure::usage("pass a target only")),
            (SkillsCommand::Show(_), 1 | 2) => show(client, words, output).await,
            (SkillsCommand::Files(_), 1) => files(client, words, output).await,
            _ => Err(Failure::usage(
                "pass the name or the URI of a skill; `mcp skills list` shows them",
            )),
        }
    })
    .await
}

async fn list(client: &Client, output: &Output) -> Result<(), Failure> {
    let skills = SkillsClient::new(client).await?.list().await?;
    if output.json {
        output.document(&json!({ "skills": to_json(&skills)? }));
        return Ok(());
    }
    let rows = skills.iter().map(|skill| {
        let name = skill.name().unwrap_or(&skill.uri);
        (name, skill.description().unwrap_or_default())
    });
    output.rows(rows);
    Ok(())
}

/// Prints a skill's verified instructions, or one of its files.
async fn show(client: &Client, words: &[String], output: &Output) -> Result<(), Failure> {
    let skills = SkillsClient::new(client).await?;
    let loaded = skills.load_entry(find(&skills, words).await?).await?;
    let Some(file) = words.get(1) else {
        let text = loaded.instructions();
        if output.json {
            let skill = to_json(loaded.entry())?;
            output.document(&json!({ "skill": skill, "instructions": text }))
        } else {
            output.text(text.trim_end())
        }
        return Ok(());
    };
    let bytes = loaded.read(file).await?;
    match (output.json, std::str::from_utf8(&bytes)) {
        (true, text) => output.document(&json!({ "file": file, "text": text.ok() })),
        (false, Ok(text)) => output.text(text.trim_end()),
        (false, Err(_)) => output.bytes(&bytes),
    }
    Ok(())
}

async fn files(client: &Client, words: &[String], output: &Output) -> Result<(), Failure> {
    let skills = SkillsClient::new(client).await?;
    let skill = find(&skills, words).await?;
    if output.json {
        output.document(&to_json(&skill.resources)?);
        return Ok(());
    }
    match &skill.resources {
        SkillResources::Listed(files) => {
            let rows = files.iter().map(|file| {
                let text = format!("{} bytes, {}", file.size, file.digest);
                (&file.uri, text)
            });
            output.rows(rows);
        }
        _ => output.note("the server lists no files: the content is dynamic"),
    }
    Ok(())
}

/// Finds a skill by its URI or its name.
async fn find(skills: &SkillsClient, words: &[String]) -> Result<Skill, Failure> {
    let wanted = words.first().map(String::as_str).unwrap_or_default();
    if wanted.contains("://") {
        return Ok(skills.get(wanted).await?);
    }
    let all = skills.list().await?;
    let named: Vec<_> = all
        .iter()
        .filter(|skill| skill.name() == Some(wanted))
        .collect();
    match named.as_slice() {
        [skill] => Ok((*skill).clone()),
        [] => {
            let names: Vec<_> = all.iter().filter_map(Skill::name).collect();
            let names = names.join(", ");
            Err(usage!(
                "the server has no skill {wanted:?}; it has: {names}"
            ))
        }
        several => {
            let uris: Vec<_> = several.iter().map(|skill| skill.uri.as_str()).collect();
            let uris = uris.join(", ");
            Err(usage!(
                "several skills are named {wanted:?}; pass one of the URIs {uris}"
            ))
        }
    }
}

/// Classifies a skill error.
impl From<SkillError> for Failure {
    fn from(error: SkillError) -> Self {
        match error {
            SkillError::Client(error) => error.into(),
            other => Self::new(FailureKind::Server, other.to_string()),
        }
    }
}
