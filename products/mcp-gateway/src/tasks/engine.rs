//! Server tasks, for clients with tasks.

use std::sync::Arc;
use std::time::Duration;

use mcp_core::{
    BoxFuture, CallerKey, ClientContext, Exchange, Extensions, Fault, Reply, ServerProfile,
    TaskCall, TaskChanges, TaskEngine, TaskMode,
};
use mcp_types::RawObject;
use mcp_types::ext::tasks::GET;
use tokio::time::timeout;

use super::body::TaskBody;
use super::changes::{self, WatchedTask};
use super::client::TaskClient;
use super::ids::{FoundTask, TaskIds, TaskSlot};
use crate::calls::failure::CallFailure;
use crate::calls::server_info;

impl TaskIds {
    /// Passes a request on to the task's server.
    async fn forward(
        self,
        method: &'static str,
        params: TaskBody,
        sealed: String,
        task: FoundTask,
        client: TaskClient,
    ) -> Result<RawObject, CallFailure> {
        let params = params.with_id(&task.id).to_object()?;
        let asked = client.request(method, params);
        let limit = task.limit(|limiter| limiter.timeout);
        let answer = timeout(limit.unwrap_or(Duration::MAX), asked).await;
        let answer = answer.map_err(|_| CallFailure::of_server(Fault::Deadline))??;
        if method != GET {
            return Ok(server_info::without(answer));
        }
        let body = TaskBody::parse(&answer).map_err(|_| {
            CallFailure::of_server(Fault::internal("the task of the server is malformed"))
        })?;
        self.note(&task, &body);
        let body = task.body_for_client(body, &sealed)?;
        Ok(server_info::without(body.to_object()?))
    }
}

/// The task engine of the gateway's server. The servers decide which calls become tasks.
impl TaskEngine for TaskIds {
    fn run(
        &self,
        mut exchange: Exchange,
        _mode: TaskMode,
        _profile: Arc<ServerProfile>,
        call: TaskCall,
    ) -> BoxFuture<'static, Reply> {
        if !exchange.facts.declares_tasks() {
            return call(exchange);
        }
        let slot = TaskSlot::default();
        exchange.extensions.insert(slot.clone());
        let (tasks, principal) = (self.clone(), exchange.principal().cloned());
        Box::pin(async move {
            let reply = call(exchange).await;
            match slot.take() {
                Some(task) => tasks
                    .reply(task, principal.as_ref())
                    .unwrap_or_else(Reply::Fault),
                None => reply,
            }
        })
    }

    fn answer(
        &self,
        method: &'static str,
        params: RawObject,
        meta: Option<RawObject>,
        facts: &Arc<ClientContext>,
        extensions: &Extensions,
    ) -> BoxFuture<'static, Result<RawObject, Fault>> {
        let (tasks, facts, extensions) = (self.clone(), facts.clone(), extensions.clone());
        Box::pin(async move {
            let params = TaskBody::parse(&params)?;
            let sealed = params.id();
            let found = tasks.find(&sealed, &facts, &extensions);
            let task = found.ok_or_else(Fault::no_such_task)?;
            let caller = CallerKey::new(extensions.get());
            let meta = meta.and_then(|meta| meta.parse().ok());
            let (upstream, tool) = (task.upstream.clone(), task.tool.clone());
            let token = extensions.get();
            let client = TaskClient::new(&upstream, &facts, true, &caller, token, meta.as_ref());
            let answer = tasks.forward(method, params, sealed, task, client);
            upstream.audited(&caller, method, &tool, answer).await
        })
    }

    fn subscribe(
        &self,
        ids: Vec<String>,
        facts: &Arc<ClientContext>,
        extensions: &Extensions,
    ) -> BoxFuture<'static, Result<TaskChanges, Fault>> {
        let found = ids.into_iter().filter_map(|sealed| {
            let task = self.find(&sealed, facts, extensions)?;
            Some(WatchedTask { sealed, task })
        });
        let found: Vec<_> = found.collect();
        let (ids, facts) = (self.clone(), facts.clone());
        let (caller, token) = (CallerKey::new(extensions.get()), extensions.get().cloned());
        Box::pin(async move {
            Ok(changes::subscribe(&ids, found, &facts, &caller, token.as_ref()).await)
        })
    }
}
