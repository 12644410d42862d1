//! The tasks extension: its methods call the engine of the server.

use std::future::ready;
use std::sync::Arc;

use mcp_core::extension::Extension;
use mcp_core::{ClientContext, Extensions, Fault, TaskEngine};
use mcp_types::ext::tasks::{CANCEL, GET, TasksSettings, UPDATE};
use mcp_types::meta::keys;
use mcp_types::{MethodKind, RawObject};

use super::setup::{ServerExtension, ServerSetup};
use crate::call::CallContext;
use crate::extract::FromCall;
use crate::rejection::Rejection;
use crate::result::RequestError;

/// The tasks extension with a server's engine.
pub(crate) struct TasksExtension(pub(crate) Arc<dyn TaskEngine>);

// spec: TASK-01
impl Extension for TasksExtension {
    const ID: &'static str = keys::TASKS_EXTENSION;
    type ServerSettings = TasksSettings;
    type ClientSettings = TasksSettings;
}

impl ServerExtension for TasksExtension {
    fn settings(&self) -> TasksSettings {
        TasksSettings::default()
    }

    fn register(self, setup: &mut ServerSetup<Self>) {
        for method in [GET, UPDATE, CANCEL] {
            let engine = self.0.clone();
            // The engine decodes the parameters.
            let handler = move |params: RawObject, caller: TaskCaller| {
                let TaskCaller {
                    meta,
                    facts,
                    extensions,
                } = caller;
                // The route has checked the declaration: what may be missing is the revision.
                let answer = if facts.declares_tasks() {
                    engine.answer(method, params, meta, &facts, &extensions)
                } else {
                    Box::pin(ready(Err(Fault::no_such_method(method))))
                };
                async move { answer.await.map_err(RequestError::fault) }
            };
            setup.add::<RawObject, RawObject, _>(method, MethodKind::Request, handler);
        }
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
