//! Where a route stands: the state of the routers that it came by, and who may see it.

use std::any::TypeId;
use std::sync::Arc;

use crate::caller::Caller;
use crate::state::States;

/// The states of the routers that a route came by, the innermost first.
pub(crate) type Scopes = Option<Arc<[Arc<States>]>>;

type Sight = Arc<dyn Fn(&Caller<'_>) -> bool + Send + Sync>;

#[derive(Clone, Default)]
pub(crate) struct Standing {
    scopes: Scopes,
    visible: Option<Sight>,
}

impl Standing {
    pub(crate) fn scopes(&self) -> &Scopes {
        &self.scopes
    }

    /// Puts the route into one more router.
    pub(crate) fn enter(&mut self, states: &Arc<States>) {
        let inner = self.scopes.iter().flat_map(|scopes| scopes.iter());
        self.scopes = Some(inner.chain([states]).cloned().collect());
    }

    /// A router has a value of this type.
    pub(crate) fn has_state(&self, id: TypeId) -> bool {
        let mut scopes = self.scopes.iter().flat_map(|scopes| scopes.iter());
        scopes.any(|states| states.has(id))
    }

    pub(crate) fn show_to(&mut self, sees: impl Fn(&Caller<'_>) -> bool + Send + Sync + 'static) {
        self.visible = Some(Arc::new(sees));
    }

    /// The route is not shown to everybody.
    pub(crate) fn hides(&self) -> bool {
        self.visible.is_some()
    }

    pub(crate) fn shows_to(&self, caller: &Caller<'_>) -> bool {
        self.visible.as_ref().is_none_or(|sees| sees(caller))
    }
}
