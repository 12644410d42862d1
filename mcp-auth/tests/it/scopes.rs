//! Scopes: selection, further scopes, limits.

use futures_util::future::join_all;
use mcp_auth::{AuthError, OAuth};

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

// spec: AUTH-C-30
#[tokio::test]
async fn offline_access_is_requested_where_it_is_offered_only() {
    let world = World::start().await;
    world.set(|inner| inner.scopes = vec!["basic"]);
    let authorizer = world.interactive().authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    assert_eq!(world.inner.lock().logins, ["basic"]);
}

fn machine() -> OAuth {
    OAuth::client_credentials("service", "canary-secret")
}

#[tokio::test]
async fn grant_without_a_user_requests_its_own_scopes_only() {
    let world = World::start().await;
    world.set(|inner| inner.demanded = Some("c"));
    let workload = OAuth::workload(|| async { Ok::<_, std::io::Error>("canary-assertion") });
    let workload = workload.issuer(&world.issuer);
    for oauth in [machine(), workload] {
        let authorizer = oauth.scopes(["a", "b"]).authorizer(&world.server).unwrap();
        for _ in 0..2 {
            let error = reason(world.post(&authorizer).await.unwrap_err());
            let AuthError::ScopeNotAllowed { scopes, allowed } = &error else {
                panic!("{error}");
            };
            assert_eq!((scopes.as_str(), allowed.as_str()), ("c", "a b"));
            assert!(error.to_string().contains("\"c\""), "{error}");
        }
    }
    let requested = |world: &World| {
        let inner = world.inner.lock();
        let requests = inner.token_requests.iter();
        requests
            .map(|form| form["scope"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(requested(&world), ["a b", "a b"]);
    // The bound may be larger than what is requested first.
    let oauth = machine().max_scopes(["a", "b", "c"]).scopes(["a"]);
    let authorizer = oauth.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    assert_eq!(requested(&world)[2..], ["a", "a c"]);
    let error = machine().scopes(["a", "d"]).max_scopes(["a"]);
    let error = error.authorizer(&world.server).unwrap_err();
    assert!(error.to_string().contains("\"d\""), "{error}");
}

#[tokio::test]
async fn user_is_asked_for_max_scopes_at_most() {
    let world = World::start().await;
    world.set(|inner| inner.challenge_scope = Some("basic admin"));
    let oauth = world.interactive().max_scopes(["basic", "write"]);
    let authorizer = oauth.authorizer(&world.server).unwrap();
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    world.set(|inner| inner.demanded = Some("write"));
    assert_eq!(world.post(&authorizer).await.unwrap(), 200);
    let expected = ["basic offline_access", "basic offline_access write"];
    assert_eq!(world.inner.lock().logins, expected);
    world.set(|inner| inner.demanded = Some("admin"));
    let error = reason(world.post(&authorizer).await.unwrap_err());
    assert!(
        matches!(&error, AuthError::ScopeNotAllowed { scopes, .. } if scopes == "admin"),
        "{error}"
    );
    assert_eq!(world.inner.lock().logins, expected);
    // Without a scope in the request, the authorization server would choose.
    let oauth = world
        .interactive()
        .max_scopes(["read"])
        .offline_access(false);
    world.login(&oauth).await;
    assert_eq!(world.inner.lock().logins[2..], ["read"]);
}
