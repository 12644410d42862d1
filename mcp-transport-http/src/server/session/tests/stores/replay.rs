//! Events that a store gets late, or never.

use super::*;

#[tokio::test(start_paused = true)]
async fn response_whose_events_fail_to_load_twice_is_complete() {
    let (endpoint, _) = endpoint();
    let store = Faulty::new();
    let endpoint = endpoint.events(store.clone());
    let peer = Peer::open(&endpoint).await;
    *store.failing_loads.lock().unwrap() = 2;
    let messages = peer.tool(1, "steps").await.messages().await;
    assert_eq!(messages.last().unwrap()["id"], 1, "{messages:?}");
    assert_eq!(*store.failing_loads.lock().unwrap(), 0);
}

#[tokio::test(start_paused = true)]
async fn event_that_is_not_stored_is_sent_in_its_place() {
    let texts = async |failing: Option<usize>| {
        let (endpoint, _) = endpoint();
        let store = Faulty::new();
        let endpoint = endpoint.events(store.clone());
        let peer = Peer::open(&endpoint).await;
        *store.appends_until_failure.lock().unwrap() = failing;
        let messages = peer.tool(1, "steps").await.messages().await;
        messages.iter().map(Value::to_string).collect::<Vec<_>>()
    };
    let expected = texts(None).await;
    assert!(expected.len() > 3, "{expected:?}");
    for failing in 1..=expected.len() + 1 {
        assert_eq!(texts(Some(failing)).await, expected, "{failing}");
    }
}

#[tokio::test(start_paused = true)]
async fn result_that_was_not_stored_is_stored_when_the_store_is_back() {
    let (endpoint, tools, store) = serving();
    let peer = Peer::open(&endpoint).await;
    let mut got = peer.tool(1, "wait").await;
    let primed = got.event().await.id.unwrap();
    drop(got);
    for mode in [Mode::Fails, Mode::Hangs] {
        store.set(mode);
        tokio::time::sleep(SECOND).await;
    }
    tools.go.notify_one();
    tokio::time::sleep(12 * SECOND).await;
    store.set(Mode::Works);
    tokio::time::sleep(10 * SECOND).await;
    // The server that ran the call has forgotten it: any server finds the result.
    let messages = peer.resume(&primed).await.messages().await;
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!(messages[0]["id"], 1);
}

#[tokio::test(start_paused = true)]
async fn event_that_is_stored_too_late_is_sent_once() {
    let texts = async |late: Option<usize>| {
        let (endpoint, _) = endpoint();
        let store = Faulty::new();
        let endpoint = endpoint.events(store.clone()).store_timeout(SECOND);
        let peer = Peer::open(&endpoint).await;
        *store.appends_until_late.lock().unwrap() = late;
        let messages = peer.tool(1, "steps").await.messages().await;
        messages.iter().map(Value::to_string).collect::<Vec<_>>()
    };
    let expected = texts(None).await;
    for late in 1..=expected.len() + 1 {
        assert_eq!(texts(Some(late)).await, expected, "{late}");
    }
}

#[tokio::test(start_paused = true)]
async fn event_that_a_reader_got_is_not_sent_again_when_it_is_stored_too_late() {
    let (endpoint, _) = endpoint();
    let store = Faulty::new();
    let endpoint = endpoint.events(store.clone()).store_timeout(SECOND);
    let peer = Peer::open(&endpoint).await;
    // The event without a message is the first one.
    *store.appends_until_late.lock().unwrap() = Some(2);
    let mut call = peer.tool(1, "ask").await;
    assert!(call.event().await.data.is_none());
    let question = call.event().await;
    assert_eq!(question.id, None);
    let question = question.data.unwrap();
    assert_eq!(peer.send(asking::accept(&question["id"])).await.status, 202);
    let messages = call.messages().await;
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!(messages[0]["id"], 1);
}

#[tokio::test(start_paused = true)]
async fn event_that_a_reader_has_found_is_not_sent_again_when_its_writer_gets_no_answer() {
    let (endpoint, _) = endpoint();
    let store = Faulty::new();
    let endpoint = endpoint.events(store.clone()).store_timeout(SECOND);
    let peer = Peer::open(&endpoint).await;
    *store.appends_until_silent.lock().unwrap() = Some(2);
    let mut call = peer.tool(1, "ask").await;
    // The reader finds both events in the store.
    settle().await;
    assert!(call.event().await.data.is_none());
    let question = call.event().await;
    assert!(question.id.is_some());
    let question = question.data.unwrap();
    tokio::time::sleep(2 * SECOND).await;
    assert_eq!(peer.send(asking::accept(&question["id"])).await.status, 202);
    let messages = call.messages().await;
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!(messages[0]["id"], 1);
}
