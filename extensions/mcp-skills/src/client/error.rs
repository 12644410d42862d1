//! Client errors.

use crate::frontmatter::FrontmatterError;

/// The error of a skill that cannot be listed, loaded or read. [`is_verification`](Self::is_verification)
/// tells a server that sends other content than it lists.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// A request has failed, or the server does not declare the extension.
    #[error(transparent)]
    Client(#[from] mcp_client::Error),
    /// The entry of a skill violates the specification.
    #[error("the skill `{uri}` is invalid and was not loaded: {problem}")]
    InvalidEntry {
        /// The skill.
        uri: String,
        /// The violated rule.
        problem: String,
    },
    /// The skill is larger than this client supports.
    #[error("the skill `{uri}` is too large and was not loaded: {problem}")]
    TooLarge {
        /// The skill.
        uri: String,
        /// The exceeded limit.
        problem: String,
    },
    /// A file has another size than the entry says.
    #[error(
        "`{uri}` has {actual} bytes instead of {expected}; it was not used; load the skill again"
    )]
    WrongSize {
        /// The file.
        uri: String,
        /// The size in the entry.
        expected: u64,
        /// The size that was received.
        actual: u64,
    },
    /// A file has another digest than the entry says.
    #[error(
        "the content of `{uri}` does not match its digest; it was not used; load the skill again"
    )]
    WrongDigest {
        /// The file.
        uri: String,
    },
    /// The YAML of the `SKILL.md` differs from the entry.
    #[error(
        "the field `{field}` of `{uri}` differs from the list of skills; the skill was not loaded"
    )]
    WrongFrontmatter {
        /// The `SKILL.md`.
        uri: String,
        /// The first field that differs.
        field: String,
    },
    /// The `SKILL.md` cannot be parsed.
    #[error("`{uri}`: {reason}; the skill was not loaded")]
    Frontmatter {
        /// The `SKILL.md`.
        uri: String,
        /// The mistake.
        reason: FrontmatterError,
    },
    /// The answer to `resources/read` is not the one file that was requested.
    #[error("the answer for `{0}` is not this one file; it was not used")]
    WrongContents(String),
    /// A file is not listed in the skill's entry.
    #[error("`{uri}` is not a file of the skill `{skill}`; only listed files can be read")]
    Unlisted {
        /// The file.
        uri: String,
        /// The skill.
        skill: String,
    },
    /// A reference is not a path below the skill.
    #[error("`{0}` is not a path below the skill; use one such as `references/forms.md`")]
    InvalidReference(String),
    /// The approval hook has refused the skill.
    #[error("the skill `{0}` was not approved; it was not loaded")]
    NotApproved(String),
    /// The server does not declare `directoryRead`.
    #[error("the server does not offer `resources/directory/read`")]
    NoDirectories,
    /// Two servers of a registry have the same label.
    #[error("two servers have the label `{0}`; choose another one with `SkillsClient::label`")]
    DuplicateLabel(String),
    /// No server of a registry has the label.
    #[error("no server has the label `{0}`")]
    UnknownLabel(String),
}

impl SkillError {
    /// Returns true if the server sent other content than its entry promises.
    pub fn is_verification(&self) -> bool {
        matches!(
            self,
            Self::WrongSize { .. }
                | Self::WrongDigest { .. }
                | Self::WrongFrontmatter { .. }
                | Self::Frontmatter { .. }
                | Self::WrongContents(_)
                | Self::Unlisted { .. }
        )
    }
}
