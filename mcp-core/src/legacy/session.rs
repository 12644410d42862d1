//! One session: its state, and its client's messages.
//!
//! A session does no IO. Its clock is one of its [`SessionLimits`].
//!
//! | module | content |
//! |---|---|
//! | `limits` | limits of a session, such as the time for a question |
//! | `handle` | messages of the client |
//! | `back_channel`, `sent_request` | requests to the client while a call runs, and their responses |
//! | `subscriptions` | resources that the client is subscribed to |
//! | `observe` | what telemetry sees of the session |
//!
//! Spec: <https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle>

mod back_channel;
mod handle;
mod limits;
mod observe;
mod sent_request;
mod subscriptions;

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::task::{Context, Poll, Waker, ready};

use mcp_types::{
    ClientCapabilities, InitializeParams, ProtocolVersion, RawObject, RequestId,
    ServerCapabilities, SubscriptionFilter,
};
use parking_lot::Mutex;

pub use handle::{HandledNotification, HandledRequest};
pub use limits::SessionLimits;
use observe::SessionObserver;
use sent_request::SentRequest;

use super::handshake;
use super::pending::PendingRequests;
use crate::authorization::{CallerKey, Principal};
use crate::call::Service;
use crate::changes::{ChangeEvent, Changes, Subscriber, Watch};
use crate::connection::{ClientContext, ServerProfile, SessionId};
use crate::extension;
use crate::message::{Fault, Reply, ResultBody, ServerNotification};
use crate::store::SessionRecord;
use crate::wire;

/// A session of a legacy client.
///
/// A server may hold very many idle sessions. Parts that few sessions need are allocated on first
/// use, and parts that all sessions have in common are shared.
pub struct Session {
    version: ProtocolVersion,
    limits: SessionLimits,
    /// The server, as it was when the session was opened.
    profile: Arc<ServerProfile>,
    /// Without scopes.
    owner: CallerKey,
    state: Mutex<SessionState>,
    changes: Option<WatchedChanges>,
    observer: Option<Box<SessionObserver>>,
    /// The client declares capabilities.
    can_be_asked: bool,
}

struct SessionState {
    facts: Arc<ClientContext>,
    ready: bool,
    /// The filter with the URIs that the client subscribed to, shared with the bus. `None`: no URIs.
    subscriptions: Option<Arc<SubscriptionFilter>>,
    /// The task that waits in [`Session::poll_change`] until the session is ready.
    change_reader: Option<Waker>,
    /// The requests to the client. Allocated with the first one.
    sent: Option<Box<PendingRequests<SentRequest>>>,
}

struct WatchedChanges {
    watch: Watch,
    changes: Changes,
}

impl Session {
    /// Opens a session. Returns it with the reply to `initialize`. Observers of the service see the request with the
    /// id `id`.
    ///
    /// # Errors
    ///
    /// Returns [`Fault::UnsupportedVersion`] when the server offers no revision with sessions, and
    /// [`Fault::BadParams`] when the client has more than 16 KiB of JSON.
    pub fn open(
        id: Option<&RequestId>,
        params: &InitializeParams,
        service: &dyn Service,
        principal: Option<&Principal>,
        limits: SessionLimits,
    ) -> Result<(Self, Reply), Fault> {
        let profile = service.profile();
        let (facts, result) =
            handshake::initialize(params, &profile, profile.capabilities.clone())?;
        let owner = CallerKey::new(principal);
        let session = Self::new(facts, service, profile, owner, (None, limits));
        if let Some(observer) = &session.observer {
            let meta = params.meta.as_ref();
            let meta = meta.and_then(|meta| RawObject::from_value(meta).ok());
            observer.initialize(id, meta.as_ref());
            observer.open();
        }
        let body = ResultBody::Initialize(Arc::new(result));
        Ok((session, body.into()))
    }

    /// Sets the session id for its observer, once. Over pipes, sessions have none.
    pub fn set_observed_id(&self, id: SessionId) {
        if let Some(observer) = &self.observer {
            observer.set_id(id);
        }
    }

    /// Continues a stored session.
    pub fn restore(record: SessionRecord, service: &dyn Service, limits: SessionLimits) -> Self {
        let facts = record.facts();
        let owner = record.owner;
        let profile = service.profile();
        let topic = record.topic.map(Into::into);
        let session = Self::new(facts, service, profile, owner, (topic, limits));
        {
            let mut state = session.state.lock();
            state.ready = record.ready;
            session.replace_subscriptions(&mut state, record.subscriptions);
        }
        session
    }

    fn new(
        facts: ClientContext,
        service: &dyn Service,
        profile: Arc<ServerProfile>,
        owner: CallerKey,
        (topic, limits): (Option<Arc<str>>, SessionLimits),
    ) -> Self {
        let interest = offered_lists(&profile.capabilities);
        let extensions = extension::common(&facts.capabilities, &profile.capabilities);
        let has_topic = facts.capabilities.allows_url() && facts.version.has_elicitation_id();
        let topic = has_topic.then(|| topic.unwrap_or_else(new_topic));
        let changes = service.changes().map(|changes| {
            let watch = changes.watch(interest);
            watch.add_notifications(extensions, topic, owner.clone());
            WatchedChanges { watch, changes }
        });
        Self {
            observer: SessionObserver::new(service, facts.version, limits.transport),
            version: facts.version,
            limits,
            profile,
            can_be_asked: facts.capabilities != ClientCapabilities::default(),
            owner,
            state: Mutex::new(SessionState {
                facts: Arc::new(facts),
                ready: false,
                subscriptions: None,
                change_reader: None,
                sent: None,
            }),
            changes,
        }
    }

    /// Returns the state to store.
    pub fn record(&self) -> SessionRecord {
        let state = self.state.lock();
        SessionRecord {
            server: self.profile.info().name.clone(),
            version: state.facts.version,
            capabilities: state.facts.capabilities.clone(),
            client_info: state.facts.info.clone(),
            log_level: state.facts.log_level,
            subscriptions: state.subscribed_uris().to_vec(),
            owner: self.owner.clone(),
            key: None,
            topic: self.topic().map(|topic| (*topic).to_owned()),
            ready: state.ready,
        }
    }

    /// Updates the session to the state that another node has stored.
    pub fn update(&self, record: SessionRecord) {
        let mut state = self.state.lock();
        if state.facts.log_level != record.log_level {
            Arc::make_mut(&mut state.facts).log_level = record.log_level;
        }
        self.replace_subscriptions(&mut state, record.subscriptions);
        let reader = if record.ready {
            state.set_ready()
        } else {
            None
        };
        drop(state);
        reader.into_iter().for_each(Waker::wake);
    }

    /// Returns the notification topic for this session alone. `None` for a client that visits no URLs.
    // spec: ELIC-10
    pub(super) fn topic(&self) -> Option<Arc<str>> {
        self.changes.as_ref()?.watch.topic()
    }

    /// Returns the session's revision.
    pub fn version(&self) -> ProtocolVersion {
        self.version
    }

    /// Returns the server, as it was when the session was opened.
    pub fn profile(&self) -> &Arc<ServerProfile> {
        &self.profile
    }

    /// Returns the client.
    pub fn facts(&self) -> Arc<ClientContext> {
        self.state.lock().facts.clone()
    }

    /// Shares the facts with the session that was opened before, if they are equal, and stores those
    /// of this session in `last`. Most clients of a server are the same program in the same version: an idle
    /// session then holds 620 bytes instead of 814 (`tests/budget.rs` of mcp-transport-http).
    pub fn share_context(&self, last: &mut Option<Arc<ClientContext>>) {
        let mut state = self.state.lock();
        match last {
            Some(last) if **last == *state.facts => state.facts = last.clone(),
            _ => *last = Some(state.facts.clone()),
        }
    }

    /// Returns true after the client has sent `notifications/initialized`.
    pub fn is_ready(&self) -> bool {
        self.state.lock().ready
    }

    /// Returns true if the principal is the one that opened the session.
    // spec: SESS-11
    pub fn belongs_to(&self, principal: Option<&Principal>) -> bool {
        self.owner.matches(principal)
    }

    /// Marks everything that the session is interested in as changed, because changes may have been
    /// missed while no node had the session.
    pub fn mark_all_changes(&self) {
        if let Some(watched) = &self.changes {
            watched.watch.mark_all();
        }
    }

    /// Encodes a notification to the client, which the observer of the service sees. Returns false and
    /// writes nothing when the revision does not have it.
    #[must_use = "false means that nothing was written"]
    pub fn encode_notification(
        &self,
        notification: &ServerNotification,
        out: &mut Vec<u8>,
    ) -> bool {
        let observed = self.observer.as_ref();
        let Some((observation, meta)) = observed.map(|observer| observer.notify(notification))
        else {
            return wire::write_server(notification, (None, None), self.version, out);
        };
        let meta = (None, meta.as_ref());
        let is_written = wire::write_server(notification, meta, self.version, out);
        observation.end(Ok(()));
        is_written
    }

    /// Polls for the next change to notify the client of. Pending until the session is ready.
    /// Changes of resources that the subscriber may not read are skipped. Only the task that polled
    /// last is woken.
    // spec: LIFE-05, GAP-10
    pub fn poll_change(
        &self,
        cx: &mut Context<'_>,
        subscriber: &Subscriber,
    ) -> Poll<ServerNotification> {
        let mut state = self.state.lock();
        if !state.ready {
            state.change_reader = Some(cx.waker().clone());
            return Poll::Pending;
        }
        drop(state);
        let Some(WatchedChanges { watch, changes }) = &self.changes else {
            return Poll::Pending;
        };
        loop {
            let event = ready!(watch.poll_change(cx));
            let access = match &event {
                ChangeEvent::Resource { uri } => {
                    changes.check_access(uri, &self.facts(), subscriber)
                }
                _ => Ok(()),
            };
            if access.is_ok() {
                return Poll::Ready(event.into());
            }
        }
    }
}

impl SessionState {
    /// Returns the waker of the task that waits for changes.
    fn set_ready(&mut self) -> Option<Waker> {
        self.ready = true;
        self.change_reader.take()
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session")
            .field("version", &self.version)
            .field("ready", &self.is_ready())
            .finish_non_exhaustive()
    }
}

/// Returns a topic that no other session has, of any process that shares the bus of changes.
fn new_topic() -> Arc<str> {
    // The keys of a `RandomState` are random, and others for each value.
    format!("{:016x}", RandomState::new().hash_one(())).into()
}

/// Returns the changes of lists that a session is notified of: those that the server declared.
// spec: SUB-12
fn offered_lists(offers: &ServerCapabilities) -> SubscriptionFilter {
    let mut filter = SubscriptionFilter::new();
    filter.tools_list_changed = ChangeEvent::Tools.is_offered(offers);
    filter.prompts_list_changed = ChangeEvent::Prompts.is_offered(offers);
    filter.resources_list_changed = ChangeEvent::Resources.is_offered(offers);
    filter
}

#[cfg(test)]
mod tests;
