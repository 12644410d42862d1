//! Unstable: what a language model sees of the tools of any number of servers.
//!
//! Definitions of all tools fill the context of a model before its first word. [`search`] has three tools
//! instead, with which the model finds, reads and calls the others.
//!
//! # Modules
//!
//! A module uses only modules above it in this table.
//!
//! | module | content |
//! |---|---|
//! | `rank` | [`Ranker`], and [`WordRanker`]: tools by the words of a task |
//! | [`search`] | `search_tools`, `describe_tools` and `call_tool` over a list of tools |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod rank;
pub mod search;

pub use rank::{Ranker, WordRanker};
