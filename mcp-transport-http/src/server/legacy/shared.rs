//! Sessions that several servers share by a store.

use std::sync::Arc;
use std::time::Duration;

use http::StatusCode;
use mcp_core::legacy::Session;
use mcp_core::store::{SessionStore, StoreError};
use mcp_core::{BoxFuture, Fault};

use super::super::refused::Refused;
use super::super::sessions::{SessionEnd, Sessions};
use super::door::Door;
use super::live::Live;
use super::open;

/// What becomes of sessions that are shared. A program that gives no store has no code of it: it is `#[inline]`,
/// which leaves it to the crate that gives one.
pub(in super::super) trait Sharing: Send + Sync {
    /// The session as it was written down last, whoever did so. It is continued here when it has
    /// never been here.
    fn find<'a>(&'a self, door: &'a Door, id: &'a str) -> BoxFuture<'a, Found>;

    /// Writes the session down, when there is something new, and once in a while.
    fn save<'a>(&'a self, live: &'a Live) -> BoxFuture<'a, Result<(), Refused>>;

    /// The session has ended for everybody.
    fn remove<'a>(&'a self, live: &'a Live) -> BoxFuture<'a, Result<(), Refused>>;
}

type Found = Result<Option<Arc<Live>>, Refused>;

/// Sessions that are shared by a store.
pub(in super::super) struct Shared(Box<dyn SessionStore>);

impl Shared {
    pub(in super::super) fn by(store: impl SessionStore) -> Self {
        Self(Box::new(store))
    }
}

impl Sharing for Shared {
    #[inline]
    fn find<'a>(&'a self, door: &'a Door, id: &'a str) -> BoxFuture<'a, Found> {
        Box::pin(find(door, &*self.0, id))
    }

    #[inline]
    fn save<'a>(&'a self, live: &'a Live) -> BoxFuture<'a, Result<(), Refused>> {
        Box::pin(save(live, &*self.0))
    }

    #[inline]
    fn remove<'a>(&'a self, live: &'a Live) -> BoxFuture<'a, Result<(), Refused>> {
        Box::pin(async move { self.0.remove(&live.id).await.map_err(failed) })
    }
}

#[inline]
async fn find(door: &Door, store: &dyn SessionStore, id: &str) -> Found {
    let record = store.load(id).await.map_err(failed)?;
    let Some(record) = record else {
        door.table.end(id, SessionEnd::Elsewhere);
        return Ok(None);
    };
    if let Some(live) = door.table.find(id) {
        live.machine.update(record);
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

#[inline]
async fn save(live: &Live, store: &dyn SessionStore) -> Result<(), Refused> {
    if let Some(record) = live.unsaved_record() {
        let saved = store.save(&live.id, record, life(live.sessions())).await;
        saved.map_err(failed)?;
    }
    Ok(())
}

/// How long a session that nobody uses stays written down: longer than it stays in memory.
#[inline]
fn life(sessions: &Sessions) -> Duration {
    sessions.idle_timeout.saturating_mul(2)
}

#[inline]
fn failed(_: StoreError) -> Refused {
    // What the store says is not for clients.
    let fault = Fault::internal("the store of sessions failed; try again");
    Refused::fault(StatusCode::INTERNAL_SERVER_ERROR, None, fault)
}
