//! Subscriptions: what a server tells a client that listens, from the acknowledgement to the end.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions>

use std::fmt;
use std::future::{Future, pending, poll_fn, ready};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

use mcp_types::{
    ListenResult, Method, Page, ReadResourceParams, ServerCapabilities, SubscriptionFilter,
};

use crate::changes::SubscriptionPermit;
use crate::texts::Texts;
use crate::{
    BoxFuture, Call, ChangeEvent, Changes, ClientFacts, Extensions, Fault, Gate, Outlet, Reply,
    ResultBody, ServerNotification, Service, Subscriber, Watch,
};

/// How many resources one subscription can ask for.
pub const MAX_URIS: usize = 1024;
/// How many bytes their URIs can have together.
pub const MAX_URI_BYTES: usize = 128 * 1024;

/// A subscription as the server sees it. It begins with the acknowledgement, so nothing can come
/// before that; whoever ends it has nothing left to tell with.
#[derive(Debug)]
pub struct ServerSubscription {
    granted: SubscriptionFilter,
}

impl ServerSubscription {
    /// Begins a subscription to what of `asked` is granted; the note is the first message on it.
    // spec: SUB-03, SUB-04
    pub fn start(granted: SubscriptionFilter) -> (Self, ServerNotification) {
        let acknowledged = ServerNotification::Acknowledged(granted.clone());
        (Self { granted }, acknowledged)
    }

    /// What the server tells of a change; nothing when that was not granted.
    // spec: SUB-02
    pub fn notification_for(&self, event: ChangeEvent) -> Option<ServerNotification> {
        let granted = match &event {
            ChangeEvent::Tools => self.granted.tools_list_changed,
            ChangeEvent::Prompts => self.granted.prompts_list_changed,
            ChangeEvent::Resources => self.granted.resources_list_changed,
            ChangeEvent::Resource { uri } => self.granted.covers(uri),
        };
        granted.then(|| event.into())
    }

    /// Ends the subscription in good order, with the answer to the request that began it. A
    /// subscription that is dropped ends abruptly: what carried it closes without an answer.
    // spec: SUB-09, SUB-10, GAP-01
    pub fn finish(self) -> ListenResult {
        // The wire stamps it with the id of the request.
        ListenResult::default()
    }
}

/// Refuses a filter that asks for more resources than one subscription can hold.
///
/// # Errors
///
/// [`Fault::BadParams`] with what to do instead.
// spec: SUB-15
pub(crate) fn check(asked: &SubscriptionFilter) -> Result<(), Fault> {
    let uris = &asked.resource_subscriptions;
    let bytes: usize = uris.iter().map(String::len).sum();
    if uris.len() <= MAX_URIS && bytes <= MAX_URI_BYTES {
        return Ok(());
    }
    Err(Fault::bad_params(format!(
        "`params.notifications.resourceSubscriptions`: {} URIs with {bytes} bytes; one subscription \
         can have {MAX_URIS} with {MAX_URI_BYTES}. Ask for one above them, as `file:///logs/` for \
         all below it, or open several",
        uris.len()
    )))
}

/// What of `asked` a server tells that offers `offers`, each thing once.
// spec: SUB-03
fn offered(asked: SubscriptionFilter, offers: &ServerCapabilities) -> SubscriptionFilter {
    let tells = |event: ChangeEvent| event.is_offered(offers);
    let mut granted = SubscriptionFilter::new();
    granted.tools_list_changed = asked.tools_list_changed && tells(ChangeEvent::Tools);
    granted.prompts_list_changed = asked.prompts_list_changed && tells(ChangeEvent::Prompts);
    granted.resources_list_changed = asked.resources_list_changed && tells(ChangeEvent::Resources);
    if tells(ChangeEvent::Resource { uri: "".into() }) {
        let mut seen = Texts::default();
        granted.resource_subscriptions = asked.resource_subscriptions;
        granted
            .resource_subscriptions
            .retain(|uri| seen.insert(uri));
    }
    granted
}

/// Takes out of a filter what a gate does not let its caller ask for: whoever may not list or read
/// something is not told either that it has changed.
///
/// # Errors
///
/// What the gate answers, when it leaves nothing.
// spec: GAP-10
pub(crate) fn admit(
    asked: &mut SubscriptionFilter,
    gate: impl Fn(&Call) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut refused = None;
    let mut admits = |call: Call| match gate(&call) {
        Ok(()) => true,
        Err(fault) => {
            refused.get_or_insert(fault);
            false
        }
    };
    let SubscriptionFilter {
        tools_list_changed: tools,
        prompts_list_changed: prompts,
        resources_list_changed: resources,
        resource_subscriptions: uris,
        ..
    } = asked;
    *tools = *tools && admits(Call::ListTools(Page::first()));
    *prompts = *prompts && admits(Call::ListPrompts(Page::first()));
    *resources = *resources && admits(Call::ListResources(Page::first()));
    uris.retain(|uri| admits(read(uri)));
    match refused {
        Some(fault) if asked.is_empty() => Err(fault),
        _ => Ok(()),
    }
}

fn read(uri: &str) -> Call {
    Call::ReadResource(ReadResourceParams::new(uri))
}

/// What a transport lends to a subscription, which knows no clock.
#[derive(Default)]
pub(crate) struct ListenHooks {
    /// Ends it in good order.
    pub(crate) ending: Option<BoxFuture<'static, ()>>,
    /// Makes the time that lies between two rounds of changes.
    pub(crate) pause: Option<Pause>,
    /// Who may be told of what.
    pub(crate) gate: Option<Arc<dyn Gate>>,
}

pub(crate) type Pause = Box<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>;

impl fmt::Debug for ListenHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ListenHooks")
            .field("ends", &self.ending.is_some())
            .field("gated", &self.gate.is_some())
            .finish_non_exhaustive()
    }
}

/// Serves a subscription. The future is ready when it has ended in good order; dropping it ends it
/// abruptly.
#[inline(never)]
pub(crate) fn serve(
    asked: SubscriptionFilter,
    service: &dyn Service,
    caller: (Arc<ClientFacts>, Extensions),
    outlet: Outlet,
    lent: ListenHooks,
) -> BoxFuture<'static, Reply> {
    // spec: BASE-20
    let Some(changes) = service.changes() else {
        let fault = Fault::no_such_method(Method::Listen.as_str());
        return Box::pin(ready(fault.into()));
    };
    let permit = match changes.acquire_permit() {
        Ok(permit) => permit,
        Err(fault) => return Box::pin(ready(fault.into())),
    };
    let mut granted = offered(asked, &service.profile().capabilities);
    let (facts, extensions) = caller;
    let who = Subscriber::new(extensions, lent.gate);
    granted
        .resource_subscriptions
        .retain(|uri| changes.check_access(uri, &facts, &who).is_ok());
    let watch = changes.watch(granted.clone());
    let (listen, acknowledged) = ServerSubscription::start(granted);
    let telling = RunningSubscription {
        listen,
        watch,
        changes,
        facts,
        who,
        outlet,
        pause: lent.pause,
        _permit: permit,
    };
    Box::pin(telling.run(acknowledged, lent.ending))
}

/// A subscription at work.
struct RunningSubscription {
    listen: ServerSubscription,
    watch: Watch,
    changes: Changes,
    facts: Arc<ClientFacts>,
    who: Subscriber,
    outlet: Outlet,
    pause: Option<Pause>,
    _permit: SubscriptionPermit,
}

impl RunningSubscription {
    async fn run(
        self,
        acknowledged: ServerNotification,
        ending: Option<BoxFuture<'static, ()>>,
    ) -> Reply {
        let mut ending = ending.unwrap_or_else(|| Box::pin(pending()));
        {
            let mut telling = pin!(self.tell_all(acknowledged));
            poll_fn(|cx| match telling.as_mut().poll(cx) {
                Poll::Ready(()) => Poll::Ready(()),
                Poll::Pending => ending.as_mut().poll(cx),
            })
            .await;
        }
        // What has changed by now is told, if there is room.
        while let Some(event) = self.watch.try_next() {
            if let Some(note) = self.note(event) {
                self.outlet.try_send(&note);
            }
        }
        ResultBody::Listen(self.listen.finish()).into()
    }

    /// Tells the acknowledgement, then changes, for ever. Where the client does not keep up this
    /// waits, and the changes gather as marks.
    async fn tell_all(&self, acknowledged: ServerNotification) {
        self.outlet.send(acknowledged).await;
        loop {
            let mut event = Some(poll_fn(|cx| self.watch.poll_change(cx)).await);
            while let Some(change) = event {
                if let Some(note) = self.note(change) {
                    self.outlet.send(note).await;
                }
                event = self.watch.try_next();
            }
            if let Some(pause) = &self.pause {
                pause().await;
            }
        }
    }

    /// Whether the client may hear of a resource is asked for each change again: it may be another
    /// one than was asked for, below that, and it may have become a secret.
    // spec: GAP-10
    fn note(&self, event: ChangeEvent) -> Option<ServerNotification> {
        if let ChangeEvent::Resource { uri } = &event {
            self.changes
                .check_access(uri, &self.facts, &self.who)
                .ok()?;
        }
        self.listen.notification_for(event)
    }
}

#[cfg(test)]
mod tests;
