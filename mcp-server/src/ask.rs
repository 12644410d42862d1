//! Questions to the client while a call runs: to its user, its language model, its roots.
//!
//! Specification: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>
//!
//! | file | content, lowest first |
//! |---|---|
//! | `answer` | the answer of a user |
//! | `elicit` | forms of Rust types |
//! | `asking` | a question as a future |
//! | `questions` | several questions at once |
//! | `once` | work that is done once per call |
//! | `extractor` | the extractor [`Ask`] |

mod answer;
mod asking;
mod elicit;
mod extractor;
mod once;
mod questions;

pub use answer::Answer;
pub use asking::Asking;
pub(crate) use elicit::read_choice;
pub use elicit::{Elicit, ElicitChoice, ElicitField};
pub use extractor::{Ask, Sampling};
pub use questions::Questions;
