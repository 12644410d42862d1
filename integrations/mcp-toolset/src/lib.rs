//! Unstable: what a language model sees of the tools on any number of servers.
//!
//! A [`ToolSet`] has tool definitions in a model provider's shape, runs a reply's calls, and
//! returns results as the provider's blocks (feature `client`).
//!
//! Definitions of all tools fill a model's context before its first word. [`search`] has three tools
//! instead, with which the model finds, reads and calls the others.
//!
//! # Modules
//!
//! A module uses only modules above it in this table.
//!
//! | module | content |
//! |---|---|
//! | `rank` | [`Ranker`], [`Ranking`], and [`WordRanker`]: tools by the words of a task |
//! | [`search`] | `search_tools`, `describe_tools` and `call_tool` over a list of tools |
//! | `provider` | [`Provider`]: what providers accept |
//! | `names`, `schema` | names and schemas for a provider, and arguments back for the server |
//! | `media` | images and sounds that a provider accepts |
//! | `reply` | the shapes of replies, [`ReplyError`] |
//! | `result`, `budget` | definitions, calls and results in the provider shapes; long results |
//! | `definition` | the parts of a definition that a user agrees to |
//! | `pins` | [`PinFile`]: the tools and prompts whose definitions a user has approved |
//! | `approval` | [`Approval`]: which calls run |
//! | `logged` | what the log of a tool set has said already |
//! | `lists` | the tools of a set's servers, kept while nothing has changed |
//! | `set` | [`ToolSet`] |

#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "client"),
    allow(
        rustdoc::broken_intra_doc_links,
        reason = "a build with all features checks every link"
    )
)]

#[cfg(feature = "client")]
mod approval;
#[cfg(feature = "client")]
mod budget;
mod definition;
#[cfg(feature = "client")]
mod lists;
#[cfg(feature = "client")]
mod logged;
#[cfg(feature = "client")]
mod media;
#[cfg(feature = "client")]
mod names;
mod pins;
#[cfg(feature = "client")]
mod provider;
mod rank;
#[cfg(feature = "client")]
mod reply;
#[cfg(feature = "client")]
mod result;
#[cfg(feature = "client")]
mod schema;
pub mod search;
#[cfg(feature = "client")]
mod set;

#[cfg(feature = "client")]
pub use approval::{Answer, Approval, ProposedCall, Verdict};
#[cfg(feature = "client")]
pub use budget::Tokens;
pub use pins::{HeldItem, PinFile};
#[cfg(feature = "client")]
pub use provider::Provider;
pub use rank::{Ranker, Ranking, WordRanker};
#[cfg(feature = "client")]
pub use reply::ReplyError;
#[cfg(feature = "client")]
pub use set::ToolSet;
