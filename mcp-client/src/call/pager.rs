//! Paginated lists.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination>

use std::collections::HashSet;

use mcp_core::{Call, ClientRequest, Omission, ResultBody};
use mcp_types::{Cursor, Page};

use super::active::{ActiveCall, Reader};
use crate::client::Client;
use crate::error::{Error, ErrorKind};
use crate::options::{CallOptions, CallTimer};

/// The operations of a list whose pages are collected in `T`.
pub(crate) struct Pagination<T> {
    pub(crate) empty: fn() -> T,
    pub(crate) append: fn(&mut T, T),
    /// Keeps the items of a later page that no earlier one has. Returns false if there were items, and all are known.
    pub(crate) retain_new: fn(&mut T, &mut HashSet<String>) -> bool,
    /// Returns the number of items.
    pub(crate) count: fn(&T) -> usize,
    /// Builds the call for a page.
    pub(crate) call: fn(Page) -> Call,
    /// Returns the cursor of the page after this result.
    pub(crate) next_cursor: fn(&ResultBody) -> Option<Cursor>,
}

/// Keeps the items whose names are new.
pub(crate) fn retain_named<T>(
    items: &mut Vec<T>,
    seen: &mut HashSet<String>,
    name: fn(&T) -> &str,
) -> bool {
    let was_empty = items.is_empty();
    items.retain(|item| seen.insert(name(item).to_owned()));
    was_empty || !items.is_empty()
}

impl<T> Pagination<Vec<T>> {
    /// Collects the items of all pages.
    pub(crate) fn of_items(
        call: fn(Page) -> Call,
        next_cursor: fn(&ResultBody) -> Option<Cursor>,
        retain_new: fn(&mut Vec<T>, &mut HashSet<String>) -> bool,
    ) -> Self {
        Self {
            empty: Vec::new,
            append: |all, mut page| all.append(&mut page),
            retain_new,
            count: Vec::len,
            call,
            next_cursor,
        }
    }
}

/// Limits of a whole list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListLimits {
    pub(crate) pages: usize,
    pub(crate) items: usize,
    /// Bytes of the messages on all pages.
    pub(crate) bytes: usize,
}

impl Default for ListLimits {
    fn default() -> Self {
        Self {
            pages: 1000,
            items: 10_000,
            bytes: 64 << 20,
        }
    }
}

/// Requests the pages of a list one after the other.
pub(crate) struct Pager<'a, T> {
    client: Client,
    next: NextPage<'a>,
    read: Reader<T>,
    pagination: Option<Pagination<T>>,
    seen_cursors: HashSet<Cursor>,
    /// The names on all pages of a list with several pages.
    seen_names: HashSet<String>,
    pages: usize,
    limits: ListLimits,
    /// Items and bytes of the pages so far.
    items: usize,
    bytes: usize,
}

enum NextPage<'a> {
    /// The first page, with the caller's call.
    First(Box<ActiveCall<'a>>),
    /// A later page, with the options and the timer of the first one.
    Later(Call, Box<CallOptions<'a>>, CallTimer),
    End,
}

impl<'a, T> Pager<'a, T> {
    pub(crate) fn new(
        client: Client,
        first: ActiveCall<'a>,
        read: Reader<T>,
        pagination: Option<Pagination<T>>,
        limits: ListLimits,
    ) -> Self {
        Self {
            client,
            next: NextPage::First(Box::new(first)),
            read,
            pagination,
            seen_cursors: HashSet::new(),
            seen_names: HashSet::new(),
            pages: 0,
            limits,
            items: 0,
            bytes: 0,
        }
    }

    /// Requests the next page. Returns `None` after the last one.
    ///
    /// A page without a new item after a repeated cursor, and a page that only repeats items, end the list: some servers
    /// ignore the cursor, or return one without end.
    ///
    /// # Errors
    ///
    /// Returns the error of the call, or an error when the list exceeds a limit.
    // spec: PAG-02, PAG-03, PAG-04
    pub(crate) async fn next_page(&mut self) -> Result<Option<T>, Error> {
        let mut call = match std::mem::replace(&mut self.next, NextPage::End) {
            NextPage::First(call) => *call,
            NextPage::Later(call, options, timer) => {
                ActiveCall::with_timer(&self.client, ClientRequest::Call(call), *options, timer)
            }
            NextPage::End => return Ok(None),
        };
        let body = call.finish().await?;
        let next_cursor = self
            .pagination
            .as_ref()
            .and_then(|pages| (pages.next_cursor)(&body));
        let mut page = call.read(body, self.read)?;
        let items = self
            .pagination
            .as_ref()
            .map_or(0, |pages| (pages.count)(&page));
        self.add_page(items, call.response_bytes)
            .map_err(|kind| call.error(kind))?;
        self.pages += 1;
        let Some(Pagination {
            retain_new,
            call: next_call,
            ..
        }) = self.pagination
        else {
            return Ok(Some(page));
        };
        let has_several_pages = next_cursor.is_some() || self.pages > 1;
        let is_repeated = has_several_pages && !retain_new(&mut page, &mut self.seen_names);
        if let Some(cursor) = next_cursor {
            let is_known_cursor = !self.seen_cursors.insert(cursor.clone());
            if is_repeated || (is_known_cursor && items == 0) {
                let reason = "the server repeats its pages: the list ends here".to_owned();
                let place = format!("page {}", self.pages);
                let omission = Omission::new(call.request.method_name(), place, None, reason);
                self.client.inner.omissions.add(omission);
                return Ok(Some(page));
            }
            if self.pages >= self.limits.pages {
                return Err(call.error(ErrorKind::TooManyPages(self.limits.pages)));
            }
            let (options, timer) = call.into_options_and_timer();
            self.next = NextPage::Later(next_call(Page::from(cursor)), Box::new(options), timer);
        }
        Ok(Some(page))
    }

    /// Counts the items and bytes of a page.
    fn add_page(&mut self, items: usize, bytes: usize) -> Result<(), ErrorKind> {
        self.items = self.items.saturating_add(items);
        self.bytes = self.bytes.saturating_add(bytes);
        if self.items > self.limits.items {
            return Err(ErrorKind::TooManyItems(self.limits.items));
        }
        if self.bytes > self.limits.bytes {
            return Err(ErrorKind::ListTooLarge(self.limits.bytes));
        }
        Ok(())
    }
}
