//! Subscriptions to server tasks.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use futures_util::stream::{self, BoxStream};
use mcp_auth::AccessToken;
use mcp_client::{Change, Subscription};
use mcp_core::{CallerKey, ClientContext, Fault, ServerNotification, TaskChanges};
use mcp_types::ext::tasks::{CHANGED, GET, TaskParams};
use mcp_types::{RawObject, SubscriptionFilter};

use super::body::TaskBody;
use super::client::TaskClient;
use super::ids::{FoundTask, TaskIds};
use crate::calls::usage::InUse;

/// The tasks of one server that a client has subscribed to, by the server's ids.
type Watched = HashMap<Box<str>, WatchedTask>;

/// A task that a client has subscribed to.
pub(super) struct WatchedTask {
    /// The client's id.
    pub(super) sealed: String,
    pub(super) task: FoundTask,
}

/// Subscribes to tasks at their servers. A task that its server does not grant is not granted.
// spec: TASK-19
pub(super) async fn subscribe(
    ids: &TaskIds,
    found: Vec<WatchedTask>,
    facts: &ClientContext,
    caller: &CallerKey,
    token: Option<&AccessToken>,
) -> TaskChanges {
    let mut servers: BTreeMap<Arc<str>, Watched> = BTreeMap::new();
    for watched in found {
        let server = servers.entry(watched.task.upstream.server.clone());
        server.or_default().insert(watched.task.id.clone(), watched);
    }
    let subscribing = servers
        .into_values()
        .map(|watched| TaskStream::open(ids, watched, facts, caller, token));
    let opened = join_all(subscribing.collect::<Vec<_>>()).await;
    let (mut granted, mut streams) = (Vec::new(), Vec::new());
    for stream in opened.into_iter().flatten() {
        granted.extend(stream.watched.values().map(|task| task.sealed.clone()));
        streams.push(stream.notifications());
    }
    TaskChanges {
        granted,
        notifications: stream::select_all(streams).boxed(),
    }
}

/// The task changes of one server.
struct TaskStream {
    ids: TaskIds,
    client: TaskClient,
    watched: Watched,
    changes: Subscription,
    /// Tasks that may have changed while the stream was broken.
    missed: VecDeque<Box<str>>,
    _in_use: InUse,
}

impl TaskStream {
    /// Returns `None` if the server grants no task.
    async fn open(
        ids: &TaskIds,
        mut watched: Watched,
        facts: &ClientContext,
        caller: &CallerKey,
        token: Option<&AccessToken>,
    ) -> Option<Self> {
        let upstream = watched.values().next()?.task.upstream.clone();
        let in_use = upstream.usage.begin();
        let credentials = upstream.credentials(token).await.ok()?;
        let headers = upstream.headers(caller, credentials).ok()?;
        let shared = upstream.client().await.ok()?;
        let mut filter = SubscriptionFilter::new();
        filter.task_ids = watched.keys().map(|id| id.to_string()).collect();
        let subscribe = shared.changes().filter(filter);
        let subscribe = headers.fold(subscribe, |subscribe, (name, value)| {
            subscribe.header(name, value)
        });
        let changes = match subscribe.await {
            Ok(changes) => changes,
            Err(error) => {
                let server = &upstream.server;
                tracing::warn!(server = %mcp_types::escaped(&server), error = %mcp_types::escaped(&error), "the gateway cannot forward task changes");
                return None;
            }
        };
        let granted = &changes.granted().task_ids;
        watched.retain(|id, _| granted.iter().any(|granted| **granted == **id));
        let client = TaskClient::new(&upstream, facts, true, caller, token, None);
        (!watched.is_empty()).then_some(Self {
            ids: ids.clone(),
            client,
            watched,
            changes,
            missed: VecDeque::new(),
            _in_use: in_use,
        })
    }

    /// Returns the notifications for the client, until every task has ended.
    fn notifications(self) -> BoxStream<'static, ServerNotification> {
        let stream = stream::unfold(self, |mut stream| async move {
            let notification = stream.next().await?;
            Some((notification, stream))
        });
        stream.boxed()
    }

    async fn next(&mut self) -> Option<ServerNotification> {
        while !self.watched.is_empty() {
            let body = match self.missed.pop_front() {
                Some(id) => self.request(&id).await,
                None => match self.changes.next().await {
                    Some(Ok(Change::Other { method, params })) if *method == *CHANGED => {
                        params.and_then(|params| TaskBody::parse(&params).ok())
                    }
                    Some(Ok(Change::Missed(_))) => {
                        self.missed = self.watched.keys().cloned().collect();
                        None
                    }
                    Some(Ok(_)) => None,
                    _ => return None,
                },
            };
            if let Some(notification) = body.and_then(|body| self.pass(body)) {
                return Some(notification);
            }
        }
        None
    }

    /// Requests a task whose changes may have been missed, unless it has ended meanwhile.
    fn request(&self, id: &str) -> impl Future<Output = Option<TaskBody>> + Send + use<> {
        let is_watched = self.watched.contains_key(id);
        let params = RawObject::from_value(&TaskParams::from(id));
        let client = self.client.clone();
        async move {
            let params = params.ok().filter(|_| is_watched)?;
            let task = client.request(GET, params).await.ok()?;
            TaskBody::parse(&task).ok()
        }
    }

    /// Returns the notification for the client.
    fn pass(&mut self, body: TaskBody) -> Option<ServerNotification> {
        let id = body.id();
        let watched = self.watched.get(&*id)?;
        self.ids.note(&watched.task, &body);
        let has_ended = body.has_ended();
        let passed: Result<RawObject, Fault> = watched
            .task
            .body_for_client(body.without_envelope(), &watched.sealed)
            .and_then(|body| body.to_object());
        if has_ended {
            self.watched.remove(&*id);
        }
        Some(ServerNotification::Other {
            method: CHANGED.into(),
            params: Some(passed.ok()?),
        })
    }
}
