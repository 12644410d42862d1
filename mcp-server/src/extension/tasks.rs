//! The tasks extension: its methods call the engine of the server.

use std::sync::Arc;

use mcp_core::extension::{CustomRequest, Extension};
use mcp_core::{ClientContext, Extensions, TaskEngine};
use mcp_types::RawObject;
use mcp_types::ext::tasks::{CANCEL, GET, TasksSettings, UPDATE};
use mcp_types::meta::keys;

use super::setup::{ServerExtension, ServerSetup};
use crate::call::CallContext;
use crate::extract::FromCall;
use crate::rejection::Rejection;
use crate::result::RequestError;

/// The tasks extension with the engine of a server.
pub(crate) struct TasksExtension(pub(crate) Arc<dyn TaskEngine>);

// spec: TASK-01
impl Extension for TasksExtension {
    const ID: &'static str = keys::TASKS_EXTENSION;
    type ServerSettings = TasksSettings;
    type ClientSettings = TasksSettings;
}

struct GetTask;
struct UpdateTask;
struct CancelTask;

macro_rules! task_requests {
    ($($request:ident = $method:expr;)*) => {
        $(impl CustomRequest for $request {
            const METHOD: &'static str = $method;
            type Extension = TasksExtension;
            // The engine decodes them.
            type Params = RawObject;
            type Result = RawObject;
        })*
    };
}

task_requests! {
    GetTask = GET;
    UpdateTask = UPDATE;
    CancelTask = CANCEL;
}

impl ServerExtension for TasksExtension {
    fn settings(&self) -> TasksSettings {
        TasksSettings::default()
    }

    fn register(self, setup: &mut ServerSetup<Self>) {
        setup.request::<GetTask, _>(handler(&self.0, GET));
        setup.request::<UpdateTask, _>(handler(&self.0, UPDATE));
        setup.request::<CancelTask, _>(handler(&self.0, CANCEL));
    }
}

fn handler(
    engine: &Arc<dyn TaskEngine>,
    method: &'static str,
) -> impl Fn(RawObject, TaskCaller) -> mcp_core::BoxFuture<'static, Result<RawObject, RequestError>>
+ Clone
+ Send
+ Sync
+ 'static {
    let engine = engine.clone();
    move |params, caller| {
        let TaskCaller {
            meta,
            facts,
            extensions,
        } = caller;
        let answer = engine.answer(method, params, meta, &facts, &extensions);
        Box::pin(async move { answer.await.map_err(RequestError::fault) })
    }
}

/// The client and the metadata of a request.
struct TaskCaller {
    meta: Option<RawObject>,
    facts: Arc<ClientContext>,
    extensions: Extensions,
}

impl FromCall for TaskCaller {
    fn from_call(call: &mut CallContext) -> Result<Self, Rejection> {
        Ok(Self {
            meta: call.meta().cloned(),
            facts: call.facts().clone(),
            extensions: call.extensions().clone(),
        })
    }
}
