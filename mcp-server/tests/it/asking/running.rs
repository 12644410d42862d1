//! Rounds of input: number of runs, order of questions.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use futures::channel::oneshot;
use futures::future::{Either, join, join_all, ready, select};
use mcp_core::{BackChannelError, Call, Input, InputState, Reply, ResultBody, Service};
use mcp_macros::Elicit;
use mcp_server::{
    Answer, Args, Ask, AskError, PromptExt, ResourceExt, Sampling, Server, StateKeys, Tool,
    ToolError, ToolExt,
};
use mcp_types::{
    CreateMessageResult, ElicitResult, GetPromptParams, InputRequired, ListRootsResult, Prompt,
    ReadResourceParams, Resource, Root,
};
use serde_json::{Value, json};

use crate::request_log::logged;

use super::client::{Client, Session, answered, answers_alone, asked, text, tool};

#[derive(Debug, PartialEq, Elicit)]
#[elicit(crate = mcp_server)]
struct Name {
    name: String,
    #[elicit(default = 1)]
    times: u8,
}

/// Counters by name.
#[derive(Clone, Default)]
struct Counter(Arc<AtomicU32>);

impl Counter {
    fn up(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }

    fn count(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

fn named(name: &str) -> Value {
    json!({"action": "accept", "content": {"name": name}})
}

/// Asks three questions of three kinds, with a side effect before each.
fn wizard(runs: &Counter, effects: &[Counter; 3]) -> Server {
    let (runs, effects) = (runs.clone(), effects.clone());
    let handler = move |ask: Ask| {
        let (runs, effects) = (runs.clone(), effects.clone());
        async move {
            runs.up();
            let [one, two, three] = effects;
            let ticket = ask.once("one", || async { 100 + one.up() }).await?;
            let name = ask.form::<Name>("name", "Who are you?").await?;
            ask.try_once("two", || async { Ok::<_, ToolError>(two.up()) })
                .await?;
            let poem = ask
                .sample("poem", Sampling::user("A poem").max_tokens(50))
                .await?;
            ask.once("three", || async { three.up() }).await?;
            let roots = ask.roots("roots").await?;
            let poem = poem.content.text();
            Ok::<_, ToolError>(format!("{ticket} {name:?} {poem} {}", roots[0].uri))
        }
    };
    Server::new("wizard", "1").tool(Tool::new("wizard").handler(handler))
}

const WIZARD: &str = r#"101 Accept(Name { name: "Ada", times: 1 }) roses file:///a"#;

#[test]
fn once_runs_work_once_over_all_rounds() {
    let (runs, effects) = (Counter::default(), Default::default());
    let server = wizard(&runs, &effects);
    let answers = json!({
        "name": named("Ada"),
        "poem": CreateMessageResult::new("m", "roses"),
        "roots": {"roots": [{"uri": "file:///a"}]},
    });
    let (reply, rounds) = Client::new().run(&server, &tool("wizard"), &answers);
    assert_eq!(text(reply), WIZARD);
    assert_eq!(rounds, [["name"], ["poem"], ["roots"]]);
    assert_eq!(runs.count(), 4);
    assert_eq!(effects.map(|effect| effect.count()), [1, 1, 1]);
}

#[test]
fn handler_in_session_runs_once() {
    let (runs, effects) = (Counter::default(), Default::default());
    let server = wizard(&runs, &effects);
    let name = json!({"name": "Ada"}).as_object().unwrap().clone();
    let session = Session::new([
        Ok(ElicitResult::accept(name).into()),
        Ok(CreateMessageResult::new("m", "roses").into()),
        Ok(ListRootsResult::from(vec![Root::from("file:///a")]).into()),
    ]);
    let reply = Client::new().send(&server, &tool("wizard"), session.input());
    assert_eq!(text(reply), WIZARD);
    assert_eq!(runs.count(), 1);
    assert_eq!(effects.map(|effect| effect.count()), [1, 1, 1]);
    let asked = session.asked.lock().unwrap();
    let methods: Vec<_> = asked.iter().map(|request| request.method()).collect();
    assert_eq!(
        methods,
        ["elicitation/create", "sampling/createMessage", "roots/list"]
    );
}

#[test]
fn unanswered_question_in_session_fails_tool() {
    let server = wizard(&Counter::default(), &Default::default());
    let session = Session::new([Err(BackChannelError::TimedOut)]);
    let reply = Client::new().send(&server, &tool("wizard"), session.input());
    assert_eq!(text(reply), "the client did not answer in time");
}

#[test]
fn concurrent_questions_are_asked_in_one_round() {
    // spec: MRTR-01, MRTR-03
    let all = |ask: Ask| async move {
        let login = ask.url("login", "Sign in", "https://example.com/login");
        let questions = (ask.form::<Name>("name", "Who?"), login, ask.roots("roots"));
        let (name, login, roots) = ask.all(questions).await?;
        Ok::<_, ToolError>(format!("{name:?} {login:?} {}", roots.len()))
    };
    let many = |ask: Ask| async move {
        let questions = ["a", "b", "c"].map(|key| ask.form::<Name>(key, "Who?"));
        let answers = ask.all(Vec::from(questions)).await?;
        let names = answers.into_iter().filter_map(Answer::accepted);
        Ok::<_, ToolError>(names.map(|name| name.name).collect::<Vec<_>>().join(" "))
    };
    let joined = |ask: Ask| async move {
        let questions = ["a", "b"].map(|key| ask.form::<Name>(key, "Who?"));
        let answers = join_all(questions).await;
        format!("{}", answers.into_iter().all(|answer| answer.is_ok()))
    };
    let server = Server::new("s", "1")
        .tool(Tool::new("all").handler(all))
        .tool(Tool::new("many").handler(many))
        .tool(Tool::new("joined").handler(joined));
    let answers = json!({
        "name": named("Ada"), "login": {"action": "decline"}, "roots": {"roots": []},
        "a": named("A"), "b": named("B"), "c": named("C"),
    });
    for (name, round, result) in [
        (
            "all",
            vec!["login", "name", "roots"],
            r#"Accept(Name { name: "Ada", times: 1 }) Decline 0"#,
        ),
        ("many", vec!["a", "b", "c"], "A B C"),
        ("joined", vec!["a", "b"], "true"),
    ] {
        let (reply, rounds) = Client::new().run(&server, &tool(name), &answers);
        assert_eq!(text(reply), result);
        assert_eq!(rounds, [round]);
    }

    // Only unanswered questions are asked again.
    let first = asked(Client::new().send(&server, &tool("many"), InputState::default()));
    assert!(first.request_state.is_some());
    let input = answered(&first, &json!({"b": named("B"), "strange": 7}));
    let second = asked(Client::new().send(&server, &tool("many"), input));
    let keys: Vec<_> = second.requests().unwrap().into_keys().collect();
    assert_eq!(keys, ["a", "c"]);
    let input = answered(&second, &json!({"a": named("A"), "c": named("C")}));
    let reply = Client::new().send(&server, &tool("many"), input);
    assert_eq!(text(reply), "A B C");
}

#[test]
fn first_answer_takes_precedence_over_later_ones() {
    let handler = |ask: Ask| async move {
        let one = ask.form::<Name>("one", "Who?").await?.accepted();
        ask.url("two", "Go there", "https://example.com").await?;
        Ok::<_, ToolError>(one.map(|one| one.name).unwrap_or_default())
    };
    let server = Server::new("s", "1").tool(Tool::new("t").handler(handler));
    let (client, call) = (Client::new(), tool("t"));
    let one = asked(client.send(&server, &call, InputState::default()));
    let two = asked(client.send(
        &server,
        &call,
        answered(&one, &json!({"one": named("Ada")})),
    ));
    let late = json!({"one": named("Bob"), "two": {"action": "accept"}});
    assert_eq!(
        text(client.send(&server, &call, answered(&two, &late))),
        "Ada"
    );
}

#[test]
fn unused_answer_is_kept_for_later_run() {
    let slow = Counter::default();
    let busy = slow.clone();
    let handler = move |ask: Ask| {
        let busy = busy.clone();
        async move {
            let first = async {
                // Pending in the second run.
                if busy.up() == 2 {
                    std::future::pending::<()>().await;
                }
                ask.form::<Name>("a", "Who?").await
            };
            let second = async {
                ask.form::<Name>("b", "Who?").await?;
                ask.form::<Name>("c", "Who?").await
            };
            let (first, second) = join(first, second).await;
            Ok::<_, ToolError>(format!("{} {}", first.is_ok(), second.is_ok()))
        }
    };
    let server = Server::new("s", "1").tool(Tool::new("t").handler(handler));
    let answers = json!({"a": named("A"), "b": named("B"), "c": named("C")});
    let (reply, rounds) = Client::new().run(&server, &tool("t"), &answers);
    assert_eq!(text(reply), "true true");
    assert_eq!(rounds, [vec!["a", "b"], vec!["c"]]);
}

#[test]
fn started_work_finishes_before_reply_asks() {
    let starts = Counter::default();
    let (open, gate) = oneshot::channel::<u32>();
    let gate = Arc::new(Mutex::new(Some(gate)));
    let begun = starts.clone();
    let handler = move |ask: Ask| {
        let (gate, begun) = (gate.clone(), begun.clone());
        async move {
            let work = ask.once("work", || async {
                begun.up();
                let gate = gate.lock().unwrap().take().unwrap();
                gate.await.unwrap()
            });
            let (name, work) = join(ask.form::<Name>("name", "Who?"), work).await;
            Ok::<_, ToolError>(format!("{} {}", name?.is_accepted(), work?))
        }
    };
    let server = Server::new("s", "1").tool(Tool::new("t").handler(handler));
    let (client, call) = (Client::new(), tool("t"));
    let mut cx = Context::from_waker(Waker::noop());
    let mut first = server.call(client.exchange(&call, InputState::default()));
    assert!(first.as_mut().poll(&mut cx).is_pending());
    assert!(first.as_mut().poll(&mut cx).is_pending());
    open.send(5).unwrap();
    let Poll::Ready(reply) = first.as_mut().poll(&mut cx) else {
        panic!("the work is done")
    };
    let input = answered(&asked(reply), &json!({"name": named("Ada")}));
    assert_eq!(text(client.send(&server, &call, input)), "true 5");
    assert_eq!(starts.count(), 1);
}

#[test]
fn reply_asks_while_other_futures_are_pending() {
    let handler = |ask: Ask| async move {
        let name = ask.form::<Name>("name", "Who?");
        match select(name, Box::pin(std::future::pending::<()>())).await {
            Either::Left((name, _)) => Ok(format!("{}", name?.is_accepted())),
            Either::Right(_) => Err(ToolError::new("never")),
        }
    };
    // A dropped question is not asked.
    let withdrawn = |ask: Ask| async move {
        select(ask.form::<Name>("one", "Who?"), ready(())).await;
        ask.form::<Name>("two", "Who?").await?;
        Ok::<_, ToolError>("done")
    };
    let server = Server::new("s", "1")
        .tool(Tool::new("select").handler(handler))
        .tool(Tool::new("withdrawn").handler(withdrawn));
    let answers = json!({"name": named("Ada"), "two": named("Bob")});
    let (reply, rounds) = Client::new().run(&server, &tool("select"), &answers);
    assert_eq!(
        (text(reply).as_str(), rounds),
        ("true", vec![vec!["name".to_owned()]])
    );
    let (reply, rounds) = Client::new().run(&server, &tool("withdrawn"), &answers);
    assert_eq!(
        (text(reply).as_str(), rounds),
        ("done", vec![vec!["two".to_owned()]])
    );
}

#[test]
fn question_on_spawned_task_ends_with_call() {
    let outcomes = Arc::new(Mutex::new(Vec::new()));
    let (sender, receiver) = std::sync::mpsc::channel();
    let recorded = outcomes.clone();
    let handler = move |ask: Ask| {
        let (done, answer) = oneshot::channel();
        let (recorded, sender) = (recorded.clone(), sender.clone());
        std::thread::spawn(move || {
            let name = futures::executor::block_on(ask.form::<Name>("name", "Who?"));
            recorded
                .lock()
                .unwrap()
                .push(name.as_ref().map(|_| ()).map_err(Clone::clone));
            sender.send(()).unwrap();
            done.send(name).ok();
        });
        async move {
            let name = answer.await.unwrap()?;
            Ok::<_, ToolError>(format!("{}", name.is_accepted()))
        }
    };
    let server = Server::new("s", "1").tool(Tool::new("t").handler(handler));
    let answers = json!({"name": named("Ada")});
    let (reply, rounds) = Client::new().run(&server, &tool("t"), &answers);
    assert_eq!(
        (text(reply).as_str(), rounds),
        ("true", vec![vec!["name".to_owned()]])
    );
    receiver.recv().unwrap();
    receiver.recv().unwrap();
    let mut outcomes = outcomes.lock().unwrap().clone();
    outcomes.sort_by_key(|outcome| outcome.is_ok());
    assert_eq!(outcomes, [Err(AskError::Closed), Ok(())]);
}

#[test]
fn kept_value_is_restored_in_next_run() {
    let handler = |ask: Ask| async move {
        let mut steps: Vec<String> = ask.kept()?.unwrap_or_default();
        while steps.len() < 3 {
            let key = format!("step-{}", steps.len());
            if let Answer::Accept(answer) = ask.form::<Name>(key, "And then?").await? {
                steps.push(answer.name);
                ask.keep(&steps)?;
            }
        }
        Ok::<_, ToolError>(steps.join(" "))
    };
    let server = Server::new("s", "1").tool(Tool::new("t").handler(handler));
    let answers = json!({"step-0": named("a"), "step-1": named("b"), "step-2": named("c")});
    let (reply, rounds) = Client::new().run(&server, &tool("t"), &answers);
    assert_eq!(text(reply), "a b c");
    assert_eq!(rounds, [["step-0"], ["step-1"], ["step-2"]]);
}

#[test]
#[cfg(debug_assertions)]
fn dropped_question_is_logged_as_warning() {
    let runs = Counter::default();
    let run = runs.clone();
    let handler = move |ask: Ask| {
        let key = format!("key-{}", run.up());
        async move {
            ask.form::<Name>(key, "Who?").await?;
            Ok::<_, ToolError>(())
        }
    };
    let steady = |ask: Ask| async move {
        ask.form::<Name>("key-1", "Who?").await?;
        Ok::<_, ToolError>(())
    };
    let server = Server::new("s", "1")
        .tool(Tool::new("fickle").handler(handler))
        .tool(Tool::new("steady").handler(steady));
    for (name, warned) in [("fickle", true), ("steady", false)] {
        let text = logged(tracing::Level::WARN, || {
            let (client, call) = (Client::new(), tool(name));
            let first = asked(client.send(&server, &call, InputState::default()));
            client.send(
                &server,
                &call,
                answered(&first, &json!({"key-1": named("Ada")})),
            );
        });
        let is_warned = text.contains("did not repeat questions of its previous run");
        assert_eq!(
            is_warned && text.contains(r#"dropped=["key-1"]"#),
            warned,
            "{text}"
        );
    }
}

#[test]
fn try_once_repeats_failed_work() {
    let tries = Counter::default();
    let tried = tries.clone();
    let handler = move |ask: Ask| {
        let tried = tried.clone();
        async move {
            let work = || async {
                match tried.up() {
                    1 => Err(ToolError::new("not yet")),
                    count => Ok(count),
                }
            };
            let count = ask.try_once("work", work).await.unwrap_or_default();
            ask.form::<Name>("name", "Who?").await?;
            Ok::<_, ToolError>(count.to_string())
        }
    };
    let server = Server::new("s", "1").tool(Tool::new("t").handler(handler));
    let (reply, _) = Client::new().run(&server, &tool("t"), &json!({"name": named("Ada")}));
    assert_eq!((text(reply).as_str(), tries.count()), ("2", 2));
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Topic {
    topic: String,
}

#[test]
fn prompts_and_resources_ask() {
    let server = Server::new("s", "1")
        .prompt(
            Prompt::new("essay").handler(|Args(about): Args<Topic>, ask: Ask| async move {
                let name = ask.form::<Name>("name", "For whom?").await?.accepted();
                let name = name.map(|name| name.name).unwrap_or_default();
                Ok::<_, mcp_server::PromptError>(format!("{} for {name}", about.topic))
            }),
        )
        .resource(Resource::new("note://secret").read(|ask: Ask| async move {
            let name = ask.form::<Name>("name", "Who reads?").await?.accepted();
            Ok::<_, mcp_server::ResourceError>(name.map(|name| name.name).unwrap_or_default())
        }));
    server.check().unwrap();
    let arguments = mcp_types::RawObject::from_text(r#"{"topic":"snow"}"#).unwrap();
    let get = Call::GetPrompt(GetPromptParams::new("essay", Some(arguments)));
    let read = Call::ReadResource(ReadResourceParams::from("note://secret"));
    let answers = json!({"name": named("Ada")});
    for (call, part) in [(get, "snow for Ada"), (read, "\"Ada\"")] {
        let (reply, rounds) = Client::new().run(&server, &call, &answers);
        assert_eq!(rounds, [["name"]]);
        let (Reply::Complete { body, .. }, found) = (reply, part) else {
            panic!("no result")
        };
        let text = match body {
            ResultBody::GetPrompt(result) => serde_json::to_string(&result).unwrap(),
            ResultBody::ReadResource(result) => serde_json::to_string(&result).unwrap(),
            other => panic!("{other:?}"),
        };
        assert!(text.contains(found), "{text}");
    }
}

// spec: MRTR-06
#[test]
fn answers_without_their_question_are_ignored() {
    let handler = |ask: Ask| async move {
        let name = ask.form::<Name>("name", "Who?").await?.accepted();
        let pays = ask.url("pay", "Pay 900", "https://example.com/pay").await?;
        let name = name.map(|name| name.name);
        Ok::<_, ToolError>(format!("{name:?} {}", pays.is_accepted()))
    };
    let server = Server::new("s", "1").tool(Tool::new("t").handler(handler));
    let (client, call) = (Client::new(), tool("t"));
    let keys = |asked: &InputRequired| {
        let requests = asked.requests().unwrap();
        requests.into_keys().collect::<Vec<_>>()
    };
    // No state: the server has asked nothing yet.
    let answers = json!({"name": named("Ada"), "pay": {"action": "accept"}, "strange": {}});
    let first = asked(client.send(&server, &call, answers_alone(&answers)));
    assert_eq!(keys(&first), ["name"]);
    // A state of another question: `pay` was not asked yet.
    let second = asked(client.send(&server, &call, answered(&first, &answers)));
    assert_eq!(keys(&second), ["pay"]);
    let last = client.send(&server, &call, answered(&second, &answers));
    assert_eq!(text(last), r#"Some("Ada") true"#);

    let keys = StateKeys::random().unwrap().accept_unsolicited_answers();
    let server = server.request_state_keys(keys);
    let reply = client.send(&server, &call, answers_alone(&answers));
    assert_eq!(text(reply), r#"Some("Ada") true"#);
}

#[test]
fn client_without_input_is_rejected_before_handler() {
    let runs = Counter::default();
    let server = wizard(&runs, &Default::default());
    let can = |ask: Option<Ask>| ask.is_some().to_string();
    let server = server.tool(Tool::new("can").handler(can));
    let reply = Client::new().send(&server, &tool("wizard"), Input::Absent);
    let Reply::Fault(mcp_core::Fault::Refused(reason)) = reply else {
        panic!("{reply:?}")
    };
    assert!(reason.contains("2026-07-28"), "{reason}");
    assert_eq!(runs.count(), 0);
    let can = tool("can");
    assert_eq!(
        text(Client::new().send(&server, &can, Input::Absent)),
        "false"
    );
    assert_eq!(
        text(Client::new().send(&server, &can, InputState::default())),
        "true"
    );
}
