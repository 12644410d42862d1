//! Skills from code.

use std::future::Future;

use bytes::Bytes;
use mcp_server::ResourceError;

use super::generator::{FileBytes, Generator};
use crate::uri::INSTRUCTIONS;

/// A skill from code: instructions and files that are part of the program.
///
/// [`Skills::add`](super::Skills::add) checks it. A running server adds, replaces and removes skills with
/// [`Skills::put`](super::Skills::put) and [`Skills::remove`](super::Skills::remove).
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
    /// The whole `SKILL.md`, or its YAML if the instructions are generated.
    pub(super) markdown: Bytes,
    pub(super) prefix: Option<String>,
    /// All files with their paths relative to the skill.
    pub(super) files: Vec<(String, FileBytes)>,
}

impl InlineSkill {
    /// Creates a skill from its name, a description that says when to use it, and its instructions in
    /// Markdown.
    pub fn new(name: &str, description: &str, instructions: &str) -> Self {
        let frontmatter = frontmatter(name, description);
        Self::from_markdown(format!("{frontmatter}{instructions}"))
    }

    /// Creates a skill whose instructions a function writes each time that a client loads it. The name and the
    /// description stay the same.
    ///
    /// Its content has no digests: the list of files is `dynamic`, clients verify the YAML only, and hosts may
    /// decline it. Prefer [`Skills::put`](super::Skills::put) for content that changes now and then.
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::skills::{InlineSkill, Skills};
    ///
    /// let status = InlineSkill::dynamic("status", "State of the shop now", async || {
    ///     Ok(format!("{} orders are open.\n", 3))
    /// });
    /// let skills = Skills::new().add(status)?;
    /// # Ok::<(), mcp::skills::SkillsError>(())
    /// ```
    pub fn dynamic<F, Fut, T>(name: &str, description: &str, instructions: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, ResourceError>> + Send + 'static,
        T: Into<Bytes>,
    {
        let head = Bytes::from(frontmatter(name, description));
        let generator = Generator::new(head.clone(), instructions);
        Self {
            files: vec![(INSTRUCTIONS.to_owned(), FileBytes::Generated(generator))],
            ..Self::from_markdown(head)
        }
    }

    /// Creates a skill from a whole `SKILL.md`, which starts with YAML between two lines `---`.
    pub fn from_markdown(markdown: impl Into<Bytes>) -> Self {
        let markdown = markdown.into();
        Self {
            files: vec![(INSTRUCTIONS.to_owned(), FileBytes::Fixed(markdown.clone()))],
            markdown,
            prefix: None,
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
        let contents = FileBytes::Fixed(contents.into());
        self.files.push((path.into(), contents));
        self
    }

    /// Adds a file that a function writes each time that a client reads it. The skill is
    /// dynamic then, see [`dynamic`](Self::dynamic).
    ///
    /// # Examples
    ///
    /// ```
    /// use mcp::skills::{InlineSkill, Skills};
    ///
    /// let orders = InlineSkill::new("orders", "How to find orders", "Read open.csv.\n")
    ///     .dynamic_file("open.csv", async || Ok("id,state\n7,open\n"));
    /// let skills = Skills::new().add(orders)?;
    /// # Ok::<(), mcp::skills::SkillsError>(())
    /// ```
    #[must_use]
    pub fn dynamic_file<F, Fut, T>(mut self, path: impl Into<String>, write: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, ResourceError>> + Send + 'static,
        T: Into<Bytes>,
    {
        let contents = FileBytes::Generated(Generator::new(Bytes::new(), write));
        self.files.push((path.into(), contents));
        self
    }
}

/// Returns YAML with a name and a description, between two lines `---`.
fn frontmatter(name: &str, description: &str) -> String {
    // JSON strings are YAML strings.
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let (name, description) = (quoted(name), quoted(description));
    format!("---\nname: {name}\ndescription: {description}\n---\n")
}
