//! Tool sets: definitions for each provider, calls of models, results.

use std::sync::Arc;

use mcp::group::Group;
use mcp::prelude::*;
use mcp::types::{JsonObject, ResourceContents, ResourceLink};
use mcp::{ContentBlock, InProcess};
use mcp_toolset::{Provider, Tokens, ToolSet};
use serde_json::{Value, json};

use crate::checker::problems;
use crate::kit;

pub(crate) const PROVIDERS: [Provider; 5] = [
    Provider::Anthropic,
    Provider::OpenAiChat,
    Provider::OpenAiResponses,
    Provider::OpenAiResponsesStrict,
    Provider::Gemini,
];

/// Serves tools that return their arguments.
pub(crate) async fn client(tools: Vec<Tool>) -> Client {
    let server = tools
        .into_iter()
        .fold(Server::new("tools", "1.0.0"), |server, tool| {
            let echo = tool.handler(|RawArgs(arguments): RawArgs| arguments.as_str().to_owned());
            server.tool(echo.forwarded())
        });
    Client::connect(InProcess(server)).await.unwrap()
}

pub(crate) fn raw(name: &str, schema: Value) -> Tool {
    Tool::new(name).input_schema(serde_json::from_value::<JsonObject>(schema).unwrap())
}

/// Returns a reply with one call, in the shape of a provider.
pub(crate) fn reply(provider: Provider, name: &str, arguments: &Value) -> Value {
    let text = arguments.to_string();
    match provider {
        Provider::Anthropic => json!({"content": [
            {"type": "text", "text": "I call a tool."},
            {"type": "tool_use", "id": "c1", "name": name, "input": arguments},
        ]}),
        Provider::OpenAiChat => {
            json!({"choices": [{"message": {"role": "assistant", "tool_calls": [
                {"id": "c1", "type": "function", "function": {"name": name, "arguments": text}},
            ]}}]})
        }
        Provider::Gemini => json!({"candidates": [{"content": {"parts": [
            {"functionCall": {"name": name, "args": arguments}},
        ]}}]}),
        _ => json!({"output": [
            {"type": "reasoning"},
            {"type": "function_call", "call_id": "c1", "name": name, "arguments": text},
        ]}),
    }
}

/// Returns the text of a result, and whether it is an error.
pub(crate) fn text(provider: Provider, block: &Value) -> (String, bool) {
    let (text, is_error) = match provider {
        Provider::Anthropic => (&block["content"][0]["text"], block["is_error"] == true),
        Provider::OpenAiChat => (&block["content"], false),
        Provider::Gemini => {
            let response = &block["functionResponse"]["response"];
            match response.get("error") {
                Some(error) => (error, true),
                None => (&response["output"], false),
            }
        }
        _ => (&block["output"], false),
    };
    let text = text.as_str().unwrap_or_default();
    match text.strip_prefix("Error: ") {
        Some(text) => (text.to_owned(), true),
        None => (text.to_owned(), is_error),
    }
}

pub(crate) async fn run(
    tools: &ToolSet,
    provider: Provider,
    name: &str,
    arguments: Value,
) -> (String, bool) {
    let blocks = tools
        .run(provider, &reply(provider, name, &arguments))
        .await
        .unwrap();
    assert_eq!(blocks.len(), 1);
    text(provider, &blocks[0])
}

#[tokio::test]
async fn catalogs_pass_the_rules_for_each_provider() {
    let all = kit::tools();
    for provider in PROVIDERS {
        // A request has fewer tools than all catalogs together.
        for tools in all.chunks(100) {
            let tools = ToolSet::from(&client(tools.to_vec()).await);
            let definitions = tools.definitions(provider).await.unwrap();
            let found = problems(provider, &definitions);
            assert!(found.is_empty(), "{provider:?}: {found:#?}");
        }
    }
}

/// Schemas that providers refuse, as they stand in catalogs.
fn refused() -> Vec<Tool> {
    vec![
        raw("root.union", json!({"type": "object", "anyOf": [
            {"properties": {"a": {"type": "string"}, "c": {"type": "string"}}, "required": ["a", "c"]},
            {"properties": {"b": {"type": "string"}, "c": {"type": "string"}}, "required": ["b", "c"]},
        ]})),
        raw("reference", json!({"type": "object", "$defs": {
            "node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}, "size": {"type": "integer"}}},
        }, "properties": {"node": {"$ref": "#/$defs/node"}}})),
        raw("no_properties", json!({"type": "object"})),
        raw("types", json!({"type": "object", "properties": {
            "many": {"type": ["string", "number", "null"]},
            "maybe": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "level": {"enum": [1, 2, 3]},
            "kind": {"const": "fixed"},
            "anything": {"description": "Any value."},
            "url": {"type": "string", "format": "uri"},
            "map": {"type": "object", "additionalProperties": {"type": "integer"}},
            "list": {"type": "array"},
            "pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "integer"}]},
            "$filter": {"type": "string", "minLength": 1},
            "either": {"oneOf": [
                {"type": "object", "properties": {"x": {"type": "integer"}}, "required": ["x"]},
                {"type": "string"},
            ]},
        }, "required": ["many"], "patternProperties": {"^x-": {}}})),
        raw("deep", (0..12).fold(json!({"type": "string"}), |inner, _| {
            json!({"type": "object", "properties": {"in": inner}, "required": ["in"]})
        })),
    ]
}

#[test]
fn checker_refuses_what_providers_document() {
    for (provider, schema, rule) in [
        (
            Provider::Anthropic,
            json!({"type": "object", "properties": {}, "oneOf": []}),
            "root: oneOf",
        ),
        (
            Provider::OpenAiChat,
            json!({"type": "object"}),
            "not an object with properties",
        ),
        (
            Provider::OpenAiResponses,
            json!({"type": "object", "properties": {"a": {"type": "array"}}}),
            "missing items",
        ),
        (
            Provider::OpenAiResponsesStrict,
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}),
            "additionalProperties must be false",
        ),
        (
            Provider::OpenAiResponsesStrict,
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": false}),
            "every key",
        ),
        (
            Provider::Gemini,
            json!({"type": "object", "properties": {"a": {"type": ["string", "null"]}}}),
            "type must be specified",
        ),
        (
            Provider::Gemini,
            json!({"type": "object", "properties": {}, "additionalProperties": false}),
            "cannot find field",
        ),
    ] {
        let tools = match provider {
            Provider::Anthropic => json!([{"name": "a", "input_schema": schema}]),
            Provider::OpenAiChat => json!([{"function": {"name": "a", "parameters": schema}}]),
            Provider::Gemini => {
                json!([{"functionDeclarations": [{"name": "a", "parameters": schema}]}])
            }
            _ => json!([{"name": "a", "parameters": schema}]),
        };
        let found = problems(provider, &tools).join("; ");
        assert!(found.contains(rule), "{provider:?}: {found}");
    }
}

#[tokio::test]
async fn refused_schemas_are_rewritten() {
    let client = client(refused()).await;
    for provider in PROVIDERS {
        let tools = ToolSet::from(&client);
        let definitions = tools.definitions(provider).await.unwrap();
        let found = problems(provider, &definitions);
        assert!(found.is_empty(), "{provider:?}: {found:#?}");
    }
}

#[tokio::test]
async fn optional_text_is_a_text_or_null_in_the_definition() {
    let optional = json!({"anyOf": [{"type": "string"}, {"type": "null"}], "default": null});
    let schema = json!({"type": "object", "properties": {"a": optional}});
    let client = client(vec![raw("t", schema)]).await;
    for provider in PROVIDERS {
        let definitions = ToolSet::from(&client).definitions(provider).await.unwrap();
        let json = definitions.to_string();
        let expected = match provider {
            Provider::Gemini => r#""type":"string","nullable":true"#,
            _ => r#""type":["string","null"]"#,
        };
        assert!(json.contains(expected), "{provider:?}: {json}");
    }
}

#[tokio::test]
async fn definitions_have_a_total_size() {
    let text = "x".repeat(6_000);
    let tool = |number| raw(&format!("t{number}"), json!({"type": "object"})).description(&*text);
    let client = client((0..1_000).map(tool).collect()).await;
    for provider in PROVIDERS {
        let tools = ToolSet::from(&client).result_budget(Tokens(1_000));
        let definitions = tools.definitions(provider).await.unwrap().to_string();
        assert!(
            definitions.len() < 4_100_000,
            "{provider:?}: {}",
            definitions.len()
        );
        assert!(definitions.contains("read_result"), "{provider:?}");
    }
}

#[tokio::test]
async fn tool_with_an_endless_schema_is_left_out_and_refused() {
    let chain: serde_json::Map<_, _> = (0..1_990)
        .map(|number| {
            let next = format!("#/$defs/d{}", number + 1);
            (format!("d{number}"), json!({"anyOf": [{"$ref": next}]}))
        })
        .collect();
    let schema = json!({
        "type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": chain,
    });
    let good = raw("good", json!({"type": "object", "properties": {}}));
    let client = client(vec![raw("endless", schema), good]).await;
    for provider in PROVIDERS {
        let tools = ToolSet::from(&client);
        let definitions = tools.definitions(provider).await.unwrap().to_string();
        assert!(definitions.contains("good") && !definitions.contains("endless"));
        let (text, is_error) = run(&tools, provider, "endless", json!({"a": "x"})).await;
        assert!(is_error && text.contains("more than 128 steps"), "{text}");
    }
}

#[tokio::test]
async fn arguments_reach_the_server_as_it_expects_them() {
    let client = client(refused()).await;
    for provider in PROVIDERS {
        let tools = ToolSet::from(&client);
        let definitions = tools.definitions(provider).await.unwrap();
        let filter = definitions.to_string();
        let filter = filter
            .split('"')
            .find(|part| part.contains("filter"))
            .unwrap();
        let given = json!({
            "many": null, "maybe": null, "level": null, "url": null,
            "map": "{\"a\": 1}", "list": ["x"], filter: "f", "either": {"x": 1},
            "anything": "[1]", "kind": "fixed",
        });
        let (text, is_error) = run(&tools, provider, "Types", given).await;
        assert!(!is_error, "{provider:?}: {text}");
        let received: Value = serde_json::from_str(&text).unwrap();
        let expected = json!({
            "many": null, "maybe": null, "map": {"a": 1}, "list": ["x"], "$filter": "f", "either": {"x": 1},
            "anything": [1], "kind": "fixed",
        });
        assert_eq!(received, expected, "{provider:?}");
    }
}

#[tokio::test]
async fn mistakes_by_a_model_become_results() {
    let client = client(refused()).await;
    for provider in PROVIDERS {
        let tools = ToolSet::from(&client);
        let (text, is_error) = run(&tools, provider, "types", json!({"level": 1})).await;
        assert!(is_error && text.contains("`many`"), "{text}");
        let (text, is_error) = run(&tools, provider, "nothing", json!({})).await;
        assert!(is_error && text.contains("no tool is named"), "{text}");
    }
    let tools = ToolSet::from(&client);
    let broken = json!([{"id": "c1", "function": {"name": "types", "arguments": "{\"many\": "}}]);
    let blocks = tools.run(Provider::OpenAiChat, &broken).await.unwrap();
    assert!(
        text(Provider::OpenAiChat, &blocks[0])
            .0
            .contains("JSON object"),
        "{blocks:?}"
    );
}

#[tokio::test]
async fn calls_in_one_reply_share_one_list_and_are_bounded() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use mcp::middleware::from_fn;
    use tokio::task::yield_now;

    let [lists, running, most, ran] = [(); 4].map(|()| Arc::new(AtomicUsize::new(0)));
    let listed = lists.clone();
    let counting = from_fn(
        move |exchange: mcp::core::Exchange, next: mcp::middleware::Next| {
            if matches!(exchange.call, mcp::core::Call::ListTools(_)) {
                listed.fetch_add(1, Relaxed);
            }
            async move { next.run(exchange).await }
        },
    );
    let counts = (running, most.clone(), ran.clone());
    let pay = move || {
        let (running, most, ran) = counts.clone();
        async move {
            most.fetch_max(running.fetch_add(1, Relaxed) + 1, Relaxed);
            for _ in 0..50 {
                yield_now().await;
            }
            running.fetch_sub(1, Relaxed);
            ran.fetch_add(1, Relaxed);
            "paid"
        }
    };
    let server = Server::new("bank", "1.0.0")
        .tool(Tool::new("pay").handler(pay))
        .layer(counting);
    let client = Client::connect(InProcess(server)).await.unwrap();
    let tools = ToolSet::from(&client).deferred();
    tools.definitions(Provider::OpenAiChat).await.unwrap();
    let before = lists.load(Relaxed);
    let arguments = json!({"name": "pay", "arguments": {}}).to_string();
    let calls = (0..300).map(|number| {
        json!({"id": format!("c{number}"), "function": {"name": "call_tool", "arguments": arguments}})
    });
    let reply = Value::Array(calls.collect());
    let blocks = tools.run(Provider::OpenAiChat, &reply).await.unwrap();
    assert_eq!((blocks.len(), ran.load(Relaxed)), (300, 128));
    assert_eq!(lists.load(Relaxed), before + 1);
    let most = most.load(Relaxed);
    assert!((2..=16).contains(&most), "{most}");
    assert!(text(Provider::OpenAiChat, &blocks[127]).0.contains("paid"));
    let refused = text(Provider::OpenAiChat, &blocks[128]).0;
    assert!(refused.contains("128 calls"), "{refused}");
}

/// [`kit::PNG`] in base64.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAAB";

#[tokio::test]
async fn results_have_the_blocks_for_the_provider() {
    let server = Server::new("media", "1.0.0")
        .tool(Tool::new("photo").handler(|| {
            vec![
                ContentBlock::text("a photo\u{202e}\u{1b}[2K"),
                ContentBlock::image(kit::PNG, "image/png"),
                ContentBlock::from(ResourceLink::new("file:///a.txt", "a")),
                ContentBlock::audio(&b"RIFF\0\0\0\0WAVE"[..], "audio/x-wav"),
                ContentBlock::image(&b"<svg/>"[..], "image/svg+xml"),
            ]
        }))
        .tool(Tool::new("fails").handler(|| Err::<String, _>(ToolError::new("no photo"))));
    let client = Client::connect(InProcess(server)).await.unwrap();
    let tools = ToolSet::from(&client);
    let shown = "a photo\\u{202e}\\u{1b}[2K";
    for provider in PROVIDERS {
        let call = reply(provider, "photo", &json!({}));
        let blocks = tools.run(provider, &call).await.unwrap();
        let json = json!(blocks).to_string();
        assert!(json.contains(&shown.replace('\\', "\\\\")), "{json}");
        assert!(json.contains("[link file:///a.txt: a]"), "{json}");
        assert!(json.contains("[image image/svg+xml, 6 bytes]"), "{json}");
        assert!(json.contains(PNG), "{json}");
        let has_audio = matches!(provider, Provider::OpenAiChat | Provider::Gemini);
        assert_eq!(json.contains("UklGRgAAAABXQVZF"), has_audio, "{json}");
        assert_eq!(
            json.contains("[audio audio/wav, 12 bytes]"),
            !has_audio,
            "{json}"
        );
        let text_only = ToolSet::from(&client).text_only();
        let blocks = text_only.run(provider, &call).await.unwrap();
        let json = json!(blocks).to_string();
        assert!(
            json.contains("[image image/png, 24 bytes]") && !json.contains(PNG),
            "{json}"
        );
        assert_eq!(
            run(&tools, provider, "fails", json!({})).await,
            ("no photo".to_owned(), true)
        );
    }
    let chat = json!([
        {"id": "c1", "function": {"name": "photo", "arguments": "{}"}},
        {"id": "c2", "function": {"name": "fails", "arguments": "{}"}},
    ]);
    let messages = tools.run(Provider::OpenAiChat, &chat).await.unwrap();
    let roles: Vec<_> = messages.iter().map(|message| &message["role"]).collect();
    assert_eq!(roles, ["tool", "tool", "user"]);
    let content = &messages[2]["content"];
    let text = content[0]["text"].as_str().unwrap();
    assert!(text.contains("not written by the user"), "{text}");
    assert_eq!(
        content[1]["image_url"]["url"],
        format!("data:image/png;base64,{PNG}")
    );
    assert_eq!(
        content[2]["input_audio"],
        json!({"data": "UklGRgAAAABXQVZF", "format": "wav"})
    );
    let gemini = reply(Provider::Gemini, "photo", &json!({}));
    let parts = tools.run(Provider::Gemini, &gemini).await.unwrap();
    assert_eq!(
        parts[1],
        json!({"inlineData": {"mimeType": "audio/wav", "data": "UklGRgAAAABXQVZF"}})
    );
    let image = reply(Provider::Anthropic, "photo", &json!({}));
    let block = tools
        .run(Provider::Anthropic, &image)
        .await
        .unwrap()
        .remove(0);
    assert_eq!(block["tool_use_id"], "c1");
    assert_eq!(
        block["content"][1],
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG}})
    );
}

#[tokio::test]
async fn results_that_a_provider_refuses_are_repaired_or_told() {
    const JPEG: &[u8] = b"\xff\xd8\xff\xe0\0\x04ab\xff\xc0\0\x11\x08\0\x10\0\x20\x03";

    let image = |data: &[u8], kind: &str| vec![ContentBlock::image(data, kind)];
    let untyped = ResourceContents::blob("file:///a", kit::PNG);
    let wide = [&kit::PNG[..16], &[0, 0, 0x1f, 0x41, 0, 0, 0, 1]].concat();
    let blank = || vec![ContentBlock::text(""), ContentBlock::text(" \n")];
    let mut structured = CallToolResult::from_json(&json!({"a": 1})).unwrap();
    structured.content = blank();
    let mut failed = CallToolResult::new(image(kit::PNG, "image/png"));
    failed.is_error = Some(true);
    let cases = [
        ("jpeg_as_png", image(JPEG, "image/png"), "image/jpeg"),
        (
            "page_as_png",
            image(b"<!doctype html>", "image/png"),
            "image/png, 15 bytes, not of that type",
        ),
        (
            "empty",
            image(b"", "image/png"),
            "image/png, 0 bytes, not of that type",
        ),
        ("jpg", image(JPEG, "image/jpg"), "image/jpeg"),
        (
            "parameters",
            image(kit::PNG, "image/png; charset=binary"),
            "image/png",
        ),
        (
            "untyped",
            vec![ContentBlock::resource(untyped)],
            "image/png",
        ),
        ("blank", blank(), "(the result is empty)"),
        ("wide", image(&wide, "image/png"), "image/png"),
    ];
    let server = cases
        .iter()
        .fold(Server::new("s", "1"), |server, (name, blocks, _)| {
            let blocks = blocks.clone();
            server.tool(Tool::new(*name).handler(move || blocks.clone()))
        });
    let server = server
        .tool(Tool::new("structured").handler(move || structured.clone()))
        .tool(Tool::new("failed").handler(move || failed.clone()));
    let client = Client::connect(InProcess(server)).await.unwrap();
    let tools = ToolSet::from(&client);
    for provider in PROVIDERS {
        for (name, _, expected) in &cases {
            let blocks = tools
                .run(provider, &reply(provider, name, &json!({})))
                .await
                .unwrap();
            let json = json!(blocks).to_string();
            assert!(json.contains(expected), "{provider:?} {name}: {json}");
            assert!(
                !json.contains("image/jpg") && !json.contains("charset"),
                "{json}"
            );
            assert!(
                !json.contains("\"text\":\"\""),
                "{provider:?} {name}: {json}"
            );
            let is_sent = json.contains("base64") || json.contains("inlineData");
            let is_image = !matches!(*name, "page_as_png" | "empty" | "blank")
                && (*name != "wide" || provider != Provider::Anthropic);
            assert_eq!(is_sent, is_image, "{provider:?} {name}: {json}");
        }
        let (text, _) = run(&tools, provider, "structured", json!({})).await;
        assert_eq!(text, "{\"a\":1}", "{provider:?}");
        let blocks = tools
            .run(provider, &reply(provider, "failed", &json!({})))
            .await
            .unwrap();
        let json = json!(blocks).to_string();
        let is_sent = json.contains("base64") || json.contains("inlineData");
        assert_eq!(is_sent, provider != Provider::Anthropic, "{json}");
    }
}

#[tokio::test]
async fn long_results_are_cut_and_read_in_parts() {
    let server = Server::new("log", "1.0.0").tool(Tool::new("log").handler(|| {
        let lines = (1..=500).map(|number| format!("line {number}"));
        lines.collect::<Vec<_>>().join("\n")
    }));
    let client = Client::connect(InProcess(server)).await.unwrap();
    let tools = ToolSet::from(&client).result_budget(Tokens(100));
    let definitions = tools.definitions(Provider::Anthropic).await.unwrap();
    assert_eq!(definitions[1]["name"], "read_result");
    let (text, _) = run(&tools, Provider::Anthropic, "log", json!({})).await;
    assert!(text.len() < 600 && text.contains("\"r1\""), "{text}");
    let read = json!({"id": "r1", "search": "line 333"});
    let (text, _) = run(&tools, Provider::Anthropic, "read_result", read).await;
    assert_eq!(text, "333: line 333");
    let read = json!({"id": "r1"});
    let (text, _) = run(&tools, Provider::Anthropic, "read_result", read).await;
    assert!(text.ends_with("[cut here: ask for fewer lines]"), "{text}");
}

#[tokio::test]
async fn server_may_ask_for_longer_results() {
    const HINT: &str = "anthropic/maxResultSizeChars";

    let text = |count: usize| move || "x".repeat(count);
    let server = Server::new("log", "1.0.0")
        .tool(Tool::new("plain").handler(text(5_000)))
        .tool(Tool::new("long").meta(HINT, 5_000).handler(text(5_000)))
        .tool(Tool::new("short").meta(HINT, 1).handler(text(400)))
        .tool(
            Tool::new("huge")
                .meta(HINT, u64::MAX)
                .handler(text(600_000)),
        )
        .tool(Tool::new("result").handler(move || {
            let result = CallToolResult::from_text("x".repeat(5_000));
            result.meta(HINT, 5_000)
        }));
    let client = Client::connect(InProcess(server)).await.unwrap();
    let tools = ToolSet::from(&client).result_budget(Tokens(100));
    for (name, is_cut) in [
        ("plain", true),
        ("long", false),
        ("short", false),
        ("huge", true),
        ("result", false),
    ] {
        let (text, _) = run(&tools, Provider::Anthropic, name, json!({})).await;
        assert_eq!(text.contains("read_result"), is_cut, "{name}");
        assert!(text.len() < 501_000, "{name}");
    }
}

#[tokio::test]
async fn deferred_tools_in_a_group_are_found_and_called() {
    let chat = Arc::new(
        Server::new("chat", "1.0.0").tool(
            raw("post_message", json!({
                "type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"],
            }))
            .description("Posts a message to a channel")
            .handler(|RawArgs(arguments): RawArgs| arguments.as_str().to_owned()),
        ),
    );
    let handle = chat.tools();
    let served = chat.clone();
    let group = Group::builder()
        .server("chat", move || {
            Client::builder().connect(InProcess(served.clone()))
        })
        .build();
    let tools = ToolSet::from(&group)
        .filter(|tool| !tool.name.contains("secret"))
        .deferred();
    for provider in PROVIDERS {
        let definitions = tools.definitions(provider).await.unwrap();
        assert!(problems(provider, &definitions).is_empty());
        assert!(!definitions.to_string().contains("post_message"));
        let queries = json!({"queries": ["send a message"], "limit": null});
        let (found, _) = run(&tools, provider, "search_tools", queries).await;
        assert!(found.contains("chat__post_message"), "{found}");
        let call = json!({"name": "chat__post_message", "arguments": "{\"text\": \"hi\"}"});
        let called = run(&tools, provider, "call_tool", call).await;
        assert_eq!(called, ("{\"text\":\"hi\"}".to_owned(), false));
        let call = json!({"name": "chat__post_message", "arguments": {}});
        let (text, is_error) = run(&tools, provider, "call_tool", call).await;
        assert!(is_error && text.contains("`text`"), "{text}");
    }
    for name in ["secret_wipe", "translate"] {
        let tool = Tool::new(name).description("Translates text");
        handle.put(tool.handler(|| "done")).unwrap();
    }
    let call = json!({"name": "chat__secret_wipe"});
    let (text, is_error) = run(&tools, Provider::Anthropic, "call_tool", call).await;
    assert!(is_error, "a filtered tool: {text}");
}

/// The figures of the guide.
#[tokio::test]
async fn definitions_stay_small() {
    let catalog = kit::tools();
    for count in [10, 100, 1000] {
        let copies = (0..count).map(|number| {
            // Each server is used: 10 tools are not those of one server.
            let mut tool = catalog[(number * 37) % catalog.len()].clone();
            tool.name = format!("s{}{}", number / catalog.len(), tool.name);
            tool
        });
        let client = client(copies.collect()).await;
        let listed = ToolSet::from(&client);
        let listed = listed.definitions(Provider::Anthropic).await.unwrap();
        assert_eq!(listed.as_array().unwrap().len(), count);
        let deferred = ToolSet::from(&client).deferred();
        let deferred = deferred.definitions(Provider::Anthropic).await.unwrap();
        let (Tokens(listed), Tokens(deferred)) = (
            Tokens::of(&listed.to_string()),
            Tokens::of(&deferred.to_string()),
        );
        println!("{count} tools: {listed} tokens listed, {deferred} deferred");
        assert!(deferred < 800);
    }
}

#[tokio::test]
async fn reply_for_another_provider_is_an_error() {
    let tools = ToolSet::from(&client(vec![Tool::new("read")]).await);
    for provider in PROVIDERS {
        for other in PROVIDERS {
            let whole = reply(other, "read", &json!({}));
            let is_responses = |provider: Provider| {
                matches!(
                    provider,
                    Provider::OpenAiResponses | Provider::OpenAiResponsesStrict
                )
            };
            let is_same = provider == other || is_responses(provider) && is_responses(other);
            let ran = tools.run(provider, &whole).await;
            assert_eq!(ran.is_ok(), is_same, "{other:?} as {provider:?}: {ran:?}");
        }
        for wrong in [
            json!(null),
            json!("text"),
            json!({}),
            json!({"error": {"message": "x"}}),
        ] {
            let error = tools.run(provider, &wrong).await.unwrap_err();
            assert!(
                error.to_string().starts_with("expected a reply of"),
                "{error}"
            );
        }
        // A reply without calls ends the loop.
        assert_eq!(tools.run(provider, &json!([])).await, Ok(Vec::new()));
    }
    let text = json!({"role": "assistant", "content": "Done."});
    assert_eq!(tools.run(Provider::OpenAiChat, &text).await, Ok(Vec::new()));
}
