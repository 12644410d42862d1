//! Sessions that several servers share by a store.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use mcp_core::Fault;
use mcp_core::legacy::Session;
use mcp_core::store::{SessionStore, StoreError};

use super::super::sessions::{SessionEnd, Sessions};
use super::live::Live;
use super::{Door, Refused, open};

/// The session as it was written down last, whoever did so. It is continued here when it has
/// never been here.
pub(super) async fn find(
    door: &Door,
    store: &dyn SessionStore,
    id: &str,
) -> Result<Option<Arc<Live>>, Refused> {
    let record = store.load(id).await.map_err(failed)?;
    let Some(record) = record else {
        door.table.end(id, SessionEnd::Elsewhere);
        return Ok(None);
    };
    if let Some(live) = door.table.find(id) {
        live.machine.adopt(record);
        return Ok(Some(live));
    }
    let slot = open::reserve(door, record.principal().as_ref())?;
    let limits = door.config.sessions.limits;
    let machine = Session::restore(record, &door.service, limits);
    let live = Live::new(id.into(), door, machine, slot);
    live.note_saved();
    // Another request of the same client may have been faster.
    match open::enter(door, live) {
        Ok(live) => {
            live.tell_continued();
            Ok(Some(live))
        }
        Err(_) => Ok(door.table.find(id)),
    }
}

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

/// How old what was written down may get while the session is in use.
pub(super) fn pause(sessions: &Sessions) -> Duration {
    sessions.idle_timeout / 4
}

fn failed(_: StoreError) -> Refused {
    // What the store says is not for clients.
    let fault = Fault::internal("the store of sessions failed; try again");
    Refused::fault(StatusCode::INTERNAL_SERVER_ERROR, None, fault)
}
