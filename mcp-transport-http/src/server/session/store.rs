//! Sessions in a store that several servers share.

use http::StatusCode;
use mcp_core::Fault;
use mcp_core::store::{SessionRecord, SessionStore, StoreError};

use super::super::config::{Config, SessionEnd};
use super::super::request::rejection::Rejection;
use super::super::store_guard::guard;
use super::http_session::{HttpSession, Unsaved};
use super::table::SessionTable;

/// Stores a new session. Does nothing without a store.
///
/// # Errors
///
/// Returns a rejection when the store fails, or when another server has a session with this id.
pub(super) async fn insert(session: &HttpSession) -> Result<(), Rejection> {
    let Some(store) = &session.settings().store else {
        return Ok(());
    };
    let record = session.record();
    let (new, ttl) = (record.clone(), session.settings().store_lifetime());
    let call = async { store.insert(&session.id, new, ttl).await };
    let inserted = guard("insert a session", session.config.store_timeout, call).await;
    if inserted.map_err(rejection)? {
        session.mark_saved(record);
        return Ok(());
    }
    let status = StatusCode::INTERNAL_SERVER_ERROR;
    Err(Rejection::legacy(status, None, id_in_use()))
}

/// Returns the fault of `initialize` when the configured function has created an id twice.
pub(super) fn id_in_use() -> Fault {
    Fault::internal("the id of the new session is in use; see StreamableHttp::session_id")
}

/// Saves the state of a session when it changed, or extends its lifetime in the store when that was
/// not done for a while. Does nothing without a store.
///
/// A session that is not in the store was ended by another server, and ends here as well.
///
/// Returns true if the state changed.
///
/// # Errors
///
/// Returns a rejection when the store fails, or when the session has ended.
// spec: SESS-07
pub(super) async fn save(table: &SessionTable, session: &HttpSession) -> Result<bool, Rejection> {
    let Some(store) = &session.settings().store else {
        return Ok(false);
    };
    match session.unsaved() {
        Some(Unsaved::State(record)) => {
            let (new, ttl) = (
                SessionRecord::clone(&record),
                session.settings().store_lifetime(),
            );
            let call = async { store.replace(&session.id, new, ttl).await };
            let replaced = guard("replace a session", session.config.store_timeout, call).await;
            end_unless_stored(table, session, replaced)?;
            session.mark_saved(*record);
            Ok(true)
        }
        Some(Unsaved::Lifetime) => keep(table, session).await.map(|()| false),
        None => Ok(false),
    }
}

/// Extends the lifetime of a session in the store. Does nothing without a store.
///
/// # Errors
///
/// Returns a rejection when the store fails, or when the session has ended.
pub(super) async fn keep(table: &SessionTable, session: &HttpSession) -> Result<(), Rejection> {
    let Some(store) = &session.settings().store else {
        return Ok(());
    };
    let ttl = session.settings().store_lifetime();
    let call = async { store.touch(&session.id, ttl).await };
    let kept = guard("keep a session", session.config.store_timeout, call).await;
    end_unless_stored(table, session, kept)?;
    session.mark_kept();
    Ok(())
}

/// Updates a session in use to the state in the store, and extends its lifetime there.
///
/// # Errors
///
/// Returns a rejection when the store fails, or when the session has ended.
pub(super) async fn refresh(table: &SessionTable, session: &HttpSession) -> Result<(), Rejection> {
    if let Some(store) = &session.settings().store
        && let Some(record) = load(&session.config, &**store, &session.id).await?
    {
        session.apply_stored(record);
    }
    save(table, session).await.map(drop)
}

fn end_unless_stored(
    table: &SessionTable,
    session: &HttpSession,
    is_stored: Result<bool, StoreError>,
) -> Result<(), Rejection> {
    if is_stored.map_err(rejection)? {
        return Ok(());
    }
    table.end(&session.id, SessionEnd::Elsewhere);
    Err(Rejection::session_not_found())
}

/// Loads the session `id`'s state, or `None` when it has ended.
///
/// # Errors
///
/// Returns a rejection when the store fails.
pub(super) async fn load(
    config: &Config,
    store: &dyn SessionStore,
    id: &str,
) -> Result<Option<SessionRecord>, Rejection> {
    let call = async { store.load(id).await };
    let loaded = guard("load a session", config.store_timeout, call).await;
    loaded.map_err(rejection)
}

/// Removes a session. Does nothing without a store.
///
/// # Errors
///
/// Returns a rejection when the store fails.
pub(super) async fn remove(session: &HttpSession) -> Result<(), Rejection> {
    let Some(store) = &session.settings().store else {
        return Ok(());
    };
    let call = async { store.remove(&session.id).await };
    let removed = guard("remove a session", session.config.store_timeout, call).await;
    removed.map_err(rejection)
}

pub(super) fn rejection(_: StoreError) -> Rejection {
    Rejection::unavailable("the request did not run: the session store failed")
}
