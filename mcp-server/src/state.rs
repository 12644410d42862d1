//! Values that handlers share, found by their type.

use std::any::{Any, TypeId};
use std::sync::Arc;

/// At most one value per type, of few types.
#[derive(Clone, Default)]
pub(crate) struct States(Vec<(TypeId, Arc<dyn Any + Send + Sync>)>);

/// The states of the routers that a route came by, the innermost first.
pub(crate) type Scopes = Option<Arc<[Arc<States>]>>;

impl States {
    pub(crate) fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        self.put(TypeId::of::<T>(), Arc::new(value));
    }

    fn put(&mut self, id: TypeId, value: Arc<dyn Any + Send + Sync>) {
        match self.0.iter_mut().find(|(known, _)| *known == id) {
            Some((_, place)) => *place = value,
            None => self.0.push((id, value)),
        }
    }

    fn find(&self, id: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        let found = self.0.iter().find(|(known, _)| *known == id);
        found.map(|(_, value)| &**value)
    }

    pub(crate) fn get<T: 'static>(&self) -> Option<&T> {
        self.find(TypeId::of::<T>())?.downcast_ref()
    }

    pub(crate) fn has(&self, id: TypeId) -> bool {
        self.find(id).is_some()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl std::fmt::Debug for States {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "States({})", self.0.len())
    }
}
