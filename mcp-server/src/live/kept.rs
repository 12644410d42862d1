//! Where a book and its catalogue keep each kind of routes.

use std::sync::Arc;

use super::{Book, Catalogue};
use crate::listing::{Listed, Set, Shelf};
use crate::prompts::PromptRoute;
use crate::resources::{ResourceRoute, TemplateRoute};
use crate::tools::ToolRoute;

/// A kind of routes that a server has.
pub(crate) trait Kept: Listed {
    fn shelf(book: &Book) -> &Shelf<Self>;

    fn shelf_mut(book: &mut Book) -> &mut Shelf<Self>;

    fn set_mut(catalogue: &mut Catalogue) -> &mut Arc<Set<Self>>;
}

impl Catalogue {
    /// Takes over what has changed of a kind of routes.
    pub(super) fn renew<R: Kept>(&mut self, book: &Book) {
        *R::set_mut(self) = Arc::new(Set::of(R::shelf(book), book.page_size));
        self.edits = book.all_edits();
        let offers = book.offers(self.edits);
        if offers != self.profile.capabilities {
            self.profile = Arc::new(book.profile(offers));
        }
    }
}

macro_rules! kept {
    ($($route:ident in $place:ident;)*) => {
        $(impl Kept for $route {
            fn shelf(book: &Book) -> &Shelf<Self> {
                &book.$place
            }

            fn shelf_mut(book: &mut Book) -> &mut Shelf<Self> {
                &mut book.$place
            }

            fn set_mut(catalogue: &mut Catalogue) -> &mut Arc<Set<Self>> {
                &mut catalogue.$place
            }
        })*
    };
}

kept! {
    ToolRoute in tools;
    ResourceRoute in resources;
    TemplateRoute in templates;
    PromptRoute in prompts;
}
