//! A server that changes while it runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::executor::block_on;
use mcp_core::{ChangeBus, ChangeEvent, Fault, MemoryBus, Reply, Service, Watch};
use mcp_server::{
    EditError, Notify, Prompt, PromptExt, Resource, ResourceExt, Server, State, Tool, ToolError,
    ToolExt, ToolRoute, Tools,
};
use mcp_types::SubscriptionFilter;

use crate::kit::{call_text, call_with, exchange, server, tools};

fn tool(name: &str) -> ToolRoute {
    let text = format!("I am {name}");
    Tool::new(name).handler(move || text.clone())
}

fn names(server: &Server) -> Vec<String> {
    tools(server).into_iter().map(|tool| tool.name).collect()
}

fn watch(server: &Server) -> Watch {
    let all = SubscriptionFilter::new()
        .tools_changed()
        .prompts_changed()
        .resources_changed()
        .resource("a://b");
    server.changes().unwrap().watch(all)
}

fn is_unknown(server: &Server, tool: &str) -> bool {
    let reply = call_with(server, tool, exchange, "{}");
    matches!(reply, Reply::Fault(Fault::NoSuchItem { .. }))
}

#[test]
fn tool_changes_apply_to_new_calls_and_are_announced() {
    let server = server(Server::new("s", "1").tool(tool("a")));
    let handle = server.tools();
    let watch = watch(&server);
    let is_announced = || {
        let event = watch.try_next();
        assert_eq!(watch.try_next(), None, "several changes are one");
        event == Some(ChangeEvent::Tools)
    };
    handle.add(tool("b")).unwrap();
    handle.extend(["c", "d"].map(tool)).unwrap();
    assert!(is_announced());
    assert_eq!(names(&server), ["a", "b", "c", "d"]);
    assert_eq!(call_text(&server, "c", "{}"), "I am c");

    assert!(handle.disable("a"));
    assert!(is_announced());
    assert_eq!(names(&server), ["b", "c", "d"]);
    assert!(is_unknown(&server, "a"));
    assert!(handle.disable("a"));
    assert!(!is_announced(), "the tool was disabled already");
    assert!(handle.enable("a"));
    assert!(is_announced());
    assert_eq!(
        names(&server),
        ["a", "b", "c", "d"],
        "it is at its former position"
    );

    let removed = handle.remove("b").unwrap();
    assert!(is_announced());
    assert!(is_unknown(&server, "b"));
    handle.add(removed).unwrap();
    assert_eq!(handle.names(), ["a", "c", "d", "b"]);
    let old = handle.put(Tool::new("c").handler(|| "new")).unwrap();
    assert_eq!(old.unwrap().tool().name, "c");
    assert_eq!(call_text(&server, "c", "{}"), "new");
    assert_eq!(names(&server), ["a", "c", "d", "b"]);
    assert!(is_announced());
    for absent in ["x", ""] {
        assert!(handle.remove(absent).is_none());
        assert!(!handle.enable(absent) && !handle.disable(absent));
    }
    handle.extend([]).unwrap();
    assert!(!is_announced());
}

#[test]
fn unannounced_handle_changes_the_list_without_a_notification() {
    let server = server(Server::new("s", "1").tool(tool("a")));
    let (quiet, handle) = (server.unannounced().tools(), server.tools());
    let (notify, watch) = (server.notify(), watch(&server));
    quiet.add(tool("b")).unwrap();
    quiet.replace(["a"], [tool("c")]).unwrap();
    assert!(quiet.disable("c") && quiet.enable("c"));
    assert!(quiet.remove("b").is_some());
    assert_eq!(watch.try_next(), None);
    assert_eq!(names(&server), ["c"]);
    notify.tools_changed();
    assert_eq!(watch.try_next(), Some(ChangeEvent::Tools));
    handle.add(tool("d")).unwrap();
    assert_eq!(watch.try_next(), Some(ChangeEvent::Tools), "another handle");
}

#[test]
fn put_with_equal_definition_is_not_announced() {
    let server = server(Server::new("s", "1").tool(tool("a")));
    let (handle, watch) = (server.tools(), watch(&server));
    let other = || Tool::new("a").handler(|| "other");
    handle.put(other()).unwrap();
    assert_eq!(watch.try_next(), None);
    assert_eq!(call_text(&server, "a", "{}"), "other");

    let described = Tool::new("a").description("new").handler(|| "other");
    for (route, change) in [
        (described, "definition"),
        (other().scopes(["write"]), "scopes"),
        (other().visible_to(|_| true), "filter"),
        (other(), "no filter"),
    ] {
        handle.put(route).unwrap();
        assert_eq!(watch.try_next(), Some(ChangeEvent::Tools), "{change}");
    }
    handle.disable("a");
    assert_eq!(watch.try_next(), Some(ChangeEvent::Tools));
    handle.put(other()).unwrap();
    assert_eq!(watch.try_next(), Some(ChangeEvent::Tools), "enabled");
}

#[test]
fn replaced_list_is_one_change_and_keeps_places() {
    let server = server(Server::new("s", "1"));
    let (handle, watch) = (server.tools(), watch(&server));
    handle.extend(["a", "b", "c"].map(tool)).unwrap();
    assert_eq!(watch.try_next(), Some(ChangeEvent::Tools));
    handle.replace_all(["c", "b", "a"].map(tool)).unwrap();
    assert_eq!(watch.try_next(), None, "clients see the same list");
    assert_eq!(names(&server), ["a", "b", "c"]);

    handle.replace_all(["d", "c", "a"].map(tool)).unwrap();
    assert_eq!(watch.try_next(), Some(ChangeEvent::Tools));
    assert_eq!(watch.try_next(), None);
    assert_eq!(names(&server), ["a", "c", "d"]);
    let twice = handle.replace_all(["e", "e"].map(tool)).unwrap_err();
    assert!(matches!(twice, EditError::Duplicate { .. }), "{twice:?}");
    assert_eq!(names(&server), ["a", "c", "d"]);
    handle.replace_all([]).unwrap();
    assert_eq!(watch.try_next(), Some(ChangeEvent::Tools));
    assert!(names(&server).is_empty());
}

#[test]
fn rejected_route_changes_nothing() {
    let server = server(Server::new("s", "1").state(1_u8).tool(tool("a")));
    let handle = server.tools();
    let watch = watch(&server);
    let taken = handle.add(Tool::new("a").handler(|| "other")).unwrap_err();
    assert!(
        matches!(&taken, EditError::Duplicate { key, .. } if key == "a"),
        "{taken:?}"
    );
    let text = taken.to_string();
    assert!(text.starts_with("there is a tool `a` already;"), "{text}");
    for several in [["b", "a"], ["b", "b"]] {
        let error = handle.extend(several.map(tool)).unwrap_err();
        assert!(matches!(error, EditError::Duplicate { .. }), "{error:?}");
    }
    let stateless = Tool::new("c").handler(|State(_): State<u16>| ());
    let missing = handle.extend([tool("b"), stateless.clone()]).unwrap_err();
    assert!(missing.to_string().contains("State<u16>"), "{missing}");
    assert!(matches!(handle.put(stateless), Err(EditError::Setup(_))));
    assert_eq!(names(&server), ["a"]);
    assert_eq!(call_text(&server, "a", "{}"), "I am a");
    assert_eq!(watch.try_next(), None);
    handle
        .add(Tool::new("c").handler(|State(n): State<u8>| n))
        .unwrap();
    assert_eq!(call_text(&server, "c", "{}"), "1");
}

// spec: TOOL-01, RSRC-01, PROMPT-01, TOOL-02
#[test]
fn capabilities_declare_changes_of_taken_handles() {
    let one = |server: Server| server.profile().capabilities.clone();
    let fixed = Server::new("s", "1").tool(tool("a"));
    let offers = one(fixed);
    assert_eq!(offers.tools.unwrap().list_changed, None);
    assert_eq!(offers.resources, None);

    let empty = Server::new("s", "1");
    let _handles = (empty.tools(), empty.templates(), empty.prompts());
    assert!(names(&empty).is_empty(), "a list that may grow exists");
    let offers = one(empty);
    assert_eq!(offers.tools.unwrap().list_changed, Some(true));
    assert_eq!(offers.prompts.unwrap().list_changed, Some(true));
    let resources = offers.resources.unwrap();
    assert_eq!(
        (resources.list_changed, resources.subscribe),
        (Some(true), None)
    );

    let extracted = Server::new("s", "1")
        .tool(Tool::new("tell").handler(|notify: Notify| notify.resource_updated("a://b")))
        .resource(Resource::new("a://b").read(|| "b"));
    let watch = watch(&extracted);
    call_text(&extracted, "tell", "{}");
    let updated = ChangeEvent::Resource {
        uri: "a://b".into(),
    };
    assert_eq!(watch.try_next(), Some(updated));
    let resources = one(extracted).resources.unwrap();
    assert_eq!(
        (resources.list_changed, resources.subscribe),
        (Some(true), Some(true))
    );
}

#[test]
fn handle_taken_after_first_use_works() {
    fn learn(tools: Tools) -> Result<&'static str, ToolError> {
        tools.add(tool("b"))?;
        Ok("done")
    }

    let server = server(Server::new("s", "1").tool(tool("a")));
    let before = server.profile();
    let handle = server.tools();
    let after = server.profile();
    assert_eq!(
        before.capabilities.tools.as_ref().unwrap().list_changed,
        None
    );
    assert_eq!(
        after.capabilities.tools.as_ref().unwrap().list_changed,
        Some(true)
    );
    handle.add(Tool::new("learn").handler(learn)).unwrap();
    assert!(
        Arc::ptr_eq(&after, &server.profile()),
        "the profile is rebuilt only when capabilities change"
    );
    assert_eq!(call_text(&server, "learn", "{}"), "done");
    assert_eq!(names(&server), ["a", "learn", "b"]);
    server
        .prompts()
        .add(Prompt::new("p").handler(|| "hi"))
        .unwrap();
    assert!(server.profile().capabilities.prompts.is_some());
}

#[test]
fn undeclared_change_kind_is_not_announced() {
    let bus = Arc::new(MemoryBus::default());
    let server = server(
        Server::new("s", "1")
            .change_bus(bus.clone())
            .tool(tool("a")),
    );
    let notify = server.notify();
    let all = SubscriptionFilter::new()
        .tools_changed()
        .prompts_changed()
        .resource("a://b");
    let watch = bus.watch(all);
    notify.prompts_changed();
    notify.resource_updated("a://b");
    assert_eq!(watch.try_next(), None);
    notify.tools_changed();
    assert_eq!(watch.try_next(), Some(ChangeEvent::Tools));
    drop(server);
    notify.tools_changed();
    assert_eq!(watch.try_next(), None);
}

#[test]
fn notify_handle_keeps_capability_after_last_route_with_one_is_removed() {
    let server = server(
        Server::new("s", "1")
            .resource(Resource::new("a://b").read(|| "text"))
            .tool(Tool::new("touch").handler(|_: Notify| "touched")),
    );
    let notify = server.notify();
    let tools = server.tools();
    let watch = watch(&server);
    tools.remove("touch").unwrap();
    assert_eq!(watch.try_next(), Some(ChangeEvent::Tools));

    let resources = server.profile().capabilities.resources.clone().unwrap();
    assert_eq!(resources.subscribe, Some(true));
    notify.resource_updated("a://b");
    let updated = ChangeEvent::Resource {
        uri: "a://b".into(),
    };
    assert_eq!(watch.try_next(), Some(updated));
}

#[test]
fn handle_to_a_dropped_server_does_nothing() {
    let kept = Arc::new(());
    let weak = Arc::downgrade(&kept);
    let server = Server::new("s", "1").state(kept);
    let handle = server.tools();
    let own = handle.clone();
    let server = server.tool(Tool::new("own").handler(move || own.names().len()));
    assert_eq!(call_text(&server, "own", "{}"), "1");
    drop(server);
    assert!(weak.upgrade().is_none());
    assert_eq!(handle.add(tool("a")), Err(EditError::ServerDropped));
    assert!(handle.names().is_empty() && handle.remove("own").is_none());
    assert!(!handle.disable("own"));
}

#[test]
fn destructor_in_removed_handler_may_use_its_handle() {
    struct Last(Tools);

    impl Drop for Last {
        fn drop(&mut self) {
            self.0.put(tool("last")).unwrap();
        }
    }

    let server = server(Server::new("s", "1"));
    let handle = server.tools();
    let last = Arc::new(Last(handle.clone()));
    let first = Tool::new("first").handler(move || last.0.names().len());
    handle.add(first).unwrap();
    handle.put(tool("other")).unwrap();
    drop(handle.remove("first"));
    assert_eq!(names(&server), ["other", "last"]);
}

#[test]
fn pages_are_consistent_during_concurrent_changes() {
    const KEPT: usize = 20;
    let kept = (0..KEPT).map(|n| tool(&format!("kept_{n:02}")));
    let server = server(Server::new("s", "1").page_size(7).merge(kept.collect()));
    let handle = server.tools();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for round in 0..500 {
                let name = format!("added_{}", round % 3);
                match round % 2 {
                    0 => handle.add(tool(&name)).unwrap(),
                    _ => drop(
                        handle
                            .remove(&format!("added_{}", (round - 1) % 3))
                            .unwrap(),
                    ),
                }
            }
            done.store(true, Ordering::Relaxed);
        });
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                let all = crate::kit::all_tools(&server);
                let all: Vec<&str> = all.iter().map(|tool| tool.name.as_str()).collect();
                let kept = all.iter().filter(|name| name.starts_with("kept"));
                assert_eq!(kept.count(), KEPT, "{all:?}");
                assert!(all.len() <= KEPT + 3, "{all:?}");
                assert_eq!(call_text(&server, "kept_07", "{}"), "I am kept_07");
            }
        });
    });
    assert_eq!(handle.names().len(), KEPT);
}

#[test]
fn call_finishes_if_tool_is_removed() {
    let server = server(Server::new("s", "1").tool(tool("a")));
    let running = {
        let params = mcp_types::CallToolParams::new("a", None);
        server.call(exchange(mcp_core::Call::CallTool(params)))
    };
    server.tools().remove("a").unwrap();
    assert!(matches!(block_on(running), Reply::Complete { .. }));
}
