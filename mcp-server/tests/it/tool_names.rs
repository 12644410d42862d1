//! Names of free functions that are routes. Such a function is a unit struct, which no variable of its module can
//! shadow: the code of the macros has no variables with names that tools have. That of `JsonSchema` has: `generator`, `map`, `schema`.

use std::fmt::Debug;

use mcp_macros::{Elicit, Output, completion, prompt, resource, server, tool};
use mcp_server::{Log, Server, State};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::kit::{call_text, tools};

/// Declares tools, and adds them to a server.
macro_rules! tools_named {
    ($($name:ident)*) => {
        $(
            #[tool(crate = mcp_server)]
            fn $name(count: u8, #[arg(default = 1, range = 0..=9)] more: u8) -> u8 {
                count + more
            }
        )*

        fn add_all(server: Server) -> Server {
            server$(.tool($name))*
        }
    };
}

tools_named! {
    answer args arguments async_value block body builder call client close content context cursor data
    default_0 default_1 deserializer error exchange expr f field field0 fields fmt form format formatter
    function function_0 future handler header headers index info inner input instance item items key
    layer length limit list map_access member meta mode name names next offset option options other
    out output owner page param param_0 param_1 parameter parameters parts pattern plan private prompts
    properties query range read reader receiver request resources response result results root route router
    routes rule running schemas scope seed seq serializer service session settings setup size slot
    source spec start state status stream string structure table tag target task text title token tool_0
    total ty uri url value value_0 value_1 values variables variant version visitor wait work
}

#[derive(
    Debug,
    Clone,
    Copy,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
)]
enum Level {
    #[default]
    Low,
    High(u8),
    Between {
        low: u8,
        #[serde(default)]
        high: u8,
    },
}

#[derive(
    Debug,
    Clone,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    JsonSchema,
    Output,
)]
#[output(crate = mcp_server)]
#[serde(rename_all = "camelCase")]
struct Sum {
    all_together: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    parts_of_it: Vec<Level>,
    #[serde(flatten)]
    more: std::collections::BTreeMap<String, u8>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Loose {
    One(u8),
    Many(Vec<u8>),
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", content = "value")]
enum Tagged {
    One(u8),
    Many(Vec<u8>),
}

#[derive(Debug, thiserror::Error)]
#[error("{0}: {1}")]
struct Broken(u8, #[source] std::io::Error);

#[expect(dead_code, reason = "only its derive matters")]
#[derive(Debug, Elicit)]
#[elicit(crate = mcp_server)]
struct Booking {
    #[elicit(title = "Name", length = 1..=40, default = "Ada")]
    guest: String,
    #[elicit(range = 1..=9)]
    chairs: Option<u8>,
}

#[derive(Debug, Elicit)]
#[elicit(crate = mcp_server)]
enum Place {
    Window,
    Door,
}

#[tool(crate = mcp_server)]
fn blocked(State(level): State<Level>, loose: Loose, tagged: Tagged) -> String {
    format!("{level:?} {loose:?} {tagged:?}")
}

#[tool(crate = mcp_server)]
async fn awaited(log: Log, sum: Sum) -> Sum {
    log.info("sum");
    sum
}

#[resource("notes://{id}{?lang}", crate = mcp_server)]
fn note(id: u8, lang: Option<String>) -> String {
    format!("{id} {lang:?}")
}

#[prompt(crate = mcp_server)]
fn review(file: String) -> String {
    file
}

#[completion(prompt = "review", argument = "file", crate = mcp_server)]
fn complete_file(begun: &str) -> Vec<String> {
    vec![begun.to_owned()]
}

struct Desk;

#[server(crate = mcp_server)]
impl Desk {
    #[tool]
    async fn desk(&self, sum: Sum, #[arg(default)] many: Vec<u8>) -> u64 {
        sum.all_together + many.len() as u64
    }
}

#[test]
fn function_may_be_named_like_a_variable_in_generated_code() {
    let server = add_all(Server::of(Desk))
        .tool(blocked)
        .tool(awaited)
        .state(Level::Low);
    let server = server
        .template(note)
        .prompt(review)
        .completion(complete_file);
    server.check().unwrap();
    assert!(tools(&server).len() > 100);
    let broken = Broken(1, std::io::Error::other("a"));
    let shown: &dyn Debug = &(Place::Window, Place::Door, broken.to_string());
    assert!(format!("{shown:?}").contains("Window"));
    let five = json!({"count": 2, "more": 3}).to_string();
    assert_eq!(call_text(&server, "info", &five), "5");
    assert_eq!(info(2, 3), 5);
}
