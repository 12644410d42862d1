//! Options of attributes: titles, icons, `_meta`, layers.

use std::sync::atomic::{AtomicU32, Ordering};

use mcp_core::Service;
use mcp_macros::server;
use mcp_server::Caller;
use mcp_server::middleware::{Exchange, Next, Reply, from_fn};
use mcp_types::{CompletionReference, Icon};
use serde_json::{Value, json};

use crate::kit;

static CALLS: AtomicU32 = AtomicU32::new(0);

async fn count(exchange: Exchange, next: Next) -> Reply {
    CALLS.fetch_add(1, Ordering::SeqCst);
    next.run(exchange).await
}

const TEAM: &str = "com.example/team";

struct Shop;

#[server(
    crate = mcp_server,
    title = "The shop",
    icon = ["https://shop.test/a.png", Icon::new("https://shop.test/b.svg").size("any")],
    website = "https://shop.test",
)]
impl Shop {
    #[tool(
        title = "Search",
        icon = "https://shop.test/search.png",
        meta = [(TEAM, "search"), ("com.example/level", 3)],
        layer = from_fn(count),
    )]
    fn search(#[arg(title = "Words")] words: String) -> String {
        words
    }

    #[resource("shop://door", title = "Door", icon = Icon::new("data:,"), meta = [(TEAM, "doors")], layer = from_fn(count))]
    fn door() -> &'static str {
        "open"
    }

    #[resource("shop://{shelf}", meta = [(TEAM, "shelves")], layer = from_fn(count))]
    fn shelf(shelf: String) -> String {
        shelf
    }

    #[prompt(title = "Order", icon = [], meta = [(TEAM, json!({"name": "orders"}))], layer = from_fn(count))]
    fn order(#[arg(title = "Article")] article: String) -> String {
        article
    }

    #[completion(prompt = "order", argument = "article", layer = from_fn(count))]
    fn articles(prefix: &str) -> Vec<String> {
        vec![format!("{prefix}…")]
    }
}

struct Vault;

#[server(crate = mcp_server)]
impl Vault {
    #[tool]
    fn look() -> &'static str {
        "closed"
    }

    #[tool(visible_to = nobody)]
    fn open() -> &'static str {
        "open"
    }

    #[resource("vault://gold", visible_to = nobody)]
    fn gold() -> &'static str {
        "gold"
    }

    #[resource("vault://{shelf}", visible_to = |_| false)]
    fn shelf(shelf: String) -> String {
        shelf
    }

    #[prompt(visible_to = nobody)]
    fn guard() -> &'static str {
        "Who is there?"
    }
}

fn nobody(_: &Caller<'_>) -> bool {
    false
}

fn value(of: impl serde::Serialize) -> Value {
    serde_json::to_value(of).unwrap()
}

#[test]
fn options_for_every_kind_are_listed() {
    let server = kit::server(Shop);
    let info = value(server.profile().info());
    assert_eq!(info["title"], "The shop");
    assert_eq!(info["websiteUrl"], "https://shop.test");
    let icons = json!([
        {"src": "https://shop.test/a.png"},
        {"src": "https://shop.test/b.svg", "sizes": ["any"]},
    ]);
    assert_eq!(info["icons"], icons);

    let tool = value(kit::tool(&server, "search"));
    assert_eq!(tool["title"], "Search");
    assert_eq!(
        tool["icons"],
        json!([{"src": "https://shop.test/search.png"}])
    );
    assert_eq!(
        tool["_meta"],
        json!({"com.example/team": "search", "com.example/level": 3})
    );
    assert_eq!(tool["inputSchema"]["properties"]["words"]["title"], "Words");

    let door = value(&kit::resources(&server)[0]);
    assert_eq!(door["title"], "Door");
    assert_eq!(door["icons"], json!([{"src": "data:,"}]));
    assert_eq!(door["_meta"], json!({"com.example/team": "doors"}));
    let shelf = value(&kit::templates(&server)[0]);
    assert_eq!(shelf["_meta"], json!({"com.example/team": "shelves"}));

    let order = value(&kit::prompts(&server)[0]);
    assert_eq!(order["title"], "Order");
    assert_eq!(order.get("icons"), None);
    assert_eq!(
        order["_meta"],
        json!({"com.example/team": {"name": "orders"}})
    );
    assert_eq!(order["arguments"][0]["title"], "Article");
}

#[test]
fn visible_to_hides_tools_resources_and_prompts() {
    let server = kit::server(Vault);
    let tools: Vec<_> = kit::tools(&server)
        .into_iter()
        .map(|tool| tool.name)
        .collect();
    assert_eq!(tools, ["look"]);
    assert!(kit::resources(&server).is_empty());
    assert!(kit::templates(&server).is_empty());
    assert!(kit::prompts(&server).is_empty());
}

#[test]
fn layer_option_runs_for_every_kind() {
    let server = kit::server(Shop);
    kit::call_text(&server, "search", r#"{"words": "pen"}"#);
    kit::read_text(&server, "shop://door");
    kit::read_text(&server, "shop://pens");
    kit::get_text(&server, "order", r#"{"article": "pen"}"#);
    kit::complete(
        &server,
        CompletionReference::prompt("order"),
        "article",
        "p",
    );
    assert_eq!(CALLS.load(Ordering::SeqCst), 5);
}
