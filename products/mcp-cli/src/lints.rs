//! Tool lints, by client.

use mcp::schema::{Lint, LintProfile, Severity};
use serde_json::{Value, json};

/// The clients whose lints are counted.
pub(crate) const PROFILES: [(&str, LintProfile); 6] = [
    ("Claude", LintProfile::Claude),
    ("OpenAI", LintProfile::OpenAi),
    ("Gemini", LintProfile::Gemini),
    ("Kimi", LintProfile::Kimi),
    ("Copilot", LintProfile::Copilot),
    ("Zed", LintProfile::Zed),
];

pub(crate) fn document(lint: &Lint) -> Value {
    let clients = PROFILES.iter().filter(|(_, it)| lint.concerns(*it));
    json!({
        "tool": lint.tool,
        "location": lint.location,
        "severity": match lint.severity {
            Severity::Note => "note",
            _ => "warning",
        },
        "clients": clients.map(|(name, _)| name).collect::<Vec<_>>(),
        "reason": format!("{} {}", lint.clients, lint.reason),
        "fix": lint.fix,
    })
}
