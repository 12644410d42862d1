//! Task ids, as clients of the gateway see them.
//!
//! The gateway keeps no task. The id that its client sees is the server's name, the tool and the id of the
//! server, sealed for the principal. So each node with the same keys finds a task's server.

use std::sync::Arc;

use mcp_core::{ClientContext, Extensions, Fault, Principal, Reply};
use mcp_server::{CallContext, Caller, FromCall, Rejection, TokenSealer};
use mcp_types::ext::tasks::RESULT_TYPE;
use mcp_types::meta::keys;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use super::body::TaskBody;
use crate::calls::upstream::{Directory, Upstream};
use crate::calls::usage::OpenTasks;
use crate::limits::limiter::Limiter;
use crate::settings::tool::ToolOptions;

/// The purpose of sealed ids.
const PURPOSE: &str = keys::TASKS_EXTENSION;

/// Maximum length of a task id from a server, in bytes.
const MAX_ID: usize = 2048;

/// The task ids as clients see them.
#[derive(Clone)]
pub(crate) struct TaskIds {
    pub(crate) directory: Directory,
    pub(crate) sealer: TokenSealer,
    pub(crate) open: OpenTasks,
}

/// The content of a sealed id.
#[derive(Serialize, Deserialize)]
struct SealedTask {
    /// The server's name.
    #[serde(rename = "s")]
    server: Box<str>,
    /// The tool, as the server names it.
    #[serde(rename = "t")]
    tool: Box<str>,
    /// The server's id.
    #[serde(rename = "i")]
    id: Box<str>,
}

/// A task of a server that the caller may see.
pub(crate) struct FoundTask {
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) tool: Box<str>,
    /// The server's id.
    pub(crate) id: Box<str>,
    pub(crate) options: Arc<ToolOptions>,
}

/// The slot for the task of a call. It is in the extensions of calls whose client declares tasks.
#[derive(Clone, Default)]
pub(crate) struct TaskSlot(Arc<Mutex<Option<CreatedTask>>>);

/// A task that a server has created.
pub(crate) struct CreatedTask {
    pub(crate) upstream: Arc<Upstream>,
    /// The tool, as the server names it.
    pub(crate) tool: Arc<str>,
    pub(crate) body: TaskBody,
}

impl FromCall for TaskSlot {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        let slot = call.extensions().get().cloned();
        slot.ok_or_else(|| Rejection::missing("the client declares no tasks"))
    }
}

impl TaskSlot {
    pub(crate) fn set(&self, task: CreatedTask) {
        *self.0.lock() = Some(task);
    }

    pub(crate) fn take(&self) -> Option<CreatedTask> {
        self.0.lock().take()
    }
}

impl TaskIds {
    /// Returns the reply for a task that was created.
    pub(crate) fn reply(
        &self,
        task: CreatedTask,
        principal: Option<&Principal>,
    ) -> Result<Reply, Fault> {
        let CreatedTask {
            upstream,
            tool,
            body,
        } = task;
        let server = &upstream.server;
        let id = body.id();
        if id.is_empty() || id.len() > MAX_ID {
            return Err(Fault::internal(format!(
                "the server {server:?} of this gateway has sent a task without a usable id"
            )));
        }
        let sealed = SealedTask {
            server: (&**server).into(),
            tool: (&*tool).into(),
            id: (&*id).into(),
        };
        let sealed = serde_json::to_vec(&sealed);
        let sealed = sealed.map_err(|error| Fault::internal(error.to_string()))?;
        let sealed = self.sealer.seal(PURPOSE, &sealed, principal);
        let sealed = sealed.map_err(|error| Fault::internal(error.to_string()))?;
        self.open.add(server, &id, body.ttl(), &upstream.usage);
        Ok(Reply::Extended {
            result_type: RESULT_TYPE.into(),
            body: body.with_id(&sealed).to_object()?,
        })
    }

    /// Returns the task with this id, if the caller may see its tool now.
    pub(crate) fn find(
        &self,
        id: &str,
        facts: &ClientContext,
        extensions: &Extensions,
    ) -> Option<FoundTask> {
        let opened = self.sealer.open(PURPOSE, id, extensions.get())?;
        let SealedTask { server, tool, id } = serde_json::from_slice(&opened).ok()?;
        let upstream = self.directory.find(&server)?;
        let options = upstream.settings.tool(&tool);
        let caller = Caller::new(facts, extensions);
        let is_visible = upstream.settings.is_visible(Some(&options), &caller);
        (is_visible && upstream.settings.allows(&tool)).then_some(FoundTask {
            upstream,
            tool,
            id,
            options,
        })
    }

    /// Notes that a client knows the state of a task.
    pub(crate) fn note(&self, task: &FoundTask, body: &TaskBody) {
        let (server, id) = (&task.upstream.server, &task.id);
        if body.has_ended() {
            self.open.end(server, id)
        } else {
            self.open.add(server, id, body.ttl(), &task.upstream.usage)
        }
    }
}

impl FoundTask {
    /// Returns the task as the client of the gateway sees it.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] for a question that must not pass.
    pub(super) fn body_for_client(&self, body: TaskBody, sealed: &str) -> Result<TaskBody, Fault> {
        body.check_questions()?;
        let limit = self.limit(|limiter| limiter.max_result_bytes);
        Ok(body
            .with_id(sealed)
            .without_server_info()
            .limit_result(limit))
    }

    /// Returns the smaller limit: that of the server, or that of the tool.
    pub(crate) fn limit<T: Ord>(&self, limit: fn(&Limiter) -> Option<T>) -> Option<T> {
        let limiters = [&*self.upstream.settings.limiter, &self.options.limiter];
        limiters.into_iter().filter_map(limit).min()
    }
}
