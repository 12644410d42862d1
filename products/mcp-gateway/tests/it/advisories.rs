//! Known security advisories of MCP SDKs and tools, as far as this crate decides them.

use mcp::gateway::openapi::OpenApiError;
use serde_json::json;

use crate::callers::{Pipes, client, protected, text};
use crate::openapi::{Log, connect, document_of, http};

/// CVE-2026-32871: path parameters entered URLs unescaped, and led out of the API's path with the server's credentials.
#[tokio::test]
async fn cve_2026_32871_requests_stay_below_the_base_url() {
    let parameters = json!([
        {"name": "id", "in": "path", "required": true, "schema": {"type": "string"}},
        {"name": "q", "in": "query", "schema": {"type": "string"}},
    ]);
    let get = json!({"operationId": "get", "parameters": parameters, "responses": {}});
    let api = document_of(json!({"/users/{id}": {"get": get}}));
    let api = api.header("Authorization", "Bearer t0ken").unwrap();
    let (client, log) = connect(api.query("api_key", "k")).await;
    for id in [
        "../admin",
        "../../../internal",
        "a/../../admin",
        "..",
        "..\\admin",
        "..;/admin",
        "a\0",
    ] {
        let refused = client.call("get", json!({"id": id})).await.unwrap();
        assert!(refused.is_error(), "{id}: {refused:?}");
    }
    let refused = client
        .call("get", json!({"id": "1", "q": {"api_key": "mine"}}))
        .await
        .unwrap();
    assert!(refused.is_error(), "{refused:?}");
    assert!(log.lock().is_empty(), "{log:?}");
    for id in [
        "%2e%2e%2fadmin",
        "?admin=1",
        "#",
        "@evil.example.com",
        "//evil",
    ] {
        client.call("get", json!({"id": id})).await.unwrap();
    }
    let base = "https://api.example.com/v1/users/";
    for seen in &*log.lock() {
        let rest = seen.url.strip_prefix(base).unwrap_or_default();
        let (id, query) = rest.split_once('?').unwrap_or_default();
        assert!(!id.is_empty() && !id.contains(['/', '@', '#']), "{seen:?}");
        assert_eq!(query, "api_key=k");
    }
    // A document with such paths.
    for path in [
        "@evil.example.com/a",
        ".evil.example.com/a",
        "/../admin",
        "/%2e%2e/admin",
    ] {
        let api = document_of(json!({path: {"get": {"responses": {}}}}));
        let refused = api.server(http(&Log::default())).unwrap_err();
        assert_eq!(refused, OpenApiError::NoOperation, "{path}");
    }
}

/// ContextForge issue 2055: a gateway kept the sessions of its servers in one pool for all users, so that what one
/// user had left in a session reached the next one.
#[tokio::test]
async fn contextforge_2055_session_is_not_reused_for_another_caller() {
    let url = protected(Pipes::default().server()).await;
    let (ada, bob) = (client(&url, "ada").await, client(&url, "bob").await);
    let remember = ada.call("pipes__remember", json!({"text": "of ada"}));
    remember.await.unwrap();
    assert_eq!(text(&bob, "recall").await, "nothing");
    assert_eq!(text(&ada, "recall").await, "of ada");
}
