//! Arguments that count as absent, and messages about formats and tags.

use std::net::IpAddr;

use mcp_macros::server;
use mcp_server::{Args, PromptExt as _, Server, ToolExt as _};
use mcp_types::{Prompt, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::kit::{call_error, call_text, get_text, server};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Level {
    Low,
    High,
}

fn three() -> u32 {
    3
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Order {
    #[serde(default = "three")]
    count: u32,
    #[serde(default)]
    is_urgent: bool,
    level: Option<Level>,
    list: Option<Vec<u8>>,
    address: Option<IpAddr>,
    note: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Lines {
    lines: u32,
    address: IpAddr,
    #[serde(default)]
    inner: Vec<Order>,
}

struct Shop;

#[server(crate = mcp_server)]
impl Shop {
    #[tool]
    fn order(
        &self,
        #[arg(default = 3)] count: u32,
        #[arg(default = false)] is_urgent: bool,
        level: Option<Level>,
        list: Option<Vec<u8>>,
        address: Option<IpAddr>,
        note: Option<String>,
    ) -> String {
        format!("{count} {is_urgent} {level:?} {list:?} {address:?} {note:?}")
    }

    #[tool]
    fn lines(&self, lines: u32, address: IpAddr) -> String {
        format!("{lines} {address}")
    }

    #[prompt]
    fn review(&self, file: String, lines: Option<u32>, tone: Option<String>) -> String {
        format!("{file:?} {lines:?} {tone:?}")
    }
}

fn described() -> Server {
    #[derive(Deserialize, JsonSchema)]
    struct Review {
        file: String,
        lines: Option<u32>,
        tone: Option<String>,
    }
    let order = Tool::new("order").handler(|Args(order): Args<Order>| {
        let Order {
            count,
            is_urgent,
            level,
            list,
            address,
            note,
        } = order;
        format!("{count} {is_urgent} {level:?} {list:?} {address:?} {note:?}")
    });
    let lines = Tool::new("lines").handler(|Args(lines): Args<Lines>| {
        let counts = lines.inner.iter().map(|order| order.count);
        format!(
            "{} {} {:?}",
            lines.lines,
            lines.address,
            counts.collect::<Vec<_>>()
        )
    });
    let review = Prompt::new("review").handler(|Args(review): Args<Review>| {
        let Review { file, lines, tone } = review;
        format!("{file:?} {lines:?} {tone:?}")
    });
    Server::new("s", "1").tool(order).tool(lines).prompt(review)
}

// spec: TOOL-20
#[test]
fn null_and_empty_text_are_absent_unless_type_accepts_them() {
    for server in [server(Shop), described()] {
        let none = "3 false None None None";
        for (arguments, expected) in [
            (
                json!({"count": null, "is_urgent": null, "level": null}),
                format!("{none} None"),
            ),
            (
                json!({"count": "", "is_urgent": "", "level": "", "list": "", "address": ""}),
                format!("{none} None"),
            ),
            // A text may be empty.
            (
                json!({"note": "", "count": ""}),
                format!("{none} Some(\"\")"),
            ),
            (json!({"note": " "}), format!("{none} Some(\" \")")),
        ] {
            assert_eq!(
                call_text(&server, "order", &arguments.to_string()),
                expected
            );
        }
        let error = call_error(&server, "lines", r#"{"lines": "", "address": "::1"}"#);
        assert_eq!(error, "invalid arguments: missing `lines`");
        let error = call_error(&server, "order", r#"{"count": "x", "is_urgent": ""}"#);
        assert_eq!(
            error,
            "invalid arguments: `count`: expected a whole number, got a string"
        );
    }
    let inner =
        r#"{"lines": 1, "address": "::1", "inner": [{"count": null}, {"count": "", "list": ""}]}"#;
    assert_eq!(call_text(&described(), "lines", inner), "1 ::1 [3, 3]");
}

// spec: TOOL-20
#[test]
fn error_names_the_expected_format_with_an_example() {
    for server in [server(Shop), described()] {
        let error = call_error(&server, "lines", r#"{"lines": 1, "address": "local"}"#);
        let expected = "`address`: expected ip, such as 192.0.2.1, got \"local\"";
        assert_eq!(error, format!("invalid arguments: {expected}"));
    }
}

// spec: PROMPT-05
#[test]
fn blank_optional_prompt_argument_is_absent() {
    for server in [server(Shop), described()] {
        for blank in ["", " "] {
            let arguments = json!({"file": "", "lines": blank, "tone": blank});
            let text = get_text(&server, "review", &arguments.to_string());
            assert_eq!(text, "user: \"\" None None");
        }
    }
}
