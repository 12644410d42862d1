//! Refreshing tokens, in one process and in several.

use futures_util::future::join_all;
use mcp_auth::{AuthError, FileStore, MemoryStore};

use crate::world::{Folder, World, reason};

#[tokio::test]
async fn fifty_calls_with_an_expired_token_make_one_refresh() {
    let world = World::start().await;
    // A token of one second expires soon from the start.
    world.set(|inner| inner.lifetime = Some(1));
    let store = MemoryStore::new();
    let oauth = world.interactive().store(store);
    world.login(&oauth).await;
    world.set(|inner| inner.lifetime = Some(3600));
    world.expire_access();
    let authorizer = oauth.authorizer(&world.server).unwrap();
    let all = join_all((0..50).map(|_| world.post(&authorizer))).await;
    assert!(all.into_iter().all(|status| status.unwrap() == 200));
    assert_eq!(world.refreshes(), 1);
    assert_eq!(world.inner.lock().logins.len(), 1);
    world.assert_no_mistakes();
}

#[tokio::test]
async fn refused_token_is_refreshed_without_a_login() {
    let world = World::start().await;
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    for rounds in 1..4 {
        world.expire_access();
        let all = join_all((0..10).map(|_| world.post(&authorizer))).await;
        assert!(all.into_iter().all(|status| status.unwrap() == 200));
        assert_eq!(world.refreshes(), rounds);
    }
    assert_eq!(world.inner.lock().logins.len(), 1);
    world.assert_no_mistakes();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_that_share_a_folder_use_each_refresh_token_once() {
    let (world, folder) = (World::start().await, Folder::new("shared"));
    // Each authorizer has a store of its own, as in a process of its own.
    let authorizers: Vec<_> = (0..4)
        .map(|_| {
            let oauth = world.interactive().store(FileStore::new(&folder.0));
            oauth.authorizer(&world.server).unwrap()
        })
        .collect();
    authorizers[0].login().await.unwrap();
    for _ in 0..5 {
        world.expire_access();
        let all = authorizers.iter().map(|authorizer| world.post(authorizer));
        let all = join_all(all).await;
        assert!(all.into_iter().all(|status| status.unwrap() == 200));
    }
    assert_eq!(world.refreshes(), 5);
    assert_eq!(world.inner.lock().logins.len(), 1);
    world.assert_no_mistakes();
}

#[tokio::test]
async fn rotated_token_is_stored_before_it_is_used() {
    let world = World::start().await;
    let store = MemoryStore::new();
    let oauth = world.interactive().store(store);
    let first = oauth.authorizer(&world.server).unwrap();
    first.login().await.unwrap();
    world.expire_access();
    // The caller is gone before the refresh is done.
    let call = tokio::spawn({
        let (world, first) = (world.clone(), first.clone());
        async move { world.post(&first).await }
    });
    while world.refreshes() == 0 {
        tokio::task::yield_now().await;
    }
    call.abort();
    while first.wait_for_login().await.is_some() {}
    drop(first);
    // The next process continues with what the refresh has stored.
    world.expire_access();
    let second = oauth.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&second).await.unwrap(), 200);
    assert_eq!(world.inner.lock().logins.len(), 1);
    world.assert_no_mistakes();
}

#[tokio::test]
async fn rejected_refresh_token_leads_to_a_login() {
    let world = World::start().await;
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    world.expire_access();
    world.set(|inner| inner.token_failures = vec![(400, "invalid_grant")]);
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    assert_eq!(world.inner.lock().logins.len(), 2);
    assert_eq!(world.inner.lock().registrations, 1);
    world.assert_no_mistakes();
}

#[tokio::test(start_paused = true)]
async fn temporary_failure_keeps_the_refresh_token() {
    let world = World::start().await;
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    world.expire_access();
    world.set(|inner| inner.token_failures = vec![(503, ""); 3]);
    let error = reason(world.post(&authorizer).await.unwrap_err());
    assert!(matches!(error, AuthError::Unavailable { .. }), "{error}");
    assert!(error.is_transient());
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    assert_eq!(world.inner.lock().logins.len(), 1);
    world.assert_no_mistakes();
}

#[tokio::test]
async fn refresh_token_is_not_sent_to_a_new_token_endpoint() {
    let (world, other) = (World::start().await, World::start().await);
    let oauth = world.interactive().issuer(&world.issuer);
    let authorizer = oauth.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    let endpoint = format!("{}/token", other.issuer);
    world.set(|inner| inner.extra = serde_json::json!({"token_endpoint": endpoint}));
    world.expire_access();
    let _ = world.post(&authorizer).await;
    let inner = other.inner.lock();
    assert!(
        inner
            .token_requests
            .iter()
            .all(|form| !form.contains_key("refresh_token"))
    );
}
