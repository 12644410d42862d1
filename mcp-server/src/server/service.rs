//! A server as a transport's service.

use std::error::Error;
use std::sync::Arc;

use mcp_core::{
    BoxFuture, Call, Changes, ClientContext, Exchange, Extensions, Fault, Observer, ParamHeaders,
    Reply, ScopedItem, ServerProfile, Service, TaskEngine, catch_panic_sync,
};

use super::{ReplaceCall, Server};
use crate::caller::Caller;
use crate::registry::Registry;

impl ReplaceCall {
    /// Returns the call to answer in place of another one.
    fn replace(&self, call: &Call) -> Option<Call> {
        catch_panic_sync(|| (self.0)(call)).unwrap_or_else(|panic| {
            tracing::error!(
                panic = %mcp_types::escaped(&panic),
                "function for `replace_calls` panicked"
            );
            None
        })
    }
}

impl Server {
    #[cold]
    fn call_replaced(
        &self,
        replace: &ReplaceCall,
        mut exchange: Exchange,
    ) -> BoxFuture<'static, Reply> {
        // A transport has replaced it before its checks.
        let is_replaced = exchange.extensions.get::<Call>().is_some();
        if !is_replaced && let Some(call) = replace.replace(&exchange.call) {
            let sent = std::mem::replace(&mut exchange.call, call);
            exchange.extensions.insert(sent);
        }
        self.service.run(exchange)
    }
}

impl Service for Server {
    fn profile(&self) -> Arc<ServerProfile> {
        self.registry.read(|registry| registry.profile.clone())
    }

    fn call(&self, exchange: Exchange) -> BoxFuture<'static, Reply> {
        match &self.replace_call {
            None => self.service.run(exchange),
            Some(replace) => self.call_replaced(replace, exchange),
        }
    }

    fn replacement(&self, call: &Call) -> Option<Call> {
        self.replace_call.as_ref()?.replace(call)
    }

    fn observer(&self) -> Option<Arc<dyn Observer>> {
        self.observer.clone()
    }

    // spec: SUB-12
    fn changes(&self) -> Option<Changes> {
        Some(self.registry.read(|registry| registry.changes.clone()))
    }

    // spec: TASK-19
    fn task_engine(&self) -> Option<Arc<dyn TaskEngine>> {
        let registry = self.registry.current();
        let tasks = registry.context.tasks.as_ref()?;
        Some(tasks.engine.clone())
    }

    fn admit(
        &self,
        call: &Call,
        facts: &ClientContext,
        extensions: &Extensions,
    ) -> Result<Option<Arc<ParamHeaders>>, Fault> {
        let caller = Caller::new(facts, extensions);
        self.registry.read(|registry| {
            registry.check_scopes(call, &caller)?;
            Ok(registry.header_plan(call))
        })
    }

    fn check(&self) -> Result<(), Box<dyn Error + Send + Sync>> {
        Ok(Self::check(self)?)
    }

    fn scoped_item(&self) -> Option<ScopedItem> {
        self.registry.read(Registry::scoped_item)
    }
}
