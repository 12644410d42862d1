//! Scopes: selection, further scopes, limits.

use futures_util::future::join_all;
use mcp_auth::AuthError;

use crate::world::{World, reason};

#[tokio::test]
async fn demanded_scope_is_added_to_those_so_far_with_one_login() {
    let world = World::start().await;
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    world.set(|inner| inner.demanded = Some("write"));
    let all = join_all((0..20).map(|_| world.post(&authorizer))).await;
    assert!(all.into_iter().all(|status| status.unwrap() == 200));
    let expected = ["basic offline_access", "basic offline_access write"];
    assert_eq!(world.inner.lock().logins, expected);
    world.assert_no_mistakes();
}

#[tokio::test]
async fn scope_that_was_requested_already_is_not_requested_again() {
    let world = World::start().await;
    world.set(|inner| {
        inner.demanded = Some("write");
        inner.grants_nothing_new = true;
    });
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    let error = reason(world.post(&authorizer).await.unwrap_err());
    assert!(
        matches!(error, AuthError::InsufficientScope { .. }),
        "{error}"
    );
    assert_eq!(world.inner.lock().logins.len(), 2);
    for _ in 0..5 {
        world.post(&authorizer).await.unwrap_err();
    }
    assert_eq!(world.inner.lock().logins.len(), 2);
}

#[tokio::test]
async fn scope_is_omitted_when_nobody_names_one() {
    let world = World::start().await;
    world.set(|inner| inner.challenge_scope = None);
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    assert_eq!(world.inner.lock().logins, [""]);
    let own = world.interactive().scopes(["own"]).offline_access(false);
    let authorizer = own.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    assert_eq!(world.inner.lock().logins, ["", "own"]);
}

#[tokio::test]
async fn offline_access_is_requested_where_it_is_offered_only() {
    let world = World::start().await;
    world.set(|inner| inner.scopes = vec!["basic"]);
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    assert_eq!(world.inner.lock().logins, ["basic"]);
}
