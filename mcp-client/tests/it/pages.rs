//! Paginated lists.

use std::time::Duration;

use futures::{FutureExt, StreamExt, TryStreamExt};
use mcp_types::Cursor;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::script::{Script, Step, error, progress, result, say, wait};

fn tools(names: &[&str], next: Value) -> Vec<Step> {
    let tools: Vec<_> = names
        .iter()
        .map(|name| json!({"name": name, "inputSchema": {"type": "object"}}))
        .collect();
    vec![result(&json!({"tools": tools, "nextCursor": next}))]
}

// spec: PAG-02
#[tokio::test]
async fn stream_yields_items_from_all_pages() {
    // spec: PAG-03
    // The empty string is a valid cursor, and pages may be empty.
    let script = Script::new([
        tools(&["a", "b"], json!("")),
        tools(&[], json!("2")),
        tools(&["c"], Value::Null),
    ]);
    let client = script.client().await;
    let names: Vec<_> = client
        .list_tools()
        .await
        .unwrap()
        .into_iter()
        .map(|tool| tool.name)
        .collect();
    assert_eq!(names, ["a", "b", "c"]);
    let cursors: Vec<_> = script
        .sent()
        .iter()
        .map(|sent| sent.body["params"]["cursor"].clone())
        .collect();
    assert_eq!(cursors, [Value::Null, json!(""), json!("2")]);
}

#[tokio::test]
async fn stream_requests_pages_lazily() {
    let script = Script::new([tools(&["a"], json!("1")), tools(&["b"], json!("2"))]);
    let mut stream = script.client().await.list_tools().stream();
    assert!(script.sent().is_empty());
    assert_eq!(stream.try_next().await.unwrap().unwrap().name, "a");
    assert_eq!(script.sent().len(), 1);
    assert_eq!(stream.try_next().await.unwrap().unwrap().name, "b");
    assert_eq!(script.sent().len(), 2);
    drop(stream);
    assert_eq!(script.sent().len(), 2);
}

// spec: PAG-03
#[tokio::test]
async fn page_by_cursor_is_requested() {
    let script = Script::new([tools(&["a"], json!("1")), tools(&["b"], Value::Null)]);
    let client = script.client().await;
    let first = client
        .list_tools()
        .page(None)
        .header("x-a", "1")
        .await
        .unwrap();
    let cursor = first.next_cursor.unwrap();
    assert_eq!(cursor, Cursor::new("1"));
    let second = client.list_tools().page(cursor).await.unwrap();
    assert_eq!((second.tools.len(), second.next_cursor), (1, None));
}

#[tokio::test]
async fn repeated_page_ends_list_and_keeps_each_item_once() {
    let ignored_cursor = [
        tools(&["a", "b"], json!("1")),
        tools(&["a", "b"], json!("1")),
    ];
    let new_cursors = [
        tools(&["a"], json!("1")),
        tools(&["b"], json!("2")),
        tools(&["b"], json!("3")),
    ];
    let one_cursor = [
        tools(&["a"], json!("")),
        tools(&["b"], json!("")),
        tools(&["a", "b"], json!("")),
    ];
    let empty = [
        tools(&["a", "b"], json!("1")),
        tools(&[], json!("2")),
        tools(&[], json!("2")),
    ];
    for pages in [
        ignored_cursor.into_iter().collect::<Vec<_>>(),
        new_cursors.into_iter().collect(),
        one_cursor.into_iter().collect(),
        empty.into_iter().collect(),
    ] {
        let count = pages.len();
        let script = Script::new(pages);
        let client = script.client().await;
        let mut events = client.omission_events();
        let listed = client.list_tools().await.unwrap();
        let names: Vec<_> = listed.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(script.sent().len(), count);
        let expected = format!(
            "tools/list: page {count} is left out: the server repeats its pages: the list ends here"
        );
        assert_eq!(events.next().await.unwrap().to_string(), expected);
        assert_eq!(events.next().now_or_never(), None);
    }
}

#[tokio::test]
async fn one_page_keeps_what_the_server_lists_twice() {
    let script = Script::new([tools(&["a", "a"], Value::Null)]);
    assert_eq!(script.client().await.list_tools().await.unwrap().len(), 2);
}

#[tokio::test]
async fn list_over_default_page_limit_fails() {
    let script = Script::new((0..2000).map(|number| tools(&[], json!(number.to_string()))));
    let error = script.client().await.list_tools().await.unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("the list has more than 1000 pages; raise `max_pages`"),
        "{error}"
    );
    assert_eq!(script.sent().len(), 1000);
}

#[tokio::test]
async fn error_ends_stream() {
    let script = Script::new([
        tools(&["a"], json!("1")),
        vec![say(error(-1, &Value::Null))],
    ]);
    let found: Vec<_> = script.client().await.list_tools().stream().collect().await;
    assert!(found[0].is_ok() && found[1].is_err());
    assert_eq!(found.len(), 2);
}

#[tokio::test]
async fn other_lists_are_paginated() {
    let script = Script::new([
        vec![result(&json!({"resources": [{"uri": "a:", "name": "a"}]}))],
        vec![result(
            &json!({"resourceTemplates": [{"uriTemplate": "a:{b}", "name": "a"}]}),
        )],
        vec![result(&json!({"prompts": [{"name": "a"}]}))],
    ]);
    let client = script.client().await;
    assert_eq!(client.list_resources().await.unwrap()[0].uri, "a:");
    assert_eq!(
        client.list_resource_templates().await.unwrap()[0].uri_template,
        "a:{b}"
    );
    assert_eq!(client.list_prompts().await.unwrap()[0].name, "a");
}

#[tokio::test]
async fn list_options_apply_to_each_page() {
    let script = Script::new([
        [vec![progress(1.0)], tools(&["a"], json!("1"))]
            .into_iter()
            .flatten()
            .collect(),
        [vec![progress(2.0)], tools(&["b"], Value::Null)]
            .into_iter()
            .flatten()
            .collect(),
    ]);
    let client = script.client().await;
    let mut steps = Vec::new();
    let list = client
        .list_tools()
        .header("x-a", "1")
        .meta("com.example/a", 1)
        .on_progress(|step| steps.push(step.progress));
    assert_eq!(list.await.unwrap().len(), 2);
    assert_eq!(steps, [1.0, 2.0]);
    for sent in script.sent() {
        assert_eq!(sent.headers["x-a"], "1");
        assert_eq!(sent.meta("com.example/a"), &json!(1));
    }
    let error = client.list_tools().header("x a", "1").await;
    assert!(error.unwrap_err().to_string().contains("x a"));
    assert_eq!(script.sent().len(), 2);
}

#[tokio::test]
async fn max_pages_limits_list() {
    let pages = || {
        [
            tools(&["a"], json!("1")),
            tools(&["b"], json!("2")),
            tools(&["c"], Value::Null),
        ]
    };
    for (max_pages, outcome) in [
        (2, Err("the list has more than 2 pages; raise `max_pages`")),
        (3, Ok(3)),
    ] {
        let client = Script::new(pages()).client().await;
        let list = client.list_tools().max_pages(max_pages).await;
        match (list, outcome) {
            (Ok(list), Ok(count)) => assert_eq!(list.len(), count),
            (Err(error), Err(text)) => assert!(error.to_string().ends_with(text), "{error}"),
            (list, _) => panic!("{list:?}"),
        }
    }
    let client = Script::new(pages()).client().await;
    let found: Vec<_> = client.list_tools().max_pages(2).stream().collect().await;
    assert_eq!(
        (found[0].is_ok(), found[1].is_err(), found.len()),
        (true, true, 2)
    );
}

#[tokio::test(start_paused = true)]
async fn total_timeout_spans_all_pages() {
    let slow = |name, next| {
        let mut page = tools(&[name], next);
        page.insert(0, wait(3));
        page
    };
    let pages = || {
        [
            slow("a", json!("1")),
            slow("b", json!("2")),
            slow("c", Value::Null),
        ]
    };
    let limit = Duration::from_secs(7);

    let client = Script::new(pages()).client().await;
    assert_eq!(client.list_tools().timeout(limit).await.unwrap().len(), 3);

    let client = Script::new(pages()).client().await;
    let error = client
        .list_tools()
        .max_total_timeout(limit)
        .await
        .unwrap_err();
    assert!(error.is_timeout(), "{error}");

    // The time of the caller between two pages does not count.
    let client = Script::new(pages()).client().await;
    let mut stream = client
        .list_tools()
        .max_total_timeout(Duration::from_secs(10))
        .stream();
    while stream.try_next().await.unwrap().is_some() {
        sleep(Duration::from_secs(60)).await;
    }
}

#[tokio::test]
async fn list_step_returns_items() {
    let script = Script::new([tools(&["a"], json!("1")), tools(&["b"], Value::Null)]);
    let step = script.client().await.list_tools().step().await.unwrap();
    let mcp_client::Step::Done(list) = step else {
        panic!()
    };
    assert_eq!(list.len(), 2);
}

#[tokio::test]
async fn list_over_item_or_byte_limit_fails() {
    let page = |page: usize| {
        let names: Vec<String> = (0..4000)
            .map(|number| format!("tool{page}{number}"))
            .collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        tools(&names, json!(page.to_string()))
    };
    let pages = || (0..4).map(page);
    let script = Script::new(pages());
    let error = script.client().await.list_tools().await.unwrap_err();
    let text = error.to_string();
    assert!(
        text.ends_with("the list has more than 10000 items; raise `max_items`"),
        "{text}"
    );
    assert_eq!(script.sent().len(), 3);

    let client = Script::new(pages()).client().await;
    let list = client.list_tools().max_items(3999).await;
    assert!(list.unwrap_err().to_string().contains("3999 items;"));

    // One page of 4,000 tools has more than 100,000 bytes, and two have more than 300,000.
    let script = Script::new(pages());
    let client = script.client().await;
    let list = client.list_tools().max_list_bytes(300_000).await;
    assert!(list.unwrap_err().to_string().contains("300000 bytes;"));
    assert_eq!(script.sent().len(), 2);
}
