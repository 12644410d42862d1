//! Changes of a server's lists and resources, on their way to whoever wants to know.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll, Waker};

use futures_core::Stream;
use mcp_types::{ServerCapabilities, SubscriptionFilter};

use crate::ServerNote;

/// Something of a server has changed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChangeEvent {
    /// The list of tools.
    Tools,
    /// The list of prompts.
    Prompts,
    /// The list of resources or of templates.
    Resources,
    /// A resource.
    Resource {
        /// Which one.
        uri: Box<str>,
    },
}

impl ChangeEvent {
    /// A server that offers `capabilities` tells of such changes.
    // spec: SUB-03, SUB-12
    pub fn is_offered(&self, capabilities: &ServerCapabilities) -> bool {
        let resources = capabilities.resources.as_ref();
        let declared = match self {
            Self::Tools => capabilities.tools.as_ref().map(|tools| tools.list_changed),
            Self::Prompts => capabilities
                .prompts
                .as_ref()
                .map(|prompts| prompts.list_changed),
            Self::Resources => resources.map(|resources| resources.list_changed),
            Self::Resource { .. } => resources.map(|resources| resources.subscribe),
        };
        declared.flatten() == Some(true)
    }
}

impl From<ChangeEvent> for ServerNote {
    fn from(event: ChangeEvent) -> Self {
        match event {
            ChangeEvent::Tools => Self::ToolsChanged,
            ChangeEvent::Prompts => Self::PromptsChanged,
            ChangeEvent::Resources => Self::ResourcesChanged,
            ChangeEvent::Resource { uri } => Self::ResourceUpdated { uri: uri.into() },
        }
    }
}

/// Carries changes from handlers to subscribers: within one process ([`MemoryBus`]), or, implemented
/// over a message broker, between the nodes that serve one endpoint.
pub trait ChangeBus: Send + Sync + 'static {
    /// Tells everybody who wants to know. Never waits.
    fn publish(&self, event: ChangeEvent);

    /// The changes from now on of what `interest` names.
    fn watch(&self, interest: SubscriptionFilter) -> Watch;
}

impl<B: ChangeBus + ?Sized> ChangeBus for Arc<B> {
    fn publish(&self, event: ChangeEvent) {
        (**self).publish(event);
    }

    fn watch(&self, interest: SubscriptionFilter) -> Watch {
        (**self).watch(interest)
    }
}

/// The bus within one process.
///
/// Each subscriber holds one mark per kind of list, and one per resource that it asked for, so
/// changes that come faster than it reads them become one, and its memory is bounded by what it
/// asked for.
#[derive(Debug, Default)]
pub struct MemoryBus {
    watches: Mutex<Vec<Weak<Marks>>>,
}

impl MemoryBus {
    /// A bus without subscribers.
    pub fn new() -> Self {
        Self::default()
    }
}

impl ChangeBus for MemoryBus {
    fn publish(&self, event: ChangeEvent) {
        let mut watches = lock(&self.watches);
        watches.retain(|watch| match watch.upgrade() {
            Some(marks) => {
                marks.mark(&event);
                true
            }
            None => false,
        });
    }

    fn watch(&self, interest: SubscriptionFilter) -> Watch {
        let marks = Arc::new(Marks {
            state: Mutex::new(State {
                interest,
                ..State::default()
            }),
        });
        lock(&self.watches).push(Arc::downgrade(&marks));
        Watch { marks }
    }
}

#[derive(Debug)]
struct Marks {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    interest: SubscriptionFilter,
    tools: bool,
    prompts: bool,
    resources: bool,
    updated: BTreeSet<Box<str>>,
    reader: Option<Waker>,
}

impl Marks {
    fn mark(&self, event: &ChangeEvent) {
        let mut state = lock(&self.state);
        let State { interest, .. } = &*state;
        match event {
            ChangeEvent::Tools if interest.tools_list_changed => state.tools = true,
            ChangeEvent::Prompts if interest.prompts_list_changed => state.prompts = true,
            ChangeEvent::Resources if interest.resources_list_changed => state.resources = true,
            ChangeEvent::Resource { uri } if interest.covers(uri) => {
                state.updated.insert(uri.clone());
            }
            _ => return,
        }
        let reader = state.reader.take();
        drop(state);
        reader.into_iter().for_each(Waker::wake);
    }
}

/// The changes that one subscriber wants to know: a stream without an end.
#[derive(Debug)]
pub struct Watch {
    marks: Arc<Marks>,
}

impl Watch {
    /// Changes what the subscriber wants to know. What was marked before is told still, as far as
    /// it is wanted.
    pub fn set_interest(&self, interest: SubscriptionFilter) {
        lock(&self.marks.state).interest = interest;
    }

    /// Takes the next change, if there is one.
    pub fn take(&self) -> Option<ChangeEvent> {
        let mut state = lock(&self.marks.state);
        let State {
            tools,
            prompts,
            resources,
            updated,
            ..
        } = &mut *state;
        if std::mem::take(tools) {
            return Some(ChangeEvent::Tools);
        }
        if std::mem::take(prompts) {
            return Some(ChangeEvent::Prompts);
        }
        if std::mem::take(resources) {
            return Some(ChangeEvent::Resources);
        }
        let uri = updated.pop_first()?;
        Some(ChangeEvent::Resource { uri })
    }
}

impl Stream for Watch {
    type Item = ChangeEvent;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ChangeEvent>> {
        lock(&self.marks.state).reader = Some(cx.waker().clone());
        match self.take() {
            Some(event) => Poll::Ready(Some(event)),
            None => Poll::Pending,
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use mcp_types::SubscriptionFilter;

    use super::{ChangeBus, ChangeEvent, MemoryBus};

    fn updated(uri: &str) -> ChangeEvent {
        ChangeEvent::Resource { uri: uri.into() }
    }

    #[test]
    fn changes_become_one_mark_each_and_only_what_is_wanted_is_marked() {
        let bus = MemoryBus::new();
        let wanted = SubscriptionFilter::new()
            .tools_changed()
            .resource("file:///a");
        let watch = bus.watch(wanted);
        for _ in 0..1000 {
            bus.publish(ChangeEvent::Tools);
            bus.publish(ChangeEvent::Prompts);
            bus.publish(updated("file:///a"));
            bus.publish(updated("file:///ab"));
        }
        assert_eq!(watch.take(), Some(ChangeEvent::Tools));
        assert_eq!(watch.take(), Some(updated("file:///a")));
        assert_eq!(watch.take(), None);
        watch.set_interest(SubscriptionFilter::new().prompts_changed());
        bus.publish(ChangeEvent::Tools);
        bus.publish(ChangeEvent::Prompts);
        assert_eq!(watch.take(), Some(ChangeEvent::Prompts));
        assert_eq!(watch.take(), None);
    }

    #[test]
    fn who_has_gone_is_forgotten() {
        let bus = MemoryBus::new();
        drop(bus.watch(SubscriptionFilter::new()));
        bus.publish(ChangeEvent::Tools);
        assert!(super::lock(&bus.watches).is_empty());
    }
}
