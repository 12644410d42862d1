//! Layers around a server and around its routes.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mcp_core::{Call, Fault, Principal, Reply, ResultBody, Service};
use mcp_server::middleware::{Exchange, FromFn, Middleware, Next, RateLimit, from_fn};
use mcp_server::{
    Args, CompletionRoute, Extension, Prefix, PromptExt, ResourceExt, Routes, Server, State,
    ToolExt, user,
};
use mcp_types::{CompletionReference, Page, Prompt, RawObject, Resource, ResourceTemplate, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::time::sleep;
use tower::limit::ConcurrencyLimitLayer;
use tower::timeout::TimeoutLayer;

use crate::kit;

/// Calls by layer, in order.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl Seen {
    fn layer(&self, name: &'static str) -> impl Middleware + Clone + use<> {
        let seen = self.clone();
        from_fn(move |exchange: Exchange, next: Next| {
            let call = &exchange.call;
            let what = call.item().unwrap_or(call.method_name());
            seen.0.lock().unwrap().push(format!("{name}: {what}"));
            next.run(exchange)
        })
    }

    #[track_caller]
    fn was(&self, expected: &[&str]) {
        let seen = std::mem::take(&mut *self.0.lock().unwrap());
        assert_eq!(seen, expected);
    }
}

#[derive(Deserialize, JsonSchema)]
struct Number {
    number: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Book {
    title: String,
}

fn doubled(Args(it): Args<Number>, State(factor): State<u32>) -> u32 {
    it.number * factor
}

/// Returns a server with every kind of route, each with layers.
fn library(seen: &Seen) -> Server {
    let (inner, outer) = (seen.layer("inner"), seen.layer("outer"));
    let server = Server::new("library", "1.0.0")
        .layer(seen.layer("server"))
        .state(2_u32)
        .tool(Tool::new("plain").handler(|| "plain"))
        .tool(
            Tool::new("double")
                .handler(doubled)
                .layer(inner.clone())
                .layer(outer),
        )
        .resource(
            Resource::new("library://door")
                .read(|| "open")
                .layer(inner.clone()),
        )
        .template(
            ResourceTemplate::new("library://{title}")
                .read(|Args(book): Args<Book>, State(_): State<u32>| book.title)
                .layer(inner.clone()),
        )
        .prompt(
            Prompt::new("review")
                .handler(|Args(book): Args<Book>| [user(book.title)])
                .layer(inner.clone()),
        );
    let titles = CompletionRoute::prompt("review", "title", |prefix: Prefix| {
        vec![format!("{}…", &*prefix)]
    });
    let server = server.completion(titles.layer(inner));
    server.check().unwrap();
    server
}

#[test]
fn server_and_route_layers_run_outermost_first() {
    let seen = Seen::default();
    let server = library(&seen);
    assert_eq!(kit::call_text(&server, "plain", "{}"), "plain");
    seen.was(&["server: plain"]);
    assert_eq!(kit::call_text(&server, "double", r#"{"number": 4}"#), "8");
    seen.was(&["server: double", "outer: double", "inner: double"]);
    assert_eq!(kit::read_text(&server, "library://door"), "open");
    seen.was(&["server: library://door", "inner: library://door"]);
    assert_eq!(kit::read_text(&server, "library://emma"), "emma");
    seen.was(&["server: library://emma", "inner: library://emma"]);
    assert_eq!(
        kit::get_text(&server, "review", r#"{"title": "Emma"}"#),
        "user: Emma"
    );
    seen.was(&["server: review", "inner: review"]);
    let reference = CompletionReference::prompt("review");
    assert_eq!(
        kit::complete(&server, reference, "title", "Em").values,
        ["Em…"]
    );
    seen.was(&["server: completion/complete", "inner: completion/complete"]);
}

#[test]
fn lists_and_unknown_methods_pass_server_layers() {
    let seen = Seen::default();
    let server = library(&seen);
    kit::reply(&server, Call::ListTools(Page::default()));
    let unknown = kit::call_with(&server, "unknown", kit::exchange, "{}");
    assert!(matches!(unknown, Reply::Fault(Fault::NoSuchItem { .. })));
    let other = Call::Other {
        method: "acme/wave".into(),
        params: None,
    };
    assert!(matches!(
        kit::fault(kit::reply(&server, other)),
        Fault::NoSuchMethod { .. }
    ));
    seen.was(&["server: tools/list", "server: unknown", "server: acme/wave"]);
}

#[test]
fn layer_changes_arguments_extensions_and_reply() {
    #[derive(Clone)]
    struct User(&'static str);

    let identify = from_fn(|mut exchange: Exchange, next: Next| async move {
        if let Call::CallTool(params) = &mut exchange.call {
            params.arguments = RawObject::from_text(r#"{"number": 7}"#).ok();
        }
        exchange.extensions.insert(User("Ada"));
        let mut reply = next.run(exchange).await;
        if let Reply::Complete {
            body: ResultBody::CallTool(result),
            ..
        } = &mut reply
        {
            result.content.push("!".into());
        }
        reply
    });
    let server = kit::server(
        Server::new("test", "1.0.0")
            .tool(Tool::new("who").handler(
                |Args(it): Args<Number>, Extension(User(name)): Extension<User>| {
                    format!("{name} {}", it.number)
                },
            ))
            .layer(identify),
    );
    assert_eq!(
        kit::call_text(&server, "who", r#"{"number": 1}"#),
        "Ada 7\n!"
    );
}

#[test]
fn layer_answers_without_handler() {
    async fn closed(_: Exchange, _: Next) -> Fault {
        Fault::Refused("closed on Sundays".into())
    }
    let server = Server::new("test", "1.0.0").tool(
        Tool::new("plain")
            .handler(|| "plain")
            .layer(from_fn(closed)),
    );
    let refused = kit::fault(kit::call_with(&server, "plain", kit::exchange, "{}"));
    assert_eq!(refused, Fault::Refused("closed on Sundays".into()));
}

#[test]
fn calls_beyond_a_rate_are_refused_for_each_caller() {
    let server = Server::new("mail", "1.0.0")
        .tool(Tool::new("send").handler(|| "sent"))
        .layer(RateLimit::new(2, Duration::from_secs(600)));
    let call = |subject: Option<&str>| {
        let exchange = |call| {
            let mut exchange = kit::exchange(call);
            if let Some(subject) = subject {
                exchange
                    .extensions
                    .insert(Principal::new("issuer", subject));
            }
            exchange
        };
        kit::call_with(&server, "send", exchange, "{}")
    };
    for caller in [None, Some("ada"), Some("bob")] {
        for _ in 0..2 {
            assert!(!matches!(call(caller), Reply::Fault(_)));
        }
        let refused = kit::fault(call(caller));
        assert_eq!(refused.retry_after(), Some(Duration::from_secs(300)));
    }
}

async fn forgetful(exchange: Exchange, next: Next) -> Reply {
    next.run(Exchange::new(exchange.call, exchange.facts)).await
}

#[test]
fn call_fails_if_a_route_layer_replaces_the_exchange() {
    let plain = Tool::new("plain").handler(|| "plain");
    let server = Server::new("test", "1.0.0").tool(plain.layer(from_fn(forgetful)));
    let failed = kit::fault(kit::call_with(&server, "plain", kit::exchange, "{}"));
    assert_eq!(failed, Fault::internal("a layer of the server failed"));
}

#[test]
fn server_layer_may_replace_the_exchange() {
    let server = Server::new("test", "1.0.0")
        .tool(Tool::new("plain").handler(|| "plain"))
        .layer(from_fn(forgetful));
    let reply = kit::call_with(&server, "plain", kit::exchange, "{}");
    assert!(matches!(reply, Reply::Complete { .. }), "{reply:?}");
}

fn slow() -> Server {
    let work = || async {
        sleep(Duration::from_secs(1)).await;
        "done"
    };
    Server::new("test", "1.0.0")
        .tool(
            Tool::new("short")
                .handler(work)
                .layer(TimeoutLayer::new(Duration::from_millis(10))),
        )
        .tool(
            Tool::new("single")
                .handler(work)
                .layer(ConcurrencyLimitLayer::new(1)),
        )
}

async fn run(server: &Server, tool: &str) -> Reply {
    let call = Call::CallTool(mcp_types::CallToolParams::new(tool, None));
    server.call(kit::exchange(call)).await
}

#[tokio::test(start_paused = true)]
async fn timeout_layer_on_a_route_applies_to_that_route_only() {
    let server = slow();
    assert_eq!(kit::fault(run(&server, "short").await), Fault::Deadline);
    assert!(matches!(
        run(&server, "single").await,
        Reply::Complete { .. }
    ));
}

#[tokio::test(start_paused = true)]
async fn calls_to_one_route_share_concurrency_limit() {
    let server = slow();
    let start = tokio::time::Instant::now();
    let (first, second) = futures::join!(run(&server, "single"), run(&server, "single"));
    assert!(matches!(
        (first, second),
        (Reply::Complete { .. }, Reply::Complete { .. })
    ));
    assert_eq!(start.elapsed().as_secs(), 2);
}

#[test]
fn router_layer_runs_around_route_layers() {
    let seen = Seen::default();
    let both = Routes::new()
        .tool(
            Tool::new("double")
                .handler(doubled)
                .layer(seen.layer("inner"))
                .layer(seen.layer("outer")),
        )
        .template(
            ResourceTemplate::new("library://{title}")
                .read(|Args(book): Args<Book>, State(_): State<u32>| book.title),
        )
        .state(3_u32)
        .layer(seen.layer("router"));
    let server = kit::server(
        Server::new("test", "1.0.0")
            .layer(seen.layer("server"))
            .nest("a", Routes::new().merge(both).layer(seen.layer("around")))
            .tool(Tool::new("plain").handler(|| "plain")),
    );
    assert_eq!(
        kit::call_text(&server, "a_double", r#"{"number": 5}"#),
        "15"
    );
    seen.was(&[
        "server: a_double",
        "around: a_double",
        "router: a_double",
        "outer: a_double",
        "inner: a_double",
    ]);
    assert_eq!(kit::read_text(&server, "library://emma"), "emma");
    seen.was(&[
        "server: library://emma",
        "around: library://emma",
        "router: library://emma",
    ]);
    kit::call_text(&server, "plain", "{}");
    seen.was(&["server: plain"]);
}

#[tokio::test(start_paused = true)]
async fn routes_in_one_router_share_concurrency_limit() {
    let work = || async {
        sleep(Duration::from_secs(1)).await;
        "done"
    };
    let both = Routes::new()
        .tool(Tool::new("one").handler(work))
        .tool(Tool::new("other").handler(work))
        .layer(ConcurrencyLimitLayer::new(1));
    let server = Server::new("test", "1.0.0").merge(both);
    let start = tokio::time::Instant::now();
    futures::join!(run(&server, "one"), run(&server, "other"));
    assert_eq!(start.elapsed().as_secs(), 2);
}

#[test]
fn routes_and_state_added_after_first_use_are_served() {
    let seen = Seen::default();
    let server = Server::new("test", "1.0.0").layer(seen.layer("first"));
    assert!(server.profile().capabilities.tools.is_none());
    let server = server
        .tool(Tool::new("plain").handler(|State(text): State<String>| text))
        .state("late".to_owned())
        .layer(seen.layer("last"));
    assert_eq!(kit::call_text(&server, "plain", "{}"), "late");
    seen.was(&["last: plain", "first: plain"]);
}

#[test]
fn type_of_from_fn_can_be_named() {
    type Function = fn(Exchange, Next) -> std::future::Ready<Reply>;
    fn takes(_: FromFn<Function>) {}
    takes(from_fn(|_, _| std::future::ready(Fault::Deadline.into())));
}
