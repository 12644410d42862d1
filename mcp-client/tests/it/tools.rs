//! Mirrored arguments, dropped tools and output schemas.

use std::borrow::Cow;
use std::sync::Arc;

use mcp_client::{Client, ConnectMode, Error, Over};
use mcp_core::schema::JsonSchema;
use mcp_core::{Channel, Fault, Frames, OutgoingRequest};
use mcp_types::{ProtocolVersion, codes};
use serde_json::{Value, json};

use crate::script::{Script, Scripted, Step, error, refuse, result, text};

/// A channel that mirrors arguments in headers.
struct Repeating(Scripted);

impl Channel for Repeating {
    fn call(&self, out: OutgoingRequest) -> Frames {
        self.0.call(out)
    }

    fn peer(&self) -> Cow<'_, str> {
        self.0.peer()
    }

    fn mirrors_arguments(&self) -> bool {
        true
    }
}

async fn client(script: &Arc<Script>) -> Client {
    Client::builder()
        .mode(ConnectMode::Pin(ProtocolVersion::LATEST))
        .validate_with(JsonSchema)
        .connect(Over(Repeating(script.channel())))
        .await
        .unwrap()
}

fn annotated(name: &str, header: &str) -> Value {
    json!({"name": name, "inputSchema": {"type": "object", "properties": {
        "region": {"type": "string", "x-mcp-header": header},
        "count": {"type": "integer", "x-mcp-header": "Count"},
        "query": {"type": "string"},
    }}})
}

fn list(tools: Value, next: Option<&str>) -> Vec<Step> {
    let mut page = json!({"resultType": "complete", "tools": tools});
    if let Some(next) = next {
        page["nextCursor"] = json!(next);
    }
    vec![result(&page)]
}

fn mismatch() -> Vec<Step> {
    vec![refuse(400, error(codes::HEADER_MISMATCH, &Value::Null))]
}

/// Returns the mirrored parameters of each request.
fn params(script: &Script) -> Vec<Vec<(String, String)>> {
    let sent = script.sent().into_iter();
    sent.map(|sent| {
        let params = sent.mirrored.params.into_iter();
        params
            .map(|(name, value)| (name.into(), value.into()))
            .collect()
    })
    .collect()
}

fn pair(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

// spec: XHDR-02, XHDR-12, XHDR-20
#[tokio::test]
async fn listed_tool_mirrors_arguments_in_headers() {
    let listed = list(json!([annotated("sql", "Region")]), None);
    let script = Script::new([vec![text("a")], listed, vec![text("b")], vec![text("c")]]);
    let client = client(&script).await;
    let arguments = json!({"region": "eu", "count": 3.0, "query": "q"});
    client.call("sql", &arguments).await.unwrap();
    client.list_tools().await.unwrap();
    client.call("sql", &arguments).await.unwrap();
    client.call("sql", json!({"region": null})).await.unwrap();
    let both = vec![pair("Region", "eu"), pair("Count", "3")];
    // Before the program lists tools, no argument is mirrored and no list is requested.
    assert_eq!(params(&script), [vec![], vec![], both, vec![]]);
}

// spec: XHDR-08, XHDR-09
#[tokio::test]
async fn tool_with_invalid_annotation_is_dropped() {
    let tools = json!([
        annotated("bad", "no name"),
        annotated("good", "Region"),
        annotated("worse", "Count")
    ]);
    let mended = json!([annotated("bad", "Region")]);
    let script = Script::new([list(tools, None), list(mended, None)]);
    let client = client(&script).await;
    let names =
        |tools: Vec<mcp_types::Tool>| tools.into_iter().map(|tool| tool.name).collect::<Vec<_>>();
    assert_eq!(names(client.list_tools().await.unwrap()), ["good"]);
    let dropped = client.omissions();
    let told: Vec<_> = dropped.iter().map(ToString::to_string).collect();
    assert!(
        told[0].starts_with("tools/list: `bad` (tools[0]) is left out: `x-mcp-header` at"),
        "{told:?}"
    );
    assert!(told[1].contains("is used twice"), "{told:?}");
    let page = client.list_tools().page(None).fresh().await.unwrap();
    assert_eq!(names(page.tools), ["bad"]);
    // The latest list contains no invalid tool.
    assert_eq!(client.omissions(), []);
}

#[tokio::test]
async fn only_the_tool_that_is_nested_too_deeply_is_dropped() {
    let nested = |name: &str, levels: usize| {
        let schema = (0..levels).fold(json!({}), |inner, _| json!({ "items": inner }));
        json!({"name": name, "inputSchema": {"type": "object", "properties": {"a": schema}}})
    };
    // The list itself has three levels, the schema two.
    let tools = json!([
        nested("first", 1),
        nested("deep", 200),
        nested("last", 120),
        nested("limit", 127)
    ]);
    let script = Script::new([list(tools, Some("next"))]);
    let client = script.client().await;
    let page = client.list_tools().page(None).await.unwrap();
    let names: Vec<_> = page.tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["first", "last"]);
    assert!(page.next_cursor.is_some());
    let dropped = client.omissions();
    let told: Vec<_> = dropped.iter().map(ToString::to_string).collect();
    let expected = |name, index| {
        format!("tools/list: `{name}` (tools[{index}]) is left out: it is nested too deeply")
    };
    assert_eq!(told, [expected("deep", 1), expected("limit", 3)]);
}

// spec: XHDR-10
#[tokio::test]
async fn channel_without_headers_ignores_annotations() {
    let tools = json!([annotated("bad", ""), annotated("good", "Region")]);
    let script = Script::new([list(tools, None), vec![text("x")]]);
    let client = script.client().await;
    assert_eq!(client.list_tools().await.unwrap().len(), 2);
    client.call("good", json!({"region": "eu"})).await.unwrap();
    assert_eq!(params(&script), [vec![], vec![]]);
    assert_eq!(client.omissions(), []);
}

// spec: XHDR-19
#[tokio::test]
async fn header_mismatch_refreshes_list_and_retries() {
    let script = Script::new([
        mismatch(),
        list(json!([annotated("other", "Other")]), Some("next")),
        list(json!([annotated("sql", "Region")]), Some("further")),
        vec![text("done")],
    ]);
    let client = client(&script).await;
    let answer = client.call("sql", json!({"region": "eu"})).await.unwrap();
    assert_eq!(answer.text(), "done");
    let methods: Vec<_> = script
        .sent()
        .iter()
        .map(|sent| sent.mirrored.method.to_string())
        .collect();
    assert_eq!(
        methods,
        ["tools/call", "tools/list", "tools/list", "tools/call"]
    );
    assert_eq!(params(&script)[3], [pair("Region", "eu")]);
}

// spec: XHDR-19
#[tokio::test]
async fn header_mismatch_after_refresh_fails_call() {
    let fails = |error: Error| assert!(matches!(error.fault(), Some(Fault::HeaderMismatch(_))));
    // The list is unchanged, so the call is not repeated.
    let script = Script::new([mismatch(), list(json!([]), None)]);
    fails(client(&script).await.call("sql", ()).await.unwrap_err());
    assert_eq!(script.sent().len(), 2);
    // The list or the repeated call fails.
    let script = Script::new([mismatch(), mismatch()]);
    fails(client(&script).await.call("sql", ()).await.unwrap_err());
    let listed = list(json!([annotated("sql", "Region")]), None);
    let script = Script::new([mismatch(), listed, mismatch()]);
    let client = client(&script).await;
    fails(
        client
            .call("sql", json!({"region": "eu"}))
            .await
            .unwrap_err(),
    );
    assert_eq!(script.sent().len(), 3);
    // Without mirrored headers the list is not refreshed.
    let script = Script::new([mismatch()]);
    fails(script.client().await.call("sql", ()).await.unwrap_err());
}

// spec: TOOL-16, TOOL-17, JSCH-06
#[tokio::test]
async fn result_violating_output_schema_fails_call() {
    let schema = json!({"type": "object", "properties": {"sum": {"type": "integer"}}});
    let tool = |name: &str, schema: Value| json!({"name": name, "inputSchema": {"type": "object"}, "outputSchema": schema});
    let tools = json!([
        tool("add", schema),
        tool("far", json!({"$ref": "https://example.com/x"}))
    ]);
    let structured = |value: Value| {
        vec![result(
            &json!({"resultType": "complete", "content": [], "structuredContent": value}),
        )]
    };
    let failed = vec![result(
        &json!({"resultType": "complete", "content": [], "isError": true}),
    )];
    let script = Script::new([
        list(tools, None),
        structured(json!({"sum": 3})),
        structured(json!({"sum": "3"})),
        vec![text("3")],
        failed,
        structured(json!({})),
        structured(json!(null)),
    ]);
    let client = client(&script).await;
    client.list_tools().await.unwrap();
    client.call("add", ()).await.unwrap();
    let error = client.call("add", ()).await.unwrap_err().to_string();
    assert!(
        error.contains("`sum`: expected integer, got \"3\""),
        "{error}"
    );
    let error = client.call("add", ()).await.unwrap_err().to_string();
    assert!(error.contains("no structured content"), "{error}");
    assert!(client.call("add", ()).await.unwrap().is_error());
    let error = client.call("far", ()).await.unwrap_err().to_string();
    assert!(error.contains("nothing is fetched"), "{error}");
    client.call("unlisted", ()).await.unwrap();
}

#[tokio::test]
async fn many_invalid_tools_cost_linear_time() {
    let tools: Vec<_> = (0..9000)
        .map(|number| annotated(&format!("bad{number}"), "no name"))
        .chain((0..500).map(|_| annotated("bad0", "Region")))
        .collect();
    let pages: Vec<_> = (0..3).map(|_| list(json!(tools), None)).collect();
    let script = Script::new(pages);
    let client = client(&script).await;
    for _ in 0..3 {
        let page = client.list_tools().page(None).fresh().await.unwrap();
        // Of two definitions with one name, an invalid one removes both.
        assert!(page.tools.is_empty());
    }
    // Of the reasons, 1,000 are kept.
    assert_eq!(client.omissions().len(), 1000);
}
