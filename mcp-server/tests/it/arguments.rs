//! Plain parameters as arguments: accepted values, and errors for others.

use std::borrow::Cow;
use std::collections::BTreeMap;

use mcp_macros::server;
use mcp_server::{Args, RawArgs, Routes, Server};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::kit::{call_error, call_text, input, server};

type Maybe<T> = Option<T>;

#[derive(Deserialize, JsonSchema)]
struct Point {
    x: i32,
    tags: Vec<String>,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Env {
    Test,
    Live,
}

const MOST: u8 = 8;

struct Desk;

#[server(crate = mcp_server)]
impl Desk {
    #[tool]
    fn add(&self, a: f64, b: f64) -> f64 {
        a + b
    }

    #[tool]
    async fn greet(&self, name: String, r#type: Option<String>, again: Maybe<u8>) -> String {
        format!("{name} {type:?} {again:?}", r#type = r#type)
    }

    #[tool]
    fn page(
        &self,
        #[arg(default = 10, range = 1..=100)] limit: u32,
        #[arg(default = "name")] order: String,
        #[arg(default)] tags: Vec<String>,
        #[arg(default = Env::Test)] env: Env,
    ) -> String {
        format!("{limit} {order} {tags:?} {env:?}")
    }

    #[tool]
    fn ranges(
        &self,
        #[arg(range = ..-1)] below: Option<i64>,
        #[arg(range = 0.5..)] from: Option<f64>,
        #[arg(range = 0..=1)] share: Option<f32>,
        #[arg(range = 2..MOST)] some: Option<usize>,
    ) -> String {
        format!("{below:?} {from:?} {share:?} {some:?}")
    }

    #[tool]
    fn place(&self, point: Point, more: Vec<Point>, by_name: BTreeMap<String, Point>) -> i32 {
        let all = more.iter().chain(by_name.values());
        point.x
            + all
                .map(|point| point.x + i32::try_from(point.tags.len()).unwrap())
                .sum::<i32>()
    }

    #[tool]
    fn anything(&self, value: Value, text: Cow<'_, str>) -> String {
        format!("{value} {text}")
    }

    #[tool]
    fn nothing(&self) {}

    #[tool]
    fn texts(
        &self,
        #[arg(length = 2..=3, pattern = "^[A-Z]+$")] code: String,
        #[arg(length = ..3)] tags: Option<Vec<String>>,
    ) -> String {
        format!("{code} {tags:?}")
    }

    #[tool]
    fn renamed(
        &self,
        #[arg(name = "first-name")] name: String,
        #[arg(name = "pair")] (a, b): (i32, i32),
    ) -> String {
        format!("{name} {}", a + b)
    }

    #[tool]
    fn whole(&self, Args(point): Args<Point>) -> i32 {
        point.x
    }

    #[tool]
    fn raw(&self, raw: RawArgs) -> String {
        raw.as_str().to_owned()
    }
}

#[test]
fn arguments_are_decoded_into_parameter_types() {
    let server = server(Desk);
    assert_eq!(call_text(&server, "add", r#"{"b": 2, "a": 1.5}"#), "3.5");
    assert_eq!(
        call_text(
            &server,
            "place",
            r#"{"point": {"x": 1, "tags": []}, "more": [{"x": 2, "tags": ["a"]}], "by_name": {}}"#
        ),
        "4"
    );
    assert_eq!(
        call_text(
            &server,
            "anything",
            r#"{"value": [1, null], "text": "a\nb"}"#
        ),
        "[1,null] a\nb"
    );
    assert_eq!(
        call_text(&server, "anything", r#"{"value": null, "text": ""}"#),
        "null "
    );
    assert_eq!(
        call_text(
            &server,
            "renamed",
            r#"{"first-name": "Ada", "pair": [1, 2]}"#
        ),
        "Ada 3"
    );
}

#[test]
fn argument_name_with_json_escape_is_found() {
    assert_eq!(
        call_text(&server(Desk), "add", r#"{"\u0061": 1, "b": 2}"#),
        "3"
    );
}

#[test]
fn absent_option_is_none() {
    let server = server(Desk);
    assert_eq!(
        call_text(&server, "greet", r#"{"name": "Ada"}"#),
        "Ada None None"
    );
    assert_eq!(
        call_text(
            &server,
            "greet",
            r#"{"name": "Ada", "type": null, "again": null}"#
        ),
        "Ada None None"
    );
    assert_eq!(
        call_text(
            &server,
            "greet",
            r#"{"name": "Ada", "type": "x", "again": 3}"#
        ),
        r#"Ada Some("x") Some(3)"#
    );
}

#[test]
fn absent_argument_has_default() {
    let server = server(Desk);
    assert_eq!(call_text(&server, "page", "{}"), "10 name [] Test");
    assert_eq!(
        call_text(
            &server,
            "page",
            r#"{"limit": 100, "order": "age", "tags": ["a"], "env": "live"}"#
        ),
        r#"100 age ["a"] Live"#
    );
}

#[test]
fn raw_identifier_and_option_set_argument_name() {
    let server = server(Desk);
    assert_eq!(call_text(&server, "whole", r#"{"x": 1, "tags": []}"#), "1");
    assert_eq!(
        call_text(&server, "raw", r#"{"any":  [1]}"#),
        r#"{"any":  [1]}"#
    );
}

#[test]
fn mismatched_argument_is_reported_with_path() {
    let server = server(Desk);
    for (tool, arguments, error) in [
        (
            "add",
            r#"{"a": "one", "b": 2}"#,
            "invalid arguments: `a`: expected a number, got a string",
        ),
        (
            "add",
            r#"{"a": null, "b": 2}"#,
            "invalid arguments: `a`: expected a number, got null",
        ),
        (
            "place",
            r#"{"point": {"x": 1, "tags": ["", 2]}, "more": [], "by_name": {}}"#,
            "invalid arguments: `point.tags[1]`: expected a string, got a number",
        ),
        (
            "place",
            r#"{"point": {"x": 1, "tags": []}, "more": [{"x": 1.5}], "by_name": {}}"#,
            "invalid arguments: `more[0]`: missing `tags`; `more[0].x`: expected a whole number, got 1.5",
        ),
        (
            "place",
            r#"{"point": {"x": 1, "tags": []}, "more": [], "by_name": {"k": {"x": 1}}}"#,
            "invalid arguments: `by_name.k`: missing `tags`",
        ),
        (
            "page",
            r#"{"env": "prod"}"#,
            "invalid arguments: `env`: expected \"test\" or \"live\", got \"prod\"",
        ),
        (
            "whole",
            r#"{"x": []}"#,
            "invalid arguments: missing `tags`; `x`: expected a whole number, got an array",
        ),
    ] {
        assert_eq!(call_error(&server, tool, arguments), error);
    }
}

#[test]
fn missing_unknown_and_repeated_names_are_reported_together() {
    let server = server(Desk);
    for (arguments, error) in [
        ("{}", "invalid arguments: missing `a`, `b`"),
        (r#"{"a": 1}"#, "invalid arguments: missing `b`"),
        (
            r#"{"a": 1, "b": 2, "c": {"d": []}}"#,
            "invalid arguments: unknown `c`, expected `a`, `b`",
        ),
        (
            r#"{"a": 1, "B": 2}"#,
            "invalid arguments: missing `b`; unknown `B`, expected `a`, `b`",
        ),
        (
            r#"{"a": 1, "b": 2, "a": 3}"#,
            "invalid arguments: `a`: given more than once",
        ),
    ] {
        assert_eq!(call_error(&server, "add", arguments), error);
    }
    let many: Vec<_> = (0..1000)
        .map(|i| format!("\"{i}{}\": 1", "x".repeat(1000)))
        .collect();
    let error = call_error(&server, "add", &format!("{{{}}}", many.join(",")));
    assert!(error.len() < 500, "{error}");
}

#[test]
fn call_without_arguments_counts_as_empty_object() {
    use crate::kit::exchange;
    use futures::executor::block_on;
    use mcp_core::{Call, Reply, Service as _};
    use mcp_types::CallToolParams;

    let call = |tool: &str| {
        let call = Call::CallTool(CallToolParams::new(tool, None));
        block_on(server(Desk).call(exchange(call)))
    };
    assert!(matches!(call("nothing"), Reply::Complete { .. }));
    assert!(matches!(call("page"), Reply::Complete { .. }));
}

#[test]
fn tool_without_parameters_refuses_arguments() {
    let server = server(Desk);
    assert_eq!(input(&server, "nothing")["additionalProperties"], false);
    assert_eq!(call_text(&server, "nothing", "{}"), "");
    assert_eq!(
        call_error(&server, "nothing", r#"{"random_string": "x"}"#),
        "invalid arguments: unknown `random_string`, expected no arguments"
    );
}

#[test]
fn error_lists_all_mistakes_in_the_arguments() {
    let server = server(Desk);
    for (tool, arguments, error) in [
        (
            "page",
            r#"{"limit": 500, "order": 1, "tags": "a", "env": "x", "more": 1}"#,
            "invalid arguments: unknown `more`, expected `limit`, `order`, `tags`, `env`; \
             `order`: expected a string, got a number; `tags`: expected an array, got a string; \
             `env`: expected \"test\" or \"live\", got \"x\"; \
             `limit`: 500 is out of range, expected 1 to 100",
        ),
        (
            "add",
            r#"{"a": "x"}"#,
            "invalid arguments: missing `b`; `a`: expected a number, got a string",
        ),
        (
            "add",
            r#"{"a": "x", "a": 1}"#,
            "invalid arguments: `a`: given more than once; missing `b`",
        ),
        (
            "greet",
            r#"{"name": 1, "again": 300}"#,
            "invalid arguments: `name`: expected a string, got a number; \
             `again`: 300 is out of range, expected 0 to 255",
        ),
        (
            "whole",
            r#"{"x": 5000000000, "tags": [1, null]}"#,
            "invalid arguments: `x`: 5000000000 is out of range, expected -2147483648 to 2147483647; \
             `tags[0]`: expected a string, got a number; `tags[1]`: expected a string, got null",
        ),
    ] {
        assert_eq!(call_error(&server, tool, arguments), error);
    }
}

#[test]
fn whole_float_is_accepted_for_integer() {
    let server = server(Desk);
    assert_eq!(
        call_text(&server, "page", r#"{"limit": 5.0}"#),
        "5 name [] Test"
    );
    assert_eq!(
        call_text(&server, "whole", r#"{"x": -3.0, "tags": []}"#),
        "-3"
    );
    assert_eq!(
        call_text(
            &server,
            "place",
            r#"{"point": {"x": 1.0, "tags": []}, "more": [{"x": 2e0, "tags": []}], "by_name": {}}"#
        ),
        "3"
    );
    assert_eq!(
        call_error(&server, "page", r#"{"limit": 5.5}"#),
        "invalid arguments: `limit`: expected a whole number, got 5.5"
    );
}

#[test]
fn length_and_pattern_are_published_and_checked() {
    let server = server(Desk);
    assert_eq!(
        input(&server, "texts")["properties"],
        json!({
            "code": {"type": "string", "minLength": 2, "maxLength": 3, "pattern": "^[A-Z]+$"},
            "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 2},
        })
    );
    let arguments = r#"{"code": "AB", "tags": ["x", "y"]}"#;
    assert_eq!(
        call_text(&server, "texts", arguments),
        r#"AB Some(["x", "y"])"#
    );
    assert_eq!(
        call_error(
            &server,
            "texts",
            r#"{"code": "ABCD", "tags": ["x", "y", "z"]}"#
        ),
        "invalid arguments: `code`: has 4 characters, expected 2 to 3 characters; \
         `tags`: has 3 elements, expected at most 2 elements"
    );
    assert_eq!(
        call_error(&server, "texts", r#"{"code": "ab"}"#),
        "invalid arguments: `code`: expected text that matches `^[A-Z]+$`, got \"ab\""
    );
}

#[test]
fn argument_out_of_range_is_rejected() {
    let server = server(Desk);
    assert_eq!(
        call_text(
            &server,
            "ranges",
            r#"{"below": -2, "from": 0.5, "share": 1, "some": 7}"#
        ),
        "Some(-2) Some(0.5) Some(1.0) Some(7)"
    );
    assert_eq!(
        call_text(&server, "ranges", r#"{"below": null}"#),
        "None None None None"
    );
    for (tool, arguments, error) in [
        (
            "page",
            r#"{"limit": 500}"#,
            "invalid arguments: `limit`: 500 is out of range, expected 1 to 100",
        ),
        (
            "page",
            r#"{"limit": 0}"#,
            "invalid arguments: `limit`: 0 is out of range, expected 1 to 100",
        ),
        (
            "ranges",
            r#"{"below": -1}"#,
            "invalid arguments: `below`: -1 is out of range, expected below -1",
        ),
        (
            "ranges",
            r#"{"from": 0.25}"#,
            "invalid arguments: `from`: 0.25 is out of range, expected at least 0.5",
        ),
        (
            "ranges",
            r#"{"share": 1.5}"#,
            "invalid arguments: `share`: 1.5 is out of range, expected 0 to 1",
        ),
        (
            "ranges",
            r#"{"some": 8}"#,
            "invalid arguments: `some`: 8 is out of range, expected at least 2 and below 8",
        ),
    ] {
        assert_eq!(call_error(&server, tool, arguments), error);
    }
}

struct Mixed;

#[server(crate = mcp_server, routes = tools)]
impl Mixed {
    #[tool]
    fn both(Args(point): Args<Point>, more: i32) -> i32 {
        point.x + more
    }

    #[tool]
    fn outside(#[arg(default = 0, range = 1..)] a: i32) -> i32 {
        a
    }

    #[tool]
    fn short(#[arg(default = "abc", length = ..=2)] a: String) -> String {
        a
    }

    #[tool]
    fn mirrored(#[arg(header = "Share")] share: f64) -> f64 {
        share
    }

    #[tool]
    fn same(#[arg(header = "Region")] a: String, #[arg(header = "region")] b: String) -> String {
        a + &b
    }
}

#[test]
fn check_reports_invalid_parameters() {
    let routes: Routes = Mixed::tools();
    let error = Server::new("mixed", "1").merge(routes).check().unwrap_err();
    expect_test::expect![[r#"
        the tool `both`: more than one parameter describes the arguments; use one `Args<T>`, or plain parameters
        the tool `outside`: the argument `a`: its default: 0 is out of range, expected at least 1
        the tool `short`: the argument `a`: its default: has 3 characters, expected at most 2 characters
        the tool `mirrored`: `x-mcp-header` at "/properties/share" of the input schema: a property with a header must be an integer, a string or a boolean; its type is "number"
        the tool `same`: `x-mcp-header` at "/properties/b" of the input schema: "region" is used twice, and case does not matter; rename one"#]].assert_eq(&error.problems().join("\n"));
}
