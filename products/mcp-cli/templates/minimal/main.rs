//! A server that keeps notes. Hosts start it and talk to it on standard streams.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use mcp::prelude::*;
use tokio::runtime::Runtime;

/// The server's state, which all calls share.
#[derive(Default)]
struct Notes {
    texts: Mutex<BTreeMap<String, String>>,
}

impl Notes {
    fn texts(&self) -> MutexGuard<'_, BTreeMap<String, String>> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

// Doc comments become descriptions, which the language model reads.
#[mcp::server(instructions = "Read the resource notes://all to see which notes exist.")]
impl Notes {
    /// Save a note, and replace an older one of this name.
    #[tool(idempotent)]
    fn save_note(
        &self,
        name: String,
        /** The whole text */
        text: String,
    ) -> String {
        let reply = format!("saved {name}");
        self.texts().insert(name, text);
        reply
    }

    /// Read a note.
    #[tool(read_only)]
    fn read_note(&self, name: String) -> Result<String, ToolError> {
        let text = self.texts().get(&name).cloned();
        text.ok_or_else(|| ToolError::new("there is no note of this name; save it first"))
    }

    /// Names of all notes.
    #[resource("notes://all")]
    fn names(&self) -> String {
        let names: Vec<_> = self.texts().keys().cloned().collect();
        names.join("\n")
    }
}

fn main() -> mcp::Result<()> {
    let runtime = Runtime::new()?;
    let served = runtime.block_on(mcp::serve_stdio(Notes::default()));
    // `#[tokio::main]` would wait for a function that still blocks a thread, after the host has gone.
    runtime.shutdown_background();
    served
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Notes;

    #[tokio::test]
    async fn saved_note_can_be_read() -> mcp::Result<()> {
        let client = mcp_testing::connect(Notes::default()).await?;
        let note = json!({"name": "milk", "text": "buy two"});
        client.call("save_note", note).await?;
        let read = client.call("read_note", json!({"name": "milk"})).await?;
        assert_eq!(read.text(), "buy two");
        Ok(())
    }

    #[tokio::test]
    async fn missing_note_is_an_error_that_says_what_to_do() -> mcp::Result<()> {
        let client = mcp_testing::connect(Notes::default()).await?;
        let read = client.call("read_note", json!({"name": "milk"})).await?;
        assert!(read.is_error());
        assert!(read.text().contains("save it first"));
        Ok(())
    }
}
