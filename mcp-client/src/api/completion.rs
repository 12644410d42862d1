//! Argument completion.
//!
//! Spec: <https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion>

use mcp_core::Call;
use mcp_types::{CompleteParams, CompleteResult};

use crate::call::{PreparedCall, result_of};
use crate::client::Client;

impl Client {
    /// Completes an argument of a prompt or of a resource template.
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::types::{CompleteParams, CompletionReference};
    ///
    /// # async fn example(client: mcp::Client) -> Result<(), mcp::Error> {
    /// let prompt = CompletionReference::Prompt { name: "review".to_owned() };
    /// let found = client.complete(CompleteParams::new(prompt, "language", "ru")).await?;
    /// println!("{:?}", found.completion.values);
    /// # Ok(())
    /// # }
    /// ```
    // spec: COMP-02
    pub fn complete<'a>(&self, params: CompleteParams) -> PreparedCall<'a, CompleteResult> {
        PreparedCall::new(self, Call::Complete(params.into()), result_of!(Complete))
    }
}
