//! Routers: prefixed names and own state.

use mcp_server::{
    Args, Prefix, Prompt, PromptExt, Resource, ResourceExt, Routes, Server, State, Tool, ToolExt,
};
use mcp_types::CompletionReference;

use crate::kit::{call_text, server, tools};

#[derive(Clone)]
struct Root(&'static str);

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct File {
    file: String,
}

fn files(root: &'static str) -> Routes {
    Routes::new()
        .tool(Tool::new("root").handler(|State(root): State<Root>| root.0))
        .prompt(Prompt::new("review").handler(|Args(p): Args<File>| p.file))
        .completion(mcp_server::CompletionRoute::prompt(
            "review",
            "file",
            |_: Prefix, State(root): State<Root>| vec![root.0.to_owned()],
        ))
        .state(Root(root))
}

#[test]
fn routes_receive_state_from_the_innermost_router() {
    let inner = Routes::new()
        .tool(
            Tool::new("who")
                .handler(|State(root): State<Root>, State(n): State<u8>| format!("{} {n}", root.0)),
        )
        .state(3_u8);
    let server = server(
        Server::new("s", "1")
            .state(Root("server"))
            .state(7_u8)
            .nest("logs", files("/var/log").nest("deep", inner))
            .nest("mail", files("/var/mail"))
            .tool(Tool::new("root").handler(|State(root): State<Root>| root.0))
            .merge(Routes::new().tool(Tool::new("n").handler(|State(n): State<u8>| n))),
    );
    for (tool, root) in [
        ("logs_root", "/var/log"),
        ("mail_root", "/var/mail"),
        ("root", "server"),
        ("logs_deep_who", "/var/log 3"),
        ("n", "7"),
    ] {
        assert_eq!(call_text(&server, tool, "{}"), root);
    }
    let names: Vec<_> = tools(&server).into_iter().map(|tool| tool.name).collect();
    assert_eq!(
        names,
        ["logs_root", "logs_deep_who", "mail_root", "root", "n"]
    );
    assert_eq!(
        crate::kit::complete(
            &server,
            CompletionReference::prompt("mail_review"),
            "file",
            ""
        )
        .values,
        ["/var/mail"]
    );
}

#[test]
fn check_reports_missing_state_in_a_router() {
    let lacks = || Routes::new().tool(Tool::new("root").handler(|State(_): State<Root>| ()));
    let error = Server::new("s", "1")
        .nest("a", lacks())
        .check()
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("the tool `a_root` takes `State<"),
        "{error}"
    );
    // A router does not see the state of its siblings.
    let sibling = Server::new("s", "1").merge(files("/")).nest("a", lacks());
    assert!(sibling.check().is_err());
    let twice = Server::new("s", "1")
        .nest("a", files("/"))
        .nest("a", files("/"));
    let error = twice.check().unwrap_err();
    assert!(
        error.to_string().contains("two tools are named `a_root`"),
        "{error}"
    );
}

#[test]
fn nested_resources_keep_their_uris() {
    let routes = Routes::new().resource(Resource::new("config://app").read(|| "c"));
    let server = server(Server::new("s", "1").nest("a", routes));
    assert_eq!(server.resources().uris(), ["config://app"]);
}
