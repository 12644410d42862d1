//! The bus within one process, and what its subscribers hold.

use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use mcp_types::SubscriptionFilter;
use slab::Slab;

use super::{ChangeBus, ChangeEvent};
use crate::texts::Texts;
use parking_lot::Mutex;

/// The bus within one process.
///
/// Each subscriber holds one mark per kind of list, and one per resource that has changed, so
/// changes that come faster than it reads them become one. Its memory is bounded by what it asked
/// for: when too many resources below one that it asked for have changed, that one is marked for
/// all of them.
#[derive(Debug, Default)]
pub struct MemoryBus {
    watches: Arc<Mutex<Watches>>,
}

/// Who wants to know.
type Watches = Slab<Arc<Marks>>;

impl MemoryBus {
    /// A bus without subscribers.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many subscribers it has.
    pub fn subscriber_count(&self) -> usize {
        self.watches.lock().len()
    }
}

impl ChangeBus for MemoryBus {
    fn publish(&self, event: ChangeEvent) {
        let readers: Vec<Waker> = {
            let watches = self.watches.lock();
            let marks = watches.iter();
            marks.filter_map(|(_, marks)| marks.mark(&event)).collect()
        };
        readers.into_iter().for_each(Waker::wake);
    }

    fn watch(&self, interest: SubscriptionFilter) -> Watch {
        let marks = Arc::new(Marks(Mutex::new(State {
            interest: interest.into(),
            ..State::default()
        })));
        let number = self.watches.lock().insert(marks.clone());
        Watch {
            marks,
            number,
            bus: Arc::downgrade(&self.watches),
        }
    }
}

/// What a subscriber wants to know, and what of it has changed.
struct Marks(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    interest: Interest,
    tools: bool,
    prompts: bool,
    resources: bool,
    updated: Texts,
    reader: Option<Waker>,
}

/// What of a filter is about changes of lists and resources. There is one for every session, and few
/// ask for resources.
#[derive(Debug, Default)]
struct Interest {
    tools: bool,
    prompts: bool,
    resources: bool,
    by_uri: Option<Box<SubscriptionFilter>>,
}

impl From<SubscriptionFilter> for Interest {
    fn from(filter: SubscriptionFilter) -> Self {
        Self {
            tools: filter.tools_list_changed,
            prompts: filter.prompts_list_changed,
            resources: filter.resources_list_changed,
            by_uri: (!filter.resource_subscriptions.is_empty()).then(|| Box::new(filter)),
        }
    }
}

/// How many resources that nobody asked for by their own URI are marked one by one.
const MAX_BELOW: usize = 64;

impl Marks {
    /// Marks a change, if it is wanted; the reader has to be woken then.
    fn mark(&self, event: &ChangeEvent) -> Option<Waker> {
        let mut state = self.0.lock();
        let State { interest, .. } = &*state;
        match event {
            ChangeEvent::Tools if interest.tools => state.tools = true,
            ChangeEvent::Prompts if interest.prompts => state.prompts = true,
            ChangeEvent::Resources if interest.resources => state.resources = true,
            ChangeEvent::Resource { uri } => state.mark_resource(uri)?,
            _ => return None,
        }
        state.reader.take()
    }
}

impl State {
    fn mark_resource(&mut self, uri: &str) -> Option<()> {
        let interest = self.interest.by_uri.as_ref()?;
        let asked = interest.covering(uri)?;
        let room = interest.resource_subscriptions.len() + MAX_BELOW;
        if asked == uri || self.updated.contains(uri) || self.updated.len() < room {
            self.updated.insert(uri);
            return Some(());
        }
        let asked = asked.to_owned();
        self.updated
            .retain(|other| interest.covering(other) != Some(&asked));
        self.updated.insert(&asked);
        Some(())
    }

    fn take(&mut self) -> Option<ChangeEvent> {
        if std::mem::take(&mut self.tools) {
            return Some(ChangeEvent::Tools);
        }
        if std::mem::take(&mut self.prompts) {
            return Some(ChangeEvent::Prompts);
        }
        if std::mem::take(&mut self.resources) {
            return Some(ChangeEvent::Resources);
        }
        let uri = self.updated.pop_first()?;
        Some(ChangeEvent::Resource { uri: uri.into() })
    }
}

impl fmt::Debug for Marks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.lock().fmt(f)
    }
}

/// The changes that one subscriber wants to know: a stream without an end. Dropping it ends the
/// subscription.
#[derive(Debug)]
pub struct Watch {
    marks: Arc<Marks>,
    number: usize,
    bus: Weak<Mutex<Watches>>,
}

impl Watch {
    /// Changes what the subscriber wants to know. What was marked before is told still, as far as
    /// it is wanted.
    pub(crate) fn set_interest(&self, interest: SubscriptionFilter) {
        let mut state = self.marks.0.lock();
        state.tools &= interest.tools_list_changed;
        state.prompts &= interest.prompts_list_changed;
        state.resources &= interest.resources_list_changed;
        state.updated.retain(|uri| interest.covers(uri));
        state.interest = interest.into();
    }

    /// Takes the next change, if there is one.
    pub fn try_next(&self) -> Option<ChangeEvent> {
        self.marks.0.lock().take()
    }

    /// The next change, or the waker is kept until there is one. One reader at a time.
    pub fn poll_change(&self, cx: &mut Context<'_>) -> Poll<ChangeEvent> {
        let mut state = self.marks.0.lock();
        match state.take() {
            Some(event) => Poll::Ready(event),
            None => {
                state.reader = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl Stream for Watch {
    type Item = ChangeEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ChangeEvent>> {
        self.poll_change(cx).map(Some)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(watches) = self.bus.upgrade() {
            watches.lock().try_remove(self.number);
        }
    }
}
