//! Changes of a server's lists and resources, on their way to whoever wants to know.

mod memory;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use mcp_types::{ReadResourceParams, ServerCapabilities, SubscriptionFilter};

pub use memory::{MemoryBus, Watch};

use crate::{Call, ClientFacts, Extensions, Fault, Gate, ItemKind, Principal, ServerNotification};

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

impl From<ChangeEvent> for ServerNotification {
    fn from(event: ChangeEvent) -> Self {
        match event {
            ChangeEvent::Tools => Self::ToolsChanged,
            ChangeEvent::Prompts => Self::PromptsChanged,
            ChangeEvent::Resources => Self::ResourcesChanged,
            ChangeEvent::Resource { uri } => Self::ResourceUpdated { uri: uri.into() },
        }
    }
}

/// Carries changes from handlers to subscribers: within one process ([`MemoryBus`]), or between the
/// nodes that serve one endpoint. Such a bus keeps a [`MemoryBus`] for its own subscribers, and
/// publishes there what comes over the broker.
///
/// # Examples
///
/// ```
/// use mcp_core::{ChangeBus, ChangeEvent, MemoryBus, Watch};
/// use mcp_types::SubscriptionFilter;
///
/// # struct Broker;
/// # impl Broker { fn send(&self, _: &ChangeEvent) {} }
/// struct Nodes {
///     broker: Broker,
///     here: MemoryBus,
/// }
///
/// impl ChangeBus for Nodes {
///     fn publish(&self, event: ChangeEvent) {
///         // It comes back to every node, to this one, too: `nodes.here.publish(event)`.
///         self.broker.send(&event);
///     }
///
///     fn watch(&self, interest: SubscriptionFilter) -> Watch {
///         self.here.watch(interest)
///     }
/// }
/// ```
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

/// Who listens, and who says what they may hear.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Subscriber {
    /// What the transport and its layers know of the request: the [`Principal`], for one.
    pub extensions: Extensions,
    /// The gate of the transport.
    pub gate: Option<Arc<dyn Gate>>,
}

impl Subscriber {
    /// Who sends a request with these extensions, and the gate that looks at it.
    pub fn new(extensions: Extensions, gate: Option<Arc<dyn Gate>>) -> Self {
        Self { extensions, gate }
    }
}

impl fmt::Debug for Subscriber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Audience")
            .field("principal", &self.extensions.get::<Principal>())
            .field("gated", &self.gate.is_some())
            .finish_non_exhaustive()
    }
}

/// Who may be told of which resource, by its URI.
type VisibilityFilter = Arc<dyn Fn(&str, &ClientFacts, &Extensions) -> bool + Send + Sync>;

/// The changes of a server, as whoever tells them to clients gets them: a bus, how many clients may
/// listen at a time, and who may be told of what. Clones are the same.
#[derive(Clone)]
pub struct Changes(Arc<Inner>);

/// Every session has it, so it is shared.
#[derive(Clone)]
struct Inner {
    bus: Arc<dyn ChangeBus>,
    listening: Arc<AtomicUsize>,
    max_subscriptions: usize,
    visibility: Option<VisibilityFilter>,
}

impl Changes {
    /// How many clients may listen at a time, unless [`max_subscriptions`](Self::max_subscriptions) says it.
    pub const MAX_SUBSCRIPTIONS: usize = 1024;

    /// What a bus carries, for everybody.
    pub fn new(bus: Arc<dyn ChangeBus>) -> Self {
        Self(Arc::new(Inner {
            bus,
            listening: Arc::default(),
            max_subscriptions: Self::MAX_SUBSCRIPTIONS,
            visibility: None,
        }))
    }

    fn inner(&mut self) -> &mut Inner {
        Arc::make_mut(&mut self.0)
    }

    /// Sets the bus that carries them.
    #[must_use]
    pub fn bus(mut self, bus: Arc<dyn ChangeBus>) -> Self {
        self.inner().bus = bus;
        self
    }

    /// Sets how many `subscriptions/listen` requests may run at a time.
    // spec: SUB-15
    #[must_use]
    pub fn max_subscriptions(mut self, subscriptions: usize) -> Self {
        self.inner().max_subscriptions = subscriptions;
        self
    }

    /// Tells of a resource only those that `sees` accepts, by its URI.
    // spec: GAP-10
    #[must_use]
    pub fn visibility(
        mut self,
        sees: impl Fn(&str, &ClientFacts, &Extensions) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.inner().visibility = Some(Arc::new(sees));
        self
    }

    /// Tells everybody who wants to know. Never waits.
    pub fn publish(&self, event: ChangeEvent) {
        self.0.bus.publish(event);
    }

    /// The changes from now on of what `interest` names, whoever may be told of them.
    pub fn watch(&self, interest: SubscriptionFilter) -> Watch {
        self.0.bus.watch(interest)
    }

    /// Whether somebody may hear of a resource: whoever may not read it is not told either that it
    /// has changed.
    ///
    /// # Errors
    ///
    /// What the gate answers; [`Fault::NoSuchItem`] for what does not exist for this caller.
    // spec: GAP-10
    pub fn check_access(
        &self,
        uri: &str,
        facts: &ClientFacts,
        who: &Subscriber,
    ) -> Result<(), Fault> {
        if let Some(gate) = &who.gate {
            let read = Call::ReadResource(ReadResourceParams::new(uri));
            gate.admit(&read, facts, who.extensions.get())?;
        }
        let visibility = self.0.visibility.as_ref();
        if visibility.is_none_or(|sees| sees(uri, facts, &who.extensions)) {
            return Ok(());
        }
        Err(Fault::NoSuchItem {
            kind: ItemKind::Resource,
            id: uri.into(),
        })
    }

    /// How many `subscriptions/listen` requests run now.
    pub fn active_subscriptions(&self) -> usize {
        self.0.listening.load(Ordering::Relaxed)
    }

    /// A place for one more who listens.
    ///
    /// # Errors
    ///
    /// There is none.
    // spec: SUB-15
    pub(crate) fn acquire_permit(&self) -> Result<SubscriptionPermit, Fault> {
        let taken = self.0.listening.fetch_add(1, Ordering::Relaxed);
        let permit = SubscriptionPermit(self.0.listening.clone());
        if taken < self.0.max_subscriptions {
            return Ok(permit);
        }
        let text = format!(
            "this server has {taken} subscriptions already; end one of yours, or try again later"
        );
        Err(Fault::Refused(text.into()))
    }
}

impl<B: ChangeBus> From<Arc<B>> for Changes {
    fn from(bus: Arc<B>) -> Self {
        Self::new(bus)
    }
}

impl fmt::Debug for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Changes")
            .field("listens", &self.active_subscriptions())
            .field("max_subscriptions", &self.0.max_subscriptions)
            .finish_non_exhaustive()
    }
}

/// The place of one who listens; it is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct SubscriptionPermit(Arc<AtomicUsize>);

impl Drop for SubscriptionPermit {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
