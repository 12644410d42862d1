//! Skills from code.

use bytes::Bytes;

use crate::uri::INSTRUCTIONS;

/// A skill from code: instructions and files that are part of the program.
///
/// [`Skills::add`](super::Skills::add) checks it.
///
/// # Examples
///
/// ```
/// use mcp::skills::{InlineSkill, Skills};
///
/// // A whole `SKILL.md`, such as `include_str!("refunds/SKILL.md")`.
/// let markdown = "---\nname: refunds\ndescription: How to refund an order\n---\n# Steps\n";
/// let refunds = InlineSkill::from_markdown(markdown)
///     .prefix("billing")
///     .file("scripts/refund.py", "print('refunded')\n");
/// let skills = Skills::new().add(refunds)?;
/// assert_eq!(skills.uris(), ["skill://billing/refunds/SKILL.md"]);
/// # Ok::<(), mcp::skills::SkillsError>(())
/// ```
#[derive(Debug, Clone)]
pub struct InlineSkill {
    pub(super) markdown: Bytes,
    pub(super) prefix: Option<String>,
    pub(super) files: Vec<(String, Bytes)>,
}

impl InlineSkill {
    /// Creates a skill from its name, a description that says when to use it, and its instructions in
    /// Markdown.
    pub fn new(name: &str, description: &str, instructions: &str) -> Self {
        // JSON strings are YAML strings.
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let (name, description) = (quoted(name), quoted(description));
        Self::from_markdown(format!(
            "---\nname: {name}\ndescription: {description}\n---\n{instructions}"
        ))
    }

    /// Creates a skill from a whole `SKILL.md`, which starts with YAML between two lines `---`.
    pub fn from_markdown(markdown: impl Into<Bytes>) -> Self {
        Self {
            markdown: markdown.into(),
            prefix: None,
            files: Vec::new(),
        }
    }

    /// Sets the path above the skill, such as `acme/billing`. Default: none.
    #[must_use]
    pub fn prefix(mut self, path: impl Into<String>) -> Self {
        self.prefix = Some(path.into());
        self
    }

    /// Adds a file by its path relative to the skill, such as `references/forms.md`.
    #[must_use]
    pub fn file(mut self, path: impl Into<String>, contents: impl Into<Bytes>) -> Self {
        self.files.push((path.into(), contents.into()));
        self
    }

    /// Returns all files with their paths relative to the skill.
    pub(super) fn all_files(&self) -> impl Iterator<Item = (&str, &Bytes)> {
        let instructions = (INSTRUCTIONS, &self.markdown);
        let files = self
            .files
            .iter()
            .map(|(path, bytes)| (path.as_str(), bytes));
        std::iter::once(instructions).chain(files)
    }
}
