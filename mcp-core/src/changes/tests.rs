//! The in-memory bus and the permits of subscriptions.

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};

use mcp_types::{ServerCapabilities, SubscriptionFilter};

use super::{ChangeBus, ChangeEvent, Changes, MemoryBus, SubscribedResources};
use crate::message::Fault;

fn updated(uri: &str) -> ChangeEvent {
    ChangeEvent::Resource { uri: uri.into() }
}

#[test]
fn repeated_changes_are_merged_and_others_are_ignored() {
    let bus = MemoryBus::default();
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
    assert_eq!(watch.try_next(), Some(ChangeEvent::Tools));
    assert_eq!(watch.try_next(), Some(updated("file:///a")));
    assert_eq!(watch.try_next(), None);
}

#[test]
fn new_filter_keeps_only_covered_marks() {
    let bus = MemoryBus::default();
    let watch = bus.watch(
        SubscriptionFilter::new()
            .tools_changed()
            .prompts_changed()
            .resource("a://a")
            .resource("a://b"),
    );
    for event in [
        ChangeEvent::Tools,
        ChangeEvent::Prompts,
        updated("a://a"),
        updated("a://b"),
    ] {
        bus.publish(event);
    }
    let fewer = SubscriptionFilter::new()
        .prompts_changed()
        .resource("a://b");
    watch.set_interest(Arc::new(fewer));
    bus.publish(ChangeEvent::Tools);
    assert_eq!(watch.try_next(), Some(ChangeEvent::Prompts));
    assert_eq!(watch.try_next(), Some(updated("a://b")));
    assert_eq!(watch.try_next(), None);
}

#[test]
fn many_resources_below_a_uri_are_merged_into_it() {
    let bus = MemoryBus::default();
    let subscribed = ["file:///logs", "file:///logs/today/", "file:///other"];
    let wanted = subscribed
        .into_iter()
        .fold(SubscriptionFilter::new(), |filter, uri| {
            filter.resource(uri)
        });
    let watch = bus.watch(wanted);
    for n in 0..10_000 {
        bus.publish(updated(&format!("file:///logs/today/{n}")));
        bus.publish(updated("file:///other"));
    }
    bus.publish(updated("file:///logs/yesterday"));
    let mut events = Vec::new();
    while let Some(ChangeEvent::Resource { uri }) = watch.try_next() {
        events.push(uri);
    }
    assert!(events.len() < 100, "{}", events.len());
    for uri in [
        "file:///logs/today/",
        "file:///logs/yesterday",
        "file:///other",
    ] {
        assert!(events.iter().any(|one| **one == *uri), "{uri}: {events:?}");
    }
}

#[test]
fn publish_all_notifies_about_everything_in_the_filter() {
    let bus = MemoryBus::default();
    let some = SubscriptionFilter::new().tools_changed().resource("a://a");
    let watches = [bus.watch(some), bus.watch(SubscriptionFilter::new())];
    bus.publish_all();
    assert_eq!(watches[0].try_next(), Some(ChangeEvent::Tools));
    assert_eq!(watches[0].try_next(), Some(updated("a://a")));
    assert_eq!(watches[0].try_next(), None);
    assert_eq!(watches[1].try_next(), None);
}

#[test]
fn dropped_watch_is_removed() {
    let bus = MemoryBus::default();
    let kept = bus.watch(SubscriptionFilter::new());
    for _ in 0..10 {
        drop(bus.watch(SubscriptionFilter::new().tools_changed()));
    }
    assert_eq!(bus.subscriber_count(), 1);
    drop(kept);
    assert_eq!(bus.subscriber_count(), 0);
    let late = bus.watch(SubscriptionFilter::new());
    drop(bus);
    drop(late);
}

#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn reader_is_woken_once_for_a_covered_change() {
    let bus = MemoryBus::default();
    let watch = bus.watch(SubscriptionFilter::new().tools_changed());
    let count = Arc::new(Count::default());
    let waker = Waker::from(count.clone());
    let cx = &mut Context::from_waker(&waker);
    assert!(watch.poll_change(cx).is_pending());
    bus.publish(ChangeEvent::Prompts);
    bus.publish(updated("a://b"));
    assert_eq!(count.0.load(Ordering::SeqCst), 0);
    bus.publish(ChangeEvent::Tools);
    bus.publish(ChangeEvent::Tools);
    assert_eq!(count.0.load(Ordering::SeqCst), 1);
    assert!(watch.poll_change(cx).is_ready());
    assert!(watch.poll_change(cx).is_pending());
}

#[test]
fn dropped_permit_makes_space() {
    let changes = Changes::new(Arc::new(MemoryBus::default())).max_subscriptions(2);
    let seats = [
        changes.acquire_permit().unwrap(),
        changes.clone().acquire_permit().unwrap(),
    ];
    let Err(Fault::Overloaded { message, .. }) = changes.acquire_permit() else {
        panic!()
    };
    assert_eq!(
        message,
        "this server has 2 subscriptions already; try again in 10 s"
    );
    assert_eq!(changes.active_subscriptions(), 2);
    drop(seats);
    assert_eq!(changes.active_subscriptions(), 0);
    changes.acquire_permit().unwrap();
}

#[test]
fn capabilities_decide_which_changes_are_offered() {
    let offers = ServerCapabilities::default()
        .with_tools(true)
        .with_prompts(false)
        .with_resources(false, true);
    let table = [
        (ChangeEvent::Tools, true),
        (ChangeEvent::Prompts, false),
        (ChangeEvent::Resources, false),
        (updated("a://b"), true),
    ];
    for (event, offered) in table {
        assert_eq!(event.is_offered(&offers), offered, "{event:?}");
        assert!(!event.is_offered(&ServerCapabilities::default()));
    }
}

#[test]
fn subscribed_resources_come_from_all_subscribers() {
    let mut changes = Changes::new(Arc::new(MemoryBus::default()));
    let mut subscribed = changes.subscribed_resources();
    let count = Arc::new(Count::default());
    let waker = Waker::from(count.clone());
    let cx = &mut Context::from_waker(&waker);
    let changed = |subscribed: &mut SubscribedResources, expected: &[&str]| {
        let cx = &mut Context::from_waker(Waker::noop());
        assert!(pin!(subscribed.changed()).poll(cx).is_ready());
        assert!(pin!(subscribed.changed()).poll(cx).is_pending());
        let mut uris = subscribed.uris();
        uris.sort_unstable();
        let uris: Vec<&str> = uris.iter().map(|uri| &**uri).collect();
        assert_eq!(uris, expected);
    };
    let filter = |uris: &[&str]| {
        let uris = uris.iter().copied();
        uris.fold(SubscriptionFilter::new(), SubscriptionFilter::resource)
    };

    let first = changes.watch(filter(&["a://a", "a://b"]));
    changed(&mut subscribed, &["a://a", "a://b"]);
    let second = changes.watch(filter(&["a://b"]));
    {
        let mut waiting = pin!(subscribed.changed());
        assert!(waiting.as_mut().poll(cx).is_pending());
        drop(changes.watch(filter(&["a://a"]).tools_changed()));
        assert_eq!(count.0.load(Ordering::SeqCst), 0, "the set is the same");
        second.set_interest(Arc::new(filter(&["a://c"])));
        first.set_interest(Arc::new(filter(&["a://a", "a://b"])));
        assert_eq!(count.0.load(Ordering::SeqCst), 1, "one notification");
    }
    changed(&mut subscribed, &["a://a", "a://b", "a://c"]);
    drop(first);
    changed(&mut subscribed, &["a://c"]);
    drop(second);
    changed(&mut subscribed, &[]);
}
