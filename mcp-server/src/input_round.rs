//! One run of a handler that asks its client: recorded answers, pending questions.
//!
//! Since 2026-07-28 a handler runs again from its beginning with every answer. Its earlier answers and
//! results travel through the client as a sealed [`RecordedAnswers`](recorded::RecordedAnswers). In a
//! session the handler runs once, and each question goes to the client immediately.
//!
//! | file | content, lowest first |
//! |---|---|
//! | `error` | errors of questions |
//! | `capabilities` | capabilities that a question needs |
//! | `recorded` | data that travels through the client |
//! | `round` | the run itself |

mod capabilities;
mod error;
mod recorded;
mod round;

pub(crate) use capabilities::require_declared;
pub use error::AskError;
pub(crate) use round::{InputKey, InputRound, InputStatus};
