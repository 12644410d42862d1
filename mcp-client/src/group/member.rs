//! One server of a group. It starts when it is needed, and again after it has ended.

use std::sync::Arc;
use std::time::Duration;

use futures_core::Stream;
use futures_util::StreamExt;
use mcp_core::{Backoff, BoxFuture, CloseReason, Omission};
use parking_lot::RwLock;
use tokio::sync::{Mutex, broadcast, oneshot};
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::AbortOnDropHandle;

use super::event::{GroupEvent, Health};
use super::health_check;
use super::login::GroupLogin;
use crate::client::Client;
use crate::error::{Error, ErrorKind};
use crate::negotiation::ProbeMemory;
use crate::notifications::Change;

/// A server that ran for this time is started again without a delay, and a subscription that was open for it is
/// opened again after the shortest delay.
const HEALTHY: Duration = Duration::from_secs(60);

/// Longest time for which a start waits until the server acknowledges the subscription. After a later
/// acknowledgment the group reports [`Change::Missed`].
const LISTEN_LIMIT: Duration = Duration::from_millis(500);

/// Delays before a subscription that has ended is opened again.
const LISTEN_RETRY: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(60));

type Connect = Arc<dyn Fn(&GroupLogin) -> BoxFuture<'static, Result<Client, Error>> + Send + Sync>;

pub(super) struct Member {
    pub(super) name: Arc<str>,
    /// `None` for a disabled server.
    connect: Option<Connect>,
    lifecycle: Mutex<Lifecycle>,
    probe_memory: ProbeMemory,
    reporter: HealthReporter,
    /// Subscribes to list changes while the server runs.
    listens: bool,
    health_check: Option<Duration>,
    login: GroupLogin,
}

struct Lifecycle {
    state: ServerState,
    backoff: Backoff,
}

enum ServerState {
    Idle,
    Running {
        client: Client,
        since: Instant,
        /// The task that watches the server.
        watcher: AbortOnDropHandle<()>,
    },
    /// The server has ended, or could not be started. It is not started before `until`.
    BackingOff {
        until: Instant,
        reason: String,
    },
    /// The group is closed.
    Closed,
}

impl Member {
    pub(super) fn new(
        name: &str,
        connect: impl Fn(&GroupLogin) -> BoxFuture<'static, Result<Client, Error>>
        + Send
        + Sync
        + 'static,
    ) -> Self {
        Self::with(name, Some(Arc::new(connect)), Health::Idle)
    }

    pub(super) fn unused(name: &str, reason: String) -> Self {
        Self::with(name, None, Health::Unused(reason))
    }

    fn with(name: &str, connect: Option<Connect>, health: Health) -> Self {
        let name: Arc<str> = name.into();
        Self {
            name: name.clone(),
            connect,
            lifecycle: Mutex::new(Lifecycle {
                state: ServerState::Idle,
                backoff: Backoff::new(Duration::from_secs(1), Duration::from_secs(60)),
            }),
            probe_memory: ProbeMemory::default(),
            reporter: HealthReporter {
                server: name,
                health: Arc::new(RwLock::new(health)),
                events: None,
            },
            listens: false,
            health_check: None,
            login: GroupLogin::default(),
        }
    }

    /// Completes a member when its group is built.
    pub(super) fn join(
        &mut self,
        events: broadcast::Sender<GroupEvent>,
        listens: bool,
        login: GroupLogin,
    ) {
        self.reporter.events = Some(events);
        self.listens = listens;
        self.login = login;
    }

    pub(super) fn set_health_check(&mut self, period: Duration) {
        self.health_check = Some(period);
    }

    pub(super) fn is_enabled(&self) -> bool {
        self.connect.is_some()
    }

    pub(super) fn health(&self) -> Health {
        self.reporter.health.read().clone()
    }

    /// Returns the client of the running server. Starts the server if necessary. Concurrent callers
    /// wait for the same start.
    pub(super) async fn client(&self) -> Result<Client, Error> {
        let Some(connect) = &self.connect else {
            let Health::Unused(reason) = self.health() else {
                return Err(ErrorKind::NoSuchServer((*self.name).into()).into());
            };
            return Err(self.error(ErrorKind::Unused(reason)));
        };
        let mut lifecycle = self.lifecycle.lock().await;
        if let ServerState::Running { client, since, .. } = &lifecycle.state {
            let Some(reason) = client.close_reason() else {
                return Ok(client.clone());
            };
            let was_healthy = since.elapsed() >= HEALTHY;
            // The watcher may not have reported the end yet.
            self.reporter.set_health(Health::Down(reason.to_string()));
            lifecycle.end(reason.to_string(), was_healthy);
        }
        match &lifecycle.state {
            ServerState::BackingOff { until, reason } if Instant::now() < *until => {
                let wait = until.duration_since(Instant::now());
                let reason = reason.clone();
                return Err(self.error(ErrorKind::BackingOff { reason, wait }));
            }
            ServerState::Closed => return Err(self.error(ErrorKind::closed(CloseReason::Local))),
            _ => {}
        }
        match self.probe_memory.scope(connect(&self.login)).await {
            Ok(client) => {
                self.reporter.set_health(Health::Running);
                let reporter = self.reporter.clone();
                // Subscribed before the caller can list anything.
                let omissions = client.omission_events();
                let (listening, acknowledged) = oneshot::channel();
                let listening = self.listens.then_some(listening);
                let checks = self.health_check;
                let watching = watch(client.clone(), reporter, listening, checks, omissions);
                let watcher = tokio::spawn(watching);
                lifecycle.state = ServerState::Running {
                    client: client.clone(),
                    since: Instant::now(),
                    watcher: AbortOnDropHandle::new(watcher),
                };
                // A list that is read before the subscription may miss a change. The watcher learns from the
                // dropped receiver that the caller did not wait for it.
                let _ = timeout(LISTEN_LIMIT, acknowledged).await;
                Ok(client)
            }
            Err(error) => {
                let reason = error.message_at(&self.name);
                self.reporter.set_health(Health::Down(reason.clone()));
                lifecycle.end(reason, false);
                Err(self.error(ErrorKind::Start(error)))
            }
        }
    }

    pub(super) async fn close(&self) {
        let mut lifecycle = self.lifecycle.lock().await;
        let state = std::mem::replace(&mut lifecycle.state, ServerState::Closed);
        if let ServerState::Running {
            client, watcher, ..
        } = state
        {
            drop(watcher);
            // Best effort: the connection closes in any case.
            let _ = client.close().await;
            let reason = CloseReason::Local.to_string();
            self.reporter.set_health(Health::Unused(reason));
        }
    }

    fn error(&self, kind: ErrorKind) -> Error {
        Error::for_server(&self.name, kind)
    }
}

impl Lifecycle {
    /// Records the end of the server. A healthy server may be started again at once.
    fn end(&mut self, reason: String, was_healthy: bool) {
        if was_healthy {
            self.backoff.reset();
            self.state = ServerState::Idle;
        } else {
            let until = Instant::now() + self.backoff.next_delay();
            self.state = ServerState::BackingOff { until, reason };
        }
    }
}

/// Reports health and changes of a server to the group.
#[derive(Clone)]
struct HealthReporter {
    server: Arc<str>,
    health: Arc<RwLock<Health>>,
    events: Option<broadcast::Sender<GroupEvent>>,
}

impl HealthReporter {
    /// Stores the health, and sends an event if it has changed.
    fn set_health(&self, health: Health) {
        let mut current = self.health.write();
        if *current == health {
            return;
        }
        *current = health.clone();
        drop(current);
        self.send(GroupEvent::Health {
            server: self.server.clone(),
            health,
        });
    }

    fn send(&self, event: GroupEvent) {
        if let Some(events) = &self.events {
            // An error means that there is no subscriber.
            let _ = events.send(event);
        }
    }
}

/// Forwards the changes of a server until it ends or fails its checks, and then reports its end.
async fn watch(
    client: Client,
    reporter: HealthReporter,
    listening: Option<oneshot::Sender<()>>,
    health_check: Option<Duration>,
    omissions: impl Stream<Item = Omission> + Unpin,
) {
    let changes = async {
        if let Some(listening) = listening {
            forward_changes(&client, &reporter, listening).await;
        }
        std::future::pending::<()>().await;
    };
    tokio::select! {
        reason = client.closed() => reporter.set_health(Health::Down(reason.to_string())),
        () = health_check::failed(&client, health_check) => {
            let reason = "it did not answer two health checks".to_owned();
            reporter.set_health(Health::Down(reason));
            // Best effort: the connection closes in any case.
            let _ = timeout(health_check::LIMIT, client.close()).await;
        }
        () = changes => {}
        () = forward_omissions(omissions, &reporter) => {}
    }
}

async fn forward_omissions(
    mut omissions: impl Stream<Item = Omission> + Unpin,
    reporter: &HealthReporter,
) {
    while let Some(omission) = omissions.next().await {
        reporter.send(GroupEvent::Omitted {
            server: reporter.server.clone(),
            omission,
        });
    }
}

/// Forwards the changes of a server until the server refuses the subscription or grants nothing. Subscribes again
/// after any other end. `listening` learns of the first acknowledgment. What may have changed before a later
/// one is reported as missed.
// spec: SUB-11
async fn forward_changes(
    client: &Client,
    reporter: &HealthReporter,
    listening: oneshot::Sender<()>,
) {
    let report = |change| {
        reporter.send(GroupEvent::Changed {
            server: reporter.server.clone(),
            change,
        });
    };
    let mut listening = Some(listening);
    let mut backoff = Backoff::new(LISTEN_RETRY.0, LISTEN_RETRY.1);
    loop {
        let subscribe = client.changes().tools_changed().prompts_changed();
        let waiting = listening.take();
        match subscribe.resources_changed().await {
            Ok(mut changes) => {
                let opened = Instant::now();
                let granted = changes.granted().clone();
                let is_first = waiting.is_some_and(|waiting| waiting.send(()).is_ok());
                if !is_first && !granted.is_empty() {
                    let missed = Change::Missed(granted.clone());
                    let inner = &client.inner;
                    inner.cache.invalidate(inner.identity, &missed);
                    report(missed);
                }
                while let Some(Ok(change)) = changes.next().await {
                    report(change);
                }
                if granted.is_empty() {
                    return;
                }
                if opened.elapsed() >= HEALTHY {
                    backoff.reset();
                }
            }
            Err(error) if error.is_retryable() => {}
            // A server without subscriptions can still be called.
            Err(_) => return,
        }
        sleep(backoff.next_delay()).await;
    }
}
