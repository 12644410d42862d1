//! What is written down of a session for other servers.

use std::time::Duration;

use http::StatusCode;
use mcp_core::Fault;
use mcp_core::store::StoreError;

use super::super::refused::Refused;
use super::super::sessions::Sessions;
use super::live::Live;

/// Writes the session down, when there is something new, and once in a while.
pub(super) async fn save(live: &Live) -> Result<(), Refused> {
    let sessions = live.sessions();
    let Some(store) = &sessions.store else {
        return Ok(());
    };
    if let Some(record) = live.unsaved_record() {
        let saved = store.save(&live.id, record, life(sessions)).await;
        saved.map_err(failed)?;
    }
    Ok(())
}

pub(super) async fn remove(live: &Live) -> Result<(), Refused> {
    match &live.sessions().store {
        Some(store) => store.remove(&live.id).await.map_err(failed),
        None => Ok(()),
    }
}

/// How long a session that nobody uses stays written down: longer than it stays in memory.
fn life(sessions: &Sessions) -> Duration {
    sessions.idle_timeout.saturating_mul(2)
}

pub(super) fn failed(_: StoreError) -> Refused {
    // What the store says is not for clients.
    let fault = Fault::internal("the store of sessions failed; try again");
    Refused::fault(StatusCode::INTERNAL_SERVER_ERROR, None, fault)
}
