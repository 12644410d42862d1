//! The client side of a pipe.
//!
//! | module | contents, lowest first |
//! |---|---|
//! | `mailbox` | bounded queue of one request's messages |
//! | `shared` | state that the channel, its calls and the router share |
//! | `router` | the task that assigns received messages to requests |
//! | `pipe_channel` | [`PipeChannel`] |

mod mailbox;
mod pipe_channel;
mod router;
mod shared;

pub use pipe_channel::PipeChannel;

#[cfg(test)]
mod tests;
