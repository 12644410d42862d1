//! Servers that redirect their own address: `/mcp` to `/mcp/`, as mounts of Starlette and FastAPI do.

use futures_util::StreamExt;
use mcp_auth::{AuthError, Authorizer};
use mcp_core::{Channel, ChannelError, MirroredHeaders, OutgoingRequest};
use mcp_transport_http::client::{HttpChannel, HttpClient};
use mcp_types::{ProtocolVersion, RequestId};

use crate::world::{World, reason};

/// A server whose named address redirects to the path with a slash at its end.
async fn redirected() -> World {
    let world = World::start().await;
    let target = format!("{}/", world.server);
    world.set(|inner| {
        inner.endpoint_path = "/mcp/";
        inner.redirects = Some(("/mcp", target));
    });
    world
}

/// Sends one request over the channel, which follows the redirect. The responses of this server are no messages, so
/// that only a failed authorization is returned.
async fn call(world: &World, authorizer: &Authorizer) -> Result<(), AuthError> {
    let service = authorizer.service(HttpClient::new().unwrap());
    let channel = HttpChannel::with_service(&world.server, service).unwrap();
    let mirrored = MirroredHeaders::new(ProtocolVersion::LATEST, "tools/list", None);
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#;
    let request = OutgoingRequest::new(RequestId::from(1), body, mirrored);
    match channel.call(request).next().await {
        Some(Err(error @ ChannelError::Unauthorized { .. })) => Err(reason(error)),
        _ => Ok(()),
    }
}

// spec: HTTP-C-14
#[tokio::test]
async fn proof_is_made_for_the_address_after_a_redirect() {
    for dpop in [true, false] {
        let world = redirected().await;
        world.set(|inner| inner.dpop = dpop);
        let authorizer = world.interactive().authorizer(&world.server).unwrap();
        for accepted in 1..=2 {
            call(&world, &authorizer).await.unwrap();
            assert_eq!(world.inner.lock().accepted, accepted, "DPoP: {dpop}");
        }
        // Nothing is remembered: the second request went to the named address first.
        let named = world
            .inner
            .lock()
            .paths
            .iter()
            .filter(|path| **path == "/mcp")
            .count();
        assert!(named >= 2, "{named}");
        world.assert_no_mistakes();
    }
}

#[tokio::test]
async fn challenge_after_redirect_counts_for_the_named_address() {
    for (resource, is_accepted) in [
        (None, true),
        (Some("/mcp"), true),
        (Some("/other"), false),
        (Some("/mcp/other"), false),
    ] {
        let world = redirected().await;
        let base = world.server.trim_end_matches("/mcp").to_owned();
        world.set(|inner| {
            inner.metadata_path = "/elsewhere";
            inner.challenge_extra = format!(", resource_metadata=\"{base}/elsewhere\"");
            inner.resource = resource.map(|path| format!("{base}{path}"));
        });
        let authorizer = world.interactive().authorizer(&world.server).unwrap();
        let called = call(&world, &authorizer).await;
        assert_eq!(called.is_ok(), is_accepted, "{resource:?}: {called:?}");
        let accepted = world.inner.lock().accepted;
        assert_eq!(accepted, u32::from(is_accepted), "{resource:?}");
        let is_read = world
            .inner
            .lock()
            .paths
            .iter()
            .any(|path| path == "/elsewhere");
        assert!(is_read, "{resource:?}");
        world.assert_no_mistakes();
    }
}
