//! Tool lints, limits of model providers.

use std::collections::HashSet;

use mcp::schema::{Severity, lint};
use mcp::toolset::Provider;
use mcp::types::{ProtocolVersion, Tool};

use super::report::{Check, Confidence, Finding};
use crate::revisions;

/// The providers with limits of their own.
const PROVIDERS: [(&str, Provider); 3] = [
    ("Claude", Provider::Anthropic),
    ("OpenAI", Provider::OpenAiChat),
    ("Gemini", Provider::Gemini),
];

/// Checks what hosts and models read of the tools.
pub(super) fn check(tools: &[Tool], version: ProtocolVersion) -> Check {
    let mut check = Check::new("schemas");
    check.detail = format!("{} tools", tools.len());
    let mut names = HashSet::new();
    for tool in tools {
        let place = format!("tool `{}`", tool.name);
        if !names.insert(&tool.name) {
            check.add(Finding::new(
                Confidence::Certain,
                "duplicate",
                &place,
                "the list has this name twice",
                "rename one of them",
            ));
        }
        if tool
            .description
            .as_ref()
            .is_none_or(|text| text.trim().is_empty())
        {
            let found = Finding::new(
                Confidence::Certain,
                "no-description",
                &place,
                "the tool has no description, so that a model has only its name",
                "say what the tool does, and when to use it",
            );
            check.add(found.warning());
        }
        compile(tool, version, &place, &mut check);
        for found in lint(tool) {
            let confidence = match found.severity {
                Severity::Note => Confidence::Possible,
                _ => Confidence::Likely,
            };
            let place = format!("{place}, {}", found.location);
            let what = format!("{} {}", found.clients, found.reason);
            check.add(Finding::new(confidence, "client", place, what, found.fix).warning());
        }
        for (name, provider) in PROVIDERS {
            let length = tool
                .description
                .as_deref()
                .unwrap_or_default()
                .chars()
                .count();
            if let Some(limit) = provider.max_description()
                && length > limit
            {
                let what = format!(
                    "{name} takes at most {limit} characters of a description; this one has {length}"
                );
                let repair = "say the most important first, and shorten it";
                let found = Finding::new(
                    Confidence::Certain,
                    "long-description",
                    &place,
                    what,
                    repair,
                );
                check.add(found.warning());
            }
        }
    }
    for (name, provider) in PROVIDERS {
        if let Some(limit) = provider.max_tools()
            && tools.len() > limit
        {
            let what = format!(
                "{name} takes at most {limit} tools; the server has {}",
                tools.len()
            );
            let repair = "offer fewer tools, or a search for them (`mcp gateway --tools search`)";
            let found = Finding::new(Confidence::Certain, "many-tools", "tools", what, repair);
            check.add(found.warning());
        }
    }
    check
}

/// Checks both schemas of a tool, as clients of `version` do.
pub(super) fn compile(tool: &Tool, version: ProtocolVersion, place: &str, check: &mut Check) {
    for (name, what) in revisions::schema_problems(tool, version) {
        let place = format!("{place}, {name}");
        let repair = "correct the schema; `mcp list --json` prints it";
        check.add(Finding::new(
            Confidence::Certain,
            "invalid",
            place,
            what,
            repair,
        ));
    }
}
