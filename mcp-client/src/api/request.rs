//! Extension requests.

use mcp_core::Call;
use mcp_types::RawObject;
use serde::Serialize;

use super::arguments::{serialize, with_arguments};
use crate::call::{PreparedCall, result_of};
use crate::client::Client;

impl Client {
    /// Sends an extension request. `params` must serialize to a JSON object, or be `()`. The
    /// result is parsed with [`RawObject::parse`].
    ///
    /// [`mcp_types::ext`] contains types of some extensions. The
    /// [capabilities](Self::server_capabilities) of the server list its extensions. Declare those of
    /// the client with [`ClientBuilder::capabilities`](crate::ClientBuilder::capabilities).
    ///
    /// # Examples
    ///
    /// ```no_run
    /// use mcp::types::ext::tasks::Task;
    /// use serde_json::json;
    ///
    /// # async fn example(client: mcp::Client) -> Result<(), Box<dyn std::error::Error>> {
    /// let params = json!({"taskId": "1"});
    /// let task: Task = client.request("tasks/get", params).await?.parse()?;
    /// println!("{}", task.status);
    /// # Ok(())
    /// # }
    /// ```
    pub fn request<'a>(
        &self,
        method: impl Into<Box<str>>,
        params: impl Serialize,
    ) -> PreparedCall<'a, RawObject> {
        let method = method.into();
        let call = |params| Call::Other { method, params };
        with_arguments(self, serialize(&params), call, result_of!(Other))
    }
}
