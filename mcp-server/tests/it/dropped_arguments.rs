//! Arguments of types that drop wrong values without an error: their types are checked before decoding.

#![expect(dead_code, reason = "values are shown by `Debug`")]

use mcp_macros::server;
use mcp_server::{Args, Server, ToolExt as _};
use mcp_types::Tool;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::{Value, json};

use crate::kit::{call_error, call_text, server};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Order {
    Asc,
    Desc,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Range {
    from: u32,
    #[serde(default)]
    tags: Vec<String>,
}

/// Members of all types, each of which makes serde drop the whole struct.
#[derive(Debug, Deserialize, JsonSchema)]
struct Filter {
    limit: Option<u32>,
    small: Option<u8>,
    ratio: Option<f64>,
    exact: Option<bool>,
    text: Option<String>,
    order: Option<Order>,
    range: Option<Range>,
    ranges: Option<Vec<Range>>,
    #[serde(default)]
    count: i32,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Page {
    size: u32,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Search {
    query: Option<String>,
    #[serde(flatten)]
    filter: Option<Filter>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Twice {
    query: String,
    #[serde(flatten)]
    filter: Option<Filter>,
    #[serde(flatten)]
    page: Option<Page>,
}

/// `Name` accepts every object.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(untagged)]
enum Target {
    Id {
        id: u32,
    },
    Name {
        name: Option<String>,
        lines: Option<Vec<u32>>,
    },
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Nested {
    target: Target,
    #[serde(default)]
    searches: Vec<Search>,
}

fn show<T: std::fmt::Debug>(Args(value): Args<T>) -> String {
    format!("{value:?}")
}

struct Functions;

#[server(crate = mcp_server)]
impl Functions {
    #[tool]
    fn search_in(&self, folder: String, search: Search) -> String {
        format!("{folder} {search:?}")
    }

    #[tool]
    fn open(&self, target: Target, line: Option<u32>) -> String {
        format!("{target:?} {line:?}")
    }
}

fn tools() -> Server {
    server(Functions)
        .tool(Tool::new("search").handler(show::<Search>))
        .tool(Tool::new("twice").handler(show::<Twice>))
        .tool(Tool::new("target").handler(show::<Target>))
        .tool(Tool::new("nested").handler(show::<Nested>))
}

/// Calls the tool and returns its text or its error.
fn call(server: &Server, tool: &str, arguments: &Value) -> String {
    call_text(server, tool, &arguments.to_string())
}

const NUMBER: &str = "expected a whole number, got a string";

/// Calls tools, and compares their errors.
fn refuses(calls: &[(&str, Value, String)]) {
    let server = tools();
    for (tool, arguments, expected) in calls {
        let error = call_error(&server, tool, &arguments.to_string());
        assert_eq!(
            error,
            format!("invalid arguments: {expected}"),
            "{tool} {arguments}"
        );
    }
}

// spec: TOOL-20
#[test]
fn wrongly_typed_argument_that_serde_drops_is_an_error() {
    let number = NUMBER;
    refuses(&[
        (
            "search",
            json!({"limit": "x"}),
            format!("`limit`: {number}"),
        ),
        (
            "search",
            json!({"limit": -1}),
            "`limit`: -1 is out of range, expected at least 0".to_owned(),
        ),
        (
            "search",
            json!({"limit": 5_000_000_000_u64}),
            "`limit`: 5000000000 is out of range, expected 0 to 4294967295".to_owned(),
        ),
        (
            "search",
            json!({"limit": 5.5}),
            "`limit`: expected a whole number, got 5.5".to_owned(),
        ),
        (
            "search",
            json!({"small": 300}),
            "`small`: 300 is out of range, expected 0 to 255".to_owned(),
        ),
        (
            "search",
            json!({"ratio": "0.5"}),
            "`ratio`: expected a number, got a string".to_owned(),
        ),
        (
            "search",
            json!({"exact": "yes"}),
            "`exact`: expected true or false, got a string".to_owned(),
        ),
        (
            "search",
            json!({"text": 7}),
            "`text`: expected a string, got a number".to_owned(),
        ),
        (
            "search",
            json!({"order": "up"}),
            "`order`: expected \"asc\" or \"desc\", got \"up\"".to_owned(),
        ),
        (
            "search",
            json!({"range": []}),
            "`range`: expected an object, got an array".to_owned(),
        ),
        (
            "search",
            json!({"range": {"from": "x"}}),
            format!("`range.from`: {number}"),
        ),
        (
            "search",
            json!({"range": {}}),
            "`range`: missing `from`".to_owned(),
        ),
        (
            "search",
            json!({"range": {"from": 1, "tags": [1]}}),
            "`range.tags[0]`: expected a string, got a number".to_owned(),
        ),
        (
            "search",
            json!({"ranges": [{"from": 1}, {"from": true}]}),
            "`ranges[1].from`: expected a whole number, got true".to_owned(),
        ),
        (
            "search",
            json!({"limit": "x", "exact": 1}),
            format!("`limit`: {number}; `exact`: expected true or false, got a number"),
        ),
    ]);
}

#[test]
fn wrong_type_is_an_error_wherever_serde_drops_it() {
    let number = NUMBER;
    refuses(&[
        (
            "twice",
            json!({"query": "q", "limit": "x"}),
            format!("`limit`: {number}"),
        ),
        (
            "twice",
            json!({"query": "q", "size": "x", "limit": 1}),
            format!("`size`: {number}"),
        ),
        (
            "twice",
            json!({"size": "x"}),
            format!("missing `query`; `size`: {number}"),
        ),
        ("target", json!({"id": "x"}), format!("`id`: {number}")),
        (
            "target",
            json!({"name": 7}),
            "`name`: expected a string, got a number".to_owned(),
        ),
        (
            "target",
            json!({"lines": ["x"]}),
            format!("`lines[0]`: {number}"),
        ),
        (
            "nested",
            json!({"target": {"id": "x"}}),
            format!("`target.id`: {number}"),
        ),
        (
            "nested",
            json!({"target": {"name": "a"}, "searches": [{"limit": "x"}]}),
            format!("`searches[0].limit`: {number}"),
        ),
        (
            "search_in",
            json!({"folder": "f", "search": {"limit": "x"}}),
            format!("`search.limit`: {number}"),
        ),
        (
            "open",
            json!({"target": {"id": "x"}, "line": 1}),
            format!("`target.id`: {number}"),
        ),
    ]);
}

// spec: TOOL-20
#[test]
fn valid_arguments_that_serde_drops_reach_the_handler() {
    let server = tools();
    let filter = |changed: &[(&str, &str)]| {
        let names = [
            "limit", "small", "ratio", "exact", "text", "order", "range", "ranges", "count",
        ];
        let members = names.map(|name| {
            let default = if name == "count" { "0" } else { "None" };
            let value = changed.iter().find(|(known, _)| *known == name);
            format!("{name}: {}", value.map_or(default, |(_, value)| value))
        });
        format!("Some(Filter {{ {} }})", members.join(", "))
    };
    let search =
        |changed: &[(&str, &str)]| format!("Search {{ query: None, filter: {} }}", filter(changed));
    for (tool, arguments, expected) in [
        ("search", json!({}), search(&[])),
        (
            "search",
            json!({"limit": 5}),
            search(&[("limit", "Some(5)")]),
        ),
        // As in all other types.
        (
            "search",
            json!({"limit": 5.0}),
            search(&[("limit", "Some(5)")]),
        ),
        (
            "search",
            json!({"limit": "", "exact": "", "count": null, "small": 1}),
            search(&[("small", "Some(1)")]),
        ),
        (
            "search",
            json!({"limit": null, "count": -2.0}),
            search(&[("count", "-2")]),
        ),
        (
            "search",
            json!({"text": "", "order": "asc"}),
            search(&[("text", "Some(\"\")"), ("order", "Some(Asc)")]),
        ),
        (
            "search",
            json!({"ranges": [{"from": 1.0}]}),
            search(&[("ranges", "Some([Range { from: 1, tags: [] }])")]),
        ),
        (
            "twice",
            json!({"query": "q", "size": 3.0}),
            format!(
                "Twice {{ query: \"q\", filter: {}, page: Some(Page {{ size: 3 }}) }}",
                filter(&[])
            ),
        ),
        ("target", json!({"id": 5.0}), "Id { id: 5 }".to_owned()),
        (
            "target",
            json!({"name": "a"}),
            "Name { name: Some(\"a\"), lines: None }".to_owned(),
        ),
        (
            "target",
            json!({}),
            "Name { name: None, lines: None }".to_owned(),
        ),
        (
            "nested",
            json!({"target": {"id": 5.0}}),
            "Nested { target: Id { id: 5 }, searches: [] }".to_owned(),
        ),
        (
            "search_in",
            json!({"folder": "f", "search": {"limit": 5.0}}),
            format!("f {}", search(&[("limit", "Some(5)")])),
        ),
        (
            "open",
            json!({"target": {"lines": [1, 2.0]}}),
            "Name { name: None, lines: Some([1, 2]) } None".to_owned(),
        ),
    ] {
        assert_eq!(
            call(&server, tool, &arguments),
            expected,
            "{tool} {arguments}"
        );
    }
}

/// Accepts a number as text, although its schema is that of a number.
fn number_or_text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(u32),
        Text(String),
    }
    match Either::deserialize(deserializer)? {
        Either::Number(number) => Ok(number),
        Either::Text(text) => text.parse().map_err(serde::de::Error::custom),
    }
}

/// Types that see each value decide themselves, as before.
#[test]
fn decoders_that_accept_more_than_their_schema_keep_doing_so() {
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Loose {
        #[serde(deserialize_with = "number_or_text")]
        #[schemars(with = "u32")]
        size: u32,
        #[serde(flatten)]
        page: Option<Page2>,
    }
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Page2 {
        page: u32,
    }
    // A double option: `null` is not the same as nothing.
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Edit {
        #[serde(flatten)]
        change: Option<Change>,
    }
    #[expect(clippy::option_option, reason = "null deletes the value")]
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Change {
        #[serde(default, deserialize_with = "present")]
        due: Option<Option<u32>>,
    }
    #[expect(clippy::option_option, reason = "null deletes the value")]
    fn present<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Option<u32>>, D::Error> {
        Option::deserialize(deserializer).map(Some)
    }
    let server = Server::new("s", "1")
        .tool(Tool::new("loose").handler(show::<Loose>))
        .tool(Tool::new("edit").handler(show::<Edit>));
    assert_eq!(
        call(&server, "loose", &json!({"size": "7"})),
        "Loose { size: 7, page: None }"
    );
    let change = |due: &str| format!("Edit {{ change: Some(Change {{ due: {due} }}) }}");
    assert_eq!(call(&server, "edit", &json!({})), change("None"));
    assert_eq!(
        call(&server, "edit", &json!({"due": null})),
        change("Some(None)")
    );
    assert_eq!(
        call(&server, "edit", &json!({"due": 5.0})),
        change("Some(Some(5))")
    );
}
