//! Paginated lists: all pages, or one page.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination>

use std::sync::Arc;

use mcp_core::{Call, Listing, ResultBody};
use mcp_types::{Cursor, Page};

use crate::call::{Pagination, PreparedCall, retain_named};
use crate::client::Client;
use crate::error::ErrorKind;

/// The result of a list method: one page of items.
pub(super) trait ListPage: Sized + Send + 'static {
    type Item: Send + 'static;

    /// Builds the call for a page.
    fn call(page: Page) -> Call;

    /// Converts the result of the call.
    fn read(body: ResultBody) -> Result<Self, ErrorKind>;

    fn into_items(self) -> Vec<Self::Item>;

    /// Returns the member that identifies an item in its list.
    fn name(item: &Self::Item) -> &str;

    /// Returns the cursor of the next page.
    fn next_cursor(body: &ResultBody) -> Option<Cursor>;
}

/// Implements [`ListPage`] for a result type with the syntax `Result of Item in field named member by Variant`, where
/// `Variant` is that of `Call` and `ResultBody`. Adds `page` to the call for the whole list.
macro_rules! list_page {
    ($($page:ident of $item:ident in $field:ident named $name:ident by $variant:ident;)*) => {
        $(impl super::pages::ListPage for mcp_types::$page {
            type Item = mcp_types::$item;

            fn call(page: mcp_types::Page) -> mcp_core::Call {
                mcp_core::Call::$variant(page)
            }

            fn read(body: mcp_core::ResultBody) -> Result<Self, crate::error::ErrorKind> {
                match body {
                    mcp_core::ResultBody::$variant(page) => Ok(super::pages::into_page(page)),
                    _ => Err(crate::error::ErrorKind::WrongResult),
                }
            }

            fn into_items(self) -> Vec<Self::Item> {
                self.$field
            }

            fn name(item: &mcp_types::$item) -> &str {
                &item.$name
            }

            fn next_cursor(body: &mcp_core::ResultBody) -> Option<mcp_types::Cursor> {
                match body {
                    mcp_core::ResultBody::$variant(page) => page.next_cursor.clone(),
                    _ => None,
                }
            }
        }

        impl<'a> crate::call::PreparedCall<'a, Vec<mcp_types::$item>> {
            /// Requests one page only: the page at `cursor`, or the first page if it is `None`.
            pub fn page(
                self,
                cursor: impl Into<Option<mcp_types::Cursor>>,
            ) -> crate::call::PreparedCall<'a, mcp_types::$page> {
                super::pages::one_page(self, cursor.into())
            }
        })*
    };
}

pub(super) use list_page;

/// Returns the page without cloning it, unless the cache shares it.
pub(super) fn into_page<T: Clone>(page: Arc<Listing<T>>) -> T {
    Arc::try_unwrap(page).map_or_else(|page| T::clone(&page), Listing::into_page)
}

/// Turns a call for a whole list into a call for one page, with the same options.
pub(super) fn one_page<P: ListPage>(
    list: PreparedCall<'_, Vec<P::Item>>,
    cursor: Option<Cursor>,
) -> PreparedCall<'_, P> {
    let page = cursor.map_or_else(Page::default, Page::from);
    list.with_call(P::call(page), P::read)
}

impl Client {
    /// Prepares a call that collects all pages.
    pub(super) fn list<'a, P: ListPage>(&self) -> PreparedCall<'a, Vec<P::Item>> {
        let read = |body| P::read(body).map(P::into_items);
        PreparedCall::new(self, P::call(Page::default()), read).paginated(Pagination::of_items(
            P::call,
            P::next_cursor,
            |items, seen| retain_named(items, seen, P::name),
        ))
    }
}
