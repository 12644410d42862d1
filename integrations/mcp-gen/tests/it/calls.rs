//! The generated client calls the generated server, in both eras.

use mcp::types::{GetPromptResult, ReadResourceResult};
use mcp::{
    CallContext, CallToolResult, ContentBlock, NotFound, PromptError, ProtocolVersion,
    ResourceError, ToolError, user,
};
use mcp_testing::Pair;

/// As programs include code from a build script.
mod shop {
    include!("generated/shop.rs");
}
#[rustfmt::skip]
#[path = "generated/shop_server.rs"]
mod shop_server;

use shop_server as served;

struct Implementation;

impl served::Shop for Implementation {
    async fn add(
        &self,
        sum: served::AddInput,
        _: CallContext,
    ) -> Result<served::AddOutput, ToolError> {
        Ok(served::AddOutput::new(sum.a + sum.b))
    }

    async fn list_all(&self, _: CallContext) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::from_text("all"))
    }

    async fn list_all_2(
        &self,
        arguments: served::ListAllInput,
        _: CallContext,
    ) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::from_text(
            arguments.nicode.unwrap_or_default(),
        ))
    }

    async fn new_tool(
        &self,
        _: served::NewInput,
        _: CallContext,
    ) -> Result<CallToolResult, ToolError> {
        Err(ToolError::new("nothing is new"))
    }

    async fn order(
        &self,
        order: served::OrderInput,
        _: CallContext,
    ) -> Result<served::OrderOutput, ToolError> {
        let by = format!("{} {:?}", order.r#type, order.when);
        let paid = served::Paid::new(by);
        let level = served::Level::High;
        Ok(served::OrderOutput::new(paid.into(), order.items, level))
    }

    async fn levels(
        &self,
        arguments: served::LevelsInput,
        _: CallContext,
    ) -> Result<served::LevelsOutput, ToolError> {
        let level = arguments.min_level.unwrap_or(served::Level::Low);
        Ok(served::LevelsOutput::new(level))
    }

    async fn ping(&self, call: CallContext) -> Result<CallToolResult, ToolError> {
        Ok(CallToolResult::from_text(call.item().unwrap_or_default()))
    }

    async fn tree(
        &self,
        tree: served::TreeInput,
        _: CallContext,
    ) -> Result<served::TreeOutput, ToolError> {
        let inner = served::TreeOutput::new(tree.root.name, 1);
        Ok(served::TreeOutput::new("root", 2).with_next(inner))
    }

    async fn hello_prompt(&self, _: CallContext) -> Result<GetPromptResult, PromptError> {
        Ok(GetPromptResult::new([user("hello")]))
    }

    async fn review_prompt(
        &self,
        arguments: served::ReviewPrompt,
        _: CallContext,
    ) -> Result<GetPromptResult, PromptError> {
        let served::ReviewPrompt {
            pr,
            language,
            depth,
        } = arguments;
        let text = format!("{pr} in {language:?} to {depth:?}");
        Ok(GetPromptResult::new([user(text)]))
    }

    async fn read_disk(
        &self,
        disk: served::DiskTemplate,
        _: CallContext,
    ) -> Result<ReadResourceResult, ResourceError> {
        match disk.id.as_str() {
            "none" => Err(NotFound.into()),
            _ => Ok(contents(
                &disk.uri(),
                &format!("{} {:?}", disk.id, disk.side),
            )),
        }
    }

    async fn read_disks(&self, _: CallContext) -> Result<ReadResourceResult, ResourceError> {
        Ok(contents("shop://disks", "all disks"))
    }
}

fn contents(uri: &str, text: &str) -> ReadResourceResult {
    let value = serde_json::json!({"uri": uri, "text": text});
    ReadResourceResult::from(vec![serde_json::from_value(value).unwrap()])
}

async fn check(version: ProtocolVersion) {
    let pair = Pair::http(shop_server::server(Implementation)).revision(version);
    let pair = pair.connect().await.unwrap();
    let shop = shop::Shop::new(pair.client.clone());
    let sum = shop.add(shop::AddInput { a: 1.0, b: 2.0 }).await.unwrap();
    assert_eq!(sum, shop::AddOutput { sum: 3.0 });
    assert_eq!(shop.ping().await.unwrap().text(), "ping");
    assert_eq!(shop.list_all().await.unwrap().text(), "all");
    let list = shop::ListAllInput::new().with_nicode("x");
    assert_eq!(shop.list_all_2(list).await.unwrap().text(), "x");
    assert!(
        shop.new_tool(shop::NewInput::new())
            .await
            .unwrap()
            .is_error()
    );
    let item = shop::Item::new("a7").with_count(2);
    let order = shop::OrderInput::new(vec![item.clone()], true, shop::OrderInputType::SelfPickup)
        .with_at((1.0, 2.0))
        .with_when(vec!["now".to_owned()].into());
    let done = shop.order(order).await.unwrap();
    assert_eq!(done.items, [item]);
    let shop::OrderOutputState::Paid(paid) = done.state else {
        panic!("{done:?}");
    };
    assert_eq!(paid.by, r#"self-pickup Some(List(["now"]))"#);
    let levels = shop::LevelsInput::new().with_min_level(done.level);
    let level = shop.levels(levels).await.unwrap().level;
    assert_eq!(level, shop::Level::High);
    let root = shop::Node::new("oak")
        .with_left(shop::Node::new("leaf"))
        .with_value(vec![shop::Json::from(1.0)].into());
    let tree = shop.tree(shop::TreeInput::new(root));
    let tree = tree
        .options(|call| call.meta("example/a", 1))
        .await
        .unwrap();
    assert_eq!((tree.depth, tree.next.unwrap().name), (2, "oak".to_owned()));
    let review = shop
        .review_prompt(shop::ReviewPrompt::new("12").with_depth(3))
        .await
        .unwrap();
    let [message] = &review.messages[..] else {
        panic!("{review:?}");
    };
    assert_eq!(message.content.as_text(), Some("12 in None to Some(3)"));
    shop.hello_prompt().await.unwrap();
    let disk = shop.read_disk(shop::DiskTemplate::new("a b").with_side("left"));
    assert_eq!(disk.await.unwrap().text(), "a b Some(\"left\")");
    assert!(
        shop.read_disk(shop::DiskTemplate::new("none"))
            .await
            .is_err()
    );
    assert_eq!(shop.read_disks().await.unwrap().text(), "all disks");
}

#[tokio::test]
async fn typed_calls_work_in_the_stateless_revision() {
    check(ProtocolVersion::V2026_07_28).await;
}

#[tokio::test]
async fn typed_calls_work_in_sessions() {
    check(ProtocolVersion::V2025_11_25).await;
    check(ProtocolVersion::V2025_06_18).await;
}

#[tokio::test]
async fn served_catalog_equals_the_file() {
    let client = mcp_testing::connect(shop_server::server(Implementation))
        .await
        .unwrap();
    let served = mcp_client::catalog::Snapshot::capture(&client)
        .await
        .unwrap();
    let stored = crate::files::shop();
    for list in ["tools", "prompts", "resources", "resourceTemplates"] {
        assert_eq!(served.as_value()[list], stored.as_value()[list], "{list}");
    }
}

/// Examples of a mock server have the client's types.
#[tokio::test]
async fn typed_client_reads_examples_from_a_mock() {
    let mock = mcp_testing::mock(crate::files::shop());
    let client = mcp_testing::connect(mock).await.unwrap();
    let shop = shop::Shop::new(client);
    shop.add(shop::AddInput::new(1.0, 2.0)).await.unwrap();
    let items = vec![shop::Item::new("a7")];
    let order = shop::OrderInput::new(items, true, shop::OrderInputType::Post);
    shop.order(order).await.unwrap();
    let tree = shop::TreeInput::new(shop::Node::new("oak"));
    shop.tree(tree).await.unwrap();
}

#[tokio::test]
async fn typed_call_fails_when_the_tool_fails() {
    let failed = CallToolResult::error("out of numbers");
    let mock = mcp_testing::mock(crate::files::shop()).answer("add", failed);
    let shop = shop::Shop::new(mcp_testing::connect(mock).await.unwrap());
    let error = shop.add(shop::AddInput::new(1.0, 2.0)).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "tools/call \"add\" at a server in this process: the tool failed: out of numbers"
    );
    assert_eq!(error.tool_error(), Some("out of numbers"));
}

#[tokio::test]
async fn typed_result_with_another_shape_names_tool_and_text() {
    let other = CallToolResult::from_text("three");
    let mock = mcp_testing::mock(crate::files::shop()).answer("add", other);
    let shop = shop::Shop::new(mcp_testing::connect(mock).await.unwrap());
    let error = shop.add(shop::AddInput::new(1.0, 2.0)).await.unwrap_err();
    let with_result = shop.add(shop::AddInput::new(1.0, 2.0)).with_result().await;
    assert_eq!(error.to_string(), with_result.unwrap_err().to_string());
    assert_eq!(
        error.to_string(),
        "tools/call \"add\" at a server in this process: the tool's result has another shape: expected ident at line 1 column 2; \
         it is `three`"
    );
}

#[tokio::test]
async fn images_are_beside_the_typed_result() {
    let mut drawn = CallToolResult::from_json(&serde_json::json!({"sum": 3.0})).unwrap();
    drawn
        .content
        .push(ContentBlock::image(b"picture".to_vec(), "image/png"));
    let mock = mcp_testing::mock(crate::files::shop()).answer("add", drawn.clone());
    let shop = shop::Shop::new(mcp_testing::connect(mock).await.unwrap());
    let call = shop.add(shop::AddInput::new(1.0, 2.0));
    let (sum, result) = call.with_result().await.unwrap();
    assert_eq!(sum, shop::AddOutput { sum: 3.0 });
    assert_eq!(result.content, drawn.content);
}
