//! Lists in pages: one page at a time, a stream over all of them, or everything at once.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination>

use std::sync::Arc;

use mcp_core::{Call, Listing, ResultBody};
use mcp_types::{Cursor, Page};

use crate::walk::List;
use crate::{Client, PreparedCall};

/// A page of a list, by the method that asks for it.
pub(super) trait Paged: Sized + Send + 'static {
    /// What is listed.
    type Item: Send + 'static;

    /// Asks for a page.
    fn call(page: Page) -> Call;

    /// Finds the page in its answer.
    fn read(body: ResultBody) -> Option<Self>;

    /// The items of the page.
    fn items(self) -> Vec<Self::Item>;

    /// Where the list goes on after the page in an answer.
    fn next(body: &ResultBody) -> Option<Cursor>;
}

/// Ties a page's type to its method: `Page of Item in field, by Variant`.
macro_rules! paged {
    ($($page:ident of $item:ident in $field:ident by $variant:ident;)*) => {
        $(impl super::pages::Paged for mcp_types::$page {
            type Item = mcp_types::$item;

            fn call(page: mcp_types::Page) -> mcp_core::Call {
                mcp_core::Call::$variant(page)
            }

            fn read(body: mcp_core::ResultBody) -> Option<Self> {
                match body {
                    mcp_core::ResultBody::$variant(page) => Some(super::pages::unshare(page)),
                    _ => None,
                }
            }

            fn items(self) -> Vec<Self::Item> {
                self.$field
            }

            fn next(body: &mcp_core::ResultBody) -> Option<mcp_types::Cursor> {
                match body {
                    mcp_core::ResultBody::$variant(page) => page.next_cursor.clone(),
                    _ => None,
                }
            }
        })*
    };
}

pub(super) use paged;

/// The page alone; nobody else has a page that was just read.
pub(super) fn unshare<T: Clone>(page: Arc<Listing<T>>) -> T {
    Arc::try_unwrap(page).map_or_else(|page| T::clone(&page), Listing::into_page)
}

impl Client {
    /// One page, the first one without a cursor.
    pub(super) fn page<'a, P: Paged>(&self, cursor: Option<Cursor>) -> PreparedCall<'a, P> {
        let page = cursor.map_or_else(Page::first, Page::at);
        PreparedCall::new(self, P::call(page), P::read)
    }

    /// All items of all pages.
    pub(super) fn all<'a, P: Paged>(&self) -> PreparedCall<'a, Vec<P::Item>> {
        let read = |body| P::read(body).map(P::items);
        PreparedCall::new(self, P::call(Page::first()), read).paged(List {
            empty: Vec::new,
            join: |all, mut page| all.append(&mut page),
            call: P::call,
            next: P::next,
        })
    }
}
