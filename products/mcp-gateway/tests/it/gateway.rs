//! A gateway whose clients and servers are of both eras.

use std::future::pending;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures::StreamExt as _;
use mcp::gateway::{ConnectedGateway, Gateway, GatewayServer};
use mcp::prelude::*;
use mcp::types::{ElicitResult, InputRequired, LoggingLevel, ProtocolVersion, Root};
use mcp::{Change, ConnectMode, InProcess, Log};
use serde_json::json;
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::kit::{Order, serve};

const LIMIT: Duration = Duration::from_secs(10);

const ERAS: [ConnectMode; 2] = [
    ConnectMode::Legacy,
    ConnectMode::Pin(ProtocolVersion::LATEST),
];

#[derive(Default)]
struct Seen {
    started: Notify,
    dropped: AtomicUsize,
}

struct CountDrop(Arc<Seen>);

impl Drop for CountDrop {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::SeqCst);
    }
}

/// A server with one item of each kind.
fn shop(seen: Arc<Seen>) -> Server {
    let wait = seen;
    Server::new("shop", "1.0.0")
        .tool(Tool::new("greet").handler(
            |Args(person): Args<Person>,
             progress: Progress,
             log: Log,
             meta: Option<RequestMeta>| async move {
                progress.report(1.0, 2.0, "half").await;
                log.warning("greeting");
                let region = meta.and_then(|meta| meta.get::<String>("com.example/region"));
                format!("hello {} in {}", person.name, region.unwrap_or_default())
            },
        ))
        .tool(Tool::new("order").handler(|ask: Ask| async move {
            let first = ask.form::<Order>("order", "How many?").await?;
            let Some(first) = first.accepted() else {
                return Err(ToolError::new("no order"));
            };
            let roots = ask.roots("roots").await?;
            Ok::<_, ToolError>(format!("{} items into {}", first.count, roots[0].uri))
        }))
        .tool(
            Tool::new("refuse").handler(|| Err::<String, _>(ToolError::protocol(-1234, "refused"))),
        )
        .tool(Tool::new("wait").handler(move || {
            let seen = wait.clone();
            async move {
                let _count = CountDrop(seen.clone());
                seen.started.notify_one();
                pending::<String>().await
            }
        }))
        .resource(Resource::new("shop://hours").read(|| "9 to 5"))
        .template(ResourceTemplate::new("shop://items/{id}").read(|Args(it): Args<Item>| it.id))
        .prompt(
            Prompt::new("review")
                .handler(|Args(item): Args<Item>| format!("Review {}", item.id))
                .completion("id", |prefix: Prefix| vec![format!("{}7", prefix.0)]),
        )
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Person {
    name: String,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Item {
    id: String,
}

/// A gateway in front of the shop, which it calls in one era, served over HTTP.
async fn gateway(back: &ConnectMode, seen: &Arc<Seen>) -> (String, mcp::group::Group) {
    let shop = serve(shop(seen.clone())).await;
    let back = back.clone();
    let ConnectedGateway { server, group, .. } = Gateway::new("gateway", "1.0.0")
        .server(GatewayServer::new("shop", move |client| {
            client.mode(back.clone()).connect(shop.clone())
        }))
        .connect()
        .await
        .unwrap();
    server.check().unwrap();
    (serve(server).await, group)
}

fn client(front: &ConnectMode) -> mcp::ClientBuilder {
    Client::builder().mode(front.clone())
}

fn asked_client(front: &ConnectMode) -> mcp::ClientBuilder {
    client(front)
        .on_elicit(|form: ElicitRequest| async move { form.accept(json!({"count": 3})) })
        .roots([Root::from("file:///home/ada")])
}

/// Runs a test for each pair of eras: the client's and the server's.
async fn for_all_eras<Fut: Future<Output = ()>>(
    test: impl Fn(ConnectMode, String, Arc<Seen>) -> Fut,
) {
    for back in &ERAS {
        let seen = Arc::new(Seen::default());
        let (url, _group) = gateway(back, &seen).await;
        for front in &ERAS {
            let running = test(front.clone(), url.clone(), seen.clone());
            let ended = timeout(LIMIT, running).await;
            ended.unwrap_or_else(|_| panic!("{front:?} to {back:?} does not end"));
        }
    }
}

#[tokio::test]
async fn call_passes_arguments_metadata_progress_and_logs() {
    for_all_eras(|front, url, _| async move {
        let client = client(&front).connect(url).await.unwrap();
        let (mut reports, mut logs) = (Vec::new(), Vec::new());
        let result = client
            .call("shop__greet", json!({"name": "Ada"}))
            .meta("com.example/region", "north")
            .on_progress(|report| reports.push((report.progress, report.total, report.message)))
            .on_log(|message| logs.push((message.level, message.data)))
            .log_level(LoggingLevel::Info)
            .await
            .unwrap();
        assert_eq!(result.text(), "hello Ada in north");
        assert_eq!(reports, [(1.0, Some(2.0), Some("half".to_owned()))]);
        assert_eq!(logs, [(LoggingLevel::Warning, json!("greeting"))]);
    })
    .await;
}

#[tokio::test]
async fn questions_from_server_reach_the_calling_client() {
    for_all_eras(|front, url, _| async move {
        let client = asked_client(&front).connect(url).await.unwrap();
        for _ in 0..2 {
            let result = client.call("shop__order", ()).await.unwrap();
            assert_eq!(result.text(), "3 items into file:///home/ada");
        }
        let calls = (0..4).map(|_| async { client.call("shop__order", ()).await.unwrap().text() });
        for text in futures::future::join_all(calls).await {
            assert_eq!(text, "3 items into file:///home/ada");
        }
    })
    .await;
}

#[tokio::test]
async fn question_that_user_declines_ends_call_as_server_decides() {
    for_all_eras(|front, url, _| async move {
        let declining = client(&front)
            .on_elicit(|_: ElicitRequest| async { ElicitResult::decline() })
            .roots([Root::from("file:///home/ada")]);
        let client = declining.connect(url).await.unwrap();
        let result = client.call("shop__order", ()).await.unwrap();
        assert!(result.is_error(), "{result:?}");
        assert_eq!(result.text(), "no order");
    })
    .await;
}

#[tokio::test]
async fn client_that_cannot_be_asked_receives_an_error() {
    for_all_eras(|front, url, _| async move {
        let client = client(&front).connect(url).await.unwrap();
        let answer = client.call("shop__order", ()).await;
        let is_refused = match &answer {
            Ok(result) => result.is_error(),
            Err(error) => error.fault().is_some(),
        };
        assert!(is_refused, "{answer:?}");
    })
    .await;
}

#[tokio::test]
async fn errors_pass_as_they_are() {
    for_all_eras(|front, url, _| async move {
        let client = client(&front).connect(url).await.unwrap();
        let error = client.call("shop__refuse", ()).await.unwrap_err();
        let Some(mcp::core::Fault::Protocol(error)) = error.fault() else {
            panic!("{error:?}");
        };
        assert_eq!((error.code, &*error.message), (-1234, "refused"));
        let unknown = client.call("shop__other", ()).await.unwrap_err();
        assert!(unknown.fault().is_some(), "{unknown:?}");
    })
    .await;
}

#[tokio::test]
async fn cancelled_call_is_cancelled_at_its_server() {
    for_all_eras(|front, url, seen| async move {
        for client in [client(&front), asked_client(&front)] {
            let client = client.connect(url.clone()).await.unwrap();
            let before = seen.dropped.load(Ordering::SeqCst);
            let started = seen.started.notified();
            let call = client.call("shop__wait", ()).cancel_on(started);
            assert!(call.await.unwrap_err().is_cancelled());
            while seen.dropped.load(Ordering::SeqCst) == before {
                tokio::task::yield_now().await;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn resources_prompts_and_completions_pass() {
    for_all_eras(|front, url, _| async move {
        let client = client(&front).connect(url).await.unwrap();
        let resources = client.list_resources().await.unwrap();
        assert_eq!(resources[0].uri, "shop://hours");
        let hours = client.read_resource("shop://hours").await.unwrap();
        assert_eq!(hours.text(), "9 to 5");
        let templates = client.list_resource_templates().await.unwrap();
        assert_eq!(templates[0].uri_template, "shop://items/{id}");
        let item = client.read_resource("shop://items/7").await.unwrap();
        assert_eq!(item.text(), "7");
        let prompts = client.list_prompts().await.unwrap();
        assert_eq!(prompts[0].name, "shop__review");
        let prompt = client
            .get_prompt("shop__review", json!({"id": "7"}))
            .await
            .unwrap();
        assert_eq!(prompt.messages[0].content.as_text(), Some("Review 7"));
        let reference = mcp::types::CompletionReference::prompt("shop__review");
        let params = mcp::types::CompleteParams::new(reference, "id", "1");
        let completed = client.complete(params).await.unwrap();
        assert_eq!(completed.completion.values, ["17"]);
    })
    .await;
}

#[tokio::test]
async fn completions_pass_for_a_server_that_a_reload_adds() {
    let empty = || Gateway::new("gateway", "1.0.0");
    let opened = empty().connect().await.unwrap();
    let client = Client::connect(InProcess(opened.server)).await.unwrap();
    let shop = Arc::new(shop(Arc::default()));
    let added = empty().server(GatewayServer::new("shop", move |client| {
        client.connect(InProcess(shop.clone()))
    }));
    let mut changes = client.changes().prompts_changed().await.unwrap();
    opened.control.reload(added).await.unwrap();
    changes.next().await.unwrap().unwrap();
    let reference = mcp::types::CompletionReference::prompt("shop__review");
    let params = mcp::types::CompleteParams::new(reference, "id", "1");
    let completed = client.complete(params).await.unwrap();
    assert_eq!(completed.completion.values, ["17"]);
}

#[tokio::test]
async fn changed_server_list_changes_the_gateway_list() {
    for back in &ERAS {
        let shop = shop(Arc::default());
        let tools = shop.tools();
        let shop = serve(shop).await;
        let back = back.clone();
        let opened = Gateway::new("gateway", "1.0.0")
            .server(GatewayServer::new("shop", move |client| {
                client.mode(back.clone()).connect(shop.clone())
            }))
            .connect()
            .await
            .unwrap();
        let client = Client::connect(InProcess(opened.server)).await.unwrap();
        let mut changes = client.changes().tools_changed().await.unwrap();
        // The gateway has subscribed when it receives the first change.
        let changed = async {
            loop {
                tools.put(Tool::new("new").handler(|| "new")).unwrap();
                let next = timeout(Duration::from_millis(100), changes.next()).await;
                if let Ok(change) = next {
                    return change.unwrap().unwrap();
                }
            }
        };
        let change = timeout(LIMIT, changed).await.unwrap();
        assert!(
            matches!(change, Change::Tools | Change::Missed(_)),
            "{change:?}"
        );
        let names = client.list_tools().fresh().await.unwrap();
        assert!(
            names.iter().any(|tool| tool.name == "shop__new"),
            "{names:?}"
        );
        assert_eq!(client.call("shop__new", ()).await.unwrap().text(), "new");
    }
}

#[tokio::test]
async fn server_that_fails_harms_no_other() {
    let one = Server::new("one", "1.0.0").tool(Tool::new("same").handler(|| "one"));
    let two = Server::new("two", "1.0.0").tool(Tool::new("same").handler(|| "two"));
    let (one, two) = (serve(one).await, serve(two).await);
    let opened = Gateway::new("gateway", "1.0.0")
        .server(GatewayServer::new("one", move |client| {
            client.connect(one.clone())
        }))
        .server(GatewayServer::new("two", move |client| {
            client.connect(two.clone())
        }))
        .server(GatewayServer::new("gone", |client| {
            client.connect("http://127.0.0.1:9/mcp")
        }))
        .connect()
        .await
        .unwrap();
    let group = opened.group.clone();
    let client = Client::connect(InProcess(opened.server)).await.unwrap();
    let names: Vec<_> = client
        .list_tools()
        .await
        .unwrap()
        .into_iter()
        .map(|tool| tool.name)
        .collect();
    assert_eq!(names, ["one__same", "two__same"]);
    // The connection of one server ends.
    group.client("one").await.unwrap().close().await.unwrap();
    assert_eq!(client.call("two__same", ()).await.unwrap().text(), "two");
    // It is connected again when it is needed.
    let one = client.call("one__same", ()).await;
    let text = one
        .map(|message| message.text())
        .unwrap_or_else(|error| error.to_string());
    assert!(text == "one" || text.contains("\"one\""), "{text}");
}

#[tokio::test]
async fn call_that_waits_for_its_client_does_not_block_others() {
    let seen = Arc::new(Seen::default());
    let (url, _group) = gateway(&ConnectMode::Legacy, &seen).await;
    let client = asked_client(&ConnectMode::Pin(ProtocolVersion::LATEST));
    let client = client.connect(url).await.unwrap();
    // The client never answers.
    for _ in 0..3 {
        let step = client.call("shop__order", ()).step().await.unwrap();
        assert!(matches!(step, Step::InputRequired(_)), "{step:?}");
    }
    let call = client.call("shop__order", ());
    let result = timeout(LIMIT, call.into_future()).await.unwrap().unwrap();
    assert_eq!(result.text(), "3 items into file:///home/ada");
}

/// As many as one caller may have, each in a session of its own. Eight of them were all sessions of the caller once.
#[tokio::test]
async fn unanswered_questions_do_not_block_other_calls() {
    let seen = Arc::new(Seen::default());
    let (url, _group) = gateway(&ConnectMode::Legacy, &seen).await;
    let client = asked_client(&ConnectMode::Pin(ProtocolVersion::LATEST));
    let client = client.connect(url).await.unwrap();
    let ask = async || {
        let step = timeout(LIMIT, client.call("shop__order", ()).step()).await;
        step.unwrap()
    };
    for number in 0..32 {
        let step = ask().await.unwrap();
        assert!(matches!(step, Step::InputRequired(_)), "{number}: {step:?}");
    }
    let refused = ask().await.unwrap_err();
    assert!(refused.retry_after().is_some(), "{refused}");
    assert!(
        refused.to_string().contains("wait for answers"),
        "{refused}"
    );
    // Calls without a question go on, also of clients that can be asked.
    let called = client.call("shop__greet", json!({"name": "Ada"}));
    let called = timeout(LIMIT, called.into_future()).await.unwrap();
    assert_eq!(called.unwrap().text(), "hello Ada in ");
}

#[tokio::test]
async fn request_without_an_answer_is_asked_again() {
    for back in &ERAS {
        let seen = Arc::new(Seen::default());
        let (url, _group) = gateway(back, &seen).await;
        let client = asked_client(&ConnectMode::Pin(ProtocolVersion::LATEST));
        let client = client.connect(url).await.unwrap();
        let mut step = client.call("shop__order", ()).step().await.unwrap();
        for _ in 0..3 {
            let Step::InputRequired(asks) = step else {
                panic!("{step:?}")
            };
            // The state is sent back, without the answer.
            let again = InputRequired::again(asks.required().request_state.clone().unwrap());
            let none: [(String, ElicitResult); 0] = [];
            let call = client.call("shop__order", ()).resume(again, none);
            step = call.step().await.unwrap();
        }
        let Step::InputRequired(asks) = step else {
            panic!("{step:?}")
        };
        let key = asks.requests().keys().next().unwrap().clone();
        let answer = ElicitResult::accept([("count".to_owned(), json!(3))].into_iter().collect());
        let step = asks.answer([(key, answer)]).await.unwrap();
        let Step::InputRequired(asks) = step else {
            panic!("{step:?}")
        };
        let key = asks.requests().keys().next().unwrap().clone();
        let roots = mcp::types::ListRootsResult::from(vec![Root::from("file:///home/ada")]);
        let step = asks.answer([(key, roots)]).await.unwrap();
        let Step::Done(result) = step else {
            panic!("{step:?}")
        };
        assert_eq!(result.text(), "3 items into file:///home/ada", "{back:?}");
    }
}

#[tokio::test]
async fn calls_take_turns_on_a_server_with_one_session() {
    let shop = serve(shop(Arc::default())).await;
    let opened = Gateway::new("gateway", "1.0.0")
        .server(
            GatewayServer::new("shop", move |client| {
                client.mode(ConnectMode::Legacy).connect(shop.clone())
            })
            .one_session(),
        )
        .connect()
        .await
        .unwrap();
    let url = serve(opened.server).await;
    let client = asked_client(&ConnectMode::Legacy)
        .connect(url)
        .await
        .unwrap();
    let calls = (0..4).map(|_| async { client.call("shop__order", ()).await.unwrap().text() });
    for text in futures::future::join_all(calls).await {
        assert_eq!(text, "3 items into file:///home/ada");
    }
}

#[tokio::test]
async fn hidden_tools_are_neither_listed_nor_called() {
    let shop = shop(Arc::default());
    let opened = Gateway::new("gateway", "1.0.0")
        .server(
            GatewayServer::new("shop", {
                let url = serve(shop).await;
                move |client| client.connect(url.clone())
            })
            .hide_tools(|tool| tool != "greet"),
        )
        .connect()
        .await
        .unwrap();
    let client = Client::connect(InProcess(opened.server)).await.unwrap();
    let tools = client.list_tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["shop__greet"]);
    let refused = client.call("shop__order", ()).await.unwrap_err();
    assert!(refused.fault().is_some(), "{refused:?}");
}

#[tokio::test]
async fn answer_to_a_call_that_the_gateway_no_longer_has_is_an_error() {
    let seen = Arc::new(Seen::default());
    let (url, _group) = gateway(&ConnectMode::Legacy, &seen).await;
    let client = asked_client(&ConnectMode::Pin(ProtocolVersion::LATEST));
    let client = client.connect(url).await.unwrap();
    let step = client.call("shop__order", ()).step().await.unwrap();
    let Step::InputRequired(asks) = step else {
        panic!("{step:?}")
    };
    let required = asks.required().clone();
    let key = asks.requests().keys().next().unwrap().clone();
    let answer = ElicitResult::accept(json!({"count": 3}).as_object().unwrap().clone());
    let next = asks.answer([(key.clone(), answer.clone())]).await.unwrap();
    assert!(matches!(next, Step::InputRequired(_)), "{next:?}");
    // The call has gone on with the first answer.
    let again = client
        .call("shop__order", ())
        .resume(required, [(key, answer)])
        .await;
    let error = again.unwrap_err().to_string();
    assert!(error.contains("make it again"), "{error}");
}
