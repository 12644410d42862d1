//! What a server offers, while it may change: the book that is edited, and the catalogue made of it
//! that is served. A catalogue is never changed, only replaced whole, so calls finish with the one
//! that they began with; where nothing is going to change, they find it without a lock.

mod answer;
mod book;
mod catalogue;
mod find;
mod kept;
mod others;

use std::borrow::Cow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use mcp_types::Implementation;
use parking_lot::{Mutex, MutexGuard, RwLock};

pub(crate) use book::Book;
pub(crate) use catalogue::Catalogue;
pub(crate) use kept::Kept;
pub(crate) use others::{MakeOthers, Others};

use crate::context::CallContext;
use crate::edits::Edits;
use crate::listing::{Kind, Shelf};

/// The book of a server and its current catalogue. The server owns it; handles reach it as long as
/// the server is there.
#[derive(Debug)]
pub(crate) struct Live {
    /// Whoever holds it may take the other locks, and not the other way round.
    book: Mutex<Book>,
    /// What a server serves of which nobody has said that it is going to change. All threads read
    /// it at every call, and none of them writes anything for it.
    fixed: OnceLock<Arc<Catalogue>>,
    /// The book was edited all the same, since `fixed` was made of it.
    edited: AtomicBool,
    /// What is served else; nothing while it has to be made. Servers are built in many steps, and
    /// only the last one counts.
    serving: RwLock<Option<Arc<Catalogue>>>,
    checked: AtomicBool,
}

impl Live {
    pub(crate) fn new(info: Implementation) -> Arc<Self> {
        Arc::new_cyclic(|me: &Weak<Self>| Self {
            book: Mutex::new(Book::new(info, me.clone())),
            fixed: OnceLock::new(),
            edited: AtomicBool::new(false),
            serving: RwLock::new(None),
            checked: AtomicBool::new(false),
        })
    }

    /// What is served now.
    pub(crate) fn current(&self) -> Cow<'_, Arc<Catalogue>> {
        match self.fixed.get() {
            Some(fixed) if !self.edited.load(Ordering::Acquire) => Cow::Borrowed(fixed),
            _ => Cow::Owned(self.serving()),
        }
    }

    #[inline(never)]
    fn serving(&self) -> Arc<Catalogue> {
        if let Some(serving) = &*self.serving.read() {
            return Arc::clone(serving);
        }
        let book = self.book.lock();
        let mut serving = self.serving.write();
        let made = serving.get_or_insert_with(|| Arc::new(Catalogue::of(&book)));
        if made.edits == Edits::NONE {
            // Not if there was one before, which was edited.
            let _ = self.fixed.set(Arc::clone(made));
        }
        Arc::clone(made)
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
        let mut book = self.book.lock();
        edit(&mut book);
        self.serve_anew(book);
    }

    /// What is served is going to be made, of the book as it is now.
    fn serve_anew(&self, book: MutexGuard<'_, Book>) {
        let before = self.serve(None);
        drop(book);
        drop(before);
    }

    /// Serves another catalogue, or one that is going to be made, instead of the one that is
    /// returned. The book is locked.
    fn serve(&self, next: Option<Arc<Catalogue>>) -> Option<Arc<Catalogue>> {
        self.edited
            .store(self.fixed.get().is_some(), Ordering::Release);
        std::mem::replace(&mut *self.serving.write(), next)
    }

    /// The server of a call, of which something is going to change.
    pub(crate) fn of(call: &CallContext, edits: Edits, others: Option<MakeOthers>) -> Weak<Self> {
        let live = call.state::<Weak<Self>>().cloned().unwrap_or_default();
        if let Some(live) = live.upgrade() {
            live.expect(edits, others);
        }
        live
    }

    /// Says that something is going to change, and how that is served when it is no tool.
    pub(crate) fn expect(&self, edits: Edits, others: Option<MakeOthers>) {
        let serving = self.serving.read().as_ref().map(|serving| serving.edits);
        if serving.unwrap_or_default().include(edits) {
            return;
        }
        if !self.read(Book::all_edits).include(edits) {
            self.write(|book| {
                book.edits.add(edits);
                book.others = book.others.or(others);
            });
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
            (out, self.replace(R::KIND, &book))
        };
        // Handlers that went out of use are dropped here, where they may do what they like.
        drop(before);
        self.current().changes.publish(R::KIND.event());
        Ok(out)
    }

    /// Makes the catalogue anew where a kind of routes has changed.
    fn replace(&self, kind: Kind, book: &Book) -> Option<Arc<Catalogue>> {
        let before = self.serving.read().clone()?;
        let mut next = Catalogue::clone(&before);
        next.renew(kind, book);
        self.serve(Some(Arc::new(next)))
    }
}
