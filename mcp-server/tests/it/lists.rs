//! Lists: pages and visibility.

use std::sync::Arc;
use std::time::Duration;

use futures::executor::block_on;
use mcp_core::{Call, Exchange, Fault, HeaderMismatch, Principal, Reply, ResultBody, Service};
use mcp_server::{
    Caller, Prompt, PromptExt, Resource, ResourceExt, ResourceTemplate, Server, Tool, ToolExt,
    ToolRoute,
};
use mcp_types::{
    CacheHint, CacheScope, CallToolParams, Cursor, ListToolsResult, Page, ReadResourceParams,
};

use crate::kit::{all_tools, exchange, server};

fn numbered(count: usize) -> Server {
    let tools = (0..count).map(|n| Tool::new(format!("t{n}")).handler(|| ()));
    Server::new("s", "1").merge(tools.collect())
}

fn page(server: &Server, cursor: Option<Cursor>) -> Arc<mcp_core::Listing<ListToolsResult>> {
    let page = cursor.map_or_else(Page::default, Page::from);
    match block_on(server.call(exchange(Call::ListTools(page)))) {
        Reply::Complete {
            body: ResultBody::ListTools(list),
            ..
        } => list,
        other => panic!("{other:?}"),
    }
}

fn names(page: &ListToolsResult) -> Vec<&str> {
    page.tools.iter().map(|tool| tool.name.as_str()).collect()
}

#[test]
fn pages_have_configured_size() {
    for (count, size, pages) in [(0, 3, 1), (3, 3, 1), (7, 3, 3), (7, 0, 7), (7, 100, 1)] {
        let server = server(numbered(count).page_size(size));
        let _ = server.tools();
        let (mut cursor, mut seen, mut all) = (None, 0, Vec::new());
        loop {
            let page = page(&server, cursor);
            assert!(Arc::ptr_eq(&page, &self::page(&server, None)) == (seen == 0));
            all.extend(names(&page).into_iter().map(str::to_owned));
            seen += 1;
            let Some(next) = page.next_cursor.clone() else {
                break;
            };
            cursor = Some(next);
        }
        assert_eq!(seen, pages, "{count} tools by {size}");
        assert_eq!(all, (0..count).map(|n| format!("t{n}")).collect::<Vec<_>>());
    }
}

// spec: TOOL-03
#[test]
fn cursor_stays_valid_after_changes() {
    let server = server(numbered(6).page_size(2));
    let tools = server.tools();
    let first = page(&server, None);
    let cursor = first.next_cursor.clone();
    assert!(Arc::ptr_eq(
        &page(&server, cursor.clone()),
        &page(&server, cursor.clone())
    ));
    for gone in ["t0", "t1", "t2"] {
        tools.remove(gone);
    }
    tools.add(Tool::new("new").handler(|| ())).unwrap();
    let second = page(&server, cursor);
    assert_eq!(names(&second), ["t3", "t4"]);
    let third = page(&server, second.next_cursor.clone());
    assert_eq!(names(&third), ["t5", "new"]);
    assert_eq!(third.next_cursor, None);
    tools.remove("new");
    let behind = page(&server, second.next_cursor.clone());
    assert_eq!(names(&behind), ["t5"]);
}

#[test]
fn cursor_from_another_list_is_rejected() {
    let server = server(
        numbered(3)
            .page_size(2)
            .prompt(Prompt::new("p").handler(|| "hi")),
    );
    let cursor = page(&server, None).next_cursor.clone().unwrap();
    for call in [
        Call::ListPrompts(Page::from(cursor)),
        Call::ListTools(Page::from(Cursor::new(""))),
        Call::ListTools(Page::from(Cursor::new("t1-0"))),
    ] {
        let Reply::Fault(Fault::BadParams { message, .. }) = block_on(server.call(exchange(call)))
        else {
            panic!()
        };
        assert!(message.contains("start again without one"), "{message}");
    }
}

fn by(scopes: &[&str], call: Call) -> Exchange {
    let mut exchange = exchange(call);
    let who = Principal::new("https://issuer", "someone").scopes(scopes.iter().copied());
    exchange.extensions.insert(who);
    exchange
}

fn is_admin(caller: &Caller<'_>) -> bool {
    caller
        .principal()
        .is_some_and(|who| who.scopes.iter().any(|scope| scope == "admin"))
}

fn listed(server: &Server, scopes: &[&str]) -> (Vec<String>, CacheScope) {
    match block_on(server.call(by(scopes, Call::ListTools(Page::default())))) {
        Reply::Complete {
            body: ResultBody::ListTools(list),
            cache,
        } => {
            let names = list.tools.iter().map(|tool| tool.name.clone()).collect();
            (names, cache.unwrap().scope)
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn hidden_route_is_not_listed_and_unknown() {
    let public = CacheHint::public(Duration::from_secs(60));
    let desk = |shred: ToolRoute| {
        let desk = Server::new("s", "1").tools_cache(public);
        server(desk.tool(Tool::new("read").handler(|| "read")).tool(shred))
    };
    let shred = || Tool::new("shred").handler(|| "shredded");
    let filtered = desk(shred().visible_to(is_admin));
    let (all, scope) = listed(&filtered, &["admin"]);
    assert_eq!((all.len(), scope), (2, CacheScope::Private));
    assert_eq!(listed(&filtered, &["user"]).0, ["read"]);
    let call = || Call::CallTool(CallToolParams::new("shred", None));
    let done = block_on(filtered.call(by(&["admin"], call())));
    assert!(matches!(done, Reply::Complete { .. }));
    let refused = block_on(filtered.call(by(&[], call())));
    assert!(
        matches!(&refused, Reply::Fault(Fault::NoSuchItem { id, .. }) if **id == *"shred"),
        "{refused:?}"
    );
    let (_, scope) = listed(&desk(shred()), &[]);
    assert_eq!(scope, CacheScope::Public);
}

#[test]
fn hidden_resource_is_not_read_through_template() {
    let server = server(
        Server::new("s", "1")
            .resource(
                Resource::new("a://secret")
                    .read(|| "secret")
                    .visible_to(is_admin),
            )
            .template(
                ResourceTemplate::new("a://{+path}")
                    .read(|| "by template")
                    .visible_to(|caller| caller.principal().is_some()),
            ),
    );
    let read = |uri: &str| Call::ReadResource(ReadResourceParams::from(uri));
    for (uri, scopes, found) in [
        ("a://secret", &["admin"][..], true),
        ("a://secret", &[], false),
        ("a://other", &[], true),
    ] {
        let reply = block_on(server.call(by(scopes, read(uri))));
        assert_eq!(
            matches!(reply, Reply::Complete { .. }),
            found,
            "{uri}: {reply:?}"
        );
    }
    let anonymous = block_on(server.call(exchange(read("a://other"))));
    assert!(matches!(anonymous, Reply::Fault(_)), "{anonymous:?}");
}

#[test]
fn prompts_and_discovery_have_their_own_cache_times() {
    let (minute, hour) = (Duration::from_secs(60), Duration::from_secs(3600));
    let server = Server::new("s", "1")
        .prompts_cache(CacheHint::public(minute))
        .discover_cache(CacheHint::public(hour));
    let server = self::server(server.prompt(Prompt::new("review").handler(|| "Review it")));
    assert_eq!(server.profile().cache, CacheHint::public(hour));
    match block_on(server.call(exchange(Call::ListPrompts(Page::default())))) {
        Reply::Complete { cache, .. } => assert_eq!(cache, Some(CacheHint::public(minute))),
        other => panic!("{other:?}"),
    }
}

// spec: CACHE-11, CACHE-12
#[test]
fn filtered_list_has_full_pages() {
    let tools = (0..10).map(|n| {
        let tool = Tool::new(format!("t{n}")).handler(|| ());
        tool.visible_to(move |_| n % 2 == 1)
    });
    let public = CacheHint::public(Duration::from_secs(300));
    let server = Server::new("s", "1").tools_cache(public);
    let server = server.merge(tools.collect()).page_size(2);
    let server = self::server(server);
    let scope = |cursor: Option<Cursor>| {
        let page = cursor.map_or_else(Page::default, Page::from);
        match block_on(server.call(exchange(Call::ListTools(page)))) {
            Reply::Complete { cache, .. } => cache.unwrap().scope,
            other => panic!("{other:?}"),
        }
    };
    let sizes: Vec<usize> = {
        let (mut cursor, mut sizes) = (None, Vec::new());
        loop {
            assert_eq!(scope(cursor.clone()), CacheScope::Private);
            let page = page(&server, cursor);
            sizes.push(page.tools.len());
            match page.next_cursor.clone() {
                Some(next) => cursor = Some(next),
                None => break sizes,
            }
        }
    };
    assert_eq!(sizes, [2, 2, 1]);
    assert_eq!(all_tools(&server).len(), 5);
}

#[test]
fn panicking_filter_hides_route() {
    let hidden = Tool::new("hidden").handler(|| ());
    let hidden = hidden.visible_to(|_| panic!("no"));
    let server = server(numbered(1).tool(hidden));
    assert_eq!(names(&page(&server, None)), ["t0"]);
}

#[test]
fn header_mismatch_is_reported_to_callers_that_see_the_tool() {
    // spec: XHDR-17
    let schema = serde_json::json!({
        "type": "object",
        "properties": {"share": {"type": "string", "x-mcp-header": "Share"}},
    });
    let schema: mcp_types::JsonObject = serde_json::from_value(schema).unwrap();
    let server = server(
        Server::new("s", "1").tool(
            Tool::new("shred")
                .input_schema(schema)
                .handler(|| -> &'static str { panic!("the handler must not run") })
                .visible_to(is_admin),
        ),
    );
    let mismatch = Fault::HeaderMismatch("the header says \"a\"".into());
    let call = |scopes: &[&str]| {
        let mut exchange = by(scopes, Call::CallTool(CallToolParams::new("shred", None)));
        let admitted = server.admit(&exchange.call, &exchange.facts, &exchange.extensions);
        assert!(admitted.unwrap().is_some());
        exchange.extensions.insert(HeaderMismatch(mismatch.clone()));
        block_on(server.call(exchange))
    };
    let seen = call(&["admin"]);
    assert!(
        matches!(&seen, Reply::Fault(fault) if *fault == mismatch),
        "{seen:?}"
    );
    let hidden = call(&["user"]);
    assert!(
        matches!(&hidden, Reply::Fault(Fault::NoSuchItem { .. })),
        "{hidden:?}"
    );
}
