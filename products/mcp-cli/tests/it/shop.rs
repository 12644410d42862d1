//! The server of the tests.

use mcp::Elicit;
use mcp::prelude::*;

/// A shop.
#[derive(Debug)]
pub(crate) struct Shop;

/// The form of an order.
#[derive(Debug, Elicit)]
pub(crate) struct Order {
    /// Number of items
    pub(crate) count: u32,
}

/// A shop.
#[mcp::server(name = "shop", version = "1.2.3")]
impl Shop {
    /// Adds two numbers.
    #[tool]
    async fn add(&self, a: i64, b: i64, progress: Progress) -> String {
        progress.report(1.0, 2.0, "adding").await;
        (a + b).to_string()
    }

    /// Shows a picture.
    #[tool]
    fn picture(&self) -> ContentBlock {
        ContentBlock::image(b"GIF89a".to_vec(), "image/gif")
    }

    /// Writes an escape sequence.
    #[tool]
    fn escape(&self) -> &'static str {
        "\x1b[2Jdone"
    }

    /// Always fails.
    #[tool]
    fn fail(&self) -> Result<String, ToolError> {
        Err(ToolError::new("sold out"))
    }

    /// Panics.
    #[tool]
    fn bake(&self) -> String {
        panic!("the oven burns")
    }

    /// Orders items.
    #[tool]
    async fn order(&self, ask: Ask) -> Result<String, ToolError> {
        let order = ask.form::<Order>("order", "How many?").await?;
        let order = order.accepted().ok_or(ToolError::new("no order"))?;
        Ok(format!("{} items", order.count))
    }

    /// Reports progress, and never ends.
    #[tool]
    async fn wait(&self, progress: Progress) -> String {
        progress.report(1.0, 2.0, "waiting").await;
        std::future::pending().await
    }

    /// The disks.
    #[resource("disks://all", mime_type = "text/plain")]
    fn disks(&self) -> &'static str {
        "A, B"
    }

    /// The cover.
    #[resource("disks://cover", mime_type = "image/gif")]
    fn cover(&self) -> Vec<u8> {
        b"GIF89a".to_vec()
    }

    /// Reviews a change.
    #[prompt]
    fn review(&self, language: String) -> String {
        format!("Review this {language} code.")
    }

    #[completion(prompt = "review", argument = "language")]
    fn languages(&self, prefix: &str) -> Vec<&'static str> {
        let all = ["rust", "ruby", "c"].into_iter();
        all.filter(|name| name.starts_with(prefix)).collect()
    }
}
