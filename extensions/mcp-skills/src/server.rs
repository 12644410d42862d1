//! Servers: skills from folders and from code.
//!
//! | module | content, lowest first |
//! |---|---|
//! | `error`, `limits` | [`SkillsError`], [`SkillsLimits`] |
//! | `generator`, `inline` | files that a function writes; [`InlineSkill`]: a skill from code |
//! | `folder` | a folder's files: walk, stamps, reading without leaving it |
//! | `file`, `catalog` | a file with its digest; all skills, files and directories |
//! | `state`, `store` | the skill sources; the current catalog, and its changes |
//! | `skills` | [`Skills`]: the sources and settings |

pub(crate) mod catalog;
mod error;
mod file;
mod folder;
pub(crate) mod generator;
mod inline;
mod limits;
mod skills;
mod state;
pub(crate) mod store;

pub use error::SkillsError;
pub use inline::InlineSkill;
pub use limits::SkillsLimits;
pub use skills::Skills;
