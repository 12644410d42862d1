//! Where a book keeps each kind of routes.

use super::Book;
use crate::listing::{Listed, Shelf};
use crate::prompts::PromptRoute;
use crate::resources::{ResourceRoute, TemplateRoute};
use crate::tools::ToolRoute;

/// A kind of routes that a server has.
pub(crate) trait Kept: Listed {
    fn shelf(book: &Book) -> &Shelf<Self>;

    fn shelf_mut(book: &mut Book) -> &mut Shelf<Self>;
}

macro_rules! kept {
    ($($route:ident in $place:ident;)*) => {
        $(impl Kept for $route {
            #[inline]
            fn shelf(book: &Book) -> &Shelf<Self> {
                &book.$place
            }

            #[inline]
            fn shelf_mut(book: &mut Book) -> &mut Shelf<Self> {
                &mut book.$place
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
