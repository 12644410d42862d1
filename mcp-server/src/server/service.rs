//! A server as the service of a transport.

use std::error::Error;
use std::sync::Arc;

use mcp_core::{
    BoxFuture, Call, Changes, ClientContext, Exchange, Extensions, Fault, Observer, ParamHeaders,
    Reply, ScopedItem, ServerProfile, Service, TaskEngine,
};

use super::Server;
use crate::caller::Caller;
use crate::registry::Registry;

impl Service for Server {
    fn profile(&self) -> Arc<ServerProfile> {
        self.registry.read(|registry| registry.profile.clone())
    }

    fn call(&self, exchange: Exchange) -> BoxFuture<'static, Reply> {
        self.service.run(exchange)
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
