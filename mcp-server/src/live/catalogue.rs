//! What is served.

use std::sync::Arc;

use mcp_core::{Changes, ServerProfile};

use super::Book;
use super::others::AnyOthers;
use crate::caller::Caller;
use crate::checking::Checking;
use crate::edits::Edits;
use crate::listing::{Kind, Set};
use crate::state::States;
use crate::tools::ToolRoute;

/// All that serving needs, at one moment.
#[derive(Clone)]
pub(crate) struct Catalogue {
    pub(crate) profile: Arc<ServerProfile>,
    pub(crate) states: Arc<States>,
    pub(crate) checking: Arc<Checking>,
    pub(crate) tools: Arc<Set<ToolRoute>>,
    /// All else, where there is any.
    pub(super) others: Option<Arc<dyn AnyOthers>>,
    pub(crate) edits: Edits,
    pub(crate) changes: Changes,
}

impl Catalogue {
    pub(crate) fn of(book: &Book) -> Self {
        let edits = book.all_edits();
        Self {
            profile: Arc::new(book.profile(book.offers(edits))),
            states: book.states.clone(),
            checking: book.checking.clone(),
            tools: Arc::new(Set::of(&book.tools, book.page_size)),
            others: book.all_others().map(|make| make(book)),
            edits,
            changes: book.changes.clone(),
        }
    }

    /// The caller may hear of a URI. Those that nothing reads are no secret.
    // spec: GAP-10
    pub(super) fn shows(&self, uri: &str, caller: &Caller<'_>) -> bool {
        let others = self.others.as_ref();
        others.is_none_or(|others| others.shows(uri, caller))
    }

    /// Takes over what has changed of a kind of routes.
    pub(super) fn renew(&mut self, kind: Kind, book: &Book) {
        self.others = match (kind, self.others.take()) {
            (Kind::Tool, others) => {
                self.tools = Arc::new(Set::of(&book.tools, book.page_size));
                others
            }
            (_, Some(others)) => Some(others.renewed(kind, book)),
            (_, None) => book.all_others().map(|make| make(book)),
        };
        self.edits = book.all_edits();
        let offers = book.offers(self.edits);
        if offers != self.profile.capabilities {
            self.profile = Arc::new(book.profile(offers));
        }
    }
}

impl std::fmt::Debug for Catalogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Catalogue")
            .field("tools", &self.tools)
            .field("others", &self.others)
            .finish_non_exhaustive()
    }
}
