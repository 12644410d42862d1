//! Sessions in a store that several servers share.

use http::StatusCode;
use mcp_core::legacy::SessionRecord;
use mcp_core::store::{SessionStore, StoreError};
use mcp_core::{BoxFuture, Fault};

use super::super::rejection::Rejection;
use super::http_session::HttpSession;

/// Saves the state of a session, when it changed or was not saved for a while. Does nothing without
/// a store.
///
/// # Errors
///
/// Returns a rejection when the store fails.
pub(super) async fn save(session: &HttpSession) -> Result<(), Rejection> {
    match start_save(session) {
        Some(save) => save.await.map_err(rejection),
        None => Ok(()),
    }
}

fn start_save(session: &HttpSession) -> Option<BoxFuture<'_, Result<(), StoreError>>> {
    let settings = session.settings();
    let store = settings.store.as_ref()?;
    let record = session.unsaved_record()?;
    Some(store.save(&session.id, record, settings.store_lifetime()))
}

/// Loads the state of the session `id`, or `None` when it has ended.
///
/// # Errors
///
/// Returns a rejection when the store fails.
pub(super) async fn load(
    store: &dyn SessionStore,
    id: &str,
) -> Result<Option<SessionRecord>, Rejection> {
    store.load(id).await.map_err(rejection)
}

/// Removes a session. Does nothing without a store.
///
/// # Errors
///
/// Returns a rejection when the store fails.
pub(super) async fn remove(session: &HttpSession) -> Result<(), Rejection> {
    match &session.settings().store {
        Some(store) => store.remove(&session.id).await.map_err(rejection),
        None => Ok(()),
    }
}

/// The message of the store is not for clients.
fn rejection(_: StoreError) -> Rejection {
    let fault = Fault::internal("the store of sessions failed; try again");
    Rejection::legacy(StatusCode::INTERNAL_SERVER_ERROR, None, fault)
}
