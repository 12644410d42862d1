//! What a server tells outside of any one answer, for everybody who listens.

use futures_core::Stream;
use futures_util::stream;
use mcp_types::{LogMessage, LoggingLevel};
use tokio::sync::broadcast;
use tokio::sync::broadcast::error::RecvError;

use crate::Client;

/// Messages that wait for a listener which does not read; older ones make room.
const WAITING: usize = 256;

/// What is told to everybody who listens.
#[derive(Debug)]
pub(crate) struct Events {
    logs: broadcast::Sender<LogMessage>,
}

impl Default for Events {
    fn default() -> Self {
        Self {
            logs: broadcast::Sender::new(WAITING),
        }
    }
}

impl Events {
    pub(crate) fn log(&self, message: &LogMessage) {
        if self.logs.receiver_count() > 0 {
            // Nobody listens any more: nothing is lost.
            let _ = self.logs.send(message.clone());
        }
    }
}

impl Client {
    /// The log messages of the server from now on, of all calls. Say how many there should be with
    /// [`log_level`](crate::ClientBuilder::log_level).
    ///
    /// A listener that falls behind by more than 256 messages loses the oldest ones.
    pub fn logs(&self) -> impl Stream<Item = LogMessage> + Send + Unpin + use<> {
        let messages = self.inner.events.logs.subscribe();
        Box::pin(stream::unfold(messages, |mut messages| async move {
            loop {
                match messages.recv().await {
                    Ok(message) => return Some((message, messages)),
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                }
            }
        }))
    }

    /// Sets the least level of log messages of later calls, where a call does not set its own; none
    /// when `None`.
    // spec: META-11
    pub fn set_log_level(&self, level: impl Into<Option<LoggingLevel>>) {
        let level = level.into();
        self.inner.learn(|known| known.log_level = level);
    }
}
