//! One server of a group: started when it is needed, and anew when it has ended.

use std::fmt;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::future::{Either, select};
use mcp_core::backoff::Backoff;
use mcp_core::{BoxFuture, CloseReason};
use parking_lot::RwLock;
use tokio::sync::{Mutex, broadcast};
use tokio::task::AbortHandle;
use tokio::time::Instant;

use super::GroupEvent;
use crate::error::Kind;
use crate::{Client, Error};

/// A server that ran for so long had a good start.
const LASTING: Duration = Duration::from_secs(60);

/// How a server of a group is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Health {
    /// It is not used, for this reason.
    Unused(String),
    /// Nobody has needed it yet.
    Idle,
    /// It runs.
    Running,
    /// It has ended, or could not be started, for this reason. It is tried again when it is needed,
    /// after a while.
    Down(String),
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unused(reason) => write!(f, "not used: {reason}"),
            Self::Idle => f.write_str("not started yet"),
            Self::Running => f.write_str("running"),
            Self::Down(reason) => write!(f, "down: {reason}"),
        }
    }
}

type Connect = Arc<dyn Fn() -> BoxFuture<'static, Result<Client, Error>> + Send + Sync>;

pub(super) struct Member {
    pub(super) name: Arc<str>,
    /// What names in the group begin with; no other member has it.
    pub(super) prefix: String,
    connect: Option<Connect>,
    life: Mutex<Life>,
    health: Arc<RwLock<Health>>,
    events: Option<broadcast::Sender<GroupEvent>>,
    listens: bool,
}

struct Life {
    state: State,
    backoff: Backoff,
}

enum State {
    /// It was not started yet.
    Idle,
    Running {
        client: Client,
        since: Instant,
        listener: Listener,
    },
    /// It is left alone for a while.
    Resting { until: Instant, reason: String },
    /// The group is closed.
    Closed,
}

/// The task that listens to a server, ended with this.
struct Listener(AbortHandle);

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.abort();
    }
}

impl Member {
    pub(super) fn new(
        name: &str,
        connect: impl Fn() -> BoxFuture<'static, Result<Client, Error>> + Send + Sync + 'static,
    ) -> Self {
        Self::with(name, Some(Arc::new(connect)), Health::Idle)
    }

    pub(super) fn unused(name: &str, reason: String) -> Self {
        Self::with(name, None, Health::Unused(reason))
    }

    fn with(name: &str, connect: Option<Connect>, health: Health) -> Self {
        Self {
            name: name.into(),
            prefix: String::new(),
            connect,
            life: Mutex::new(Life {
                state: State::Idle,
                backoff: Backoff::new(Duration::from_secs(1), Duration::from_secs(60)),
            }),
            health: Arc::new(RwLock::new(health)),
            events: None,
            listens: false,
        }
    }

    pub(super) fn join(
        &mut self,
        prefix: String,
        events: broadcast::Sender<GroupEvent>,
        listens: bool,
    ) {
        self.prefix = prefix;
        self.events = Some(events);
        self.listens = listens;
    }

    pub(super) fn is_used(&self) -> bool {
        self.connect.is_some()
    }

    pub(super) fn health(&self) -> Health {
        self.health.read().clone()
    }

    /// The running client; the server is started if need be, by one caller at a time.
    pub(super) async fn client(&self) -> Result<Client, Error> {
        let Some(connect) = &self.connect else {
            let Health::Unused(reason) = self.health() else {
                return Err(Kind::NoSuchServer((*self.name).into()).into());
            };
            return Err(self.failed(Kind::Unused(reason)));
        };
        let mut life = self.life.lock().await;
        if let State::Running { client, since, .. } = &life.state {
            let Some(reason) = client.close_reason() else {
                return Ok(client.clone());
            };
            let lasted = since.elapsed() >= LASTING;
            // Its listener may not have seen it yet.
            self.teller().tell(Health::Down(reason.to_string()));
            life.end(reason.to_string(), lasted);
        }
        match &life.state {
            State::Resting { until, reason } if Instant::now() < *until => {
                let wait = until.duration_since(Instant::now());
                let reason = reason.clone();
                return Err(self.failed(Kind::Resting { reason, wait }));
            }
            State::Closed => return Err(self.failed(Kind::closed(CloseReason::Local))),
            _ => {}
        }
        match connect().await {
            Ok(client) => {
                self.teller().tell(Health::Running);
                let listener = tokio::spawn(listen(client.clone(), self.teller(), self.listens));
                life.state = State::Running {
                    client: client.clone(),
                    since: Instant::now(),
                    listener: Listener(listener.abort_handle()),
                };
                Ok(client)
            }
            Err(error) => {
                let reason = error.to_string();
                self.teller().tell(Health::Down(reason.clone()));
                life.end(reason, false);
                Err(self.failed(Kind::Start(error)))
            }
        }
    }

    pub(super) async fn close(&self) {
        let mut life = self.life.lock().await;
        let state = std::mem::replace(&mut life.state, State::Closed);
        if let State::Running {
            client, listener, ..
        } = state
        {
            drop(listener);
            // One that cannot be told ends with its connection.
            let _ = client.close().await;
            self.teller()
                .tell(Health::Down(CloseReason::Local.to_string()));
        }
    }

    fn failed(&self, kind: Kind) -> Error {
        Error::of_server(&self.name, kind)
    }

    fn teller(&self) -> Teller {
        Teller {
            server: self.name.clone(),
            health: self.health.clone(),
            events: self.events.clone(),
        }
    }
}

impl Life {
    /// The server has ended. One that lasted is started again at once.
    fn end(&mut self, reason: String, lasted: bool) {
        if lasted {
            self.backoff.reset();
            self.state = State::Idle;
        } else {
            let until = Instant::now() + self.backoff.next_delay();
            self.state = State::Resting { until, reason };
        }
    }
}

/// Tells the group what happens to a server.
struct Teller {
    server: Arc<str>,
    health: Arc<RwLock<Health>>,
    events: Option<broadcast::Sender<GroupEvent>>,
}

impl Teller {
    /// Says how the server is now, when it was not like that before.
    fn tell(&self, health: Health) {
        let mut known = self.health.write();
        if *known == health {
            return;
        }
        *known = health.clone();
        drop(known);
        self.send(GroupEvent::Health {
            server: self.server.clone(),
            health,
        });
    }

    fn send(&self, event: GroupEvent) {
        if let Some(events) = &self.events {
            // Nobody listens: nothing is lost.
            let _ = events.send(event);
        }
    }
}

/// Passes on what a server tells, until it ends.
async fn listen(client: Client, teller: Teller, listens: bool) {
    let reason = {
        let changes = pin!(pass_on(&client, &teller, listens));
        match select(changes, pin!(client.closed())).await {
            Either::Left(((), closed)) => closed.await,
            Either::Right((reason, _)) => reason,
        }
    };
    teller.tell(Health::Down(reason.to_string()));
}

async fn pass_on(client: &Client, teller: &Teller, listens: bool) {
    if !listens {
        return;
    }
    let wanted = client
        .changes()
        .tools_changed()
        .prompts_changed()
        .resources_changed();
    // A server that tells no changes, or no more, can still be called.
    let Ok(mut changes) = wanted.await else {
        return;
    };
    while let Some(Ok(change)) = changes.next().await {
        teller.send(GroupEvent::Changed {
            server: teller.server.clone(),
            change,
        });
    }
}

impl fmt::Debug for Member {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Member")
            .field("name", &self.name)
            .field("health", &self.health())
            .finish_non_exhaustive()
    }
}
