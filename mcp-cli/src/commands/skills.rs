//! `mcp skills`: the skills of a server.

use mcp::Client;
use mcp::skills::{Skill, SkillError, SkillResources, SkillsClient};
use serde_json::json;

use super::support::{close, to_json};
use crate::cli::{SkillsCommand, TargetArgs};
use crate::failure::{Failure, FailureKind};
use crate::output::Output;
use crate::target;

pub(super) async fn run(command: &SkillsCommand, output: &Output) -> Result<(), Failure> {
    let args = match command {
        SkillsCommand::List(args) | SkillsCommand::Show(args) | SkillsCommand::Files(args) => args,
    };
    let (client, words) = connect(args, command, output).await?;
    let done = match command {
        SkillsCommand::List(_) => list(&client, output).await,
        SkillsCommand::Show(_) => show(&client, words, output).await,
        SkillsCommand::Files(_) => files(&client, words, output).await,
    };
    close(&client).await;
    done
}

/// Connects, and checks the number of words.
async fn connect<'a>(
    args: &'a TargetArgs,
    command: &SkillsCommand,
    output: &Output,
) -> Result<(Client, &'a [String]), Failure> {
    let (client, words) = target::connect(args, output).await?;
    let wish = match (command, words.len()) {
        (SkillsCommand::List(_), 0)
        | (SkillsCommand::Files(_), 1)
        | (SkillsCommand::Show(_), 1 | 2) => return Ok((client, words)),
        (SkillsCommand::List(_), _) => "pass a target only",
        _ => "pass the name or the URI of a skill; `mcp skills list` shows them",
    };
    close(&client).await;
    Err(Failure::usage(wish))
}

async fn list(client: &Client, output: &Output) -> Result<(), Failure> {
    let skills = SkillsClient::new(client).await?.list().await?;
    if output.json {
        output.document(&json!({ "skills": to_json(&skills)? }));
        return Ok(());
    }
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let rows = skills.iter().map(|skill| {
        (
            skill.name().unwrap_or(&skill.uri).to_owned(),
            text(skill.description()),
        )
    });
    output.rows(&rows.collect::<Vec<_>>());
    Ok(())
}

/// Prints a skill's verified instructions, or one of its files.
async fn show(client: &Client, words: &[String], output: &Output) -> Result<(), Failure> {
    let skills = SkillsClient::new(client).await?;
    let loaded = skills.load_entry(find(&skills, words).await?).await?;
    let Some(file) = words.get(1) else {
        if output.json {
            output.document(&json!({
                "skill": to_json(loaded.entry())?,
                "instructions": loaded.instructions(),
            }))
        } else {
            output.text(loaded.instructions().trim_end())
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
                (file.uri.clone(), text)
            });
            output.rows(&rows.collect::<Vec<_>>());
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
            Err(Failure::usage(format!(
                "the server has no skill {wanted:?}; it has: {names}"
            )))
        }
        several => {
            let uris: Vec<_> = several.iter().map(|skill| skill.uri.as_str()).collect();
            let uris = uris.join(", ");
            Err(Failure::usage(format!(
                "several skills are named {wanted:?}; pass one of the URIs {uris}"
            )))
        }
    }
}

/// Classifies the error of a skill.
impl From<SkillError> for Failure {
    fn from(error: SkillError) -> Self {
        match error {
            SkillError::Client(error) => error.into(),
            other => Self::new(FailureKind::Server, other.to_string()),
        }
    }
}
