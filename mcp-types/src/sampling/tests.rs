//! Tests of sampling messages and conversations.

use serde_json::{Value, json};

use super::{
    BrokenConversation, CreateMessageParams, CreateMessageResult, SamplingContent, SamplingMessage,
    StopReason,
};
use crate::content::{ContentBlock, ToolResultContent, ToolUseContent};
use crate::raw::RawObject;

fn call(id: &str) -> ContentBlock {
    ToolUseContent::new(id, "weather", RawObject::default()).into()
}

fn answers<'a>(ids: impl IntoIterator<Item = &'a str>) -> SamplingMessage {
    let answers = ids.into_iter().map(|id| answer(id).into());
    SamplingMessage::user(answers.collect::<Vec<ContentBlock>>())
}

fn answer(id: &str) -> ToolResultContent {
    ToolResultContent::new(id, vec!["sunny".into()])
}

#[test]
fn single_block_and_list_keep_their_form() {
    for content in [
        json!({"type": "text", "text": "hi"}),
        json!([{"type": "text", "text": "hi"}]),
        json!([]),
    ] {
        let read: SamplingContent = serde_json::from_value(content.clone()).unwrap();
        assert_eq!(read.blocks().len(), usize::from(content != json!([])));
        assert_eq!(serde_json::to_value(&read).unwrap(), content);
        let text = content.to_string();
        assert_eq!(
            serde_json::from_str::<SamplingContent>(&text).unwrap(),
            read
        );
    }
    for broken in ["1", "\"hi\"", "null", "[1]", "{}"] {
        assert!(
            serde_json::from_str::<SamplingContent>(broken).is_err(),
            "{broken}"
        );
    }
}

#[test]
fn conversation_with_tool_calls_and_results_is_valid() {
    let result =
        CreateMessageResult::new("m", vec![call("a"), call("b")]).stop_reason(StopReason::ToolUse);
    let asked: Vec<_> = result
        .content
        .tool_uses()
        .map(|call| call.id.clone())
        .collect();
    assert_eq!(asked, ["a", "b"]);
    let answers = answers(asked.iter().map(String::as_str));
    let value = serde_json::to_value(&answers).unwrap();
    assert_eq!(value["content"][1]["toolUseId"], "b");
    assert_eq!(
        serde_json::from_value::<SamplingMessage>(value).unwrap(),
        answers
    );
    let next = CreateMessageParams::new(
        [
            SamplingMessage::user("?"),
            SamplingMessage::new(result.role, result.content),
            answers,
        ],
        10,
    );
    assert_eq!(next.check_messages(), Ok(()));
}

#[test]
fn nested_tool_result_is_read_as_other() {
    // A tool result cannot contain tool calls and tool results. Such a block is kept unchanged.
    let value = json!({
        "type": "tool_result", "toolUseId": "a", "structuredContent": null,
        "content": [{"type": "tool_result", "toolUseId": 7, "content": "?"}],
    });
    let block: ContentBlock = serde_json::from_value(value.clone()).unwrap();
    let ContentBlock::ToolResult(result) = &block else {
        panic!("{block:?}")
    };
    assert!(matches!(result.content[..], [ContentBlock::Other(_)]));
    assert_eq!(result.structured_content, Some(Value::Null));
    assert_eq!(serde_json::to_value(&block).unwrap(), value);
}

#[test]
fn unknown_stop_reason_is_kept() {
    let value = json!({
        "role": "assistant", "content": {"type": "text", "text": "x"}, "model": "m",
        "stopReason": "lunch",
    });
    let result: CreateMessageResult = serde_json::from_value(value.clone()).unwrap();
    assert_eq!(result.stop_reason, Some(StopReason::from("lunch")));
    assert_eq!(serde_json::to_value(&result).unwrap(), value);
}

// spec: SAMP-08, SAMP-09
#[test]
fn check_messages_of_broken_conversation_fails() {
    use BrokenConversation::{Mixed, NotTheUser, Unanswered, Unasked};

    let asks = || SamplingMessage::assistant(vec![call("a"), call("b")]);
    let answers = |ids: &[&str]| answers(ids.iter().copied());
    let mixed = SamplingMessage::user(vec![answer("a").into(), ContentBlock::text("and?")]);
    let id = |id: &str| id.to_owned();
    for (messages, error) in [
        (
            vec![asks()],
            Unanswered {
                message: 0,
                id: id("a"),
            },
        ),
        (
            vec![asks(), answers(&["a"])],
            Unanswered {
                message: 0,
                id: id("b"),
            },
        ),
        (
            vec![asks(), SamplingMessage::user("hm"), answers(&["a", "b"])],
            Unanswered {
                message: 0,
                id: id("a"),
            },
        ),
        (
            vec![asks(), answers(&["a", "b", "c"])],
            Unasked {
                message: 1,
                id: id("c"),
            },
        ),
        (
            vec![asks(), answers(&["a", "b", "a"])],
            Unasked {
                message: 1,
                id: id("a"),
            },
        ),
        (
            vec![answers(&["a"])],
            Unasked {
                message: 0,
                id: id("a"),
            },
        ),
        (vec![asks(), mixed], Mixed { message: 1 }),
        (
            vec![asks(), SamplingMessage::assistant(answer("a"))],
            NotTheUser { message: 1 },
        ),
    ] {
        let found = CreateMessageParams::new(messages, 1).check_messages();
        assert_eq!(found, Err(error));
    }
    assert_eq!(CreateMessageParams::new([], 1).check_messages(), Ok(()));
}
