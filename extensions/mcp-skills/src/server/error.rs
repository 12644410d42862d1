//! Mistakes in a server's skills.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// A mistake in a server's skills. The message names the file.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum SkillsError {
    /// A file or folder cannot be read.
    #[error("cannot read `{}`: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The operating system's error.
        source: Arc<io::Error>,
    },
    /// The path of [`Skills::dir`](super::Skills::dir) is not a folder.
    #[error("`{}` is not a folder; pass the folder that contains the skills", .0.display())]
    NotAFolder(PathBuf),
    /// A symbolic link.
    #[error("`{}` is a symbolic link, which could leave the folder; replace it with the file itself", .0.display())]
    SymbolicLink(PathBuf),
    /// A path that leads out of the folder.
    #[error("`{}` leads out of the folder of the skills; it is not served", .0.display())]
    Outside(PathBuf),
    /// A device, a pipe or a socket.
    #[error("`{}` is neither a file nor a folder; remove it", .0.display())]
    NotAFile(PathBuf),
    /// A file name cannot be part of a URI.
    #[error("the name of `{}` must be UTF-8 without `\\` and control characters; rename it", .0.display())]
    FileName(PathBuf),
    /// A folder is nested too deeply.
    #[error("`{}` is nested deeper than {limit} folders; flatten it, or raise `max_depth`", path.display())]
    TooDeep {
        /// The folder.
        path: PathBuf,
        /// The limit.
        limit: usize,
    },
    /// A folder has too many entries.
    #[error("`{}` contains more than {limit} files and folders; remove some, or raise `max_entries`", path.display())]
    TooManyEntries {
        /// The folder.
        path: PathBuf,
        /// The limit.
        limit: usize,
    },
    /// Too many skills.
    #[error(
        "there are {count} skills, but at most {limit} are allowed; remove some, or raise `max_skills`"
    )]
    TooManySkills {
        /// The number of skills.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// A skill has too many files.
    #[error(
        "the skill `{uri}` has {count} files, but hosts support {limit}; remove some, or split it"
    )]
    TooManyFiles {
        /// The skill.
        uri: String,
        /// The number of files.
        count: usize,
        /// The limit.
        limit: usize,
    },
    /// A skill is too large.
    #[error(
        "the files of the skill `{uri}` have more than {limit} bytes, the limit of hosts; remove some"
    )]
    TooManyBytes {
        /// The skill.
        uri: String,
        /// The limit.
        limit: u64,
    },
    /// Two files with the same URI.
    #[error("`{0}` exists twice; rename one of the skills, or remove it")]
    Duplicate(String),
    /// The path of a file or prefix from code is not a plain relative path.
    #[error(
        "`{0}` is not a relative path such as `references/forms.md`; remove `..`, `.`, `\\` and empty parts"
    )]
    InvalidPath(String),
    /// A `SKILL.md` is not UTF-8, or contains a NUL.
    #[error("`{0}` is not UTF-8 text without NUL characters; convert it")]
    NotText(String),
    /// The YAML of a `SKILL.md` is missing or malformed, or its name, description or metadata violates the rules.
    #[error("`{file}`: {problem}")]
    Frontmatter {
        /// The `SKILL.md`.
        file: String,
        /// The mistake, and how to mend it.
        problem: String,
    },
}

impl SkillsError {
    pub(super) fn io(path: impl Into<PathBuf>, source: io::Error) -> Self {
        Self::Io {
            path: path.into(),
            source: Arc::new(source),
        }
    }
}
