//! Unstable: skills (extension `io.modelcontextprotocol/skills`), folders with instructions for language
//! models, which servers publish and clients verify.
//!
//! A skill is a folder with a `SKILL.md`. The server computes digests and sizes of all files; the client
//! verifies each file before it is used.
//!
//! ```
//! use mcp::prelude::*;
//! use mcp::skills::{InlineSkill, Skills};
//!
//! let refunds = InlineSkill::new("refunds", "How to refund an order", "# Steps\n\n1. Find the order.\n")
//!     .file("references/limits.md", "Refunds above 500 EUR need an approval.\n");
//! let server = Server::new("shop", "1.0.0").extension(Skills::new().add(refunds)?);
//! server.check()?;
//! # Ok::<(), mcp::Error>(())
//! ```
//!
//! Spec: <https://github.com/modelcontextprotocol/ext-skills>
//!
//! # Modules
//!
//! A module uses only modules above it in this table.
//!
//! | module | content |
//! |---|---|
//! | `types` | the messages of the extension |
//! | `uri`, `frontmatter` | skill URIs and names, the YAML at the start of a `SKILL.md` |
//! | `server` | folders and skills from code, [`Skills`] (feature `server`) |
//! | `methods` | the requests of the extension |
//! | `handlers` | a server's responses to them (feature `server`) |
//! | `client` | [`SkillsClient`]: listing, verification, approval (feature `client`) |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(all(feature = "client", feature = "server")),
    allow(dead_code, reason = "one side uses a part of the types and checks")
)]

#[cfg(feature = "client")]
pub mod client;
mod frontmatter;
#[cfg(feature = "server")]
mod handlers;
mod methods;
#[cfg(feature = "server")]
pub mod server;
mod types;
mod uri;

#[cfg(feature = "client")]
pub use client::{LoadedSkill, SkillError, SkillsClient};
pub use frontmatter::FrontmatterError;
#[cfg(feature = "server")]
pub use server::{InlineSkill, Skills, SkillsError, SkillsLimits};
pub use types::{
    ListSkillsResult, ReadDirectoryResult, Skill, SkillResource, SkillResources, SkillsSettings,
};
