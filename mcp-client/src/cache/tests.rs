//! What is kept, for whom, and what makes room.

use std::time::Duration;

use mcp_core::{Call, ClientRequest, ResultBody};
use mcp_types::{
    CacheHint, CallToolParams, Cursor, Method, Page, ReadResourceParams, SubscriptionFilter,
};

use super::{Cache, Slot};
use crate::Change;

const HOUR: Duration = Duration::from_secs(3600);

fn tools() -> ClientRequest {
    Call::ListTools(Page::first()).into()
}

fn read(uri: &str) -> ClientRequest {
    Call::ReadResource(ReadResourceParams::new(uri)).into()
}

fn slot(cache: &Cache, asked: &ClientRequest) -> Slot {
    cache.slot("server", "ada", asked, "").unwrap()
}

fn keep(cache: &Cache, asked: &ClientRequest, bytes: usize) {
    let hint = CacheHint::private(HOUR);
    slot(cache, asked).put(&ResultBody::Empty, hint, bytes);
}

fn has(cache: &Cache, asked: &ClientRequest) -> bool {
    slot(cache, asked).get().is_some()
}

#[tokio::test(start_paused = true)]
async fn answers_age() {
    let cache = Cache::default();
    keep(&cache, &tools(), 1);
    tokio::time::advance(HOUR - Duration::from_millis(1)).await;
    assert!(has(&cache, &tools()));
    tokio::time::advance(Duration::from_millis(1)).await;
    assert!(!has(&cache, &tools()));
    assert_eq!(format!("{cache:?}"), "Cache { entries: 0, bytes: 0, .. }");
    slot(&cache, &tools()).put(&ResultBody::Empty, CacheHint::default(), 1);
    assert!(!has(&cache, &tools()));
    let forever = CacheHint::private(Duration::MAX);
    slot(&cache, &tools()).put(&ResultBody::Empty, forever, 1);
    assert!(has(&cache, &tools()));
}

#[tokio::test]
async fn every_page_and_resource_is_its_own() {
    let cache = Cache::default();
    keep(&cache, &tools(), 1);
    keep(&cache, &read("file:///a"), 1);
    for other in [
        Call::ListTools(Page::at(Cursor::new("2"))).into(),
        Call::ListPrompts(Page::first()).into(),
        read("file:///b"),
    ] {
        assert!(!has(&cache, &other), "{other:?}");
    }
    let call = ClientRequest::Call(Call::CallTool(CallToolParams::new("add", None)));
    for asked in [call, ClientRequest::Discover] {
        assert!(cache.slot("server", "ada", &asked, "").is_none());
    }
}

#[tokio::test]
async fn whose_answer_it_is() {
    let cache = Cache::default();
    let at = |server: &str, principal: &str, special: &str| {
        cache.slot(server, principal, &tools(), special).unwrap()
    };
    let others = [
        ("server", "bob", ""),
        ("other", "ada", ""),
        ("server", "ada", "x-tenant: 1"),
        ("server", "ad", "a"),
    ];
    at("server", "ada", "").put(&ResultBody::Empty, CacheHint::private(HOUR), 1);
    for (server, principal, special) in others {
        assert!(
            at(server, principal, special).get().is_none(),
            "{server} {principal} {special}"
        );
    }
    at("server", "ada", "").put(&ResultBody::Empty, CacheHint::public(HOUR), 1);
    let shared = others.map(|(server, who, special)| at(server, who, special).get().is_some());
    assert_eq!(shared, [true, false, false, false]);
    // What belongs to a special call stays with it, whatever the server calls it.
    cache.clear();
    at("server", "ada", "x-tenant: 1").put(&ResultBody::Empty, CacheHint::public(HOUR), 1);
    assert!(at("server", "ada", "x-tenant: 1").get().is_some());
    assert!(at("server", "ada", "").get().is_none());
}

#[tokio::test]
async fn what_is_used_least_makes_room() {
    let cache = Cache::new(100);
    for uri in ["a", "b", "c"] {
        keep(&cache, &read(uri), 30);
    }
    assert!(has(&cache, &read("a")));
    keep(&cache, &read("d"), 40);
    let kept = ["a", "b", "c", "d"].map(|uri| has(&cache, &read(uri)));
    assert_eq!(kept, [true, false, true, true]);
    keep(&cache, &read("huge"), 101);
    keep(&cache, &read("a"), 20);
    assert_eq!(format!("{cache:?}"), "Cache { entries: 3, bytes: 90, .. }");
    let small = Cache::default();
    for number in 0..=Cache::MAX_ENTRIES {
        keep(&small, &read(&number.to_string()), 1);
    }
    assert!(!has(&small, &read("0")) && has(&small, &read("1")));
    let none = Cache::new(0);
    keep(&none, &tools(), 1);
    assert!(!has(&none, &tools()));
}

#[tokio::test]
async fn changes_make_answers_stale() {
    let prompts: ClientRequest = Call::ListPrompts(Page::first()).into();
    let resources: ClientRequest = Call::ListResources(Page::first()).into();
    let templates: ClientRequest = Call::ListResourceTemplates(Page::first()).into();
    let all = [
        tools(),
        prompts,
        resources,
        templates,
        read("file:///a"),
        read("file:///b"),
    ];
    let resource = |uri: &str| Change::Resource {
        uri: uri.to_owned(),
    };
    let missed = SubscriptionFilter::new()
        .prompts_changed()
        .resource("file:///a");
    for (change, left) in [
        (Change::Tools, [false, true, true, true, true, true]),
        (Change::Prompts, [true, false, true, true, true, true]),
        (Change::Resources, [true, true, false, false, true, true]),
        (resource("file:///a"), [true, true, true, true, false, true]),
        (
            Change::Missed(missed),
            [true, false, true, true, false, true],
        ),
    ] {
        let cache = Cache::default();
        all.iter().for_each(|asked| keep(&cache, asked, 1));
        cache.invalidate("other", &change);
        assert!(all.iter().all(|asked| has(&cache, asked)));
        cache.invalidate("server", &change);
        let kept: Vec<_> = all.iter().map(|asked| has(&cache, asked)).collect();
        assert_eq!(kept, left, "{change:?}");
    }
    let cache = Cache::default();
    keep(&cache, &tools(), 1);
    cache.forget_list("server", Method::ListTools);
    assert!(!has(&cache, &tools()));
}

#[tokio::test]
async fn an_answer_on_its_way_during_a_change_is_not_kept() {
    let cache = Cache::default();
    let before = slot(&cache, &tools());
    cache.invalidate("server", &Change::Tools);
    before.put(&ResultBody::Empty, CacheHint::private(HOUR), 1);
    assert!(!has(&cache, &tools()));
}
