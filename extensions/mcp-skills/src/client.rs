//! Clients: server skills, verified before they are used.
//!
//! | module | content, lowest first |
//! |---|---|
//! | `error` | [`SkillError`] |
//! | `entry` | checks of `skills/list` and `skills/get` entries |
//! | `approval` | [`SkillId`], [`PendingSkill`]: the user's consent |
//! | `reader` | verified reads of files |
//! | `loaded` | [`LoadedSkill`]: verified instructions, and files on demand |
//! | `skills_client` | [`SkillsClient`]: the skills of one server |
//! | `registry` | [`SkillRegistry`]: the skills of several servers |

mod approval;
mod entry;
mod error;
mod loaded;
mod reader;
mod registry;
mod skills_client;

pub use approval::{PendingSkill, SkillId};
pub use error::SkillError;
pub use loaded::LoadedSkill;
pub use registry::{ListedSkill, SkillRegistry};
pub use skills_client::SkillsClient;
