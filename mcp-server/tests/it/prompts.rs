//! Prompts without macros: parameters, results, errors, lists.

use mcp_core::{Call, Fault, ItemKind, Service as _};
use mcp_server::{
    Args, PromptError, PromptExt as _, PromptMessage, RawArgs, Server, State, assistant, user,
};
use mcp_types::{
    ContentBlock, Cursor, GetPromptParams, GetPromptResult, Page, Prompt, PromptArgument,
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use crate::kit::{fault, get, get_reply, get_text, prompts, reply, server};

fn empty() -> Server {
    Server::new("test", "1.0.0")
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Tone {
    Kind,
    Harsh,
}

#[derive(Deserialize, JsonSchema)]
struct Review {
    /// path below the root
    file: String,
    #[schemars(title = "Number of lines")]
    lines: Option<u32>,
    tone: Option<Tone>,
    #[serde(default)]
    deep: bool,
}

fn review(Args(p): Args<Review>) -> [PromptMessage; 2] {
    let text = format!("{} {:?} {:?} {}", p.file, p.lines, p.tone, p.deep);
    [user(text), assistant("Well.")]
}

#[test]
fn every_result_type_becomes_messages() {
    let server = server(
        empty()
            .state(7_u8)
            .prompt(Prompt::new("str").handler(|| "hi"))
            .prompt(Prompt::new("string").handler(async |State(n): State<u8>| n.to_string()))
            .prompt(Prompt::new("block").handler(|| ContentBlock::text("hi")))
            .prompt(Prompt::new("message").handler(|| assistant("hi")))
            .prompt(Prompt::new("vec").handler(|| vec![user("a"), assistant("b")]))
            .prompt(Prompt::new("array").handler(|| [user("a")]))
            .prompt(Prompt::new("ok").handler(|| Ok::<_, PromptError>("hi")))
            .prompt(Prompt::new("full").description("listed").handler(|| {
                GetPromptResult::new([user("a")])
                    .description("own")
                    .meta("k", 1)
            }))
            .prompt(
                Prompt::new("described")
                    .description("listed")
                    .handler(|| "hi"),
            ),
    );
    for (prompt, text) in [
        ("str", "user: hi"),
        ("string", "user: 7"),
        ("block", "user: hi"),
        ("message", "assistant: hi"),
        ("vec", "user: a\nassistant: b"),
        ("array", "user: a"),
        ("ok", "user: hi"),
        ("full", "user: a"),
    ] {
        assert_eq!(get_text(&server, prompt, "{}"), text, "{prompt}");
    }
    assert_eq!(
        get(&server, "full", "{}").description.as_deref(),
        Some("own")
    );
    assert_eq!(
        get(&server, "described", "{}").description.as_deref(),
        Some("listed")
    );
    let without = Call::GetPrompt(GetPromptParams::new("str", None));
    assert!(matches!(
        reply(&server, without),
        mcp_core::Reply::Complete { .. }
    ));
}

#[test]
fn arguments_are_listed_and_parsed_from_strings() {
    let server = server(empty().prompt(Prompt::new("review").handler(review)));
    let listed = serde_json::to_value(&prompts(&server)[0].arguments).unwrap();
    assert_eq!(
        listed,
        json!([
            {"name": "file", "description": "path below the root", "required": true},
            {"name": "lines", "title": "Number of lines", "required": false},
            {"name": "tone", "required": false},
            {"name": "deep", "required": false},
        ])
    );
    assert_eq!(
        get_text(
            &server,
            "review",
            r#"{"file": "7", "lines": "3", "tone": "kind", "deep": "true"}"#
        ),
        "user: 7 Some(3) Some(Kind) true\nassistant: Well."
    );
    // Values of the type itself are accepted as well.
    assert_eq!(
        get_text(
            &server,
            "review",
            r#"{"file": "7", "lines": 3, "tone": null, "deep": true}"#
        ),
        "user: 7 Some(3) None true\nassistant: Well."
    );
    assert_eq!(
        get_text(&server, "review", r#"{"file": ""}"#),
        "user:  None None false\nassistant: Well."
    );
    for (arguments, expected) in [
        ("{}", "missing `file`"),
        (r#"{"file": 7}"#, "`file`: expected a string, got 7"),
        (
            r#"{"file": "a", "lines": "x"}"#,
            "`lines`: expected a whole number, got \"x\"",
        ),
        (
            r#"{"lines": "x", "deep": "maybe"}"#,
            "missing `file`; `lines`: expected a whole number, got \"x\"; \
             `deep`: expected true or false, got \"maybe\"",
        ),
        (
            r#"{"file": "a", "tone": "x"}"#,
            "`tone`: expected \"kind\" or \"harsh\", got \"x\"",
        ),
    ] {
        let expected = format!("invalid arguments: {expected}");
        assert_eq!(
            fault(get_reply(&server, "review", arguments)),
            Fault::bad_params(expected)
        );
    }
}

#[test]
fn declared_arguments_are_required() {
    let server = server(
        empty().prompt(
            Prompt::new("echo")
                .argument(PromptArgument::new("a").required())
                .argument(PromptArgument::new("b").required())
                .argument(PromptArgument::new("c"))
                .handler(|raw: RawArgs| raw.as_str().to_owned()),
        ),
    );
    assert_eq!(
        get_text(&server, "echo", r#"{"a":"1","b":"2"}"#),
        r#"user: {"a":"1","b":"2"}"#
    );
    assert_eq!(
        fault(get_reply(&server, "echo", r#"{"c": "3"}"#)),
        Fault::bad_params("invalid arguments: missing `a`, `b`")
    );
    let listed = serde_json::to_value(&prompts(&server)[0].arguments).unwrap();
    assert_eq!(
        listed,
        json!([{"name": "a", "required": true}, {"name": "b", "required": true}, {"name": "c"}])
    );
}

#[test]
fn error_in_a_prompt_becomes_a_fault() {
    let server = server(
        empty()
            .prompt(
                Prompt::new("io").handler(|| -> Result<String, PromptError> {
                    Ok(std::fs::read_to_string("/nowhere/at/all")?)
                }),
            )
            .prompt(
                Prompt::new("params")
                    .handler(|| Err::<String, _>(PromptError::invalid_params("not so"))),
            )
            .prompt(Prompt::new("panic").handler(|| -> String { panic!("secret") })),
    );
    assert!(matches!(
        fault(get_reply(&server, "io", "{}")),
        Fault::Internal(_)
    ));
    assert_eq!(
        fault(get_reply(&server, "params", "{}")),
        Fault::bad_params("not so")
    );
    assert_eq!(
        fault(get_reply(&server, "panic", "{}")),
        Fault::internal("the handler of panic failed")
    );
    assert_eq!(
        fault(get_reply(&server, "unknown", "{}")),
        Fault::NoSuchItem {
            kind: ItemKind::Prompt,
            id: "unknown".into()
        }
    );
}

#[test]
fn prompts_are_listed_and_mistakes_reported() {
    // spec: PROMPT-02
    let listing = server(
        empty()
            .prompt(Prompt::new("b").title("B").handler(|| ""))
            .prompt(Prompt::new("a").handler(|| "")),
    );
    let names: Vec<_> = prompts(&listing)
        .into_iter()
        .map(|prompt| prompt.name)
        .collect();
    assert_eq!(names, ["b", "a"]);
    assert!(listing.profile().capabilities.prompts.is_some());
    assert!(listing.profile().capabilities.completions.is_none());
    let page = Call::ListPrompts(Page::from(Cursor::new("x")));
    assert!(matches!(
        fault(reply(&listing, page)),
        Fault::BadParams { .. }
    ));

    let none = server(empty());
    let list = Call::ListPrompts(Page::default());
    assert!(matches!(
        fault(reply(&none, list)),
        Fault::NoSuchMethod { .. }
    ));

    let broken = empty()
        .prompt(Prompt::new("a").handler(|State(n): State<u8>| n.to_string()))
        .prompt(Prompt::new("a").handler(|| ""));
    assert_eq!(
        broken.check().unwrap_err().problems(),
        [
            "the prompt `a` takes `State<u8>`, which is missing; add `.state(…)`",
            "two prompts are named `a`; rename one",
        ]
    );
}
