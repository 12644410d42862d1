//! The way through a list, from page to page.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination>

use std::collections::HashSet;

use mcp_core::{Call, ClientRequest, ResultBody};
use mcp_types::{Cursor, Page};

use crate::call::Running;
use crate::clock::Clock;
use crate::error::Kind;
use crate::options::Options;
use crate::{Client, Error};

/// How a list goes on from page to page.
pub(crate) struct List<T> {
    pub(crate) empty: fn() -> T,
    pub(crate) join: fn(&mut T, T),
    pub(crate) call: fn(Page) -> Call,
    pub(crate) next: fn(&ResultBody) -> Option<Cursor>,
}

/// The way through a list.
pub(crate) struct Walk<'a, T> {
    client: Client,
    state: State<'a>,
    read: fn(ResultBody) -> Option<T>,
    list: Option<List<T>>,
    seen: HashSet<Cursor>,
    max_pages: usize,
}

enum State<'a> {
    /// The first request is to be made.
    First(Running<'a>),
    /// The next page is there; what was wanted of the page before goes for it, too.
    Next(Call, Options<'a>, Clock),
    Over,
}

impl<'a, T> Walk<'a, T> {
    pub(crate) fn new(
        client: Client,
        first: Running<'a>,
        read: fn(ResultBody) -> Option<T>,
        list: Option<List<T>>,
        max_pages: usize,
    ) -> Self {
        Self {
            client,
            state: State::First(first),
            read,
            list,
            seen: HashSet::new(),
            max_pages,
        }
    }

    /// The next page; `None` behind the last one.
    // spec: PAG-02, PAG-03, PAG-04
    pub(crate) async fn step(&mut self) -> Result<Option<T>, Error> {
        let mut running = match std::mem::replace(&mut self.state, State::Over) {
            State::First(running) => running,
            State::Next(call, options, clock) => {
                Running::go_on(&self.client, ClientRequest::Call(call), options, clock)
            }
            State::Over => return Ok(None),
        };
        let body = running.finish().await?;
        let list = self.list.as_ref();
        let next = list.and_then(|list| Some((list.call, (list.next)(&body)?)));
        let page = running.read(body, self.read)?;
        if let Some((call, cursor)) = next {
            if !self.seen.insert(cursor.clone()) {
                return Err(running.failed(Kind::RepeatedCursor));
            }
            if self.seen.len() >= self.max_pages {
                return Err(running.failed(Kind::TooManyPages(self.max_pages)));
            }
            let (options, clock) = running.into_rest();
            self.state = State::Next(call(Page::at(cursor)), options, clock);
        }
        Ok(Some(page))
    }
}
