//! Parts of a server's lists that the client leaves out, because they are malformed or repeated.

use std::collections::BTreeMap;

use mcp_core::{Call, ClientRequest, Listing, Omission, ResultBody};
use mcp_types::{Cursor, shorten};
use parking_lot::Mutex;
use tokio::sync::broadcast;

/// The maximum number of omissions that are kept and reported.
const MAX_OMISSIONS: usize = 1000;

/// Events that are queued for a slow reader. On overflow it loses the oldest ones.
const CAPACITY: usize = 256;

/// Characters of a name or URI that are kept.
const NAME_EXCERPT: usize = 64;

/// Returns the item's name if there is one: its place differs from list to list.
fn key(omission: &Omission) -> Key {
    let item = omission.name.as_ref().unwrap_or(&omission.place);
    (omission.list.clone(), item.clone())
}

/// The method of a list, and the name or place of an item.
type Key = (String, String);

/// The omissions of the latest lists.
#[derive(Debug)]
pub(crate) struct Omissions {
    /// The server's name in logs.
    peer: Box<str>,
    present: Mutex<Present>,
    events: broadcast::Sender<Omission>,
}

#[derive(Debug, Default)]
struct Present {
    /// Each omission with the number of the list that contained it last.
    omissions: BTreeMap<Key, (Omission, u64)>,
    /// The number of the latest list. It grows with each first page.
    list: u64,
}

impl Omissions {
    pub(crate) fn new(peer: &str) -> Self {
        Self {
            peer: peer.into(),
            present: Mutex::default(),
            events: broadcast::Sender::new(CAPACITY),
        }
    }

    /// Records a page of a list and what is left out of it.
    pub(crate) fn record_page(&self, request: &ClientRequest, body: &ResultBody) {
        match body {
            ResultBody::ListResources(page) => {
                self.record(request, page, page.next_cursor.as_ref(), Vec::new());
            }
            ResultBody::ListResourceTemplates(page) => {
                self.record(request, page, page.next_cursor.as_ref(), Vec::new());
            }
            ResultBody::ListPrompts(page) => {
                self.record(request, page, page.next_cursor.as_ref(), Vec::new());
            }
            _ => {}
        }
    }

    /// Records a page with its own and other omissions.
    pub(crate) fn record<T>(
        &self,
        request: &ClientRequest,
        page: &Listing<T>,
        next: Option<&Cursor>,
        others: Vec<Omission>,
    ) {
        let list = request.method_name();
        let mut present = self.present.lock();
        if page.omissions.is_empty() && others.is_empty() && present.omissions.is_empty() {
            return;
        }
        present.list += u64::from(is_first_page(request));
        for omission in page.omissions.iter().cloned().chain(others) {
            self.insert(&mut present, omission);
        }
        if next.is_none() {
            let latest = present.list;
            present
                .omissions
                .retain(|(of, _), (_, number)| of != list || *number == latest);
        }
    }

    /// Records an omission outside of a page.
    pub(crate) fn add(&self, omission: Omission) {
        self.insert(&mut self.present.lock(), omission);
    }

    fn insert(&self, present: &mut Present, mut omission: Omission) {
        let name = omission
            .name
            .map(|name| shorten(&name, NAME_EXCERPT).into_owned());
        omission.name = name;
        let (key, number) = (key(&omission), present.list);
        let is_full = present.omissions.len() >= MAX_OMISSIONS;
        match present.omissions.get_mut(&key) {
            Some((known, list)) if known.reason == omission.reason => {
                *list = number;
                return;
            }
            None if is_full => return,
            _ => {}
        }
        let Omission {
            list,
            place,
            name,
            reason,
            ..
        } = &omission;
        tracing::warn!(
            server = &*self.peer,
            list,
            place,
            name,
            reason,
            "a part of the server's list is left out"
        );
        // An error means that there is no reader.
        let _ = self.events.send(omission.clone());
        present.omissions.insert(key, (omission, number));
    }

    pub(crate) fn present(&self) -> Vec<Omission> {
        let present = self.present.lock();
        let omissions = present.omissions.values();
        omissions.map(|(omission, _)| omission.clone()).collect()
    }

    pub(crate) fn subscribe(&self) -> broadcast::Receiver<Omission> {
        self.events.subscribe()
    }
}

/// Returns false for a request with a cursor.
pub(crate) fn is_first_page(request: &ClientRequest) -> bool {
    match request {
        ClientRequest::Call(
            Call::ListTools(page)
            | Call::ListResources(page)
            | Call::ListResourceTemplates(page)
            | Call::ListPrompts(page),
        ) => page.cursor.is_none(),
        _ => false,
    }
}
