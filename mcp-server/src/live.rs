//! What a server offers, while it may change: the book that is edited, and the catalogue made of it
//! that is served. A catalogue is never changed, only replaced whole, so calls read it without a
//! lock and finish with the one that they began with.

mod answer;
mod book;
mod catalogue;
mod find;
mod kept;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use arc_swap::{ArcSwap, Guard};
use mcp_core::locks::Mutex;
use mcp_types::Implementation;

pub(crate) use book::Book;
pub(crate) use catalogue::Catalogue;
pub(crate) use kept::Kept;

use crate::context::CallContext;
use crate::edits::Edits;
use crate::listing::Shelf;

/// The book of a server and its current catalogue. The server owns it; handles reach it as long as
/// the server is there.
#[derive(Debug)]
pub(crate) struct Live {
    book: Mutex<Book>,
    serving: ArcSwap<Catalogue>,
    /// The book was edited since the catalogue was made. Servers are built in many steps, and only
    /// the last one counts.
    stale: AtomicBool,
    checked: AtomicBool,
}

impl Live {
    pub(crate) fn new(info: Implementation) -> Arc<Self> {
        Arc::new_cyclic(|me: &Weak<Self>| {
            let book = Book::new(info, me.clone());
            Self {
                serving: ArcSwap::from_pointee(Catalogue::of(&book)),
                book: Mutex::new(book),
                stale: AtomicBool::new(false),
                checked: AtomicBool::new(false),
            }
        })
    }

    /// What is served now.
    pub(crate) fn current(&self) -> Guard<Arc<Catalogue>> {
        if self.stale.load(Ordering::Acquire) {
            let book = self.book.lock();
            if self.stale.load(Ordering::Acquire) {
                self.serving.store(Arc::new(Catalogue::of(&book)));
                self.stale.store(false, Ordering::Release);
            }
        }
        self.serving.load()
    }

    /// Nobody has asked this before.
    pub(crate) fn is_first_check(&self) -> bool {
        !self.checked.swap(true, Ordering::Relaxed)
    }

    /// Looks something up in the book.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&Book) -> T) -> T {
        look(&self.book.lock())
    }

    /// Edits the book while the server is built.
    pub(crate) fn write(&self, edit: impl FnOnce(&mut Book)) {
        edit(&mut self.book.lock());
        self.stale.store(true, Ordering::Release);
    }

    /// The server of a call, of which something is going to change.
    pub(crate) fn of(call: &CallContext, edits: Edits) -> Weak<Self> {
        let live = call.state::<Weak<Self>>().cloned().unwrap_or_default();
        if let Some(live) = live.upgrade() {
            live.expect(edits);
        }
        live
    }

    /// Says that something is going to change.
    pub(crate) fn expect(&self, edits: Edits) {
        if !self.current().edits.include(edits) {
            self.write(|book| book.edits.add(edits));
        }
    }

    /// Edits the routes of a kind while the server serves: `edit` tells what came out, and whether
    /// anything has changed. Whoever listens is told.
    ///
    /// # Errors
    ///
    /// Those of `edit`, which then has changed nothing.
    pub(crate) fn change<R: Kept, T, E>(
        &self,
        edit: impl FnOnce(&mut Shelf<R>, &Book) -> Result<(T, bool), E>,
    ) -> Result<T, E> {
        let (out, before) = {
            let mut book = self.book.lock();
            // The edit may look at all of the book but what it edits.
            let mut shelf = std::mem::take(R::shelf_mut(&mut book));
            let edited = edit(&mut shelf, &book);
            *R::shelf_mut(&mut book) = shelf;
            let (out, changed) = edited?;
            if !changed {
                return Ok(out);
            }
            (out, self.replace::<R>(&book))
        };
        // Handlers that went out of use are dropped here, where they may do what they like.
        drop(before);
        self.current().changes.publish(R::KIND.event());
        Ok(out)
    }

    /// Makes the catalogue anew where a kind of routes has changed.
    fn replace<R: Kept>(&self, book: &Book) -> Option<Arc<Catalogue>> {
        if self.stale.load(Ordering::Acquire) {
            return None;
        }
        let mut next = Catalogue::clone(&self.serving.load());
        next.renew::<R>(book);
        Some(self.serving.swap(Arc::new(next)))
    }
}
