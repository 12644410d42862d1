//! A server with its tests: calls, failures, and a confirmation of the user.
//!
//! `cargo test -p examples --bin testing`

use std::sync::Mutex;

use mcp::prelude::*;

#[derive(Elicit)]
struct Confirm {
    /// Remove all items?
    sure: bool,
}

#[derive(Default)]
struct Cart {
    items: Mutex<Vec<String>>,
}

/// A shopping cart.
#[mcp::server]
impl Cart {
    /// Add an item.
    #[tool]
    fn add(&self, item: String) -> Result<usize, ToolError> {
        if item.is_empty() {
            return Err(ToolError::new("the item needs a name"));
        }
        let mut items = self.items.lock().map_err(|_| "the cart is locked")?;
        items.push(item);
        Ok(items.len())
    }

    /// Remove all items.
    #[tool(destructive)]
    async fn clear(&self, ask: Ask) -> Result<&'static str, ToolError> {
        let answer = ask.form::<Confirm>("confirm", "Remove all items?").await?;
        let Answer::Accept(Confirm { sure: true }) = answer else {
            return Ok("nothing was changed");
        };
        self.items.lock().map_err(|_| "the cart is locked")?.clear();
        Ok("the cart is empty")
    }
}

#[tokio::main]
async fn main() -> mcp::Result<()> {
    mcp::serve_stdio(Cart::default()).await
}

#[cfg(test)]
mod tests {
    use mcp::ElicitResult;
    use mcp::prelude::*;
    use serde_json::json;

    use super::Cart;

    #[tokio::test]
    async fn add_returns_the_item_count() -> mcp::Result<()> {
        let client = mcp_testing::connect(Cart::default()).await?;
        client.call("add", json!({"item": "bread"})).await?;
        let second = client.call("add", json!({"item": "salt"})).await?;
        assert_eq!(second.parse::<usize>()?, 2);
        Ok(())
    }

    #[tokio::test]
    async fn add_without_name_is_a_result_with_an_error() -> mcp::Result<()> {
        let client = mcp_testing::connect(Cart::default()).await?;
        let failed = client.call("add", json!({"item": ""})).await?;
        assert!(failed.is_error());
        assert_eq!(failed.text(), "the item needs a name");
        Ok(())
    }

    #[tokio::test]
    async fn clear_asks_the_user() -> mcp::Result<()> {
        for (sure, expected) in [(true, "the cart is empty"), (false, "nothing was changed")] {
            let user = Client::builder().on_elicit(move |form: ElicitRequest| async move {
                form.accept(json!({"sure": sure}))
            });
            let client = mcp_testing::connect_with(Cart::default(), user).await?;
            assert_eq!(client.call("clear", ()).await?.text(), expected);
        }
        Ok(())
    }

    #[tokio::test]
    async fn clear_changes_nothing_when_the_user_declines() -> mcp::Result<()> {
        let user =
            Client::builder().on_elicit(|_: ElicitRequest| async { ElicitResult::decline() });
        let client = mcp_testing::connect_with(Cart::default(), user).await?;
        assert_eq!(
            client.call("clear", ()).await?.text(),
            "nothing was changed"
        );
        Ok(())
    }

    #[tokio::test]
    async fn tools_have_descriptions() -> mcp::Result<()> {
        let client = mcp_testing::connect(Cart::default()).await?;
        let tools = client.list_tools().await?;
        let tools: Vec<_> = tools
            .iter()
            .map(|tool| (&*tool.name, tool.description.as_deref().unwrap_or_default()))
            .collect();
        assert_eq!(
            tools,
            [("add", "Add an item."), ("clear", "Remove all items.")]
        );
        Ok(())
    }
}
