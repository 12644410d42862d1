//! Tests that the inspector has made from messages ("Copy as a test"): they compile, and they pass.
//!
//! The interop case "mcp inspect, copied tests" makes the files again from `copied/messages.json` and compares
//! them.

use mcp::prelude::*;

/// Bells, quotes and characters that JSON and Rust escape in different ways.
const SPECIAL: &str = "\u{7}\u{8}\u{c}\t\"\\{}\u{2028}\u{202e}é😀";

/// The server of `copied/messages.json`.
fn server() -> Shop {
    Shop
}

struct Shop;

/// A shop.
#[mcp::server(name = "shop", version = "1.0.0")]
impl Shop {
    /// Add two numbers.
    #[tool]
    fn add(&self, a: i64, b: i64) -> String {
        (a + b).to_string()
    }

    /// Say a text again.
    #[tool]
    fn say(&self, text: String) -> String {
        assert_eq!(text, SPECIAL);
        text
    }

    /// Fail.
    #[tool]
    fn fail(&self) -> Result<String, ToolError> {
        Err(ToolError::new("no stock"))
    }

    /// Opening hours.
    #[resource("shop://hours", mime_type = "text/plain")]
    fn hours(&self) -> &'static str {
        "6 to 12"
    }

    /// Review a text.
    #[prompt]
    fn review(&self, text: String) -> String {
        format!("Review {text}.")
    }
}

macro_rules! copied {
    ($($name:ident)*) => {
        $(
            mod $name {
                use super::server;

                include!(concat!("copied/", stringify!($name), ".txt"));
            }
        )*
    };
}

copied! {
    add
    fail
    missing
    prompt
    resource
    say
    templates
    tools
}
