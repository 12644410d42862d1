//! Limits for a server's skills.

use crate::types::{MAX_BYTES, MAX_RESOURCES};

/// Limits for a server's skills. They are checked when skills are added and when files change.
///
/// # Examples
///
/// ```
/// use mcp::skills::{Skills, SkillsLimits};
///
/// let mut limits = SkillsLimits::default();
/// limits.max_skills = 20;
/// let skills = Skills::new().limits(limits);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkillsLimits {
    /// Maximum number of skills. Default: 1,000.
    pub max_skills: usize,
    /// Maximum number of files in a skill. Default: 512, which every host supports.
    pub max_files: usize,
    /// Maximum size of a skill's files in bytes. Default: 16 MiB, which every host supports.
    pub max_bytes: u64,
    /// Maximum depth of directories in a folder. Default: 16.
    pub max_depth: usize,
    /// Maximum number of files and directories in a folder. Default: 20,000.
    pub max_entries: usize,
}

impl Default for SkillsLimits {
    // spec: SKILL-15
    fn default() -> Self {
        Self {
            max_skills: 1_000,
            max_files: MAX_RESOURCES,
            max_bytes: MAX_BYTES,
            max_depth: 16,
            max_entries: 20_000,
        }
    }
}
