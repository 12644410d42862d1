//! Event types with their filters.

use std::any::TypeId;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use mcp_core::Principal;
use mcp_core::extension::from_params;
use mcp_types::{JsonObject, RawObject};
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::wire::{DeliveryMode, EventDescriptor};

/// Returns true if a subscriber with these arguments receives an event.
type Filter = Arc<dyn Fn(&JsonObject, &RawObject, Option<&Principal>) -> bool + Send + Sync>;
type CheckArguments = Arc<dyn Fn(&JsonObject) -> Result<(), String> + Send + Sync>;

/// An event type: a name, a payload `T`, and the ways to receive it.
///
/// Without a [`filter`](Self::filter) every client that may call the server receives every event.
///
/// # Examples
///
/// ```
/// use mcp::events::EventType;
///
/// #[derive(serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
/// struct OrderPlaced {
///     order: u64,
///     customer: String,
/// }
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Since {
///     order: u64,
/// }
///
/// let event = EventType::<OrderPlaced>::new("order.placed")
///     .description("A customer has placed an order")
///     .poll()
///     .push()
///     .filter(|since: &Since, event, caller| {
///         event.order >= since.order
///             && caller.is_some_and(|caller| caller.subject == event.customer)
///     });
/// ```
pub struct EventType<T> {
    pub(super) entry: TypeEntry,
    payload: PhantomData<fn(T)>,
}

/// An event type without its payload type.
#[derive(Clone)]
pub(super) struct TypeEntry {
    pub(super) descriptor: EventDescriptor,
    pub(super) payload: TypeId,
    /// Returns why arguments do not fit.
    pub(super) check: CheckArguments,
    filter: Option<Filter>,
}

impl<T: JsonSchema + 'static> EventType<T> {
    /// An event type. Add at least one way to receive it.
    pub fn new(name: impl Into<String>) -> Self {
        let mut no_arguments = JsonObject::new();
        no_arguments.insert("type".to_owned(), "object".into());
        no_arguments.insert("additionalProperties".to_owned(), false.into());
        let descriptor = EventDescriptor {
            name: name.into(),
            description: None,
            delivery: Vec::new(),
            input_schema: no_arguments,
            payload_schema: schema::<T>(),
            meta: None,
        };
        let check = |arguments: &JsonObject| {
            let is_empty = arguments.is_empty().then_some(());
            is_empty.ok_or_else(|| "the event type has no arguments".to_owned())
        };
        Self {
            entry: TypeEntry {
                descriptor,
                payload: TypeId::of::<T>(),
                check: Arc::new(check),
                filter: None,
            },
            payload: PhantomData,
        }
    }

    /// Sets the description.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.entry.descriptor.description = Some(description.into());
        self
    }

    /// Adds further metadata (`_meta`) for clients.
    #[must_use]
    pub fn meta(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        let meta = self
            .entry
            .descriptor
            .meta
            .get_or_insert_with(JsonObject::new);
        meta.insert(name.into(), value.into());
        self
    }

    /// Lets clients poll the events.
    #[must_use]
    pub fn poll(self) -> Self {
        self.delivery(DeliveryMode::Poll)
    }

    /// Lets clients stream the events.
    #[must_use]
    pub fn push(self) -> Self {
        self.delivery(DeliveryMode::Push)
    }

    /// Lets clients subscribe with a webhook. The server needs
    /// [`Events::webhooks`](crate::Events::webhooks).
    #[must_use]
    pub fn webhook(self) -> Self {
        self.delivery(DeliveryMode::Webhook)
    }

    fn delivery(mut self, mode: DeliveryMode) -> Self {
        let modes = &mut self.entry.descriptor.delivery;
        if !modes.contains(&mode) {
            modes.push(mode);
        }
        self
    }

    /// Selects the events of a subscriber by its arguments and its identity. The arguments are checked
    /// when a client begins to receive events. The filter runs for each event and subscriber, so keep it
    /// short.
    #[must_use]
    pub fn filter<A>(
        mut self,
        filter: impl Fn(&A, &T, Option<&Principal>) -> bool + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        T: DeserializeOwned,
    {
        self.entry.descriptor.input_schema = schema::<A>();
        self.entry.check = Arc::new(|arguments| read_arguments::<A>(arguments).map(drop));
        self.entry.filter = Some(Arc::new(move |arguments, data, caller| {
            let read = (read_arguments::<A>(arguments), data.parse::<T>());
            match read {
                (Ok(arguments), Ok(data)) => filter(&arguments, &data, caller),
                _ => false,
            }
        }));
        self
    }
}

impl TypeEntry {
    pub(super) fn allows(&self, mode: DeliveryMode) -> bool {
        self.descriptor.delivery.contains(&mode)
    }

    /// Returns true if a subscriber receives an event. A filter that panics hides the event.
    pub(super) fn selects(
        &self,
        arguments: &JsonObject,
        data: &RawObject,
        caller: Option<&Principal>,
    ) -> bool {
        let Some(filter) = &self.filter else {
            return true;
        };
        mcp_core::catch_panic_sync(|| filter(arguments, data, caller)).unwrap_or_else(|_| {
            tracing::error!(
                event = self.descriptor.name,
                "the filter of an event type panicked"
            );
            false
        })
    }
}

fn read_arguments<A: DeserializeOwned>(arguments: &JsonObject) -> Result<A, String> {
    let text = serde_json::to_string(arguments).map_err(|error| error.to_string())?;
    from_params(Some(&text)).map_err(|error| error.to_string())
}

fn schema<T: JsonSchema>() -> JsonObject {
    let schema = SchemaGenerator::default().into_root_schema_for::<T>();
    match Value::from(schema) {
        Value::Object(mut members) => {
            members.shift_remove("$schema");
            members
        }
        _ => JsonObject::from_iter([("type".to_owned(), "object".into())]),
    }
}

impl<T> fmt::Debug for EventType<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventType")
            .field("descriptor", &self.entry.descriptor)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for TypeEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.descriptor.fmt(f)
    }
}
