//! Resources and templates without macros: results, errors, lists, mistakes.

use std::time::Duration;

use expect_test::expect;
use mcp_core::{Call, Fault, ItemKind, Reply, ResultBody, Service as _};
use mcp_server::{
    Args, Json, Log, NotFound, RawArgs, ResourceError, ResourceExt as _, Server, State,
};
use mcp_types::{
    Blob, CacheHint, Cursor, Page, ReadResourceParams, ReadResourceResult, Resource,
    ResourceContents, ResourceTemplate,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::kit::{fault, read, read_reply, read_text, reply, resources, server, templates};

fn empty() -> Server {
    Server::new("test", "1.0.0")
}

fn resource(uri: &str) -> Resource {
    Resource::new(uri)
}

#[test]
fn every_result_type_becomes_contents() {
    let server = server(
        empty()
            .state(3_u8)
            .resource(resource("t:str").mime_type("text/plain").read(|| "text"))
            .resource(resource("t:string").read(async || "text".to_owned()))
            .resource(resource("t:state").read(|State(n): State<u8>| n.to_string()))
            .resource(
                resource("t:vec")
                    .mime_type("image/png")
                    .read(|| vec![1_u8, 2]),
            )
            .resource(resource("t:bytes").read(|| bytes::Bytes::from_static(b"hi")))
            .resource(resource("t:array").read(|| b"hi"))
            .resource(resource("t:blob").read(|| Blob::from(&b"hi"[..])))
            .resource(resource("t:json").read(|| Json(json!({"a": 1}))))
            .resource(
                resource("t:ld")
                    .mime_type("application/ld+json")
                    .read(|| Json(1)),
            )
            .resource(resource("t:own").mime_type("text/plain").read(|| {
                let one = ResourceContents::text("t:own/1", "1").mime_type("text/html");
                vec![one, ResourceContents::blob("", b"2")]
            }))
            .resource(resource("t:one").read(|| ResourceContents::text("", "1")))
            .resource(resource("t:full").read(|| ReadResourceResult::from(vec![]).meta("k", 1)))
            .resource(resource("t:some").read(|| Some(Json(1)))),
    );
    for (uri, contents) in [
        (
            "t:str",
            json!([{"uri": "t:str", "mimeType": "text/plain", "text": "text"}]),
        ),
        ("t:string", json!([{"uri": "t:string", "text": "text"}])),
        ("t:state", json!([{"uri": "t:state", "text": "3"}])),
        (
            "t:vec",
            json!([{"uri": "t:vec", "mimeType": "image/png", "blob": "AQI="}]),
        ),
        ("t:bytes", json!([{"uri": "t:bytes", "blob": "aGk="}])),
        ("t:array", json!([{"uri": "t:array", "blob": "aGk="}])),
        ("t:blob", json!([{"uri": "t:blob", "blob": "aGk="}])),
        (
            "t:json",
            json!([{"uri": "t:json", "mimeType": "application/json", "text": "{\"a\":1}"}]),
        ),
        (
            "t:ld",
            json!([{"uri": "t:ld", "mimeType": "application/ld+json", "text": "1"}]),
        ),
        (
            "t:own",
            json!([
                {"uri": "t:own/1", "mimeType": "text/html", "text": "1"},
                {"uri": "t:own", "mimeType": "text/plain", "blob": "Mg=="},
            ]),
        ),
        ("t:one", json!([{"uri": "t:one", "text": "1"}])),
        ("t:full", json!([])),
        (
            "t:some",
            json!([{"uri": "t:some", "mimeType": "application/json", "text": "1"}]),
        ),
    ] {
        assert_eq!(read(&server, uri), contents, "{uri}");
    }
    let json = resources(&server)
        .into_iter()
        .find(|one| one.uri == "t:json");
    assert_eq!(json.unwrap().mime_type.as_deref(), Some("application/json"));
}

#[derive(Debug, thiserror::Error)]
#[error("the disk is full")]
struct Disk(#[source] std::num::ParseIntError);

// spec: RSRC-05, RSRC-06
#[test]
fn error_in_a_resource_becomes_a_fault() {
    let server = server(
        empty()
            .resource(resource("t:none").read(|| None::<String>))
            .resource(resource("t:missing").read(|| Err::<String, _>(NotFound)))
            .resource(
                resource("t:question").read(|| -> Result<String, ResourceError> { Err(NotFound)? }),
            )
            .resource(
                resource("t:disk").read(|| -> Result<String, ResourceError> {
                    "x".parse::<u8>().map_err(Disk)?;
                    Ok(String::new())
                }),
            )
            .resource(
                resource("t:params")
                    .read(|| Err::<String, _>(ResourceError::invalid_params("not so"))),
            )
            .resource(resource("t:code").read(|| Err::<String, _>(ResourceError::protocol(7, "x"))))
            .resource(resource("t:panic").read(|| -> String { panic!("secret") })),
    );
    for uri in ["t:none", "t:missing", "t:question", "t:unknown", ""] {
        assert_eq!(
            fault(read_reply(&server, uri)),
            Fault::NoSuchItem {
                kind: ItemKind::Resource,
                id: uri.into()
            }
        );
    }
    for (uri, expected) in [
        ("t:disk", "the disk is full"),
        ("t:panic", "the handler of t:panic failed"),
    ] {
        assert_eq!(
            fault(read_reply(&server, uri)),
            Fault::internal(expected),
            "no source, no panic text"
        );
    }
    assert_eq!(
        fault(read_reply(&server, "t:params")),
        Fault::bad_params("not so")
    );
    assert!(
        matches!(fault(read_reply(&server, "t:code")), Fault::Protocol(error) if error.code == 7)
    );
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Part {
    Name,
    Mail,
}

#[derive(Deserialize, JsonSchema)]
struct User {
    id: u64,
    part: Option<Part>,
}

fn users() -> Server {
    server(
        empty()
            .resource(resource("users://7/profile").read(|| "exact"))
            .template(
                ResourceTemplate::new("users://{id}/profile{/part}")
                    .read(|Args(user): Args<User>| format!("{} {:?}", user.id, user.part)),
            )
            .template(
                ResourceTemplate::new("users://{+rest}")
                    .read(|raw: RawArgs| raw.as_str().to_owned()),
            ),
    )
}

#[test]
fn exact_uri_takes_precedence_over_templates_in_order() {
    let server = users();
    assert_eq!(read_text(&server, "users://7/profile"), "exact");
    assert_eq!(read_text(&server, "users://8/profile"), "8 None");
    assert_eq!(read_text(&server, "users://8/profile/mail"), "8 Some(Mail)");
    assert_eq!(
        read_text(&server, "users://8/photo"),
        r#"{"rest":"8/photo"}"#
    );
    assert_eq!(
        read(&server, "users://8/profile"),
        json!([{"uri": "users://8/profile", "text": "8 None"}])
    );
}

#[test]
fn mismatched_variable_is_named() {
    for (uri, expected) in [
        (
            "users://ada/profile",
            "invalid arguments: `id`: expected a whole number, got \"ada\"",
        ),
        (
            "users://8/profile/age",
            "invalid arguments: `part`: expected \"name\" or \"mail\", got \"age\"",
        ),
    ] {
        assert_eq!(
            fault(read_reply(&users(), uri)),
            Fault::bad_params(expected)
        );
    }
    let traversal = "users://8/%2e%2e/profile";
    assert!(matches!(
        fault(read_reply(&users(), traversal)),
        Fault::NoSuchItem { .. }
    ));
}

#[test]
fn resources_and_templates_are_listed() {
    let users_server = users();
    let listed: Vec<_> = resources(&users_server)
        .into_iter()
        .map(|one| one.uri)
        .collect();
    assert_eq!(listed, ["users://7/profile"]);
    let listed: Vec<_> = templates(&users_server)
        .into_iter()
        .map(|one| one.uri_template)
        .collect();
    assert_eq!(listed, ["users://{id}/profile{/part}", "users://{+rest}"]);
    let page = || Page::from(Cursor::new("x"));
    for call in [
        Call::ListResources(page()),
        Call::ListResourceTemplates(page()),
    ] {
        assert!(matches!(
            fault(reply(&users_server, call)),
            Fault::BadParams { .. }
        ));
    }
    let profile = users_server.profile();
    assert!(profile.capabilities.resources.is_some());
    assert!(
        profile.capabilities.completions.is_some(),
        "an enum completes by itself"
    );
    assert!(profile.capabilities.tools.is_none() && profile.capabilities.prompts.is_none());

    let only = server(empty().resource(resource("t:a").read(|_: Log| "a")));
    assert!(templates(&only).is_empty());
    assert!(only.profile().capabilities.completions.is_none());
    assert!(only.profile().capabilities.logging.is_some());

    let none = server(empty());
    for call in [
        Call::ListResources(Page::default()),
        Call::ListResourceTemplates(Page::default()),
        Call::ReadResource(ReadResourceParams::from("t:a")),
    ] {
        assert!(matches!(
            fault(reply(&none, call)),
            Fault::NoSuchMethod { .. }
        ));
    }
}

// spec: CACHE-01
#[test]
fn cache_hints_for_resources_and_lists_are_sent() {
    // spec: RSRC-02
    let (long, short) = (
        CacheHint::public(Duration::from_secs(300)),
        CacheHint::private(Duration::from_secs(3)),
    );
    let server = server(
        empty()
            .resources_cache(long)
            .resource(resource("t:a").read(|| "a").cache(short))
            .resource(resource("t:b").read(|| "b"))
            .template(
                ResourceTemplate::new("t:c/{x}")
                    .read(|_: RawArgs| "c")
                    .cache(long),
            ),
    );
    let cache = |call| match reply(&server, call) {
        Reply::Complete { cache, .. } => cache,
        other => panic!("{other:?}"),
    };
    let read = |uri| cache(Call::ReadResource(ReadResourceParams::from(uri)));
    assert_eq!(read("t:a"), Some(short));
    assert_eq!(read("t:b"), None);
    assert_eq!(read("t:c/1"), Some(long));
    assert_eq!(cache(Call::ListResources(Page::default())), Some(long));
    assert_eq!(
        cache(Call::ListResourceTemplates(Page::default())),
        Some(long)
    );
}

#[test]
fn check_reports_mistakes_in_resources() {
    let user = |template: &str| {
        ResourceTemplate::new(template).read(|Args(user): Args<User>| user.id.to_string())
    };
    let server = empty()
        .resource(resource("t:a").read(|State(text): State<String>| text))
        .resource(resource("t:a").read(|| ""))
        .resource(resource("").read(|| ""))
        .resource(resource("no scheme").read(|| ""))
        .resource(resource("t:a b").read(|| ""))
        .template(user("users://{user}/profile"))
        .template(user("users://{id}{part}"))
        .template(user("users://{id}"))
        .template(user("users://{id}"));
    expect![[r"
        the resource `t:a` takes `State<alloc::string::String>`, which is missing; add `.state(…)`
        two resources are at `t:a`; move one
        a resource has no name
        the resource ``: it needs a scheme, such as `notes:` or `https:`
        the resource `no scheme`: it needs a scheme, such as `notes:` or `https:`
        the resource `t:a b`: it is not a URI of RFC 3986: percent-encode what a URI cannot have
        the resource template `users://{user}/profile`: the argument `id` is not a variable of the template
        the resource template `users://{id}{part}`: the start of `part` is ambiguous: put a literal before it
        two resource templates are at `users://{id}`; move one"]]
    .assert_eq(&server.check().unwrap_err().problems().join("\n"));
}

#[test]
fn list_is_built_once_until_it_changes() {
    let server = users();
    let list = || match reply(&server, Call::ListResources(Page::default())) {
        Reply::Complete {
            body: ResultBody::ListResources(list),
            ..
        } => list,
        other => panic!("{other:?}"),
    };
    assert!(std::sync::Arc::ptr_eq(&list(), &list()));
}
