//! Shared values of servers and routers, found by type.

use std::any::{Any, TypeId};
use std::fmt;
use std::sync::Arc;

/// The values of `Server::state` or of one `Routes::state`: at most one per type. Few servers have
/// more than a handful, so a vector is searched.
#[derive(Clone, Default)]
pub(crate) struct StateMap(Vec<(TypeId, Arc<dyn Any + Send + Sync>)>);

impl StateMap {
    /// Inserts a value and replaces an earlier one of the same type.
    pub(crate) fn insert<T: Send + Sync + 'static>(&mut self, value: T) {
        self.set(TypeId::of::<T>(), Arc::new(value));
    }

    /// Inserts the values of another map.
    pub(crate) fn extend(&mut self, other: Self) {
        other
            .0
            .into_iter()
            .for_each(|(id, value)| self.set(id, value));
    }

    fn set(&mut self, id: TypeId, value: Arc<dyn Any + Send + Sync>) {
        match self.0.iter_mut().find(|(known, _)| *known == id) {
            Some((_, slot)) => *slot = value,
            None => self.0.push((id, value)),
        }
    }

    pub(crate) fn get<T: 'static>(&self) -> Option<&T> {
        self.find(TypeId::of::<T>())?.downcast_ref()
    }

    pub(crate) fn contains(&self, id: TypeId) -> bool {
        self.find(id).is_some()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn find(&self, id: TypeId) -> Option<&(dyn Any + Send + Sync)> {
        let found = self.0.iter().find(|(known, _)| *known == id);
        found.map(|(_, value)| &**value)
    }
}

impl fmt::Debug for StateMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StateMap({} values)", self.0.len())
    }
}

/// The state of the routers that contain a route, innermost first.
#[derive(Debug, Clone, Default)]
pub(crate) struct RouterStates(Option<Arc<[Arc<StateMap>]>>);

impl RouterStates {
    /// Adds the state of the next outer router.
    pub(crate) fn push(&mut self, states: &Arc<StateMap>) {
        self.0 = Some(self.iter().chain([states]).cloned().collect());
    }

    pub(crate) fn get<T: 'static>(&self) -> Option<&T> {
        self.iter().find_map(|states| states.get())
    }

    pub(crate) fn contains(&self, id: TypeId) -> bool {
        self.iter().any(|states| states.contains(id))
    }

    fn iter(&self) -> impl Iterator<Item = &Arc<StateMap>> {
        self.0.iter().flat_map(|states| states.iter())
    }
}
