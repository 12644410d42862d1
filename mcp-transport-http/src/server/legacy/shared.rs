//! Sessions that several servers share by a store.

use std::sync::Arc;

use mcp_core::legacy::Session;
use mcp_core::store::SessionStore;

use super::super::refused::Refused;
use super::super::sessions::SessionEnd;
use super::door::Door;
use super::live::Live;
use super::open;
use super::saved::failed;

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
    let live = Live::new(id.into(), door.served(), machine, slot);
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
