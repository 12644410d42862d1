//! Values that handlers share, found by their type.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::Arc;

/// At most one value per type.
#[derive(Clone, Default)]
pub(crate) struct States(HashMap<TypeId, Arc<dyn Any + Send + Sync>>);

/// The states of the routers that a route came by, the innermost first.
pub(crate) type Scopes = Option<Arc<[Arc<States>]>>;

impl States {
    pub(crate) fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        self.0.insert(TypeId::of::<T>(), Arc::new(value));
    }

    pub(crate) fn get<T: 'static>(&self) -> Option<&T> {
        self.0.get(&TypeId::of::<T>())?.downcast_ref()
    }

    pub(crate) fn has(&self, id: TypeId) -> bool {
        self.0.contains_key(&id)
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
