//! What is written down of a session for other servers, where there are any.

use super::super::refused::Refused;
use super::live::Live;

/// Writes the session down, when there is something new, and once in a while.
pub(super) async fn save(live: &Live) -> Result<(), Refused> {
    match &live.sessions().store {
        Some(store) => store.save(live).await,
        None => Ok(()),
    }
}

pub(super) async fn remove(live: &Live) -> Result<(), Refused> {
    match &live.sessions().store {
        Some(store) => store.remove(live).await,
        None => Ok(()),
    }
}
