//! Requests to the client while a call runs: elicitation (its user), sampling (its language model), and
//! its roots.
//!
//! Who waits how long: before 2026-07-28 the handler's future waits for the session (`SessionLimits` of `mcp-core`). Since then
//! the handler is dropped, and runs again when the client repeats the call within the lifetime of its sealed state
//! (`input_round`, `request_state`).
//!
//! Specification: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr>
//!
//! | file | content; each file uses only files above it |
//! |---|---|
//! | `answer` | the answer of a user |
//! | `elicit` | forms from Rust types |
//! | `asking` | one question; await it to get the answer |
//! | `questions` | several questions at once |
//! | `once` | work that runs only once per call, although the handler may run several times |
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
