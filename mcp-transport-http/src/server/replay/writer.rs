//! The server that writes a stream. Its number is in the stream's name, so that the other servers that share the
//! session know when it has ended.

use std::sync::Arc;
use std::time::Duration;

use mcp_core::store::{EventStore, Replay, ReplayError, SessionRelay, StreamId};

use super::super::config::Config;
use super::super::store_guard::guard;

/// Returns the stream name: `<prefix>-<number>`, or `<prefix>.<node>-<number>` for a server with a relay.
pub(super) fn stream_name(prefix: &str, node: Option<u32>, number: u64) -> Box<str> {
    match node {
        Some(node) => format!("{prefix}.{node}-{number}").into(),
        None => format!("{prefix}-{number}").into(),
    }
}

/// Returns the number of the server in a stream name.
fn node_of(stream: &str) -> Option<u32> {
    let (prefix, _) = stream.rsplit_once('-')?;
    let (_, node) = prefix.split_once('.')?;
    node.parse().ok()
}

/// Another server that writes a stream.
#[derive(Clone)]
pub(super) struct StreamWriter {
    relay: Arc<dyn SessionRelay>,
    node: u32,
    time_limit: Duration,
}

impl StreamWriter {
    /// Returns the server that writes a stream. `None` without a relay between the servers.
    pub(super) fn of(stream: &str, config: &Config) -> Option<Self> {
        Some(Self {
            relay: Arc::clone(config.sessions.relay.as_ref()?),
            node: node_of(stream)?,
            time_limit: config.store_timeout,
        })
    }

    /// Returns false for a server that has ended. A server of which nothing is known counts as running.
    async fn is_alive(&self) -> bool {
        let call = async { self.relay.is_alive(self.node).await };
        let is_alive = guard("look for a server", self.time_limit, call).await;
        is_alive.unwrap_or(true)
    }
}

/// Returns the events of a stream that another server writes. `None` if there are none and the server has ended: then
/// the call may have run, but has no result.
///
/// # Errors
///
/// Returns the store's [`ReplayError`].
pub(super) async fn events_after(
    store: &dyn EventStore,
    stream: StreamId<'_>,
    after: Option<u64>,
    writer: Option<&StreamWriter>,
) -> Result<Option<Replay>, ReplayError> {
    let is_silent = |replay: &Replay| replay.events.is_empty() && !replay.is_over;
    let replay = store.after(stream, after).await?;
    match writer {
        Some(writer) if is_silent(&replay) && !writer.is_alive().await => {
            // It may have written events before it ended.
            let replay = store.after(stream, after).await?;
            Ok(Some(replay).filter(|replay| !is_silent(replay)))
        }
        _ => Ok(Some(replay)),
    }
}

#[cfg(test)]
mod tests {
    use super::{node_of, stream_name};

    #[test]
    fn stream_name_contains_the_server_number() {
        assert_eq!(&*stream_name("a1f", Some(12), 3), "a1f.12-3");
        assert_eq!(node_of("a1f.12-3"), Some(12));
        assert_eq!(&*stream_name("a1f", None, 3), "a1f-3");
        for name in ["a1f-3", "0", "a.b-3", "a.12", ""] {
            assert_eq!(node_of(name), None, "{name}");
        }
    }
}
