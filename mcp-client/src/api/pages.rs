//! Lists in pages: one page at a time, a stream over all of them, or everything at once.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination>

use std::collections::HashSet;
use std::sync::Arc;

use futures_core::Stream;
use futures_util::{StreamExt, TryStreamExt, stream};
use mcp_core::{Asked, Call, Listing, ResultBody};
use mcp_types::{Cursor, Page};

use crate::error::Kind;
use crate::{Client, Error, PreparedCall};

/// Pages of a list; the server decides how long they are, we decide how many there may be.
const MAX_PAGES: usize = 1000;

/// A page of a list, by the method that asks for it.
pub(super) trait Paged: Sized + Send + 'static {
    /// What is listed.
    type Item: Send + 'static;

    /// Asks for a page.
    fn call(page: Page) -> Call;

    /// Finds the page in its answer.
    fn read(body: ResultBody) -> Option<Self>;

    /// The items, and where the list goes on.
    fn split(self) -> (Vec<Self::Item>, Option<Cursor>);
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

            fn split(self) -> (Vec<Self::Item>, Option<mcp_types::Cursor>) {
                (self.$field, self.next_cursor)
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

    /// The items of all pages; each page is asked for when the one before is used up.
    pub(super) fn pages<P: Paged>(
        &self,
    ) -> impl Stream<Item = Result<P::Item, Error>> + Send + Unpin + use<P> {
        let walk = Walk {
            client: self.clone(),
            next: Some(None),
            seen: HashSet::new(),
        };
        let pages = stream::try_unfold(walk, |mut walk| async move {
            let items = walk.step::<P>().await?;
            Ok::<_, Error>(items.map(|items| (stream::iter(items).map(Ok), walk)))
        });
        Box::pin(pages.try_flatten())
    }

    /// All items of all pages.
    pub(super) async fn all<P: Paged>(&self) -> Result<Vec<P::Item>, Error> {
        self.pages::<P>().try_collect().await
    }
}

/// The way through a list.
struct Walk {
    client: Client,
    /// The page to ask for, by its cursor; `None` behind the last page.
    next: Option<Option<Cursor>>,
    seen: HashSet<Cursor>,
}

impl Walk {
    /// The items of the next page; `None` behind the last one.
    // spec: PAG-02, PAG-03, PAG-04
    async fn step<P: Paged>(&mut self) -> Result<Option<Vec<P::Item>>, Error> {
        let Some(cursor) = self.next.take() else {
            return Ok(None);
        };
        let (items, next) = self.client.page::<P>(cursor).await?.split();
        if let Some(next) = &next {
            if !self.seen.insert(next.clone()) {
                return Err(self.lost::<P>(Kind::RepeatedCursor));
            }
            if self.seen.len() >= MAX_PAGES {
                return Err(self.lost::<P>(Kind::TooManyPages(MAX_PAGES)));
            }
        }
        self.next = next.map(Some);
        Ok(Some(items))
    }

    fn lost<P: Paged>(&self, kind: Kind) -> Error {
        Error::of(
            &self.client.inner.channel.peer(),
            &Asked::Call(P::call(Page::first())),
            kind,
        )
    }
}
